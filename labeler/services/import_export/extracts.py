"""What of a golden set leaves with a file: all, or a split's or a chunking's; writes no file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from labeler.errors import BadInput, NotFound
from labeler.model import (
    EVERYTHING,
    UNNAMED,
    Chunk,
    GoldenGrade,
    Query,
    Ranking,
    Selection,
    Ungraded,
    chunking_in_words,
    chunking_of,
    own_id,
)
from labeler.model.versions import Content
from labeler.services.import_export import freezing
from labeler.store import Store

WHOLE: dict[str, str] = {
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
    ungraded: Sequence[Ungraded]
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
    store: Store, content: Content | None = None, selected: Selection = EVERYTHING
) -> Extract:
    """Return what leaves: of the live golden set, or of the ``content`` of a version.

    Which queries leaked is what is known now. Raises `NotFound` where none is selected.
    """
    ungraded = store.ungraded() if content is None else []
    if selected == EVERYTHING:
        queries, grades = store.golden_set() if content is None else content.whole
        state = store.golden_state() if content is None else content.state
        return Extract(queries, grades, ungraded, state.hash)
    whole = freezing.live(store) if content is None else content
    part = part_of(store, whole, selected)
    if not part.queries:
        raise NotFound(selected.nothing())
    called = names_in(store, selected)
    left = [
        replace(pair, chunk_id=name)
        for pair in ungraded
        if pair.query_id in part.by_query and (name := called(pair.chunk_id)) is not None
    ]
    return Extract(*part.whole, left, part.state.hash, whole.state.hash, selected)


def names_in(store: Store, selected: Selection) -> Callable[[str], str | None]:
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
        return own_id(chunking, called) if chunking_of(called, names) == chunking else None

    return name


def chunks_in(store: Store, selected: Selection) -> list[Chunk]:
    """Return the chunks that are selected, by what a file calls them."""
    called = names_in(store, selected)
    return [
        replace(chunk, chunk_id=name)
        for chunk in store.chunks()
        if (name := called(chunk.chunk_id)) is not None
    ]


def lists_of(store: Store, run: str, selected: Selection) -> list[Ranking]:
    """Return a stored run's lists; of a part only those of its queries, which may be none.

    With its chunking they have the ids that the chunks have there. Raises `NotFound` for a run
    that is not there, or is of another chunking, and where no query is selected.
    """
    lists = store.run_lists(run)
    if selected.chunkings is not None:
        [chunking], its_own = selected.chunkings, store.chunkings_of_runs()[run]
        if chunking != its_own:
            raise NotFound(
                f"run {run!r} is of {chunking_in_words(its_own)}, not of "
                f"{chunking_in_words(chunking)}"
            )
        lists = [
            replace(each, chunk_ids=tuple(own_id(chunking, called) for called in each.chunk_ids))
            for each in lists
        ]
    kept = store.selected_queries(selected)
    if kept is None:
        return lists
    found = [each for each in lists if each.query_id in kept]
    if not found:
        raise NotFound(f"run {run!r} has no list for any query of {selected.describe()}")
    return found


def part_of(store: Store, content: Content, selected: Selection) -> Content:
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
    called = names_in(store, selected)
    own = [
        replace(grade, chunk_id=name, chunking=UNNAMED)
        for grade in part.grades
        if (name := called(grade.chunk_id)) is not None
    ]
    return replace(part, grades=own)


def check_whole(kind: str, selected: Selection) -> None:
    """Raise `BadInput` where a part is asked for in a format that carries all or nothing."""
    if selected != EVERYTHING and kind in WHOLE:
        raise BadInput(
            f"{kind} has no part of a golden set ({selected.describe()}): {WHOLE[kind]}; "
            "jsonl carries a part, with a hash of its own"
        )


def named_after(name: str, selected: Selection) -> str:
    """Return the name of a file with what is in it.

    >>> named_after("golden-beir.zip", Selection("held-out", "without", ("v2",)))
    'golden-beir-v2-held-out-without-leaked.zip'
    """
    stem, dot, ending = name.partition(".")
    leaked = {"without": "without-leaked", "only": "leaked"}.get(selected.leaked)
    chunkings = [each or "unnamed-chunking" for each in selected.chunkings or ()]
    return "-".join(filter(None, (stem, *chunkings, selected.split, leaked))) + f"{dot}{ending}"
