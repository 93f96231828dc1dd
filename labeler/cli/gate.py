"""``labeler gate``: a run judged by a gate file, as text, JSON, JUnit XML or Markdown.

Exit code 0: passed, 1: failed, 2: could not be judged, whatever the reason.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import click

from labeler.analysis.cautions import caution_notes, find_cautions
from labeler.analysis.comparison import DecisionRules
from labeler.analysis.gate import (
    FAILED,
    PASSED,
    REFERENCE_LABELS,
    UNJUDGED,
    Check,
    Gate,
    GateOutcome,
    LimitResult,
    PassedRuns,
    ReferenceRuns,
    judge_run,
    read_gate_file,
    read_limited_bytes,
    read_passed_runs,
    resolve_checks,
    suggest_nearest,
    with_runs,
)
from labeler.analysis.run_verdict import judge_pair
from labeler.cli.atomic_output import write_file
from labeler.cli.gate_example import gate_example
from labeler.cli.groups import FILE, database_option, format_option, report_errors
from labeler.cli.options import conventions_of, golden_option, select_runs, with_weights
from labeler.cli.output import Table, fold_notes, in_markdown, markdown_lines, text_lines
from labeler.errors import BadInput, LabelerError, NotFound
from labeler.evaluation import Note, Scoreboard, format_number, format_signed
from labeler.model import (
    SHORT_HASH,
    Collection,
    Settings,
    SingleGrades,
    Traffic,
    escape_controls,
    format_count,
    traffic_of_facet,
)
from labeler.model.results import NOTE, Statement
from labeler.render.results import statements_records, statements_text
from labeler.services.import_export import snapshots
from labeler.store import Store, moment
from labeler.store.addresses import StoreLocation

# What XML 1.0 cannot carry, not even as a reference, and what acts in a terminal.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
RESULT_WORDS = {PASSED: "passed", FAILED: "FAILED", UNJUDGED: "NOT JUDGED"}


BOUNDS_NOTE = (
    "surely: a one-sided bound over the choice of queries: Student's t, Wilson's where few queries "
    "differ, betting with anytime; it covers neither unjudged chunks nor graders"
)
ONE_LOOK_NOTE = Note(
    "one look",
    "a bound with a confidence holds for one look; use anytime = true where the gate runs at every "
    "commit",
)


def as_text(outcome: GateOutcome) -> str:
    """Return an outcome for a terminal: what came of it, every limit, and what broke some."""
    lines = [describe_result(outcome)]
    if outcome.findings:
        lines += ["", *text_lines(check_table(outcome)), ""]
    lines += [f"! {said}" for said in describe_faults(outcome)]
    return "\n".join([*lines, *([""] if describe_faults(outcome) else []), *_footer(outcome), ""])


def as_markdown(outcome: GateOutcome) -> str:
    """Return an outcome as Markdown, as the summary of a build shows it."""
    lines = [f"### {in_markdown(describe_result(outcome))}", ""]
    lines += [f"- {in_markdown(said)}" for said in describe_faults(outcome)]
    if outcome.findings:
        lines += ["", *markdown_lines(check_table(outcome))]
    return "\n".join([*lines, *(f"\n{in_markdown(line)}" for line in _footer(outcome)), ""])


def as_json(outcome: GateOutcome) -> str:
    """Return an outcome for programs, every number in full; null is undefined."""
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
        "checks": [_check_record(finding) for finding in outcome.findings],
    }
    return json.dumps(said, allow_nan=False, indent=1) + "\n"


def as_junit(outcome: GateOutcome) -> str:
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
    r"""Return a text that XML can carry: what it cannot is written out.

    >>> _in_xml("a\x00b\x1b[2J\ufffe")
    'a\\x00b\\x1b[2J\\ufffe'
    """
    plain = escape_controls(text, keep="\n")
    return _NO_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), plain)


def describe_result(outcome: GateOutcome) -> str:
    """Say in one line what came of it."""
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
    """Say of each limit that was not kept what broke it, or why it could not be judged."""
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
    """Say which limit is meant.

    The name of the run that a drop is from stands beside the table, not in it.
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
    """Return a line for each limit, with four digits."""
    compared = any(finding.against is not None for finding in outcome.findings)
    sure = any(finding.check.terms.confidence is not None for finding in outcome.findings)
    names = ["result", "where", "measure", "asked"]
    transferred = any(finding.transferred for finding in outcome.findings)
    counts = ["n", "unjudged", *["transferred"] * transferred]
    numbers = ["value", *["delta"] * compared, *["surely"] * sure, *counts]
    body = [
        [
            *(
                RESULT_WORDS[finding.verdict],
                escape_controls(finding.check.where),
                _heading(outcome, finding),
            ),
            *(describe_limit(finding), format_number(finding.value)),
            *([format_signed(finding.delta)] if compared else []),
            *([_bound_cell(finding)] if sure else []),
            *(
                str(finding.n),
                f"{finding.unjudged:.0%}",
                *([f"{finding.transferred}"] * transferred),
            ),
        ]
        for finding in outcome.findings
    ]
    return Table(names, numbers, body)


