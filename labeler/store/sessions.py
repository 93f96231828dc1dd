"""Sessions: who is signed in, by which invitation.

A link or a login opens a session, each login only one. A session ends with its invitation, after a
year, or when its person signs out. Only hashes of session tokens are stored.
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
# A provider's clock may be behind: its login then seems older than the last sign-out.
CLOCK_TOLERANCE = timedelta(minutes=2)
LOGIN_REUSE_PERIOD = timedelta(minutes=1)
KEPT_AFTER_END = timedelta(
    days=60
)  # a provider's cookie lives 30 days, and must not open a second session
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
# Issuer and subject identify a person, even after their address has changed.
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
    """A session that has not ended, and its grader's internal key, name and role."""

    grader: int
    name: str
    role: Role
    by_login: bool


@dataclass(frozen=True, slots=True)
class InvitationLink:
    """A link with a valid invitation: its grader, and whether it has expired or is used up."""

    name: str
    role: Role
    expired: bool = False
    used_up: bool = False

    @property
    def works(self) -> bool:
        """Return whether it opens a session now."""
        return not (self.expired or self.used_up)


@dataclass(frozen=True, slots=True)
class Login:
    """Who a login provider says somebody is: the ``subject`` of its ``issuer``.

    ``address`` is their e-mail address if it is confirmed. ``fingerprint`` differs for each login,
    ``at`` is the time of this one.
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
        """Return whether a link ever had the secret with this hash; ended invitations count."""
        sql = "SELECT EXISTS (SELECT 1 FROM invitations WHERE token_hash = ?)"
        return bool(self._db.value(sql, [token_hash]))

    def invited_by_login(self, login: Login) -> tuple[str, Role] | None:
        """Return the name and role of a login's person, None if not invited or already used."""
        if self.has_opened(login):
            return None
        rows = self._db.rows(INVITED_BY_LOGIN, login_parameters(login))
        return (rows[0][1], rows[0][2]) if rows else None

    def open_by_link(self, link_hash: str, token_hash: str) -> bool:
        """Open a session by a link, which uses up a one-time link; return whether it was opened."""
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
        """Open a session; delete those that ended long ago, and end the oldest of too many."""
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
        """Note a sign-in or sign-out in the audit, under the person of the session."""
        if person is None:
            return
        address = self._db.actor.address if self._db.actor else None
        self._db.actor = Actor(person.name, "login" if person.by_login else "link", address)
        self._audit.put(kind, subject)

    def open_by_login(self, login: Login, token_hash: str) -> bool:
        """Open a session by a login; return whether it was opened.

        The first login with an invited address binds the invitation to its issuer and subject.
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
        """Return whether a login's person is invited, even if they signed out everywhere since."""
        return bool(
            self._db.rows(INVITED_BY_LOGIN, {**login_parameters(login), "before": FAR_FUTURE})
        )

    def has_opened(self, login: Login) -> bool:
        """Return whether a login has opened a session and opens no more.

        For a minute it still opens more: a browser may open several tabs at once.
        """
        since = moment(datetime.now(UTC) - LOGIN_REUSE_PERIOD)
        return bool(self._db.value(LOGIN_USED, [login.fingerprint, since]))

    def end(self, token_hash: str) -> None:
        """End a session, as its person signs out here."""
        with self._db.transaction():
            self._note_as(self.get(token_hash), "sign_out")
            self._end_sessions("token_hash = ?", token_hash)

    def _end_sessions(self, where: str, value: int | str) -> None:
        self._db.execute(
            f"UPDATE sessions SET ended_at = ? WHERE ended_at IS NULL AND {where}",
            [moment(), value],
        )

    def end_all_of(self, token_hash: str) -> None:
        """End every session of a session's person, as they sign out everywhere."""
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
        """Return whether the person of a session could sign in again after signing out."""
        found = self.get(token_hash)
        return found is not None and bool(
            self._db.value(f"SELECT EXISTS ({CAN_SIGN_IN})", [found.grader])
        )


def login_parameters(login: Login) -> dict[str, str | None]:
    """Return the parameters that look up a login."""
    return {
        "issuer": login.issuer,
        "subject": login.subject,
        "address": login.address,
        "before": moment(login.at + CLOCK_TOLERANCE),
    }
