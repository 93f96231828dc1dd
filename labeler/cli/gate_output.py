"""A gate's outcome as text, JSON, JUnit XML and Markdown."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Any
from xml.etree import ElementTree as ET

from labeler.analysis.gate import (
    FAILED,
    PASSED,
    REFERENCE_LABELS,
    UNJUDGED,
    GateOutcome,
    LimitResult,
)
from labeler.cli.explain import explain_by, explain_limits
from labeler.cli.output import RunLabels, in_markdown, text_footer
from labeler.evaluation import Note, format_number, format_signed
from labeler.formats.json_records import without_nan
from labeler.model import escape_controls, format_count
from labeler.model.results import COUNT, NUMBER, SIGNED, Column, Table
from labeler.render.results import (
    markdown_table,
    statements_records,
    statements_text,
    text_table,
)
from labeler.render.text import NOTHING

# Characters that XML 1.0 cannot hold, even as references, and those that act in a terminal.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
RESULT_WORDS = {PASSED: "passed", FAILED: "FAILED", UNJUDGED: "NOT JUDGED"}


ONE_LOOK_NOTE = Note(
    "one look",
    "a bound with a confidence holds for one look; use anytime = true where the gate runs at every "
    "commit",
)


def as_text(outcome: GateOutcome) -> str:
    """Return an outcome for a terminal: the result, what broke limits, and every limit."""
    labels = labels_of(outcome)
    said = [describe_result(outcome), *(f"! {said}" for said in describe_faults(outcome))]
    table = [*text_table(check_table(outcome)), ""] if outcome.findings else []
    named = ["", *labels.lines("table"), *table]
    return "\n".join([*map(labels.within, said), *named, *map(labels.within, _footer(outcome)), ""])


def labels_of(outcome: GateOutcome) -> RunLabels:
    """Return the runs' labels in sentences: their names, or short ones for long names."""
    runs = [outcome.run, *(finding.other for finding in outcome.findings)]
    return RunLabels(dict.fromkeys(filter(None, runs)))


def as_markdown(outcome: GateOutcome) -> str:
    """Return an outcome as Markdown, for a build's summary."""
    labels = labels_of(outcome)
    lines = [f"### {in_markdown(labels.within(describe_result(outcome)))}", ""]
    lines += [f"- {in_markdown(labels.within(said))}" for said in describe_faults(outcome)]
    lines += ["", *labels.lines("md")] if labels.is_short else []
    if outcome.findings:
        lines += ["", *markdown_table(check_table(outcome))]
    footer = (f"\n{in_markdown(labels.within(line))}" for line in _footer(outcome))
    return "\n".join([*lines, *footer, ""])


def as_json(outcome: GateOutcome) -> str:
    """Return an outcome as JSON in full precision; undefined values are null."""
    conventions = outcome.conventions
    said = {
        "gate": outcome.gate,
        "run": outcome.run,
        "result": outcome.result,
        "error": outcome.error,
        "golden": outcome.golden,
        "conventions": None if conventions is None else conventions.as_dict(),
        "notes": [{"kind": note.kind, "text": note.sentence} for note in gate_notes(outcome)],
        "verdict": statements_records(outcome.verdict),
        "checks": [*map(without_nan, check_table(outcome).records())],
    }
    return json.dumps(said, allow_nan=False, indent=1) + "\n"


def as_junit(outcome: GateOutcome) -> str:
    """Return an outcome as JUnit XML: a test case for each limit.

    A limit that could not be judged is an error, like a test that could not run.
    """
    findings = outcome.findings
    counts = {
        "tests": str(max(1, len(findings))),
        "failures": str(len(outcome.of(FAILED))),
        "errors": str(len(outcome.of(UNJUDGED)) if findings else 1),
    }
    name = _in_xml(f"{outcome.gate}: {outcome.run}" if outcome.run else outcome.gate)
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": name, **counts})
    for finding in findings:
        _add_case(suite, outcome, finding)
    if not findings:
        case = ET.SubElement(suite, "testcase", {"classname": _in_xml(outcome.gate), "name": name})
        _add_problem(case, "error", outcome.error or "")
    ET.SubElement(suite, "system-out").text = _in_xml("\n".join(_footer(outcome)).strip())
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _add_case(suite: ET.Element, outcome: GateOutcome, finding: LimitResult) -> None:
    where = _in_xml(f"{outcome.gate}: {finding.check.where}")
    name = _in_xml(f"{_heading(outcome, finding)} {describe_limit(finding)}")
    case = ET.SubElement(suite, "testcase", {"classname": where, "name": name})
    if finding.verdict != PASSED:
        kind = "failure" if finding.verdict == FAILED else "error"
        _add_problem(case, kind, finding.sentence)


def _add_problem(case: ET.Element, kind: str, sentence: str) -> None:
    ET.SubElement(case, kind, {"message": _in_xml(sentence)}).text = _in_xml(sentence)


def _in_xml(text: str) -> str:
    r"""Return a text for XML, with escapes for the characters it cannot hold.

    >>> _in_xml("a\x00b\x1b[2J\ufffe")
    'a\\x00b\\x1b[2J\\ufffe'
    """
    plain = escape_controls(text, keep="\n")
    return _NO_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), plain)


def describe_result(outcome: GateOutcome) -> str:
    """Describe the result in one line."""
    run = f" {outcome.run}" if outcome.run else ""
    said = f"{outcome.gate}:{run} {outcome.result}"
    total = len(outcome.findings)
    if outcome.result == PASSED:
        said = f"{outcome.gate}:{run} passed: {_count_limits(total)} kept"
    elif total:
        parts = [(FAILED, "broken"), (UNJUDGED, "not judged")]
        counts = [(len(outcome.of(verdict)), word) for verdict, word in parts]
        told = ", ".join(
            f"{count} of {_count_limits(total)} {word}" for count, word in counts if count
        )
        verb = "failed" if outcome.result == FAILED else "could not be judged"
        said = f"{outcome.gate}:{run} {verb}: {told}"
    return escape_controls(said)


