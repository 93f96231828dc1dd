"""Grades transferred to another chunking: what follows is decided, the rest is said to be open."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import NotFound
from labeler.rechunking import (
    Cut,
    DerivedGrade,
    GradeBasis,
    OldGrade,
    find_locations,
    transfer_grades,
)
from tests.support.documents import KINDS, cuts, document, spans_of
from tests.support.examples import examples

Spans = Sequence[tuple[int, int]]

A = "Annual fees are due in May, and are taken from the account at the end of that month."
B = "A late transfer costs twelve euros, which the branch may waive once in any year it likes."
C = "Cards are sent by letter to the registered address within ten working days of a request."
D = "Statements can be read in the application, and are printed at the counter for two euros."


def grade(chunk_id: str, value: int, *passages: tuple[int, int], judgment: int = 1) -> OldGrade:
    return OldGrade("q", chunk_id, value, (GradeBasis(judgment, passages),))


def marked(chunk: str, text: str, value: int, *parts: str, judgment: int = 1) -> OldGrade:
    spans = [(text.index(part), text.index(part) + len(part)) for part in parts]
    return grade(chunk, value, *spans, judgment=judgment)


def transferred(
    old: dict[str, str], grades: list[OldGrade], new: str, **documents: str
) -> DerivedGrade:
    olds = [Cut(name, text) for name, text in old.items()]
    places = find_locations(olds, [Cut("n", new)], documents)
    [found] = transfer_grades(grades, [("q", "n")], places)
    return found


def test_text_that_lies_in_chunks_graded_0_is_0_and_rests_on_them() -> None:
    found = transferred(
        {"a": A, "b": B, "c": C},
        [grade("a", 0, judgment=4), grade("b", 0, judgment=5), grade("c", 3, judgment=6)],
        f"{A[40:]} {B}",
    )
    assert (found.state, found.grade, found.rests_on) == ("decided", 0, (4, 5))
    assert found.reason == "its text is in chunks graded 0"


def test_a_chunk_with_every_passage_of_a_grade_and_no_other_keeps_it() -> None:
    old = {"ab": f"{A} {B}", "c": C}
    grades = [marked("ab", old["ab"], 2, "due in May", judgment=7), grade("c", 0)]
    found = transferred(old, grades, A)
    assert (found.state, found.grade, found.rests_on) == ("decided", 2, (7,))
    assert found.passages == ((A.index("due"), A.index("due") + len("due in May")),)
    assert transferred(old, grades, B).grade == 0


def test_what_is_left_of_a_chunk_without_a_passage_is_open() -> None:
    found = transferred({"ab": f"{A} {B}"}, [grade("ab", 2)], A)
    assert (found.state, found.grade, found.low, found.high) == ("open", None, 0, 2)
    assert found.reason == "a part of chunk ab, in which no passage is marked"


def test_one_of_several_passages_decides_nothing() -> None:
    old = {"ab": f"{A} {B}"}
    found = transferred(old, [marked("ab", old["ab"], 3, "due in May", "twelve euros")], A)
    assert (found.state, found.low, found.high) == ("proposed", 1, 3)


def test_a_part_of_a_passage_decides_nothing() -> None:
    old = {"ab": f"{A} {B}"}
    whole = old["ab"]
    found = transferred(old, [marked("ab", whole, 3, whole[20:140])], A)
    assert (found.state, found.low, found.high) == ("proposed", 0, 3)
    assert found.passages == ((20, len(A)),)


def test_chunks_that_merge_are_at_least_as_good_as_the_better_one() -> None:
    old = {"a": A, "b": B}
    found = transferred(old, [marked("a", A, 2, "May"), marked("b", B, 1, "costs")], f"{A} {B}")
    assert (found.state, found.grade, found.low, found.high) == ("proposed", 2, 2, 3)
    assert "it holds every passage of chunk a, grade 2" in found.reason


def test_nothing_is_better_than_the_best_grade() -> None:
    old = {"a": A, "b": B}
    found = transferred(old, [marked("a", A, 3, "May"), marked("b", B, 1, "costs")], f"{A} {B}")
    assert (found.state, found.grade) == ("decided", 3)


def test_a_relevant_chunk_whole_among_what_is_graded_0_keeps_its_grade_by_text_alone() -> None:
    found = transferred({"a": A, "b": B}, [grade("a", 0), grade("b", 2)], f"{A} {B}")
    assert (found.state, found.grade) == ("decided", 2)


def test_what_nobody_graded_stays_open() -> None:
    found = transferred({"a": A, "b": B}, [marked("a", A, 3, "due in May")], f"{A} {B[:9]}")
    assert (found.state, found.grade) == ("open", None)
    assert (found.low, found.high) == (3, 3)
    assert found.reason == "90% of its text is in graded chunks"
    assert transferred({"a": A}, [], A).reason == "0% of its text is in graded chunks"
    assert transferred({"a": A}, [grade("a", 3)], B).reason == "its text was not found"


def test_a_paragraph_that_stands_twice_never_decides() -> None:
    found = transferred({"a": A, "b": B, "again": A}, [grade("a", 0), grade("again", 0)], A)
    assert (found.state, found.grade) == ("proposed", 0)
    assert found.reason == "its text fits 2 places equally well"


def test_a_changed_word_is_a_proposal() -> None:
    whole = f"{A} {B} {C} {D}"
    found = transferred({"ab": whole}, [grade("ab", 1)], whole.replace("May", "June"))
    assert (found.state, found.grade) == ("proposed", 1)
    assert found.reason == "words of its text were changed"
    other = whole.replace("branch", "office in the capital")
    found = transferred({"ab": whole}, [grade("ab", 1)], other)
    assert (found.state, found.grade) == ("open", None)


def test_graded_chunks_that_contradict_each_other_decide_nothing() -> None:
    old = {"ab": f"{A} {B}", "bc": f"{B} {C}"}
    whole = marked("ab", old["ab"], 2, "A late transfer costs twelve euros")
    found = transferred(old, [whole, grade("bc", 0)], B)
    assert found.state == "proposed"
    assert found.reason.startswith("graded chunks differ: it holds every passage of chunk ab")


def test_of_several_judgments_the_passages_of_one_are_enough() -> None:
    old = {"ab": f"{A} {B}"}
    bases = (GradeBasis(1, ((0, len(A)),)), GradeBasis(2, ((0, 11),)))
    found = transferred(old, [OldGrade("q", "ab", 3, bases)], A[:20])
    assert (found.low, found.state) == (3, "decided")
    assert found.rests_on == (1, 2)


def test_a_mark_on_what_is_not_of_the_document_is_as_none() -> None:
    old = f"Handbook of Fees\n\n{A} {B}"
    found = transferred({"ab": old}, [grade("ab", 3, (0, 16))], A, d=f"{A} {B}")
    assert (found.state, found.grade) == ("open", None)


def test_ids_and_order_are_kept() -> None:
    places = find_locations([Cut("1", A)], [Cut("1", A), Cut("01", B)])
    asked = [("b", "01"), ("a", "1"), ("b", "1")]
    found = transfer_grades([OldGrade("b", "1", 0)], asked, places)
    assert [(each.query_id, each.chunk_id) for each in found] == asked
    assert [each.grade for each in found] == [None, None, 0]


@pytest.mark.parametrize(("grades", "asked"), [([OldGrade("q", "x", 0)], []), ([], [("q", "x")])])
def test_a_chunk_nobody_knows_is_refused(
    grades: list[OldGrade], asked: list[tuple[str, str]]
) -> None:
    with pytest.raises(NotFound, match="chunk 'x'"):
        transfer_grades(grades, asked, find_locations([Cut("a", A)], [Cut("b", B)]))


class World:
    """A document whose evidence is known, so that every chunk's true grade is."""

    def __init__(self, kind: str, seed: int) -> None:
        numbers = random.Random(seed)
        self.text = document(kind, numbers)
        size = len(self.text)
        starts = sorted(numbers.sample(range(0, size - 150, 150), 3))
        self.evidence = [(start, start + numbers.randint(45, 140)) for start in starts]
        self.total = sum(end - start for start, end in self.evidence)

    def held(self, span: tuple[int, int]) -> list[tuple[int, int]]:
        parts = [(max(span[0], a), min(span[1], b)) for a, b in self.evidence]
        return [(a, b) for a, b in parts if a < b]

    def truth(self, span: tuple[int, int]) -> int:
        found = sum(end - start for start, end in self.held(span))
        if found < 20:
            return 0
        return 3 if found >= 0.95 * self.total else 2 if found >= 0.5 * self.total else 1

    def near(self, span: tuple[int, int]) -> set[int]:
        """Return the true grades of a span and of those that begin or end a little elsewhere."""
        start, end = span
        return {
            self.truth((start + by, end + also)) for by in (-12, 0, 12) for also in (-12, 0, 12)
        }

    def graded(self, name: str, spans: Spans, *, marks: bool) -> list[OldGrade]:
        found = []
        for number, (start, end) in enumerate(spans):
            value = self.truth((start, end))
            lead = len(self.text[start:end]) - len(self.text[start:end].lstrip())
            own = [(max(0, a - start - lead), b - start - lead) for a, b in self.held((start, end))]
            passages = tuple(own) if value and marks else ()
            found.append(OldGrade("q", f"{name}{number}", value, (GradeBasis(number, passages),)))
        return found

    def transferred(self, old: Spans, new: Spans, *, marks: bool) -> list[DerivedGrade]:
        olds, news = cuts("o", self.text, old), cuts("n", self.text, new)
        asked = [("q", cut.chunk_id) for cut in news]
        return transfer_grades(
            self.graded("o", old, marks=marks), asked, find_locations(olds, news)
        )


