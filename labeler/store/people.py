"""Graders: who may come in, as what, and which lists they saw; makes no secrets, keeps hashes.

Nothing here moves the data revision but a new name: no measure depends on who is invited.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from labeler.errors import BadInput, NotFound
from labeler.model import check_name
from labeler.store.columns import moment
from labeler.store.log import JudgmentLog

Role = Literal["grader", "lead"]

STANDING = """
SELECT g.name, g.role FROM invitations AS i JOIN graders AS g ON g.id = i.grader
WHERE i.revoked_at IS NULL
"""
# Every standing way in; for a person who has none the last one they had, if any.
WAYS_IN = """
SELECT g.name, g.role, i.token_hash IS NOT NULL, i.address, i.created_at, i.revoked_at
FROM graders AS g
LEFT JOIN invitations AS i ON i.grader = g.id AND (
    i.revoked_at IS NULL
    OR i.id = (SELECT max(id) FROM invitations WHERE grader = g.id) AND NOT EXISTS (
        SELECT 1 FROM invitations WHERE grader = g.id AND revoked_at IS NULL
    )
)
ORDER BY g.name, i.id
"""


@dataclass(frozen=True, slots=True)
class WayIn:
    """How a grader comes in: by a link, by a login's ``address``, or (neither) not at all."""

    name: str
    role: Role
    by_link: bool
    address: str | None
    since: str | None
    revoked_at: str | None

    @property
    def stands(self) -> bool:
        """Say whether they can come in this way."""
        return self.since is not None and self.revoked_at is None


