"""``labeler gate``: a run judged by a gate file.

Exit code 0: passed, 1: failed, 2: could not be judged, whatever the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from labeler.analysis.cautions import caution_notes, find_cautions
from labeler.analysis.comparison import DecisionRules
from labeler.analysis.gate import (
    FAILED,
    PASSED,
    UNJUDGED,
    Check,
    Gate,
    GateOutcome,
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
from labeler.cli.explain import explain_option
from labeler.cli.gate_example import gate_example
from labeler.cli.gate_output import FORMATTERS
from labeler.cli.groups import FILE, FILE_OR_OUTPUT, database_option, format_option, report_errors
from labeler.cli.options import (
    CountingCommand,
    conventions_of,
    golden_option,
    select_runs,
    with_weights,
)
from labeler.errors import BadInput, LabelerError, NotFound
from labeler.evaluation import Note, Scoreboard
from labeler.model import (
    SHORT_HASH,
    Collection,
    Settings,
    SingleGrades,
    Traffic,
    escape_controls,
    traffic_of_facet,
)
from labeler.model.results import NOTE, Statement
from labeler.services.import_export import snapshots
from labeler.store import Store, moment
from labeler.store.addresses import StoreLocation

EXIT_CODES: Mapping[str, int] = {PASSED: 0, FAILED: 1, UNJUDGED: 2}
NOT_JUDGED = EXIT_CODES[UNJUDGED]


@dataclass(frozen=True, slots=True)
class GateRequest:
    """What the command line adds to a gate file; ``golden`` must not contradict the file."""

    run: str | None = None
    baseline: str | None = None
    begin: bool = False
    golden: str | None = None


class GateCommand(CountingCommand):
    """Exits with 2 if a run could not be judged, whatever the reason."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with report_errors(NOT_JUDGED):
            return super().invoke(ctx)


@click.command(cls=GateCommand)
@click.argument("path", type=FILE, metavar="FILE", required=False)
@click.option("--example", is_flag=True, help="Print a gate file to begin with, and judge nothing.")
@click.option("--run", help="The run to judge, in place of the file's.")
@click.option("--baseline", metavar="RUN", help="The run to compare with, in place of the file's.")
@click.option(
    "--begin",
    is_flag=True,
    help="Judge without a last passing run, and start the file of passing runs again.",
)
@format_option(
    list(FORMATTERS),
    "What is printed: table and md are for people, json and junit for programs.",
    has_short=False,
)
@click.option(
    "--json",
    "json_path",
    type=FILE_OR_OUTPUT,
    is_flag=False,
    flag_value="-",
    metavar="[PATH]",
    help="Print JSON, as --format json does; with a PATH write it to that file, too.",
)
@click.option(
    "--junit", "junit_path", type=FILE, metavar="PATH", help="Write JUnit XML to a file, too."
)
@click.option("--md", "md_path", type=FILE, metavar="PATH", help="Write Markdown to a file, too.")
@explain_option
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

    FILE says in TOML which values a run has to reach and how far it may fall behind another
    one. Exits with 0 if the run passed, 1 if it failed, and 2 if that could not be judged: an
    empty run, too few queries, too many unjudged chunks, a missing baseline.
    """
    if example:
        click.echo(gate_example(context.obj), nl=False)
        return
    if path is None:
        raise click.UsageError("Missing argument 'FILE'; 'labeler gate --example' prints one")
    asked = GateRequest(run, baseline, begin, golden)
    if json_path == Path("-"):
        kind, json_path = "json", None
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
    if kept is not None:  # last, so that nothing is kept if the verdict could not be printed
        kept.write()
    context.exit(EXIT_CODES[outcome.result])


def check_outputs(outputs: Sequence[Path], *inputs: Path) -> None:
    """Raise a usage error if an output would overwrite an input or another output."""
    places = [each.absolute() for each in (*inputs, *outputs)]
    for path in outputs:
        if places.count(path.absolute()) > 1:
            raise click.UsageError(
                f"{escape_controls(str(path))} is named twice; give each output its own"
            )


def write_forms(outcome: GateOutcome, files: Mapping[str, Path]) -> None:
    """Write an outcome to files atomically, replacing what was there."""
    for form, path in files.items():
        write_file(path, FORMATTERS[form](outcome).encode(), replace=True)


@dataclass(frozen=True, slots=True)
class PassingFile:
    """The runs that passed, and the file that keeps them."""

    path: Path
    passing: PassedRuns

    def write(self) -> None:
        """Replace the file atomically."""
        write_file(self.path, self.passing.as_text().encode(), replace=True)


def judge_file(
    db: StoreLocation, path: Path, asked: GateRequest
) -> tuple[GateOutcome, PassingFile | None]:
    """Judge a run by a gate file, without writing anything.

    Also returns the passing runs to write; None if the run did not pass, or the gate keeps no
    last passing run. Raises `LabelerError` if nothing could be judged at all.
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
    """Scoreboards of the ``runs`` of a gate, and of ``every_run`` for the verdict."""

    runs: Scoreboard
    every_run: Scoreboard
    rules: DecisionRules
    singles: SingleGrades | None

    def cautions(self, runs: Sequence[str | None], checks: Sequence[Check]) -> list[Note]:
        """Return how the checked means of one run, or of two compared, could mislead."""
        measures = dict.fromkeys(check.measure for check in checks)
        return caution_notes(find_cautions(self.every_run, measures, runs=[*filter(None, runs)]))

    def verdict(self, other: str | None, run: str | None) -> tuple[Statement, ...]:
        """Return whether ``run`` is better than ``other``, in the words of `labeler compare`."""
        try:
            found = judge_pair(
                self.every_run, other or "", run or "", self.rules, singles=self.singles
            )
        except BadInput:  # nothing in common; the limits report it
            return ()
        return tuple(each for each in found.statements if each.severity != NOTE)