WORLDS = st.builds(World, st.sampled_from(KINDS), st.integers(0, 10**6))


@examples(40)
@given(WORLDS, st.integers(150, 900), st.sampled_from([0, 60]), st.integers(60, 900), st.booleans())
def test_what_is_decided_is_true(
    world: World, size: int, overlap: int, other: int, marks: bool
) -> None:
    new = spans_of(world.text, other)
    found = world.transferred(spans_of(world.text, size, overlap), new, marks=marks)
    wrong = [
        (each, world.truth(span))
        for each, span in zip(found, new, strict=True)
        # so near to a threshold the 2% that do not count decide it
        if each.state == "decided" and each.grade not in world.near(span)
    ]
    assert wrong == []


@examples(20)
@given(WORLDS, st.integers(150, 900), st.sampled_from([0, 60]), st.booleans())
def test_carried_to_the_same_chunking_every_grade_is_what_it_was(
    world: World, size: int, overlap: int, marks: bool
) -> None:
    spans = spans_of(world.text, size, overlap)
    same = cuts("o", world.text, spans)
    grades = world.graded("o", spans, marks=marks)
    found = transfer_grades(
        grades, [("q", cut.chunk_id) for cut in same], find_locations(same, same)
    )
    truths = [world.truth(span) for span in spans]
    assert [(each.state, each.grade) for each in found] == [("decided", value) for value in truths]


@examples(20)
@given(WORLDS, st.integers(300, 900), st.integers(80, 250))
def test_what_is_cut_out_of_chunks_graded_0_is_0(world: World, size: int, part: int) -> None:
    world.evidence = []
    spans = spans_of(world.text, part)
    found = world.transferred(spans_of(world.text, size), spans, marks=True)
    assert {each.grade for each in found} == {0}
    assert all(
        each.state == "decided" or world.text.count(world.text[start:end].strip()) > 1
        for each, (start, end) in zip(found, spans, strict=True)
    )


@examples(20)
@given(WORLDS, st.integers(0, 100), st.integers(0, 100))
def test_a_chunk_with_all_evidence_of_one_judgment_keeps_its_grade(
    world: World, before: int, after: int
) -> None:
    """Whatever else of the graded text is around it."""
    start, end = world.evidence[0]
    world.evidence, world.total = [(start, end)], end - start
    size = len(world.text)
    old = [(max(0, start - 200), min(size, end + 200))]
    [found] = world.transferred(old, [(max(0, start - before), min(size, end + after))], marks=True)
    assert (found.state, found.grade) == ("decided", 3)
