"""Does the verdict survive: A against B with each grader's own grades, and with fewer of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from labeler.analysis.comparison import DeltaTest, compare
from labeler.analysis.comparison.grader_sensitivity import (
    ALL_FROM_FILES,
    ONE_GRADER,
    TOO_FEW_DIFFER,
    GraderSensitivity,
    describe_sensitivity,
    describe_unchanged_readings,
    measure_sensitivity,
    sensitivity_records,
)
from labeler.evaluation import Conventions, Scoreboard
from labeler.model import (
    GOLDEN_RULES,
    Chunk,
    GoldenGrade,
    Judgment,
    LoadedGolden,
    Query,
    Ranking,
    Settings,
    agreed_grade,
)
from labeler.store import Store
from tests.support.boards import golden_of, regraded
from tests.support.page import loaded

QUERIES = [f"q{n:02}" for n in range(30)]
Say = Callable[..., None]


@pytest.fixture
def pair(tmp_path: Path) -> Store:
    """Thirty queries; A has chunk a first and B has chunk b; nothing is graded."""
    with Store(tmp_path / "pair.db", create=True) as store:
        intents = {name: "refund" if n < 12 else "setup" for n, name in enumerate(QUERIES)}
        store.queries.load(
            loaded([Query(q, f"query {q}", buckets={"intent": intents[q]}) for q in QUERIES])
        )
        store.chunks.load(loaded([Chunk(name, f"text {name}") for name in "abx"]))
        for run, first, second in (("A", "a", "b"), ("B", "b", "a")):
            store.runs.load(loaded([Ranking(q, (first, second, "x")) for q in QUERIES]), name=run)
        for name in ("Ann", "Marit", "Zoë"):
            store.people.add(name)
        yield store


@pytest.fixture
def say(pair: Store) -> Say:
    """Add judgments: of a grader, the grade of a chunk for some queries."""
    count = 0

    def judge(who: str, chunk: str, grade: int, queries=QUERIES, kind="grade", blind=True) -> None:
        nonlocal count
        with pair.connection.transaction():
            for query in queries:
                count += 1
                said = Judgment(f"e{count}", query, chunk, who, kind, grade, blind=blind)
                pair.judgments.append(said)

    return judge


def told(
    store: Store, measure: str = "RR", *, sure: bool = True, bucket: str | None = None
) -> GraderSensitivity:
    settings = store.settings.read()
    conventions = Conventions.of(golden_rule=settings.golden_rule)
    board = Scoreboard(store.collection.read(), conventions)
    measures = board.resolve(conventions.measures(measure))
    facet = "intent" if bucket else None
    compared = compare(board, "A", "B", measures, facet)
    tested = dict.fromkeys(measures, DeltaTest(0.01, 1, is_clear=sure))
    [found, *_] = measure_sensitivity(
        board, compared, store.activity.single_grades(), measures, tested=tested, bucket=bucket
    )
    return found


def by_name(found: GraderSensitivity) -> dict[str, tuple[int, float]]:
    """The number of pairs each reading changes, and the difference under it."""
    return {
        each.reading.grader or each.reading.kind: (each.changed, round(each.row.delta, 4))
        for each in found.told
    }


def test_each_grader_s_own_grades_are_compared_and_the_pairs_they_change_counted(pair, say) -> None:
    say("Ann", "a", 0)
    say("Ann", "b", 2)
    say("Marit", "a", 2, QUERIES[:25])
    say("Marit", "b", 0, QUERIES[:25])
    found = told(pair)
    assert by_name(found) == {
        "golden": (0, 0.5),
        "Ann": (25, 0.5),
        "Marit": (25, -0.3333),
        "lowest": (0, 0.5),
        "median": (0, 0.5),
        "highest": (50, 0.0833),
        "without stale": (0, 0.5),
        "without non-blind": (0, 0.5),
    }


def test_the_sentence_names_whose_grades_turn_the_verdict_and_how_many_pairs_differ(
    pair, say
) -> None:
    say("Ann", "a", 0)
    say("Ann", "b", 2)
    say("Marit", "a", 2, QUERIES[:25])
    say("Marit", "b", 0, QUERIES[:25])
    found = told(pair)
    said = "With Marit's grades A is better by RR (−0.3333; 25 pairs differ)"
    assert describe_sensitivity(found, ("A", "B")) == said
    unsure = told(pair, sure=False)
    assert describe_sensitivity(unsure, ("A", "B")) == said.replace("better", "ahead")
    assert describe_unchanged_readings(found) == (
        "Nothing changes with: the lowest grade of each chunk, the lower median, without stale "
        "judgments, without non-blind judgments"
    )


def test_a_verdict_that_holds_under_everyone_is_said_to_hold(pair, say) -> None:
    for who, grade in (("Ann", 3), ("Marit", 2), ("Zoë", 1)):
        say(who, "b", grade)
        say(who, "a", 0)
    found = told(pair, "RR nDCG@3")
    assert [each.changed for each in found.graders] == [30, 0, 30]
    assert describe_sensitivity(found, ("A", "B")) == (
        "B is better than A by RR with each grader's own grades"
    ), "Marit's are the golden ones"
    say("Marit", "x", 1, QUERIES[:20])
    say("Ann", "x", 0, QUERIES[:20])
    say("Zoë", "x", 0, QUERIES[:20])
    found = told(pair)
    assert describe_sensitivity(found, ("left", "right")) == (
        "right is better than left by RR with each grader's own grades"
    )
    assert describe_sensitivity(told(pair, sure=False), ("A", "B")) == (
        "B is ahead of A by RR with each grader's own grades, but not clearly"
    )


def test_with_whose_grades_it_is_not_clear_is_said(pair, say) -> None:
    say("Ann", "b", 2)
    say("Ann", "a", 0)
    say("Marit", "b", 2, QUERIES[:16])
    say("Marit", "b", 0, QUERIES[16:])
    say("Marit", "a", 0, QUERIES[:16])
    say("Marit", "a", 2, QUERIES[16:])
    say("Zoë", "b", 3)
    assert describe_sensitivity(told(pair), ("A", "B")) == (
        "B is ahead of A by RR with each grader's own grades; with the grades of Marit not clearly"
    )


def test_a_grader_with_whom_nothing_moves_or_nothing_has_a_value_is_named(pair, say) -> None:
    say("Ann", "b", 2)
    say("Marit", "b", 0, QUERIES[:29])
    assert told(pair).golden.row.n == 1
    say("Ann", "b", 2, kind="adjudicate", blind=False)
    found = told(pair)
    assert [each.changed for each in found.graders] == [0, 29]
    assert describe_sensitivity(found, ("A", "B")) == (
        "B is ahead of A by RR with each grader's own grades, but not clearly"
    ), "one query is left to her"
    say("Marit", "b", 0)
    assert describe_sensitivity(told(pair), ("A", "B")) == (
        "With Marit's grades RR has no value (30 pairs differ)"
    )
    say("Marit", "b", 1)
    say("Marit", "a", 1)
    say("Ann", "a", 0, kind="adjudicate", blind=False)
    assert describe_sensitivity(told(pair), ("A", "B")) == (
        "With Marit's grades neither is visibly ahead by RR (60 pairs differ)"
    )


def test_who_differs_in_too_few_pairs_and_leads_elsewhere_is_named(pair, say) -> None:
    ten, nine = QUERIES[:10], QUERIES[:9]
    for who, grades, queries in (
        ("Ann", {"a": 0, "b": 3, "x": 1}, ten),
        ("Marit", {"a": 0, "b": 2, "x": 0}, ten),
        ("Zoë", {"a": 2, "b": 0}, nine),
    ):
        for chunk, grade in grades.items():
            say(who, chunk, grade, queries)
    found = told(pair)
    assert by_name(found)["golden"] == (0, 0.5)
    assert [each.changed for each in found.graders] == [20, 0, 18]
    assert describe_sensitivity(found, ("A", "B")) == (
        "B is better than A by RR with Ann's own grades (Zoë differs in too few pairs to say)"
    )


@pytest.mark.parametrize("pairs", [0, 19])
def test_below_twenty_pairs_nothing_is_said_of_a_grader(pair, say, pairs: int) -> None:
    say("Ann", "b", 2)
    say("Marit", "b", 1, QUERIES[:pairs])
    say("Zoë", "b", 2, QUERIES[:pairs])
    say("Zoë", "x", 1, QUERIES[:1])
    found = told(pair)
    assert [each.changed for each in found.graders] == ([0, pairs, 0] if pairs else [0, 0])
    assert (describe_sensitivity(found, ("A", "B")), found.why_not_told) == ("", TOO_FEW_DIFFER)


def test_one_grader_or_none_is_no_second_opinion(pair, say) -> None:
    grades = [GoldenGrade(query, "b", 2) for query in QUERIES]
    pair.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    found = told(pair)
    assert (found.graders, found.why_not_told) == ([], ALL_FROM_FILES)
    assert all(each.changed == 0 for each in found.told)
    say("Ann", "b", 1, QUERIES[:19])
    assert told(pair).why_not_told == ONE_GRADER
    say("Ann", "b", 1)
    say("Marit", "b", 2, kind="adjudicate", blind=False)
    found = told(pair)
    assert by_name(found)["Ann"] == (30, 0.5), "her own grade, also where it was overruled"
    assert (
        describe_sensitivity(found, ("A", "B"))
        == "B is better than A by RR with each grader's own grades"
    )


def test_without_non_blind_judgments_an_adjudication_goes_and_imports_stay(pair, say) -> None:
    grades = [GoldenGrade(query, "b", 1) for query in QUERIES]
    pair.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    say("Ann", "a", 2, QUERIES[:4], blind=False)
    say("Ann", "a", 2, QUERIES[4:7])
    say("Ann", "a", 0, QUERIES[4:6], kind="adjudicate", blind=False)
    assert by_name(told(pair))["without non-blind"] == (6, 0.45)


def test_without_stale_judgments_another_s_grade_counts_or_the_chunk_is_a_hole(pair, say) -> None:
    say("Ann", "b", 2)
    pair.chunks.load(loaded([Chunk("b", "another text")]), update=True)
    assert by_name(told(pair))["without stale"] == (30, pytest.approx(math.nan, nan_ok=True))
    say("Marit", "b", 1, QUERIES[:12])
    found = told(pair)
    assert by_name(found)["without stale"] == (18, 0.5), "the lower of both was Marit's"
    assert [each.row.n for each in found.told if each.reading.kind == "without stale"] == [12]


def test_within_a_bucket_only_its_pairs_are_counted(pair, say) -> None:
    say("Ann", "b", 2)
    say("Marit", "b", 1)
    assert by_name(told(pair, bucket="refund"))["Ann"] == (12, 0.5)
    assert by_name(told(pair, bucket="setup"))["Ann"] == (18, 0.5)


def test_two_equal_runs_are_equal_under_everyone(pair, say) -> None:
    pair.runs.drop("B")
    pair.runs.load(loaded([Ranking(q, ("a", "b", "x")) for q in QUERIES]), name="B")
    say("Ann", "a", 2)
    say("Marit", "a", 1)
    say("Marit", "b", 1)
    assert describe_sensitivity(told(pair), ("A", "B")) == (
        "Neither is visibly ahead by RR with each grader's own grades"
    )


def test_programs_get_a_row_for_each_reading_and_measure(pair, say) -> None:
    say("Ann", "b", 2)
    say("Marit", "b", 1)
    rows = sensitivity_records([told(pair, "MRR")], "A", "B")
    assert len(rows) == 8
    assert {**rows[1], "p": 0} == {
        "run_a": "A",
        "run_b": "B",
        "reading": "grader",
        "grader": "Ann",
        "pairs_changed": 30,
        "measure": "MRR",
        "full_name": "RR(rel=1)",
        "a": 0.5,
        "b": 1.0,
        "delta": 0.5,
        "wins": 30,
        "ties": 0,
        "losses": 0,
        "n": 30,
        "undefined": 0,
        "p": 0,
    }


# Against brute force -----------------------------------------------------------------------------

Said = tuple[str, str, str, str, int, bool]  # query, chunk, who, kind, grade, blind


def golden_by_hand(said: list[Said], rule: str) -> dict[tuple[str, str], int]:
    """Return the golden grades of a log, as the README says it: the newest of each person."""
    golden: dict[tuple[str, str], int] = {}
    for query, chunk in {(each[0], each[1]) for each in said}:
        here = [each for each in said if each[:2] == (query, chunk)]
        ruled = [grade for *_, kind, grade, _ in here if kind == "adjudicate"]
        people = {who: grade for _, _, who, kind, grade, _ in here if kind == "grade"}
        imported = [grade for *_, kind, grade, _ in here if kind == "import"]
        found = agreed_grade(list(people.values()), rule)
        if ruled:
            golden[query, chunk] = ruled[-1]
        elif people and found is not None:
            golden[query, chunk] = found
        elif imported and not people:
            golden[query, chunk] = imported[-1]
    return golden


def readings_by_hand(
    said: list[Said], rule: str, stale: str
) -> Mapping[str, dict[tuple[str, str], int]]:
    golden = golden_by_hand(said, rule)
    own = {
        name: {(q, c): g for q, c, who, kind, g, _ in said if (who, kind) == (name, "grade")}
        for name in sorted({who for _, _, who, kind, _, _ in said if kind == "grade"})
    }
    each = {
        pair: sorted(grades[pair] for grades in own.values() if pair in grades)
        for grades in own.values()
        for pair in grades
    }
    fresh = [one for one in said if one[1] != stale]
    newest = {
        (q, c, who, kind == "adjudicate"): at for at, (q, c, who, kind, *_) in enumerate(said)
    }
    blind = [
        one
        for at, one in enumerate(said)
        if one[3] == "import"
        or (newest[one[0], one[1], one[2], one[3] == "adjudicate"] == at and one[5])
    ]
    return {
        **{name: {**golden, **grades} for name, grades in own.items()},
        "lowest": {**golden, **{pair: grades[0] for pair, grades in each.items()}},
        "median": {**golden, **{p: grades[(len(grades) - 1) // 2] for p, grades in each.items()}},
        "highest": {**golden, **{pair: grades[-1] for pair, grades in each.items()}},
        "without stale": golden_by_hand(fresh, rule),
        "without non-blind": golden_by_hand(blind, rule),
    }


@pytest.mark.parametrize("rule", GOLDEN_RULES)
def test_every_reading_is_what_the_log_read_by_hand_gives(pair, rule: str) -> None:
    draw = np.random.default_rng(GOLDEN_RULES.index(rule))
    imports = [
        (query, chunk, "", "import", int(draw.integers(0, 4)), False)
        for query in QUERIES
        for chunk in "abx"
        if draw.random() < 0.4
    ]
    grades = [GoldenGrade(query, chunk, grade) for query, chunk, _, _, grade, _ in imports]
    pair.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    said: list[Said] = list(imports)
    with pair.connection.transaction():
        for number in range(320):
            who = str(draw.choice(["Ann", "Marit", "Zoë"]))
            kind = "adjudicate" if draw.random() < 0.08 else "grade"
            pair_of = (str(draw.choice(QUERIES)), str(draw.choice(list("abx"))))
            one = (*pair_of, who, kind, int(draw.integers(0, 4)), bool(draw.random() < 0.8))
            said.append(one)
            query, chunk, who, kind, grade, blind = one
            pair.judgments.append(
                Judgment(f"r{number}", query, chunk, who, kind, grade, blind=blind)
            )
    pair.settings.save(Settings(golden_rule=rule))
    pair.chunks.load(loaded([Chunk("x", "another text")]), update=True)
    conventions = Conventions.of(golden_rule=rule)
    board = Scoreboard(pair.collection.read(), conventions)
    assert golden_of(board) == golden_by_hand(said, rule)
    measures = board.resolve(conventions.measures("nDCG@2 RR P@1"))
    compared = compare(board, "A", "B", measures)
    found = measure_sensitivity(board, compared, pair.activity.single_grades(), measures)
    expected = readings_by_hand(said, rule, "x")
    golden = golden_of(board)
    for survival in found:
        assert [e.reading.grader or e.reading.kind for e in survival.told] == ["golden", *expected]
        for each, (name, grades_then) in zip(survival.told[1:], expected.items(), strict=True):
            pairs = golden.keys() | grades_then.keys()
            assert each.changed == sum(golden.get(p) != grades_then.get(p) for p in pairs), name
            anew = Scoreboard(regraded(board.collection, grades_then), conventions)
            row = compare(anew, "A", "B", [survival.measure]).deltas[0]
            assert each.row[:10] == pytest.approx(row[:10], nan_ok=True), name


def test_single_grades_that_follow_the_log_are_those_read_anew(pair, say) -> None:
    known = pair.activity.single_grades()
    draw = np.random.default_rng(3)
    for round_ in range(12):
        who, chunk = str(draw.choice(["Ann", "Marit"])), str(draw.choice(list("abx")))
        some = [str(each) for each in draw.choice(QUERIES, 5, replace=False)]
        say(
            who, chunk, int(draw.integers(0, 4)), some, "adjudicate" if round_ % 5 == 4 else "grade"
        )
        if round_ % 3 == 2:
            event = Judgment(f"w{round_}", some[0], chunk, who, "withdraw")
            pair.judgments.add(event)
        known = pair.activity.single_grades(known)
        anew = pair.activity.single_grades()
        assert known.table.tolist() == anew.table.tolist()
        assert (known.revision, known.names) == (anew.revision, anew.names)
    pair.queries.retire(QUERIES[0])
    kept = pair.activity.single_grades()
    assert (kept.pair >> 32).max() <= len(QUERIES) - 2
    assert len(kept.pair) == int(((anew.pair >> 32) != 0).sum())
