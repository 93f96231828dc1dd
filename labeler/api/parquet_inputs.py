"""Parquet as runs and qrels: a file, or a folder of them, as a frame of the columns it needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from labeler.api.partwise import TableSource, parquet_files
from labeler.api.tables import GRADE_COLUMNS, GRADER_COLUMNS, ORDERS, column_named
from labeler.errors import BadInput
from labeler.formats.field_aliases import RUN_NAME, SCORE, is_field


def read_parquet_run(path: Path) -> pd.DataFrame:
    """Return the ids of a run, what could order it and whose it is; the rest is in name only.

    Raises `BadInput` that names the file.
    """
    return _read(path, (*ORDERS, RUN_NAME))


def read_parquet_qrels(path: Path) -> pd.DataFrame:
    """Return the ids and grades of qrels, and the graders; the rest is in name only."""
    return _read(path, (GRADE_COLUMNS, GRADER_COLUMNS))


def is_plain_run(path: Path) -> bool:
    """Return whether Parquet has scores, and nothing that says whose they are."""
    names = TableSource(path, str(path), ()).names
    return column_named(names, SCORE) is not None and column_named(names, RUN_NAME) is None


def _read(path: Path, groups: Sequence[Sequence[str]]) -> pd.DataFrame:
    if not parquet_files(path):
        why = "a folder without *.parquet files" if path.is_dir() else "there is no such file"
        raise BadInput(f"{path}: {why}")
    source = TableSource(path, str(path), ())
    found = [column_named(source.names, group) for group in groups]
    frame = source.frame([name for name in found if name is not None])
    left = [name for name in source.names if name not in frame.columns and not is_field(name)]
    return frame.assign(**dict.fromkeys(left)) if left else frame
