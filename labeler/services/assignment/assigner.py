"""Assigner: the next chunks for each grader, within a scope, and who is working on which query.

Keeps the pool and the graders' judgments up to date between requests. Nothing it returns names a
system, a rank or what others graded. Several servers on one database share their leases there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice
from threading import Lock
from typing import Any

from labeler.errors import BadInput, NotFound
from labeler.model import (
    ACTIVE_OF_TWO,
    ACTIVE_SOURCE,
    ASSIGNMENT_SOURCES,
    EVERYTHING,
    UNJUDGED_OF_TWO,
    WITH_LEAKED,
    CurrentJudgment,
    Pair,
    Remark,
    Selection,
    Settings,
)
from labeler.services.assignment.items import (
    LONGEST_IN_LIST,
    LONGEST_TEXT,
    MOST_LISTED,
    GradingItem,
    NextItems,
    QueryInfo,
    UndoableStep,
)
from labeler.services.assignment.pooling import Pool, TransferPool, repeats_due, shuffled_chunks
from labeler.services.transfer import OpenPairs, OpenPairsCache
from labeler.store import Lease, Store, UndoableJudgment

FIRST_REPEAT_AT = 3  # repeats come after this many other chunks
MOST_REPEATS = 2
UNDO_DEPTH = 20
MOST_SEARCH_RESULTS = 30


@dataclass(slots=True)
class _Grader:
    seed: int
    judged: dict[Pair, CurrentJudgment]


class Assigner:
    """Chooses for one golden set and all its graders; safe to ask from several threads.

    ``telling`` gives the pairs that decide between two runs, the best first; ``opening`` knows what
    carry-overs leave open.
    """

    def __init__(
        self,
        telling: Callable[[], Iterable[Pair]] = lambda: (),
        opening: OpenPairsCache | None = None,
    ) -> None:
        self._telling = telling
        self._opening = opening or OpenPairsCache()
        self._lock = Lock()
        self._key: tuple[str, int] | None = None
        self._settings = Settings()
        self._pool = Pool({})
        self._graders: dict[str, _Grader] = {}
        self._claims = QueryLeases()
        self._fields: dict[Scope, frozenset[str]] = {}
        self._rest: TransferPool | None = None
        self._revision = 0

    def next_for(
        self, store: Store, grader: str, limit: int, within: Scope | None = None
    ) -> tuple[NextItems, dict[str, QueryInfo]]:
        """Return the next ``limit`` pairs, of the queries of one field or of all.

        Graders who ask at the same time are led to different queries, but for those that everyone
        gets. A grader's remark on a query takes its other chunks out of their way. Raises
        `NotFound` for a field without a query, and as `OpenPairsCache.of` does.
        """
        said = store.remarks_by(grader)
        between = None if within is None else within.between
        opened = None if between is None else self._opening.of(store, *between)
        decides = opened is None and store.settings().strategy == ACTIVE_OF_TWO
        ahead = self._telling() if decides else ()
        with self._lock:
            me = self._catch_up(store, grader)
            among = self._queries_in(store, within)
            rest = None if opened is None else self._remaining(opened)
            left = self._left(me, among, rest)
            with self._claims.choosing(store, grader) as choice:
                pairs = self._pairs(choice, me, limit, among, said, ahead, rest)
            repeats = self._repeats(me, pairs, among, said) if rest is None else []
            why = ACTIVE_SOURCE if decides and choice.own.pairs else "pool"
            answer = self._progress(me, left, said)
            shown = rest if self._settings.show_before else None
            stale = {pair for pair in pairs if self._pool.is_stale(pair)}
            judged = {pair: me.judged.get(pair) for pair in [*pairs, *repeats]}
        items = store.items([*pairs, *repeats], LONGEST_TEXT)
        papers = [
            GradingItem(
                item,
                source,
                pair in stale or _is_outdated(judged[pair]),
                judged[pair],
                hint=shown.hint(pair, item.text_hash) if shown else None,
            )
            for pair, source in self._sources(pairs, repeats, why)
            if (item := items.get(pair))
        ]
        store.note_told(grader, (_pair_ids(paper) for paper in papers if paper.hint))
        about = self.about(store, grader, papers, said)
        if rest is None or opened is None:
            return replace(answer, papers=papers), about
        told = {
            name: replace(each, total=rest.totals.get(name, 0), left=left.get(name, 0))
            for name, each in about.items()
        }
        return replace(answer, papers=papers, looked=opened.share), told

    def _remaining(self, opened: OpenPairs) -> TransferPool:
        """Return what is left open of the pool; raises `NotFound` where that leaves all of it out.

        It is put in order once, and not for everyone who asks.
        """
        if self._rest is None or not self._rest.is_of(self._pool, opened):
            self._rest = TransferPool(self._pool, opened)
        if self._settings.strategy == UNJUDGED_OF_TWO and not self._rest.pairs:
            raise NotFound(
                f"the team grades {UNJUDGED_OF_TWO!r}, and no run of this chunking "
                "is A or B; choose "
                "another strategy in the settings"
            )
        return self._rest

    def _left(
        self, me: _Grader, among: frozenset[str] | None, rest: TransferPool | None
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
        choice: LeaseChoice,
        me: _Grader,
        limit: int,
        among: frozenset[str] | None,
        said: Mapping[str, Remark],
        ahead: Iterable[Pair],
        rest: TransferPool | None,
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
        choice.own = Lease(tuple(queries), frozenset(telling))
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

    def _progress(
        self, me: _Grader, counts: Mapping[str, int], said: Mapping[str, Remark]
    ) -> NextItems:
        left = {name: 0 if name in said else count for name, count in counts.items()}
        done = {query_id for query_id, count in left.items() if not count}
        return NextItems(
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
    ) -> tuple[list[GradingItem], list[bool]]:
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

    def search(self, store: Store, grader: str, query_id: str, words: str) -> list[GradingItem]:
        """Return the chunks that match ``words`` best, for grading them under a query.

        They are of the chunkings that the query's runs are of.
        """
        found = [
            (query_id, chunk) for chunk in store.search_chunks(words, MOST_SEARCH_RESULTS, query_id)
        ]
        with self._lock:
            self._catch_up(store, grader)
        return self._papers(store, grader, found, "search")

    def history(
        self, store: Store, grader: str, before: str | None = None, unsaid: str | None = None
    ) -> list[UndoableStep]:
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
        steps: Iterable[tuple[str, UndoableStep]] = merge(
            judged, said, key=lambda at: at[0], reverse=True
        )
        return [step for _, step in islice(steps, UNDO_DEPTH)]

    def _judged(
        self, store: Store, grader: str, before: str | None
    ) -> list[tuple[UndoableJudgment, GradingItem]]:
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

    def _papers(
        self, store: Store, grader: str, pairs: Sequence[Pair], source: str
    ) -> list[GradingItem]:
        longest = LONGEST_TEXT if source == "pool" else LONGEST_IN_LIST
        items = store.items(pairs, longest)
        with self._lock:
            judged = self._catch_up(store, grader).judged
            return [
                GradingItem(
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
        papers: Iterable[GradingItem],
        said: Mapping[str, Remark] | None = None,
    ) -> dict[str, QueryInfo]:
        """Return what a grader gets to know of the queries of these papers."""
        said = store.remarks_by(grader) if said is None else said
        queries = {paper.item.query.query_id: paper.item.query for paper in papers}
        with self._lock:
            judged = self._catch_up(store, grader).judged
            hidden = not self._settings.show_reference
            return {
                query_id: QueryInfo(
                    replace(query, reference=None) if hidden else query,
                    len(self._pool.chunks(query_id)),
                    len(self._pool.open_in(query_id, judged)),
                    said.get(query_id),
                )
                for query_id, query in queries.items()
            }

    def _queries_in(self, store: Store, within: Scope | None) -> frozenset[str] | None:
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
        runs = settings.holes_of if settings.strategy == UNJUDGED_OF_TWO else None
        chunks, without_text = store.pool(settings.pool_depth, runs)
        kinds, revision = store.golden_kinds()
        pool = Pool(
            chunks,
            without_text=without_text,
            overlap=settings.overlap,
            strategy=settings.strategy,
        )
        for pair, kind, stale in kinds:
            _update_pool(pool, pair, kind, stale)
        self._settings, self._pool, self._revision = settings, pool, revision
        self._graders, self._fields, self._claims = {}, {}, QueryLeases()

    def _read_tail(self, store: Store, newest: int) -> None:
        for change in store.changes_since(self._revision):
            _update_pool(self._pool, (change.query_id, change.chunk), change.kind, change.stale)
        for grader, pair, judged in store.judged_since(self._revision):
            if grader not in self._graders:
                continue
            if judged is None:
                self._graders[grader].judged.pop(pair, None)
            else:
                self._graders[grader].judged[pair] = judged
        self._revision = newest


def _update_pool(pool: Pool, pair: Pair, kind: str | None, stale: bool) -> None:
    if kind is None or stale:
        pool.reopen(pair, stale=stale)
    else:
        pool.settle(pair, by_grader=kind == "grade")


def _pair_ids(paper: GradingItem) -> tuple[str, str]:
    return paper.item.query.query_id, paper.item.chunk.chunk_id


def _source_of(done: UndoableJudgment) -> str:
    source = done.judgment.source
    return source if source in (*ASSIGNMENT_SOURCES, ACTIVE_SOURCE) else "pool"


def _is_outdated(judged: CurrentJudgment | None) -> bool:
    return judged is not None and not judged.present


LEASE_SECONDS = 600.0  # how long a query stays with a grader who asks for nothing more


@dataclass(slots=True)
class LeaseChoice:
    """What a grader was handed before, to be replaced by what they get; what others are at."""

    own: Lease
    others: Sequence[Lease]


class QueryLeases:
    """What was handed to whom; to be asked from one thread at a time."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Lease, float]] = {}

    @contextmanager
    def choosing(self, store: Store, grader: str) -> Iterator[LeaseChoice]:
        """Let a grader be handed something; what `LeaseChoice.own` then is, is theirs after the
        block.

        A claim of somebody who asks for nothing more ends after `LEASE_SECONDS`.
        """
        if store.is_shared:
            with store.choosing() as (claims, now):
                choice = _lease_choice(grader, claims, now)
                yield choice
                store.claim(grader, choice.own)
        else:
            now = time.monotonic()
            choice = _lease_choice(grader, self._kept, now)
            yield choice
            self._kept[grader] = choice.own, now


