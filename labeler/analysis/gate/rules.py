"""Rules of a gate, the checks they become on a golden set, and the results of checks."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field

from labeler.analysis.comparison import FEW
from labeler.evaluation import Conventions, Note
from labeler.measures import Measure
from labeler.model import WITH_LEAKED, Selection

MOST_TRIED = 200  # places where a key could stand: each is tried by reading all above it
MOST_OPEN = 50  # lines over which a value may go


def line_of(text: str, keys: Sequence[str]) -> int:
    """Return the line, from 1, on which the value that ``keys`` lead to is given.

    1 where that cannot be told, as for a key that is written with escapes.

    >>> line_of("[a]\\nb = 1\\n[c]\\nb = 2", ["c", "b"])
    4
    """
    lines = text.splitlines()
    there = [at for at, line in enumerate(lines) if keys[-1] in line]
    for at in there[:MOST_TRIED]:
        if _has_key(_parse_up_to(lines, at), keys):
            return at + 1
    return 1


def _parse_up_to(lines: Sequence[str], at: int) -> object:
    """Return what a text says up to a line, and on until what is open there is closed."""
    for end in range(at + 1, min(at + MOST_OPEN, len(lines)) + 1):
        try:
            return tomllib.loads("\n".join(lines[:end]))
        except ValueError:  # not whole yet
            continue
    return None


def _has_key(found: object, keys: Sequence[str]) -> bool:
    for key in keys:
        if not isinstance(found, dict) or key not in found:
            return False
        found = found[key]
    return True


PASSED, FAILED, UNJUDGED = "passed", "failed", "not judged"
ALL_QUERIES = "all queries"
BASELINE, LAST, BEST = "baseline", "last passing", "best passing"

CheckKey = tuple["str | None", "str | None", str]
"""A facet and a bucket, None for all queries, and a measure's full name."""


@dataclass(frozen=True, slots=True)
class LimitTerms:
    """On what terms a value is judged.

    With ``confidence`` a limit has to be kept with that one-sided confidence, without it by the
    value itself. ``most_holes`` is the largest share of ungraded chunks above the cut-off, on
    either side; ``fewest_queries`` how many have to be in the mean; ``most_absent`` for which share
    of them the run compared with may have no list, since it would count 0 there and hide a drop.
    """

    confidence: float | None = None
    most_holes: float | None = None
    fewest_queries: int = FEW
    most_absent: float = 0.0


@dataclass(frozen=True, slots=True)
class Rule:
    """What a gate file asks of one measure in one place; ``keys`` lead there in the file.

    ``facet`` and ``bucket`` are None for all queries; a facet without a bucket stands for each of
    its buckets that no rule of its own names.
    """

    measure: str
    facet: str | None
    bucket: str | None
    at_least: float | None
    drop: float | None
    terms: LimitTerms
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate file: which run is judged, against what, and by which rules.

    ``name`` is the file's as messages show it. ``last_passing`` names the file of the runs that
    passed, as the gate file writes it. ``rel`` and ``budget`` are None where the golden set's
    settings hold. ``split`` is None for all queries, and ``leaked`` says whether those that are
    marked as leaked count. ``weighted`` is the facet by whose traffic means are weighted, None
    where each query counts the same. ``text`` is what was read.
    """

    name: str
    rules: tuple[Rule, ...]
    text: str = field(repr=False)
    run: str | None = None
    baseline: str | None = None
    last_passing: str | None = None
    golden: str | None = None
    preset: str = "graded"
    rel: int | None = None
    budget: int | None = None
    split: str | None = None
    leaked: str = WITH_LEAKED
    weighted: str | None = None

    @property
    def selected(self) -> Selection:
        """Which queries its values are of."""
        return Selection(self.split, self.leaked)

    def line_of(self, rule: Rule) -> int:
        """Return the line of the file on which a rule stands."""
        return line_of(self.text, rule.keys)


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least value that a gate asks for in one place; ``source`` is the gate file's name."""

    at_least: float
    terms: LimitTerms
    source: str


@dataclass(frozen=True, slots=True)
class Check:
    """A rule in one place, by a measure of a board: what is held against its limits there."""

    measure: Measure
    facet: str | None
    bucket: str | None
    at_least: float | None
    drop: float | None
    terms: LimitTerms

    @property
    def place(self) -> CheckKey:
        """What this check is known by among those of a gate."""
        return self.facet, self.bucket, str(self.measure)

    @property
    def where(self) -> str:
        """Of which queries it speaks, in words."""
        return ALL_QUERIES if self.bucket is None else f"{self.facet} = {self.bucket}"


@dataclass(frozen=True, slots=True)
class LimitResult:
    """What came of one limit: of a least value, or of a drop ``against`` another run.

    ``before`` and ``delta`` are the other run's value and the difference, NaN for a least value.
    ``bound`` is what the value, or the delta, is at least with the confidence asked for, by
    ``method``; NaN without one. ``holes`` is the share of chunks above the cut-off nobody has
    graded, and ``carried`` how many there have a grade that was carried over. ``sentence`` says
    it in words.
    """

    check: Check
    verdict: str
    sentence: str
    value: float
    n: int
    holes: float
    against: str | None = None
    other: str | None = None
    before: float = math.nan
    delta: float = math.nan
    bound: float = math.nan
    method: str = ""
    carried: int = 0

    @property
    def limit(self) -> float:
        """The least value, or the largest drop, that was asked for."""
        found = self.check.at_least if self.against is None else self.check.drop
        return math.nan if found is None else found


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """How a run did at a gate; ``error`` says why nothing could be judged, where nothing could."""

    gate: str
    run: str | None
    findings: tuple[LimitResult, ...] = ()
    conventions: Conventions | None = None
    golden: str | None = None
    notes: tuple[Note, ...] = ()
    error: str | None = None

    @property
    def result(self) -> str:
        """`PASSED`, `FAILED` or `UNJUDGED`.

        One limit that is broken decides, whatever the others would say; else one that could not be
        judged does.
        """
        verdicts = {finding.verdict for finding in self.findings}
        if FAILED in verdicts:
            return FAILED
        return UNJUDGED if UNJUDGED in verdicts or not verdicts else PASSED

    def of(self, verdict: str) -> Sequence[LimitResult]:
        """Return the findings with one verdict."""
        return [finding for finding in self.findings if finding.verdict == verdict]
