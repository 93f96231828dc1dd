"""Hands out what is graded next: keeps the pool and the graders up to date between requests.

Knows nothing of requests and of JSON; what it returns says nothing of systems, ranks or what
others gave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice
from threading import Lock
from typing import Any

from labeler.errors import NotFound
from labeler.model import (
    ASKED_TO_DECIDE,
    HOLES_OF_TWO,
    SOURCES,
    WHAT_DECIDES,
    Judged,
    Pair,
    Remark,
    Settings,
)
from labeler.services.assignment.claiming import Choice, Claims
from labeler.services.assignment.confining import Field
from labeler.services.assignment.papers import About, Next, Paper, Step
from labeler.services.assignment.pooling import Pool, repeats_due, shuffled_chunks
from labeler.services.assignment.portions import LONGEST_IN_LIST, LONGEST_TEXT, MOST_LISTED
from labeler.services.assignment.remaining import Remaining
from labeler.services.carryover import Opened, Opening
from labeler.store import Claim, Store, Undoable

FIRST_REPEAT_AT = 3  # repeats come after this many other chunks
MOST_REPEATS = 2
UNDO_DEPTH = 20
MOST_FOUND = 30


@dataclass(slots=True)
class _Grader:
    seed: int
    judged: dict[Pair, Judged]


class Desk:
    """Chooses for one golden set and all its graders; safe to ask from several threads.

    ``telling`` gives the pairs that decide between two runs, the best first; ``opening`` knows what
    carry-overs leave open.
    """

    def __init__(
        self,
        telling: Callable[[], Iterable[Pair]] = lambda: (),
        opening: Opening | None = None,
    ) -> None:
        self._telling = telling
        self._opening = opening or Opening()
        self._lock = Lock()
        self._key: tuple[str, int] | None = None
        self._settings = Settings()
        self._pool = Pool({})
        self._graders: dict[str, _Grader] = {}
        self._claims = Claims()
        self._fields: dict[Field, frozenset[str]] = {}
        self._rest: Remaining | None = None
        self._revision = 0

    def next_for(
        self, store: Store, grader: str, limit: int, within: Field | None = None
    ) -> tuple[Next, dict[str, About]]:
        """Return the next ``limit`` pairs, of the queries of one field or of all.

        Graders who ask at the same time are led to different queries, but for those that everyone
        gets. A grader's remark on a query takes its other chunks out of their way. Raises
        `NotFound` for a field without a query, and as `Opening.of` does.
        """
        said = store.remarks_by(grader)
        between = None if within is None else within.between
        opened = None if between is None else self._opening.of(store, *between)
        decides = opened is None and store.settings().strategy == WHAT_DECIDES
        ahead = self._telling() if decides else ()
        with self._lock:
            me = self._catch_up(store, grader)
            among = self._queries_in(store, within)
            rest = None if opened is None else self._remaining(opened)
            left = self._left(me, among, rest)
            with self._claims.choosing(store, grader) as choice:
                pairs = self._pairs(choice, me, limit, among, said, ahead, rest)
            repeats = self._repeats(me, pairs, among, said) if rest is None else []
            why = ASKED_TO_DECIDE if decides and choice.own.pairs else "pool"
            answer = self._progress(me, left, said)
            shown = rest if self._settings.show_before else None
            stale = {pair for pair in pairs if self._pool.is_stale(pair)}
            judged = {pair: me.judged.get(pair) for pair in [*pairs, *repeats]}
        items = store.items([*pairs, *repeats], LONGEST_TEXT)
        papers = [
            Paper(
                item,
                source,
                pair in stale or _is_outdated(judged[pair]),
                judged[pair],
                hint=shown.hint(pair, item.text_hash) if shown else None,
            )
            for pair, source in self._sources(pairs, repeats, why)
            if (item := items.get(pair))
        ]
        store.note_told(grader, (_names(paper) for paper in papers if paper.hint))
        about = self.about(store, grader, papers, said)
        if rest is None or opened is None:
            return replace(answer, papers=papers), about
        told = {
            name: replace(each, total=rest.totals.get(name, 0), left=left.get(name, 0))
            for name, each in about.items()
        }
        return replace(answer, papers=papers, looked=opened.share), told

    def _remaining(self, opened: Opened) -> Remaining:
        """Return what is left open of the pool; raises `NotFound` where that leaves all of it out.

        It is put in order once, and not for everyone who asks.
        """
        if self._rest is None or not self._rest.is_of(self._pool, opened):
            self._rest = Remaining(self._pool, opened)
        if self._settings.strategy == HOLES_OF_TWO and not self._rest.pairs:
            raise NotFound(
                f"the team grades {HOLES_OF_TWO!r}, and no run of this chunking is A or B; choose "
                "another strategy in the settings"
            )
        return self._rest

    def _left(
        self, me: _Grader, among: frozenset[str] | None, rest: Remaining | None
    ) -> dict[str, int]:
        """Count what is open for a grader of each query in their field."""
        if rest is not None:
            return rest.left(me.judged, among)
        return {
            query_id: count
            for query_id, count in self._pool.left(me.judged).items()
            if among is None or query_id in among
        }

    def _pairs(
        self,
        choice: Choice,
        me: _Grader,
        limit: int,
        among: frozenset[str] | None,
        said: Mapping[str, Remark],
        ahead: Iterable[Pair],
        rest: Remaining | None,
    ) -> list[Pair]:
        claimed = {query_id for other in choice.others for query_id in other.queries}
        taken = {query_id for query_id in claimed if not self._pool.is_shared(query_id)}
        held = {pair for other in choice.others for pair in other.pairs}
        at = next(iter(choice.own.queries), None)
        where: dict[str, Any] = {"among": among, "without": said.keys(), "first": at}
        if rest is not None:
            ahead = rest.pairs
            where |= {"at_once": rest.at_once, "worth": rest.worth}
        telling = self._pool.telling(me.seed, me.judged, ahead, last=held, **where)[:limit]
        pairs = telling
        if not telling and rest is None:
            order = self._pool.in_order(me.seed, me.judged, last=taken, **where)
            pairs = list(islice(order, limit))
        queries = dict.fromkeys(query_id for query_id, _ in pairs)
        choice.own = Claim(tuple(queries), frozenset(telling))
        return pairs

    def _repeats(
        self,
        me: _Grader,
        pairs: Sequence[Pair],
        among: frozenset[str] | None,
        said: Mapping[str, Remark],
    ) -> list[Pair]:
        """Return the earlier pairs to mix in; none where nothing else is left to hide them."""
        if len(pairs) <= FIRST_REPEAT_AT:
            return []
        due = (
            pair
            for pair in repeats_due(me.seed, me.judged)
            if pair in self._pool and pair[0] not in said and (among is None or pair[0] in among)
        )
        return list(islice(due, MOST_REPEATS))

    @staticmethod
    def _sources(pairs: list[Pair], repeats: list[Pair], why: str) -> list[tuple[Pair, str]]:
        """Put the repeats where the query changes anyway, or at the end."""
        placed = [(pair, why) for pair in pairs]
        for pair in repeats:
            at = next(
                (
                    at
                    for at in range(FIRST_REPEAT_AT, len(placed))
                    if placed[at][1] == why and placed[at][0][0] != placed[at - 1][0][0]
                ),
                len(placed),
            )
            placed.insert(at, (pair, "repeat"))
        return placed

    def _progress(self, me: _Grader, counts: Mapping[str, int], said: Mapping[str, Remark]) -> Next:
        left = {name: 0 if name in said else count for name, count in counts.items()}
        done = {query_id for query_id, count in left.items() if not count}
        return Next(
            papers=(),
            saved=len(me.judged),
            open=sum(left.values()),
            queries_mine=len(done & ({query_id for query_id, _ in me.judged} | said.keys())),
            queries_done=len(done),
            queries_total=len(left),
            without_text=self._pool.without_text,
        )

    def whole(
        self, store: Store, grader: str, query_id: str, start: int = 0
    ) -> tuple[list[Paper], list[bool]]:
        """Return a query's pool in the grader's order from ``start`` on, at most `MOST_LISTED`.

        The second list says for each chunk after ``start`` whether the grader has judged it.
        Raises `NotFound` for a query that has no pool.
        """
        with self._lock:
            me = self._catch_up(store, grader)
            if query_id not in self._pool.queries():
                raise NotFound(f"no run has chunks for query {query_id!r}")
            chunks = shuffled_chunks(me.seed, query_id, self._pool.chunks(query_id))[start:]
            judged = [(query_id, chunk) in me.judged for chunk in chunks]
        pairs = [(query_id, chunk) for chunk in chunks[:MOST_LISTED]]
        return self._papers(store, grader, pairs, "list"), judged

    def search(self, store: Store, grader: str, query_id: str, words: str) -> list[Paper]:
        """Return the chunks that match ``words`` best, for grading them under a query.

        They are of the chunkings that the query's runs are of.
        """
        found = [(query_id, chunk) for chunk in store.search_chunks(words, MOST_FOUND, query_id)]
        with self._lock:
            self._catch_up(store, grader)
        return self._papers(store, grader, found, "search")

    def history(
        self, store: Store, grader: str, before: str | None = None, unsaid: str | None = None
    ) -> list[Step]:
        """Return the grader's newest steps that can be taken back, the newest first.

        ``before`` names a judgment and ``unsaid`` a remark: only steps before them then. The two
        logs have no order in common but their times.
        """
        judged = [
            (step[0].judgment.created_at or "", step)
            for step in self._judged(store, grader, before)
        ]
        said = [
            (each.remark.created_at or "", each)
            for each in store.unsayable(grader, UNDO_DEPTH, unsaid)
        ]
        steps: Iterable[tuple[str, Step]] = merge(judged, said, key=lambda at: at[0], reverse=True)
        return [step for _, step in islice(steps, UNDO_DEPTH)]

    def _judged(
        self, store: Store, grader: str, before: str | None
    ) -> list[tuple[Undoable, Paper]]:
        done = store.undoable(grader, UNDO_DEPTH, before)
        pairs = dict.fromkeys((each.judgment.query_id, each.chunk) for each in done)
        papers = {
            (paper.item.query.query_id, paper.item.chunk.chunk_id): paper
            for paper in self._papers(store, grader, list(pairs), "pool")
        }
        return [
            (each, replace(paper, source=_source_of(each)))
            for each in done
            if (paper := papers.get((each.judgment.query_id, each.judgment.chunk_id)))
        ]

    def found_by(self, store: Store, grader: str, query_id: str, chunk_id: str) -> int:
        """Return how many runs have a chunk in the pool of a query."""
        number = store.chunk_number(chunk_id)
        with self._lock:
            self._catch_up(store, grader)
            return 0 if number is None else len(self._pool.ranks((query_id, number)))

    def _papers(self, store: Store, grader: str, pairs: Sequence[Pair], source: str) -> list[Paper]:
        longest = LONGEST_TEXT if source == "pool" else LONGEST_IN_LIST
        items = store.items(pairs, longest)
        with self._lock:
            judged = self._catch_up(store, grader).judged
            return [
                Paper(
                    items[pair],
                    source,
                    self._pool.is_stale(pair) or _is_outdated(judged.get(pair)),
                    judged.get(pair),
                    pair in self._pool,
                )
                for pair in pairs
                if pair in items
            ]

    def about(
        self,
        store: Store,
        grader: str,
        papers: Iterable[Paper],
        said: Mapping[str, Remark] | None = None,
    ) -> dict[str, About]:
        """Return what a grader gets to know of the queries of these papers."""
        said = store.remarks_by(grader) if said is None else said
        queries = {paper.item.query.query_id: paper.item.query for paper in papers}
        with self._lock:
            judged = self._catch_up(store, grader).judged
            hidden = not self._settings.show_reference
            return {
                query_id: About(
                    replace(query, reference=None) if hidden else query,
                    len(self._pool.chunks(query_id)),
                    len(self._pool.open_in(query_id, judged)),
                    said.get(query_id),
                )
                for query_id, query in queries.items()
            }

    def _queries_in(self, store: Store, within: Field | None) -> frozenset[str] | None:
        if within is None or within.has_every_query:
            return None
        if within not in self._fields:
            self._fields[within] = within.queries(store)
        return self._fields[within]

    def _catch_up(self, store: Store, grader: str) -> _Grader:
        # What is read first is at most too old, and then the next request reads it again.
        key = (store.golden_set_uuid(), store.data_revision())
        newest = store.revision()
        if key != self._key or newest < self._revision:
            self._read_anew(store)
            self._key = key
        elif newest != self._revision:
            self._read_tail(store, newest)
        if grader not in self._graders:
            self._graders[grader] = _Grader(store.grader_seed(grader), store.judged_by(grader))
        return self._graders[grader]

    def _read_anew(self, store: Store) -> None:
        settings = store.settings()
        runs = settings.holes_of if settings.strategy == HOLES_OF_TWO else None
        chunks, without_text = store.pool(settings.pool_depth, runs)
        kinds, revision = store.golden_kinds()
        pool = Pool(
            chunks,
            without_text=without_text,
            overlap=settings.overlap,
            strategy=settings.strategy,
        )
        for pair, kind, stale in kinds:
            _place(pool, pair, kind, stale)
        self._settings, self._pool, self._revision = settings, pool, revision
        self._graders, self._fields, self._claims = {}, {}, Claims()

    def _read_tail(self, store: Store, newest: int) -> None:
        for change in store.changes_since(self._revision):
            _place(self._pool, (change.query_id, change.chunk), change.kind, change.stale)
        for grader, pair, judged in store.judged_since(self._revision):
            if grader not in self._graders:
                continue
            if judged is None:
                self._graders[grader].judged.pop(pair, None)
            else:
                self._graders[grader].judged[pair] = judged
        self._revision = newest


def _place(pool: Pool, pair: Pair, kind: str | None, stale: bool) -> None:
    if kind is None or stale:
        pool.reopen(pair, stale=stale)
    else:
        pool.settle(pair, by_grader=kind == "grade")


def _names(paper: Paper) -> tuple[str, str]:
    return paper.item.query.query_id, paper.item.chunk.chunk_id


def _source_of(done: Undoable) -> str:
    source = done.judgment.source
    return source if source in (*SOURCES, ASKED_TO_DECIDE) else "pool"


def _is_outdated(judged: Judged | None) -> bool:
    return judged is not None and not judged.present
