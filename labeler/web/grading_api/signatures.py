"""Signatures of the pairs handed to a grader, checked when a grade comes back.

The browser is not believed: which grader was handed a pair, why, and with which text, is read
from the signature.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from labeler.errors import BadInput
from labeler.model import ACTIVE_SOURCE, ASSIGNMENT_SOURCES
from labeler.services.assignment.items import GradingItem
from labeler.store import ADJUDICATION, Store
from labeler.web.auth.tokens import PairSignatures

TEXT_HASH = re.compile("[0-9a-f]{32}")  # as the store fingerprints a text


class PairSigner:
    """What this server hands one grader, and gets back from them."""

    def __init__(self, store: Store, grader: str) -> None:
        self._store = store
        self._giver = store.giver(grader)
        self._slips = PairSignatures(store.signing_key(), store.golden_set_uuid())

    def slip(self, paper: GradingItem) -> str:
        """Return the signature that goes out with a pair."""
        query_id, chunk_id = paper.item.query.query_id, paper.item.chunk.chunk_id
        return self._slips.sign(
            self._giver.key, query_id, chunk_id, paper.item.text_hash, paper.source
        )

    def sign_for_adjudication(self, query_id: str, chunk_id: str, wording: str | None) -> str:
        """Return the signature that goes out with a pair that is to be adjudicated."""
        return self._slips.sign(ADJUDICATION, self._giver.key, query_id, chunk_id, wording)

    def verify_adjudicated_pair(self, event: Mapping[str, Any]) -> str | None:
        """Return which wording of a chunk was adjudicated, None where it had no text.

        Raises `BadInput` for a pair that was not handed out to be adjudicated.
        """
        names = (event.get("by"), event.get("query"), event.get("chunk"), event.get("text_hash"))
        if not self._slips.holds(event.get("slip"), ADJUDICATION, *names):
            raise BadInput(
                "this server did not show you what graders gave this chunk, or not with this text; "
                "open Review > Disagreements and decide there"
            )
        wording = event.get("text_hash")
        return None if wording is None else str(wording)

    def check_sender(self, event: Mapping[str, Any]) -> None:
        """Raise `BadInput` for what somebody else did in the browser that sends it.

        A key stays its grader's through every rename. One that nobody has is of a person whose row
        was made anew, as when an older backup was restored: then the name tells. What waits from
        the version before has no key, and the name its grader had then.
        """
        key, name = event.get("by"), event.get("grader")
        if key == self._giver.key or (key is None and name == self._giver.known_as):
            return
        owner = self._store.giver_with(key) if isinstance(key, str) else None
        if key is None and name == self._giver.name:
            raise BadInput(
                "an earlier version of labeler kept this, and nobody can tell any more how it "
                "came about; grade it again"
            )
        if key is None or owner is not None or name != self._giver.name:
            raise BadInput(f"this was given by {owner or name!r}, not by {self._giver.name!r}")

    def verify_pair(self, event: Mapping[str, Any]) -> tuple[str, str | None]:
        """Return why a grader had a pair and which wording of it, None where nobody knows.

        That a pair was to decide between two runs stands in its signature alone: the pad was told
        that it came from the pool.

        Raises `BadInput` for a pair that they were not handed.
        """
        source, wording = event.get("source"), event.get("text_hash")
        if event.get("slip") is None and event.get("by") is None:
            is_wording = isinstance(wording, str) and TEXT_HASH.fullmatch(wording)
            return (
                source if source in ASSIGNMENT_SOURCES else "pool",
                wording if is_wording else None,
            )
        names = (event.get("by"), event.get("query"), event.get("chunk"), wording)
        for true in [source, ACTIVE_SOURCE] if source == "pool" else [source]:
            if self._slips.holds(event.get("slip"), *names, true):
                return str(true), wording
        raise BadInput(
            "this server did not hand you this chunk for this query, or not with this text; "
            "open the query and grade it there"
        )
