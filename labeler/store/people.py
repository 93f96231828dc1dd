"""People: names, roles and invitations of graders, and the keys that browsers know them by.

Secrets are stored as hashes only. Only a new name changes the data revision, since no measure
depends on who is invited. A browser stores unsent grades under the grader's key, which stays the
same when the grader is renamed.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Literal

from labeler.errors import BadInput, NotFound
from labeler.model import check_id, check_name, name_key
from labeler.store.audit import Audit
from labeler.store.columns import DATABASE_NOW, moment
from labeler.store.connection import Connection

Role = Literal["grader", "lead"]
LOWER_CASE = str.maketrans(ascii_uppercase, ascii_lowercase)
VALID_INVITATIONS = """
SELECT g.name, g.role FROM invitations AS i JOIN graders AS g ON g.id = i.grader
WHERE i.revoked_at IS NULL
"""
# Every valid invitation; for a person without one, their last, if any.
ACCESS_OF_GRADERS = """
SELECT g.name, g.role, i.token_hash IS NOT NULL, i.address, i.created_at, i.revoked_at,
    i.issuer, i.expires_at, i.once, i.used_at
FROM graders AS g
LEFT JOIN invitations AS i ON i.grader = g.id AND (
    i.revoked_at IS NULL
    OR i.id = (SELECT max(id) FROM invitations WHERE grader = g.id) AND NOT EXISTS (
        SELECT 1 FROM invitations WHERE grader = g.id AND revoked_at IS NULL
    )
)
ORDER BY g.name, i.id
"""
# Whether a person can open another session: by a login, or by a link that still works.
CAN_SIGN_IN = f"""
SELECT 1 FROM invitations AS i WHERE i.revoked_at IS NULL AND i.grader = ? AND (
    i.address IS NOT NULL
    OR coalesce(i.expires_at > {DATABASE_NOW}, true) AND NOT (i.once = 1 AND i.used_at IS NOT NULL)
)
"""
LEADS = f"""
SELECT DISTINCT g.name FROM graders AS g WHERE g.role = 'lead' AND (
    EXISTS ({CAN_SIGN_IN.replace("?", "g.id")})
    OR EXISTS (
        SELECT 1 FROM sessions AS s JOIN invitations AS i ON i.id = s.invitation
        WHERE i.grader = g.id AND i.revoked_at IS NULL AND s.ended_at IS NULL
    )
)
ORDER BY g.name
"""
# When each grader signed in first, and last judged or began a session.
VISITS = """
WITH sessions_of AS (
    SELECT i.grader, min(s.created_at) AS first, max(s.created_at) AS last
    FROM sessions AS s JOIN invitations AS i ON i.id = s.invitation
    GROUP BY i.grader
),
used AS (
    SELECT grader, min(used_at) AS first FROM invitations WHERE used_at IS NOT NULL GROUP BY grader
),
judged AS (
    SELECT grader, max(created_at) AS last FROM judgments WHERE kind <> 'import' GROUP BY grader
)
SELECT g.name, coalesce(s.first, u.first), s.last, j.last
FROM graders AS g
LEFT JOIN sessions_of AS s ON s.grader = g.id
LEFT JOIN used AS u ON u.grader = g.id
LEFT JOIN judged AS j ON j.grader = g.id
"""
NEWEST_INVITATION = """
SELECT who, way FROM audit WHERE kind = 'invite' AND subject = ? ORDER BY id DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class GraderAccess:
    """How a grader signs in: by a link, by a login's ``address``, or (neither) not at all.

    A login counts only from its ``issuer``; where none was named, the first login sets it. A link
    stops working at ``expires_at``, and one that works ``once`` at ``used_at``.
    """

    name: str
    role: Role
    by_link: bool
    address: str | None
    since: str | None
    revoked_at: str | None
    issuer: str | None = None
    expires_at: str | None = None
    once: bool = False
    used_at: str | None = None

    @property
    def stands(self) -> bool:
        """Return whether the invitation is valid."""
        return self.since is not None and self.revoked_at is None


@dataclass(frozen=True, slots=True)
class GraderVisits:
    """When a grader signed in first, and when they last signed in or judged; None for never."""

    first: str | None
    last: str | None


@dataclass(frozen=True, slots=True)
class GraderIdentity:
    """A grader as their browser knows them: a new name does not change the ``key``."""

    name: str
    key: str


