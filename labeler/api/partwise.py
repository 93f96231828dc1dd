"""Evaluation of large inputs in parts, split by query: a plan, its parts and their merged result.

`evaluate` splits frames and Parquet files by query, so that only a few thousand queries are in
memory at a time, and `labeler.spark` lets Spark group the rows. Either way the numbers are bit for
bit the same as without a split.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]  # it has no type annotations
import pyarrow.compute as pc  # type: ignore[import-untyped]  # no type annotations either
import pyarrow.dataset as ds  # type: ignore[import-untyped]  # no type annotations either

from labeler.api.columns import mean_rows, value_columns_of_parts
from labeler.api.inputs import (
    PARQUET_ENDINGS,
    GivenGrades,
    GivenRun,
    Measures,
    parse_measures,
    qrels_to_dicts,
    runs_to_lists,
)
from labeler.api.options import (
    EvaluationOptions,
    EvaluationRules,
    RunRule,
    python_option_names,
    with_options,
)
from labeler.api.tables import (
    CHUNK_COLUMNS,
    GRADE_COLUMNS,
    QUERY_COLUMNS,
    RANK_COLUMNS,
    SCORE_COLUMNS,
    find_column,
    required_columns,
)
from labeler.errors import BadInput, LabelerError
from labeler.evaluation import (
    DEFAULT_MEASURES,
    MergedPartitions,
    Partition,
    PartitionLayout,
    Scoreboard,
    collect,
    plain_board,
    score_records,
)
from labeler.model import check_id


@with_options(EvaluationOptions)
def plan(
    runs: Iterable[str],
    measures: Measures = DEFAULT_MEASURES,
    **options: Unpack[EvaluationOptions],
) -> EvaluationPlan:
    """Plan an evaluation in parts: ``runs`` are the names, all other arguments as in `evaluate`.

    Split the rows by query as you like: into Dask's partitions, Ray's blocks, files. Each part
    needs all grades and all lists of its queries. The merged result is bit for bit that of one
    process:

    >>> the_plan = plan(["A"], "RR")
    >>> first = the_plan.part({"q1": {"c1": 1}}, {"A": {"q1": ["x", "c1"]}})
    >>> other = the_plan.part({"q2": {"c2": 1}}, {})
    >>> the_plan.add_up([other, first]).value.tolist()
    [0.25]
    """
    rules = EvaluationRules.of(**options)
    names = tuple(check_id(name, "run") for name in runs)
    if not names:
        raise BadInput("name at least one run")
    if len(set(names)) < len(names):
        raise BadInput("runs have names that differ")
    if rules.run_rule.order == "file":
        raise BadInput("order is 'score' or 'rank' where runs are read in parts, not 'file'")
    return EvaluationPlan.of(names, measures, rules)


@dataclass(frozen=True)
class EvaluationPlan:
    """A plan for an evaluation split by query: `part` evaluates one part, `add_up` merges all.

    Make one with `plan`. It can be pickled, and so can the results of `part`.
    """

    shape: PartitionLayout
    rules: EvaluationRules

    @staticmethod
    def of(runs: Iterable[str], measures: Measures, rules: EvaluationRules) -> EvaluationPlan:
        """Return a plan by rules that are already read."""
        wanted = parse_measures(rules.conventions, measures)
        chosen = Scoreboard(collect({}, {}), rules.conventions).resolve(wanted)
        return EvaluationPlan(PartitionLayout(tuple(runs), chosen), rules)

    def part(self, qrels: GivenGrades, runs: Mapping[str, GivenRun]) -> Partition:
        """Return the results of some queries, given all their grades and all their lists.

        Takes what `evaluate` takes. A run may be missing or have no list for these queries, and
        lists for queries without grades are allowed. Raises `BadInput` as `evaluate` does.
        """
        if unknown := sorted({*runs} - {*self.shape.runs}):
            raise BadInput(f"the plan has no run {unknown[0]!r}; it has {self._named}")
        with python_option_names():
            grades = qrels_to_dicts(qrels, self.rules.grade_rule, self.rules.run_rule.limits)
            given = {name: runs.get(name, {}) for name in self.shape.runs}
            lists = runs_to_lists(given, self.rules.run_rule)
        return Partition.of(plain_board(grades, lists, self.rules.conventions), self.shape)

    def add_up(
        self,
        parts: Iterable[Partition],
        *,
        per_query: bool = False,
        order: Sequence[str] | None = None,
        foreign_to: Callable[[str], int] | None = None,
    ) -> pd.DataFrame:
        """Return the result of `evaluate` from all parts, in any order and however split.

        Numbers are added in the ``order`` of the queries. Without it they are added in the order of
        the query ids: the result is then bit for bit that of `evaluate` for grades sorted by query.
        ``foreign_to`` takes the name of a run and returns the number of graded chunks if the run's
        lists contain none of them, else 0; a note then says that the chunk ids do not match.
        """
        whole = MergedPartitions(Partition.joined(parts, order), self.shape, self.rules.conventions)
        if not whole.part.query_ids:
            raise BadInput("there is no query in the qrels")
        if whole.absent.all():
            first = whole.part.query_ids[0]
            raise BadInput(
                f"run {self.shape.runs[0]!r} and the qrels share no query (the qrels begin with "
                f"{first!r})"
            )
        residuals = whole.residual_means() or None
        rows = (
            value_columns_of_parts(whole)
            if per_query
            else mean_rows(score_records(whole.scores, residuals))
        )
        frame = pd.DataFrame(rows)
        frame.attrs["conventions"] = self.rules.conventions.describe()
        frame.attrs["notes"] = [note.sentence for note in whole.notes(foreign_to or (lambda _: 0))]
        return frame

    @property
    def _named(self) -> str:
        return ", ".join(map(repr, self.shape.runs))


TableInput: TypeAlias = "pd.DataFrame | str | PathLike[str]"


def parquet_files(given: object) -> list[Path]:
    """Return the Parquet files of a path, none if it is of another format."""
    if not isinstance(given, str | PathLike):
        return []
    path = Path(os.fsdecode(given))
    if path.is_dir():
        return sorted(path.rglob("*.parquet"))
    return [path] if path.suffix in PARQUET_ENDINGS and path.is_file() else []


def read_partition(path: Path) -> pd.DataFrame:
    """Return the rows that `TableSource.partition` wrote into one of its files."""
    with pa.memory_map(str(path)) as source:
        frame: pd.DataFrame = pa.ipc.open_file(source).read_all().to_pandas()
    return frame


class TableSource:
    """A frame or Parquet files, read in batches of rows; only the columns that are needed."""

    def __init__(self, given: TableInput, what: str, value: tuple[str, ...]) -> None:
        """Open it; messages call it ``what``; ``value`` are possible names of its value column.

        With no name it has the ids alone.
        """
        if isinstance(given, pd.DataFrame):
            self._what, self._columns = what, required_columns(given, what, value)
            table = pa.Table.from_pandas(given[self._columns], preserve_index=False)
            self._data = ds.dataset(table)
        else:
            self._what = str(given)
            with self._readable():
                self._data = ds.dataset(
                    [str(path) for path in parquet_files(given)], format="parquet"
                )
            wanted = (QUERY_COLUMNS, CHUNK_COLUMNS, *([value] if value else []))
            self._columns = [find_column(self.names, self._what, each) for each in wanted]
        with self._readable():
            self.rows: int = self._data.count_rows()

    @property
    def names(self) -> list[str]:
        """The names of all columns there are."""
        found: list[str] = self._data.schema.names
        return found

    def partition(self, paths: Sequence[Path]) -> dict[str, None]:
        """Write the rows of each query, in order, to one of ``paths``, chosen by the query's hash.

        Returns the queries in order of first appearance. Raises `BadInput` for rows without a
        value, and for ids that are not text.
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

    def frame(self, others: Sequence[str] = ()) -> pd.DataFrame:
        """Return all rows, with other columns, too; raises `BadInput` as `partition` does."""
        with self._readable():
            found: pd.DataFrame = pa.concat_tables(self._tables(others)).to_pandas()
        return found

    def _tables(self, others: Sequence[str] = ()) -> Iterator[Any]:
        """Yield the rows in batches, at least one, with ids as text."""
        names = [*self._columns, *(name for name in others if name not in self._columns)]
        schema = pa.schema([self._data.schema.field(name) for name in names])
        yield self._checked(schema.empty_table())
        for batch in self._data.to_batches(columns=names):
            yield self._checked(pa.Table.from_batches([batch]))

    def _checked(self, table: Any) -> Any:
        for name, column in zip(self._columns, table.columns, strict=False):
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
        """Raise `BadInput` with the name of a file that could not be read."""
        try:
            yield
        except BadInput:
            raise
        except (OSError, ValueError, pa.ArrowException) as error:
            raise BadInput(f"{self._what}: not Parquet, or damaged: {error}") from error


