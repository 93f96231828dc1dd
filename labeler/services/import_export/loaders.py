"""Loading of files into a store: each is parsed completely first, then stored, all or nothing.

Parsing first means that bad input never creates a database, and that a long parse never keeps a
grader waiting for the write lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from labeler import formats
from labeler.errors import BadInput, LabelerError
from labeler.formats import (
    CHUNK_PREFIX,
    HASH_DIGITS,
    LIMITS,
    IdResolver,
    Limits,
    SuggestionRule,
)
from labeler.model import (
    DEFAULT_CHUNKING,
    Candidate,
    CopyGrades,
    Loaded,
    LoadedGolden,
    LoadReport,
    Query,
    Ranking,
    check_chunking,
    format_count,
    format_list,
)
from labeler.services import candidates
from labeler.services.import_export import snapshots
from labeler.services.late_copies import grade_late_copies
from labeler.store import Store
from labeler.store.runs import check_run_name

# In the order to load files that depend on each other: grades name queries, answers name runs.
LOADS = (
    *("complete", "beir", "queries", "documents", "chunks", "records", "golden", "version", "run"),
    *("answers", "signals"),
)
MOST_UPLOAD_MEGABYTES = 200  # per file; the server holds it in memory until it is stored
_MOST_SYSTEMS = 100  # runs that one file may become; more are no systems
RUN_SUFFIXES = (
    *(".gz", ".trec", ".run", ".txt", ".jsonl", ".json", ".csv", ".tsv", ".parquet", ".pq"),
)

Progress = Callable[[float], object]
Apply = Callable[[Store], list[LoadReport]]
BRING_CHUNKS = ("chunks", "records", "run", "beir")  # into a query's pool
BRING_GRADES = ("golden", "records", "beir")


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """Options for reading and storing a file; each kind of file uses some of them."""

    update: bool = False
    facets: Sequence[str] | None = None
    order: Literal["score", "rank", "file"] = "score"
    on_duplicate: Literal["refuse", "first"] = "refuse"
    leave_out_self: bool = False
    run_name: str | None = None
    system: str | None = None
    created_at: str | None = None
    negative_as_zero: bool = False
    negative_as_ungraded: bool = False
    grade_map: Mapping[float, int] | None = None
    blind: bool = False
    split: str = "test"
    chunking: str | None = None
    field_map: formats.FieldMap | None = None
    limits: Limits = LIMITS


def recognise(
    path: str | Path, content: bytes | None = None, *, remembered: str = ""
) -> tuple[formats.Guess, formats.FieldMap | None]:
    """Return the kind of a file, and the ``remembered`` map if that alone can read it.

    ``remembered`` is the setting ``field_map`` of a golden set. A file of which only a person can
    say what it is stays so.
    """
    found = formats.guess(path, content)
    if found.kind is not None or found.could_be or not remembered:
        return found, None
    with suppress(LabelerError):
        field_map = formats.map_named(remembered)
        read = formats.preview_retrievals(path, content, field_map)
        if read.has_chunks:
            return formats.Guess(
                "records", f"{read.read_as}, by the field map kept here"
            ), field_map
    return found, None


def read(
    kind: str,
    path: str | Path,
    options: LoadOptions,
    *,
    name: str | None = None,
    progress: Progress | None = None,
) -> Apply:
    """Read a whole file and return a function that loads it into a store, all or nothing.

    ``name`` is the name of the file in messages. Raises `BadInput` for an unknown ``kind``.
    """
    if kind not in _READERS:
        raise BadInput(f"{kind!r} cannot be loaded; there are {', '.join(LOADS)}")
    apply = _READERS[kind](_File(path, options, name, progress))
    if kind in BRING_CHUNKS:
        apply = _and_grade_copies(apply)
    return _and_compare_copies(apply) if kind in BRING_GRADES else apply


class _File(NamedTuple):
    """A file to read, with how to read it."""

    path: str | Path
    options: LoadOptions
    name: str | None
    progress: Progress | None

    @property
    def read_with(self) -> dict[str, Any]:
        """The arguments that every reader takes."""
        return {"name": self.name, "progress": self.progress, "limits": self.options.limits}

    @property
    def chunking(self) -> str:
        """The chunking of the file's chunk ids."""
        return check_chunking(self.options.chunking or DEFAULT_CHUNKING)

    @property
    def run_name(self) -> str:
        """The name of the file's only run."""
        chosen = self.options.run_name
        return run_name_of(self.name or self.path) if chosen is None else chosen


def _and_grade_copies(apply: Apply) -> Apply:
    """Return a function that loads, and then grades new chunks whose text people graded before."""

    def put(store: Store) -> list[LoadReport]:
        *reports, last = apply(store)
        copies = grade_late_copies(store)
        told = {"with a text that was graded before, graded": copies} if copies else {}
        return [*reports, replace(last, facts={**last.facts, **told})]

    return put


