"""Files meet the store: what ``load`` and ``export`` do, in a terminal and on the pages alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from labeler import candidates, formats, freezing
from labeler.chain import Seal
from labeler.errors import BadInput
from labeler.extracts import Extract, check_whole, chunks_in, extract, lists_of
from labeler.formats import CHUNK, HASHED, LIMITS, Limits, Meant, Proposing, RunKind
from labeler.model import (
    EVERYTHING,
    UNNAMED,
    Candidate,
    IntakeReport,
    Query,
    Selection,
    check_chunking,
)
from labeler.store import Disagreement, Store
from labeler.versions import Content

# In the order in which files that come together need each other: grades name queries, answers runs.
LOADS = (
    *("complete", "beir", "queries", "documents", "chunks", "golden", "version", "run"),
    *("answers", "signals"),
)
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
MOST_UPLOAD_MEGABYTES = 200  # of a file; the server holds it in memory until it is stored
RUN_SUFFIXES = (".gz", ".trec", ".run", ".txt", ".jsonl", ".json", ".csv", ".tsv")

Progress = Callable[[float], object]
Apply = Callable[[Store], list[IntakeReport]]


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How a file is to be read and stored; each kind of file uses the options it knows."""

    update: bool = False
    facets: Sequence[str] | None = None
    order: Literal["score", "rank"] = "score"
    on_duplicate: Literal["refuse", "first"] = "refuse"
    run_name: str | None = None
    system: str | None = None
    created_at: str | None = None
    negative_as_zero: bool = False
    negative_as_ungraded: bool = False
    grade_map: Mapping[float, int] | None = None
    split: str = "test"
    chunking: str | None = None
    limits: Limits = LIMITS


def read(
    kind: str,
    path: str | Path,
    options: LoadOptions,
    *,
    name: str | None = None,
    progress: Progress | None = None,
) -> Apply:
    """Read a file whole and return what puts it into a store, all or nothing.

    Reading comes first so that bad input never makes a database and a long parse never keeps a
    grader waiting for the write lock. ``name`` is what messages call the file.
    """
    readers: dict[str, Callable[[], Apply]] = {
        "queries": lambda: _queries(path, options, name, progress),
        "documents": lambda: _documents(path, options, name, progress),
        "chunks": lambda: _chunks(path, options, name, progress),
        "run": lambda: _run(path, options, name, progress),
        "golden": lambda: _golden(path, options, name, progress),
        "beir": lambda: _beir(path, options, name, progress),
        "version": lambda: _version(path, options, name),
        "complete": lambda: _complete(path, options, name),
        "signals": lambda: _signals(path, options, name, progress),
        "answers": lambda: _answers(path, options, name, progress),
    }
    if kind not in readers:
        raise BadInput(f"{kind!r} cannot be loaded; there are {', '.join(LOADS)}")
    return readers[kind]()


def _queries(
    path: str | Path, options: LoadOptions, name: str | None, progress: Progress | None
) -> Apply:
    loaded = formats.read_queries(
        path, facets=options.facets, name=name, progress=progress, limits=options.limits
    )
    return lambda store: [store.add_queries(loaded, update=options.update)]


def _chunks(
    path: str | Path, options: LoadOptions, name: str | None, progress: Progress | None
) -> Apply:
    loaded = formats.read_chunks(path, name=name, progress=progress, limits=options.limits)
    chunking = check_chunking(options.chunking or UNNAMED)
    return lambda store: [store.add_chunks(loaded, update=options.update, chunking=chunking)]


def _documents(
    path: str | Path, options: LoadOptions, name: str | None, progress: Progress | None
) -> Apply:
    loaded = formats.read_documents(path, name=name, progress=progress, limits=options.limits)

    return lambda store: [
        store.add_documents(
            formats.named_as_cut(loaded, path, store.documents_cut()), update=options.update
        )
    ]


def _run(
    path: str | Path, options: LoadOptions, name: str | None, progress: Progress | None
) -> Apply:
    loaded = formats.stream_run(
        path,
        order=options.order,
        on_duplicate=options.on_duplicate,
        name=name,
        progress=progress,
        limits=options.limits,
    )
    run_name = run_name_of(name or path) if options.run_name is None else options.run_name
    return lambda store: [
        store.add_run(
            meant_by(store, options.chunking).run(loaded),
            name=run_name,
            system=options.system,
            created_at=options.created_at,
            chunking=options.chunking,
        )
    ]


