"""Assigner: the next chunks for each grader, within a scope, and leases on queries.

It keeps the pool and the graders' judgments up to date between requests. Nothing it returns names
a system, a rank or the grades of others. Several servers on one database share their leases there.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice
from threading import Lock
from typing import Any

from labeler.analysis.active import AT_ONCE
from labeler.errors import BadInput, NotFound
from labeler.model import (
    ACTIVE_OF_TWO,
    ACTIVE_SOURCE,
    ASSIGNMENT_SOURCES,
    GRADES,
    UNJUDGED_OF_TWO,
    CurrentJudgment,
    Pair,
    Remark,
    Settings,
)
from labeler.services.assignment.items import (
    LONGEST_IN_LIST,
    LONGEST_TEXT,
    MOST_LISTED,
    MOST_OWN,
    DecisionWork,
    GradingItem,
    NextItems,
    OwnWork,
    QueryInfo,
    UndoableStep,
)
from labeler.services.assignment.pooling import Pool, TransferPool, repeats_due, shuffled_chunks
from labeler.services.assignment.scope import Scope
from labeler.services.late_copies import grade_late_copies
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
    """The assignment of pairs to all graders of one golden set; thread-safe.

    ``telling`` returns the pairs that decide most between two runs, the best first; ``opening`` is
    the cache of pairs that transfers leave open. ``decision`` returns the same pairs chosen by the
    newest grades, None where no decision is asked for.
    """

    def __init__(
        self,
        telling: Callable[[], Iterable[Pair]] = lambda: (),
        opening: OpenPairsCache | None = None,
        decision: Callable[[], DecisionWork | None] = lambda: None,
    ) -> None:
        self._telling, self._decision = telling, decision
        self._opening = opening or OpenPairsCache()
        self._lock = Lock()
        self._key: tuple[str, int] | None = None
        self._settings = Settings()
        self._pool = Pool({})
        self._graders: dict[str, _Grader] = {}
        self._leases = QueryLeases()
        self._scopes: dict[Scope, frozenset[str]] = {}
        self._rest: TransferPool | None = None
        self._revision = 0

    def next_for(
        self, store: Store, grader: str, limit: int, within: Scope | None = None
    ) -> tuple[NextItems, dict[str, QueryInfo]]:
        """Return the next ``limit`` pairs, and their queries, of one scope or of all queries.

        Graders at work at the same time get different queries, except for the shared ones. A
        query on which the grader left a remark is skipped. Raises `NotFound` for a scope without a
        query, and the errors of `OpenPairsCache.of`.
        """
        remarks = store.remarks.by(grader)
        between = None if within is None else within.between
        open_pairs = None if between is None else self._opening.of(store, *between)
        decides = open_pairs is None and store.settings.read().strategy == ACTIVE_OF_TWO
        if within is not None and within.until_decided:
            return self._next_deciding(store, grader, limit, within, remarks)
        ahead = self._telling() if decides else ()
        with self._lock:
            me = self._catch_up(store, grader)
            among = self._queries_in(store, within)
            transfer = None if open_pairs is None else self._pool_of_transfer(open_pairs)
            left = self._left(me, among, transfer)
            with self._leases.choosing(store, grader) as choice:
                pairs = self._pairs(choice, me, limit, among, remarks, ahead, transfer)
            repeats = self._repeats(me, pairs, among, remarks) if transfer is None else []
            main_source = ACTIVE_SOURCE if decides and choice.own.pairs else "pool"
            progress = self._progress(me, left, remarks)
            shown = transfer if self._settings.show_before else None
            stale = {pair for pair in pairs if self._pool.is_stale(pair)}
            judged = {pair: me.judged.get(pair) for pair in [*pairs, *repeats]}
            copies = {pair: len(self._pool.family(pair)) for pair in judged}
        contents = store.texts.items([*pairs, *repeats], LONGEST_TEXT)
        items = [
            GradingItem(
                content,
                source,
                pair in stale or _is_outdated(judged[pair]),
                judged[pair],
                hint=shown.hint(pair, content.text_hash) if shown else None,
                copies=copies[pair],
            )
            for pair, source in self._sources(pairs, repeats, main_source)
            if (content := contents.get(pair))
        ]
        store.exposure.note_told(grader, (_pair_ids(each) for each in items if each.hint))
        about = self.about(store, grader, items, remarks)
        if transfer is None or open_pairs is None:
            return replace(progress, papers=items), about
        about = {
            name: replace(each, total=transfer.totals.get(name, 0), left=left.get(name, 0))
            for name, each in about.items()
        }
        return replace(progress, papers=items, looked=open_pairs.share), about

    def left_for(self, store: Store, grader: str) -> NextItems:
        """Return how much is left to a grader in all, without any of it."""
        remarks = store.remarks.by(grader)
        with self._lock:
            me = self._catch_up(store, grader)
            return self._progress(me, self._left(me, None, None), remarks)

    def _next_deciding(
        self,
        store: Store,
        grader: str,
        limit: int,
        within: Scope,
        remarks: Mapping[str, Remark],
    ) -> tuple[NextItems, dict[str, QueryInfo]]:
        """Return the pairs that decide between two runs by the newest grades, and no others.

        How many are left is how many it likely takes. Raises `NotFound` where none are asked for.
        """
        work = self._decision()
        if work is None:
            raise NotFound("nothing is to be decided between two runs just now")
        with self._lock:
            me = self._catch_up(store, grader)
            among = self._queries_in(store, within)
            with self._leases.choosing(store, grader) as choice:
                taken = {pair for other in choice.others for pair in other.pairs}
                pairs = self._pool.telling(
                    *(me.seed, me.judged, work.pairs),
                    among=among,
                    without=remarks.keys(),
                    first=next(iter(choice.own.queries), None),
                    last=taken,
                    at_once=AT_ONCE,
                )[:limit]
                queries = dict.fromkeys(query_id for query_id, _ in pairs)
                choice.own = Lease(tuple(queries), frozenset(pairs))
            progress = self._progress(me, self._left(me, among, None), remarks)
            # at the same moment as they are chosen: what is graded meanwhile is not to come back
            known = {pair: self._known_of(pair, me) for pair in pairs}
        contents = store.texts.items(pairs, LONGEST_TEXT)
        items = [
            GradingItem(contents[pair], ACTIVE_SOURCE, stale, judged, copies=copies)
            for pair, (stale, judged, copies) in known.items()
            if pair in contents
        ]
        # of a query only a few chunks are asked for, so that nothing is said of the others
        about = {
            query_id: replace(each, total=0, left=0, mine=0)
            for query_id, each in self.about(store, grader, items, remarks).items()
        }
        left = max(work.likely, len(items)) if items else 0
        return replace(progress, papers=items, open=left, decision=work), about

    def _known_of(self, pair: Pair, me: _Grader) -> tuple[bool, CurrentJudgment | None, int]:
        """Return whether a pair is stale, the grader's judgment of it, how many copies it has."""
        judged = me.judged.get(pair)
        is_stale = self._pool.is_stale(pair) or _is_outdated(judged)
        return is_stale, judged, len(self._pool.family(pair))

    def _pool_of_transfer(self, open_pairs: OpenPairs) -> TransferPool:
        """Return the open pairs in the pool, sorted once for all requests.

        Raises `NotFound` where the strategy leaves all of them out.
        """
        if self._rest is None or not self._rest.is_of(self._pool, open_pairs):
            self._rest = TransferPool(self._pool, open_pairs)
        if self._settings.strategy == UNJUDGED_OF_TWO and not self._rest.pairs:
            raise NotFound(
                f"the strategy is {UNJUDGED_OF_TWO!r}, and no run of this chunking is A or B; "
                "choose another strategy in the settings"
            )
        return self._rest

    def _left(
        self, me: _Grader, among: frozenset[str] | None, transfer: TransferPool | None
    ) -> dict[str, int]:
        """Count the open pairs of each query in the grader's scope."""
        if transfer is not None:
            return transfer.left(me.judged, among)
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
        remarks: Mapping[str, Remark],
        ahead: Iterable[Pair],
        transfer: TransferPool | None,
    ) -> list[Pair]:
        leased = {query_id for other in choice.others for query_id in other.queries}
        taken = {query_id for query_id in leased if not self._pool.is_shared(query_id)}
        taken_pairs = {pair for other in choice.others for pair in other.pairs}
        first = next(iter(choice.own.queries), None)
        where: dict[str, Any] = {"among": among, "without": remarks.keys(), "first": first}
        if transfer is not None:
            ahead = transfer.pairs
            where |= {"at_once": transfer.at_once, "worth": transfer.worth}
        chosen = self._pool.telling(me.seed, me.judged, ahead, last=taken_pairs, **where)[:limit]
        pairs = chosen
        if not chosen and transfer is None:
            order = self._pool.in_order(me.seed, me.judged, last=taken, **where)
            pairs = list(islice(order, limit))
        queries = dict.fromkeys(query_id for query_id, _ in pairs)
        choice.own = Lease(tuple(queries), frozenset(chosen))
        return pairs

    def _repeats(
        self,
        me: _Grader,
        pairs: Sequence[Pair],
        among: frozenset[str] | None,
        remarks: Mapping[str, Remark],
    ) -> list[Pair]:
        """Return the repeats to mix in; none where too few other pairs are left to hide them."""
        if len(pairs) <= FIRST_REPEAT_AT:
            return []
        due = (
            pair
            for pair in repeats_due(me.seed, self._pool.firsts(me.judged))
            if pair in self._pool and pair[0] not in remarks and (among is None or pair[0] in among)
        )
        return list(islice(due, MOST_REPEATS))

    @staticmethod
    def _sources(pairs: list[Pair], repeats: list[Pair], source: str) -> list[tuple[Pair, str]]:
        """Return all pairs with their sources, repeats where the query changes or at the end."""
        placed = [(pair, source) for pair in pairs]
        for pair in repeats:
            at = next(
                (
                    at
                    for at in range(FIRST_REPEAT_AT, len(placed))
                    if placed[at][1] == source and placed[at][0][0] != placed[at - 1][0][0]
                ),
                len(placed),
            )
            placed.insert(at, (pair, "repeat"))
        return placed

    def _progress(
        self, me: _Grader, counts: Mapping[str, int], remarks: Mapping[str, Remark]
    ) -> NextItems:
        left = {name: 0 if name in remarks else count for name, count in counts.items()}
        done = {query_id for query_id, count in left.items() if not count}
        return NextItems(
            papers=(),
            saved=len(self._pool.firsts(me.judged)),
            open=sum(left.values()),
            queries_mine=len(done & ({query_id for query_id, _ in me.judged} | remarks.keys())),
            queries_done=len(done),
            queries_total=len(left),
            without_text=self._pool.without_text,
        )

    def whole(
        self, store: Store, grader: str, query_id: str, start: int = 0
    ) -> tuple[list[GradingItem], list[bool]]:
        """Return a query's pool in the grader's order from ``start`` on, at most `MOST_LISTED`.

        The second list tells for each chunk from ``start`` on whether the grader has judged it.
        Raises `NotFound` for a query that has no pool.
        """
        with self._lock:
            me = self._catch_up(store, grader)
            if query_id not in self._pool.queries():
                raise NotFound(f"no run has chunks for query {query_id!r}")
            chunks = shuffled_chunks(me.seed, query_id, self._pool.chunks(query_id))[start:]
            judged = [(query_id, chunk) in me.judged for chunk in chunks]
        pairs = [(query_id, chunk) for chunk in chunks[:MOST_LISTED]]
        return self._items(store, grader, pairs, "list"), judged

    def own_work(self, store: Store, grader: str, kind: str, start: int = 0) -> OwnWork:
        """Return a part of what a grader has graded, the newest first, and all of it counted.

        ``kind`` is ``all``, ``cannot_tell``, ``note`` or a grade; raises `BadInput` for another.
        """
        with self._lock:
            own = self._pool.firsts(self._catch_up(store, grader).judged)
        wanted = [(judged.number, pair) for pair, judged in own.items() if is_of(judged, kind)]
        wanted.sort(reverse=True)
        pairs = [pair for _, pair in wanted[start : start + MOST_OWN]]
        judged = own.values()
        return OwnWork(
            self._items(store, grader, pairs, "list"),
            found=len(wanted),
            by_grade=Counter(each.grade for each in judged if each.grade is not None),
            cannot_tell=sum(each.kind == "cannot_tell" for each in judged),
            with_note=sum(bool(each.note) for each in judged),
            queries=len({query_id for query_id, _ in own}),
        )

    def search(self, store: Store, grader: str, query_id: str, words: str) -> list[GradingItem]:
        """Return the chunks that match ``words`` best, to be graded for a query.

        Only chunkings of the query's runs are searched. Of chunks with the same text the first
        stands for all; that in the query's pool, if one is.
        """
        found = [
            (query_id, chunk) for chunk in store.texts.search(words, MOST_SEARCH_RESULTS, query_id)
        ]
        with self._lock:
            self._catch_up(store, grader)
            pooled = dict.fromkeys(map(self._pool.first, found))
        items = self._items(store, grader, list(pooled), "search")
        return _without_repeated_texts(items)

    def history(
        self, store: Store, grader: str, before: str | None = None, unsaid: str | None = None
    ) -> list[UndoableStep]:
        """Return the grader's latest steps that can be undone, the newest first.

        Only steps before the judgment ``before`` and the remark ``unsaid`` where these are given.
        Judgments and remarks are in two logs, so they are merged by their times.
        """
        judged = [
            (step[0].judgment.created_at or "", step)
            for step in self._undoable_judgments(store, grader, before)
        ]
        remarked = [
            (each.remark.created_at or "", each)
            for each in store.remarks.undoable(grader, UNDO_DEPTH, unsaid)
        ]
        steps: Iterable[tuple[str, UndoableStep]] = merge(
            judged, remarked, key=lambda at: at[0], reverse=True
        )
        return [step for _, step in islice(steps, UNDO_DEPTH)]

    def _undoable_judgments(
        self, store: Store, grader: str, before: str | None
    ) -> list[tuple[UndoableJudgment, GradingItem]]:
        done = store.assignment.undoable(grader, UNDO_DEPTH, before)
        pairs = dict.fromkeys((each.judgment.query_id, each.chunk) for each in done)
        items = {_pair_ids(each): each for each in self._items(store, grader, list(pairs), "pool")}
        return [
            (each, replace(item, source=_source_of(each)))
            for each in done
            if (item := items.get((each.judgment.query_id, each.judgment.chunk_id)))
        ]

    def found_by(self, store: Store, grader: str, query_id: str, chunk_id: str) -> int:
        """Return the number of runs that have a chunk, or a copy of it, in the pool of a query."""
        number = store.chunks.number(chunk_id)
        with self._lock:
            self._catch_up(store, grader)
            family = () if number is None else self._pool.family((query_id, number))
            return max((len(self._pool.ranks((query_id, each))) for each in family), default=0)

    def _items(
        self, store: Store, grader: str, pairs: Sequence[Pair], source: str
    ) -> list[GradingItem]:
        longest = LONGEST_TEXT if source == "pool" else LONGEST_IN_LIST
        contents = store.texts.items(pairs, longest)
        with self._lock:
            judged = self._catch_up(store, grader).judged
            return [
                GradingItem(
                    contents[pair],
                    source,
                    self._pool.is_stale(pair) or _is_outdated(judged.get(pair)),
                    judged.get(pair),
                    pair in self._pool,
                    copies=len(self._pool.family(pair)),
                    asked=pair in judged or self._pool.is_open(pair, judged),
                )
                for pair in pairs
                if pair in contents
            ]

    def about(
        self,
        store: Store,
        grader: str,
        items: Iterable[GradingItem],
        remarks: Mapping[str, Remark] | None = None,
    ) -> dict[str, QueryInfo]:
        """Return the queries of these items as the grader sees them."""
        remarks = store.remarks.by(grader) if remarks is None else remarks
        queries = {each.item.query.query_id: each.item.query for each in items}
        with self._lock:
            judged = self._catch_up(store, grader).judged
            hidden = not self._settings.show_reference
            return {
                query_id: QueryInfo(
                    replace(query, reference=None) if hidden else query,
                    len(self._pool.chunks(query_id)),
                    len(self._pool.open_in(query_id, judged)),
                    self._pool.count_judged(query_id, judged),
                    remarks.get(query_id),
                )
                for query_id, query in queries.items()
            }

    def _queries_in(self, store: Store, within: Scope | None) -> frozenset[str] | None:
        if within is None or within.has_every_query:
            return None
        if within not in self._scopes:
            self._scopes[within] = within.queries(store)
        return self._scopes[within]

    def _catch_up(self, store: Store, grader: str) -> _Grader:
        # Revisions are read before the data: if too old, the next request reads the data again.
        key = (store.golden_set.uuid(), store.golden_set.data_revision())
        newest = store.judgments.revision()
        if key != self._key or newest < self._revision:
            self._reload(store)
            self._key = key
        elif newest != self._revision:
            self._read_changes(store, newest)
        if grader not in self._graders:
            self._graders[grader] = _Grader(
                store.people.seed(grader), store.assignment.judged_by(grader)
            )
        return self._graders[grader]

    def _reload(self, store: Store) -> None:
        settings = store.settings.read()
        runs = settings.unjudged_of if settings.strategy == UNJUDGED_OF_TWO else None
        chunks, without_text = store.assignment.pool(settings.pool_depth, runs)
        copies = store.copies.in_pool(chunks)
        if copies:
            grade_late_copies(store)
        kinds, revision = store.assignment.golden_kinds()
        pool = Pool(
            chunks,
            without_text=without_text,
            overlap=settings.overlap,
            strategy=settings.strategy,
            copies=copies,
        )
        for pair, kind, stale in kinds:
            _update_pool(pool, pair, kind, stale)
        self._settings, self._pool, self._revision = settings, pool, revision
        self._graders, self._scopes, self._leases = {}, {}, QueryLeases()

    def _read_changes(self, store: Store, newest: int) -> None:
        for change in store.judgments.changes_since(self._revision):
            _update_pool(self._pool, (change.query_id, change.chunk), change.kind, change.stale)
        for grader, pair, judged in store.assignment.judged_since(self._revision):
            if grader not in self._graders:
                continue
            if judged is None:
                self._graders[grader].judged.pop(pair, None)
            else:
                self._graders[grader].judged[pair] = judged
        self._revision = newest


