"""Tables as runs and qrels: frames, and lists of records such as those of ir_measures.

Columns are found by the names that files may have. A run becomes a frame with a score or a rank;
what was left of it or is a guess is said in notes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median_low
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from labeler.errors import BadInput
from labeler.evaluation import is_number
from labeler.formats.field_aliases import (
    CHUNK_OF_RESULT,
    DISTANCE,
    GRADE,
    QUERY_OF_PAIR,
    RANK,
    RANK_OR_PLACE,
    RUN_NAME,
    SCORE,
    Aliases,
    is_field,
    respell,
)

if TYPE_CHECKING:
    import pandas as pd

QUERY_COLUMNS, CHUNK_COLUMNS = QUERY_OF_PAIR, CHUNK_OF_RESULT
GRADE_COLUMNS, SCORE_COLUMNS, RANK_COLUMNS = GRADE, SCORE, RANK
ORDERS = (SCORE, DISTANCE, RANK, RANK_OR_PLACE)
GRADER_COLUMNS = ("grader", "graders", "judge", "annotator", "rater", "assessor", "user")
_FEWEST_STEPS = 3  # fewer scores rise by chance


def is_frame(given: object) -> TypeGuard[pd.DataFrame]:
    """Return whether it is a pandas frame; where nobody has imported pandas, nothing is one."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(given, pandas.DataFrame)


def as_table(given: Any) -> Any:
    """Return records as a frame, such as dicts or the named tuples of ir_measures; else ``given``.

    >>> as_table([{"query_id": "q", "doc_id": "c", "score": 2.5}]).columns.tolist()
    ['query_id', 'doc_id', 'score']
    """
    if isinstance(given, Iterator):
        first = next(given, None)
        return as_table([] if first is None else [first, *given])
    if isinstance(given, list | tuple) and given and _is_record(given[0]):
        import pandas as pd  # here: who has no records need not wait for it

        return pd.DataFrame(
            [each if isinstance(each, Mapping) else each._asdict() for each in given]
        )
    return given


def _is_record(value: object) -> bool:
    if hasattr(value, "_asdict"):
        return True
    keys = [key for key in value if isinstance(key, str)] if isinstance(value, Mapping) else []
    known = {*keys, *respell(keys, (*QUERY_COLUMNS, *CHUNK_COLUMNS)).values()}
    return not known.isdisjoint(QUERY_COLUMNS) and not known.isdisjoint(CHUNK_COLUMNS)


def split_systems(given: Any) -> Any:
    """Return a frame of one or more systems as a run by name of each; else ``given``."""
    given = as_table(given)
    if not is_frame(given) or (column := _column_of(given, RUN_NAME)) is None:
        return given
    each: Any = given.groupby(column, sort=False)
    return {str(name): of.drop(columns=column) for name, of in each}


def prepare_run(given: Any, name: str, order: str) -> tuple[Any, list[str]]:
    """Return a run with columns that `frame_to_dicts` knows, and notes; others but tables as given.

    Scores are minus the distances, or minus the ranks, where a table has no scores. Raises
    `BadInput` for a table of several systems.
    """
    given = as_table(given)
    if not is_frame(given):
        return given, []
    what = f"run {name!r}"
    _check_one_system(given, what)
    notes = [f"{what}: {said}" for said in _say_left(given)]
    if order == "file":
        is_plain = _column_of(given, SCORE) is not None
        return (given if is_plain else given.assign(score=0.0)), notes
    score, rank = _column_of(given, SCORE), _column_of(given, (*RANK, *RANK_OR_PLACE))
    if order == "rank":
        is_other = rank is not None and _column_of(given, RANK) is None
        return (given.rename(columns={rank: RANK[0]}) if is_other else given), notes
    if score is not None:
        return given, [*notes, *(f"{what}: {said}" for said in _say_rising(given, what, score))]
    distance = _column_of(given, DISTANCE)
    by = rank if distance is None else distance
    if by is None:
        listed = ", ".join(map(repr, given.columns)) or "none"
        raise BadInput(
            f"{what}: there is no column {' or '.join(SCORE_COLUMNS.shown)}; the columns are "
            f"{listed}; with --order file the order of the rows counts"
        )
    query, chunk, by = required_columns(given, what, (by,))
    if distance is None:
        lists_by_rank(given, what, (by,))
    else:
        notes.append(f"{what}: the smallest {by} is best; scores are minus the distances")
    return given[[query, chunk]].assign(score=-given[by].astype(np.float64)), notes


def prepare_qrels(given: Any) -> tuple[Any, list[str]]:
    """Return qrels with a grade for each pair, and notes; others but tables as given.

    Where several graders grade a pair, the lower median counts.
    """
    given = as_table(given)
    if not is_frame(given):
        return given, []
    notes = [f"qrels: {said}" for said in _say_left(given, GRADER_COLUMNS)]
    query, chunk = _column_of(given, QUERY_COLUMNS), _column_of(given, CHUNK_COLUMNS)
    grade = _column_of(given, GRADE_COLUMNS)
    if None in (query, chunk, grade, _column_of(given, GRADER_COLUMNS)):
        return given, notes
    if not given.duplicated([query, chunk]).any():
        return given, notes
    by_pair: Any = given.groupby([query, chunk], sort=False)
    notes.append("qrels: several graders grade the same pair; the lower median counts")
    return by_pair[grade].agg(lambda each: median_low([*each])).reset_index(), notes


