"""Access rules: who a visitor is, whether they may sign in, and what they may do.

While labeler serves only the machine it runs on, access is open: everyone is lead and types their
own name. Access is closed from the first invitation on, with a login provider, and on an address
that others can reach. Then a person is identified by their link or login, and their role is read
from the golden set for each request, so that revoking an invitation works at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from labeler.errors import LabelerError
from labeler.model import Actor, check_name
from labeler.store import Login, Store
from labeler.store.people import Role, lower_ascii
from labeler.web.auth import tokens
from labeler.web.auth.tokens import Forbidden

SESSION_COOKIE = "labeler_session"
SECURE_COOKIE = f"__Host-{SESSION_COOKIE}"  # browsers accept it only over https
PROMISE = "promise"  # the parameter of a link that is promised but not yet used
ANY_HOST, OPEN = "LABELER_ANY_HOST", "LABELER_OPEN"
LOGIN, GRADERS_ONLY = "LABELER_LOGIN", "LABELER_GRADERS_ONLY"
TRUSTED_ISSUERS = "LABELER_TRUSTED_ISSUERS"
MOST_SENT, BYTES_PER_MINUTE = "LABELER_BYTES_PER_MINUTE", 5_000_000  # some thousand grades
PROVIDER_KEYS = ("client_id", "client_secret", "server_metadata_url")
DEFAULT_PROVIDER = "default"


@dataclass(frozen=True, slots=True)
class Person:
    """A visitor with access; ``name`` is None until they have typed it, with open access."""

    name: str | None
    role: Role
    known_by: Literal["name", "link", "login"]

    @property
    def is_lead(self) -> bool:
        return self.role == "lead"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What identifies a visitor: a typed name, a session token, or a provider's login."""

    name: str | None = None
    session: str | None = None
    login: Login | None = None


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """The access settings of the server, as ``labeler serve`` sets them in the environment."""

    reachable: bool = False
    allows_anyone: bool = False
    login: bool = False
    graders_only: bool = False
    trusted_issuers: frozenset[str] = frozenset()

    @classmethod
    def from_environment(cls) -> AccessPolicy:
        flags = (os.environ.get(name) == "1" for name in (ANY_HOST, OPEN, LOGIN, GRADERS_ONLY))
        reachable, allows_anyone, login, graders_only = flags
        trusted = frozenset(os.environ.get(TRUSTED_ISSUERS, "").split())
        return cls(reachable, allows_anyone, login, graders_only, trusted)

    def is_closed(self, store: Store) -> bool:
        """Return whether a visitor needs an invitation or a login."""
        if self.allows_anyone:
            return False
        return self.reachable or self.login or store.people.has_invitations()

    def visitor(self, store: Store, credentials: Credentials) -> Person | None:
        """Return who a visitor is, None for one without access.

        With ``graders_only`` nobody is lead on this server, whatever their role.
        """
        person = self._recognised(store, credentials)
        if person is None or not self.graders_only:
            return person
        return Person(person.name, "grader", person.known_by)

    def _recognised(self, store: Store, credentials: Credentials) -> Person | None:
        if not self.is_closed(store):
            return Person(_usable_name(credentials.name), "lead", "name")
        person = self.in_session(store, credentials)
        return person or self.logged_in(store, credentials)

    def in_session(self, store: Store, credentials: Credentials) -> Person | None:
        """Return the person of a visitor's session; a login's session needs a login provider."""
        found = (
            store.sessions.get(hash_secret(credentials.session)) if credentials.session else None
        )
        if found is None or (found.by_login and not self.login):
            return None
        return Person(found.name, found.role, "login" if found.by_login else "link")

    def logged_in(self, store: Store, credentials: Credentials) -> Person | None:
        """Return the person of a login that has not opened a session yet."""
        if credentials.login is None or not self.login:
            return None
        found = store.sessions.invited_by_login(credentials.login)
        return None if found is None else Person(*found, "login")


def _usable_name(name: str | None) -> str | None:
    try:
        return check_name(name.strip(), "grader") if name else None
    except LabelerError:
        return None


def check_may_grade(store: Store, grader: str) -> None:
    """Raise `Forbidden` unless ``grader`` may grade in this golden set now."""
    if AccessPolicy.from_environment().is_closed(store) and not store.people.is_invited(grader):
        raise Forbidden(
            f"{grader} is not invited, or not any more; ask the person who invited you for a new "
            "link"
        )


def check_may_lead(store: Store, name: str) -> None:
    """Raise `Forbidden` unless ``name`` is a lead at this server now."""
    policy = AccessPolicy.from_environment()
    if policy.graders_only or (policy.is_closed(store) and name not in store.people.leads()):
        raise Forbidden("this is for leads; ask one of them")


@dataclass(frozen=True, slots=True)
class LeadLink:
    """The secret of a lead's own next link, and the signed promise that it works once used."""

    secret: str
    promise: str


