"""Cuts frames and Parquet files by query, so that a few thousand queries are at hand at a time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from labeler.api.given import GRADE, RANK, SCORE, RunRule, columns_of
from labeler.api.parquet import Given, Source, files_of, frame_in
from labeler.api.plans import Plan
from labeler.errors import BadInput, LabelerError
from labeler.evaluation import Part

Numbers: TypeAlias = npt.NDArray[np.int32]
Progress: TypeAlias = Callable[[int, int], object]
QUERIES_AT_ONCE = 4_000
ROWS_AT_ONCE = 400_000
NO_ANSWER = (
    "workers: a process ended without an answer. Either there was too little memory for as many of "
    "them, or the script that calls labeler.evaluate runs anew in each: its call belongs below "
    "'if __name__ == \"__main__\":'. workers=1 needs no other process"
)
_SLICE = 1 << 18  # rows whose ids are looked up together


class Piece(Protocol):
    """The grades and lists of some queries, which can be read here or in another process."""

    def read(self) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
        """Return the frames."""


@dataclass(frozen=True, eq=False)
class FramePiece:
    """A piece that is in memory."""

    qrels: pd.DataFrame
    runs: dict[str, pd.DataFrame]

    def read(self) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
        """Return the frames."""
        return self.qrels, self.runs


@dataclass(frozen=True, eq=False)
class FilePiece:
    """A piece that is in files."""

    qrels: Path
    runs: Mapping[str, Path]

    def read(self) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
        """Return the frames."""
        return frame_in(self.qrels), {name: frame_in(path) for name, path in self.runs.items()}


@dataclass(frozen=True, eq=False)
class Pieces:
    """All pieces, as often as they are asked for, and the queries with grades in their order."""

    query_ids: Sequence[str]
    each: Callable[[], Iterator[Piece]]


def are_cut(qrels: object, runs: object, *, asked: bool) -> bool:
    """Say whether these are cut by query: Parquet files, or frames if there is much or ``asked``.

    Raises `BadInput` for Parquet files beside what has no rows.
    """
    if not isinstance(runs, Mapping) or not runs:
        return False
    given = [qrels, *runs.values()]
    if any(map(files_of, given)):
        for each in given:
            if not isinstance(each, pd.DataFrame) and not files_of(each):
                raise BadInput(
                    "beside Parquet files all others must be Parquet files or frames, not "
                    f"{each if isinstance(each, str | PathLike) else type(each).__name__}"
                )
        return True
    rows = [len(each) for each in given if isinstance(each, pd.DataFrame)]
    return len(rows) == len(given) and (asked or sum(rows) > ROWS_AT_ONCE)


def evaluate_cut(
    plan: Plan,
    qrels: Given,
    runs: Mapping[str, Given],
    per_query: bool,
    workers: int,
    progress: Progress | None,
) -> pd.DataFrame:
    """Evaluate what `are_cut`, piece by piece."""
    with pieces_of(qrels, runs, plan.run_rule) as pieces:
        parts = [*parts_of(plan, pieces, workers, progress)]
        foreign = foreign_to(plan, pieces)
        order = pieces.query_ids
        return plan.add_up(parts, per_query=per_query, order=order, foreign_to=foreign)


def pieces_of(
    qrels: Given, runs: Mapping[str, Given], rule: RunRule
) -> AbstractContextManager[Pieces]:
    """Return the pieces of what `is_cut`; files of them are there as long as this is open."""
    by = RANK if rule.order == "rank" else SCORE
    if all(isinstance(each, pd.DataFrame) for each in (qrels, *runs.values())):
        return nullcontext(_of_frames(qrels, runs, by))  # type: ignore[arg-type] # it just said so
    return _partitioned(qrels, runs, by)


def _of_frames(
    qrels: pd.DataFrame, runs: Mapping[str, pd.DataFrame], by: tuple[str, ...]
) -> Pieces:
    given = [qrels, *runs.values()]
    columns = [columns_of(qrels, "qrels", GRADE)]
    columns += [columns_of(run, f"run {name!r}", by) for name, run in runs.items()]
    ids = pd.unique(qrels[columns[0][0]])
    numbers = _Numbers(ids)
    orders, bounds = [], []
    found = [numbers.of(frame[names[0]]) for frame, names in zip(given, columns, strict=True)]
    edges = np.arange(0, len(numbers) + QUERIES_AT_ONCE, QUERIES_AT_ONCE)
    for at, codes in enumerate(found):
        orders.append(np.argsort(codes, kind="stable"))
        bounds.append(np.searchsorted(codes[orders[-1]], edges).tolist())
        found[at] = _NO_NUMBERS  # no longer needed, and as long as a frame

    def each() -> Iterator[Piece]:
        for at in range(len(edges) - 1):
            frames = [
                frame[names].take(order[of[at] : of[at + 1]])
                for frame, names, order, of in zip(given, columns, orders, bounds, strict=True)
            ]
            yield FramePiece(frames[0], dict(zip(runs, frames[1:], strict=True)))

    return Pieces(ids.tolist(), each)


_NO_NUMBERS: Numbers = np.zeros(0, dtype=np.int32)


class _Numbers:
    """Numbers for queries: those with grades come first, as they first appear, then others."""

    def __init__(self, ids: Any) -> None:
        self._index = pd.Index(ids)
        self._others: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self._index) + len(self._others)

    def of(self, ids: pd.Series[Any]) -> Numbers:
        """Return the number of each id; some at a time, since looking up makes objects of them."""
        found = np.empty(len(ids), dtype=np.int32)
        for start in range(0, len(ids), _SLICE):
            some = ids.iloc[start : start + _SLICE]
            numbers = self._index.get_indexer(pd.Index(some))
            unknown = np.flatnonzero(numbers < 0)
            if len(unknown):
                which, names = pd.factorize(some.iloc[unknown])
                new = [self._others.setdefault(name, len(self)) for name in names]
                numbers[unknown] = np.array(new)[which]
            found[start : start + _SLICE] = numbers
        return found


@contextmanager
def _partitioned(qrels: Given, runs: Mapping[str, Given], by: tuple[str, ...]) -> Iterator[Pieces]:
    """Give frames and Parquet files in pieces by the hash of the query, as files in a folder."""
    golden = Source(qrels, "qrels", GRADE)
    found = {name: Source(run, f"run {name!r}", by) for name, run in runs.items()}
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
        yield Pieces([*query_ids], lambda: iter(files))


def parts_of(plan: Plan, pieces: Pieces, workers: int, progress: Progress | None) -> Iterator[Part]:
    """Give what each piece says, by ``workers`` processes (0: as many as there are processors)."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 0:
        raise BadInput(f"workers is how many processes to use, 0 for all, not {workers!r}")
    done, of = 0, len(pieces.query_ids)
    try:
        for part in _side_by_side(plan, pieces.each(), workers or os.cpu_count() or 1):
            done += len(part.query_ids)
            if progress is not None:
                progress(done, of)
            yield part
    except BrokenProcessPool as error:
        raise LabelerError(NO_ANSWER) from error


def _side_by_side(plan: Plan, pieces: Iterator[Piece], workers: int) -> Iterator[Part]:
    if workers == 1:
        for piece in pieces:
            yield _part(plan, piece)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting: set[Future[Part]] = set()
        for piece in pieces:
            waiting.add(pool.submit(_part, plan, piece))
            if len(waiting) > workers:  # pieces that nobody works on yet only take memory
                finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (each.result() for each in finished)
        yield from (each.result() for each in waiting)


def _part(plan: Plan, piece: Piece) -> Part:
    return plan.part(*piece.read())


def foreign_to(plan: Plan, pieces: Pieces) -> Callable[[str], int]:
    """Return what counts the graded chunks, if none of them stands in a run's lists; else 0."""

    def count(run: str) -> int:
        graded: set[str] = set()
        for piece in pieces.each():
            qrels, _ = piece.read()
            _, chunk, grade = columns_of(qrels, "qrels", GRADE)
            if plan.rule.negative_as_ungraded:
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
