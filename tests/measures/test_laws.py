"""What holds for every measure and every ranking: ranges, order, terms, and bits."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.measures import (
    MEASURES,
    Definition,
    Hits,
    Measure,
    parse,
    rbp_residual,
    score,
    terms,
)
from tests.support.examples import examples
from tests.support.rankings import (
    CUTOFFS,
    GRADES,
    MISSED,
    OF_CHUNKS,
    RANKINGS,
    ROWS,
    Row,
    hits_of,
    measures,
    value,
    values,
)

SOME = examples(30)  # of each measure


def each(*chosen: Definition) -> pytest.MarkDecorator:
    """Run a law for every measure, or for those chosen."""
    among = chosen or OF_CHUNKS
    return pytest.mark.parametrize("one", among, ids=lambda definition: definition.name)


def of(data: st.DataObject, one: Definition, cutoffs: Any = CUTOFFS) -> Measure:
    """Draw the parameters of a measure."""
    return data.draw(measures(cutoffs, [one]))


CUT = each(*(d for d in OF_CHUNKS if d.cutoff != "never"))
CONDENSED = each(*(d for d in OF_CHUNKS if d.condenses))


@each()
@SOME
@given(rows=ROWS, data=st.data())
def test_every_value_is_from_0_to_1_or_undefined_or_a_count(
    one: Definition, rows: list[Row], data: st.DataObject
) -> None:
    measure = of(data, one)
    result = values(measure, rows)
    assert result.shape == (len(rows),)
    if measure.definition.count:
        assert np.all((result >= 0) & (result == np.round(result)))
    else:
        assert np.all(np.isnan(result) | ((result >= 0) & (result <= 1)))


@each()
@SOME
@given(rows=ROWS, data=st.data())
def test_a_value_is_undefined_exactly_where_the_least_grade_is_unknown(
    one: Definition, rows: list[Row], data: st.DataObject
) -> None:
    measure = of(data, one)
    least = measure.least_grade
    known = [max([-1, *(g for g in ranking if g is not None), *missed]) for ranking, missed in rows]
    expected = [least is not None and best < least for best in known]
    assert np.isnan(values(measure, rows)).tolist() == expected


@each()
@SOME
@given(ranking=RANKINGS, missed=MISSED, data=st.data())
def test_promoting_a_better_chunk_never_lowers_a_value(
    one: Definition, ranking: list[int | None], missed: list[int], data: st.DataObject
) -> None:
    """Those that tell grade 0 from none are compared where there are only grades."""
    measure = of(data, one)
    if measure.name in ("Bpref", "infAP") or measure.judged_only:
        ranking = [grade for grade in ranking if grade is not None]
    if measure.name == "Judged" or len(ranking) < 2:
        return
    low = data.draw(st.integers(1, len(ranking) - 1))
    high = data.draw(st.integers(0, low - 1))
    if (ranking[low] or 0) < (ranking[high] or 0):
        return
    promoted = list(ranking)
    promoted[low], promoted[high] = ranking[high], ranking[low]
    before, after = (value(measure, order, missed) for order in (ranking, promoted))
    assert (np.isnan(before) and np.isnan(after)) or after >= before - 1e-12


@CUT
@SOME
@given(ranking=RANKINGS, missed=MISSED, data=st.data(), random=st.randoms())
def test_ranks_below_k_change_nothing(
    one: Definition,
    ranking: list[int | None],
    missed: list[int],
    data: st.DataObject,
    random: Random,
) -> None:
    """The k-th graded chunk of a condensed list may stand anywhere, so those are left out."""
    measure = replace(of(data, one, st.integers(1, 20)), judged_only=False)
    assert isinstance(measure.cutoff, int)
    shuffled = ranking[measure.cutoff :]
    random.shuffle(shuffled)
    other = ranking[: measure.cutoff] + shuffled
    before, after = (value(measure, order, missed) for order in (ranking, other))
    assert before == after or (np.isnan(before) and np.isnan(after))


@CONDENSED
@SOME
@given(ranking=RANKINGS, missed=MISSED, data=st.data())
def test_judged_only_is_the_measure_of_the_list_without_ungraded_chunks(
    one: Definition, ranking: list[int | None], missed: list[int], data: st.DataObject
) -> None:
    measure = of(data, one)
    condensed = [grade for grade in ranking if grade is not None]
    expected = value(replace(measure, judged_only=False), condensed, missed)
    found = value(replace(measure, judged_only=True), ranking, missed)
    assert found == expected or (np.isnan(found) and np.isnan(expected))


@each()
@SOME
@given(rows=ROWS, data=st.data())
def test_terms_sum_to_the_value(one: Definition, rows: list[Row], data: st.DataObject) -> None:
    """Where it is undefined all are 0; two counts say in `depends` that they have no such terms."""
    measure = of(data, one)
    hits = hits_of(rows)
    parts = terms(hits, measure)
    assert parts.shape == hits.row.shape
    assert np.all(parts >= 0)
    if measure.name == "NumRel" or (measure.name == "NumRet" and measure.rel is None):
        assert "do not sum to the value" in measure.definition.depends
        return
    assert hits.sums(parts) == pytest.approx(np.nan_to_num(score(hits, measure)), abs=1e-12)


@CUT
@SOME
@given(rows=ROWS, data=st.data(), cutoffs=st.lists(st.integers(1, 30), min_size=6, max_size=6))
def test_a_cut_off_for_each_row_is_the_cut_off_of_that_row(
    one: Definition, rows: list[Row], data: st.DataObject, cutoffs: list[int]
) -> None:
    measure = of(data, one)
    chosen = cutoffs[: len(rows)]
    together = score(hits_of(rows), measure, np.array(chosen))
    pairs = zip(rows, chosen, strict=True)
    alone = [values(replace(measure, cutoff=k), [row])[0] for row, k in pairs]
    assert together.tobytes() == np.array(alone).tobytes()


@CUT
@SOME
@given(rows=ROWS, data=st.data(), cutoffs=st.lists(st.integers(1, 30), min_size=1, max_size=5))
def test_cut_offs_asked_for_at_once_have_the_bits_of_each_alone(
    one: Definition, rows: list[Row], data: st.DataObject, cutoffs: list[int]
) -> None:
    measure = of(data, one)
    together = score(hits_of(rows), measure, np.array(cutoffs)[:, np.newaxis])
    alone = [values(replace(measure, cutoff=k), rows) for k in cutoffs]
    assert together.tobytes() == np.array(alone).tobytes()


@CUT
def test_a_row_has_the_same_bits_alone_as_among_many_whose_tops_are_cut_out(
    one: Definition,
) -> None:
    random = Random(7)
    rankings = [random.choices([None, 0, 1, 2, 3], k=30) for _ in range(100)]
    many, at_5_and_10 = Hits.of(rankings), np.array([[5], [10]])
    measure = parse(one.example)
    alone = np.array([score(Hits.of([each]), measure, at_5_and_10)[:, 0] for each in rankings])
    together = [score(many, measure, k) for k in (10, 5)]
    assert alone.T.tobytes() == np.array(together[::-1]).tobytes()


@each()
@SOME
@given(golden=st.lists(GRADES, min_size=1, max_size=8), random=st.randoms(), data=st.data())
def test_lists_that_share_a_querys_known_grades_have_the_bits_of_lists_with_their_own(
    one: Definition, golden: list[int], random: Random, data: st.DataObject
) -> None:
    orders = [random.sample([*golden, None, None], len(golden)) for _ in range(3)]
    missed = [list((Counter(golden) - Counter(order)).elements()) for order in orders]
    own, measure = Hits.of(orders, missed), of(data, one)
    shared = replace(own, known=np.broadcast_to(own.known[:1], own.known.shape))
    assert shared.is_one_query
    for compute in (score, terms):
        assert compute(shared, measure).tobytes() == compute(own, measure).tobytes()
    if one.cutoff != "never":
        cutoffs = np.array([[7], [1]])
        together = score(shared, measure, cutoffs)
        assert together.tobytes() == score(own, measure, cutoffs).tobytes()


@given(RANKINGS, measures(among=[MEASURES["RBP"]]))
def test_rbp_of_the_endless_list_lies_within_its_residual(
    ranking: list[int | None], measure: Measure
) -> None:
    """Graded as well as can be, and going on with relevant chunks only, it comes up to the top."""
    cut = ranking if measure.cutoff is None else ranking[: int(measure.cutoff)]
    low = np.nan_to_num(value(measure, cut))
    [residual] = rbp_residual(Hits.of([cut]), p=measure.p)
    filled = [3 if grade is None else grade for grade in cut]
    high = np.nan_to_num(value(measure, filled)) + measure.p ** len(cut)
    assert low + residual == pytest.approx(high, abs=1e-12)


@given(st.lists(GRADES, min_size=1, max_size=40).filter(any), CUTOFFS)
def test_a_perfect_ranking_is_exactly_1(grades: list[int], cutoff: int | None) -> None:
    best: list[int | None] = [*sorted(grades, reverse=True), None, None]
    cut = "" if cutoff is None else f"@{cutoff}"
    assert value(f"nDCG(dcg='log2'){cut}", best) == 1.0
    assert value(f"nDCG(dcg='exp-log2'){cut}", best) == 1.0
    for name in ("AP", "RR", "R", "Rprec", "Bpref", "SetR"):
        assert value(name, best) == 1.0, name


def test_only_the_best_orders_reach_1() -> None:
    perfect = [order for order in permutations([3, 2, 1, 0]) if value("nDCG", list(order)) == 1.0]
    assert perfect == [(3, 2, 1, 0)]


@each()
@SOME
@given(rows=ROWS, data=st.data())
def test_a_row_has_the_same_bits_alone_as_among_others(
    one: Definition, rows: list[Row], data: st.DataObject
) -> None:
    measure = of(data, one)
    together = values(measure, rows)
    alone = np.concatenate([values(measure, [row]) for row in rows])
    joined = score(Hits.join([Hits.of([row], [missed]) for row, missed in rows]), measure)
    assert together.tobytes() == alone.tobytes() == joined.tobytes()