class People:
    """Adds, invites and renames graders, and reads who they are."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)

    def add(self, name: str, *, role: str = "lead") -> None:
        """Add a grader unless they are there; their role then stays.

        Every page calls this, so it writes only for a new grader.
        """
        check_id(name, "grader")
        if self._db.value("SELECT 1 FROM graders WHERE name = ?", [name]) is None:
            with self._db.translated():
                self.put(name, role)

    def put(self, name: str, role: str = "lead") -> None:
        """Add a grader unless they are there; only a new name must meet the present rules."""
        check_id(name, "grader")
        if self._db.value("SELECT 1 FROM graders WHERE name = ?", [name]) is None:
            check_name(name, "grader")
        self._db.execute(
            "INSERT INTO graders (name, role, seed) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [name, role, secrets.randbits(31)],
        )

    def seed(self, name: str) -> int:
        """Return the number that shuffles this grader's pool; raises `NotFound`."""
        seed = self._db.value("SELECT seed FROM graders WHERE name = ?", [name])
        if seed is None:
            raise NotFound(f"there is no grader named {name!r}")
        return int(seed)

    def rename(self, old: str, new: str) -> None:
        """Rename a grader; their judgments stay theirs.

        Raises `NotFound` for an unknown ``old``, `BadInput` where ``new`` is taken.
        """
        check_name(new, "grader")
        with self._db.writing():
            grader = self._grader(old)
            if self._db.value("SELECT 1 FROM graders WHERE name = ?", [new]):
                raise BadInput(f"there is a grader named {new!r} already; choose another name")
            self._db.execute("UPDATE graders SET name = ? WHERE id = ?", [new, grader])
            self._audit.put("rename", old, {"what": "grader", "to": new})

    def _grader(self, name: str) -> int:
        key = self._db.value("SELECT id FROM graders WHERE name = ?", [name])
        if key is None:
            raise NotFound(f"there is no grader named {name!r}; 'labeler people' lists all")
        return int(key)

    def invite(
        self,
        name: str,
        token_hash: str,
        *,
        role: Role | None = None,
        expires_at: datetime | None = None,
        once: bool = False,
    ) -> bool:
        """Invite a grader by the link whose secret has this hash, and end their older links.

        Adds a grader who is new. Without ``role`` an invited person keeps theirs, and anyone else
        becomes a grader. The link opens sessions until ``expires_at``, or only ``once``; the
        sessions stay open after that. Returns whether an older link ended, and its sessions with
        it.

        Raises `BadInput`, as `allow`, `revoke` and `change_role` do, where the last lead would be
        lost: nobody could then do anything but grade.
        """
        with self._keeping_a_lead():
            grader = self._receive(name, role)
            ended = self._revoke("grader = ? AND token_hash IS NOT NULL", grader)
            till = None if expires_at is None else moment(expires_at)
            self._add_invitation(grader, token_hash=token_hash, expires_at=till, once=int(once))
            self._note_invitation(name, "link", bool(ended), expires=till, once=once)
        return bool(ended)

    @contextmanager
    def _keeping_a_lead(self) -> Iterator[None]:
        with self._db.transaction():
            before = self.leads()
            yield
            if before and not self.leads():
                raise BadInput(
                    f"{before[0]!r} is the last lead who can sign in; make somebody else a lead "
                    "first: labeler change role NAME lead"
                )

    def _receive(self, name: str, role: Role | None) -> int:
        """Add a grader unless they are there, set their role and return their internal number."""
        keep = role is None and self.is_invited(name)
        self.put(name)
        grader = self._grader(name)
        if not keep:
            self._set_role(grader, role or "grader")
        return grader

    def _set_role(self, grader: int, role: Role) -> None:
        self._db.execute("UPDATE graders SET role = ? WHERE id = ?", [role, grader])

    def _revoke(self, where: str, value: int | str) -> int:
        ended = self._db.execute(
            f"UPDATE invitations SET revoked_at = ? WHERE revoked_at IS NULL AND {where}",
            [moment(), value],
        )
        return int(ended.rowcount)

    def _add_invitation(self, grader: int, **given: str | int | None) -> None:
        columns = {"grader": grader, "created_at": moment(), **given}
        self._db.execute(
            f"INSERT INTO invitations ({', '.join(columns)}) "
            f"VALUES ({', '.join('?' * len(columns))})",
            list(columns.values()),
        )

    def _note_invitation(self, name: str, way: str, ended: bool, **more: str | bool | None) -> None:
        role = self._db.value("SELECT role FROM graders WHERE name = ?", [name])
        limits = {what: value for what, value in more.items() if value}
        earlier = {"earlier": "ended"} if ended else {}
        self._audit.put("invite", name, {"role": role, "by": way, **limits, **earlier})

    def allow(
        self, name: str, address: str, *, role: Role | None = None, issuer: str | None = None
    ) -> bool:
        """Invite a grader by a login with this address, as `invite` does by a link.

        An address belongs to one person. The first login with it (at this ``issuer``, if one is
        named) binds the invitation to its subject. Returns whether it was already invited.
        """
        address = login_address(address)
        with self._keeping_a_lead():
            grader = self._receive(name, role)
            ended = self._revoke("address = ?", address)
            self._add_invitation(grader, address=address, issuer=issuer)
            self._note_invitation(name, address, bool(ended), issuer=issuer)
        return bool(ended)

    def revoke(self, name: str) -> int:
        """End every invitation of a grader and return how many there were.

        Raises `NotFound` for an unknown grader, `BadInput` for one who is not invited.
        """
        with self._keeping_a_lead():
            ended = self._revoke("grader = ?", self._grader(name))
            if not ended:
                raise BadInput(f"{name!r} has no valid invitation; 'labeler people' lists all")
            self._audit.put("revoke", name)
        return ended

    def revoke_everyone(self) -> int:
        """End every invitation and return how many; nobody has to sign in after that."""
        with self._db.transaction():
            ended = self._revoke("?", True)
            self._audit.put("revoke", None, {"everyone": ended})
        return ended

    def change_role(self, name: str, role: Role) -> None:
        """Make an invited person a lead or a grader; their links and logins stay.

        Raises `NotFound` for an unknown grader, `BadInput` for one who is not invited, as a role
        only matters to those who can sign in.
        """
        with self._keeping_a_lead():
            grader = self._grader(name)
            if not self.is_invited(name):
                raise BadInput(
                    f"{name!r} is not invited; say what they may open when you invite them: "
                    f"labeler invite {shlex.quote(name)} --role {role}"
                )
            self._set_role(grader, role)
            self._audit.put("role", name, {"role": role})

    def leads(self) -> list[str]:
        """Return the names of the leads who can sign in, or are signed in."""
        return [name for (name,) in self._db.rows(LEADS)]

    def is_invited(self, name: str) -> bool:
        """Return whether this grader has a valid invitation."""
        return bool(self._db.value(f"SELECT EXISTS ({VALID_INVITATIONS} AND g.name = ?)", [name]))

    def has_invitations(self, role: Role | None = None) -> bool:
        """Return whether anyone (with this role) is invited."""
        sql = f"SELECT EXISTS ({VALID_INVITATIONS} AND coalesce(g.role = ?, true))"
        return bool(self._db.value(sql, [role]))

    def invited_at(self, address: str) -> tuple[str, Role] | None:
        """Return name and role of the person invited by a login with this address."""
        rows = self._db.rows(f"{VALID_INVITATIONS} AND i.address = ?", [lower_ascii(address)])
        return rows[0] if rows else None

    def inviter_of(self, name: str) -> str | None:
        """Return who invited a grader last, None if nobody did or it was done in a terminal."""
        newest = self._db.rows(NEWEST_INVITATION, [name])
        return newest[0][0] if newest and newest[0][1] != "terminal" else None

    def ways_in(self) -> list[GraderAccess]:
        """Return how each grader signs in, by name; one with a link and a login is there twice."""
        return [access_from_row(row) for row in self._db.rows(ACCESS_OF_GRADERS)]

    def visits(self) -> dict[str, GraderVisits]:
        """Return by name when each grader first signed in, and last signed in or judged."""
        return {
            name: GraderVisits(first, max(filter(None, (signed_in, judged)), default=None))
            for name, first, signed_in, judged in self._db.rows(VISITS)
        }

    def names_like(self, name: str) -> list[str]:
        """Return the graders with this name, ignoring case and blanks."""
        key = name_key(name)
        known = [other for (other,) in self._db.rows("SELECT name FROM graders ORDER BY name")]
        return [other for other in known if name_key(other) == key]

    def giver(self, name: str) -> GraderIdentity:
        """Return a grader's name and key; raises `NotFound`."""
        rows = self._db.rows("SELECT id, seed FROM graders WHERE name = ?", [name])
        if not rows:
            raise NotFound(f"there is no grader named {name!r}")
        return GraderIdentity(name, self._key_of(*rows[0]))

    def _key_of(self, number: int, seed: int) -> str:
        # Every copy of the file gives the same key. Because of the seed, a grader who is added to
        # an older copy under the same number gets another key.
        uuid = json.loads(self._db.value("SELECT value FROM settings WHERE key = 'golden_set'"))
        named = f"{uuid} {number} {seed}"
        return hashlib.sha256(named.encode()).hexdigest()[:16]

    def giver_with(self, key: str) -> str | None:
        """Return the name of the grader whose key this is, None where nobody has it."""
        rows = self._db.rows("SELECT name, id, seed FROM graders")
        return next((name for name, *row in rows if self._key_of(*row) == key), None)


def access_from_row(row: Sequence[Any]) -> GraderAccess:
    """Build a `GraderAccess` from its columns."""
    name, role, by_link, address, since, revoked_at, issuer, expires_at, once, used_at = row
    standing = (address, since, revoked_at, issuer, expires_at)
    return GraderAccess(name, role, bool(by_link), *standing, bool(once), used_at)


def login_address(address: str) -> str:
    """Return a login's address as stored; raises `BadInput` for anything else.

    >>> login_address(" Ann@Example.org")
    'ann@example.org'
    """
    plain = lower_ascii(address.strip())
    name, at, host = plain.partition("@")
    if not (name and at and host) or plain.split() != [plain]:
        raise BadInput(f"a login's address looks like ann@example.org, not {address!r}")
    return check_name(plain, "login")


def lower_ascii(address: str) -> str:
    """Return an address in lower case for comparison; only A to Z are changed.

    >>> lower_ascii("Ann@Example.org"), lower_ascii("\u212aate@example.org")
    ('ann@example.org', '\u212aate@example.org')
    """
    return address.translate(LOWER_CASE)