def promise_lead_link(store: Store, name: str) -> LeadLink:
    """Return a link that makes ``name`` a lead once their own browser uses it.

    Until then nothing changes: a lead who closes access is signed in when it closes, and one who
    wants another link keeps the old one until the new one is used.
    """
    secret = new_secret()
    promise_of = store.golden_set.signing_key(), store.golden_set.uuid(), check_name(name, "grader")
    return LeadLink(secret, tokens.sign_promise(*promise_of, hash_secret(secret)))


def promised_name(store: Store, key: LeadLink) -> str:
    """Return whom a link was promised to; raise `Forbidden` if that is too old or not ours."""
    promise_of = store.golden_set.signing_key(), store.golden_set.uuid(), hash_secret(key.secret)
    return tokens.read_promise(key.promise, *promise_of)


def redeem_promise(store: Store, key: LeadLink) -> None:
    """Invite the person a link was promised to as lead; do nothing if the link was used before.

    Raises `Forbidden` for a promise that is too old or not for this link, and if people have been
    invited in the meantime and the person is not a lead.
    """
    if store.sessions.was_link(hash_secret(key.secret)):
        return
    name = promised_name(store, key)
    if store.people.has_invitations() and name not in store.people.leads():
        raise Forbidden("somebody else has invited people in the meantime; ask them for a link")
    store.connection.actor = Actor(
        name, "link", store.connection.actor.address if store.connection.actor else None
    )
    store.people.invite(name, hash_secret(key.secret), role="lead")


def invite(
    store: Store,
    name: str,
    role: Role | None = None,
    *,
    lasts: timedelta | None = None,
    once: bool = False,
) -> tuple[str, bool]:
    """Invite a person by a link; return its secret, and whether an earlier link ended.

    ``lasts`` is how long the link opens sessions; without it, as long as the invitation exists.
    See `People.invite`.
    """
    secret = new_secret()
    expires_at = None if lasts is None else datetime.now(UTC) + lasts
    ended = store.people.invite(
        name, hash_secret(secret), role=role, expires_at=expires_at, once=once
    )
    return secret, ended


def session_by_link(store: Store, secret: str) -> str | None:
    """Open a session by a link and return its token, None if the link does not work."""
    token = new_secret()
    return token if store.sessions.open_by_link(hash_secret(secret), hash_secret(token)) else None


def session_by_login(store: Store, login: Login) -> str | None:
    """Open a session by a login and return its token, None if it has no access."""
    token = new_secret()
    return token if store.sessions.open_by_login(login, hash_secret(token)) else None


def log_out(store: Store, token: str, *, everywhere: bool = False) -> None:
    """End the session with this token, or all sessions of its person."""
    if everywhere:
        store.sessions.end_all_of(hash_secret(token))
    else:
        store.sessions.end(hash_secret(token))


def new_secret() -> str:
    """Return a random secret for a link or session, too long to be guessed."""
    return secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    """Return the hash of a secret to store: it recognises the secret, but cannot sign in.

    A plain hash is enough, as the secret is random and long; a password would need a slow one.
    """
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def confirmed_address(user: Mapping[str, Any], trusted: Collection[str] = ()) -> str | None:
    """Return a login's confirmed e-mail address, with A to Z in lower case; None without one.

    The provider has to say that it is confirmed. Some never say; they count if the issuer is
    ``trusted``.

    >>> confirmed_address({"email": "Ann@example.org", "email_verified": True})
    'ann@example.org'
    >>> confirmed_address({"email": "ann@example.org", "iss": "https://id.example"})
    >>> confirmed_address({"email": "ann@example.org", "iss": "https://id.example"}, ["https://id.example"])
    'ann@example.org'
    """
    email, confirmed = user.get("email"), user.get("email_verified")
    if confirmed is None:
        confirmed = user.get("iss") in trusted
    # some providers send the flag as text
    is_confirmed = confirmed is True or confirmed in ("true", "True")
    return lower_ascii(email) if isinstance(email, str) and is_confirmed else None


def login_from_user(user: Mapping[str, Any], trusted: Collection[str] = ()) -> Login | None:
    """Return a provider's user as a `Login`, None if issuer or subject is missing."""
    issuer, subject, at = user.get("iss"), user.get("sub"), user.get("iat")
    if not (isinstance(issuer, str) and isinstance(subject, str) and issuer and subject):
        return None
    whole = json.dumps(user, sort_keys=True)
    moment = datetime.fromtimestamp(at if isinstance(at, int | float) else 0, UTC)
    return Login(issuer, subject, confirmed_address(user, trusted), hash_secret(whole), moment)


def provider_names(auth: Mapping[str, Any]) -> list[str]:
    """Return the names of the login providers in an ``[auth]`` section of Streamlit's secrets.

    >>> provider_names({"client_id": "me", "client_secret": "s", "server_metadata_url": "u"})
    ['default']
    >>> provider_names({"redirect_uri": "u", "google": {"client_id": "me"}})
    ['google']
    """
    named = [name for name, part in auth.items() if isinstance(part, Mapping) and is_provider(part)]
    return [DEFAULT_PROVIDER, *named] if is_provider(auth) else named


def is_provider(section: Mapping[str, Any]) -> bool:
    """Return whether a section has any of the keys a provider needs."""
    return any(key in section for key in PROVIDER_KEYS)
