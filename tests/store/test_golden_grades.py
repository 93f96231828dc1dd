"""The golden grade: what counts of a pair's judgments, against an oracle written from the words.

The golden grade of a pair is the newest adjudication; else what people's current grades become by
the team's rule; else the imported grade. Undo restores the state before the event it names.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import BadInput, LabelerError
from labeler.formats import read_golden, write_golden
from labeler.formats.event_log import golden_grades_of
from labeler.model import (
    GOLDEN_RULES,
    LOWER_MEDIAN,
    MAJORITY,
    ROUNDED_MEAN,
    UPPER_MEDIAN,
    Chunk,
    GoldenGrade,
    GradeChange,
    Judgment,
    Loaded,
    LoadedGolden,
    Query,
    agreed_grade,
    find_control_character,
)
from labeler.services.import_export.snapshots import live_content
from labeler.store import Store
from tests.support.examples import examples

GRADERS = ("Ann", "Bob", "Cy")
PAIRS = (("q1", "c1"), ("q1", "c2"), ("q2", "c1"))
LANES = {"adjudicate": "adjudicate", "import": "import", "propose": "propose"}


def loaded(records) -> Loaded:
    return Loaded("file.jsonl", records, range(1, len(records) + 1))


def golden(queries=(), grades=()) -> LoadedGolden:
    return LoadedGolden(loaded(queries), loaded(grades), loaded([]))


@dataclass
class Oracle:
    """The events that nobody took back, oldest first: (event, grader, pair, kind, grade)."""

    events: list[tuple] = field(default_factory=list)
    rule: str = LOWER_MEDIAN

    def undo(self, event_id: str) -> bool:
        """Take an event back if it is the newest of its grader, pair and kind of say."""
        for event in self.events:
            if event[0] == event_id and self.latest(*event[1:4]) == event:
                self.events.remove(event)
                return True
        return False

    def latest(self, grader, pair, kind):
        lane = LANES.get(kind, "grade")
        said = [
            event
            for event in self.events
            if event[1:3] == (grader, pair) and LANES.get(event[3], "grade") == lane
        ]
        return said[-1] if said else None

    def grade(self, pair) -> int | None:
        """Return the pair's golden grade, straight from the words."""
        of_pair = [event for event in self.events if event[2] == pair]
        verdicts = [event[4] for event in of_pair if event[3] == "adjudicate"]
        if verdicts:
            return verdicts[-1]
        newest = [self.latest(grader, pair, "grade") for grader in GRADERS]
        grades = sorted(event[4] for event in newest if event is not None and event[3] == "grade")
        if grades:
            return in_one(grades, self.rule)
        imports = [event[4] for event in of_pair if event[3] == "import"]
        return imports[-1] if imports else None


