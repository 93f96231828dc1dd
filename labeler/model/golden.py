"""Which golden set numbers rest on: a hash of what is in it, and the name of a frozen one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SHORT = 8  # digits of a hash that people read


@dataclass(frozen=True, eq=False)
class GoldenState:
    """What a golden set is at a revision: its ``hash``, made from the digest of each query.

    ``conventions`` are the bytes of the settings that are in the hash, ``name`` that of the frozen
    version this is, None where it is live.
    """

    hash: str
    conventions: bytes
    digests: Mapping[str, str]
    revision: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """A golden set as it was frozen under a ``name``, which never changes.

    ``at`` is UTC, ISO 8601; ``by`` is None where nobody said who. ``revision`` is the newest
    judgment in it, by the log of the file in which it was frozen.
    """

    name: str
    hash: str
    at: str
    by: str | None
    note: str | None
    revision: int
    queries: int
    grades: int