class People(JudgmentLog):
    """Graders' names and roles, and how each of them comes in."""

    def invite(self, name: str, token_hash: str, *, role: Role | None = None) -> bool:
        """Let a grader in by the link whose secret has this hash; their older links end.

        Makes the grader known if they are new. Without ``role`` one who is invited keeps theirs
        and anyone else becomes a grader. Returns whether an older link has ended.

        No change here, in `allow`, `revoke` or `change_role` may leave nobody who is lead where
        somebody was: the last one would be locked out of everything but grading.
        """
        with self._keeping_a_lead():
            grader = self._receive(name, role)
            ended = self._revoke("grader = ? AND token_hash IS NOT NULL", grader)
            self._add_invitation(grader, token_hash=token_hash)
            self._note_invitation(name, "link", bool(ended))
        return bool(ended)

    def allow(self, name: str, address: str, *, role: Role | None = None) -> bool:
        """Let a grader in by a login with this address, as `invite` does by a link.

        An address belongs to one person. Returns whether it was on the list already.
        """
        address = check_address(address)
        with self._keeping_a_lead():
            grader = self._receive(name, role)
            ended = self._revoke("address = ?", address)
            self._add_invitation(grader, address=address)
            self._note_invitation(name, address, bool(ended))
        return bool(ended)

    def revoke(self, name: str) -> int:
        """End every invitation of a grader and return how many there were.

        Raises `NotFound` for a grader who is not known, `BadInput` for one who is not invited.
        """
        with self._keeping_a_lead():
            ended = self._revoke("grader = ?", self._grader(name))
            if not ended:
                raise BadInput(
                    f"{name!r} has no invitation that stands; 'labeler people' lists all"
                )
            self._note("revoke", name)
        return ended

    def revoke_everyone(self) -> int:
        """End every invitation and return how many there were: the door is open as at first."""
        with self._transaction():
            ended = self._revoke("?", True)
            self._note("revoke", None, {"everyone": ended})
        return ended

    def change_role(self, name: str, role: Role) -> None:
        """Make an invited person a lead, or a grader again; their links and logins stay.

        Raises `NotFound` for a grader who is not known, `BadInput` for one who is not invited: a
        role says what somebody may open who comes in.
        """
        with self._keeping_a_lead():
            grader = self._grader(name)
            if not self.is_invited(name):
                raise BadInput(
                    f"{name!r} is not invited; say what they may open when you invite them: "
                    f"labeler invite {shlex.quote(name)} --role {role}"
                )
            self._set_role(grader, role)
            self._note("role", name, {"role": role})

    def leads(self) -> list[str]:
        """Return the names of the leads who can come in."""
        return [name for name, role in self._rows(f"{STANDING} ORDER BY g.name") if role == "lead"]

    @contextmanager
    def _keeping_a_lead(self) -> Iterator[None]:
        with self._transaction():
            before = self.leads()
            yield
            if before and not self.leads():
                raise BadInput(
                    f"{before[0]!r} is the last lead who can come in; make somebody else lead "
                    "first: labeler change role NAME lead"
                )

    def rename_grader(self, old: str, new: str) -> None:
        """Give a grader another name; everything they judged stays theirs.

        Raises `NotFound` where there is no ``old`` and `BadInput` where there is a ``new``.
        """
        check_name(new, "grader")
        with self._writing():
            grader = self._grader(old)
            if self._value("SELECT 1 FROM graders WHERE name = ?", [new]):
                raise BadInput(f"there is a grader named {new!r} already; choose another name")
            self._db.execute("UPDATE graders SET name = ? WHERE id = ?", [new, grader])
            self._note("rename", old, {"what": "grader", "to": new})

    def ways_in(self) -> list[WayIn]:
        """Return how each grader comes in, by name; one with a link and a login is there twice."""
        return [
            WayIn(name, role, bool(by_link), address, since, revoked_at)
            for name, role, by_link, address, since, revoked_at in self._rows(WAYS_IN)
        ]

    def note_lists_seen(self, grader: str, query_id: str) -> None:
        """Remember that a query's ranked lists were shown to a grader, who is made known.

        Writes only where it is new: what somebody opens again and again costs a read.
        """
        if self.has_seen_lists(grader, query_id):
            return
        self.add_grader(grader)
        with self._translated():
            self._db.execute(
                "INSERT INTO lists_seen (query, grader, seen_at) SELECT q.id, g.id, ? "
                "FROM queries AS q, graders AS g WHERE q.query_id = ? AND g.name = ? "
                "ON CONFLICT DO NOTHING",
                [moment(), query_id, grader],
            )

    def has_seen_lists(self, grader: str, query_id: str) -> bool:
        """Say whether a query's ranked lists were ever shown to a grader."""
        return bool(
            self._value(
                "SELECT EXISTS (SELECT 1 FROM lists_seen WHERE "
                "query = (SELECT id FROM queries WHERE query_id = ?) AND "
                "grader = (SELECT id FROM graders WHERE name = ?))",
                [query_id, grader],
            )
        )

    def has_invitations(self, role: Role | None = None) -> bool:
        """Say whether anyone (with this role) is invited."""
        sql = f"SELECT EXISTS ({STANDING} AND coalesce(g.role = ?, 1))"
        return bool(self._value(sql, [role]))

    def is_invited(self, name: str) -> bool:
        """Say whether an invitation of this grader stands."""
        return bool(self._value(f"SELECT EXISTS ({STANDING} AND g.name = ?)", [name]))

    def invited_with(self, token_hash: str) -> tuple[str, Role] | None:
        """Return name and role of whoever's link has a secret with this hash."""
        rows = self._rows(f"{STANDING} AND i.token_hash = ?", [token_hash])
        return rows[0] if rows else None

    def invited_at(self, address: str) -> tuple[str, Role] | None:
        """Return name and role of whoever comes in by a login with this address."""
        rows = self._rows(f"{STANDING} AND i.address = ?", [address.lower()])
        return rows[0] if rows else None

    def _receive(self, name: str, role: Role | None) -> int:
        """Make a grader known, give them their role and return their key."""
        keep = role is None and self.is_invited(name)
        self._add_grader(name)
        grader = self._grader(name)
        if not keep:
            self._set_role(grader, role or "grader")
        return grader

    def _note_invitation(self, name: str, way: str, ended: bool) -> None:
        role = self._value("SELECT role FROM graders WHERE name = ?", [name])
        earlier = {"earlier": "ended"} if ended else {}
        self._note("invite", name, {"role": role, "by": way, **earlier})

    def _set_role(self, grader: int, role: Role) -> None:
        self._db.execute("UPDATE graders SET role = ? WHERE id = ?", [role, grader])

    def _grader(self, name: str) -> int:
        key = self._value("SELECT id FROM graders WHERE name = ?", [name])
        if key is None:
            raise NotFound(f"there is no grader named {name!r}; 'labeler people' lists all")
        return int(key)

    def _revoke(self, where: str, value: int | str) -> int:
        return self._db.execute(
            f"UPDATE invitations SET revoked_at = ? WHERE revoked_at IS NULL AND {where}",
            [moment(), value],
        ).rowcount

    def _add_invitation(
        self, grader: int, *, token_hash: str | None = None, address: str | None = None
    ) -> None:
        self._db.execute(
            "INSERT INTO invitations (grader, token_hash, address, created_at) VALUES (?, ?, ?, ?)",
            [grader, token_hash, address, moment()],
        )


def check_address(address: str) -> str:
    """Return a login's address as stored, in lower case; raises `BadInput` for anything else.

    >>> check_address(" Ann@Example.org")
    'ann@example.org'
    """
    plain = address.strip().lower()
    name, at, host = plain.partition("@")
    if not (name and at and host) or plain.split() != [plain]:
        raise BadInput(f"a login's address looks like ann@example.org, not {address!r}")
    return check_name(plain, "login")