def in_one(grades: list[int], rule: str) -> int | None:
    """Say what sorted grades become, straight from the words."""
    if rule == MAJORITY:
        most = max(Counter(grades).values())
        found = [grade for grade in set(grades) if grades.count(grade) == most]
        return found[0] if len(found) == 1 else None
    if rule == ROUNDED_MEAN:
        mean = Fraction(sum(grades), len(grades))
        return max(grade for grade in range(4) if grade - mean < Fraction(1, 2))
    last = len(grades) - 1
    return grades[last // 2 if rule == LOWER_MEDIAN else last - last // 2]


def make_empty(folders: pytest.TempPathFactory) -> Path:
    path = folders.mktemp("empty") / "golden.db"
    Store(path, create=True).close()
    return path


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A golden set with nothing in it, to copy for each example: making one takes long."""
    return make_empty(tmp_path_factory)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another one, with an id of its own."""
    return make_empty(tmp_path_factory)


def set_up(folder: str, empty: Path) -> Store:
    store = Store(shutil.copy(empty, folder))
    store.queries.load(loaded([Query("q1", "one"), Query("q2", "two")]))
    store.chunks.load(loaded([Chunk("c1", "text 1"), Chunk("c2", "text 2")]))
    for name in GRADERS:
        store.people.add(name)
    return store


def golden_of(store: Store) -> dict[tuple[str, str], int]:
    return {(grade.query_id, grade.chunk_id): grade.grade for grade in store.golden_set.read()[1]}


def assert_opens_as_the_view_has_it(store: Store) -> None:
    """Hold what a board opens with, arrays made of the log, against the rows of the view."""
    found = store.collection.read()
    rows = zip(
        *(found.golden_query, found.golden_chunk, found.golden_grade, found.stale), strict=True
    )
    opened = [
        (found.query_ids[query], found.chunk_ids[chunk], grade, stale)
        for query, chunk, grade, stale in rows
    ]
    assert opened == store.connection.rows(
        "SELECT q.query_id, c.chunk_id, grade, stale FROM golden JOIN queries AS q "
        "ON q.id = query JOIN chunks AS c ON c.id = chunk WHERE retired_at IS NULL "
        "ORDER BY q.id, c.id"
    )
    assert found.golden is not None
    assert found.golden.hash == live_content(store).state.hash, "the same people stand behind them"


def assert_all_of_a_grader_is_what_each_pair_says(store: Store) -> None:
    """Hold what a grader sits down with, made of their log, against the view, pair by pair."""
    for grader in GRADERS:
        asked = {
            (query_id, store.chunks.number(chunk_id)): store.assignment.judgment_of(
                grader, query_id, chunk_id
            )
            for query_id, chunk_id in PAIRS
        }
        said = {pair: judged for pair, judged in asked.items() if judged is not None}
        assert store.assignment.judged_by(grader) == said


def act(store: Store, oracle: Oracle, step: tuple, number: int) -> None:
    """Do one step to both."""
    kind, grader, pair, grade = step
    event_id = f"e{number}"
    if kind == "rule":
        store.settings.save(replace(store.settings.read(), golden_rule=GOLDEN_RULES[grade]))
        oracle.rule = GOLDEN_RULES[grade]
        return
    if kind == "text":
        words = loaded([Chunk(pair[1], f"text {grade}")])
        store.chunks.load(words, update=True)
        return
    if kind == "undo":
        past = [
            event
            for event in store.judgments.log()
            if event.grader == grader and (event.query_id, event.chunk_id) == pair
        ]
        target = past[-1 - grade % len(past)].event_id if past else "none"
        try:
            store.judgments.undo(event_id=event_id, undoes=target, grader=grader)
        except LabelerError:
            assert not oracle.undo(target), "refused, though it was the newest"
        else:
            assert oracle.undo(target), "undone, though it was not the newest"
        return
    if kind in ("cannot_tell", "withdraw"):
        grade = None
    if kind == "import":
        grader = None
    source = "repeat" if number % 3 == 2 and grader else None
    store.judgments.add(Judgment(event_id, *pair, grader, kind, grade, source=source))
    oracle.events.append((event_id, grader, pair, kind, grade))


STEPS = st.tuples(
    st.sampled_from(
        (
            *("grade", "adjudicate", "undo") * 2,
            *("grade", "grade", "undo"),
            "rule",
            "text",
            "cannot_tell",
            "withdraw",
            "import",
            "propose",
        )
    ),
    st.sampled_from([*GRADERS, "Ann"]),
    st.sampled_from([*PAIRS, PAIRS[0], PAIRS[0]]),
    st.integers(0, 3),
)


@examples(60)
@given(st.lists(STEPS, min_size=1, max_size=30))
def test_the_golden_view_is_what_the_words_say(empty, steps):
    with tempfile.TemporaryDirectory() as folder, set_up(folder, empty) as store:
        oracle, followed = Oracle(), {}
        for number, step in enumerate(steps):
            before = store.judgments.revision()
            act(store, oracle, step, number)
            expected = {pair: oracle.grade(pair) for pair in PAIRS}
            assert golden_of(store) == {
                pair: grade for pair, grade in expected.items() if grade is not None
            }
            if oracle.rule == LOWER_MEDIAN:
                assert golden_of(store) == golden_grades_of(store.judgments.log())
            assert_opens_as_the_view_has_it(store)
            chunk_ids = store.collection.read().chunk_ids
            for change in store.judgments.changes_since(before):
                followed[change.query_id, chunk_ids[change.chunk]] = change.grade
            if step[0] == "rule":  # a setting: who follows the changes reads all anew
                followed = golden_of(store)
            assert {pair: grade for pair, grade in followed.items() if grade is not None} == (
                golden_of(store)
            ), "who follows the changes must be where who reads it all is"
        assert store.judgments.changes_since(store.judgments.revision()) == []
        assert_all_of_a_grader_is_what_each_pair_says(store)
        store.queries.retire("q2")
        assert_opens_as_the_view_has_it(store)


def judge(store: Store, *said: tuple[str, str, int | None]) -> int | None:
    """Let graders speak about one pair; return its golden grade."""
    for grader, kind, grade in said:
        number = store.judgments.revision()
        store.judgments.add(
            Judgment(f"e{number}", "q1", "c3", None if kind == "import" else grader, kind, grade)
        )
    return golden_of(store).get(("q1", "c3"))


@pytest.mark.parametrize(
    ("grades", "median"),
    [
        ([2], 2),
        ([0, 3], 0),
        ([3, 0], 0),
        ([0, 1, 3], 1),
        ([1, 2, 2, 3], 2),
        ([0, 1, 2, 3], 1),
        ([3, 3, 0, 0], 0),
    ],
)
def test_an_even_number_of_graders_meets_at_the_lower_median(filled: Store, grades, median: int):
    for number in range(len(grades)):
        filled.people.add(f"grader {number}")
    said = [(f"grader {number}", "grade", grade) for number, grade in enumerate(grades)]
    assert judge(filled, *said) == median
    assert median in grades, "a golden grade must be one that somebody gave"


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.sampled_from(GOLDEN_RULES))
def test_the_model_makes_one_grade_of_several_as_the_words_say(grades, rule):
    assert agreed_grade(grades, rule) == in_one(sorted(grades), rule)
    assert agreed_grade(grades[::-1], rule) == agreed_grade(grades, rule)
    assert agreed_grade([], rule) is None


