"""``labeler gate``: a run before a gate file, for people and for the systems that build things.

Ends with 0 where the run passed, 1 where it failed, 2 where that could not be judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from labeler.analysis.gate import (
    FAILED,
    PASSED,
    UNJUDGED,
    Gate,
    History,
    Outcome,
    Passing,
    bytes_of,
    checks_of,
    gate_at,
    judge,
    nearest,
    read_passing,
    with_runs,
)
from labeler.cli import gate_forms
from labeler.cli.golden import golden_option
from labeler.cli.group import FILE, database_option, format_option, one_sentence
from labeler.cli.scoring import chosen, conventions_of
from labeler.cli.weighting import weighed
from labeler.cli.whole import write_file
from labeler.errors import BadInput, LabelerError, NotFound
from labeler.evaluation import Scoreboard
from labeler.model import SHORT, Collection, Settings, Traffic, legible, traffic_by
from labeler.services.import_export import freezing
from labeler.store import Store, moment
from labeler.store.addresses import Place

EXIT_CODES: Mapping[str, int] = {PASSED: 0, FAILED: 1, UNJUDGED: 2}
COULD_NOT_BE_JUDGED = EXIT_CODES[UNJUDGED]
FORMS: Mapping[str, Callable[[Outcome], str]] = {
    "table": gate_forms.as_text,
    "json": gate_forms.as_json,
    "junit": gate_forms.as_junit,
    "md": gate_forms.as_markdown,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a gate is asked beside what its file says; ``golden`` may not differ from that."""

    run: str | None = None
    baseline: str | None = None
    begin: bool = False
    golden: str | None = None


class GateCommand(click.Command):
    """Ends with 2 where a run could not be judged, whatever the reason."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with one_sentence(COULD_NOT_BE_JUDGED):
            return super().invoke(ctx)


@click.command(cls=GateCommand)
@click.argument("path", type=FILE, metavar="FILE")
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
    list(FORMS),
    "What is printed: table and md are for people, json and junit for programs.",
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
    path: Path,
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
    too few queries, too many holes, a baseline that is not there.
    """
    asked = Asked(run, baseline, begin, golden)
    files = {"json": json_path, "junit": junit_path, "md": md_path}
    there = {form: each for form, each in files.items() if each is not None}
    check_outputs([*there.values()], context.obj, path)
    try:
        outcome, kept = judge_file(context.obj, path, asked)
    except LabelerError as error:
        write_forms(Outcome(path.name, run, error=str(error)), there)
        raise
    write_forms(outcome, there)
    click.echo(FORMS[kind](outcome), nl=False)
    if kept is not None:  # last, so that nothing is kept where its verdict could not be said
        kept.write()
    context.exit(EXIT_CODES[outcome.result])


def check_outputs(outputs: Sequence[Path], *inputs: Path) -> None:
    """Raise a usage error for an output that would take the place of an input, or of another."""
    places = [each.absolute() for each in (*inputs, *outputs)]
    for path in outputs:
        if places.count(path.absolute()) > 1:
            raise click.UsageError(f"{legible(str(path))} is named twice; give each output its own")


def write_forms(outcome: Outcome, files: Mapping[str, Path]) -> None:
    """Write an outcome to files, each whole, in place of what was there."""
    for form, path in files.items():
        write_file(path, FORMS[form](outcome).encode(), replace=True)


@dataclass(frozen=True, slots=True)
class Kept:
    """The runs that passed, and the file they are kept in."""

    path: Path
    passing: Passing

    def write(self) -> None:
        """Put them in the file's place, whole."""
        write_file(self.path, self.passing.as_text().encode(), replace=True)


def judge_file(db: Place, path: Path, asked: Asked) -> tuple[Outcome, Kept | None]:
    """Judge a run by a gate file; nothing is written.

    Returns as well what is to be kept, None where nothing is: where the run did not pass, or the
    gate keeps no last passing run. Raises `LabelerError` where nothing could be judged at all.
    """
    gate = with_runs(gate_at(path), asked.run, asked.baseline)
    kept_in = None if gate.last_passing is None else path.parent / gate.last_passing
    passing = None if kept_in is None else passing_of(kept_in, begin=asked.begin)
    if asked.begin and kept_in is None:
        raise BadInput(f"{gate.name}: --begin goes with last_passing, and the file names none")
    board, history = opened(db, gate, passing, asked)
    checks = checks_of(gate, board)
    findings = judge(board, gate.run or "", checks, history.others)
    found = Outcome(
        *(gate.name, gate.run, findings, board.conventions, history.golden or None),
        notes=tuple(board.notes(check.measure for check in checks)),
    )
    if kept_in is None or found.result != PASSED:
        return found, None
    return found, Kept(kept_in, history.passed(gate.run or "", checks, moment()))


