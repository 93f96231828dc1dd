"""What agreement means, in kind words: of a guideline and how it is read, never of who is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import NamedTuple

from labeler.analysis.agreement.coefficients import Metric
from labeler.analysis.agreement.draws import DRAWS, LEVEL, SEED
from labeler.analysis.agreement.measuring import ONE_GRADE, Agreement, Coefficient
from labeler.analysis.agreement.sheet import Sheet
from labeler.model import EVERYTHING, Selection, counted

RELIABLE, TENTATIVE = 0.8, 0.667


class Note(NamedTuple):
    """Something to know about numbers: ``kind`` is for programs, ``sentence`` for people."""

    kind: str
    sentence: str


LIMITS = (
    f"0.8 and {TENTATIVE} are the limits Krippendorff (2004) gives for relying on grades and for "
    "tentative conclusions; they are customs, not laws"
)
FEW = 10  # queries


def conventions_of(
    metric: Metric, rule: str, selected: Selection = EVERYTHING
) -> dict[str, object]:
    """Return how these numbers are meant, ready for JSON, with a ``description`` for people.

    ``rule`` says how several grades become one, ``selected`` of which queries they are.
    """
    words = (
        *([selected.describe()] if selected != EVERYTHING else []),
        f"alpha {metric}",
        "current grades given blind",
        "one wording of a chunk",
        "kappa with quadratic weights, 0 where one of the two gave one grade only",
        "not defined only where no disagreement is to be expected",
        f"{LEVEL:.0%} percentile intervals over queries, {DRAWS:,} draws",
        f"agreed grade: somebody else's adjudication, else of the others' blind grades the {rule}",
    )
    named = {"metric": metric, "kappa_weights": "quadratic", "golden_rule": rule}
    named |= asdict(selected)
    drawn = {"level": LEVEL, "draws": DRAWS, "seed": SEED}
    return {**named, **drawn, "description": " · ".join(words)}


def summary(found: Agreement) -> str:
    """Say how far graders agree, or why that cannot be said, in a sentence.

    >>> from labeler.analysis.agreement import agreement_of
    >>> summary(agreement_of(Sheet.of_ratings([[0, 1, 2], [0, 1, 3]])))[:62]
    "1 and 2 agree closely: Krippendorff's alpha is 0.949 (no inter"
    """
    if not found.alpha.is_defined:
        return missing(found)
    return f"{_who(found)} {_how(found.alpha)}: {_alpha(found)}."


def meaning(found: Agreement) -> str:
    """Say what to make of it: first what alpha allows, then how sure that is; "" of no alpha."""
    alpha = found.alpha
    if not alpha.is_defined:
        return ""
    if alpha.value >= RELIABLE:
        said = "It matters little who of them graded what."
    elif alpha.value >= TENTATIVE:
        said = "That is enough to build on; talking over the widest disagreements makes it firmer."
    elif alpha.value > 0:
        said = (
            "They read the guideline differently in places, and a close comparison of two runs may "
            "depend on who graded: talk over the widest disagreements, and let the guideline say "
            "what you find."
        )
    else:
        said = (
            "The guideline leaves too much open: talk over the widest disagreements before more is "
            "graded."
        )
    return f"{said}{_how_sure(alpha)}"


def missing(found: Agreement) -> str:
    """Say why there is no alpha."""
    if not found.graders:
        return "Nobody has graded blind yet, so there is nothing to agree on."
    if len(found.graders) == 1:
        return f"Only {found.graders[0]}'s blind grades are looked at: agreement needs two graders."
    if found.alpha.reason == ONE_GRADE:
        [grade] = [at for at, row in enumerate(found.table) if row.any()]
        where = _chunks(found.alpha)
        return (
            f"Everybody gave {found.values[grade]:g} to {where}: where one grade is in use, "
            "agreement cannot be told from chance, and alpha is not defined."
        )
    return f"{_who(found)} have graded no chunk in common, so that agreement cannot be measured."


def notes(found: Agreement) -> list[Note]:
    """Say what could surprise in these numbers, and why some are not there."""
    said = [Note("constant grader", sentence) for pair in found.pairs for sentence in pair.notes]
    apart = [listed([pair.one, pair.other]) for pair in found.pairs if not pair.kappa.n]
    if found.alpha.n and apart:
        said.append(Note("no overlap", f"no chunk in common: {', '.join(apart)}"))
    if found.alpha.is_defined and not found.fleiss.is_defined:
        said.append(Note("not defined", f"Fleiss' kappa: {found.fleiss.reason}"))
    for pair in found.pairs:
        if pair.kappa.n and not pair.kappa.is_defined:
            who = listed([pair.one, pair.other])
            said.append(Note("not defined", f"{who}: {pair.kappa.reason}"))
    return said


def left_aside(sheet: Sheet) -> list[Note]:
    """Say how many grades of whom are not looked at, as they were not given blind."""
    if not sheet.aside:
        return []
    counts = ", ".join(f"{name} {count:,}" for name, count in sheet.aside.items())
    total = sum(sheet.aside.values())
    grades = counted(total, "grade", "grades")
    return [Note("not blind", f"{grades} not given blind left aside: {counts}")]


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them.

    >>> listed(["Ann"]), listed(["Ann", "Bob", "Cy"])
    ('Ann', 'Ann, Bob and Cy')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _who(found: Agreement) -> str:
    count = len(found.graders)
    return listed(found.graders) if count == 2 else f"The {count} graders"


def _how(alpha: Coefficient) -> str:
    if alpha.value >= RELIABLE:
        return "agree closely"
    if alpha.value >= TENTATIVE:
        return "agree for the most part"
    if alpha.value <= 0:
        return "agree no more than chance would"
    may_be_chance = alpha.unsure is None and alpha.low <= 0
    return "may agree no more than chance would" if may_be_chance else "agree in part"


def _alpha(found: Agreement) -> str:
    metric = "" if found.metric == "ordinal" else f", {found.metric},"
    return (
        f"Krippendorff's alpha{metric} is {found.alpha.value:.3f} ({_interval(found.alpha)}) "
        f"over {_chunks(found.alpha)}"
    )


def _interval(found: Coefficient) -> str:
    """Say a number's interval, or why there is none."""
    if found.unsure is not None:
        return f"no interval: {found.unsure}"
    return f"95%: {found.low:.3f} to {found.high:.3f}"


def _chunks(alpha: Coefficient) -> str:
    which = "the one chunk" if alpha.n == 1 else f"the {alpha.n:,} chunks"
    queries = "one query" if alpha.queries == 1 else f"{alpha.queries:,} queries"
    return f"{which} of {queries} that two or more graded"


def _how_sure(alpha: Coefficient) -> str:
    if alpha.queries < FEW:
        return " So few queries say little yet."
    limits = [limit for limit in (RELIABLE, TENTATIVE) if alpha.low < limit <= alpha.value]
    return f" With other queries it could be below {limits[-1]:g}." if limits else ""
