"""The deck and the trail by themselves: which chunk comes next, and what an undo leaves behind."""

from __future__ import annotations

import pytest

from tests.browser.modules import page_with

pytestmark = pytest.mark.browser

ITEM = """
    const item = (chunk, more = {}) =>
        ({query: "q1", chunk, source: "pool", replaces: null, stale: false, ...more});
    const done = (event_id, grade = 2) => ({event_id, kind: "grade", grade});
    const order = deck => deck.entries.map(entry => entry.item.chunk).join(" ");
    const deck = new ChunkQueue();
    const trail = new GradeHistory();
"""


@pytest.fixture
def run(browser):
    with page_with(browser, "grading/queue", "grading/history") as page:
        yield lambda body: page.evaluate(f"() => {{ {ITEM}\n{body} }}")


def test_a_repeat_is_asked_again_though_it_was_judged(run):
    assert run(
        """
        deck.add([item("a"), item("b")]);
        const first = deck.current.item;
        deck.settle(first, done("e1"));
        deck.goToNextOpen();
        deck.add([item("a", {source: "repeat", replaces: "e1"})]);
        deck.add([item("a", {source: "repeat", replaces: "e1"})]);
        const asked = order(deck);
        const repeat = deck.entries[2].item;
        const countsAsOpen = deck.settle(repeat, done("e2", 3));
        deck.restore(repeat, done("e1"), null);
        return [asked, countsAsOpen, deck.entries.map(e => e.done?.event_id ?? null),
                deck.standingOf(repeat).event_id];
        """
    ) == ["a b a", False, ["e1", None, None], "e1"]


def test_an_answer_that_is_older_than_a_grade_brings_nothing_back(run):
    assert (
        run(
            """
        deck.add([item("a"), item("b")]);
        deck.settle(item("a"), done("e1"));
        deck.add([item("a"), item("c")]);
        deck.restore(item("b"), null, null);
        deck.add([item("b")]);
        return order(deck);
        """
        )
        == "a b c"
    )


def test_what_was_stepped_over_comes_before_the_next_query_and_put_off_chunks_last(run):
    assert (
        run(
            """
        deck.add(["a", "b", "c", "d"].map(chunk => item(chunk)));
        deck.add([item("x", {query: "q2"})]);
        deck.putOff();  // a
        deck.step(1);   // over b
        const seen = [];
        while (deck.current && seen.length < 9) {
            seen.push(deck.current.item.chunk);
            deck.settle(deck.current.item, done("e" + seen.length));
            deck.goToNextOpen();
        }
        return seen.join(" ");
        """
        )
        == "c d b x a"
    )


def test_dropping_a_query_keeps_the_place(run):
    assert run(
        """
        deck.add([item("a"), item("x", {query: "q2"}), item("b"), item("y", {query: "q2"})]);
        deck.settle(item("a"), done("e1"));
        deck.goToNextOpen();
        const dropped = deck.drop(entry => entry.item.query === "q2").length;
        return [dropped, order(deck), deck.current.item.chunk];
        """
    ) == [2, "a b", "b"]


def test_an_undo_knows_what_stood_before_from_older_steps(run):
    assert run(
        """
        trail.start([
            {...done("e3", 3), item: item("a")},
            {...done("e2", 0), item: item("b")},
            {...done("e1", 1), item: item("a")},
        ]);
        const steps = [trail.pop(), trail.pop(), trail.pop()];
        const formers = steps.map(step => step.former?.event_id ?? null);
        trail.extend([]);
        return [formers, trail.oldest, trail.exhausted, trail.pop() ?? null];
        """
    ) == [["e1", None, None], "e1", True, None]