def _bound_cell(finding: LimitResult) -> str:
    """Return what a value, or a delta, is at least with the confidence asked for."""
    if math.isnan(finding.bound):
        return "–"
    shown = (
        format_number(finding.bound) if finding.against is None else format_signed(finding.bound)
    )
    return f"≥ {shown}"


def _heading(outcome: GateOutcome, finding: LimitResult) -> str:
    measure = finding.check.measure
    return str(measure) if outcome.conventions is None else outcome.conventions.heading(measure)


def gate_notes(outcome: GateOutcome) -> list[Note]:
    """Return what there is to know of the runs a gate is about, and of the golden set."""
    runs = [outcome.run, *(finding.other for finding in outcome.findings)]
    notes = [note for note in outcome.notes if note.is_about(*runs)]
    return [*notes, ONE_LOOK_NOTE] if outcome.holds_for_one_look else notes


def _footer(outcome: GateOutcome) -> Iterator[str]:
    """Yield what follows the table: the other runs, the conventions, the notes."""
    compared = {
        f"{REFERENCE_LABELS[finding.against]}: {finding.other}"
        for finding in outcome.findings
        if finding.against is not None and finding.other is not None
    }
    if compared:
        yield escape_controls(" · ".join(sorted(compared)))
    yield from statements_text(outcome.verdict)
    if outcome.conventions is not None:
        yield outcome.conventions.describe()
    if any(finding.check.terms.confidence is not None for finding in outcome.findings):
        yield BOUNDS_NOTE
    for said in fold_notes(gate_notes(outcome)):
        yield f"! {escape_controls(said)}"


def _check_record(finding: LimitResult) -> dict[str, Any]:
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
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }


EXIT_CODES: Mapping[str, int] = {PASSED: 0, FAILED: 1, UNJUDGED: 2}
NOT_JUDGED = EXIT_CODES[UNJUDGED]
FORMATTERS: Mapping[str, Callable[[GateOutcome], str]] = {
    "table": as_text,
    "json": as_json,
    "junit": as_junit,
    "md": as_markdown,
}


@dataclass(frozen=True, slots=True)
class GateRequest:
    """What a gate is asked beside what its file says; ``golden`` may not differ from that."""

    run: str | None = None
    baseline: str | None = None
    begin: bool = False
    golden: str | None = None