def opened(
    db: Place, gate: Gate, passing: Passing | None, asked: Asked
) -> tuple[Scoreboard, History]:
    """Return a board of the runs that a gate is about, and against what they are held."""
    with Store(db) as store:
        fingerprints = store.run_fingerprints()
        check_runs(gate, fingerprints)
        known = set() if passing is None else set(passing.runs)
        wanted = [gate.run, gate.baseline]
        wanted += [name for name, fingerprint in fingerprints.items() if fingerprint in known]
        collection, settings = golden_of(store, gate, asked.golden)
        traffic = traffic_of(gate, store)
    names = [name for name in dict.fromkeys(wanted) if name is not None]
    conventions = conventions_of(settings, gate.preset, gate.rel, gate.budget)
    conventions = replace(conventions, selected=gate.selected)
    if conventions.selected.chunkings is None:
        conventions = conventions.across(collection, names)
    try:
        board, _ = weighed(Scoreboard(chosen(collection, names), conventions), traffic)
    except NotFound as error:  # no query is selected, or none has the facet of the weights
        raise NotFound(f"{gate.name}: {error}") from None
    return board, History(board, fingerprints, gate.baseline, passing, asked.begin)


def traffic_of(gate: Gate, store: Store) -> Traffic | None:
    """Return what the gate file weights means by; raises `NotFound` where no log knows it."""
    if gate.weighted is None:
        return None
    try:
        return traffic_by(gate.weighted, store.batches())
    except NotFound as error:
        raise NotFound(f"{gate.name}: {error}") from None


def golden_of(store: Store, gate: Gate, asked: str | None) -> tuple[Collection, Settings]:
    """Return the golden set a gate file names, or that was ``asked`` for: the live one if neither.

    A hash may be the live one's. Raises `NotFound` where there is none of that name or hash, and
    `BadInput` where the file names another one than was asked for.
    """
    wanted = [name for name in dict.fromkeys((gate.golden, asked)) if name is not None]
    if not wanted:
        return freezing.collection_of(store, None)
    found = [_golden_named(store, gate, name) for name in wanted]
    hashes = [collection.golden.hash for collection, _ in found if collection.golden is not None]
    if len(set(hashes)) > 1:
        raise BadInput(
            f"{gate.name}: is for the golden set {wanted[0]!r} ({hashes[0][:SHORT]}), and --golden "
            f"{wanted[1]!r} is another ({hashes[1][:SHORT]})"
        )
    return found[0]


def _golden_named(store: Store, gate: Gate, name: str) -> tuple[Collection, Settings]:
    live = store.golden_state().hash
    if len(name) >= SHORT and live.startswith(name.lower()):
        return freezing.collection_of(store, None)
    try:
        return freezing.collection_of(store, name)
    except NotFound as error:
        raise NotFound(f"{gate.name}: the golden set is now {live[:SHORT]}, and {error}") from None


def check_runs(gate: Gate, names: Mapping[str, str]) -> None:
    """Raise `NotFound` for a run or a baseline that is not there, with the nearest name."""
    for what, name in (("run", gate.run), ("baseline", gate.baseline)):
        if name is not None and name not in names:
            raise NotFound(
                f"{gate.name}: the {what} {name!r} is not in the golden set; {nearest(name, names)}"
            )


def passing_of(path: Path, *, begin: bool) -> Passing | None:
    """Return the runs that passed before; None where the file is begun now.

    Raises `NotFound` where it is not there and is not begun: a build that loses the file each time
    would else pass whatever it is held against. Raises `BadInput` for another kind of file, also
    where it is begun: a slip in the gate file must not cost a golden set.
    """
    if begin and path.exists():
        read_passing(
            bytes_of(path, "a file of runs that passed"), path.name
        )  # nothing else's place
    if begin:
        return None
    if not path.exists():
        raise NotFound(
            f"{path}: no run has passed yet, or the file of those that did is lost; put it back, "
            "or begin it with --begin"
        )
    return read_passing(bytes_of(path, "a file of runs that passed"), path.name)
