"""Signatures of the pairs assigned to a grader, checked when a grade is sent back.

The browser is not trusted: the signature says which grader was assigned a pair, why, and with
which text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labeler.errors import BadInput
from labeler.model import ACTIVE_SOURCE
from labeler.services.assignment.items import GradingItem
from labeler.store import ADJUDICATION, Store
from labeler.web.auth.tokens import PairSignatures


class PairSigner:
    """Signs the pairs this server assigns to one grader, and verifies the events they send."""

    def __init__(self, store: Store, grader: str) -> None:
        self._store = store
        self._grader = store.people.giver(grader)
        self._signatures = PairSignatures(store.golden_set.signing_key(), store.golden_set.uuid())

    def slip(self, entry: GradingItem) -> str:
        """Return the signature sent with a pair."""
        query_id, chunk_id = entry.item.query.query_id, entry.item.chunk.chunk_id
        return self._signatures.sign(
            self._grader.key, query_id, chunk_id, entry.item.text_hash, entry.source
        )

    def sign_for_adjudication(self, query_id: str, chunk_id: str, text_hash: str | None) -> str:
        """Return the signature sent with a pair to adjudicate."""
        return self._signatures.sign(ADJUDICATION, self._grader.key, query_id, chunk_id, text_hash)

    def verify_adjudicated_pair(self, event: Mapping[str, Any]) -> str | None:
        """Return the text hash of an adjudicated chunk, None if it had no text.

        Raises `BadInput` for a pair that was not sent for adjudication.
        """
        names = (event.get("by"), event.get("query"), event.get("chunk"), event.get("text_hash"))
        if not self._signatures.holds(event.get("slip"), ADJUDICATION, *names):
            raise BadInput(
                "this server did not show you what graders gave this chunk, or not with this text; "
                "open Review > Disagreements and decide there"
            )
        text_hash = event.get("text_hash")
        return None if text_hash is None else str(text_hash)

    def check_sender(self, event: Mapping[str, Any]) -> None:
        """Raise `BadInput` for an event of a grader other than the sender.

        A grader keeps their key when renamed. If no grader has the key, the person's row was
        created again, for example after an older backup was restored: then the name decides.
        """
        key, name = event.get("by"), event.get("grader")
        if key == self._grader.key:
            return
        owner = self._store.people.giver_with(key) if isinstance(key, str) else None
        if key is None or owner is not None or name != self._grader.name:
            raise BadInput(f"this was given by {owner or name!r}, not by {self._grader.name!r}")

    def verify_pair(self, event: Mapping[str, Any]) -> tuple[str, str | None]:
        """Return why a grader was assigned a pair, and its text hash, None if unknown.

        Only the signature records that a pair decides between two runs: the pad gets ``pool`` as
        its source. Raises `BadInput` for a pair that the grader was not assigned.
        """
        source, text_hash = event.get("source"), event.get("text_hash")
        names = (event.get("by"), event.get("query"), event.get("chunk"), text_hash)
        for actual in [source, ACTIVE_SOURCE] if source == "pool" else [source]:
            if self._signatures.holds(event.get("slip"), *names, actual):
                return str(actual), text_hash
        raise BadInput(
            "this server did not hand you this passage for this question, or not with this text; "
            "open the question and grade it there"
        )
