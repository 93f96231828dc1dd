"""What a gate prints: a table, JSON, JUnit XML and Markdown; what a name says acts in none."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

from labeler.analysis.gate import FAILED, KINDS, PASSED, UNJUDGED, Finding, Outcome
from labeler.cli.tables import Table, folded, in_markdown, markdown_lines, text_lines
from labeler.evaluation import Note, number, signed
from labeler.model import counted, legible

# What XML 1.0 cannot carry, not even as a reference, and what acts in a terminal.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MARKS = {PASSED: "passed", FAILED: "FAILED", UNJUDGED: "NOT JUDGED"}


def as_text(outcome: Outcome) -> str:
    """Return an outcome for a terminal: what came of it, every limit, and what broke some."""
    lines = [headline(outcome)]
    if outcome.findings:
        lines += ["", *text_lines(table_of(outcome)), ""]
    lines += [f"! {said}" for said in broken(outcome)]
    return "\n".join([*lines, *([""] if broken(outcome) else []), *_footer(outcome), ""])


def as_markdown(outcome: Outcome) -> str:
    """Return an outcome as Markdown, as the summary of a build shows it."""
    lines = [f"### {in_markdown(headline(outcome))}", ""]
    lines += [f"- {in_markdown(said)}" for said in broken(outcome)]
    if outcome.findings:
        lines += ["", *markdown_lines(table_of(outcome))]
    return "\n".join([*lines, *(f"\n{in_markdown(line)}" for line in _footer(outcome)), ""])


def as_json(outcome: Outcome) -> str:
    """Return an outcome for programs, every number in full; null is undefined."""
    conventions = outcome.conventions
    said = {
        "gate": outcome.gate,
        "run": outcome.run,
        "result": outcome.result,
        "error": outcome.error,
        "golden": outcome.golden,
        "conventions": None if conventions is None else conventions.as_dict(),
        "notes": [{"kind": note.kind, "text": note.sentence} for note in notes_of(outcome)],
        "checks": [_record(finding) for finding in outcome.findings],
    }
    return json.dumps(said, allow_nan=False, indent=1) + "\n"


def as_junit(outcome: Outcome) -> str:
    """Return an outcome as JUnit XML: a test case for each limit.

    What could not be judged is an error, as with a test that could not be run.
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


def _add_case(suite: ET.Element, outcome: Outcome, finding: Finding) -> None:
    where = _in_xml(f"{outcome.gate}: {finding.check.where}")
    name = _in_xml(f"{_heading(outcome, finding)} {asked(finding)}")
    case = ET.SubElement(suite, "testcase", {"classname": where, "name": name})
    if finding.verdict != PASSED:
        kind = "failure" if finding.verdict == FAILED else "error"
        _add_problem(case, kind, finding.sentence)


def _add_problem(case: ET.Element, kind: str, sentence: str) -> None:
    ET.SubElement(case, kind, {"message": _in_xml(sentence)}).text = _in_xml(sentence)


def _in_xml(text: str) -> str:
    r"""Return a text that XML can carry: what it cannot is written out.

    >>> _in_xml("a\x00b\x1b[2J\ufffe")
    'a\\x00b\\x1b[2J\\ufffe'
    """
    plain = legible(text, keep="\n")
    return _NO_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), plain)


def headline(outcome: Outcome) -> str:
    """Say in one line what came of it."""
    run = f" {outcome.run}" if outcome.run else ""
    said = f"{outcome.gate}:{run} {outcome.result}"
    total = len(outcome.findings)
    if outcome.result == PASSED:
        said = f"{outcome.gate}:{run} passed: {_limits(total)} kept"
    elif total:
        parts = [(FAILED, "broken"), (UNJUDGED, "not judged")]
        counts = [(len(outcome.of(verdict)), word) for verdict, word in parts]
        told = ", ".join(f"{count} of {_limits(total)} {word}" for count, word in counts if count)
        verb = "failed" if outcome.result == FAILED else "could not be judged"
        said = f"{outcome.gate}:{run} {verb}: {told}"
    return legible(said)


def _limits(count: int) -> str:
    return counted(count, "limit", "limits")