def _without_repeated_texts(items: Iterable[GradingItem]) -> list[GradingItem]:
    """Return the items, of those with the same text and title only one, a pooled one if any."""
    found: dict[tuple[str | None, str], GradingItem] = {}
    for each in items:
        key = each.item.text_hash, each.item.chunk.title or ""
        known = found.setdefault(key, each)
        if each.pooled and not known.pooled:
            found[key] = each
    return list(found.values())


def _update_pool(pool: Pool, pair: Pair, kind: str | None, stale: bool) -> None:
    if kind is None or stale:
        pool.reopen(pair, stale=stale)
    else:
        pool.settle(pair, by_grader=kind == "grade")


def _pair_ids(each: GradingItem) -> tuple[str, str]:
    return each.item.query.query_id, each.item.chunk.chunk_id


def _source_of(done: UndoableJudgment) -> str:
    source = done.judgment.source
    return source if source in (*ASSIGNMENT_SOURCES, ACTIVE_SOURCE) else "pool"


def _is_outdated(judged: CurrentJudgment | None) -> bool:
    return judged is not None and not judged.present


LEASE_SECONDS = 600.0  # how long a query stays with a grader who makes no more requests


@dataclass(slots=True)
class LeaseChoice:
    """A grader's lease, to be replaced by the next one, and the leases of the other graders."""

    own: Lease
    others: Sequence[Lease]


