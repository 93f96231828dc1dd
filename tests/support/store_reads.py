"""What tests alone ask of a store."""

from __future__ import annotations

from labeler.model import Suggestion
from labeler.store import Store
from labeler.store.hash_chain import Seal
from labeler.store.people import Role
from labeler.store.tamper_check import ChainReport, HashChain


def invited_with(store: Store, token_hash: str) -> tuple[str, Role] | None:
    """Return name and role of whoever has a link whose secret has this hash."""
    link = store.sessions.link(token_hash)
    return link and (link.name, link.role)


def check_seals(store: Store) -> ChainReport:
    """Look at every event whether it is as it was sealed."""
    return HashChain(store.connection.conn).check()


def differs_from(store: Store, kept: Seal) -> str | None:
    """Say how the logs differ from what they were when a seal was kept, if they do."""
    return HashChain(store.connection.conn).differs_from(kept)


def all_suggestions(store: Store) -> list[Suggestion]:
    """Return every suggested grade of queries in use."""
    queries = [each.query_id for each in store.queries.all()]
    return [each for query_id in queries for each in store.suggestions.proposals_of(query_id)]
