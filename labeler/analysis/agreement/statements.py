"""Statements about how far graders agree: the answer, what it rests on, doubts, and what to do.

They are about how clear the guideline is, never about who is right. Numbers choose the words as
they are shown, with three digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import comb
from types import MappingProxyType
from typing import Any

import numpy as np

from labeler.analysis.agreement.grader_agreement import (
    ONE_GRADE,
    Agreement,
    Coefficient,
    SelfAgreement,
    count_in_words,
    describe_self_agreement,
)
from labeler.model import format_count
from labeler.model.results import ANSWER, DOUBT, NOTE, Statement

RELIABLE, TENTATIVE, SLIGHT = 0.8, 0.667, 0.2
CLOSELY, PARTLY, WEAKLY = "agree closely", "agree partly", "agree weakly"
PERHAPS, HARDLY = "may agree no more than by chance", "agree hardly more than by chance"
NO_MORE, LESS = "agree no more than by chance", "agree less than by chance"
BANDS = "bands"
BANDS_NOTE = (
    "Closely means an alpha of 0.8 or more, partly 0.667 or more: Krippendorff (2004) relies on "
    "grades from 0.8 on, and draws tentative conclusions from 0.667 on. Hardly more than by chance "
    "means less than 0.2, which Landis and Koch (1977) call slight for a kappa."
)
LIMIT_MEANINGS = {
    RELIABLE: "the limit for relying on grades",
    TENTATIVE: "the limit for tentative conclusions",
    SLIGHT: "where agreement is hardly more than by chance",
}
FEWEST_GIVEN = 20
"""A grade has to be given so often to be named as one on which graders do not agree."""
FEW_SHARED = 10
"""Graders who share fewer passages with each other are named, unless nobody shares more."""
MOST_NAMED = 3
NOTHING: Mapping[str, Any] = MappingProxyType({})
DISAGREEMENTS = MappingProxyType({"page": "review", "review": "Disagreements"})


def agreement_statements(
    found: Agreement,
    aside: Mapping[str, int] = NOTHING,
    again: Mapping[str, SelfAgreement] = NOTHING,
) -> list[Statement]:
    """Return what there is to say about graders' agreement, the answer first.

    ``aside`` counts each grader's grades that were left out because they were not given blind,
    ``again`` how each graded passages that came back to them.

    >>> from labeler.analysis.agreement import GradeMatrix, compute_agreement
    >>> found = compute_agreement(GradeMatrix.of_ratings([[0, 1, 2], [0, 1, 3]]))
    >>> [each.sentence for each in agreement_statements(found)][:2]
    ['1 and 2 agree closely.', "Krippendorff's alpha, ordinal, is 0.949 on the 3 passages of one query that both graded."]
    """  # noqa: E501
    defined = found.alpha.is_defined
    return [
        *(_answers(found) if defined else [_why_no_alpha(found)]),
        *(_doubts(found) if defined else []),
        *_notes(found),
        *([_not_blind(aside)] if aside else []),
        *(_shown_again(name, each) for name, each in again.items()),
        *([Statement(BANDS, BANDS_NOTE, NOTE, "Words")] if defined else []),
    ]


def join_names(names: Sequence[str]) -> str:
    """Join names as a sentence lists them.

    >>> join_names(["Ann"]), join_names(["Ann", "Bob", "Cy"])
    ('Ann', 'Ann, Bob and Cy')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


# --- The answer ---------------------------------------------------------------------------------


