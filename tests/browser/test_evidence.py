"""The passage that made a grade is marked by mouse, by keys alone and by finger."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from labeler.model import Chunk, Judgment, Passage
from labeler.store import Store
from tests.browser.modules import page_with
from tests.browser.padpage import (
    PHONE,
    all_saved,
    cut_off,
    library,
    press,
    quick_hand,
    ready,
    shown,
    standing,
)
from tests.browser.server import loaded

pytestmark = pytest.mark.browser

TEXT = (
    "This is the text, read by 👩‍🏫 Zoë. Parcels are paid back within thirty days. "
    "A café is not asked. Nobody pays for a parcel twice."
)
DAYS = "Parcels are paid back within thirty days."
CAFE = "A café is not asked."
ROW = ".row.current .text"
# Selects words of the chunk on screen, as a mouse or a finger does.
SELECT = """(text, words) => {
    const [start, end] = [text.textContent.indexOf(words), words.length];
    const range = document.createRange();
    let at = 0;
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const [from, to] = [start - at, start + end - at];
        if (from >= 0 && from < node.length) range.setStart(node, from);
        if (to > 0 && to <= node.length) range.setEnd(node, to);
        at += node.length;
    }
    const selection = text.getRootNode().getSelection?.() ?? document.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
}"""


@pytest.fixture
def reads(tmp_path: Path) -> Path:
    """One query with three chunks whose characters are of all widths."""
    path = library(tmp_path / "library.db", queries=1, chunks=3, evidence_from=2)
    with Store(path) as store:
        chunks = [Chunk(f"c{n}", f"{TEXT} ({n})", f"Title {n}") for n in range(3)]
        store.chunks.load(loaded(chunks), update=True)
    return path


def select(page: Page, words: str, within: str = ".chunk .text") -> None:
    page.locator(within).evaluate(f"(text, words) => ({SELECT})(text, words)", words)


def marked_on(page: Page, within: str = ".chunk .text") -> list[str]:
    """Return the passages that are marked on the page."""
    return page.locator(within).evaluate(
        """text => {
            const found = [];
            for (const mark of text.querySelectorAll("mark.evidence")) {
                if (mark.classList.contains("begins")) found.push("");
                found[found.length - 1] += mark.textContent;
            }
            return found;
        }"""
    )


def kept(store: Store) -> list[list[str]]:
    """Return what each event of the log says was marked, in words."""
    return [
        [f"{TEXT} (0)"[start:end] for start, end in each.evidence] for each in store.judgments.log()
    ]


def words_of(passages: Iterable[Passage]) -> list[str]:
    return [TEXT[start:end] for start, end in passages]


def passage(words: str) -> Passage:
    return TEXT.index(words), TEXT.index(words) + len(words)


def test_places_are_counted_as_the_server_counts_them(browser: Browser):
    with page_with(browser, "js/passages") as page:
        found = page.evaluate(
            """text => {
                const at = text.indexOf("Parcels");
                const [passage] = [passageOf(text, at - 1, at + 8)];
                const half = passageOf("a👩b", 2, 4);
                return [passage, half, stretchesOf(text, [passage, [0, 9999]]),
                    toggled([[0, 5], [9, 12]], [3, 10]), toggled([[0, 5]], [1, 2]),
                    joined([[0, 5]], [5, 9]), passageOf(text, 3, 3), passageOf("a  b", 1, 3)];
            }""",
            TEXT,
        )
    start = TEXT.index("Parcels")
    assert found[0] == [start, start + len("Parcels")]
    units = len(TEXT[:start].encode("utf-16-le")) // 2
    assert found[2] == [{"start": units, "end": units + len("Parcels")}]
    assert found[1] == [1, 3], "half of a character is all of it"
    assert found[3:] == [[[0, 12]], [], [[0, 5], [5, 9]], None, None]


def test_what_is_selected_across_a_long_text_is_found_in_it(browser: Browser):
    body = "<p>before</p><div id='host'></div><p>after</p>"
    text = "".join(f"Sentence {n} of a long text 👩.\n" for n in range(400))
    with page_with(browser, "js/text_places", "js/text_marks", "js/text_paint", body=body) as page:
        found = page.evaluate(
            """text => {
                const host = document.querySelector("#host");
                paintText(host, text, marksOf({ text: "" }), { marking: true });
                const at = text.indexOf("Sentence 300");
                const [first] = wrap(host, [{ start: at, end: at + 12 }], "evidence");
                const said = first.textContent;
                const range = document.createRange();
                range.setStart(host.firstChild.firstChild, 9);
                range.setEnd(first.firstChild, 8);
                getSelection().removeAllRanges();
                getSelection().addRange(range);
                const across = selectedIn(host);
                range.selectNodeContents(document.body);
                const page = selectedIn(host);
                wrap(host, [], "evidence");
                return [at, said, across, page, host.textContent === text,
                    host.querySelectorAll("mark").length];
            }""",
            text,
        )
    at = found[0]
    assert found[1:] == ["Sentence 300", {"start": 9, "end": at + 8}, None, True, 0]


def test_a_selected_passage_goes_with_the_grade_and_one_marked_later_is_undone(
    serve, visit, reads: Path
):
    served = serve(reads)
    page = visit(served.url)
    ready(page)
    text = shown(page)
    select(page, DAYS)
    expect(page.locator(".marker")).to_contain_text("mark as evidence")
    press(page, "2")
    expect(page.locator(".said")).to_have_text("You gave 2 partly relevant · evidence marked")
    all_saved(page, 1)
    press(page, "k")
    assert marked_on(page) == [DAYS]
    expect(page.locator(".chunk .rests")).to_have_text("evidence marked")
    select(page, CAFE)
    press(page, "e")
    assert marked_on(page) == [DAYS, CAFE]
    press(page, "u")
    expect(page.locator(".said")).to_contain_text("Undone")
    assert marked_on(page) == [DAYS]
    select(page, "thirty")
    press(page, "e")  # inside of one that is marked: again is to clear
    expect(page.locator(".said")).to_have_text("Nothing is marked")
    assert marked_on(page) == []
    press(page, "m")  # the words of the question are painted anew
    select(page, TEXT[5:64])
    press(page, "e")
    assert marked_on(page) == [TEXT[5:64].strip()]
    assert shown(page) == text
    all_saved(page, 1)
    page.reload()
    ready(page)
    press(page, "k")
    expect(page.locator(".chunk .rests")).to_have_text("evidence marked")
    assert marked_on(page) == [TEXT[5:64].strip()]
    press(page, "b")
    expect(page.locator(".row.current .words")).to_contain_text("evidence marked")
    assert marked_on(page, ".row.current .text") == [TEXT[5:64].strip()]
    with served.store() as store:
        wanted = [[DAYS], [DAYS, CAFE], [DAYS], [], [TEXT[5:64].strip()]]
        assert kept(store) == wanted
        assert {each.grade for each in store.judgments.log()} == {2}
        assert [each.elapsed_ms is None for each in store.judgments.log()] == [
            False,
            True,
            False,
            True,
            True,
        ]
        assert all(each.blind for each in store.judgments.log())


def test_sentences_are_marked_with_keys_alone_and_nothing_is_lost_offline(
    serve, visit, reads: Path
):
    served = serve(reads)
    page = visit(served.url)
    ready(page)
    press(page, "3")
    expect(page.locator(".said")).to_have_text(
        "You gave 3 highly relevant · Which words does your grade rest on? K, then E"
    )
    all_saved(page, 1)
    cut_off(page)
    press(page, "ke")
    expect(page.locator(".marker")).to_contain_text("next")
    expect(page.locator(".announce")).to_contain_text("not marked: This is the text")
    press(page, "jj k j".replace(" ", ""))
    expect(page.locator("mark.aimed").first).to_have_text(CAFE)
    page.keyboard.press("Space")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    assert marked_on(page) == [DAYS, CAFE]
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    assert marked_on(page) == [CAFE]
    expect(page.locator("mark.aimed")).to_have_count(0)
    press(page, "je")
    page.keyboard.press("Space")
    press(page, "1")  # a grade takes along what was marked
    expect(page.locator(".state")).to_contain_text("offline: 2 kept, sent when you’re back")
    page.close()
    again = visit(served.url, context=page.context)
    ready(again)
    all_saved(again, 2)
    with served.store() as store:
        events = store.judgments.log()
        assert [each.grade for each in events] == [3, 3, 1]
        words = [[TEXT[start:end] for start, end in each.evidence] for each in events]
        assert words[:2] == [[], [CAFE]]
        assert words[2][0].startswith("This is the text")


def test_a_finger_selects_and_a_button_marks(serve, visit, reads: Path):
    served = serve(reads)
    page = visit(served.url, **PHONE)
    ready(page)
    select(page, CAFE)
    page.locator(".marker button").tap()
    assert marked_on(page) == [CAFE]
    expect(page.locator(".chunk .rests")).to_have_text("evidence marked · goes with your grade")
    quick_hand(page)  # a tap sooner was meant for the chunk before
    page.locator(".grade").nth(1).tap()
    all_saved(page, 1)
    with served.store() as store:
        assert store.judgments.log()[0].evidence == (passage(CAFE),)


@pytest.mark.slow
def test_marks_wait_for_their_grade_in_the_browser_and_go_with_it_from_a_list(
    serve, visit, reads: Path
):
    served = serve(reads)
    page = visit(served.url)
    ready(page)
    select(page, DAYS)
    press(page, "e")
    expect(page.locator(".said")).to_have_text("Evidence marked: goes with your grade")
    page.reload()
    ready(page)
    assert marked_on(page) == [DAYS]
    expect(page.locator(".chunk .rests")).to_have_text("evidence marked · goes with your grade")
    press(page, "b")
    rows = page.locator(".whole .row")
    expect(rows).to_have_count(3)
    titles = rows.locator(".name").all_text_contents()
    expect(rows.nth(0).locator(".words")).to_contain_text("evidence marked · goes with your grade")
    assert marked_on(page, ROW) == [DAYS]
    select(page, CAFE, ROW)
    press(page, "3")  # with what is selected, too
    expect(page.locator(".said-line .said")).to_have_text(
        "You gave 3 highly relevant · evidence marked in 2 places"
    )
    press(page, "ejj")
    expect(page.locator(f"{ROW} mark.aimed").first).to_have_text(CAFE)
    page.keyboard.press("Space")
    press(page, "k")
    page.keyboard.press("Enter")
    press(page, "0")  # says so, with what is marked, and goes on
    expect(rows.nth(1).locator(".words")).to_contain_text("evidence marked in 2 places")
    all_saved(page, 2)
    press(page, "kk")
    assert marked_on(page, ROW) == [DAYS, CAFE]
    select(page, "thirty", ROW)
    expect(page.locator(".row.current .marker")).to_contain_text("take the mark away")
    press(page, "e")
    assert marked_on(page, ROW) == [CAFE]
    press(page, "u")
    assert marked_on(page, ROW) == [DAYS, CAFE]
    press(page, "/")
    page.locator(".finder input").fill("café")
    expect(page.locator(".finder .row")).to_have_count(3)
    page.keyboard.press("ArrowDown")
    found = page.locator(".finder .row", has_text=titles[2])
    found.locator(".open").click()
    select(page, CAFE, ROW)
    found.get_by_role("button", name="mark as evidence").click()
    expect(found.locator(".words")).to_contain_text("evidence marked · goes with your grade")
    found.get_by_role("button", name="2, partly relevant").click()
    all_saved(page, 3)
    with served.store() as store:
        marked = {each.chunk_id: words_of(each.passages) for each in store.evidence.of_grades()}
        chunks = [title.replace("Title ", "c") for title in titles]
        assert [marked[each] for each in chunks] == [[DAYS, CAFE], [DAYS, CAFE], [CAFE]]
        assert [standing(store)["q0", each] for each in chunks] == [3, 0, 2]


@pytest.mark.slow
def test_a_finger_marks_in_a_list_and_a_doubt_leaves_the_marks_for_a_grade(
    serve, visit, reads: Path
):
    served = serve(reads)
    page = visit(f"{served.url}/?query=q0", **PHONE)
    expect(page.locator(ROW)).to_contain_text("This is the text")
    select(page, DAYS, ROW)
    page.locator(".row.current .marker button").tap()
    assert marked_on(page, ROW) == [DAYS]
    press(page, "xx")  # cannot tell, for no reason
    all_saved(page, 1)
    first = page.locator(".whole .row").first
    expect(first.locator(".words")).to_contain_text("evidence marked · goes with your grade")
    quick_hand(page)  # a tap sooner was meant for the rows as they were
    first.locator(".open").tap()
    assert marked_on(page, ROW) == [DAYS]
    quick_hand(page)
    page.locator(".grades button").nth(2).tap()
    all_saved(page, 1)
    with served.store() as store:
        assert [(each.grade, words_of(each.evidence)) for each in store.judgments.log()] == [
            (None, []),
            (2, [DAYS]),
        ]


@pytest.mark.slow
def test_passages_of_a_text_that_changed_are_said_not_to_be_found(serve, visit, reads: Path):
    with Store(reads) as store:
        store.people.add("Ann")
        store.judgments.add(Judgment("e1", "q0", "c0", "Ann", grade=2, evidence=((0, 4),)))
        store.chunks.load(loaded([Chunk("c0", "This is the text anew.", "Title 0")]), update=True)
    served = serve(reads)
    page = visit(f"{served.url}/?query=q0")
    row = page.locator(".row", has_text="Title 0")
    expect(row.locator(".words")).to_contain_text(
        "the evidence marked in the earlier text is no longer there"
    )
    expect(page.locator("mark.evidence")).to_have_count(0)


@pytest.mark.slow
def test_who_decides_sees_what_both_graders_marked(serve, visit, reads: Path):
    with Store(reads) as store:
        for name, grade, words in (("Ann", 3, DAYS), ("Bob", 0, CAFE)):
            store.people.add(name)
            store.judgments.add(
                Judgment(name, "q0", "c0", name, grade=grade, evidence=(passage(words),))
            )
    served = serve(reads)
    page = visit(f"{served.url}/review?review=Disagreements")
    marks = page.locator("mark.evidence")
    expect(marks).to_have_text([f"3 Ann{DAYS}", f"0 Bob{CAFE}"])
    page.goto(f"{served.url}/queries?query=q0")
    page.get_by_role("link", name="Title 0").first.click()
    expect(page.locator(".chunk-shown mark.evidence")).to_have_text(
        [f"3 Ann{DAYS}", f"0 Bob{CAFE}"]
    )


@pytest.mark.slow
def test_who_decides_marks_what_made_the_decision(serve, visit, reads: Path):
    with Store(reads) as store:
        for name, grade, words in (("Ann", 3, DAYS), ("Bob", 0, CAFE)):
            store.people.add(name)
            store.judgments.add(
                Judgment(name, "q0", "c0", name, grade=grade, evidence=(passage(words),))
            )
            store.judgments.add(Judgment(f"{name} c1", "q0", "c1", name, grade=grade))
    served = serve(reads)
    page = visit(f"{served.url}/review?review=Disagreements", grader="Lea")
    text = ".bench .passage .text"
    expect(page.locator(f"{text} mark.evidence")).to_have_count(2)
    select(page, "Zoë. 3 AnnParcels", text)  # the label of what Ann marked is no part of the text
    page.get_by_role("toolbar", name="Evidence").get_by_role("button").click()
    expect(page.locator(".rests")).to_have_text("evidence marked · goes with your decision")
    page.locator(".bench .note-field").fill("Zoë says so")
    page.reload()
    expect(page.locator(".rests")).to_have_text("evidence marked · goes with your decision")
    expect(page.locator(f"{text} mark.own")).to_have_text(["Zoë. ", "Parcels"])
    expect(page.locator(".bench .note-field")).to_have_value("Zoë says so")
    press(page, "ejj")
    expect(page.locator(f"{text} mark.aimed").first).to_contain_text("A café")
    page.keyboard.press("Space")
    press(page, "2")
    expect(page.locator(".bench .case .over").first).to_contain_text("2 of 2")
    expect(page.locator(".rests")).to_have_text("")
    tools = page.get_by_role("toolbar", name="Evidence").get_by_role("button")
    while not tools.is_visible():  # the news of the decision may just draw the pair anew
        select(page, DAYS, text)
        page.wait_for_timeout(100)
    press(page, "1")  # with what is selected
    expect(page.locator(".bench .state")).to_contain_text("saved")
    press(page, "u")
    expect(page.locator(".rests")).to_have_text("evidence marked · goes with your decision")
    expect(page.locator(f"{text} mark.own")).to_have_text([DAYS])
    press(page, "e")
    page.keyboard.press("Space")  # it begins at what is marked: again is to clear
    press(page, "ek")
    expect(page.locator(f"{text} mark.own.begins")).to_have_count(2)
    expect(page.locator(".rests")).to_have_text("evidence marked in 2 places")
    expect(page.locator(".bench .state")).to_contain_text("saved")  # what was taken back, too
    with served.store() as store:
        found = [each for each in store.judgments.log() if each.kind in ("adjudicate", "withdraw")]
        assert [(each.grade, each.note, words_of(each.evidence)) for each in found] == [
            (2, "Zoë says so", ["Zoë. Parcels", CAFE]),
            (1, None, [DAYS]),
            (None, None, []),
        ]
