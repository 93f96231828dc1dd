"""People who have come in, for tests that need no door: an invitation, and a session by it."""

from __future__ import annotations

from labeler.store import Store
from labeler.store.people import Role
from labeler.web.auth.access import SESSION_COOKIE, hash_secret


def let_in(store: Store, name: str, token: str, role: Role | None = None) -> dict[str, str]:
    """Invite somebody by a link with this secret, open a session with it as token; its cookie."""
    store.people.invite(name, hash_secret(token), role=role)
    assert store.sessions.open_by_link(hash_secret(token), hash_secret(token))
    return {SESSION_COOKIE: token}