def _and_compare_copies(apply: Apply) -> Apply:
    """Return a function that loads, and warns of texts that have different golden grades by it."""

    def put(store: Store) -> list[LoadReport]:
        before = {each for each in store.copies.grades() if each.differ}
        *reports, last = apply(store)
        found = [each for each in store.copies.grades() if each.differ and each not in before]
        said = [describe_unlike(found)] if found else []
        return [*reports, replace(last, warnings=(*last.warnings, *said))]

    return put


def describe_unlike(found: Sequence[CopyGrades]) -> str:
    """Return a sentence on texts whose chunks have different golden grades in one query.

    >>> describe_unlike([CopyGrades("q1", (("c1", 3), ("c2", 0)))]).partition(" with ")[0]
    '1 text has chunks of one query'
    """
    first = found[0]
    graded = [f"{name} {grade}" for name, grade in first.grades if grade is not None]
    are = format_count(len(found), "text has", "texts have")
    some = f"{first.query_id}: {format_list(graded, 4)}"
    return (
        f"{are} chunks of one query with different golden grades "
        f"({some if len(found) == 1 else f'one is of {some}'}); 'labeler disagreements' lists them"
    )


def _queries(file: _File) -> Apply:
    loaded = formats.read_queries(file.path, facets=file.options.facets, **file.read_with)
    return lambda store: [store.queries.load(loaded, update=file.options.update)]


def _chunks(file: _File) -> Apply:
    loaded, chunking = formats.read_chunks(file.path, **file.read_with), file.chunking
    return lambda store: [store.chunks.load(loaded, update=file.options.update, chunking=chunking)]


def _documents(file: _File) -> Apply:
    loaded = formats.read_documents(file.path, **file.read_with)

    def put(store: Store) -> list[LoadReport]:
        named = formats.match_document_names(loaded, file.path, store.documents.cut())
        return [store.documents.load(named, update=file.options.update)]

    return put


def _run(file: _File) -> Apply:
    """Read a run, or of a table that names several systems a run of each."""
    options = file.options
    how = {"order": options.order, "on_duplicate": options.on_duplicate, **file.read_with}
    read = partial(formats.stream_run, file.path, **how)
    try:
        runs = {file.run_name: read()}
    except formats.SeveralSystems as several:
        if options.run_name is not None or len(several.systems) > _MOST_SYSTEMS:
            raise
        runs = {
            check_run_name(each, "run", "a system"): read(system=each) for each in several.systems
        }

    def put(store: Store) -> list[LoadReport]:
        # Those that are there already are first: a refusal must come before anything is stored.
        known = {*store.runs.names()}
        return [
            store.runs.load(
                _resolved_run(store, runs[each], options),
                name=each,
                system=options.system,
                created_at=options.created_at,
                chunking=options.chunking,
            )
            for each in sorted(runs, key=lambda each: each not in known)
        ]

    return put


def _records(file: _File) -> Apply:
    """Read retrieval records; a run is named by its system, or by the file if that names none."""
    options = file.options
    loaded = formats.read_retrievals(
        file.path,
        field_map=options.field_map,
        order=options.order,
        on_duplicate=options.on_duplicate,
        rule=formats.GradeRule(**_grade_options(options)),
        facets=options.facets,
        **file.read_with,
    )
    if options.blind:
        loaded = replace(loaded, golden=_blind(loaded.golden))
    names = _names_of_systems(loaded.runs, file.run_name, options.run_name is not None)
    chunking = file.chunking
    made = options.created_at or (loaded.newest or "")[:10] or None

    def put(store: Store) -> list[LoadReport]:
        found = id_resolver(store, chunking).retrievals(loaded)
        if options.leave_out_self:
            runs = {system: formats.without_self(run) for system, run in found.runs.items()}
            found = replace(found, runs=runs)
        first, *others = store.retrievals.load(
            found,
            names=names,
            system=options.system,
            created_at=made,
            update=options.update,
            chunking=chunking,
        )
        chosen = options.field_map
        if (
            chosen is not None
            and chosen.names_query
            and (loaded.runs or loaded.golden.grades.records)
        ):
            is_new = store.settings.save_field_map(formats.map_text(chosen))
            said = "kept in the setting field-map, for other files like this one"
            of = {"map": said if is_new else "that of the setting field-map"}
            first = replace(first, facts={**first.facts, **of})
        return [first, *others]

    return put


def _names_of_systems(systems: Iterable[str], base: str, is_chosen: bool) -> dict[str, str]:
    """Return the names of runs: the one is called by its file or as chosen, several by system."""
    named = [*systems]
    if len(named) > _MOST_SYSTEMS:
        raise BadInput(
            f"{base}: {len(named):,} systems are named in it, and a run is made of each; if they "
            "are no systems, say which field is: --map 'system=...'"
        )
    if len(named) == 1 and (is_chosen or not named[0]):
        return {named[0]: base}
    prefix = f"{base} " if is_chosen else ""
    return {
        each: check_run_name(f"{prefix}{each}" if each else base, "run", "a system")
        for each in named
    }