def _answers(found: Agreement) -> list[Statement]:
    alpha = found.alpha
    words = _degree(alpha)
    weak = _weak_grades(found) if words in (CLOSELY, PARTLY) else []
    compared, left = _compared_graders(found)
    met = sum(bool(pair.kappa.n) for pair in found.pairs)
    where = " where they share passages" if met < comb(len(compared), 2) else ""
    numbers = {
        "alpha": alpha.value,
        "low": alpha.low,
        "high": alpha.high,
        "graders": len(found.graders),
        "compared": len(compared),
        "except": weak,
    }
    grades = f"grade{'s' * (len(weak) > 1)} {join_names([f'{grade:g}' for grade in weak])}"
    exception = f", except on {grades}" if weak else ""
    who = _name_graders(compared, left)
    sentence = f"{who} {words}{where}{exception}.{_describe_left(left)}"
    graded = "both" if len(compared) == 2 else "two or more"
    rests_on = (
        f"Krippendorff's alpha, {found.metric}, is {_format(alpha.value)} on "
        f"{_count_passages(alpha)} that {graded} graded."
    )
    return [
        Statement(words, sentence, ANSWER, numbers=numbers),
        Statement("alpha", rests_on, ANSWER, numbers={"n": alpha.n, "queries": alpha.queries}),
    ]


def _degree(alpha: Coefficient) -> str:
    """Return the words for an alpha."""
    value = _rounded(alpha.value)
    if value < 0:
        return NO_MORE if _includes_0(alpha) else LESS
    if value < SLIGHT:
        return HARDLY
    if _includes_0(alpha):
        return PERHAPS
    return CLOSELY if value >= RELIABLE else PARTLY if value >= TENTATIVE else WEAKLY


def _compared_graders(found: Agreement) -> tuple[list[str], list[str]]:
    """Return the graders who share a passage with somebody, and the others."""
    sharing = {name for pair in found.pairs if pair.kappa.n for name in (pair.one, pair.other)}
    return [name for name in found.graders if name in sharing], [
        name for name in found.graders if name not in sharing
    ]


def _name_graders(compared: Sequence[str], left: Sequence[str]) -> str:
    names = join_names(compared) if len(compared) == 2 else ""
    if not left:
        return names or f"The {len(compared)} graders"
    of = len(compared) + len(left)
    return f"{len(compared)} of {of} graders can be compared: {names or 'they'}"


def _describe_left(left: Sequence[str]) -> str:
    if not left:
        return ""
    if len(left) < MOST_NAMED:
        share = "shares" if len(left) == 1 else "share"
        return f" {join_names(left)} {share} no passage with anybody."
    return f" The other {count_in_words(len(left))} share no passage with anybody."


def _weak_grades(found: Agreement) -> list[float]:
    """Return the grades on which graders agree hardly more than by chance, if only a few are.

    That is Krippendorff's nominal alpha of the grade against all others, in pairs of grades. At
    most half of the grades in use can be exceptions, and none where a grader gave one grade only:
    then that grader is the exception.
    """
    if _constant_graders(found):
        return []
    table = found.table.astype(np.float64)
    given = table.sum(1)
    n, apart = given.sum(), given - np.diag(table)
    often = given >= FEWEST_GIVEN
    with np.errstate(invalid="ignore", divide="ignore"):
        alphas = 1 - apart * (n - 1) / (given * (n - given))
    weak = [float(value) for value in found.values[often & (alphas < SLIGHT)]]
    return weak if len(weak) <= np.count_nonzero(given) / 2 else []


def _why_no_alpha(found: Agreement) -> Statement:
    if not found.graders:
        return Statement(
            "nobody", "Nobody has graded blind yet, so there is nothing to compare.", ANSWER
        )
    if len(found.graders) == 1:
        sentence = f"Only {found.graders[0]} has graded blind. Agreement needs two graders."
        return Statement("one grader", sentence, ANSWER)
    numbers = {"graders": len(found.graders), "n": found.alpha.n}
    if found.alpha.reason == ONE_GRADE:
        [grade] = found.values[found.table.any(1)]
        sentence = (
            f"Everybody gave {grade:g} to {_count_passages(found.alpha)} that two or more graded. "
            "Where only one grade is in use, nobody can say whether agreement is more than chance."
        )
        return Statement("one grade", sentence, ANSWER, numbers=numbers)
    two = len(found.graders) == 2
    who = f"{join_names(found.graders)} share no" if two else "No two graders share a"
    sentence = f"{who} passage, so their agreement cannot be measured."
    return Statement("nothing shared", sentence, ANSWER, numbers=numbers)