def test_nobody_is_told_a_grade_by_a_rule_that_is_not_there(filled: Store):
    with pytest.raises(BadInput, match=r"lower median, upper median, .* majority, not by 'mode'"):
        replace(filled.settings.read(), golden_rule="mode")
    with pytest.raises(BadInput, match="not by 'median'"):
        agreed_grade([1], "median")


@examples(25)
@given(st.data())
def test_the_golden_view_and_the_model_make_the_same_of_any_grades(empty, data):
    grades = data.draw(st.lists(st.lists(st.integers(0, 3), max_size=7), min_size=2, max_size=3))
    with tempfile.TemporaryDirectory() as folder, set_up(folder, empty) as store:
        for pair, given_ones in zip(PAIRS, grades, strict=False):
            for number, grade in enumerate(given_ones):
                store.people.add(f"grader {number}")
                store.judgments.add(
                    Judgment(f"{pair}{number}", *pair, f"grader {number}", grade=grade)
                )
        log = store.judgments.log()
        for rule in data.draw(st.permutations(GOLDEN_RULES)):
            store.settings.save(replace(store.settings.read(), golden_rule=rule))
            expected = {
                pair: agreed_grade(given_ones, rule)
                for pair, given_ones in zip(PAIRS, grades, strict=False)
            }
            there = {pair: grade for pair, grade in expected.items() if grade is not None}
            assert golden_of(store) == there
            assert len(store.collection.read().golden_grade) == len(there)
            assert store.judgments.log() == log, "a rule changes what counts, never what was said"


def test_a_new_rule_is_a_new_revision_of_the_data_and_none_of_the_log(filled: Store):
    judge(filled, ("Ann", "grade", 0), ("Bob", "grade", 3))
    before = filled.judgments.revision(), filled.golden_set.data_revision()
    filled.settings.save(replace(filled.settings.read(), golden_rule=UPPER_MEDIAN))
    assert judge(filled) == 3
    assert (filled.judgments.revision(), filled.golden_set.data_revision()) == (
        before[0],
        before[1] + 1,
    )


