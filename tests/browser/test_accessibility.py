"""What axe finds in the browser: nothing on any page, in any of its states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from labeler.cli.demo_data import build_demo
from labeler.model import Judgment, Remark
from labeler.store import Store
from tests.browser.doors import come_in, link_for
from tests.browser.every_page import addresses
from tests.browser.padpage import library, ready, wide
from tests.browser.still import follow, stand_still
from tests.support.new_golden_set import newborn

pytestmark = pytest.mark.browser

NAMES = {"a": "bm25", "b": "hybrid", "query": "q-004", "facet": "intent", "person": "Marit Dahl"}
NOWHERE = "/nowhere"  # where no link leads; a plain page, without scripts
# Each state of the pad, and the keys that lead there from the one before.
STATES = {
    "a chunk": [],
    "a chunk that was graded": ["2", "k"],
    "a grade taken back": ["u"],
    "can't tell": ["x"],
    "a note": ["Escape", "n"],
    "the query's menu": ["Escape", "q"],
    "the guideline": ["Escape", "i"],
    "the keys": ["Escape", "?"],
    "the whole query": ["Escape", "b"],
    "my grades": ["Escape", "g"],
    "the finder": ["Escape", "/"],
    "a search": [*"text", "Enter"],
}
# The states in which texts of chunks are read, each from the one before.
WAYS = {
    "a chunk": [],
    "text around it": ["c"],
    "the guideline": ["i"],
    "the whole query": ["Escape", "b"],
    "the finder": ["Escape", "/", *"text", "Enter"],
}
# The rules in use need no style fetched once more.
ASKED = {"resultTypes": ["violations"], "preload": False}
# Streamlit's: the place that files are dropped on is named, and has the button for all others.
OTHERS = ("presentation-role-conflict", "stFileUploaderDropzone")
CONTRAST = {"runOnly": ["color-contrast"]}  # the one rule that asks for colours
GROUND = "() => getComputedStyle(document.querySelector('.stApp')).backgroundColor"
# Hides what stands between the first and the last rows of a long table; it is made as they are. Of
# the chunks in strips two of each look are left: to axe each costs the more, the more are about it.
SHORTEN = """() => {
    const seen = {};
    const look = root => {
        for (const each of root.querySelectorAll("*")) {
            const rows = each.tagName === "TBODY" ? [...each.rows] : [];
            for (const row of rows.slice(6, -6)) row.hidden = true;
            if (each.matches(".strip .cell") && each.checkVisibility()) {
                const looks = `${each.className} ${each.getAttribute("style")}`;
                seen[looks] = (seen[looks] ?? 0) + 1;
                if (seen[looks] > 2) each.style.visibility = "hidden";
            }
            if (each.shadowRoot) look(each.shadowRoot);
        }
    };
    look(document);
}"""
STEADY = "() => document.getAnimations().every(each => each.playState !== 'running')"


def violations(page: Page, options: dict | None = None) -> list[str]:
    """Return what axe finds, with the elements it means."""
    asked = {**ASKED, **(options or {})}
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(Axe().axe_script)
    found = page.evaluate("asked => axe.run(asked)", asked)["violations"]
    return [
        f"{each['impact']} {each['id']}: {node['html'][:160]} {reason(node)}"
        for each in found
        for node in each["nodes"][:4]
        if each["id"] != OTHERS[0] or OTHERS[1] not in node["html"]
    ]


def violations_in_both(page: Page) -> list[str]:
    """Return the same of a page in the light, and of its colours in the dark."""
    found = violations(page)
    light = page.evaluate(GROUND)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"light => ({GROUND})() !== light && ({STEADY})()", arg=light)
    found += violations(page, CONTRAST)
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"light => ({GROUND})() === light && ({STEADY})()", arg=light)
    return found


def reason(node: dict) -> str:
    """Return the colours of text that is hard to read."""
    said = [check["data"] for check in node["any"] if isinstance(check.get("data"), dict)]
    names = ("fgColor", "bgColor", "contrastRatio")
    return " ".join(str(data[name]) for data in said for name in names if name in data)


def only_found(found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the places where something was found."""
    return {place: violations for place, violations in found.items() if violations}


