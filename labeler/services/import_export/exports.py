"""Exports of a golden set and of runs, whole or in part (a split, a chunking, without leaks).

A part of a golden set has its own hash and names the hash of the whole. Some formats, such as the
log, can only be exported whole.
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
from labeler.services.import_export.feedback import (
    FEEDBACK_KINDS,
    why_no_feedback,
    write_feedback,
)
from labeler.store import CopyGrade, Disagreement, Opinion, Store
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
    "phoenix": "grades-phoenix.jsonl",
    "langfuse": "scores-langfuse.jsonl",
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
    """Return the golden set as one file, with the same bytes on every machine.

    It is the live golden set unless the ``content`` of a version is given, which has no log.
    ``selected`` exports a part; raises `BadInput` for a format that has no part.

    BEIR is a zip of its folder; `beir_folder` gives the files themselves. BEIR and the log include
    the newest ``seal`` of the logs; the other formats are exactly what other programs expect.
    """
    seal = seal or store.tamper_check.newest_seal()
    check_whole(kind, selected)
    if kind in ("events", "complete") and content is not None:
        raise BadInput(f"the version {content.title!r} has golden grades and no log of its own")
    if kind == "events":
        return formats.write_events([*store.judgments.log(), *store.remarks.log()], str(seal))
    if kind == "complete":
        return snapshots.complete_file(store)
    if kind not in EXPORTS:
        raise BadInput(f"{kind!r} is no export format; there are {', '.join(EXPORTS)}")
    return write_extract(store, kind, extract(store, content, selected), seal)


def write_extract(store: Store, kind: str, leaving: Extract, seal: Seal) -> bytes:
    """Return an extract of a golden set as one file."""
    if kind == "beir":
        return formats.zip_files(beir_folder(store, leaving, seal))
    if kind in FEEDBACK_KINDS:
        whole = leaving.queries, leaving.grades, leaving.selected
        return write_feedback(store, kind, *whole, selected_lists)
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
    """Return a stored run as a file, with its `selected_lists`."""
    ranked = selected_lists(store, name, selected)
    if kind != "ragas":
        return formats.write_run(ranked, name, kind)
    texts = {chunk.chunk_id: chunk.text for chunk in selected_chunks(store, selected)}
    return formats.write_run(ranked, name, kind, store.queries.texts(), texts)


def refusals(store: Store, selected: Selection = EVERYTHING) -> dict[str, str]:
    """Return why the golden set cannot be exported in some formats, by format.

    An id may not fit a format, and a part cannot be exported in the formats of `WHOLE_ONLY`.
    """
    leaving = extract(store, selected=selected)
    found = {
        kind: formats.why_not_writable(kind, leaving.queries, leaving.grades) for kind in EXPORTS
    }
    found |= {kind: why_no_feedback(store, kind) for kind in FEEDBACK_KINDS}
    found |= {kind: _whole_only(kind, selected) or found[kind] for kind in EXPORTS}
    return {kind: why for kind, why in found.items() if why is not None}


def _whole_only(kind: str, selected: Selection) -> str | None:
    try:
        check_whole(kind, selected)
    except BadInput as error:
        return str(error)
    return None


def dated_name(name: str, revision: int, day: date | None = None) -> str:
    """Return the name of a download with its day and revision.

    >>> dated_name("golden-beir.zip", 1193, date(2026, 11, 22))
    'golden-beir-2026-11-22-r1193.zip'
    """
    stem, dot, ending = name.partition(".")
    return f"{stem}-{day or date.today():%Y-%m-%d}-r{revision}{dot}{ending}"


def disagreement_rows(store: Store, found: Sequence[Disagreement]) -> Iterator[dict[str, object]]:
    """Yield a row for each grader's opinion on each of these pairs.

    ``agreed`` is the golden grade by ``golden_rule``, None for a tie; ``adjudicated`` is the grade
    decided in adjudication. Of chunks with the same text, each has rows of its own, one without a
    grader where only a file graded it; ``copy_of`` is the first of them, ``golden`` its grade.
    """
    rule = store.settings.read().golden_rule
    for case in store.adjudication.cases(found, longest=0):
        pair, decision = case.disagreement, case.disagreement.adjudication
        said: list[Opinion | CopyGrade] = list(case.opinions)
        known = {opinion.chunk_id for opinion in case.opinions}
        said += [copy for copy in pair.copies if copy.chunk_id not in known]
        golden = {copy.chunk_id: copy.grade for copy in pair.copies}
        for each in said:
            yield {
                "query_id": pair.query_id,
                "query": case.query.text,
                "chunk_id": each.chunk_id,
                "title": case.chunk.title,
                "spread": pair.spread,
                **_opinion_columns(each if isinstance(each, Opinion) else None),
                "golden_rule": rule,
                "agreed": pair.agreed,
                "adjudicated": decision and decision.grade,
                "adjudicated_by": decision and decision.grader,
                "adjudication_note": decision and decision.note,
                "copy_of": pair.chunk_id if pair.copies else None,
                "golden": golden.get(each.chunk_id),
            }


def _opinion_columns(opinion: Opinion | None) -> dict[str, object]:
    """Return what a grader says of a chunk; nothing where no grader says anything."""
    return {
        "grader": opinion and opinion.grader,
        "grade": opinion and opinion.grade,
        "cannot_tell": opinion is not None and opinion.kind == "cannot_tell",
        "note": opinion and opinion.note,
        "blind": opinion is not None and bool(opinion.blind),
        "stale": opinion is not None and bool(opinion.stale),
        "given_at": opinion and opinion.created_at,
    }


def beir_folder(store: Store, leaving: Extract, seal: Seal) -> dict[str, bytes]:
    """Return the files of a BEIR folder; the corpus is whole, or of the selected chunking."""
    split = leaving.selected.split or "test"
    files = leaving.queries, selected_chunks(store, leaving.selected), leaving.grades, split
    names = () if leaving.selected.chunkings else store.chunkings.names()
    return formats.beir_files(*files, seal=str(seal), chunkings=names)


def note_export(
    store: Store, name: str, kind: str, seal: Seal, leaving: Mapping[str, object] | None = None
) -> bool:
    """Note an export in the audit log; return False where the file is read-only."""
    return store.audit.note_if_possible(
        "export", name, {"format": kind, "seal": str(seal), **(leaving or {})}
    )


WHOLE_ONLY: dict[str, str] = {
    "events": "the log is one chain: without some of its events nobody could tell whether it is "
    "whole",
    "complete": "a complete file restores the golden set as it is, with all of its log",
    "version": "a frozen version proves its hash by all of its queries",
}
"""The formats that can only be exported whole, and why."""


@dataclass(frozen=True)
class Extract:
    """Queries with their golden grades, and the ungraded pairs of the pool.

    An extract of one chunking has only its chunks, by their ids in that chunking. ``golden`` is the
    hash of the extract, which it also has when loaded into an empty file with the same conventions.
    ``part_of`` is the hash of the whole, or None if the extract is the whole.
    """

    queries: Sequence[Query]
    grades: Sequence[GoldenGrade]
    ungraded: Sequence[UnjudgedPair]
    golden: str
    part_of: str | None = None
    selected: Selection = EVERYTHING

    @property
    def described(self) -> str:
        """The hash of the extract, and for a part also the selection and the hash of the whole."""
        if self.part_of is None:
            return f"golden {self.golden}"
        return f"golden {self.golden}, {self.selected.describe()} of {self.part_of}"


def extract(
    store: Store, content: GoldenSnapshot | None = None, selected: Selection = EVERYTHING
) -> Extract:
    """Return an extract of the live golden set, or of the ``content`` of a version.

    Leaked queries are those known as leaked now. Raises `NotFound` where no query is selected.
    """
    ungraded = store.golden_loads.ungraded() if content is None else []
    if selected == EVERYTHING:
        queries, grades = store.golden_set.read() if content is None else content.whole
        state = store.collection.golden_state() if content is None else content.state
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
    """Return a function from a chunk id to its id in the exported file, None if not selected.

    With one chunking selected it is the id in that chunking, else the golden set's id. Raises
    `NotFound` for an unknown chunking.
    """
    if selected.chunkings is None:
        return str
    [chunking], names = selected.chunkings, store.chunkings.names()
    if chunking not in names:
        there = ", ".join(map(repr, names))
        raise NotFound(f"no chunking is called {chunking!r}; there are: {there}")

    def name(called: str) -> str | None:
        return own_chunk_id(chunking, called) if chunking_of(called, names) == chunking else None

    return name


def selected_chunks(store: Store, selected: Selection) -> list[Chunk]:
    """Return the selected chunks, with the ids of `chunk_names`."""
    called = chunk_names(store, selected)
    return [
        replace(chunk, chunk_id=name)
        for chunk in store.chunks.all()
        if (name := called(chunk.chunk_id)) is not None
    ]


def selected_lists(store: Store, run: str, selected: Selection) -> list[Ranking]:
    """Return a stored run's lists for the selected queries.

    With a chunking selected, chunks have their ids in that chunking. Raises `NotFound` for an
    unknown run, for one of another chunking, and where the run has no list for a selected query.
    """
    lists = store.runs.lists(run)
    if selected.chunkings is not None:
        [chunking], run_chunking = selected.chunkings, store.chunkings.of_runs()[run]
        if chunking != run_chunking:
            raise NotFound(
                f"run {run!r} is of {describe_chunking(run_chunking)}, not of "
                f"{describe_chunking(chunking)}"
            )
        lists = [
            replace(
                each, chunk_ids=tuple(own_chunk_id(chunking, called) for called in each.chunk_ids)
            )
            for each in lists
        ]
    kept = store.splits.selected(selected)
    if kept is None:
        return lists
    found = [each for each in lists if each.query_id in kept]
    if not found:
        raise NotFound(f"run {run!r} has no list for any query of {selected.describe()}")
    return found


def part_of(store: Store, content: GoldenSnapshot, selected: Selection) -> GoldenSnapshot:
    """Return the selected queries of a golden set, perhaps none, with their splits in ``content``.

    Leaked queries are those known as leaked now. With a chunking selected, only grades of its
    chunks are kept, with their ids in that chunking.
    """
    if selected == EVERYTHING:
        return content
    leaked = {each.query_id for each in store.splits.leaked()}
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
    """Raise `BadInput` if a part is selected in a format that can only be exported whole."""
    if selected != EVERYTHING and kind in WHOLE_ONLY:
        raise BadInput(
            f"{kind} has no part of a golden set ({selected.describe()}): {WHOLE_ONLY[kind]}; "
            "jsonl carries a part, with a hash of its own"
        )


def name_with_selection(name: str, selected: Selection) -> str:
    """Return the name of a file with the selection added.

    >>> name_with_selection("golden-beir.zip", Selection("held-out", "without", ("v2",)))
    'golden-beir-v2-held-out-without-leaked.zip'
    """
    stem, dot, ending = name.partition(".")
    leaked = {"without": "without-leaked", "only": "leaked"}.get(selected.leaked)
    chunkings = [each or "default-chunking" for each in selected.chunkings or ()]
    return "-".join(filter(None, (stem, *chunkings, selected.split, leaked))) + f"{dot}{ending}"