def gate_board(
    db: StoreLocation, gate: Gate, passing: PassedRuns | None, asked: GateRequest
) -> tuple[GateBoards, ReferenceRuns]:
    """Return the scoreboards of a gate's runs, and the runs they are compared with."""
    with Store(db) as store:
        fingerprints = store.runs.fingerprints()
        check_runs(gate, fingerprints)
        known = set() if passing is None else set(passing.runs)
        wanted = [gate.run, gate.baseline]
        wanted += [name for name, fingerprint in fingerprints.items() if fingerprint in known]
        collection, settings = gate_golden(store, gate, asked.golden)
        traffic = gate_traffic(gate, store)
        is_frozen = collection.golden is not None and collection.golden.name is not None
        singles = None if is_frozen else store.activity.single_grades()
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
    """Return the traffic that the gate file weights means by.

    Raises `NotFound` if no log has its facet.
    """
    if gate.weighted is None:
        return None
    try:
        return traffic_of_facet(gate.weighted, store.candidates.batches())
    except NotFound as error:
        raise NotFound(f"{gate.name}: {error}") from None


def gate_golden(store: Store, gate: Gate, asked: str | None) -> tuple[Collection, Settings]:
    """Return the golden set that the gate file names or that was ``asked`` for, else the live one.

    A hash may be that of the live one. Raises `NotFound` for an unknown name or hash, and
    `BadInput` if the file names another one than was asked for.
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
    live = store.collection.golden_state().hash
    if len(name) >= SHORT_HASH and live.startswith(name.lower()):
        return snapshots.collection_of(store, None)
    try:
        return snapshots.collection_of(store, name)
    except NotFound as error:
        raise NotFound(
            f"{gate.name}: the golden set is now {live[:SHORT_HASH]}, and {error}"
        ) from None


def check_runs(gate: Gate, names: Mapping[str, str]) -> None:
    """Raise `NotFound` for an unknown run or baseline, with the nearest name."""
    for what, name in (("run", gate.run), ("baseline", gate.baseline)):
        if name is not None and name not in names:
            raise NotFound(
                f"{gate.name}: the {what} {name!r} is not in the golden set; "
                f"{suggest_nearest(name, names)}"
            )


def previous_passing(path: Path, *, begin: bool) -> PassedRuns | None:
    """Return the runs that passed before; None with ``begin``, which starts the file.

    Raises `NotFound` if the file is missing without ``begin``: otherwise a build that loses the
    file each time would always pass. Raises `BadInput` for another kind of file, even with
    ``begin``: a slip in the gate file must not overwrite a golden set.
    """
    if begin and path.exists():
        read_passed_runs(
            read_limited_bytes(path, "a file of runs that passed"), path.name
        )  # never overwrite another kind of file
    if begin:
        return None
    if not path.exists():
        raise NotFound(
            f"{path}: no run has passed yet, or the file of those that did is lost; put it back, "
            "or begin it with --begin"
        )
    return read_passed_runs(read_limited_bytes(path, "a file of runs that passed"), path.name)
