"""Arguments of the Python functions: reading qrels and runs from dicts, frames or files.

A scoreboard is built from them, and its rows are returned as a frame with notes.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from inspect import signature
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeGuard, TypeVar, cast, get_args

import numpy as np

from labeler.errors import BadInput
from labeler.evaluation import (
    Conventions,
    GivenList,
    Scoreboard,
    all_ids,
    all_of_type,
    check_chunk_ids,
    find_tie_ranges,
    is_number,
    keys_are_ids,
    plain_board,
    tie_notes,
)
from labeler.formats import (
    LIMITS,
    RELEVANT,
    GradeCuts,
    GradeRule,
    Limits,
    OnDuplicate,
    Order,
    SeveralSystems,
    parse_limits,
    read_grades,
    read_run,
    stream_run,
    without_self,
)
from labeler.formats.field_aliases import (
    CHUNK_OF_RESULT,
    GRADE,
    QUERY_OF_PAIR,
    RANK,
    SCORE,
    Aliases,
    respell,
)
from labeler.measures import Measure
from labeler.model import GRADES, RankingsByQuery, check_grade, check_id, is_storable

if TYPE_CHECKING:
    import pandas as pd

GivenGrades: TypeAlias = (
    "Mapping[str, Mapping[str, int] | Iterable[str]] | pd.DataFrame | str | PathLike[str]"
)
GivenRun: TypeAlias = (
    "Mapping[str, Mapping[str, float] | Sequence[str]] | pd.DataFrame | str | PathLike[str]"
)

QUERY_COLUMNS, CHUNK_COLUMNS = QUERY_OF_PAIR, CHUNK_OF_RESULT
GRADE_COLUMNS, SCORE_COLUMNS, RANK_COLUMNS = GRADE, SCORE, RANK
Warnings: TypeAlias = dict[str, Sequence[str]]
"""What the reader of each run's file warned of, by the run's name."""

_MOST_SYSTEMS = 100  # runs that one file may become; more are no systems
PARQUET_ENDINGS = (".parquet", ".pq")
_PARALLEL_READS = 2  # more at once take more memory and save no time
_PARALLEL_FROM = 1 << 22  # bytes; smaller files are read in Python, where threads do not help
# Patterns of command-line options in messages, and how they are written in Python.
PYTHON_OPTIONS: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"--limit (\w+)=\w+": lambda found: _limit_in_python(found[1], found[0].split()[1]),
    r"--grade-map ([^\s=]+=\d(?:,[^\s=]+=\d)*)": lambda found: _map_in_python(found[1]),
    r"(\S+)=(\d) to --grade-map": r"\1: \2 to grade_map",
    r"--grade-cuts (\S+)": lambda found: (
        f"grade_map=labeler.GradeCuts({found[1].replace(',', ', ')})"
    ),
    "--negative-as-zero": "negative_as_zero=True",
    "--negative-as-ungraded": "negative_as_ungraded=True",
    "--order (file|rank|score)": r"order='\1'",
    "--on-duplicate first": "on_duplicate='first'",
}


def _map_in_python(pairs: str) -> str:
    return f"grade_map={{{', '.join(pair.replace('=', ': ') for pair in pairs.split(','))}}}"


def _limit_in_python(name: str, given: str) -> str:
    return f"limits=labeler.Limits({name}={getattr(parse_limits([given]), name)})"


@dataclass(frozen=True, slots=True)
class RunRule:
    """How runs are read: repeated chunks, the order of a list, limits on the size of files.

    With ``leave_out_self`` lists are read without the chunk that has their query's id.
    """

    on_duplicate: OnDuplicate = "refuse"
    order: Order = "score"
    limits: Limits = LIMITS
    leave_out_self: bool = False

    def check(self) -> None:
        """Raise `BadInput` if ``on_duplicate`` or ``order`` is invalid."""
        if self.on_duplicate not in get_args(OnDuplicate):
            raise BadInput(f"on_duplicate is 'refuse' or 'first', not {self.on_duplicate!r}")
        if self.order not in get_args(Order):
            raise BadInput(f"order is 'score', 'rank' or 'file', not {self.order!r}")


def grade_rule(
    grade_map: Mapping[float, int] | None,
    negative_as_zero: bool,
    negative_as_ungraded: bool = False,
) -> GradeRule:
    """Return how grades of other scales are read; raise `BadInput` for an invalid map."""
    if grade_map is None or isinstance(grade_map, GradeCuts):
        return GradeRule(negative_as_zero, grade_map or {}, negative_as_ungraded)
    if not isinstance(grade_map, Mapping) or not all(map(is_number, grade_map)):
        raise BadInput(
            f"grade_map must be {{number: grade}}, such as {{0.3: 1, 1.0: 3}}, not {grade_map!r}"
        )
    grades = {float(old): new for old, new in grade_map.items()}
    for old, new in grades.items():
        grades[old] = check_grade(int(new) if is_number(new) and new in GRADES else new)
    return GradeRule(negative_as_zero, grades, negative_as_ungraded)


@contextmanager
def python_option_names() -> Iterator[None]:
    """Rewrite command-line options in error messages as Python arguments."""
    try:
        yield
    except BadInput as error:
        text = str(error)
        for option, argument in PYTHON_OPTIONS.items():
            text = re.sub(option, argument, text)
        if text == str(error):
            raise
        raise BadInput(text) from error


def is_frame(given: object) -> TypeGuard[pd.DataFrame]:
    """Return whether it is a pandas frame; where nobody has imported pandas, nothing is one."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(given, pandas.DataFrame)


