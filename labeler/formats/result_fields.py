"""Fields of results: which key or column of a record is the query, chunk, score and rank.

What is left over is kept by name, so that a load can say what it did not read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from labeler.errors import BadInput
from labeler.formats.field_aliases import (
    CHUNK_OF_RESULT,
    DISTANCE,
    GRADE,
    GRADED,
    LISTS,
    ONE_QUERY,
    QUERY_OF_PAIR,
    RANK,
    RANK_OR_PLACE,
    RUN_NAME,
    SCORE,
    fold_name,
    respell,
)
from labeler.formats.json_records import (
    MOST_SHAPES,
    TOO_LARGE,
    Record,
    Records,
    as_id,
    as_whole_number,
    format_keys,
    or_list,
    short,
    take_id,
)
from labeler.formats.limits import Limits
from labeler.formats.lines import InputFile

Order: TypeAlias = Literal["score", "rank", "file"]

KNOWN = (
    *(*QUERY_OF_PAIR, *CHUNK_OF_RESULT, *SCORE, *DISTANCE, *RANK, *RANK_OR_PLACE),
    *(*RUN_NAME, *GRADE),
)
_PASSED_OVER = frozenset({"q0", "Q0", "iteration", "iter", "results", "chunks"})
_QUERY_ID = tuple(name for name in QUERY_OF_PAIR if name in ONE_QUERY or name == "queryid")


class _Fields(NamedTuple):
    """The keys of one shape of record; ``left`` are those that nothing is read from."""

    query: tuple[str, ...]
    chunk: tuple[str, ...]
    score: str | None
    distance: str | None
    rank: str | None
    grade: str | None
    left: tuple[str, ...]

    @property
    def orders(self) -> list[str]:
        """The keys of what orders the results."""
        return [name for name in (self.score, self.distance, self.rank) if name is not None]


class Result(NamedTuple):
    """A chunk in a ranked list as a record has it."""

    chunk_id: str
    score: float | None
    rank: int | None


class ResultReader:
    """Reads the results in a file's records, and remembers the names of what it left."""

    def __init__(self, order: Order, limits: Limits, system: str | None = None) -> None:
        self.system = system  # the one whose results are read, of a file of several
        self.left: dict[str, None] = {}
        self.by_distance: str | None = None
        self.unordered = False  # results one by one, without anything that orders them
        self._order, self._limits = order, limits
        self._shapes: dict[tuple[str, ...], _Fields] = {}

    def query_of(self, record: Record) -> str:
        """Return the id of a record's query, or its text, which may stand for it."""
        return self._query(record, self._fields(record))

    def flat(self, record: Record) -> tuple[str, Result]:
        """Return the query of a record that holds one result, and the result."""
        fields = self._fields(record)
        query_id = self._query(record, fields)
        if fields.grade is not None and not fields.orders:
            raise BadInput(
                f"a {fields.grade} and neither score nor rank: these are golden grades and no run; "
                "load them as golden grades (labeler load golden)"
            )
        self.unordered = self.unordered or not fields.orders
        return query_id, self._result(record, fields)

    def entry(self, entry: Record) -> Result:
        """Return a result in a list of a query's results."""
        fields = self._fields(entry)
        if fields.query:
            self._note(fields.query)
        return self._result(entry, fields)

    def note_left(self, record: Record) -> None:
        """Remember what is left of a record that holds a query and the list of its results."""
        fields = self._fields(record)
        self._note((*fields.left, *fields.chunk, *fields.orders))

    def _note(self, names: Iterable[str]) -> None:
        self.left |= dict.fromkeys(names)

    def _query(self, record: Record, fields: _Fields) -> str:
        if len(fields.query) == 1:
            return as_id(record[fields.query[0]], "query", self._limits)
        given = {name: record[name] for name in fields.query}
        return take_id(given, fields.query or QUERY_OF_PAIR, "query", self._limits, fields.query)

    def _result(self, record: Record, fields: _Fields) -> Result:
        if not fields.chunk:
            raise BadInput(f"there is no chunk id; name it {or_list(CHUNK_OF_RESULT)}")
        chunk_id = as_id(record[fields.chunk[0]], "chunk", self._limits)
        score = None if fields.score is None else read_score(record[fields.score])
        if fields.distance is not None:
            self.by_distance = fields.distance
            score = -(read_score(record[fields.distance]) or 0.0)
        rank = None if fields.rank is None else as_whole_number(record[fields.rank], "rank")
        if fields.left:
            self._note(fields.left)
        return Result(chunk_id, score, rank)

    def _fields(self, record: Record) -> _Fields:
        keys = tuple(record)
        if None in record.values():
            keys = tuple(key for key, value in record.items() if value is not None)
        found = self._shapes.get(keys)
        if found is None:
            found = _find_fields(keys, self._order)
            if len(self._shapes) < MOST_SHAPES:
                self._shapes[keys] = found
        return found


