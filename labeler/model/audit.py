"""Entries of the audit log: who did what, and how that person was identified."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

IdentifiedBy = Literal["link", "login", "name", "terminal", "unknown"]

LONGEST_DETAIL = 80  # characters of one value, where people read it

# What is audited, and how people say it.
AUDIT_KINDS: Mapping[str, str] = {
    "sign_in": "signed in",
    "sign_out": "signed out",
    "refuse": "refused",
    "invite": "invited",
    "revoke": "revoked",
    "role": "role changed",
    "rename": "renamed",
    "load": "loaded",
    "carry": "grades carried over",
    "uncarry": "carry-over taken back",
    "export": "exported",
    "freeze": "golden set frozen",
    "settings": "settings changed",
    "change": "run changed",
    "drop": "run dropped",
    "drop_answers": "answers dropped",
    "drop_signals": "signals dropped",
    "split": "splits assigned",
    "add": "query added",
    "edit": "query edited",
    "candidate": "question set aside",
    "leak": "query marked as leaked",
    "unleak": "query no longer marked as leaked",
    "retire": "query retired",
    "restore": "query restored",
    "adjudicate": "adjudicated",
    "backup": "backed up",
    "put_back": "backup restored",
}


# How somebody was known, as people say it.
IDENTIFICATION_LABELS: Mapping[str, str] = {
    "link": "by link",
    "login": "by login",
    "name": "name as typed",
    "terminal": "in a terminal",
    "unknown": "",
}


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something, and how that is known.

    By their ``link``, their ``login``, the ``name`` they gave at an open door, or as the user of
    a ``terminal`` of the machine. ``address`` is the network's, as the server saw it. ``who`` is
    None where nobody said it.
    """

    who: str | None
    way: IdentifiedBy
    address: str | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing that was done, or refused ``count`` times within a minute; never a secret.

    ``at`` is UTC; ``who`` is the name they had then; ``subject`` what it was done to; ``detail``
    what else is to be known of it.
    """

    at: str
    kind: str
    who: str | None
    way: str
    address: str | None
    subject: str | None
    detail: Mapping[str, Any]
    count: int

    @property
    def by(self) -> str:
        """Who it was, for people."""
        return self.who or (
            "somebody without a name" if IDENTIFICATION_LABELS.get(self.way) else "a stranger"
        )

    @property
    def more(self) -> str:
        """The detail on one line, for people; what is long is cut.

        >>> AuditEntry("", "settings", "Ann", "link", None, "rel", {"rel": [1, 2]}, 1).more
        'rel: 1 → 2'
        """
        return " · ".join(f"{name}: {_format_detail(value)}" for name, value in self.detail.items())

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as JSON carries it."""
        return asdict(self)


def _format_detail(value: Any) -> str:
    if isinstance(value, list) and len(value) == 2:
        return " → ".join(map(_format_detail, value))
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return said if len(said) <= LONGEST_DETAIL else f"{said[: LONGEST_DETAIL - 1]}…"
