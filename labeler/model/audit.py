"""Entries of the audit log: who did what, and how that person was identified."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

IdentifiedBy = Literal["link", "login", "name", "terminal", "unknown"]

LONGEST_DETAIL = 80  # characters of one value as shown to people

# Kinds of entries, with their labels for people.
AUDIT_KINDS: Mapping[str, str] = {
    "sign_in": "signed in",
    "sign_out": "signed out",
    "refuse": "refused",
    "invite": "invited",
    "revoke": "revoked",
    "role": "role changed",
    "rename": "renamed",
    "load": "loaded",
    "undo_load": "load undone",
    "carry": "grades transferred",
    "uncarry": "transfer undone",
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

# Ways to identify a person, with their labels for people.
IDENTIFICATION_LABELS: Mapping[str, str] = {
    "link": "by link",
    "login": "by login",
    "name": "name as typed",
    "terminal": "in a terminal",
    "unknown": "",
}


@dataclass(frozen=True, slots=True)
class Actor:
    """A person who does something, and how that person was identified.

    ``way`` is a personal ``link``, a ``login``, the ``name`` typed where no sign-in is required, or
    the user of a ``terminal`` on the machine. ``address`` is the network address that the server
    saw. ``who`` is None where it is unknown.
    """

    who: str | None
    way: IdentifiedBy
    address: str | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One action that was done, or refused ``count`` times within a minute; holds no secrets.

    ``at`` is UTC; ``who`` is the person's name at that time; ``subject`` is what was acted on;
    ``detail`` holds further facts.
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
        """The person's name, or words for somebody unknown."""
        return self.who or (
            "somebody without a name"
            if IDENTIFICATION_LABELS.get(self.way)
            else "somebody not signed in"
        )

    @property
    def more(self) -> str:
        """The detail on one line, for people; long values are shortened.

        >>> changes = {"rel": [1, 2], "contact": ["", "Lea"], "name": ["Help", ""]}
        >>> AuditEntry("", "settings", "Ann", "link", None, None, changes, 1).more
        'rel: 1 → 2 · contact: set to Lea · name: Help removed'
        """
        return " · ".join(f"{name}: {_format_detail(value)}" for name, value in self.detail.items())

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as a dict for JSON."""
        return asdict(self)


def _format_detail(value: Any) -> str:
    if isinstance(value, list) and len(value) == 2:
        before, after = map(_format_detail, value)
        if before and after:
            return f"{before} → {after}"
        return f"set to {after}" if after else f"{before} removed"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_DETAIL else f"{text[: LONGEST_DETAIL - 1]}…"