def broken(outcome: Outcome) -> list[str]:
    """Say of each limit that was not kept what broke it, or why it could not be judged."""
    if outcome.error is not None:
        return [legible(outcome.error)]
    findings = [*outcome.of(FAILED), *outcome.of(UNJUDGED)]
    return [
        legible(f"{finding.check.where}, {_heading(outcome, finding)}: {finding.sentence}")
        if finding.verdict == UNJUDGED
        else legible(f"{finding.check.where}: {finding.sentence}")
        for finding in findings
    ]


def asked(finding: Finding) -> str:
    """Say which limit is meant.

    The name of the run that a drop is from stands beside the table, not in it.
    """
    limit = f"{finding.limit:.10g}"
    if finding.against is None:
        said = f"at least {limit}"
    else:
        said = f"drop from {KINDS[finding.against]} at most {limit}"
    confidence = finding.check.terms.confidence
    return said if confidence is None else f"{said}, {100 * confidence:g}% sure"


def table_of(outcome: Outcome) -> Table:
    """Return a line for each limit, with four digits."""
    compared = any(finding.against is not None for finding in outcome.findings)
    sure = any(finding.check.terms.confidence is not None for finding in outcome.findings)
    names = ["result", "where", "measure", "asked"]
    carried = any(finding.carried for finding in outcome.findings)
    counts = ["n", "holes", *["carried"] * carried]
    numbers = ["value", *["delta"] * compared, *["surely"] * sure, *counts]
    body = [
        [
            *(MARKS[finding.verdict], legible(finding.check.where), _heading(outcome, finding)),
            *(asked(finding), number(finding.value)),
            *([signed(finding.delta)] if compared else []),
            *([_surely(finding)] if sure else []),
            *(str(finding.n), f"{finding.holes:.0%}", *([f"{finding.carried}"] * carried)),
        ]
        for finding in outcome.findings
    ]
    return Table(names, numbers, body)


def _surely(finding: Finding) -> str:
    """Return what a value, or a delta, is at least with the confidence asked for."""
    if math.isnan(finding.bound):
        return "–"
    shown = number(finding.bound) if finding.against is None else signed(finding.bound)
    return f"≥ {shown}"


def _heading(outcome: Outcome, finding: Finding) -> str:
    measure = finding.check.measure
    return str(measure) if outcome.conventions is None else outcome.conventions.heading(measure)


def notes_of(outcome: Outcome) -> list[Note]:
    """Return what there is to know of the runs a gate is about, and of the golden set."""
    runs = [outcome.run, *(finding.other for finding in outcome.findings)]
    return [note for note in outcome.notes if note.is_about(*runs)]


def _footer(outcome: Outcome) -> Iterator[str]:
    """Give what stands below: the other runs, the conventions, what there is to know."""
    compared = {
        f"{KINDS[finding.against]}: {finding.other}"
        for finding in outcome.findings
        if finding.against is not None and finding.other is not None
    }
    if compared:
        yield legible(" · ".join(sorted(compared)))
    if outcome.conventions is not None:
        yield outcome.conventions.describe()
    if any(finding.check.terms.confidence is not None for finding in outcome.findings):
        yield (
            "surely: the one-sided bound over the choice of queries: BCa bootstrap of the paired "
            "differences or of the values, Wilson's for a yes or no; it covers neither holes nor "
            "graders"
        )
    for said in folded(notes_of(outcome)):
        yield f"! {legible(said)}"


def _record(finding: Finding) -> dict[str, Any]:
    check, terms = finding.check, finding.check.terms
    row = {
        "result": finding.verdict,
        "facet": check.facet,
        "bucket": check.bucket,
        "measure": check.measure.names[0],
        "full_name": str(check.measure),
        "asked": "at_least" if finding.against is None else "drop",
        "limit": finding.limit,
        "against": finding.against,
        "other": finding.other,
        "value": finding.value,
        "before": finding.before,
        "delta": finding.delta,
        "confidence": terms.confidence,
        "bound": finding.bound,
        "interval": finding.method or None,
        "n": finding.n,
        "holes": finding.holes,
        "most_holes": terms.most_holes,
        "carried": finding.carried,
        "fewest_queries": terms.fewest_queries,
        "sentence": finding.sentence,
    }
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }
