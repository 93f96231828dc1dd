"""Sessions: who is signed in, by which invitation; of session tokens only hashes are stored.

A session is opened by a link, or once by each login. It ends with its invitation, after a year,
or when its person signs out.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from labeler.model import Actor
from labeler.store.audit import Audit
from labeler.store.columns import moment
from labeler.store.connection import Connection
from labeler.store.people import CAN_SIGN_IN, Role

LONGEST_SESSION = timedelta(days=365)
# A provider's clock may be a little behind: a login it dates so is not one from before.
CLOCK_TOLERANCE = timedelta(minutes=2)
LOGIN_REUSE_PERIOD = timedelta(minutes=1)
KEPT_AFTER_END = timedelta(
    days=60
)  # a provider's cookie is good for 30: what it has opened is known
MOST_SESSIONS = 50  # of one invitation; the oldest end
FAR_FUTURE = "9999"  # later than any moment
VALID_SESSION = """
SELECT i.grader, g.name, g.role, i.address IS NOT NULL
FROM sessions AS s
JOIN invitations AS i ON i.id = s.invitation
JOIN graders AS g ON g.id = i.grader
WHERE s.token_hash = ? AND s.ended_at IS NULL AND i.revoked_at IS NULL AND s.created_at > ?
"""
LINK_BY_HASH = """
SELECT i.id, g.name, g.role, i.expires_at, i.once = 1 AND i.used_at IS NOT NULL
FROM invitations AS i JOIN graders AS g ON g.id = i.grader
WHERE i.revoked_at IS NULL AND i.token_hash = ?
"""
# Who is known by issuer and subject is that person, whatever their address is now.
INVITED_BY_LOGIN = """
SELECT i.id, g.name, g.role, i.subject
FROM invitations AS i JOIN graders AS g ON g.id = i.grader
WHERE i.revoked_at IS NULL AND coalesce(i.left_at < :before, true) AND (
    i.issuer = :issuer AND i.subject = :subject
    OR i.address = :address AND i.subject IS NULL AND coalesce(i.issuer = :issuer, true)
)
ORDER BY i.subject IS NULL LIMIT 1
"""
LOGIN_USED = """
SELECT 1 FROM sessions WHERE login = ? AND (ended_at IS NOT NULL OR created_at < ?) LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Session:
    """A session that goes on: the internal key, name and role of whose it is."""

    grader: int
    name: str
    role: Role
    by_login: bool


@dataclass(frozen=True, slots=True)
class InvitationLink:
    """A link whose invitation stands: whose it is, and why it may open nothing any more."""

    name: str
    role: Role
    expired: bool = False
    used_up: bool = False

    @property
    def works(self) -> bool:
        """Say whether it opens a session now."""
        return not (self.expired or self.used_up)


@dataclass(frozen=True, slots=True)
class Login:
    """Who a login provider says somebody is: the ``subject`` of its ``issuer``.

    ``address`` is their e-mail address if it is confirmed; ``fingerprint`` tells this login from
    every other of theirs, ``at`` is when it was.
    """

    issuer: str
    subject: str
    address: str | None
    fingerprint: str
    at: datetime


