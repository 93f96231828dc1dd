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
from labeler.model.results import Statement

MOST_TRIED = 200  # lines that contain the key; each try parses the text up to one of them
MOST_OPEN = 50  # lines that one value may span


def line_of(text: str, keys: Sequence[str]) -> int:
    """Return the line, from 1, of the value under the path ``keys``.

    1 where it cannot be found, as for a key written with escapes.

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
    """Parse a text up to a line, with the lines after it that complete a multi-line value."""
    for end in range(at + 1, min(at + MOST_OPEN, len(lines)) + 1):
        try:
            return tomllib.loads("\n".join(lines[:end]))
        except ValueError:  # a value is still open
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
"""A facet and a bucket (None for all queries), and a measure's full name."""


@dataclass(frozen=True, slots=True)
class LimitTerms:
    """The conditions under which a limit is checked.

    With ``confidence`` a limit must be met with that one-sided confidence, without it by the value
    itself; with ``anytime`` that confidence is for all looks together. ``most_unjudged`` is the
    largest share of unjudged chunks above the cut-off, in either run; ``fewest_queries`` is the
    fewest queries in a mean. ``most_absent`` is the largest share of queries for which the run
    compared with may have no list: it would count 0 there and hide a drop.
    """

    confidence: float | None = None
    most_unjudged: float | None = None
    fewest_queries: int = FEW
    most_absent: float = 0.0
    anytime: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """The limits in a gate file for one measure in one place; ``keys`` is their path in the file.

    ``facet`` and ``bucket`` are None for all queries; a facet without a bucket means each of its
    buckets that has no separate rule.
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
    """A gate file: which run is checked, against which runs, and by which rules.

    ``name`` is the file's name in messages. ``last_passing`` is the path of the file of passed
    runs, as the gate file writes it. ``rel`` and ``prompt_k`` are None where the golden set's
    settings apply. ``split`` is None for all queries, and ``leaked`` says whether queries marked as
    leaked count. ``weighted`` is the facet by whose traffic means are weighted, or None. ``text``
    is the content of the file.
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
    prompt_k: int | None = None
    split: str | None = None
    leaked: str = WITH_LEAKED
    weighted: str | None = None

    @property
    def selected(self) -> Selection:
        """The queries over which values are computed."""
        return Selection(self.split, self.leaked)

    def line_of(self, rule: Rule) -> int:
        """Return the line of the file that has a rule."""
        return line_of(self.text, rule.keys)


@dataclass(frozen=True, slots=True)
class Threshold:
    """A minimum value that a gate requires in one place; ``source`` is the gate file's name."""

    at_least: float
    terms: LimitTerms
    source: str


@dataclass(frozen=True, slots=True)
class Check:
    """A rule applied to a measure of a board, over all queries or one bucket."""

    measure: Measure
    facet: str | None
    bucket: str | None
    at_least: float | None
    drop: float | None
    terms: LimitTerms

    @property
    def place(self) -> CheckKey:
        """The key of this check among those of a gate."""
        return self.facet, self.bucket, str(self.measure)

    @property
    def where(self) -> str:
        """The queries it covers, in words."""
        return ALL_QUERIES if self.bucket is None else f"{self.facet} = {self.bucket}"


@dataclass(frozen=True, slots=True)
class LimitResult:
    """The result of one limit: a minimum value, or a drop ``against`` another run.

    ``before`` and ``delta`` are the other run's value and the difference, NaN for a minimum.
    ``differing`` of the ``n`` queries differ from the other run, 0 for a minimum. ``bound`` is the
    lower confidence bound of the value, or of the delta, computed by ``method``; NaN without a
    confidence, and where no query differs. ``unjudged`` is the share of unjudged chunks above the
    cut-off, and ``transferred`` how many of the chunks there have a transferred grade.
    """

    check: Check
    verdict: str
    sentence: str
    value: float
    n: int
    unjudged: float
    against: str | None = None
    other: str | None = None
    before: float = math.nan
    delta: float = math.nan
    differing: int = 0
    bound: float = math.nan
    method: str = ""
    transferred: int = 0

    @property
    def limit(self) -> float:
        """The minimum value, or the largest drop, that is allowed."""
        found = self.check.at_least if self.against is None else self.check.drop
        return math.nan if found is None else found


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """The results of checking a run against a gate; ``error`` says why nothing could be checked.

    ``verdict`` says whether the run is better than the one it is compared with; no limit depends
    on it.
    """

    gate: str
    run: str | None
    findings: tuple[LimitResult, ...] = ()
    conventions: Conventions | None = None
    golden: str | None = None
    notes: tuple[Note, ...] = ()
    error: str | None = None
    verdict: tuple[Statement, ...] = ()

    @property
    def result(self) -> str:
        """`PASSED`, `FAILED` or `UNJUDGED`.

        One broken limit means failed; else one limit that could not be judged means not judged.
        """
        verdicts = {finding.verdict for finding in self.findings}
        if FAILED in verdicts:
            return FAILED
        return UNJUDGED if UNJUDGED in verdicts or not verdicts else PASSED

    @property
    def holds_for_one_look(self) -> bool:
        """Whether some bound with a confidence holds for one look only."""
        terms = [finding.check.terms for finding in self.findings]
        return any(each.confidence is not None and not each.anytime for each in terms)

    def of(self, verdict: str) -> Sequence[LimitResult]:
        """Return the findings with one verdict."""
        return [finding for finding in self.findings if finding.verdict == verdict]