# --- Doubts -------------------------------------------------------------------------------------


def _doubts(found: Agreement) -> Iterator[Statement]:
    alpha = found.alpha
    yield Statement(
        "other queries",
        _describe_interval(alpha),
        DOUBT,
        "Other queries",
        {"low": alpha.low, "high": alpha.high},
    )
    most = {
        name: max(pair.kappa.n for pair in found.pairs if name in (pair.one, pair.other))
        for name in _compared_graders(found)[0]
    }
    few = {name: n for name, n in most.items() if n < FEW_SHARED}
    if few and len(few) < len(most):
        yield Statement("few shared", _describe_few(few), DOUBT, "Overlap", {"graders": len(few)})
    for (name, value), others in _constant_graders(found).items():
        sentence = _describe_constant(name, value, others)
        numbers = {"grade": value, "pairs": len(others)}
        yield Statement("constant grader", sentence, DOUBT, "One grade", numbers)
    if _rounded(alpha.value) < SLIGHT:
        yield _describe_chance(alpha)
    elif difference := _largest_difference(found):
        yield difference


def _describe_interval(alpha: Coefficient) -> str:
    if alpha.unsure is not None:
        return f"There is no 95% confidence interval of alpha: {alpha.unsure}."
    low, high = _rounded(alpha.low), _rounded(alpha.high)
    ends = f"The 95% confidence interval is {_format(low)} to {_format(high)}"
    if _includes_0(alpha):
        return f"{ends}. It includes 0, which is agreement by chance."
    crossed = [limit for limit in LIMIT_MEANINGS if low < limit <= _rounded(alpha.value)]
    if not crossed:
        return f"{ends}."
    return f"{ends}. It reaches below {crossed[-1]:g}, {LIMIT_MEANINGS[crossed[-1]]}."


def _describe_few(few: Mapping[str, int]) -> str:
    most = format_count(max(few.values()), "passage", "passages")
    if len(few) > MOST_NAMED:
        return f"{count_in_words(len(few)).capitalize()} graders share at most {most} with anybody."
    who = join_names(list(few))
    return f"{who} {'shares' if len(few) == 1 else 'share'} at most {most} with anybody."


def _constant_graders(found: Agreement) -> dict[tuple[str, float], list[str]]:
    """Return who gave one grade only to what they share with whom, where that makes kappa 0."""
    constant: dict[tuple[str, float], list[str]] = {}
    for pair in found.pairs:
        if pair.kappa.is_defined and pair.kappa.n > 1:
            for name, value in pair.constant:
                other = pair.other if name == pair.one else pair.one
                constant.setdefault((name, value), []).append(other)
    return constant


def _describe_constant(name: str, value: float, others: Sequence[str]) -> str:
    if len(others) > MOST_NAMED:
        whom = f"each of {count_in_words(len(others))} graders"
    else:
        whom = join_names(others)
    kappas = "so their kappa is 0" if len(others) == 1 else "so these kappas are 0"
    return f"{name} gave {value:g} to all passages shared with {whom}, {kappas}."


def _describe_chance(alpha: Coefficient) -> Statement:
    """Return what to do where agreement is hardly more than by chance, or less."""
    sentence = "Talk about passages on which they differ before more are graded."
    if _degree(alpha) == LESS:
        sentence += " Perhaps one of them reads the scale the other way round."
    return Statement("no common reading", sentence, DOUBT, "Differences", target=DISAGREEMENTS)