def _lease_choice(
    grader: str, claims: Mapping[str, tuple[Lease, float]], now: float
) -> LeaseChoice:
    own, _ = claims.get(grader, (Lease(), now))
    others = [
        claim for name, (claim, at) in claims.items() if name != grader and now - at < LEASE_SECONDS
    ]
    return LeaseChoice(own, others)


@dataclass(frozen=True, slots=True)
class Scope:
    """The queries that are ``selected``, and of these one bucket's where a facet is named.

    With ``between`` only what a carry-over leaves open of them, from a chunking to another.
    """

    facet: str | None = None
    bucket: str | None = None
    selected: Selection = EVERYTHING
    between: tuple[str, str] | None = None

    @property
    def has_every_query(self) -> bool:
        """Whether it leaves no query out."""
        return self.facet is None and self.selected == EVERYTHING

    def queries(self, store: Store) -> frozenset[str]:
        """Return the queries in it, without the retired ones; raises `NotFound` for none."""
        found = store.selected_queries(self.selected, self.facet, self.bucket)
        if not found:
            within = self.selected.describe()
            raise NotFound(
                f"no query has {self.facet} {self.bucket!r}{f' ({within})' if within else ''}"
            )
        return frozenset(found)


def parse_scope(
    facet: str | None,
    bucket: str | None,
    split: str | None = None,
    leaked: str | None = None,
    old: str | None = None,
    new: str | None = None,
) -> Scope | None:
    """Return the field a grader is confined to, None for all queries.

    Raises `BadInput` for half of a bucket, for one chunking where it takes two, and for a split
    that cannot be.
    """
    selected = Selection(split or None, leaked or WITH_LEAKED)
    if (facet is None) is not (bucket is None) or facet == "" or bucket == "":
        raise BadInput("a field is a facet and one of its buckets: give both")
    if (old is None) is not (new is None):
        raise BadInput("what is left open lies between two chunkings: give both, from and to")
    field = Scope(facet, bucket, selected, None if old is None or new is None else (old, new))
    return None if field == Scope() else field
