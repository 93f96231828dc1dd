"""Arguments of the Python functions: reading qrels and runs from dicts, frames or files.

A scoreboard is built from them, and its rows are returned as a frame with notes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from labeler.api.grade_scales import grades_of_rows
from labeler.api.options import EvaluationRules, RunRule, in_python, python_option_names
from labeler.api.tables import (
    CHUNK_COLUMNS,
    GRADE_COLUMNS,
    SCORE_COLUMNS,
    frame_to_dicts,
    is_frame,
    lists_by_rank,
    prepare_qrels,
    prepare_run,
    required_columns,
    split_systems,
)
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
    GradeRule,
    Limits,
    SeveralSystems,
    describe_own_hits,
    read_grades,
    read_run,
    stream_run,
    without_self,
)
from labeler.formats.field_aliases import is_field
from labeler.formats.id_resolution import describe_look_alikes, names_by_text
from labeler.measures import Measure
from labeler.model import (
    GRADES,
    Loaded,
    Ranking,
    RankingsByQuery,
    check_id,
    is_storable,
)

if TYPE_CHECKING:
    import pandas as pd

GivenGrades: TypeAlias = (
    "Mapping[str, Mapping[str, int] | Iterable[str]] | pd.DataFrame | str | PathLike[str]"
)
GivenRun: TypeAlias = (
    "Mapping[str, Mapping[str, float] | Sequence[str]] | pd.DataFrame | str | PathLike[str]"
)

Warnings: TypeAlias = dict[str, Sequence[str]]
"""What the reader of each run's file warned of, by the run's name."""
QRELS = ""  # no run's name; among warnings those of the qrels

_MOST_SYSTEMS = 100  # runs that one file may become; more are no systems
PARQUET_ENDINGS = (".parquet", ".pq")
_PARALLEL_READS = 2  # more at once take more memory and save no time
_PARALLEL_FROM = 1 << 22  # bytes; smaller files are read in Python, where threads do not help


def prepare_inputs(
    qrels: Any, runs: Any, rules: EvaluationRules
) -> tuple[Any, dict[str, Any], list[str]]:
    """Return qrels and ``{name: run}`` whose tables have known columns only, and what is to say.

    A table of several systems is a run of each. Raises `BadInput` for what is no run.
    """
    runs = split_systems(runs)
    check_named_runs(runs)
    qrels, notes = prepare_qrels(qrels)
    if is_frame(qrels):
        with python_option_names():
            _check_scale(qrels, rules.grade_rule)
    found: dict[str, Any] = {}
    for name, run in runs.items():
        with python_option_names():
            found[name], said = prepare_run(_as_frame(run), name, rules.run_rule.order)
        notes += map(in_python, said)
    return qrels, found, notes


def _as_frame(run: Any) -> Any:
    """Return Parquet as a frame, unless it has scores of one run: then it is read in parts."""
    if not isinstance(run, str | PathLike) or not _is_parquet(path := _path(run)):
        return run
    from labeler.api.parquet_inputs import is_plain_run, read_parquet_run  # here: pyarrow

    return run if path.exists() and is_plain_run(path) else read_parquet_run(path)


def _check_scale(frame: pd.DataFrame, rule: GradeRule) -> None:
    """Raise `BadInput`, with a map that would read all grades, for one off the scale."""
    query, chunk, grade = required_columns(frame, "qrels", GRADE_COLUMNS)
    firsts = frame.drop_duplicates(grade)
    rows = zip(firsts[query], firsts[chunk], firsts[grade], strict=True)
    grades_of_rows([(str(query), str(chunk), value) for query, chunk, value in rows], rule)


def qrels_to_dicts(
    given: GivenGrades, rule: GradeRule, limits: Limits = LIMITS, said: list[str] | None = None
) -> dict[str, dict[str, int]]:
    """Return qrels as ``{query: {chunk: grade}}``; raise `BadInput` if they are malformed.

    What there is to say of a file is added to ``said``.
    """
    if isinstance(given, str | PathLike):
        if not _is_parquet(path := _path(given)):
            told: list[str] = []
            grades = read_grades(path, rule, limits, told)
            if said is not None:
                said += (f"{path}: {each}" for each in told)
            return grades
        from labeler.api.parquet_inputs import read_parquet_qrels  # here: it imports pyarrow

        given = read_parquet_qrels(path)
        if said is not None:
            said += prepare_qrels(given)[1]
    given, _ = prepare_qrels(given)
    if is_frame(given):
        given = frame_to_dicts(given, "qrels", GRADE_COLUMNS)
    elif not isinstance(given, Mapping):
        raise BadInput(f"qrels must be a dict, a frame or a path, not {type(given).__name__}")
    if not rule.grade_map and _are_plain(given):
        return cast("dict[str, dict[str, int]]", given)
    rows = [
        (query_id, chunk_id, grade)
        for query_id, chunks in given.items()
        for chunk_id, grade in _check_graded(query_id, chunks).items()
    ]
    found: dict[str, dict[str, int]] = {query_id: {} for query_id in given}
    for (query_id, chunk_id, _), grade in zip(rows, grades_of_rows(rows, rule), strict=True):
        found[query_id][chunk_id] = grade
    return found


def _check_graded(query_id: str, chunks: Any) -> Mapping[str, Any]:
    """Return the chunks of a query with what is their grade; those in a set are relevant."""
    check_id(query_id, "query")
    if isinstance(chunks, set | frozenset | list | tuple):
        check_chunk_ids(f"qrels, query {query_id!r}", chunks)
        return dict.fromkeys(chunks, RELEVANT)
    if not isinstance(chunks, Mapping):
        raise BadInput(
            f"qrels of query {query_id!r} must be {{chunk: grade}}, or a set of the chunks "
            f"that are right, not {chunks!r}"
        )
    check_chunk_ids(f"qrels, query {query_id!r}", chunks)
    return chunks


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
    runs: Mapping[str, GivenRun],
    rule: RunRule,
    warnings: Warnings | None = None,
    *,
    by_system: bool = False,
) -> dict[str, Mapping[str, GivenList]]:
    """Return the lists of each run by query; large files are read in parallel.

    What the readers of files warn of is put into ``warnings``. With ``by_system`` a file of several
    systems is a run of each, called as the system.
    """
    names = [check_id(name, "run") for name in runs]
    told: Warnings = {} if warnings is None else warnings
    read = partial(_runs_of, rule=rule, warnings=told, by_system=by_system)
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
    name: str, given: GivenRun, rule: RunRule, warnings: Warnings, by_system: bool
) -> dict[str, Mapping[str, GivenList]]:
    """Return the run, or those of each system in its file if that is asked for."""
    if isinstance(given, str | PathLike) and _is_parquet(path := _path(given)):
        from labeler.api.parquet_inputs import read_parquet_run  # here: it imports pyarrow

        given = read_parquet_run(path)
        parts = split_systems(given) if by_system else given
        if isinstance(parts, dict) and 1 < len(parts) <= _MOST_SYSTEMS:
            return {
                check_id(system, "run"): _lists_of_table(system, of, rule, warnings)
                for system, of in parts.items()
            }
        return {name: _lists_of_table(name, given, rule, warnings)}
    try:
        return {name: _lists_of_run(name, given, rule, warnings)}
    except SeveralSystems as several:
        if not by_system or len(several.systems) > _MOST_SYSTEMS:
            raise
        path = _path(cast("str | PathLike[str]", given))
        return {
            check_id(system, "run"): _lists_of_file(system, path, rule, warnings, system)
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
    warnings[name] = [f"{read.source}: {warning}" for warning in (*read.warnings, *_left_of(read))]
    if whole is not None and not rule.leave_out_self:
        return RankingsByQuery(whole.records)
    records = without_self(read).records if rule.leave_out_self else read.records
    return {each.query_id: each for each in records}


def _left_of(read: Loaded[Ranking]) -> Iterator[str]:
    """Yield a sentence on the columns or keys that are no field of retrieval."""
    names = str(read.facts.get("left") or "").split(", ")
    if left := [name for name in names if name and not is_field(name)]:
        yield f"not read: {', '.join(left)}"


def _lists_of_table(
    name: str, given: pd.DataFrame, rule: RunRule, warnings: Warnings
) -> Mapping[str, GivenList]:
    """Return the lists of a run in Parquet."""
    frame, said = prepare_run(given, name, rule.order)
    warnings[name] = said
    return _lists_of_run(name, frame, rule, warnings)


def _lists_of_run(
    name: str, given: GivenRun, rule: RunRule, warnings: Warnings
) -> Mapping[str, GivenList]:
    """Return the lists of the run ``name`` by query; those of a dict are not checked here.

    Raises `BadInput` for a malformed file, and for anything that is not a run.
    """
    if isinstance(given, str | PathLike):
        return _lists_of_file(name, _path(given), rule, warnings)
    if is_frame(given) and rule.order == "rank":
        given = lists_by_rank(given, f"run {name!r}")
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


Measures: TypeAlias = "str | Measure | Iterable[str | Measure]"


def result_frame(
    rows: Sequence[Mapping[str, Any]] | dict[str, Any],
    board: Scoreboard,
    wanted: Sequence[Measure],
    said: Sequence[str],
) -> pd.DataFrame:
    """Return rows as a frame with their conventions and notes in ``attrs``, what was said first."""
    import pandas as pd  # here: who wants no frame need not wait for it

    frame = pd.DataFrame(rows, copy=False)
    frame.attrs["conventions"] = board.conventions.describe()
    notes = [*board.notes(wanted), *tie_notes(find_tie_ranges(board, wanted), board.conventions)]
    frame.attrs["notes"] = [*said, *(note.sentence for note in notes)]
    return frame


def parse_measures(conventions: Conventions, measures: Measures) -> tuple[Measure, ...]:
    """Parse measures from texts, or from measures of this library or of ir_measures."""
    one = isinstance(measures, str | bytes) or not isinstance(measures, Iterable)
    given: Iterable[object] = [measures] if one else cast(Iterable[object], measures)
    wanted = conventions.measures(map(str, given))
    if not wanted:
        raise BadInput("no measure is named; one is written like nDCG@10")
    return wanted


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
    return isinstance(given, list | tuple) and all(isinstance(each, str) for each in given)


def build_board(
    qrels: GivenGrades,
    runs: Mapping[str, GivenRun],
    rules: EvaluationRules,
    notes: list[str] | None = None,
) -> Scoreboard:
    """Return a scoreboard of these grades and runs; raise `BadInput` if they share no query.

    What the readers of the runs warn of is added to the ``notes``.
    """
    check_named_runs(runs)
    warnings: Warnings = {}
    with python_option_names():
        board = read_board(qrels, runs, rules, warnings)
    if notes is not None:
        names = (QRELS, *board.run_names)
        notes += (in_python(each) for name in names for each in warnings.get(name, ()))
    return board


def read_inputs(
    qrels: GivenGrades, runs: Mapping[str, GivenRun], rules: EvaluationRules
) -> tuple[Scoreboard, list[str]]:
    """Return the scoreboard of what is given, and what there is to say of it."""
    qrels, runs, said = prepare_inputs(qrels, runs, rules)
    return build_board(qrels, runs, rules, said), said


def read_board(
    qrels: GivenGrades,
    runs: Mapping[str, GivenRun],
    rules: EvaluationRules,
    warnings: Warnings,
    *,
    by_system: bool = False,
) -> Scoreboard:
    """Return the scoreboard of `build_board`; its messages name options of the command line.

    With ``by_system`` a file of several systems is a run of each.
    """
    told: list[str] = []
    grades = qrels_to_dicts(qrels, rules.grade_rule, rules.run_rule.limits, told)
    warnings[QRELS] = told
    if not grades:
        raise BadInput("there is no query in the qrels")
    lists = runs_to_lists(runs, rules.run_rule, warnings, by_system=by_system)
    lists = {name: _under_names_of(grades, ranked) for name, ranked in lists.items()}
    board = plain_board(grades, lists, rules.conventions)
    for name, ranked in lists.items():
        said = (describe_own_hits(ranked), describe_look_alikes(grades, ranked))
        more = (f"run {name!r}: {each}" for each in said if each is not None)
        warnings[name] = [*warnings.get(name, ()), *more]
    if not any(run.lists for run in board.collection.runs):
        name, found = next(iter(lists.items()))
        first = f"the run with {next(iter(found))!r}" if found else "the run has none"
        raise BadInput(
            f"run {name!r} and the qrels share no query (the qrels begin with "
            f"{next(iter(grades))!r}, {first}); are the query ids the same in both?"
        )
    return board


def _under_names_of(
    grades: Mapping[str, object], ranked: Mapping[str, GivenList]
) -> Mapping[str, GivenList]:
    """Return lists under the qrels' names of their queries, where one names them by text."""
    known = {name for name in grades if isinstance(name, str)}
    names = names_by_text(known, (name for name in ranked if isinstance(name, str)))
    return {names.get(each, each): ranked[each] for each in ranked} if names else ranked