def test_a_tie_of_the_most_frequent_grades_is_a_hole_until_somebody_decides(filled: Store):
    filled.settings.save(replace(filled.settings.read(), golden_rule=MAJORITY))
    assert judge(filled, ("", "import", 1), ("Ann", "grade", 0), ("Bob", "grade", 3)) is None
    chunk = filled.chunks.number("c3")
    assert ("q1", chunk) not in [pair for pair, *_ in filled.assignment.golden_kinds()[0]]
    assert filled.judgments.changes_since(filled.judgments.revision() - 1) == [
        GradeChange("q1", chunk, None)
    ]
    assert judge(filled, ("Cy", "grade", 3)) == 3, "a third grade breaks the tie"
    assert judge(filled, ("Cy", "grade", 2)) is None, "three different grades are a tie, too"
    assert judge(filled, ("Ann", "adjudicate", 1)) == 1


def test_a_mean_that_is_nobodys_grade_has_the_note_of_the_nearest_lower_one(filled: Store):
    filled.settings.save(replace(filled.settings.read(), golden_rule=ROUNDED_MEAN))
    for grader, grade in (("Ann", 0), ("Bob", 3), ("Cy", 3)):
        note = f"note of {grader}"
        filled.judgments.add(Judgment(f"n{grader}", "q1", "c3", grader, grade=grade, note=note))
    there = {(each.query_id, each.chunk_id): each for each in filled.golden_set.read()[1]}
    found = there["q1", "c3"]
    assert (found.grade, found.note) == (2, "note of Ann")
    assert found.graders == ("Ann", "Bob", "Cy")


def test_a_grade_given_again_for_the_present_text_is_not_stale(filled: Store):
    judge(filled, ("Ann", "grade", 2))
    filled.chunks.load(loaded([Chunk("c3", "another text")]), update=True)
    pair = ("q1", filled.chunks.number("c3"))
    assert (pair, "grade", True) in filled.assignment.golden_kinds()[0]
    assert judge(filled, ("Bob", "grade", 2)) == 2
    assert (pair, "grade", False) in filled.assignment.golden_kinds()[0]


def test_only_a_graders_newest_grade_counts(filled: Store):
    said = [("Ann", "grade", 0), ("Ann", "grade", 0), ("Bob", "grade", 3), ("Ann", "grade", 3)]
    assert judge(filled, *said) == 3


def test_an_import_counts_until_a_person_grades(filled: Store):
    assert judge(filled, ("", "import", 1)) == 1
    assert judge(filled, ("Ann", "grade", 3)) == 3
    assert judge(filled, ("", "import", 0)) == 3, "a later import does not outrank a person"
    filled.judgments.undo(event_id="u", undoes="e4", grader="Ann")
    assert golden_of(filled)["q1", "c3"] == 0


def test_cannot_tell_is_not_a_zero(filled: Store):
    assert judge(filled, ("Ann", "cannot_tell", None)) is None
    assert judge(filled, ("Bob", "grade", 3)) == 3
    assert judge(filled, ("Cy", "grade", 2), ("Cy", "cannot_tell", None)) == 3
    assert judge(filled, ("Bob", "cannot_tell", None)) is None


def test_a_proposal_never_counts(filled: Store):
    assert judge(filled, ("Ann", "propose", 3)) is None
    assert judge(filled, ("Bob", "grade", 0), ("Bob", "propose", 3)) == 0
    filled.judgments.undo(event_id="u", undoes="e4", grader="Bob")
    assert judge(filled) is None, "taking the grade back leaves the proposal, which is no grade"


def test_a_verdict_outranks_every_grade_given_later(filled: Store):
    assert judge(filled, ("Cy", "adjudicate", 1), ("Ann", "grade", 3), ("Cy", "grade", 3)) == 1
    assert judge(filled, ("Bob", "adjudicate", 2)) == 2