QueryNumbers: TypeAlias = npt.NDArray[np.int32]
Progress: TypeAlias = Callable[[int, int], object]
QUERIES_AT_ONCE = 4_000
ROWS_AT_ONCE = 400_000
WORKER_ENDED = (
    "workers: a process ended without an answer. Either there was too little memory for as many of "
    "them, or the script that calls labeler.evaluate runs anew in each: its call belongs below "
    "'if __name__ == \"__main__\":'. workers=1 needs no other process"
)
_LOOKUP_ROWS = 1 << 18  # ids looked up at once


class QueryPiece(Protocol):
    """The grades and lists of some queries, which can be read here or in another process."""

    def read(self) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
        """Return the frame of the grades, and that of each run by name."""


@dataclass(frozen=True, eq=False)
class FramePiece:
    """A piece that is in memory."""

    qrels: pd.DataFrame
    runs: dict[str, pd.DataFrame]

    def read(self) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
        return self.qrels, self.runs


@dataclass(frozen=True, eq=False)
class FilePiece:
    """A piece that is in files."""

    qrels: Path
    runs: Mapping[str, Path]

    def read(self) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
        return read_partition(self.qrels), {
            name: read_partition(path) for name, path in self.runs.items()
        }


@dataclass(frozen=True, eq=False)
class PieceSource:
    """A function that yields all pieces on every call, and the judged queries in their order."""

    query_ids: Sequence[str]
    each: Callable[[], Iterator[QueryPiece]]