@pytest.fixture
def open_as(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Make browsers that prefer the light or the dark, ``width`` wide; 390 is a phone's."""
    made: list[BrowserContext] = []

    def make(scheme: str, width: int = 1280, height: int = 800) -> BrowserContext:
        is_phone = width < 500
        size = {"width": width, "height": height}
        given = {"has_touch": is_phone, "is_mobile": is_phone, "color_scheme": scheme}
        made.append(browser.new_context(viewport=size, **given))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """Make the demo, with a remark, a note and a chunk of which nobody can tell."""
    path = tmp_path / "demo.db"
    build_demo(path, rechunked=True)
    with Store(path) as store:
        store.people.add("Ann")
        chunks = [chunk.chunk_id for chunk in store.chunks.all()]
        store.judgments.add(Judgment("e1", "q-001", chunks[0], "Ann", grade=2, note="look here"))
        store.judgments.add(
            Judgment("e2", "q-001", chunks[1], "Ann", kind="cannot_tell", reason="broken")
        )
        store.remarks.add(Remark("e3", "q-002", "Ann", "unclear"))
    return path


@pytest.fixture
def open_pad(serve, visit, tmp_path) -> Callable[[BrowserContext], Page]:
    """Open the pad of a golden set that has all a pad can show."""
    path = library(tmp_path / "library.db")
    return lambda context: visit(serve(path).url, context=context)


def unfold(page: Page) -> None:
    """Open all that is folded away."""
    page.locator("details:not([open]) > summary").evaluate_all(
        "all => all.map(each => each.click())"
    )
    stand_still(page)


def found_on(page: Page, url: str, places: Sequence[str]) -> dict[str, list[str]]:
    """Return the places of a server where axe finds something, with all that is folded open."""
    found = {}
    for place in places:
        unfold(stand_still(follow(page, url + place)))
        page.evaluate(SHORTEN)
        found[place] = violations(page)
    return only_found(found)


# axe leaves out what is scrolled out of sight, hence windows as high as the pages.
def test_nothing_found_on_the_main_pages(serve, visit, demo, open_as):
    server = serve(demo)
    page = visit(server.url, context=open_as("light", 1280, 3000))
    main = {place.partition("?")[0]: place for place in reversed(addresses(**NAMES))}
    assert found_on(page, server.url, [*main.values()]) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_nothing_found_on_any_page(serve, visit, demo, open_as, scheme, width):
    server = serve(demo)
    page = visit(server.url, context=open_as(scheme, width, 3000))
    assert violations(stand_still(page)) == []
    assert found_on(page, server.url, addresses(**NAMES)) == {}
    page.goto(server.url + NOWHERE)
    assert violations(page) == []


@pytest.mark.slow
def test_nothing_found_where_there_is_no_data(serve, visit, tmp_path, open_as):
    server = serve(newborn(tmp_path / "empty.db"))
    page = visit(server.url, context=open_as("light"))
    expect(page.get_by_role("heading", level=2)).to_be_visible()
    assert violations_in_both(page) == []
    assert found_on(page, server.url, addresses()) == {}


@pytest.mark.slow
def test_nothing_found_at_the_end(serve, visit, tmp_path, open_as):
    path = library(tmp_path / "library.db", queries=1, chunks=1)
    page = visit(serve(path).url, context=open_as("light"))
    ready(page)
    page.keyboard.press("2")
    expect(page.locator("section.done")).to_be_visible()
    assert violations_in_both(stand_still(page)) == []


def test_nothing_found_on_label(open_pad, open_as):
    page = open_pad(open_as("light"))
    ready(page)
    found = {}
    for name, keys in STATES.items():
        for key in keys:
            page.keyboard.press(key)
        found[name] = violations_in_both(stand_still(page))
    assert only_found(found) == {}
    expect(page.get_by_role("searchbox")).to_have_value("text")


@pytest.mark.slow
def test_nothing_found_on_a_phone(open_pad, open_as):
    page = open_pad(open_as("light", 390, 844))
    ready(page)
    found = {"a chunk": violations_in_both(stand_still(page))}
    page.get_by_role("button", name="More", exact=True).click()
    found["more"] = violations_in_both(stand_still(page))
    assert only_found(found) == {}


# All chunks are alike, so that it matters not which comes first.
@pytest.mark.slow
@pytest.mark.parametrize(("columns", "width", "height"), [(True, 390, 844), (False, 520, 500)])
def test_nothing_found_where_text_is_larger_than_its_place(
    serve, visit, tmp_path, open_as, columns, width, height
):
    path = wide(tmp_path / "wide.db", columns=columns)
    page = visit(serve(path).url, context=open_as("light", width, height))
    ready(page)
    found = {}
    for name, keys in WAYS.items():
        for key in keys:
            page.keyboard.press(key)
        found[name] = violations(stand_still(page))
    assert only_found(found) == {}


@pytest.mark.slow
def test_nothing_found_for_who_is_invited(serve, visit, tmp_path, open_as):
    server = serve(library(tmp_path / "library.db"))
    page = visit(server.url, grader=None, context=open_as("light"), newcomer=True)
    expect(page.get_by_label("What’s your name?")).to_be_focused()
    found = {"where the name is asked": violations_in_both(page)}
    page.keyboard.type("Lea")
    page.keyboard.press("Enter")
    expect(page.locator(".welcome")).to_be_visible()
    found["the welcome"] = violations_in_both(stand_still(page))
    page.get_by_role("button", name="Practise on an example").click()
    found["the example"] = violations_in_both(stand_still(page))
    page.context.clear_cookies()
    link = link_for(server, "Ann")
    page.reload()
    expect(page.get_by_text("You need an invitation")).to_be_visible()
    found["the door"] = violations(page)
    page.emulate_media(color_scheme="dark")
    found["the door in the dark"] = violations(page, CONTRAST)
    page.goto(link)
    found["the invitation in the dark"] = violations(page, CONTRAST)
    page.emulate_media(color_scheme="light")
    found["the invitation"] = violations(page)
    come_in(page)
    ready(page)
    found["the first passage"] = violations_in_both(stand_still(page))
    follow(page, f"{server.url}/scores")
    found["a lead's page"] = violations_in_both(page)
    assert only_found(found) == {}
