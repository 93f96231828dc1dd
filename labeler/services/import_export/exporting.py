"""Files that leave a store: the golden set, runs, and what graders disagree on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from labeler import formats
from labeler.errors import BadInput
from labeler.formats import RunKind
from labeler.model import EVERYTHING, Selection
from labeler.model.versions import Content
from labeler.services.import_export import freezing
from labeler.services.import_export.extracts import (
    Extract,
    check_whole,
    chunks_in,
    extract,
    lists_of,
)
from labeler.store import Disagreement, Store
from labeler.store.chain import Seal

EXPORTS: Mapping[str, str] = {
    "jsonl": "golden.jsonl",
    "qrels": "golden.qrels",
    "csv": "golden.csv",
    "beir": "golden-beir.zip",
    "quepid": "golden-quepid.csv",
    "quepid-book": "golden-quepid-book.json",
    "opensearch": "golden-opensearch.json",
    "ragas": "golden-ragas.jsonl",
    "ranx": "golden-ranx.json",
    "events": "events.jsonl",
    "complete": "golden-complete.jsonl",
}


def export(
    store: Store,
    kind: str,
    seal: Seal | None = None,
    content: Content | None = None,
    selected: Selection = EVERYTHING,
) -> bytes:
    """Return the golden set as one file: the same bytes wherever it is asked for.

    It is the live one unless the ``content`` of a version is given, which has no log; what is
    ``selected`` is a part. Raises `BadInput` for a format that has no part.

    BEIR is a zip of its folder; ``beir_folder`` gives the files themselves. It and the log
    have room for the logs' newest ``seal``; the others are what other programs expect, to the
    byte.
    """
    seal = seal or store.newest_seal()
    check_whole(kind, selected)
    if kind in ("events", "complete") and content is not None:
        raise BadInput(f"the version {content.title!r} has golden grades and no log of its own")
    if kind == "events":
        return formats.write_events([*store.events(), *store.remark_log()], str(seal))
    if kind == "complete":
        return freezing.complete(store)
    if kind not in EXPORTS:
        raise BadInput(f"{kind!r} is no export format; there are {', '.join(EXPORTS)}")
    return written(store, kind, extract(store, content, selected), seal)


def written(store: Store, kind: str, leaving: Extract, seal: Seal) -> bytes:
    """Return what leaves a golden set as one file."""
    if kind == "beir":
        return formats.zip_files(beir_folder(store, leaving, seal))
    return formats.write_golden(
        leaving.queries,
        leaving.grades,
        kind,  # type: ignore[arg-type] # `export` has checked it, and the command line's choices
        ungraded=leaving.ungraded,
        chunks=lambda: {chunk.chunk_id: chunk for chunk in chunks_in(store, leaving.selected)},
        description=leaving.described,
    )


def export_run(store: Store, name: str, kind: RunKind, selected: Selection = EVERYTHING) -> bytes:
    """Return a stored run as a file, with the lists of ``selected`` queries; see `lists_of`."""
    ranked = lists_of(store, name, selected)
    if kind != "ragas":
        return formats.write_run(ranked, name, kind)
    texts = {chunk.chunk_id: chunk.text for chunk in chunks_in(store, selected)}
    return formats.write_run(ranked, name, kind, store.texts_of_queries(), texts)


def refusals(store: Store, selected: Selection = EVERYTHING) -> dict[str, str]:
    """Return why the golden set cannot leave in some formats, by format: an id may not fit one.

    Of a part, also which formats carry all or nothing.
    """
    leaving = extract(store, selected=selected)
    found = {kind: formats.refusal(kind, leaving.queries, leaving.grades) for kind in EXPORTS}
    found |= {kind: _whole_only(kind, selected) or found[kind] for kind in EXPORTS}
    return {kind: why for kind, why in found.items() if why is not None}


def _whole_only(kind: str, selected: Selection) -> str | None:
    try:
        check_whole(kind, selected)
    except BadInput as error:
        return str(error)
    return None


def dated(name: str, revision: int, day: date | None = None) -> str:
    """Return the name of a file that is offered: of which day it is, and of which revision.

    >>> dated("golden-beir.zip", 1193, date(2026, 11, 22))
    'golden-beir-2026-11-22-r1193.zip'
    """
    stem, dot, ending = name.partition(".")
    return f"{stem}-{day or date.today():%Y-%m-%d}-r{revision}{dot}{ending}"


def disagreement_rows(store: Store, found: Sequence[Disagreement]) -> Iterator[dict[str, object]]:
    """Give a row for each person's say on each of these pairs, with what counts of them.

    ``agreed`` is what their grades become by ``golden_rule``, None for a tie; ``adjudicated`` is
    what was decided over them.
    """
    rule = store.settings().golden_rule
    for case in store.cases(found, longest=0):
        pair, decision = case.disagreement, case.disagreement.adjudication
        for said in case.opinions:
            yield {
                "query_id": pair.query_id,
                "query": case.query.text,
                "chunk_id": pair.chunk_id,
                "title": case.chunk.title,
                "spread": pair.spread,
                "grader": said.grader,
                "grade": said.grade,
                "cannot_tell": said.kind == "cannot_tell",
                "note": said.note,
                "blind": bool(said.blind),
                "stale": bool(said.stale),
                "given_at": said.created_at,
                "golden_rule": rule,
                "agreed": pair.agreed,
                "adjudicated": decision and decision.grade,
                "adjudicated_by": decision and decision.grader,
                "adjudication_note": decision and decision.note,
            }


def beir_folder(store: Store, leaving: Extract, seal: Seal) -> dict[str, bytes]:
    """Return what leaves as a BEIR folder; the corpus is whole, or one chunking's."""
    split = leaving.selected.split or "test"
    files = leaving.queries, chunks_in(store, leaving.selected), leaving.grades, split
    names = () if leaving.selected.chunkings else store.chunking_names()
    return formats.beir_files(*files, seal=str(seal), chunkings=names)


def note_export(
    store: Store, name: str, kind: str, seal: Seal, leaving: Mapping[str, object] | None = None
) -> bool:
    """Add to the audit that the golden set was taken out; False where the file takes no writes."""
    return store.note_if_possible(
        "export", name, {"format": kind, "seal": str(seal), **(leaving or {})}
    )
