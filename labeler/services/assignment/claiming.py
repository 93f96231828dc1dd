"""Who is at what just now, so that no two people are asked for the same; knows no pool.

A server of its own golden set keeps it in memory, for as long as it runs. Where several servers
hand out of one database it is there, known to all of them, and they choose one after another.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from labeler.store import Claim, Store

CLAIM_SECONDS = 600.0  # how long a query stays with a grader who asks for nothing more


@dataclass(slots=True)
class Choice:
    """What a grader was handed before, to be replaced by what they get; what others are at."""

    own: Claim
    others: Sequence[Claim]


class Claims:
    """What was handed to whom; to be asked from one thread at a time."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Claim, float]] = {}

    @contextmanager
    def choosing(self, store: Store, grader: str) -> Iterator[Choice]:
        """Let a grader be handed something; what `Choice.own` then is, is theirs after the block.

        A claim of somebody who asks for nothing more ends after `CLAIM_SECONDS`.
        """
        if store.is_shared:
            with store.choosing() as (claims, now):
                choice = _choice(grader, claims, now)
                yield choice
                store.claim(grader, choice.own)
        else:
            now = time.monotonic()
            choice = _choice(grader, self._kept, now)
            yield choice
            self._kept[grader] = choice.own, now


def _choice(grader: str, claims: Mapping[str, tuple[Claim, float]], now: float) -> Choice:
    own, _ = claims.get(grader, (Claim(), now))
    others = [
        claim for name, (claim, at) in claims.items() if name != grader and now - at < CLAIM_SECONDS
    ]
    return Choice(own, others)