class GateCommand(click.Command):
    """Ends with 2 where a run could not be judged, whatever the reason."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with report_errors(NOT_JUDGED):
            return super().invoke(ctx)


@click.command(cls=GateCommand)
@click.argument("path", type=FILE, metavar="FILE", required=False)
@click.option("--example", is_flag=True, help="Print a gate file to begin with, and judge nothing.")
@click.option("--run", help="The run to judge, in place of the file's.")
@click.option(
    "--baseline", metavar="RUN", help="The run it is held against, in place of the file's."
)
@click.option(
    "--begin",
    is_flag=True,
    help="Judge without a last passing run, and begin the file of those that passed anew.",
)
@format_option(
    list(FORMATTERS), "What is printed: table and md are for people, json and junit for programs."
)
@click.option("--json", "json_path", type=FILE, metavar="PATH", help="Write JSON to a file, too.")
@click.option(
    "--junit", "junit_path", type=FILE, metavar="PATH", help="Write JUnit XML to a file, too."
)
@click.option("--md", "md_path", type=FILE, metavar="PATH", help="Write Markdown to a file, too.")
@golden_option
@database_option
@click.pass_context
def gate(
    context: click.Context,
    path: Path | None,
    example: bool,
    run: str | None,
    baseline: str | None,
    begin: bool,
    kind: str,
    json_path: Path | None,
    junit_path: Path | None,
    md_path: Path | None,
    golden: str | None,
) -> None:
    """Stop a build whose run is not good enough.

    FILE says in TOML which values a run has to reach and how far it may fall behind another one.
    Ends with 0 if the run passed, 1 if it failed, and 2 if that could not be judged: an empty run,
    too few queries, too many unjudged chunks, a baseline that is not there.
    """
    if example:
        click.echo(gate_example(context.obj), nl=False)
        return
    if path is None:
        raise click.UsageError("Missing argument 'FILE'; 'labeler gate --example' prints one")
    asked = GateRequest(run, baseline, begin, golden)
    files = {"json": json_path, "junit": junit_path, "md": md_path}
    there = {form: each for form, each in files.items() if each is not None}
    check_outputs([*there.values()], context.obj, path)
    try:
        outcome, kept = judge_file(context.obj, path, asked)
    except LabelerError as error:
        write_forms(GateOutcome(path.name, run, error=str(error)), there)
        raise
    write_forms(outcome, there)
    click.echo(FORMATTERS[kind](outcome), nl=False)
    if kept is not None:  # last, so that nothing is kept where its verdict could not be said
        kept.write()
    context.exit(EXIT_CODES[outcome.result])


def check_outputs(outputs: Sequence[Path], *inputs: Path) -> None:
    """Raise a usage error for an output that would take the place of an input, or of another."""
    places = [each.absolute() for each in (*inputs, *outputs)]
    for path in outputs:
        if places.count(path.absolute()) > 1:
            raise click.UsageError(
                f"{escape_controls(str(path))} is named twice; give each output its own"
            )


def write_forms(outcome: GateOutcome, files: Mapping[str, Path]) -> None:
    """Write an outcome to files, each whole, in place of what was there."""
    for form, path in files.items():
        write_file(path, FORMATTERS[form](outcome).encode(), replace=True)


@dataclass(frozen=True, slots=True)
class PassingFile:
    """The runs that passed, and the file they are kept in."""

    path: Path
    passing: PassedRuns

    def write(self) -> None:
        """Put them in the file's place, whole."""
        write_file(self.path, self.passing.as_text().encode(), replace=True)


def judge_file(
    db: StoreLocation, path: Path, asked: GateRequest
) -> tuple[GateOutcome, PassingFile | None]:
    """Judge a run by a gate file; nothing is written.

    Returns as well what is to be kept, None where nothing is: where the run did not pass, or the
    gate keeps no last passing run. Raises `LabelerError` where nothing could be judged at all.
    """
    gate = with_runs(read_gate_file(path), asked.run, asked.baseline)
    kept_in = None if gate.last_passing is None else path.parent / gate.last_passing
    passing = None if kept_in is None else previous_passing(kept_in, begin=asked.begin)
    if asked.begin and kept_in is None:
        raise BadInput(f"{gate.name}: --begin goes with last_passing, and the file names none")
    boards, history = gate_board(db, gate, passing, asked)
    board = boards.runs
    checks = resolve_checks(gate, board)
    findings = judge_run(board, gate.run or "", checks, history.others)
    others = [finding.other for finding in findings if finding.other in board.run_names]
    found = GateOutcome(
        *(gate.name, gate.run, findings, board.conventions, history.golden or None),
        notes=(
            *board.notes(check.measure for check in checks),
            *boards.cautions([*others[:1], gate.run], checks),
        ),
        verdict=boards.verdict(others[0], gate.run) if others else (),
    )
    if kept_in is None or found.result != PASSED:
        return found, None
    return found, PassingFile(kept_in, history.passed(gate.run or "", checks, moment()))


@dataclass(frozen=True)
class GateBoards:
    """The board of the ``runs`` that a gate is about, and of ``every_run`` for the verdict."""

    runs: Scoreboard
    every_run: Scoreboard
    rules: DecisionRules
    singles: SingleGrades | None

    def cautions(self, runs: Sequence[str | None], checks: Sequence[Check]) -> list[Note]:
        """Return how the means that are checked mislead, of one run or of two that are compared."""
        measures = dict.fromkeys(check.measure for check in checks)
        return caution_notes(find_cautions(self.every_run, measures, runs=[*filter(None, runs)]))

    def verdict(self, other: str | None, run: str | None) -> tuple[Statement, ...]:
        """Return whether ``run`` is better than another one, as compare says it."""
        try:
            found = judge_pair(
                self.every_run, other or "", run or "", self.rules, singles=self.singles
            )
        except BadInput:  # nothing in common, which the limits say
            return ()
        return tuple(each for each in found.statements if each.severity != NOTE)


