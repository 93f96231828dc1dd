"""Reads Parquet some rows at a time, and puts the rows of a query into the file its hash says."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]  # it carries no annotations
import pyarrow.compute as pc  # type: ignore[import-untyped]  # nor does this
import pyarrow.dataset as ds  # type: ignore[import-untyped]  # nor does this

from labeler.api.given import CHUNK, QUERY, column_among, columns_of
from labeler.errors import BadInput

Given: TypeAlias = "pd.DataFrame | str | PathLike[str]"


def files_of(given: object) -> list[Path]:
    """Return the Parquet files that a path means, none where it means others."""
    if not isinstance(given, str | PathLike):
        return []
    path = Path(os.fsdecode(given))
    if path.is_dir():
        return sorted(path.rglob("*.parquet"))
    return [path] if path.suffix in (".parquet", ".pq") and path.is_file() else []


def frame_in(path: Path) -> pd.DataFrame:
    """Return what `Source.partition` wrote into one of its files."""
    with pa.memory_map(str(path)) as source:
        frame: pd.DataFrame = pa.ipc.open_file(source).read_all().to_pandas()
    return frame


class Source:
    """A frame or Parquet files, read some rows at a time; only the columns that count."""

    def __init__(self, given: Given, what: str, value: tuple[str, ...]) -> None:
        """Open it; ``what`` it is called in messages, ``value`` what its third column may be."""
        if isinstance(given, pd.DataFrame):
            self._what, self._columns = what, columns_of(given, what, value)
            made = pa.Table.from_pandas(given[self._columns], preserve_index=False)
            self._data = ds.dataset(made)
        else:
            self._what = str(given)
            with self._readable():
                self._data = ds.dataset([str(path) for path in files_of(given)], format="parquet")
            names = self._data.schema.names
            self._columns = [
                column_among(names, self._what, each) for each in (QUERY, CHUNK, value)
            ]
        with self._readable():
            self.rows: int = self._data.count_rows()

    def partition(self, paths: Sequence[Path]) -> dict[str, None]:
        """Write the rows of each query to the one of ``paths`` that its hash says, in their order.

        Returns the queries as they first appear. Raises `BadInput` for rows without a value, and
        for ids that are no text.
        """
        seen: dict[str, None] = {}
        with self._readable(), ExitStack() as opened:
            writers: list[Any] = []
            for table in self._tables():
                if not writers:
                    new = (pa.ipc.new_file(str(path), table.schema) for path in paths)
                    writers = [opened.enter_context(each) for each in new]
                query = pc.dictionary_encode(table.column(0)).combine_chunks()
                ids = query.dictionary.to_pylist()
                seen |= dict.fromkeys(ids)
                hashes = pd.util.hash_array(np.array(ids, dtype=object), categorize=False)
                part = (hashes % len(paths)).astype(np.int64)[query.indices.to_numpy()]
                order = np.argsort(part, kind="stable")
                table = table.take(order)
                bounds = np.searchsorted(part[order], np.arange(len(paths) + 1)).tolist()
                for at, writer in enumerate(writers):
                    writer.write_table(table.slice(bounds[at], bounds[at + 1] - bounds[at]))
        return seen

    def _tables(self) -> Iterator[Any]:
        """Give some rows after the other, at least once; ids are texts."""
        schema = pa.schema([self._data.schema.field(name) for name in self._columns])
        yield self._checked(schema.empty_table())
        for batch in self._data.to_batches(columns=self._columns):
            yield self._checked(pa.Table.from_batches([batch]))

    def _checked(self, table: Any) -> Any:
        for name, column in zip(self._columns, table.columns, strict=True):
            if column.null_count:
                raise BadInput(f"{self._what}: column {name!r} has a row without a value")
        for at, name in enumerate(self._columns[:2]):
            kind = table.schema.types[at]
            if pa.types.is_dictionary(kind):
                kind = kind.value_type
                table = table.set_column(at, name, table.column(at).cast(kind))
            if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
                raise BadInput(
                    f"{self._what}: ids are text, and column {name!r} is {kind}; write it as text"
                )
        return table

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Say what file could not be read."""
        try:
            yield
        except BadInput:
            raise
        except (OSError, ValueError, pa.ArrowException) as error:
            raise BadInput(f"{self._what}: not Parquet, or damaged: {error}") from error