def qrels_to_dicts(
    given: GivenGrades, rule: GradeRule, limits: Limits = LIMITS
) -> dict[str, dict[str, int]]:
    """Return qrels as ``{query: {chunk: grade}}``; raise `BadInput` if they are malformed."""
    if isinstance(given, str | PathLike):
        if not _is_parquet(path := _path(given)):
            return read_grades(path, rule, limits)
        given = _read_parquet(path, GRADE_COLUMNS)
    if is_frame(given):
        given = frame_to_dicts(given, "qrels", GRADE_COLUMNS)
    elif not isinstance(given, Mapping):
        raise BadInput(f"qrels must be a dict, a frame or a path, not {type(given).__name__}")
    if not rule.grade_map and _are_plain(given):
        return cast("dict[str, dict[str, int]]", given)
    grades: dict[str, dict[str, int]] = {}
    for query_id, chunks in given.items():
        check_id(query_id, "query")
        if isinstance(chunks, set | frozenset | list | tuple):
            check_chunk_ids(f"qrels, query {query_id!r}", chunks)
            chunks = dict.fromkeys(chunks, RELEVANT)
        if not isinstance(chunks, Mapping):
            raise BadInput(
                f"qrels of query {query_id!r} must be {{chunk: grade}}, or a set of the chunks "
                f"that are right, not {chunks!r}"
            )
        check_chunk_ids(f"qrels, query {query_id!r}", chunks)
        grades[query_id] = _grades_of_query(query_id, chunks, rule)
    return grades


def _are_plain(qrels: Mapping[Any, Any]) -> bool:
    """Return whether qrels need no conversion: dicts of ids and of whole numbers from 0 to 3."""
    if not all_of_type(dict, qrels.values()) or not all_ids(qrels):
        return False
    grades = [*chain.from_iterable(map(dict.values, qrels.values()))]
    plain = (
        all_of_type(int, grades) and set(grades) <= set(GRADES) and keys_are_ids([*qrels.values()])
    )
    return plain and is_storable("".join(qrels))


def runs_to_lists(
    runs: Mapping[str, GivenRun], rule: RunRule, warnings: Warnings | None = None
) -> dict[str, Mapping[str, GivenList]]:
    """Return the lists of each run by query; large files are read in parallel.

    What the readers of files warn of is put into ``warnings``. Where these are asked for, a file of
    several systems is a run of each, called as the system.
    """
    names = [check_id(name, "run") for name in runs]
    read = partial(_runs_of, rule=rule, warnings=warnings)
    files = [_path(run) for run in runs.values() if isinstance(run, str | PathLike)]
    if sum(path.stat().st_size for path in files if path.is_file()) < _PARALLEL_FROM:
        return _joined(map(read, names, runs.values()))
    with ThreadPoolExecutor(_PARALLEL_READS) as pool:
        return _joined(pool.map(read, names, runs.values()))


def _joined(
    parts: Iterable[Mapping[str, Mapping[str, GivenList]]],
) -> dict[str, Mapping[str, GivenList]]:
    """Return the runs of all files; raises `BadInput` where two have one name."""
    found: dict[str, Mapping[str, GivenList]] = {}
    for name, lists in chain.from_iterable(part.items() for part in parts):
        if name in found:
            raise BadInput(f"two runs are called {name!r}: a system in a file and another run")
        found[name] = lists
    return found


def _runs_of(
    name: str, given: GivenRun, rule: RunRule, warnings: Warnings | None
) -> dict[str, Mapping[str, GivenList]]:
    """Return the run, or those of each system in its file if ``warnings`` are asked for."""
    told: Warnings = {} if warnings is None else warnings
    try:
        return {name: _lists_of_run(name, given, rule, told)}
    except SeveralSystems as several:
        if warnings is None or len(several.systems) > _MOST_SYSTEMS:
            raise
        path = _path(cast("str | PathLike[str]", given))
        return {
            check_id(system, "run"): _lists_of_file(system, path, rule, told, system)
            for system in several.systems
        }


def _lists_of_file(
    name: str, path: Path, rule: RunRule, warnings: Warnings, system: str | None = None
) -> Mapping[str, GivenList]:
    options: dict[str, Any] = {
        "order": rule.order,
        "on_duplicate": rule.on_duplicate,
        "limits": rule.limits,
    }
    whole = read_run(path, **options) if system is None else None
    read = stream_run(path, **options, system=system) if whole is None else whole
    warnings[name] = [f"{read.source}: {warning}" for warning in read.warnings]
    if whole is not None and not rule.leave_out_self:
        return RankingsByQuery(whole.records)
    records = without_self(read).records if rule.leave_out_self else read.records
    return {each.query_id: each for each in records}


def _lists_of_run(
    name: str, given: GivenRun, rule: RunRule, warnings: Warnings
) -> Mapping[str, GivenList]:
    """Return the lists of the run ``name`` by query; those of a dict are not checked here.

    Raises `BadInput` for a malformed file, and for anything that is not a run.
    """
    if isinstance(given, str | PathLike) and _is_parquet(path := _path(given)):
        if rule.order == "file":
            raise BadInput(f"{path}: order='file' needs a file of text; order by score or rank")
        given = _read_parquet(path, RANK_COLUMNS if rule.order == "rank" else SCORE_COLUMNS)
    if isinstance(given, str | PathLike):
        return _lists_of_file(name, _path(given), rule, warnings)
    if is_frame(given) and rule.order == "rank":
        given = _by_rank(given, f"run {name!r}")
    elif is_frame(given) and rule.order == "file":
        rows = frame_to_dicts(given, f"run {name!r}", CHUNK_COLUMNS)
        given = {query_id: [*chunks] for query_id, chunks in rows.items()}
    elif is_frame(given):
        given = frame_to_dicts(given, f"run {name!r}", SCORE_COLUMNS)
    elif not isinstance(given, Mapping):
        raise BadInput(
            f"run {name!r} must be a dict, a frame or a path, not {type(given).__name__}"
        )
    if rule.leave_out_self:
        return {
            query_id: {each: score for each, score in ranked.items() if each != query_id}
            if isinstance(ranked, Mapping)
            else [each for each in ranked if each != query_id]
            for query_id, ranked in given.items()
        }
    return given


def _path(given: str | PathLike[str]) -> Path:
    return Path(os.fsdecode(given))


def _is_parquet(path: Path) -> bool:
    return path.suffix in PARQUET_ENDINGS or path.is_dir()


def _read_parquet(path: Path, value: tuple[str, ...]) -> pd.DataFrame:
    """Return the rows of Parquet files; raises `BadInput` that names them."""
    from labeler.api.partwise import TableSource, parquet_files  # here: it imports pyarrow

    if not parquet_files(path):
        why = "a folder without *.parquet files" if path.is_dir() else "there is no such file"
        raise BadInput(f"{path}: {why}")
    return TableSource(path, str(path), value).frame()


def _grades_of_query(query_id: str, chunks: Mapping[str, Any], rule: GradeRule) -> dict[str, int]:
    return {chunk_id: _grade(query_id, chunk_id, grade, rule) for chunk_id, grade in chunks.items()}


def _grade(query_id: str, chunk_id: str, value: Any, rule: GradeRule) -> int:
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise BadInput(f"grade must be 0, 1, 2 or 3, not {value!r}")
        return rule.read(value.item() if isinstance(value, np.number) else value)
    except BadInput as error:
        raise BadInput(f"qrels: chunk {chunk_id!r} for query {query_id!r}: {error}") from error


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


def _by_rank(frame: pd.DataFrame, what: str) -> dict[str, list[str]]:
    """Return a frame as ``{query: [chunk, ...]}`` by rank; raise `BadInput` for equal ranks."""
    ranked = frame_to_dicts(frame, what, RANK_COLUMNS)
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


Measures: TypeAlias = "str | Measure | Iterable[str | Measure]"


def result_frame(
    rows: Sequence[Mapping[str, Any]] | dict[str, Any], board: Scoreboard, wanted: Sequence[Measure]
) -> pd.DataFrame:
    """Return rows as a frame with their conventions and notes in ``attrs``."""
    import pandas as pd  # here: who wants no frame need not wait for it

    frame = pd.DataFrame(rows, copy=False)
    frame.attrs["conventions"] = board.conventions.describe()
    notes = [*board.notes(wanted), *tie_notes(find_tie_ranges(board, wanted), board.conventions)]
    frame.attrs["notes"] = [note.sentence for note in notes]
    return frame


def parse_measures(conventions: Conventions, measures: Measures) -> tuple[Measure, ...]:
    """Parse measures from texts, or from measures of this library or of ir_measures."""
    one = isinstance(measures, str | bytes) or not isinstance(measures, Iterable)
    given: Iterable[object] = [measures] if one else cast(Iterable[object], measures)
    wanted = conventions.measures(map(str, given))
    if not wanted:
        raise BadInput("no measure is named; one is written like nDCG@10")
    return wanted


def preset_grade_rule(
    conventions: Conventions,
    grade_map: Mapping[float, int] | None,
    negative_as_zero: bool,
    negative_as_ungraded: bool | None,
) -> GradeRule:
    """Return how grades are read; raise `BadInput` for an invalid map.

    Unless an option says otherwise, the trec_eval preset reads grades below 0 as ungraded.
    """
    with python_option_names():
        if negative_as_ungraded is None:
            negative_as_ungraded = conventions.like_trec_eval and not negative_as_zero
        return grade_rule(grade_map, negative_as_zero, negative_as_ungraded)


def check_named_runs(runs: object) -> None:
    """Raise `BadInput` for anything but ``{name: run}``, such as one run without a name."""
    if not isinstance(runs, Mapping) or not runs:
        raise BadInput(f"runs must be {{name: run}} with at least one run; {_GIVE_A_NAME}")
    if all(map(_is_ranked_list, runs.values())):
        raise BadInput(f"this is one run, {{query: list}}; {_GIVE_A_NAME}")


_GIVE_A_NAME = 'give {name: run}, such as {"bm25": run}'


def _is_ranked_list(given: object) -> bool:
    """Return whether it is the list of one query and not a run, which holds such lists."""
    if isinstance(given, Mapping):
        return any(map(is_number, given.values()))
    return isinstance(given, list | tuple)


def build_board(
    qrels: GivenGrades,
    runs: Mapping[str, GivenRun],
    conventions: Conventions,
    rule: GradeRule,
    run_rule: RunRule,
) -> Scoreboard:
    """Return a scoreboard of these grades and runs; raise `BadInput` if they share no query."""
    check_named_runs(runs)
    run_rule.check()
    with python_option_names():
        return read_board(qrels, runs, conventions, rule, run_rule)


def read_board(
    qrels: GivenGrades,
    runs: Mapping[str, GivenRun],
    conventions: Conventions,
    rule: GradeRule,
    run_rule: RunRule,
    warnings: Warnings | None = None,
) -> Scoreboard:
    """Return the scoreboard of `build_board`; its messages name options of the command line."""
    grades = qrels_to_dicts(qrels, rule, run_rule.limits)
    if not grades:
        raise BadInput("there is no query in the qrels")
    lists = runs_to_lists(runs, run_rule, warnings)
    board = plain_board(grades, lists, conventions)
    if not any(run.lists for run in board.collection.runs):
        name, found = next(iter(lists.items()))
        first = f"the run with {next(iter(found))!r}" if found else "the run has none"
        raise BadInput(
            f"run {name!r} and the qrels share no query (the qrels begin with "
            f"{next(iter(grades))!r}, {first}); are the query ids the same in both?"
        )
    return board


P = ParamSpec("P")
T = TypeVar("T")


def with_old_names(**current: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that takes parameters by other names too, given as ``other="name"``.

    Raises `BadInput` where a parameter is given by both names.

    >>> @with_old_names(budget="prompt_k")
    ... def depth(*, prompt_k: int = 5) -> int:
    ...     return prompt_k
    >>> depth(budget=8), depth(prompt_k=3)
    (8, 3)
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        places = [*signature(function).parameters]

        @wraps(function)
        def call(*args: P.args, **given: P.kwargs) -> T:
            for other, name in current.items():
                if other not in given:
                    continue
                if name in given or name in places[: len(args)]:
                    raise BadInput(f"{other} is another name of {name}; give one of the two")
                given[name] = given.pop(other)
            return function(*args, **given)

        return call

    return decorate