def gate_board(
    db: StoreLocation, gate: Gate, passing: PassedRuns | None, asked: GateRequest
) -> tuple[GateBoards, ReferenceRuns]:
    """Return the boards of the runs that a gate is about, and against what they are held."""
    with Store(db) as store:
        fingerprints = store.run_fingerprints()
        check_runs(gate, fingerprints)
        known = set() if passing is None else set(passing.runs)
        wanted = [gate.run, gate.baseline]
        wanted += [name for name, fingerprint in fingerprints.items() if fingerprint in known]
        collection, settings = gate_golden(store, gate, asked.golden)
        traffic = gate_traffic(gate, store)
        is_frozen = collection.golden is not None and collection.golden.name is not None
        singles = None if is_frozen else store.single_grades()
    names = [name for name in dict.fromkeys(wanted) if name is not None]
    conventions = conventions_of(settings, gate.preset, gate.rel, gate.prompt_k)
    conventions = replace(conventions, selected=gate.selected)
    if conventions.selected.chunkings is None:
        conventions = conventions.across(collection, names)
    try:
        board, _ = with_weights(Scoreboard(select_runs(collection, names), conventions), traffic)
        every_run, _ = with_weights(Scoreboard(collection, conventions), traffic)
    except NotFound as error:  # no query is selected, or none has the facet of the weights
        raise NotFound(f"{gate.name}: {error}") from None
    boards = GateBoards(board, every_run, DecisionRules.of(settings), singles)
    return boards, ReferenceRuns(board, fingerprints, gate.baseline, passing, asked.begin)


def gate_traffic(gate: Gate, store: Store) -> Traffic | None:
    """Return what the gate file weights means by; raises `NotFound` where no log knows it."""
    if gate.weighted is None:
        return None
    try:
        return traffic_of_facet(gate.weighted, store.batches())
    except NotFound as error:
        raise NotFound(f"{gate.name}: {error}") from None


def gate_golden(store: Store, gate: Gate, asked: str | None) -> tuple[Collection, Settings]:
    """Return the golden set a gate file names, or that was ``asked`` for: the live one if neither.

    A hash may be the live one's. Raises `NotFound` where there is none of that name or hash, and
    `BadInput` where the file names another one than was asked for.
    """
    wanted = [name for name in dict.fromkeys((gate.golden, asked)) if name is not None]
    if not wanted:
        return snapshots.collection_of(store, None)
    found = [_golden_named(store, gate, name) for name in wanted]
    hashes = [collection.golden.hash for collection, _ in found if collection.golden is not None]
    if len(set(hashes)) > 1:
        raise BadInput(
            f"{gate.name}: is for the golden set {wanted[0]!r} "
            f"({hashes[0][:SHORT_HASH]}), and --golden "
            f"{wanted[1]!r} is another ({hashes[1][:SHORT_HASH]})"
        )
    return found[0]


def _golden_named(store: Store, gate: Gate, name: str) -> tuple[Collection, Settings]:
    live = store.golden_state().hash
    if len(name) >= SHORT_HASH and live.startswith(name.lower()):
        return snapshots.collection_of(store, None)
    try:
        return snapshots.collection_of(store, name)
    except NotFound as error:
        raise NotFound(
            f"{gate.name}: the golden set is now {live[:SHORT_HASH]}, and {error}"
        ) from None


def check_runs(gate: Gate, names: Mapping[str, str]) -> None:
    """Raise `NotFound` for a run or a baseline that is not there, with the nearest name."""
    for what, name in (("run", gate.run), ("baseline", gate.baseline)):
        if name is not None and name not in names:
            raise NotFound(
                f"{gate.name}: the {what} {name!r} is not in the golden set; "
                f"{suggest_nearest(name, names)}"
            )


def previous_passing(path: Path, *, begin: bool) -> PassedRuns | None:
    """Return the runs that passed before; None where the file is begun now.

    Raises `NotFound` where it is not there and is not begun: a build that loses the file each time
    would else pass whatever it is held against. Raises `BadInput` for another kind of file, also
    where it is begun: a slip in the gate file must not cost a golden set.
    """
    if begin and path.exists():
        read_passed_runs(
            read_limited_bytes(path, "a file of runs that passed"), path.name
        )  # nothing else's place
    if begin:
        return None
    if not path.exists():
        raise NotFound(
            f"{path}: no run has passed yet, or the file of those that did is lost; put it back, "
            "or begin it with --begin"
        )
    return read_passed_runs(read_limited_bytes(path, "a file of runs that passed"), path.name)
