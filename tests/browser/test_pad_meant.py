"""The whole of a sitting by each hand: what ends in the golden set is exactly what was meant."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Locator, Page, expect

from labeler.store import Store
from tests.browser.padpage import LAPTOP, PHONE, all_saved, library, quick_hand, ready

pytestmark = pytest.mark.browser

Pair = tuple[str, str]  # the texts of a query and of a chunk


@dataclass
class Meant:
    """What somebody means by what they do, kept without the pad."""

    steps: list[tuple[Pair, int, str | None]] = field(default_factory=list)
    undone: list[tuple[Pair, int, str | None]] = field(default_factory=list)
    waiting: dict[Pair, str] = field(default_factory=dict)  # notes without a grade yet

    def grade(self, pair: Pair, grade: int) -> None:
        former = self.stands().get(pair, (None, None))[1]
        self.steps.append((pair, grade, self.waiting.pop(pair, former)))
        self.undone.clear()

    def undo(self) -> None:
        self.undone.append(self.steps.pop())
        pair, _, note = self.undone[-1]
        if note:
            self.waiting[pair] = note

    def redo(self) -> None:
        self.steps.append(self.undone.pop())
        self.waiting.pop(self.steps[-1][0], None)

    def stands(self) -> dict[Pair, tuple[int, str | None]]:
        return {pair: (grade, note) for pair, grade, note in self.steps}


class Keys:
    """Grades by keyboard alone."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def grade(self, grade: int) -> None:
        self.page.keyboard.press(str(grade))

    def undo(self) -> None:
        self.page.keyboard.press("u")

    def redo(self) -> None:
        self.page.keyboard.press("Control+Shift+Z")

    def note(self, text: str) -> None:
        self.page.keyboard.press("n")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")


class Mouse:
    """Grades by a mouse that moves only to press something else."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.place = (-1.0, -1.0)
        self.clicks = 0

    def press(self, button: Locator) -> None:
        quick_hand(self.page)
        box = button.bounding_box()
        place = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.clicks = self.clicks + 1 if place == self.place else 1  # as a browser counts them
        if place != self.place:
            self.page.mouse.move(*place)
        self.place = place
        self.page.mouse.down(click_count=self.clicks)
        self.page.mouse.up(click_count=self.clicks)

    def grade(self, grade: int) -> None:
        self.press(self.page.locator(".grades button").nth(grade))

    def undo(self) -> None:
        self.press(self.page.locator("[data-act=undo]"))

    def redo(self) -> None:
        self.press(self.page.locator("[data-act=redo]"))

    def note(self, text: str) -> None:
        self.press(self.page.locator("[data-act=note]"))
        self.page.get_by_role("textbox", name="Note").fill(text)
        self.press(self.page.get_by_role("button", name="Save"))


class Finger(Mouse):
    """Grades by touch, on a phone."""

    def press(self, button: Locator) -> None:
        quick_hand(self.page)
        button.tap()

    def note(self, text: str) -> None:
        self.press(self.page.get_by_role("button", name="More"))
        super().note(text)


def on_screen(page: Page) -> Pair:
    query, text = page.locator(".pad").evaluate(
        """pad => [".query-text", ".chunk .text"].map(at => pad.querySelector(at).textContent)"""
    )
    return query, text


def in_golden_set(store: Store) -> dict[Pair, tuple[int, str | None]]:
    queries = {query.query_id: query.text for query in store.queries.all()}
    chunks = {chunk.chunk_id: chunk.text for chunk in store.chunks.all()}
    return {
        (queries[each.query_id], chunks[each.chunk_id]): (each.grade, each.note)
        for each in store.golden_set.read()[1]
    }


@pytest.mark.parametrize(
    ("hand_of", "device", "chunks"),
    [
        pytest.param(Keys, LAPTOP, 60, marks=pytest.mark.slow),
        (Mouse, LAPTOP, 25),
        pytest.param(Finger, PHONE, 25, marks=pytest.mark.slow),
    ],
    ids=["keys", "mouse", "touch"],
)
def test_what_was_meant_is_what_counts_at_the_end(serve, visit, tmp_path, hand_of, device, chunks):
    path = library(tmp_path / "library.db", queries=4, chunks=20)
    page = visit(serve(path).url, **device)
    ready(page)
    hand, meant = hand_of(page), Meant()

    def grade(grade: int) -> None:
        meant.grade(on_screen(page), grade)
        hand.grade(grade)

    def undo() -> None:
        meant.undo()
        hand.undo()
        assert on_screen(page) == meant.undone[-1][0]

    def redo() -> None:
        meant.redo()
        hand.redo()

    def note(text: str) -> None:
        meant.waiting[on_screen(page)] = text
        hand.note(text)

    for number in range(chunks):
        grade((number // 10 + number // 17) % 4)
        if number % 9 == 4:
            undo()
            grade(3)
        if number % 13 == 6:
            undo()
            undo()
            redo()
            redo()
        if number % 10 == 8:
            note(f"note {number}")
        if number % 20 == 9:
            undo()
            undo()  # the note of the one before goes back with it
            grade(1)
            expect(page.locator("[data-act=redo]")).to_be_disabled()  # something new was done
        page.context.set_offline(15 <= number < 26)
    page.context.set_offline(False)
    stands = meant.stands()
    all_saved(page, len(stands))
    expect(page.locator(".trouble")).to_be_hidden()
    with Store(path) as store:
        assert in_golden_set(store) == stands
    assert len(stands) >= chunks - 4