def _check_one_system(frame: pd.DataFrame, what: str) -> None:
    column = _column_of(frame, RUN_NAME)
    if column is None or (names := frame[column].dropna().unique()).size < 2:
        return
    named = ", ".join(map(str, names[:10]))
    raise BadInput(
        f"{what}: column {column!r} names {names.size:,} systems ({named}), and a run is of one; "
        f"give the frame itself as the runs, or leave the column out if it says something else"
    )


def _column_of(frame: pd.DataFrame, names: Sequence[str]) -> str | None:
    return column_named(frame.columns.tolist(), names)


def column_named(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the column of one of these names, the first of the names that is there."""
    texts = [name for name in columns if isinstance(name, str)]
    known = respell(texts, names)
    by_name = {known.get(name, name): name for name in texts}
    return next((by_name[name] for name in names if name in by_name), None)


def _say_left(frame: pd.DataFrame, others: Sequence[str] = ()) -> Iterator[str]:
    """Yield a sentence that names the columns of which nothing here is ever read."""
    left = [str(name) for name in frame.columns if not is_field(str(name), others)]
    if left:
        more = f" and {len(left) - 10} more" if len(left) > 10 else ""
        yield f"columns that are not read: {', '.join(left[:10])}{more}"


def _say_rising(frame: pd.DataFrame, what: str, score: str) -> Iterator[str]:
    """Yield a question where scores rise from row to row in every list, as distances do."""
    query = find_column(frame.columns.tolist(), what, QUERY_COLUMNS)
    rising = 0
    size = 10_000  # most frames have a score that falls among the first
    for end in (size, len(frame)):
        rows = frame.iloc[:end]
        lists, values = rows[query].factorize()[0], rows[score].to_numpy()
        if values.dtype.kind not in "fiu":
            return
        order = np.argsort(lists, kind="stable")
        lists, values = lists[order], values[order]
        follows = lists[1:] == lists[:-1]
        if (follows & (values[1:] < values[:-1])).any():
            return
        rising = int((follows & (values[1:] > values[:-1])).sum())
    if rising >= _FEWEST_STEPS and _column_of(frame, RANK) is None:
        yield (
            f"the scores never fall from row to row in any list ({rising} times they rise): are "
            "they distances? The highest counts as best; --order file takes the order of the rows"
        )


def frame_to_dicts(
    frame: pd.DataFrame, what: str, value: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    """Return a frame's rows as ``{query: {chunk: value}}``; raise `BadInput` for a repeat."""
    columns = required_columns(frame, what, value)
    repeated = frame.duplicated(columns[:2])
    if repeated.any():
        query_id, chunk_id = frame.loc[repeated, columns[:2]].iloc[0]
        raise BadInput(f"{what}: chunk {chunk_id!r} stands twice for query {query_id!r}")
    parts = (frame[name].tolist() for name in columns)
    return _rows_to_dicts(zip(*parts, strict=True))


def required_columns(frame: pd.DataFrame, what: str, value: tuple[str, ...]) -> list[str]:
    """Return the columns of query, chunk and value; raise `BadInput` if a value is missing."""
    names = frame.columns.tolist()
    columns = [find_column(names, what, each) for each in (QUERY_COLUMNS, CHUNK_COLUMNS, value)]
    for name in columns:
        if frame[name].isna().any():
            raise BadInput(f"{what}: column {name!r} has a row without a value")
    return columns


def lists_by_rank(
    frame: pd.DataFrame, what: str, rank: tuple[str, ...] = RANK_COLUMNS
) -> dict[str, list[str]]:
    """Return a frame as ``{query: [chunk, ...]}`` by rank; raise `BadInput` for equal ranks."""
    ranked = frame_to_dicts(frame, what, rank)
    for query_id, ranks in ranked.items():
        if not all(map(is_number, ranks.values())) or len(set(ranks.values())) < len(ranks):
            raise BadInput(f"{what}: the ranks of query {query_id!r} must be numbers that differ")
    return {query_id: sorted(ranks, key=ranks.__getitem__) for query_id, ranks in ranked.items()}


def find_column(columns: Sequence[str], what: str, names: tuple[str, ...]) -> str:
    """Return the first of ``names`` that is a column, in whatever form it is written.

    Raises `BadInput` if none is, if it is repeated, or if two columns could be the score.
    """
    texts = [name for name in columns if isinstance(name, str)]
    known = respell(texts, names)
    by_name = {known.get(name, name): name for name in texts}
    found = [by_name[name] for name in names if name in by_name]
    if not found:
        listed = ", ".join(map(repr, columns)) or "none"
        shown = names.shown if isinstance(names, Aliases) else names
        raise BadInput(f"{what}: there is no column {' or '.join(shown)}; the columns are {listed}")
    if (times := texts.count(found[0])) > 1:
        raise BadInput(f"{what}: there are {times} columns {found[0]!r}; leave one")
    if names is SCORE_COLUMNS and len(found) > 1:
        raise BadInput(
            f"{what}: columns {found[0]!r} and {found[1]!r} could both be the score; leave one"
        )
    return found[0]


def _rows_to_dicts(rows: Iterable[tuple[Any, Any, Any]]) -> dict[str, dict[str, Any]]:
    gathered: dict[str, dict[str, Any]] = {}
    for query_id, chunk_id, value in rows:
        if not isinstance(query_id, str) or not isinstance(chunk_id, str):
            wrong = chunk_id if isinstance(query_id, str) else query_id
            raise BadInput(f"ids are text, not {wrong!r}; convert the column with .astype(str)")
        gathered.setdefault(query_id, {})[chunk_id] = value
    return gathered