def _count_limits(count: int) -> str:
    return format_count(count, "limit", "limits")


def describe_faults(outcome: GateOutcome) -> list[str]:
    """Say for each limit not met what broke it, or why it could not be judged."""
    if outcome.error is not None:
        return [escape_controls(outcome.error)]
    findings = [*outcome.of(FAILED), *outcome.of(UNJUDGED)]
    return [
        escape_controls(f"{finding.check.where}, {_heading(outcome, finding)}: {finding.sentence}")
        if finding.verdict == UNJUDGED
        else escape_controls(f"{finding.check.where}: {finding.sentence}")
        for finding in findings
    ]


def describe_limit(finding: LimitResult) -> str:
    """Name a limit.

    The run that a drop is measured from is named beside the table, not in it.
    """
    limit = f"{finding.limit:.10g}"
    if finding.against is None:
        said = f"at least {limit}"
    else:
        said = f"drop from {REFERENCE_LABELS[finding.against]} at most {limit}"
    terms = finding.check.terms
    if terms.confidence is None:
        return said
    return f"{said}, {100 * terms.confidence:g}% sure{' at every look' if terms.anytime else ''}"


def check_table(outcome: GateOutcome) -> Table:
    """Return a row for each limit."""
    findings = outcome.findings
    compared = any(finding.against is not None for finding in findings)
    sure = any(finding.check.terms.confidence is not None for finding in findings)
    transferred = any(finding.transferred for finding in findings)
    columns = (
        Column("result", "result", show=lambda row: RESULT_WORDS[row["result"]]),
        Column("where", "where", parts=("facet", "bucket"), show=itemgetter("where")),
        Column("measure", "measure", parts=("measure", "full_name"), show=itemgetter("heading")),
        Column(
            *("asked", "asked"),
            parts=("asked", "limit", "against", "other"),
            show=itemgetter("described"),
        ),
        Column("value", "value", NUMBER),
        Column("before"),
        Column("delta", "delta" if compared else "", SIGNED),
        *map(Column, ("differing", "confidence", "anytime")),
        Column("bound", "surely (one-sided)" if sure else "", NUMBER, show=_bound_cell),
        Column("interval"),
        Column("n", "n", COUNT),
        Column("unjudged", "unjudged", NUMBER, show=lambda row: f"{row['unjudged']:.0%}"),
        Column("most_unjudged"),
        Column("transferred", "transferred" if transferred else "", COUNT),
        *map(Column, ("fewest_queries", "sentence")),
    )
    return Table(columns, [_check_row(outcome, finding) for finding in findings])


def _check_row(outcome: GateOutcome, finding: LimitResult) -> dict[str, Any]:
    check, terms = finding.check, finding.check.terms
    return {
        "result": finding.verdict,
        "where": check.where,
        "facet": check.facet,
        "bucket": check.bucket,
        "heading": _heading(outcome, finding),
        "measure": check.measure.names[0],
        "full_name": str(check.measure),
        "described": describe_limit(finding),
        "asked": "at_least" if finding.against is None else "drop",
        "limit": finding.limit,
        "against": finding.against,
        "other": finding.other,
        "value": finding.value,
        "before": finding.before,
        "delta": finding.delta,
        "differing": None if finding.against is None else finding.differing,
        "confidence": terms.confidence,
        "anytime": terms.anytime,
        "bound": finding.bound,
        "interval": finding.method or None,
        "n": finding.n,
        "unjudged": finding.unjudged,
        "most_unjudged": terms.most_unjudged,
        "transferred": finding.transferred,
        "fewest_queries": terms.fewest_queries,
        "sentence": finding.sentence,
    }


def _bound_cell(row: Mapping[str, Any]) -> str:
    """Return the lower bound of a value or delta, at the confidence asked for."""
    if math.isnan(row["bound"]):
        return NOTHING
    return f"≥ {(format_number if row['against'] is None else format_signed)(row['bound'])}"


def _heading(outcome: GateOutcome, finding: LimitResult) -> str:
    measure = finding.check.measure
    return str(measure) if outcome.conventions is None else outcome.conventions.heading(measure)


def gate_notes(outcome: GateOutcome) -> list[Note]:
    """Return the notes on a gate's runs and on the golden set."""
    runs = [outcome.run, *(finding.other for finding in outcome.findings)]
    notes = [note for note in outcome.notes if note.is_about(*runs)]
    return [*notes, ONE_LOOK_NOTE] if outcome.holds_for_one_look else notes


def _footer(outcome: GateOutcome) -> Iterator[str]:
    """Yield the lines below the table: the other runs, warnings, conventions, notes."""
    compared = {
        f"{REFERENCE_LABELS[finding.against]}: {finding.other}"
        for finding in outcome.findings
        if finding.against is not None and finding.other is not None
    }
    if compared:
        yield escape_controls(" · ".join(sorted(compared)))
    yield from statements_text(outcome.verdict)
    if outcome.conventions is None:
        return
    notes = [*gate_notes(outcome), *explain_by(explain_limits())]
    yield from filter(None, text_footer(outcome.conventions, notes))


FORMATTERS: Mapping[str, Callable[[GateOutcome], str]] = {
    "table": as_text,
    "json": as_json,
    "junit": as_junit,
    "md": as_markdown,
}