def test_a_golden_grade_names_who_stands_behind_it(filled: Store):
    judge(filled, ("Cy", "grade", 1), ("Ann", "grade", 1), ("Bob", "cannot_tell", None))
    grades = {(grade.query_id, grade.chunk_id): grade for grade in filled.golden_set.read()[1]}
    assert grades["q1", "c3"].graders == ("Ann", "Cy")
    assert grades["q1", "c1"].graders == ("Bea",)


@pytest.mark.parametrize(
    "question",
    [
        "SELECT grade, stale FROM golden WHERE query = ? AND chunk = ?",
        "SELECT * FROM current_judgments WHERE query = ? AND chunk = ?",
    ],
)
@pytest.mark.in_a_file
def test_a_question_about_one_pair_reads_only_that_pair(filled: Store, question: str):
    plan = [row[3] for row in filled.connection.rows(f"EXPLAIN QUERY PLAN {question}", [1, 1])]
    assert "SEARCH j USING INDEX judgments_pair (query=? AND chunk=?)" in plan
    assert not [step for step in plan if step.startswith(("SCAN j", "SCAN undo", "SCAN chunks"))]


@pytest.mark.in_a_file
def test_following_the_log_reads_only_its_tail(filled: Store):
    asked: list[str] = []
    filled.connection.conn.set_trace_callback(asked.append)
    filled.judgments.changes_since(1)
    filled.assignment.judged_since(1)
    filled.connection.conn.set_trace_callback(None)
    plans = [
        [row[3] for row in filled.connection.rows(f"EXPLAIN QUERY PLAN {sql}")] for sql in asked
    ]
    for plan in (plans[0], plans[-1]):
        assert any("INTEGER PRIMARY KEY (rowid>?)" in step for step in plan)
        assert not [step for step in plan if step.startswith(("SCAN j", "SCAN q", "SCAN c"))]


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
)
WORDS = TEXTS.filter(str.strip)
NAMES = WORDS.filter(lambda name: find_control_character(name) is None)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
QUERIES = st.builds(
    Query,
    query_id=TEXTS,
    text=WORDS,
    task=st.none() | st.sampled_from(["single", "research", "compliance", "longtail"]),
    reference=st.none() | WORDS,
    guideline=st.none() | WORDS,
    keywords=st.lists(WORDS, max_size=2).map(tuple),
    buckets=st.dictionaries(NAMES.filter(lambda facet: facet != "task"), NAMES, max_size=2),
    metadata=st.dictionaries(WORDS, JSON, max_size=2),
)
GRADES = st.fixed_dictionaries(
    {
        "grade": st.integers(0, 3),
        "graders": st.lists(NAMES, max_size=2, unique=True).map(tuple),
        "note": st.none() | TEXTS,
    }
)


@examples(60)
@given(st.data())
def test_a_golden_set_loads_into_an_empty_file_and_exports_byte_for_byte(empty, other, data):
    queries = data.draw(st.lists(QUERIES, min_size=1, max_size=3, unique_by=lambda q: q.query_id))
    grades = [
        GoldenGrade(query.query_id, chunk_id, **values)
        for query in queries
        for chunk_id, values in data.draw(st.dictionaries(TEXTS, GRADES, max_size=3)).items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        first = transferred(
            shutil.copy(empty, f"{folder}/first.db"), lambda _: golden(queries, grades)
        )
        file = Path(folder) / "golden.jsonl"
        file.write_bytes(first)
        second = transferred(shutil.copy(other, f"{folder}/second.db"), lambda _: read_golden(file))
    assert second == first
    assert first.count(b"\n") == len(queries), "no text may break a line"


def transferred(path: str, load: Callable[[Store], LoadedGolden]) -> bytes:
    """Load a golden set into an empty file and return what it exports."""
    with Store(path) as store:
        store.golden_loads.add(load(store))
        return write_golden(*store.golden_set.read(), "jsonl")