class Sessions:
    """Opens, finds and ends sessions."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)

    def get(self, token_hash: str) -> Session | None:
        """Return the session with this token, None where it has ended."""
        since = moment(datetime.now(UTC) - LONGEST_SESSION)
        rows = self._db.rows(VALID_SESSION, [token_hash, since])
        for grader, name, role, by_login in rows:
            return Session(grader, name, role, bool(by_login))
        return None

    def link(self, token_hash: str) -> InvitationLink | None:
        """Return the link whose secret has this hash, None where its invitation has ended."""
        rows = self._db.rows(LINK_BY_HASH, [token_hash])
        if not rows:
            return None
        _, name, role, expires_at, used_up = rows[0]
        return InvitationLink(
            name, role, expires_at is not None and expires_at <= moment(), bool(used_up)
        )

    def was_link(self, token_hash: str) -> bool:
        """Say whether the secret with this hash was ever a link, also of an ended invitation."""
        sql = "SELECT EXISTS (SELECT 1 FROM invitations WHERE token_hash = ?)"
        return bool(self._db.value(sql, [token_hash]))

    def invited_by_login(self, login: Login) -> tuple[str, Role] | None:
        """Return name and role of whom a login lets in, if it has not opened a session before."""
        if self.has_opened(login):
            return None
        rows = self._db.rows(INVITED_BY_LOGIN, login_parameters(login))
        return (rows[0][1], rows[0][2]) if rows else None

    def open_by_link(self, link_hash: str, token_hash: str) -> bool:
        """Open a session by a link; a link for once is used up by it. Say whether it was opened."""
        with self._db.transaction():
            link = self.link(link_hash)
            if link is None or not link.works:
                return False
            invitation = self._db.value(LINK_BY_HASH, [link_hash])
            self._db.execute(
                "UPDATE invitations SET used_at = ? WHERE id = ?", [moment(), invitation]
            )
            self._add_session(invitation, token_hash)
            self._note_as(self.get(token_hash), "sign_in")
        return True

    def _add_session(self, invitation: int, token_hash: str, login: str | None = None) -> None:
        """Open a session and let go of those that are too old or too many."""
        self._db.execute(
            "INSERT INTO sessions (invitation, token_hash, login, created_at) VALUES (?, ?, ?, ?)",
            [invitation, token_hash, login, moment()],
        )

        old = moment(datetime.now(UTC) - KEPT_AFTER_END)
        self._db.execute("DELETE FROM sessions WHERE ended_at < ?", [old])
        self._db.execute(
            "UPDATE sessions SET ended_at = ? WHERE invitation = ? AND ended_at IS NULL AND id <= ("
            "SELECT id FROM sessions WHERE invitation = ? AND ended_at IS NULL "
            "ORDER BY id DESC LIMIT 1 OFFSET ?)",
            [moment(), invitation, invitation, MOST_SESSIONS],
        )

    def _note_as(self, person: Session | None, kind: str, subject: str | None = None) -> None:
        """Add to the audit what somebody does who is known by the session they open or end."""
        if person is None:
            return
        address = self._db.actor.address if self._db.actor else None
        self._db.actor = Actor(person.name, "login" if person.by_login else "link", address)
        self._audit.put(kind, subject)

    def open_by_login(self, login: Login, token_hash: str) -> bool:
        """Open a session by a login and say whether it was opened.

        The first login with an address on the list makes the invitation its issuer's subject.
        """
        with self._db.transaction():
            if self.invited_by_login(login) is None:
                return False
            invitation = self._db.value(INVITED_BY_LOGIN, login_parameters(login))
            self._db.execute(
                "UPDATE invitations SET issuer = ?, subject = ?, used_at = ? WHERE id = ?",
                [login.issuer, login.subject, moment(), invitation],
            )
            self._add_session(invitation, token_hash, login.fingerprint)
            self._note_as(self.get(token_hash), "sign_in", login.address or login.subject)
        return True

    def knows(self, login: Login) -> bool:
        """Say whether a login is of somebody on the list, who may have logged out everywhere."""
        return bool(
            self._db.rows(INVITED_BY_LOGIN, {**login_parameters(login), "before": FAR_FUTURE})
        )

    def has_opened(self, login: Login) -> bool:
        """Say whether a login has opened its session and opens none any more.

        For a moment it does: a browser may open several tabs at once.
        """
        since = moment(datetime.now(UTC) - LOGIN_REUSE_PERIOD)
        return bool(self._db.value(LOGIN_USED, [login.fingerprint, since]))

    def end(self, token_hash: str) -> None:
        """End a session: its person has logged out here."""
        with self._db.transaction():
            self._note_as(self.get(token_hash), "sign_out")
            self._end_sessions("token_hash = ?", token_hash)

    def _end_sessions(self, where: str, value: int | str) -> None:
        self._db.execute(
            f"UPDATE sessions SET ended_at = ? WHERE ended_at IS NULL AND {where}",
            [moment(), value],
        )

    def end_all_of(self, token_hash: str) -> None:
        """End every session of the person whose session it is: they have logged out everywhere."""
        with self._db.transaction():
            found = self.get(token_hash)
            if found is None:
                return
            self._note_as(found, "sign_out", "everywhere")
            self._end_sessions(
                "invitation IN (SELECT id FROM invitations WHERE grader = ?)", found.grader
            )
            self._db.execute(
                "UPDATE invitations SET left_at = ? WHERE grader = ?",
                [moment(), found.grader],
            )

    def can_come_again(self, token_hash: str) -> bool:
        """Say whether the person of a session could come in again, did they log out."""
        found = self.get(token_hash)
        return found is not None and bool(
            self._db.value(f"SELECT EXISTS ({CAN_SIGN_IN})", [found.grader])
        )


def login_parameters(login: Login) -> dict[str, str | None]:
    """Return what a login is looked up by."""
    return {
        "issuer": login.issuer,
        "subject": login.subject,
        "address": login.address,
        "before": moment(login.at + CLOCK_TOLERANCE),
    }
