"""Access rules: who a visitor is, whether they may sign in, and what they may do.

While labeler serves only the machine it runs on, access is open: everyone is lead and says
their own name. Access is closed from the first invitation on, with a login provider, and on an
address that others can reach. Then a person is who their link or login says, and their role is
read from the golden set each time, so that revoking an invitation works at once.
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
from labeler.model import check_name
from labeler.store import Login, Store
from labeler.store.people import Role, lower_ascii
from labeler.web.auth import tokens
from labeler.web.auth.tokens import Forbidden

SESSION_COOKIE = "labeler_session"
SECURE_COOKIE = f"__Host-{SESSION_COOKIE}"  # a browser takes it over https alone
FORMER_COOKIE = "labeler_person"  # held the secret of a link, until links opened sessions
PROMISE = "promise"  # the parameter of a link that is not yet a key
ANY_HOST, OPEN, LOGIN, GRADERS_ONLY = (
    "LABELER_ANY_HOST",
    "LABELER_OPEN",
    "LABELER_LOGIN",
    "LABELER_GRADERS_ONLY",
)
TRUSTED_ISSUERS = "LABELER_TRUSTED_ISSUERS"
MOST_SENT, BYTES_PER_MINUTE = "LABELER_BYTES_PER_MINUTE", 5_000_000  # some thousand grades
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
class Credentials:
    """What a visitor brings: the name they gave, a session's token, what a provider says of them.

    ``secret`` is a link's, in the cookie of an earlier version.
    """

    name: str | None = None
    session: str | None = None
    secret: str | None = None
    login: Login | None = None


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """How the server was started: ``labeler serve`` says it in the environment."""

    reachable: bool = False
    allows_anyone: bool = False
    login: bool = False
    graders_only: bool = False
    trusted_issuers: frozenset[str] = frozenset()

    @classmethod
    def from_environment(cls) -> AccessPolicy:
        """Return what the environment says."""
        said = (os.environ.get(name) == "1" for name in (ANY_HOST, OPEN, LOGIN, GRADERS_ONLY))
        reachable, allows_anyone, login, graders_only = said
        trusted = frozenset(os.environ.get(TRUSTED_ISSUERS, "").split())
        return cls(reachable, allows_anyone, login, graders_only, trusted)

    def is_closed(self, store: Store) -> bool:
        """Say whether a visitor needs an invitation or a login."""
        if self.allows_anyone:
            return False
        return self.reachable or self.login or store.has_invitations()

    def visitor(self, store: Store, claims: Credentials) -> Person | None:
        """Return who a visitor is, None for one who may not come in.

        With ``graders_only`` nobody is lead here, whatever they are elsewhere.
        """
        person = self._recognised(store, claims)
        if person is None or not self.graders_only:
            return person
        return Person(person.name, "grader", person.known_by)

    def _recognised(self, store: Store, claims: Credentials) -> Person | None:
        if not self.is_closed(store):
            return Person(_usable_name(claims.name), "lead", "name")
        inside = self.in_session(store, claims)
        if inside is None and claims.secret:
            found = store.invited_by_cookie(hash_secret(claims.secret))
            inside = None if found is None else Person(*found, "link")
        return inside or self.logged_in(store, claims)

    def in_session(self, store: Store, claims: Credentials) -> Person | None:
        """Return whose session a visitor brings; one by a login counts where there is a login."""
        found = store.session(hash_secret(claims.session)) if claims.session else None
        if found is None or (found.by_login and not self.login):
            return None
        return Person(found.name, found.role, "login" if found.by_login else "link")

    def logged_in(self, store: Store, claims: Credentials) -> Person | None:
        """Return whom a login lets in that has not opened a session yet."""
        if claims.login is None or not self.login:
            return None
        found = store.invited_by_login(claims.login)
        return None if found is None else Person(*found, "login")


def _usable_name(name: str | None) -> str | None:
    try:
        return check_name(name.strip(), "grader") if name else None
    except LabelerError:
        return None


def check_may_grade(store: Store, grader: str) -> None:
    """Raise `Forbidden` unless ``grader`` may grade in this golden set now."""
    if AccessPolicy.from_environment().is_closed(store) and not store.is_invited(grader):
        raise Forbidden(
            f"{grader} is not invited, or not any more; ask whoever runs this for a new link"
        )


def check_may_lead(store: Store, name: str) -> None:
    """Raise `Forbidden` unless ``name`` is a lead at this server now."""
    door = AccessPolicy.from_environment()
    if door.graders_only or (door.is_closed(store) and name not in store.leads()):
        raise Forbidden("this is for leads; ask one of them")


@dataclass(frozen=True, slots=True)
class LeadLink:
    """A lead's own next key: the secret of a link, and the promise that it opens when used."""

    secret: str
    promise: str


