"""The frame of every page: header, title and name, at one place, on a desktop and on a phone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from labeler.store import Store
from tests.browser.doors import come_in, link_for
from tests.browser.padpage import PHONE
from tests.browser.still import follow, stand_still

pytestmark = pytest.mark.browser

NAME = "Pellamy help centre"
LONG = "The golden set of all questions about every machine, Ghent"
TITLES = ("Label", "Scores", "Compare", "Slices", "Queries", "Review", "Data")
PATHS = {"Label": "/"} | {title: f"/{title.lower()}" for title in TITLES[1:]}
# Words of the header that are cut off, and boxes beyond the window; a long name may end in dots.
CLIPPED = """() => {
    const inside = [...document.querySelectorAll(".top a, .top .who *, .title *")];
    const shown = inside.filter(each => each.checkVisibility() && !each.matches(".brand"));
    return shown
        .filter(each => {
            const { left, right } = each.getBoundingClientRect();
            const isCut = each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0;
            return left < 0 || right > innerWidth || (isCut && !each.closest(".named"));
        })
        .map(each => each.textContent);
}"""


@pytest.fixture
def named(golden_set: Callable) -> Callable:
    """Make a golden set with a name."""

    def make(name: str = NAME):
        path = golden_set()
        with Store(path) as store:
            settings = store.settings.read()
            store.settings.save(type(settings)(name=name, pool_depth=settings.pool_depth))
        return path

    return make


def header_of(page: Page) -> dict[str, object]:
    """Return where the header, its name and its pages stand."""
    box = page.locator(".top").bounding_box()
    names = page.locator(".top .of").bounding_box()
    first = page.locator(".top nav a").first.bounding_box()
    return {"header": box, "name": names, "pages": first}


@pytest.mark.parametrize("device", [{}, pytest.param(PHONE, marks=pytest.mark.slow)])
def test_the_header_stands_at_one_place_on_every_page(serve, visit, named, device):
    server = serve(named())
    page = visit(server.url, **device)
    places = {}
    for title, path in PATHS.items():
        follow(page, f"{server.url}{path}")
        stand_still(page)
        expect(page).to_have_title(f"{title} · {NAME}")
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        expect(page.locator(".top nav a")).to_have_text(list(TITLES))
        expect(page.locator(".top nav a[aria-current=page]")).to_have_text(title)
        assert page.evaluate(CLIPPED) == [], title
        places[title] = header_of(page)
    assert len({str(place) for place in places.values()}) == 1, places
    assert places["Label"]["header"]["y"] == 0
    for square in page.locator(".top nav a").all() if device else []:
        assert square.bounding_box()["height"] >= 44


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 390, 640, 760, 1024, 1280])
def test_a_long_name_pushes_nothing_out_of_the_header(serve, visit, named, width):
    server = serve(named(LONG))
    page = visit(link_for(server, "Anastasia Papadopoulou-Featherstonehaugh", "lead"), grader=None)
    page.set_viewport_size({"width": width, "height": 800})
    follow(page, f"{server.url}/scores")
    expect(page.locator(".top .live")).to_be_visible()
    expect(page.get_by_role("link", name="Sign out")).to_be_visible()
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width


def test_a_grader_reads_who_invites_and_to_what_and_finds_label_alone(serve, visit, named):
    server = serve(named())
    page = visit(link_for(server, "Ann"), grader=None)
    expect(page.locator(".top .of")).to_have_text(NAME)
    expect(page.locator(".top nav a")).to_have_text(["Label"])
    expect(page.locator(".top .named")).to_have_text("Ann")
    page.get_by_role("link", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign out, Ann?")).to_be_visible()
    page.get_by_role("button", name="Sign out here").click()
    expect(page.get_by_role("heading", name="You need an invitation")).to_be_visible()
    expect(page.locator(".top .of")).to_have_count(0)
    page.goto(link_for(server, "Bea"))
    expect(page.get_by_role("heading", level=1)).to_have_text(
        f"You are invited to grade passages for {NAME}"
    )
    come_in(page)


def test_an_address_without_a_page_and_a_parameter_that_no_page_reads_are_named(
    serve, visit, named
):
    server = serve(named())
    page = visit(f"{server.url}/nowhere")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no page at this address")
    page.get_by_role("link", name="Scores", exact=True).click()
    expect(page).to_have_title(f"Scores · {NAME}")
    page.goto(f"{server.url}/scores?measures=RR&measure=P@5")
    said = page.get_by_text("No page reads measures= in this address. Did you mean measure?")
    expect(said).to_be_visible()
    page.get_by_role("button", name="Leave it out").click()
    expect(said).to_have_count(0)
    expect(page).to_have_url(f"{server.url}/scores?measure=P%405")


@pytest.mark.slow
def test_a_facet_in_the_address_of_label_is_read(serve, visit, named):
    server = serve(named())
    page = visit(f"{server.url}/?task=single&golden_retriever=1")
    expect(page.get_by_text("No page reads golden_retriever= in this address.")).to_be_visible()
    expect(page.get_by_text("task=")).to_have_count(0)


def test_pages_without_data_lead_to_data_by_one_button(serve, visit, tmp_path):
    path = tmp_path / "empty.db"
    with Store(path, create=True):
        pass
    server = serve(path)
    page = visit(server.url)
    for title in TITLES[:5]:
        page.goto(f"{server.url}{PATHS[title]}")
        link = page.get_by_role("link", name="Load your files")
        expect(link).to_be_visible()
        expect(page.locator("pre")).to_be_hidden()
    link.click()
    expect(page).to_have_title("Data · empty")