def _resolved_run(store: Store, loaded: Loaded[Ranking], options: LoadOptions) -> Loaded[Ranking]:
    """Return a run under the golden set's ids, if asked without those of its queries."""
    run = id_resolver(store, options.chunking).run(loaded)
    return formats.without_self(run) if options.leave_out_self else run


def _golden(file: _File) -> Apply:
    loaded = formats.read_golden(file.path, **_grade_options(file.options), **file.read_with)
    if file.options.blind:
        loaded = _blind(loaded)
    chunking = file.options.chunking or DEFAULT_CHUNKING

    def put(store: Store) -> list[LoadReport]:
        found = id_resolver(store, chunking).golden(loaded)
        return [store.golden_loads.add(found, update=file.options.update, chunking=chunking)]

    return put


def _grade_options(options: LoadOptions) -> dict[str, Any]:
    """Return how grades other than 0, 1, 2 and 3 are read."""
    return {
        "negative_as_zero": options.negative_as_zero,
        "negative_as_ungraded": options.negative_as_ungraded,
        "grade_map": options.grade_map or {},
    }


def _blind(loaded: LoadedGolden) -> LoadedGolden:
    """Return golden grades whose graders had not seen each other's."""
    records = [replace(each, blind=True) for each in loaded.by_graders.records]
    return replace(loaded, by_graders=replace(loaded.by_graders, records=records))


def read_candidates(
    path: str | Path,
    source: str,
    *,
    facets: Sequence[str] | None = None,
    evenly: Sequence[str] | None = None,
    most: int | None = None,
    seed: int = 0,
    proposing: SuggestionRule | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> Apply:
    """Read a file of questions and return a function that adds them to a store as candidates.

    From a log, at most ``most`` new ones are drawn (None: 200), evenly over the buckets of the
    facets ``evenly``; from other files all. Questions that are queries already count for those.
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
    found = candidates.group_questions(asked, source, name or str(path), named=facets is not None)
    candidates.check_facets(found, evenly or ())
    if most is None and source == "log":
        most = candidates.SAMPLE_SIZE

    def put(store: Store) -> list[LoadReport]:
        queries = store.queries.texts()
        candidates.link_queries(found, queries)
        known = store.candidates.states(source)
        new = [each for each in found.questions if candidates.is_new(each, known)]
        old = [each for each in found.questions if not candidates.is_new(each, known)]
        kept = [*old, *candidates.sample_questions(new, most, seed, evenly)]
        return [store.candidates.add(found, kept, evenly=evenly, seed=seed)]

    return put


def query_from_candidate(candidate: Candidate, query_id: str | None = None) -> Query:
    """Return the query of a candidate; without ``query_id`` its id is made from its text."""
    buckets = candidate.usual_buckets()
    return Query(
        formats.query_id_from_text(candidate.text) if query_id is None else query_id,
        candidate.text,
        buckets.pop("task", None),
        candidate.reference,
        candidate.guideline,
        candidate.keywords,
        buckets,
    )


def _version(file: _File) -> Apply:
    put = snapshots.read_version(file.path, name=file.name, limits=file.options.limits)
    return lambda store: [put(store)]


def _complete(file: _File) -> Apply:
    put = snapshots.read_complete(file.path, name=file.name, limits=file.options.limits)
    return lambda store: [put(store)]


def _signals(file: _File) -> Apply:
    loaded = formats.read_signals(file.path, **file.read_with)
    return lambda store: [store.signals.load(loaded, update=file.options.update)]


def _answers(file: _File) -> Apply:
    loaded, options = formats.read_answers(file.path, **file.read_with), file.options
    return lambda store: [store.answers.load(loaded, run=options.run_name, update=options.update)]


def _beir(file: _File) -> Apply:
    options, chunking = file.options, file.chunking
    how = {**_grade_options(options), **file.read_with}
    loaded = formats.read_beir(file.path, split=options.split, facets=options.facets, **how)
    return lambda store: store.golden_loads.add_beir(
        loaded, update=options.update, chunking=chunking
    )


_READERS: Mapping[str, Callable[[_File], Apply]] = MappingProxyType(
    {
        "queries": _queries,
        "documents": _documents,
        "chunks": _chunks,
        "records": _records,
        "run": _run,
        "golden": _golden,
        "beir": _beir,
        "version": _version,
        "complete": _complete,
        "signals": _signals,
        "answers": _answers,
    }
)


def id_resolver(store: Store, chunking: str | None = None) -> IdResolver:
    """Return a resolver for files that name queries, or chunks of a chunking, by their texts."""
    of = (len(CHUNK_PREFIX), HASH_DIGITS, chunking or DEFAULT_CHUNKING)
    return IdResolver(store.queries.texts(), lambda made: store.chunks.of_texts(made, *of))


def run_name_of(path: str | Path) -> str:
    """Return the name of a run from its file, without the endings of its format.

    >>> run_name_of("runs/bm25-v2.trec.gz")
    'bm25-v2'
    """
    name = Path(path).name
    while name.lower().endswith(RUN_SUFFIXES):
        name = name[: name.rindex(".")]
    return name