def _golden(
    path: str | Path, options: LoadOptions, name: str | None, progress: Progress | None
) -> Apply:
    loaded = formats.read_golden(
        path,
        negative_as_zero=options.negative_as_zero,
        negative_as_ungraded=options.negative_as_ungraded,
        grade_map=options.grade_map,
        name=name,
        progress=progress,
        limits=options.limits,
    )
    chunking = options.chunking or UNNAMED
    return lambda store: [
        store.add_golden(
            meant_by(store, chunking).golden(loaded), update=options.update, chunking=chunking
        )
    ]


def read_candidates(
    path: str | Path,
    source: str,
    *,
    facets: Sequence[str] | None = None,
    evenly: Sequence[str] | None = None,
    most: int | None = None,
    seed: int = 0,
    proposing: Proposing | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> Apply:
    """Read a file of questions, and return what keeps them in a store as candidates.

    Of a log at most ``most`` new ones are drawn (200 where None), as many as can be of each bucket
    of the facets ``evenly``; of other files all. What queries ask already is counted to them.
    """
    asked = formats.stream_candidates(
        path,
        source,
        facets=facets,
        proposing=proposing,
        name=name,
        progress=progress,
        limits=limits,
    )
    found = candidates.gathered(asked, source, name or str(path), named=facets is not None)
    candidates.check_facets(found, evenly or ())
    if most is None and source == "log":
        most = candidates.USUAL_DRAW

    def put(store: Store) -> list[IntakeReport]:
        queries = store.texts_of_queries()
        candidates.tell_queries(found, queries)
        there = store.candidate_states(source)
        new = [each for each in found.questions if candidates.is_new(each, there)]
        old = [each for each in found.questions if not candidates.is_new(each, there)]
        kept = [*old, *candidates.drawn(new, most, seed, evenly)]
        return [store.add_candidates(found, kept, evenly=evenly, seed=seed)]

    return put


def query_from(candidate: Candidate, query_id: str | None = None) -> Query:
    """Return the query a candidate becomes as it stands; without an id it is one of its text."""
    buckets = candidate.usual_buckets()
    return Query(
        formats.query_id_of(candidate.text) if query_id is None else query_id,
        candidate.text,
        buckets.pop("task", None),
        candidate.reference,
        candidate.guideline,
        candidate.keywords,
        buckets,
    )


def _version(path: str | Path, options: LoadOptions, name: str | None) -> Apply:
    put = freezing.read(path, name=name, limits=options.limits)
    return lambda store: [put(store)]


def _complete(path: str | Path, options: LoadOptions, name: str | None) -> Apply:
    put = freezing.read_complete(path, name=name, limits=options.limits)
    return lambda store: [put(store)]


def _signals(
    path: str | Path, options: LoadOptions, name: str | None, progress: Progress | None
) -> Apply:
    loaded = formats.read_signals(path, name=name, progress=progress, limits=options.limits)
    return lambda store: [store.add_signals(loaded, update=options.update)]


def _answers(
    path: str | Path, options: LoadOptions, name: str | None, progress: Progress | None
) -> Apply:
    loaded = formats.read_answers(path, name=name, progress=progress, limits=options.limits)
    return lambda store: [store.add_answers(loaded, run=options.run_name, update=options.update)]


def _beir(
    path: str | Path, options: LoadOptions, name: str | None, progress: Progress | None
) -> Apply:
    loaded = formats.read_beir(
        path,
        split=options.split,
        negative_as_zero=options.negative_as_zero,
        negative_as_ungraded=options.negative_as_ungraded,
        grade_map=options.grade_map,
        facets=options.facets,
        name=name,
        progress=progress,
        limits=options.limits,
    )
    chunking = check_chunking(options.chunking or UNNAMED)
    return lambda store: store.add_beir(loaded, update=options.update, chunking=chunking)


def meant_by(store: Store, chunking: str | None = None) -> Meant:
    """Return what a file means here that names queries or chunks, of a chunking, by their texts."""
    of = (len(CHUNK), HASHED, chunking or UNNAMED)
    return Meant(store.texts_of_queries(), lambda made: store.chunks_of_texts(made, *of))


def run_name_of(path: str | Path) -> str:
    """Name a run after its file, without the endings that say how it is written.

    >>> run_name_of("runs/bm25-v2.trec.gz")
    'bm25-v2'
    """
    name = Path(path).name
    while name.lower().endswith(RUN_SUFFIXES):
        name = name[: name.rindex(".")]
    return name


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
