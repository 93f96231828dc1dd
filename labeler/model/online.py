"""What users of a product did, and whether what it answered was right; frozen values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from labeler.errors import BadInput
from labeler.model.records import check_id, check_name


@dataclass(frozen=True, slots=True)
class Signal:
    """A number that a system had online at a ``date``: a day, or a moment in UTC.

    Without a query it is of all that were asked. ``n`` is how often something was counted for it,
    None where nobody said so.
    """

    date: str
    system: str
    name: str
    value: float
    query_id: str | None = None
    n: int | None = None

    def __post_init__(self) -> None:
        check_name(self.system, "system")
        check_name(self.name, "signal")
        if not self.system.strip() or not self.name.strip():
            raise BadInput("a system and a signal have names that are not blank")
        if self.query_id is not None:
            check_id(self.query_id, "query")
        if not math.isfinite(self.value):
            raise BadInput(f"a value is a finite number, not {self.value}")
        if self.n is not None and self.n < 1:
            raise BadInput(f"n is how often something was counted, from 1 on, not {self.n}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered to a query with what a run had found, and whether that was right.

    ``run`` is None where a file leaves it to whoever loads it, ``answer`` where only the verdict
    is known.
    """

    run: str | None
    query_id: str
    answer: str | None
    correct: bool

    def __post_init__(self) -> None:
        check_id(self.query_id, "query")
        if self.run is not None:
            check_name(self.run, "run")


@dataclass(frozen=True, slots=True)
class SignalPoint:
    """One value of a system's signal at a date.

    It is what the file says of all queries, or else the mean over ``queries`` that it names, each
    weighted by its ``n`` where all have one. ``n`` is None where nobody said so, and ``queries``
    is 0 for a value of all.
    """

    system: str
    name: str
    date: str
    value: float
    n: int | None
    queries: int