def promise_lead_link(store: Store, name: str) -> LeadLink:
    """Return a key that lets ``name`` in as lead from the moment their own browser uses it.

    Nothing has happened before that: whoever closes the door is inside when it falls shut, and
    whoever wants another link keeps the old one until the new one is at work.
    """
    secret = new_secret()
    given = store.signing_key(), store.golden_set_uuid(), check_name(name, "grader")
    return LeadLink(secret, tokens.sign_promise(*given, hash_secret(secret)))


def promised_name(store: Store, key: LeadLink) -> str:
    """Return whom a key was promised; raises `Forbidden` where it is too old, or was not."""
    given = store.signing_key(), store.golden_set_uuid(), hash_secret(key.secret)
    return tokens.read_promise(key.promise, *given)


def redeem_promise(store: Store, key: LeadLink) -> None:
    """Let in whom the key was promised, as lead; do nothing where it is in use already.

    Raises `Forbidden` for a promise that is too old or somebody else's, and where others have been
    invited in the meantime and the person is no lead among them.
    """
    name = promised_name(store, key)
    if store.invited_with(hash_secret(key.secret)) is not None:
        return
    if store.has_invitations() and name not in store.leads():
        raise Forbidden("somebody else has closed the door meanwhile; ask them for a link")
    store.invite(name, hash_secret(key.secret), role="lead")


def invite(
    store: Store,
    name: str,
    role: Role | None = None,
    *,
    lasts: timedelta | None = None,
    once: bool = False,
) -> tuple[str, bool]:
    """Let a person in by a link, see `Store.invite`; return its secret, and if another ended.

    ``lasts`` is how long from now it opens sessions; without it, as long as the invitation stands.
    """
    secret = new_secret()
    expires_at = None if lasts is None else datetime.now(UTC) + lasts
    ended = store.invite(name, hash_secret(secret), role=role, expires_at=expires_at, once=once)
    return secret, ended


def session_by_link(store: Store, secret: str) -> str | None:
    """Open a session by a link and return its token, None where the link opens none (any more)."""
    token = new_secret()
    return token if store.open_by_link(hash_secret(secret), hash_secret(token)) else None


def session_by_login(store: Store, login: Login) -> str | None:
    """Open a session by a login and return its token, None where it lets nobody in (any more)."""
    token = new_secret()
    return token if store.open_by_login(login, hash_secret(token)) else None


def log_out(store: Store, token: str, *, everywhere: bool = False) -> None:
    """End the session with this token, or all of its person's, in whatever browser."""
    if everywhere:
        store.end_sessions_with(hash_secret(token))
    else:
        store.end_session(hash_secret(token))


def new_secret() -> str:
    """Return a secret for a link, too long to be guessed."""
    return secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    """Return what is stored of a secret: enough to know it again, too little to come in with.

    A plain hash does, as the secret is random and long; a password would need a slow one.
    """
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def confirmed_address(user: Mapping[str, Any], trusted: Collection[str] = ()) -> str | None:
    """Return the address a login vouches for, A to Z in small letters; None where for none.

    The provider has to say that it is confirmed, unless its issuer is ``trusted`` and says
    nothing of that: some never do.

    >>> confirmed_address({"email": "Ann@example.org", "email_verified": True})
    'ann@example.org'
    >>> confirmed_address({"email": "ann@example.org", "iss": "https://id.example"})
    >>> confirmed_address({"email": "ann@example.org", "iss": "https://id.example"}, ["https://id.example"])
    'ann@example.org'
    """
    email, confirmed = user.get("email"), user.get("email_verified")
    if confirmed is None:
        confirmed = user.get("iss") in trusted
    # some providers write the flag as a text
    counts = confirmed is True or confirmed in ("true", "True")
    return lower_ascii(email) if isinstance(email, str) and counts else None


def login_from_user(user: Mapping[str, Any], trusted: Collection[str] = ()) -> Login | None:
    """Return who a provider says a visitor is, None where it does not say so in full."""
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
    """Say whether a section names any of the things a provider needs."""
    return any(key in section for key in PROVIDER_KEYS)
