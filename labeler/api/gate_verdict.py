"""The gate in Python: whether a run reaches minimum values and does not fall behind another one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, Unpack

import pandas as pd

from labeler.analysis.gate import (
    Gate,
    GateOutcome,
    LimitResult,
    ReferenceRuns,
    judge_run,
    read_gate_file,
    resolve_checks,
    suggest_nearest,
    with_runs,
)
from labeler.analysis.gate.gate_file import read_gate
from labeler.api.inputs import (
    GivenGrades,
    GivenRun,
    read_inputs,
)
from labeler.api.options import EvaluationRules, ReadingOptions, with_options
from labeler.errors import BadInput, NotFound
from labeler.evaluation import Scoreboard
from labeler.model import WITH_LEAKED

GivenRules: TypeAlias = "Mapping[str, float | Mapping[str, float]] | str | PathLike[str]"

_TERMS = (
    *("confidence", "anytime", "most_unjudged", "fewest_queries", "most_absent"),
    *("preset", "rel", "prompt_k"),
)


@with_options(ReadingOptions)
def gate(
    qrels: GivenGrades,
    runs: Mapping[str, GivenRun],
    rules: GivenRules,
    *,
    run: str | None = None,
    baseline: str | None = None,
    **options: Unpack[ReadingOptions],
) -> pd.DataFrame:
    """Judge a run by a gate: a row for each limit, and in ``attrs`` what came of it.

    ``rules`` are ``{measure: least value}`` or ``{measure: {"at_least": 0.7, "drop": 0.02}}`` over
    all queries, with other keys of a gate file's top level if they are needed, such as
    ``"confidence"``; or the path of a gate file. ``run`` and ``baseline`` are names among the
    ``runs``, by default those of the file; with one run it need not be named. The rest is what
    `evaluate` takes.

    ``frame.attrs["result"]`` is "passed", "failed" or "not judged", and ``"notes"`` say what could
    surprise. Columns are ``result, where, measure, asked, limit, other, value, delta, n, unjudged,
    sentence``: ``asked`` is "at_least" or "drop", which is from the run ``other``. Fewer than ten
    queries are not judged unless ``fewest_queries`` says so.

    >>> found = gate({"q": {"c": 1}}, {"A": {"q": ["c"]}}, {"RR": 0.9, "fewest_queries": 1})
    >>> found.attrs["result"], found["value"].tolist()
    ('passed', [1.0])
    """
    read = _read_rules(rules)
    given = EvaluationRules.of(
        preset=read.preset, rel=read.rel or 1, prompt_k=read.prompt_k or 5, **options
    )
    board, said = read_inputs(qrels, runs, given)
    only = board.run_names[0] if len(board.run_names) == 1 and read.run is None else None
    read = with_runs(read, run or only, baseline)
    _check_names(read, board)
    checks = resolve_checks(read, board)
    references = ReferenceRuns(board, {}, read.baseline)
    findings = judge_run(board, read.run or "", checks, references.others)
    outcome = GateOutcome(read.name, read.run, findings, board.conventions)
    frame = pd.DataFrame([*map(_row, findings)])
    notes = board.notes([check.measure for check in checks])
    frame.attrs["result"] = outcome.result
    frame.attrs["conventions"] = board.conventions.describe()
    frame.attrs["notes"] = [*said, *(note.sentence for note in notes if note.is_about(read.run))]
    return frame


def _read_rules(rules: GivenRules) -> Gate:
    """Return the gate of a file, or of a dict, which is read as one."""
    if isinstance(rules, str | PathLike):
        read = read_gate_file(Path(rules))
        of_set = (read.golden, read.split, read.weighted, read.last_passing)
        if read.leaked != WITH_LEAKED or any(of_set):
            raise BadInput(
                f"{read.name}: golden, split, leaked, weighted and last_passing are of a golden "
                "set in a database, which 'labeler gate' judges by"
            )
        return read
    if not isinstance(rules, Mapping) or not rules:
        raise BadInput('rules are {"nDCG@10": 0.7} or the path of a gate file')
    sections: dict[str, list[str]] = {"": [], "[overall]": []}
    for key, value in rules.items():
        is_term = key in _TERMS
        sections["" if is_term else "[overall]"].append(f"{_toml(str(key))} = {_toml(value)}")
    text = "\n".join(line for name, lines in sections.items() for line in (name, *lines))
    return read_gate(text.encode(), "rules")


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_toml(str(key))} = {_toml(of)}' for key, of in value.items())}}}"
    return json.dumps(value, ensure_ascii=False)


def _check_names(read: Gate, board: Scoreboard) -> None:
    for name in (read.run, read.baseline):
        if name is not None and name not in board.run_names:
            raise NotFound(f"no run is called {name!r}; {suggest_nearest(name, board.run_names)}")


def _row(finding: LimitResult) -> dict[str, Any]:
    return {
        "result": finding.verdict,
        "where": finding.check.where,
        "measure": finding.check.measure.label,
        "asked": "at_least" if finding.against is None else "drop",
        "limit": finding.limit,
        "other": finding.other,
        "value": finding.value,
        "delta": finding.delta,
        "n": finding.n,
        "unjudged": finding.unjudged,
        "sentence": finding.sentence,
    }
