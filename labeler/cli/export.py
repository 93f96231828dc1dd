"""``labeler export``: the golden set, a version or a run as a file or on the standard output."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import click

from labeler.cli.atomic_output import check_writable, write_file, write_folder
from labeler.cli.groups import FILE_OR_OUTPUT, database_option, say
from labeler.cli.options import (
    SELECTION_OPTIONS,
    CountingCommand,
    make_chunking_option,
    selection,
    with_options,
)
from labeler.formats import LEAVES_OUT, RUN_KINDS
from labeler.model import EVERYTHING, Selection, escape_controls, format_count
from labeler.model.snapshot import GoldenSnapshot
from labeler.services import import_export
from labeler.services.import_export import snapshots
from labeler.services.import_export.exports import WHOLE_ONLY, Extract, check_whole, extract
from labeler.store import Store, tamper_check
from labeler.store.addresses import StoreLocation
from labeler.store.hash_chain import Seal

VERSION, COMPLETE = "version", "complete"
GRADE_LINE_FORMATS = (
    "qrels",
    "csv",
    "quepid",
    "quepid-book",
    "opensearch",
    "ranx",
)  # formats with a line for each grade and none for a query
LEFT_OUT = {
    "jsonl": "texts of chunks, single graders' grades, can't tells, remarks, settings; --complete "
    "has them",
    COMPLETE: ", ".join(LEAVES_OUT),
}
WITH_SEAL = ("events", "beir")  # formats with room for the seal
BY_SUFFIX = {".jsonl": "jsonl", ".qrels": "qrels", ".csv": "csv", ".zip": "beir"}


@click.command(cls=CountingCommand)
@click.argument("path", type=FILE_OR_OUTPUT)
@click.option(
    "--format",
    "kind",
    type=click.Choice([*import_export.EXPORTS, VERSION, "trec"]),
    help="jsonl has queries and golden grades, and loads back; csv is for people; qrels, beir, "
    "quepid, quepid-book, opensearch, ragas and ranx are for other tools; phoenix and langfuse are "
    "grades for the traces that runs came from; events is the whole log of judgments and remarks; "
    "version is a frozen version, whose hash is checked where it is loaded. Of a run: trec, ranx "
    "or ragas.  [default: by PATH's ending; trec of a run]",
)
@click.option("--run", metavar="NAME", help="Write this stored run, and not the golden set.")
@click.option("--force", is_flag=True, help="Replace what is at PATH.")
@click.option(
    "--complete",
    "complete",
    is_flag=True,
    help="Everything in one JSONL file: also texts of chunks, every grader's grades, can't tells, "
    "remarks, settings and versions. Left out are runs, answers, signals, candidates, people, "
    "seals and the audit.",
)
@click.option("--golden", metavar="NAME|HASH", help="A frozen version in place of the live one.")
@with_options(*SELECTION_OPTIONS)
@make_chunking_option("Only the chunks of this chunking and their grades, by their ids in it")
@database_option
@click.pass_obj
def export(
    db: StoreLocation,
    path: Path,
    kind: str | None,
    run: str | None,
    force: bool,
    complete: bool,
    golden: str | None,
) -> None:
    """Write the golden set, or a run, to a file.

    '-' is the standard output. BEIR is written as a folder, or as a zip if PATH ends with .zip; a
    file that ends with .gz is compressed. The command prints the golden set's hash and the log's
    seal, a hash of all judgments up to now: 'labeler check --against SEAL' later tells whether
    they are unchanged. Where a format has no room for the seal, it is written to PATH.seal.txt.

    --split, --leaked and --chunking export a part with a hash of its own: that of a new golden
    set loaded from its JSONL with the same settings. BEIR's grades of a split are in
    qrels/SPLIT.tsv. The log, --complete and a version are always whole.

    With several chunkings, ids begin with the chunking's name, as in v2:c7. --chunking v2 exports
    that one alone, with its own ids (c7), and 'labeler load golden FILE --chunking v2' loads it
    back.
    """
    if complete and (run is not None or kind not in (None, COMPLETE)):
        raise click.UsageError("--complete is a format of its own, of the golden set")
    if run is not None and golden is not None:
        raise click.UsageError("a run is the same under any golden set; leave --golden out")
    selected = selection()
    if run is not None:
        write_run(db, run, path, kind or "trec", selected, replace=force)
        return
    kind = COMPLETE if complete else kind or format_of_path(path)
    if kind == "trec":
        raise click.UsageError("trec is a run's format; add --run NAME, or take --format qrels")
    check_whole(kind, selected)
    with Store(db) as store:
        seal = store.tamper_check.newest_seal()
        version = None if golden is None else snapshots.frozen_content(store, golden)
        leaving = extract(store, version, selected)
        if kind == "beir" and path.suffix != ".zip":
            write_beir(path, import_export.beir_folder(store, leaving, seal), replace=force)
        else:
            data = export_data(store, kind, leaving, seal, version)
            write_with_seal(path, data, None if kind in WITH_SEAL else seal, replace=force)
        if kind == "events":
            said = f"{len(data.splitlines()) - 1} events"  # the last line is the tamper check
        elif kind in import_export.FEEDBACK_KINDS:
            said = count_feedback(data)
        else:
            said = describe_export(kind, store, leaving, version)
        noted = import_export.note_export(store, str(path), kind, seal, export_facts(leaving))
    to_output = str(path) == "-"
    if not to_output:
        say(f"{path}: {said}")
    if kind in LEFT_OUT:
        click.echo(f"left out: {LEFT_OUT[kind]}", err=to_output)
    for what, fact in export_facts(leaving).items():
        click.echo(f"{what}: {fact}", err=to_output)
    click.echo(f"seal: {seal}", err=to_output)
    if not noted:
        click.echo(
            escape_controls(f"{db} takes no writes now: this export is not in its audit"), err=True
        )


def export_data(
    store: Store, kind: str, leaving: Extract, seal: Seal, version: GoldenSnapshot | None
) -> bytes:
    """Return the bytes of a one-file format."""
    if kind == VERSION:
        return version_bytes(version)
    if kind in WHOLE_ONLY:
        return import_export.export(store, kind, seal, version)
    return import_export.write_extract(store, kind, leaving, seal)


def export_facts(leaving: Extract) -> dict[str, str]:
    """Return which golden set is exported and what it is part of, by the labels people see."""
    if leaving.part_of is None:
        return {"golden": leaving.golden}
    part = f"{leaving.selected.describe()} of golden {leaving.part_of}"
    return {"golden": leaving.golden, "part": part}


def write_run(
    db: StoreLocation, run: str, path: Path, kind: str, selected: Selection, *, replace: bool
) -> None:
    """Write a stored run, or its lists for the selected queries."""
    if kind not in RUN_KINDS:
        raise click.UsageError(f"a run is written as {', '.join(RUN_KINDS)}, not as {kind}")
    part = {} if selected == EVERYTHING else {"part": selected.describe()}
    with Store(db) as store:
        data = import_export.export_run(store, run, kind, selected)  # type: ignore[arg-type] # just checked
        write_output(path, data, replace=replace)
        noted = store.audit.note_if_possible(
            "export", str(path), {"format": kind, "run": run, **part}
        )
    if str(path) != "-":
        said = [f"run {run!r}", *part.values(), f"{len(data.splitlines())} lines"]
        say(f"{path}: {', '.join(said)}")
    if not noted:
        click.echo(
            escape_controls(f"{db} takes no writes now: this export is not in its audit"), err=True
        )


def format_of_path(path: Path) -> str:
    """Return the format of a path, by its ending.

    >>> format_of_path(Path("golden.jsonl.gz"))
    'jsonl'
    """
    if str(path) == "-":
        return "jsonl"
    suffix = (path.with_suffix("") if path.suffix == ".gz" else path).suffix
    if suffix not in BY_SUFFIX:
        raise click.UsageError(f"{path} does not say in which format; add --format")
    return BY_SUFFIX[suffix]


def write_with_seal(path: Path, data: bytes, seal: Seal | None, *, replace: bool) -> None:
    """Write a file and, if it cannot hold its seal, the seal beside it; both or neither."""
    if seal is None or str(path) == "-":
        write_output(path, data, replace=replace)
        return
    for each in (path, tamper_check.seal_path(path)):
        check_writable(each, replace=replace)
    write_output(path, data, replace=replace)
    write_file(tamper_check.seal_path(path), f"{seal}\n".encode(), replace=replace)


def write_output(path: Path, data: bytes, *, replace: bool) -> None:
    """Write one file, compressed if its name ends so, or write to the standard output."""
    if str(path) == "-":
        click.echo(data, nl=False)
    else:
        write_file(
            path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data, replace=replace
        )


def write_beir(path: Path, files: Mapping[str, bytes], *, replace: bool) -> None:
    """Write a BEIR folder."""
    if str(path) == "-":
        raise click.UsageError("beir is more than one file; name a folder, or a .zip")
    write_folder(path, files, replace=replace)


def count_feedback(lines: bytes) -> str:
    """Count the annotations or scores for another tool, and their spans."""
    found = [json.loads(line) for line in lines.splitlines()]
    spans = {row.get("span_id") or row.get("observationId") or row["traceId"] for row in found}
    what = ("score", "scores") if found and "traceId" in found[0] else ("annotation", "annotations")
    return f"{format_count(len(found), *what)} of {format_count(len(spans), 'span', 'spans')}"


def version_bytes(version: GoldenSnapshot | None) -> bytes:
    """Return a version as a file; raise a usage error if none is named."""
    if version is None:
        raise click.UsageError("--format version goes with --golden, which names the version")
    return snapshots.version_file(version)


def count_with_text(store: Store, selected: Selection) -> int:
    """Count the chunks that have a text, of the selected chunking if there is one."""
    names = selected.chunkings or store.chunkings.names()
    return sum(
        each.chunks - each.without_text for each in store.chunkings.all() if each.name in names
    )


def describe_export(
    kind: str, store: Store, leaving: Extract, version: GoldenSnapshot | None = None
) -> str:
    """Describe what an export holds; most formats omit queries without a golden grade."""
    graded = {grade.query_id for grade in leaving.grades}
    queries = len(graded if kind in GRADE_LINE_FORMATS else leaving.queries)
    chunks = ""
    if kind == "beir":
        with_text = count_with_text(store, leaving.selected)
        chunks = f", {format_count(with_text, 'chunk', 'chunks')}"
    of = "" if version is None else f", of {version.title}"
    part = "" if leaving.part_of is None else f", {leaving.selected.describe()}"
    grades = format_count(len(leaving.grades), "golden grade", "golden grades")
    return f"{format_count(queries, 'query', 'queries')}{chunks}, {grades}{of}{part}"
