"""Who may come in and who may do what: the rules; knows no widgets, no requests and no SQL.

The door is open where labeler serves the one machine it runs on: everyone is lead and says their
own name. It is closed from the first invitation on, with a login, and on an address that others
can reach; then a person is who their link or their login says, and what they may do is read from
the golden set each time, so that taking an invitation back works at once.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from labeler import tokens
from labeler.errors import LabelerError
from labeler.model import check_name
from labeler.store import Store
from labeler.store.people import Role
from labeler.tokens import Forbidden

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PERSON_COOKIE = "labeler_person"
PROMISE = "promise"  # the parameter of a link that is not yet a key
ANY_HOST, OPEN, LOGIN, GRADERS_ONLY = (
    "LABELER_ANY_HOST",
    "LABELER_OPEN",
    "LABELER_LOGIN",
    "LABELER_GRADERS_ONLY",
)
PROVIDER_KEYS = ("client_id", "client_secret", "server_metadata_url")
DEFAULT_PROVIDER = "default"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who has come in; ``name`` is None until they have said it, at an open door."""

    name: str | None
    role: Role
    known_by: Literal["name", "link", "login"]

    @property
    def is_lead(self) -> bool:
        """Say whether everything is open to them."""
        return self.role == "lead"


@dataclass(frozen=True, slots=True)
class Claims:
    """What a visitor brings: the name they gave, a link's secret, the address of their login."""

    name: str | None = None
    secret: str | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Door:
    """How the server was started: ``labeler serve`` says it in the environment."""

    reachable: bool = False
    allows_anyone: bool = False
    login: bool = False
    graders_only: bool = False

    @classmethod
    def of_this_server(cls) -> Door:
        """Return what the environment says."""
        said = (os.environ.get(name) == "1" for name in (ANY_HOST, OPEN, LOGIN, GRADERS_ONLY))
        return cls(*said)

    def is_closed(self, store: Store) -> bool:
        """Say whether a visitor needs an invitation or a login."""
        if self.allows_anyone:
            return False
        return self.reachable or self.login or store.has_invitations()

    def visitor(self, store: Store, claims: Claims) -> Person | None:
        """Return who a visitor is, None for one who may not come in.

        With ``graders_only`` nobody is lead here, whatever they are elsewhere.
        """
        person = self._recognised(store, claims)
        if person is None or not self.graders_only:
            return person
        return Person(person.name, "grader", person.known_by)

    def _recognised(self, store: Store, claims: Claims) -> Person | None:
        if not self.is_closed(store):
            return Person(_usable(claims.name), "lead", "name")
        if claims.secret:
            found = store.invited_with(hash_of(claims.secret))
            if found is not None:
                return Person(*found, "link")
        if claims.address and self.login:
            found = store.invited_at(claims.address)
            if found is not None:
                return Person(*found, "login")
        return None


def _usable(name: str | None) -> str | None:
    try:
        return check_name(name.strip(), "grader") if name else None
    except LabelerError:
        return None


def check_may_grade(store: Store, grader: str) -> None:
    """Raise `Forbidden` unless ``grader`` may grade in this golden set now."""
    if Door.of_this_server().is_closed(store) and not store.is_invited(grader):
        raise Forbidden(
            f"{grader} is not invited, or not any more; ask whoever runs this for a new link"
        )


@dataclass(frozen=True, slots=True)
class Key:
    """A lead's own next key: the secret of a link, and the promise that it opens when used."""

    secret: str
    promise: str


def promise_key(store: Store, name: str) -> Key:
    """Return a key that lets ``name`` in as lead from the moment their own browser uses it.

    Nothing has happened before that: whoever closes the door is inside when it falls shut, and
    whoever wants another link keeps the old one until the new one is at work.
    """
    secret = new_secret()
    given = store.signing_key(), store.golden_set_uuid(), check_name(name, "grader")
    return Key(secret, tokens.promise(*given, hash_of(secret)))


def keep_promise(store: Store, key: Key) -> None:
    """Let in whom the key was promised, as lead; do nothing where it is in use already.

    Raises `Forbidden` for a promise that is too old or somebody else's, and where others have been
    invited in the meantime and the person is no lead among them.
    """
    hashed = hash_of(key.secret)
    name = tokens.promised(key.promise, store.signing_key(), store.golden_set_uuid(), hashed)
    if store.invited_with(hashed) is not None:
        return
    if store.has_invitations() and name not in store.leads():
        raise Forbidden("somebody else has closed the door meanwhile; ask them for a link")
    store.invite(name, hashed, role="lead")


def invite(store: Store, name: str, role: Role | None = None) -> tuple[str, bool]:
    """Let a person in by a link, see `Store.invite`; return its secret, and if another ended."""
    secret = new_secret()
    return secret, store.invite(name, hash_of(secret), role=role)


def new_secret() -> str:
    """Return a secret for a link, too long to be guessed."""
    return secrets.token_urlsafe(32)


def hash_of(secret: str) -> str:
    """Return what is stored of a secret: enough to know it again, too little to come in with.

    A plain hash does, as the secret is random and long; a password would need a slow one.
    """
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def address_of(user: Mapping[str, Any]) -> str | None:
    """Return the address a login vouches for, in lower case; None where it vouches for none.

    >>> address_of({"email": "Ann@example.org"})
    'ann@example.org'
    >>> address_of({"email": "ann@example.org", "email_verified": False})
    """
    email = user.get("email")
    # some providers write the flag as a text
    confirmed = str(user.get("email_verified", True)).lower() != "false"
    return email.strip().lower() if isinstance(email, str) and confirmed else None


def providers(auth: Mapping[str, Any]) -> list[str]:
    """Return the names of the login providers in an ``[auth]`` section of Streamlit's secrets.

    >>> providers({"client_id": "me", "client_secret": "s", "server_metadata_url": "u"})
    ['default']
    >>> providers({"redirect_uri": "u", "google": {"client_id": "me"}})
    ['google']
    """
    named = [name for name, part in auth.items() if isinstance(part, Mapping) and is_provider(part)]
    return [DEFAULT_PROVIDER, *named] if is_provider(auth) else named


def is_provider(section: Mapping[str, Any]) -> bool:
    """Say whether a section names any of the things a provider needs."""
    return any(key in section for key in PROVIDER_KEYS)