class QueryLeases:
    """The current lease of each grader; not thread-safe."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Lease, float]] = {}

    @contextmanager
    def choosing(self, store: Store, grader: str) -> Iterator[LeaseChoice]:
        """Choose a grader's next lease: the value of `LeaseChoice.own` at the end of the block.

        A lease ends `LEASE_SECONDS` after the grader's last request.
        """
        if store.assignment.is_shared:
            with store.assignment.choosing() as (leases, now):
                choice = _lease_choice(grader, leases, now)
                yield choice
                store.assignment.claim(grader, choice.own)
        else:
            now = time.monotonic()
            choice = _lease_choice(grader, self._kept, now)
            yield choice
            self._kept[grader] = choice.own, now


def _lease_choice(
    grader: str, leases: Mapping[str, tuple[Lease, float]], now: float
) -> LeaseChoice:
    own, _ = leases.get(grader, (Lease(), now))
    others = [
        lease for name, (lease, at) in leases.items() if name != grader and now - at < LEASE_SECONDS
    ]
    return LeaseChoice(own, others)


def is_of(judged: CurrentJudgment, kind: str) -> bool:
    """Tell whether a judgment is of a kind that a grader may look through.

    >>> is_of(CurrentJudgment("e1", 1, "grade", 0, None, "odd", False, True), "0")
    True
    """
    if kind == "note":
        return bool(judged.note)
    if kind == "cannot_tell":
        return judged.kind == "cannot_tell"
    if kind in map(str, GRADES):
        return judged.grade == int(kind)
    if kind != "all":
        raise BadInput(f"kind={kind} is not all, cannot_tell, note or a grade")
    return True
