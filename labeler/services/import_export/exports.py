"""Exports of a golden set and of runs, whole or in part (a split, a chunking, without leaks).

A part of a golden set has a hash of its own and names the hash of the whole. Some formats, such
as the log, can only be exported whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from labeler import formats
from labeler.errors import BadInput, NotFound
from labeler.formats import RunKind
from labeler.model import (
    DEFAULT_CHUNKING,
    EVERYTHING,
    Chunk,
    GoldenGrade,
    Query,
    Ranking,
    Selection,
    UnjudgedPair,
    chunking_of,
    describe_chunking,
    own_chunk_id,
)
from labeler.model.snapshot import GoldenSnapshot
from labeler.services.import_export import snapshots
from labeler.store import Disagreement, Store
from labeler.store.hash_chain import Seal

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
    content: GoldenSnapshot | None = None,
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
        return snapshots.complete_file(store)
    if kind not in EXPORTS:
        raise BadInput(f"{kind!r} is no export format; there are {', '.join(EXPORTS)}")
    return write_extract(store, kind, extract(store, content, selected), seal)


def write_extract(store: Store, kind: str, leaving: Extract, seal: Seal) -> bytes:
    """Return what leaves a golden set as one file."""
    if kind == "beir":
        return formats.zip_files(beir_folder(store, leaving, seal))
    return formats.write_golden(
        leaving.queries,
        leaving.grades,
        kind,  # type: ignore[arg-type] # `export` has checked it, and the command line's choices
        ungraded=leaving.ungraded,
        chunks=lambda: {
            chunk.chunk_id: chunk for chunk in selected_chunks(store, leaving.selected)
        },
        description=leaving.described,
    )


def export_run(store: Store, name: str, kind: RunKind, selected: Selection = EVERYTHING) -> bytes:
    """Return a stored run as a file, with the lists of ``selected`` queries; see
    `selected_lists`.
    """
    ranked = selected_lists(store, name, selected)
    if kind != "ragas":
        return formats.write_run(ranked, name, kind)
    texts = {chunk.chunk_id: chunk.text for chunk in selected_chunks(store, selected)}
    return formats.write_run(ranked, name, kind, store.texts_of_queries(), texts)


def refusals(store: Store, selected: Selection = EVERYTHING) -> dict[str, str]:
    """Return why the golden set cannot leave in some formats, by format: an id may not fit one.

    Of a part, also which formats carry all or nothing.
    """
    leaving = extract(store, selected=selected)
    found = {
        kind: formats.why_not_writable(kind, leaving.queries, leaving.grades) for kind in EXPORTS
    }
    found |= {kind: _whole_only(kind, selected) or found[kind] for kind in EXPORTS}
    return {kind: why for kind, why in found.items() if why is not None}


def _whole_only(kind: str, selected: Selection) -> str | None:
    try:
        check_whole(kind, selected)
    except BadInput as error:
        return str(error)
    return None


def dated_name(name: str, revision: int, day: date | None = None) -> str:
    """Return the name of a file that is offered: of which day it is, and of which revision.

    >>> dated_name("golden-beir.zip", 1193, date(2026, 11, 22))
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
    files = leaving.queries, selected_chunks(store, leaving.selected), leaving.grades, split
    names = () if leaving.selected.chunkings else store.chunking_names()
    return formats.beir_files(*files, seal=str(seal), chunkings=names)


def note_export(
    store: Store, name: str, kind: str, seal: Seal, leaving: Mapping[str, object] | None = None
) -> bool:
    """Add to the audit that the golden set was taken out; False where the file takes no writes."""
    return store.note_if_possible(
        "export", name, {"format": kind, "seal": str(seal), **(leaving or {})}
    )


WHOLE_ONLY: dict[str, str] = {
    "events": "the log is one chain: without some of its events nobody could tell whether it is "
    "whole",
    "complete": "a complete file makes the golden set anew as it is, with all of its log",
    "version": "a frozen version proves its hash by all of its queries",
}
"""The formats that have no part, and why."""


@dataclass(frozen=True)
class Extract:
    """Queries with their golden grades, and pairs that are in the pool without one.

    Of one chunking it has the grades of its chunks, which have their own ids then.
    ``golden`` is the hash of just these: what they have where they are loaded into an empty file,
    by the same conventions. ``part_of`` is the hash of all they were taken from, None for all.
    """

    queries: Sequence[Query]
    grades: Sequence[GoldenGrade]
    ungraded: Sequence[UnjudgedPair]
    golden: str
    part_of: str | None = None
    selected: Selection = EVERYTHING

    @property
    def described(self) -> str:
        """Say which golden set it is, and of which one it is a part."""
        if self.part_of is None:
            return f"golden {self.golden}"
        return f"golden {self.golden}, {self.selected.describe()} of {self.part_of}"