def is_partwise(qrels: object, runs: object, *, forced: bool) -> bool:
    """Return whether to split by query: with Parquet files, and with frames if ``forced`` or large.

    Parquet files together with dicts or other files are read whole, which ``forced`` refuses.
    """
    if not isinstance(runs, Mapping) or not runs:
        return False
    given = [qrels, *runs.values()]
    if any(map(parquet_files, given)):
        for each in given:
            if isinstance(each, pd.DataFrame) or parquet_files(each):
                continue
            if not forced:
                return False
            raise BadInput(
                "beside Parquet files all others must be Parquet files or frames, not "
                f"{each if isinstance(each, str | PathLike) else type(each).__name__}, where "
                "workers or progress ask for parts"
            )
        return True
    rows = [len(each) for each in given if isinstance(each, pd.DataFrame)]
    return len(rows) == len(given) and (forced or sum(rows) > ROWS_AT_ONCE)


def evaluate_partwise(
    plan: EvaluationPlan,
    qrels: TableInput,
    runs: Mapping[str, TableInput],
    per_query: bool,
    workers: int,
    progress: Progress | None,
) -> pd.DataFrame:
    """Evaluate frames and Parquet files piece by piece."""
    with open_pieces(qrels, runs, plan.rules.run_rule) as pieces:
        parts = [*evaluate_pieces(plan, pieces, workers, progress)]
        foreign = foreign_chunks_of(plan, pieces)
        order = pieces.query_ids
        return plan.add_up(parts, per_query=per_query, order=order, foreign_to=foreign)


def open_pieces(
    qrels: TableInput, runs: Mapping[str, TableInput], rule: RunRule
) -> AbstractContextManager[PieceSource]:
    """Return a context manager of the pieces; temporary files are deleted when it is closed."""
    by = RANK_COLUMNS if rule.order == "rank" else SCORE_COLUMNS
    if all(isinstance(each, pd.DataFrame) for each in (qrels, *runs.values())):
        return nullcontext(_pieces_of_frames(qrels, runs, by))  # type: ignore[arg-type] # checked above
    return _pieces_of_files(qrels, runs, by)


def _pieces_of_frames(
    qrels: pd.DataFrame, runs: Mapping[str, pd.DataFrame], by: tuple[str, ...]
) -> PieceSource:
    given = [qrels, *runs.values()]
    columns = [required_columns(qrels, "qrels", GRADE_COLUMNS)]
    columns += [required_columns(run, f"run {name!r}", by) for name, run in runs.items()]
    ids = pd.unique(qrels[columns[0][0]])
    numbers = _QueryNumbering(ids)
    orders, bounds = [], []
    found = [numbers.of(frame[names[0]]) for frame, names in zip(given, columns, strict=True)]
    edges = np.arange(0, len(numbers) + QUERIES_AT_ONCE, QUERIES_AT_ONCE)
    for at, codes in enumerate(found):
        orders.append(np.argsort(codes, kind="stable"))
        bounds.append(np.searchsorted(codes[orders[-1]], edges).tolist())
        found[at] = _NO_QUERIES  # frees memory: it is as long as a frame

    def each() -> Iterator[QueryPiece]:
        for at in range(len(edges) - 1):
            frames = [
                frame[names].take(order[of[at] : of[at + 1]])
                for frame, names, order, of in zip(given, columns, orders, bounds, strict=True)
            ]
            yield FramePiece(frames[0], dict(zip(runs, frames[1:], strict=True)))

    return PieceSource(ids.tolist(), each)


