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