def extract(
    store: Store, content: GoldenSnapshot | None = None, selected: Selection = EVERYTHING
) -> Extract:
    """Return what leaves: of the live golden set, or of the ``content`` of a version.

    Which queries leaked is what is known now. Raises `NotFound` where none is selected.
    """
    ungraded = store.ungraded() if content is None else []
    if selected == EVERYTHING:
        queries, grades = store.golden_set() if content is None else content.whole
        state = store.golden_state() if content is None else content.state
        return Extract(queries, grades, ungraded, state.hash)
    whole = snapshots.live_content(store) if content is None else content
    part = part_of(store, whole, selected)
    if not part.queries:
        raise NotFound(selected.nothing())
    called = chunk_names(store, selected)
    left = [
        replace(pair, chunk_id=name)
        for pair in ungraded
        if pair.query_id in part.by_query and (name := called(pair.chunk_id)) is not None
    ]
    return Extract(*part.whole, left, part.state.hash, whole.state.hash, selected)


def chunk_names(store: Store, selected: Selection) -> Callable[[str], str | None]:
    """Return what a file calls a chunk of the golden set, None for one that is not selected.

    With one chunking it is the id that the chunk has there, else what the golden set calls it.
    Raises `NotFound` for a chunking that is not there.
    """
    if selected.chunkings is None:
        return str
    [chunking], names = selected.chunkings, store.chunking_names()
    if chunking not in names:
        there = ", ".join(map(repr, names))
        raise NotFound(f"no chunking is called {chunking!r}; there are: {there}")

    def name(called: str) -> str | None:
        return own_chunk_id(chunking, called) if chunking_of(called, names) == chunking else None

    return name


def selected_chunks(store: Store, selected: Selection) -> list[Chunk]:
    """Return the chunks that are selected, by what a file calls them."""
    called = chunk_names(store, selected)
    return [
        replace(chunk, chunk_id=name)
        for chunk in store.chunks()
        if (name := called(chunk.chunk_id)) is not None
    ]


def selected_lists(store: Store, run: str, selected: Selection) -> list[Ranking]:
    """Return a stored run's lists; of a part only those of its queries, which may be none.

    With its chunking they have the ids that the chunks have there. Raises `NotFound` for a run
    that is not there, or is of another chunking, and where no query is selected.
    """
    lists = store.run_lists(run)
    if selected.chunkings is not None:
        [chunking], its_own = selected.chunkings, store.chunkings_of_runs()[run]
        if chunking != its_own:
            raise NotFound(
                f"run {run!r} is of {describe_chunking(its_own)}, not of "
                f"{describe_chunking(chunking)}"
            )
        lists = [
            replace(
                each, chunk_ids=tuple(own_chunk_id(chunking, called) for called in each.chunk_ids)
            )
            for each in lists
        ]
    kept = store.selected_queries(selected)
    if kept is None:
        return lists
    found = [each for each in lists if each.query_id in kept]
    if not found:
        raise NotFound(f"run {run!r} has no list for any query of {selected.describe()}")
    return found


def part_of(store: Store, content: GoldenSnapshot, selected: Selection) -> GoldenSnapshot:
    """Return the selected queries of a golden set, with their splits there; there may be none.

    Which queries leaked is what is known now. Of one chunking it has the grades of its chunks, by
    the ids that they have there.
    """
    if selected == EVERYTHING:
        return content
    leaked = {each.query_id for each in store.leaked()}
    part = content.part(
        {
            query.query_id
            for query in content.queries
            if selected.takes(query.split, is_leaked=query.query_id in leaked)
        }
    )
    if selected.chunkings is None:
        return part
    called = chunk_names(store, selected)
    own = [
        replace(grade, chunk_id=name, chunking=DEFAULT_CHUNKING)
        for grade in part.grades
        if (name := called(grade.chunk_id)) is not None
    ]
    return replace(part, grades=own)


def check_whole(kind: str, selected: Selection) -> None:
    """Raise `BadInput` where a part is asked for in a format that carries all or nothing."""
    if selected != EVERYTHING and kind in WHOLE_ONLY:
        raise BadInput(
            f"{kind} has no part of a golden set ({selected.describe()}): {WHOLE_ONLY[kind]}; "
            "jsonl carries a part, with a hash of its own"
        )


def name_with_selection(name: str, selected: Selection) -> str:
    """Return the name of a file with what is in it.

    >>> name_with_selection("golden-beir.zip", Selection("held-out", "without", ("v2",)))
    'golden-beir-v2-held-out-without-leaked.zip'
    """
    stem, dot, ending = name.partition(".")
    leaked = {"without": "without-leaked", "only": "leaked"}.get(selected.leaked)
    chunkings = [each or "unnamed-chunking" for each in selected.chunkings or ()]
    return "-".join(filter(None, (stem, *chunkings, selected.split, leaked))) + f"{dot}{ending}"