def _by_name(keys: Sequence[str]) -> dict[str, str]:
    """Return the keys by the names in `KNOWN` that they are."""
    respelled = respell(keys, KNOWN)
    return {respelled.get(key, key): key for key in keys}


def _find_fields(keys: Sequence[str], order: Order) -> _Fields:
    by_name = _by_name(keys)

    def named(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(by_name[name] for name in names if name in by_name)

    scores, distances = named(SCORE), named(DISTANCE)
    if len(scores) > 1:
        raise BadInput(
            f"{short(scores[0])} and {short(scores[1])} could both be the score; leave one of "
            "them out"
        )
    ranks = named(RANK)
    distance = distances[0] if distances and not scores else None
    if not ranks and (order == "rank" or not (scores or distance)):
        ranks = named(RANK_OR_PLACE)
    query = named(_QUERY_ID) or named(QUERY_OF_PAIR)[:1]
    chunk = named(CHUNK_OF_RESULT)[:1]
    used = {*query, *chunk, *scores, *ranks[:1], *([distance] if distance else [])}
    left = tuple(key for key in keys if key not in used and key not in _PASSED_OVER)
    score, rank = next(iter(scores), None), next(iter(ranks), None)
    return _Fields(query, chunk, score, distance, rank, next(iter(named(GRADED)), None), left)


class SeveralSystems(BadInput):
    """A file of several runs, with the names of their systems."""

    def __init__(self, message: str, systems: Sequence[str]) -> None:
        super().__init__(message)
        self.systems = tuple(systems)


def of_one_system(
    source: InputFile, records: Records, system: str | None = None
) -> Iterator[tuple[int, Record, str | None]]:
    """Yield records without the name of their run, and that name, which must be the same in all.

    With ``system`` only its records are yielded, and each record must name one.
    """
    shapes: dict[tuple[str, ...], tuple[dict[str, str], str | None]] = {}
    first: str | None = None
    for number, record in records:
        keys = tuple(record)
        shape = shapes.get(keys)
        if shape is None:
            shape = _shape(keys)
            if len(shapes) < MOST_SHAPES:
                shapes[keys] = shape
        names, column = shape
        if names:
            record = {names.get(key, key): record[key] for key in keys}
        value = None if column is None else record.pop(column)
        named = None if value in (None, "") else str(value)
        if system is not None and named is None:
            raise source.fail(number, "no system is named here, but on other lines")
        if system is not None and named != system:
            continue
        first = named if first is None else first
        if column is not None and named not in (None, first):
            raise _several_runs(source, number, column, [str(first), str(named)], records)
        yield number, record, first


def _shape(keys: Sequence[str]) -> tuple[dict[str, str], str | None]:
    """Return the known spelling of keys that have another, and the one that names the run."""
    names = respell(keys, (*KNOWN, *LISTS))
    known = {names.get(key, key) for key in keys}
    return names, next((name for name in RUN_NAME if name in known), None)


def _several_runs(
    source: InputFile, number: int, column: str, found: list[str], rest: Records
) -> BadInput:
    """Return the error for a file of several runs, which names those in the rest of it, too.

    A tag may as well be of a query, so that no run is made of each.
    """
    names = dict.fromkeys(found)
    for _, record in rest:
        value = {fold_name(key): value for key, value in record.items()}.get(fold_name(column))
        if value not in (None, ""):
            names[str(value)] = None
    error = source.fail(
        number,
        f"{short(column)} names {len(names):,} systems ({format_keys(names)}), and a run is of "
        "one; give each system a file of its own, or rename or leave out the field if it says "
        "something else",
    )
    return error if fold_name(column) == "tag" else SeveralSystems(str(error), [*names])


def read_score(value: object) -> float | None:
    """Return a score as a number that 32 bits hold; None for no score."""
    if value is None:
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        if isinstance(value, str) and not value.isascii():
            raise ValueError  # other scripts' digits
        score = float(value)
        if not math.isfinite(score) or "_" in str(value):
            raise ValueError
    except (ValueError, OverflowError) as error:
        raise BadInput(f"score must be a finite number, not {short(value)}") from error
    if not abs(score) < TOO_LARGE:
        raise BadInput(f"score {short(value)} is larger than a 32-bit number can be (3.4e38)")
    return score