_NO_QUERIES: QueryNumbers = np.zeros(0, dtype=np.int32)


class _QueryNumbering:
    """Numbers for queries: judged ones in order of first appearance, then all others."""

    def __init__(self, ids: Any) -> None:
        self._index = pd.Index(ids)
        self._others: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self._index) + len(self._others)

    def of(self, ids: pd.Series[Any]) -> QueryNumbers:
        """Return the number of each id, in batches, since each lookup creates objects."""
        found = np.empty(len(ids), dtype=np.int32)
        for start in range(0, len(ids), _LOOKUP_ROWS):
            some = ids.iloc[start : start + _LOOKUP_ROWS]
            numbers = self._index.get_indexer(pd.Index(some))
            unknown = np.flatnonzero(numbers < 0)
            if len(unknown):
                which, names = pd.factorize(some.iloc[unknown])
                new = [self._others.setdefault(name, len(self)) for name in names]
                numbers[unknown] = np.array(new)[which]
            found[start : start + _LOOKUP_ROWS] = numbers
        return found


@contextmanager
def _pieces_of_files(
    qrels: TableInput, runs: Mapping[str, TableInput], by: tuple[str, ...]
) -> Iterator[PieceSource]:
    """Write the rows into temporary files, split by hash of the query; yield them as pieces."""
    golden = TableSource(qrels, "qrels", GRADE_COLUMNS)
    found = {name: TableSource(run, f"run {name!r}", by) for name, run in runs.items()}
    rows = sum(source.rows for source in (golden, *found.values()))
    count = max(1, math.ceil(rows / ROWS_AT_ONCE))
    with TemporaryDirectory(prefix="labeler-") as folder:

        def paths(of: int) -> list[Path]:
            return [Path(folder, f"{of}-{part}.arrow") for part in range(count)]

        query_ids = golden.partition(paths(0))
        for at, source in enumerate(found.values(), 1):
            source.partition(paths(at))
        columns = [paths(at) for at in range(1 + len(found))]
        files = [
            FilePiece(first, dict(zip(runs, rest, strict=True)))
            for first, *rest in zip(*columns, strict=True)
        ]
        yield PieceSource([*query_ids], lambda: iter(files))


def evaluate_pieces(
    plan: EvaluationPlan, pieces: PieceSource, workers: int, progress: Progress | None
) -> Iterator[Partition]:
    """Yield the result of each piece, from ``workers`` processes (0: one per processor)."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 0:
        raise BadInput(f"workers is how many processes to use, 0 for all, not {workers!r}")
    done, of = 0, len(pieces.query_ids)
    try:
        for part in _in_parallel(plan, pieces.each(), workers or os.cpu_count() or 1):
            done += len(part.query_ids)
            if progress is not None:
                progress(done, of)
            yield part
    except BrokenProcessPool as error:
        raise LabelerError(WORKER_ENDED) from error


def _in_parallel(
    plan: EvaluationPlan, pieces: Iterator[QueryPiece], workers: int
) -> Iterator[Partition]:
    if workers == 1:
        for piece in pieces:
            yield _evaluate_piece(plan, piece)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting: set[Future[Partition]] = set()
        for piece in pieces:
            waiting.add(pool.submit(_evaluate_piece, plan, piece))
            if len(waiting) > workers:  # more waiting pieces would only take memory
                finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (each.result() for each in finished)
        yield from (each.result() for each in waiting)


def _evaluate_piece(plan: EvaluationPlan, piece: QueryPiece) -> Partition:
    return plan.part(*piece.read())


def foreign_chunks_of(plan: EvaluationPlan, pieces: PieceSource) -> Callable[[str], int]:
    """Return a function of a run: the number of graded chunks if its lists contain none, else 0."""

    def count(run: str) -> int:
        graded: set[str] = set()
        for piece in pieces.each():
            qrels, _ = piece.read()
            _, chunk, grade = required_columns(qrels, "qrels", GRADE_COLUMNS)
            if plan.rules.grade_rule.negative_as_ungraded:
                qrels = qrels[qrels[grade] >= 0]
            graded |= {*qrels[chunk]}
        for piece in pieces.each():
            qrels, runs = piece.read()
            query, chunk = runs[run].columns[:2]
            known = runs[run][query].isin(qrels[qrels.columns[0]])
            if runs[run].loc[known, chunk].isin(graded).any():
                return 0
        return len(graded)

    return count