def _largest_difference(found: Agreement) -> Statement | None:
    """Return which two grades are exchanged most, and what to do; None where that happened once.

    Of two graders it names who gave which. Grades on which they hardly agree come first.
    """
    met = [pair for pair in found.pairs if pair.kappa.n]
    tables = [(found.table, "one grader", "another")]
    if len(met) == 1:
        [pair] = met
        tables = [(pair.table, pair.one, pair.other), (pair.table.T, pair.other, pair.one)]
    weak = np.isin(found.values, _weak_grades(found)).tolist()
    exchanged = [
        (weak[gave], count, count / sum(row), gave, other, who)
        for table, *who in tables
        for gave, row in enumerate(table.tolist())
        for other, count in enumerate(row)
        if gave != other and count > 1
    ]
    if not exchanged:
        return None
    _, count, share, gave, other, (first, second) = max(exchanged, key=lambda each: each[:3])
    grades = float(found.values[gave]), float(found.values[other])
    low, high = sorted(grades)
    of = f"{round(count / share):,} {'passages' if len(met) == 1 else 'comparisons'}"
    sentence = (
        f"Where {first} gave {grades[0]:g}, {second} gave {grades[1]:g} in {count:,} of {of}. "
        f"Decide these cases, then say in the guideline what separates {low:g} from {high:g}."
    )
    numbers = {"grade": grades[0], "other_grade": grades[1], "count": count, "share": share}
    kind = "largest difference"
    return Statement(kind, sentence, DOUBT, "Differences", numbers, DISAGREEMENTS)


# --- Notes --------------------------------------------------------------------------------------


def _notes(found: Agreement) -> Iterator[Statement]:
    apart = sum(not pair.kappa.n for pair in found.pairs)
    if apart and found.alpha.n:
        pairs = format_count(len(found.pairs), "pair", "pairs")
        share = "shares" if apart == 1 else "share"
        yield Statement(
            "no overlap",
            f"{apart:,} of {pairs} {share} no passage.",
            NOTE,
            numbers={"pairs": len(found.pairs), "apart": apart},
        )
    if found.alpha.is_defined and not found.fleiss.is_defined:
        yield Statement("not defined", f"Fleiss' kappa is not defined: {found.fleiss.reason}.")
    undefined = [pair for pair in found.pairs if pair.kappa.n and not pair.kappa.is_defined]
    if found.alpha.is_defined and undefined:
        pairs = join_names([f"{pair.one} and {pair.other}" for pair in undefined[:MOST_NAMED]])
        more = f" and {len(undefined) - MOST_NAMED:,} more" if len(undefined) > MOST_NAMED else ""
        sentence = f"Kappa is not defined, as both gave one and the same grade: {pairs}{more}."
        yield Statement("not defined", sentence, numbers={"pairs": len(undefined)})


def _not_blind(aside: Mapping[str, int]) -> Statement:
    counts = ", ".join(f"{name} {count:,}" for name, count in aside.items())
    total = sum(aside.values())
    grades = format_count(total, "grade was", "grades were")
    sentence = f"{grades} not given blind and left out: {counts}."
    return Statement("not blind", sentence, numbers={"grades": total})


def _shown_again(name: str, again: SelfAgreement) -> Statement:
    sentence = describe_self_agreement(again, name, ("passage", "passages"))
    return Statement("shown again", sentence, numbers=asdict(again))


# --- Numbers ------------------------------------------------------------------------------------


def _includes_0(alpha: Coefficient) -> bool:
    return alpha.unsure is None and _rounded(alpha.low) <= 0 <= _rounded(alpha.high)


def _rounded(value: float) -> float:
    """Return a value as it is shown; no zero has a sign."""
    return round(value, 3) + 0.0


def _format(value: float) -> str:
    return f"{_rounded(value):.3f}".replace("-", "−")


def _count_passages(alpha: Coefficient) -> str:
    which = "the one passage" if alpha.n == 1 else f"the {alpha.n:,} passages"
    return f"{which} of {'one query' if alpha.queries == 1 else f'{alpha.queries:,} queries'}"
