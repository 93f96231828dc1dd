"""Links of every kind, clicked: they show what their address says, and Back leads back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from labeler.model import Chunk, GoldenGrade, Judgment, LoadedGolden, Query, Ranking, Remark
from labeler.store import Store
from labeler.ui.grading import COOKIE
from tests.browser.server import WarmServer, loaded
from tests.browser.still import follow, shown, stand_still

pytestmark = pytest.mark.browser

RUNS = ("bm25", "lsa 2+3", "hybrid & more")
PAIR = "a=lsa+2%2B3&b=hybrid+%26+more"
FIELD = "facet=intent&bucket=refund"
# Every page as it is opened by hand, by a colleague's address, and with what else leads away.
STATES = {
    "label": ["/", f"/?{PAIR}&{FIELD}"],
    "scores": ["/scores", f"/scores?{PAIR}&{FIELD}"],
    "compare": ["/compare", f"/compare?{PAIR}&{FIELD}&query=q1&by=RR"],
    "slices": ["/slices", f"/slices?{PAIR}&{FIELD}"],
    "queries": ["/queries", f"/queries?{PAIR}&{FIELD}&query=q1&sort=loss"],
    "review": ["/review?review=Can%27t+tell", f"/review?{PAIR}&{FIELD}&review=Remarks+on+queries"],
    "data": ["/data", f"/data?{PAIR}&{FIELD}&section=Runs"],
}

LINKS = """() => {
    const found = [];
    const look = root => {
        for (const each of root.querySelectorAll("*")) {
            // those within the page, and to another window, are not of the app
            const isLink = each instanceof HTMLAnchorElement && !each.hash && !each.target;
            const isLater = each.closest("tbody tr:not(:first-child)"); // the first row is for all
            if (isLink && !isLater && each.checkVisibility()) found.push(each);
            if (each.shadowRoot) look(each.shadowRoot);
        }
    };
    look(document);
    window.links = found;
    return found.map(each => each.href);
}"""


def graded(path: Path) -> Path:
    """Make four queries in two buckets, three runs with names that addresses must spell out."""
    chunks = tuple(f"c{n}" for n in range(6))
    with Store(path, create=True) as store:
        store.chunks.load(loaded([Chunk(name, f"The text of {name}.", name) for name in chunks]))
        store.queries.load(
            loaded(
                [
                    Query(
                        f"q{n}",
                        f"What is {n}?",
                        "single" if n % 2 else "research",
                        buckets={"intent": ("refund", "setup")[n // 2]},
                    )
                    for n in range(4)
                ]
            )
        )
        for turn, name in enumerate(RUNS):
            turned = chunks[turn:] + chunks[:turn]
            lists = [Ranking(f"q{n}", turned) for n in range(4)]
            store.runs.load(loaded(lists), name=name)
        grades = [GoldenGrade(f"q{n}", name, n % 4) for n in range(4) for name in chunks[n : n + 2]]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
        store.people.add("Ann")
        store.judgments.add(Judgment("e1", "q1", "c3", "Ann", grade=2, note="look here"))
        store.judgments.add(Judgment("e2", "q2", "c4", "Ann", kind="cannot_tell", reason="broken"))
        store.remarks.add(Remark("e3", "q3", "Ann", "unclear"))
    return path


@pytest.fixture(scope="module")
def golden(serve_to_all, tmp_path_factory) -> WarmServer:
    """Serve `graded` to all tests that do not change it."""
    return serve_to_all(graded(tmp_path_factory.mktemp("links") / "graded.db"))


@pytest.fixture(scope="module")
def tab(golden, visit_for_all) -> Page:
    """Give a page of Ann's that goes on from test to test."""
    return stand_still(visit_for_all(f"{golden.url}/scores"))


@pytest.fixture
def open_page(golden, visit) -> Callable[[str], Page]:
    """Open addresses, one after the other in one tab."""
    page: Page = visit("about:blank", grader=None)
    page.context.add_cookies([{"name": COOKIE, "value": "Ann", "url": golden.url}])

    def go(address: str) -> Page:
        page.goto(golden.url + address)
        return stand_still(page)

    return go


def check_shows(page: Page, wanted: str, what: str) -> None:
    """Wait until a page shows what is wanted."""
    for _ in range(100):
        if shown(page) == wanted:
            return
        page.wait_for_timeout(100)
    assert shown(page) == wanted, what


def says(page: Page) -> dict[str, list[str]]:
    """Return what the address says."""
    return {"path": [urlsplit(page.url).path], **parse_qs(urlsplit(page.url).query)}


@pytest.fixture(scope="module")
def said_at(golden, visit_for_all) -> Callable[[str], str]:
    """Tell what addresses show when they are loaded."""
    page: Page = visit_for_all(golden.url)

    @cache
    def look(href: str) -> str:
        page.goto(href)
        return shown(stand_still(page))

    return look


def shape(href: str) -> tuple[str, tuple[str, ...]]:
    """Return what links of one kind have in common: where they lead and what they name."""
    parts = urlsplit(href)
    return parts.path, tuple(sorted(parse_qs(parts.query)))


def one_of_each(hrefs: Sequence[str], place: str) -> list[tuple[int, str]]:
    """Return the first link of each shape, with its number on the page; one to the page after.

    From every page to every other leads `test_whoever_walks_…`.
    """
    pages = [f"/{name}" if name != "label" else "/" for name in STATES]
    after = pages[(list(STATES).index(place) + 1) % len(pages)]
    firsts = {shape(href): (number, href) for number, href in [*enumerate(hrefs)][::-1]}
    in_row = set(hrefs[: len(pages)])
    return [
        (number, href)
        for (path, _), (number, href) in firsts.items()
        if href not in in_row or path == after
    ]


def places(representative: str) -> list[object]:
    """Give every place, all but one of them for `make test-all`."""
    return [
        place if place == representative else pytest.param(place, marks=pytest.mark.slow)
        for place in STATES
    ]


@pytest.mark.parametrize("place", places("compare"))
def test_links_of_every_kind_lead_where_they_say_and_back_leads_back(open_page, place):
    follow_each(open_page(STATES[place][0]), place)


@pytest.mark.parametrize("place", places("queries"))
def test_links_out_of_a_shared_address_show_what_their_own_says(open_page, said_at, place):
    follow_each(open_page(STATES[place][1]), place, said_at)


def follow_each(page: Page, place: str, said_at: Callable[[str], str] | None = None) -> None:
    """Follow a link of each shape and come back; compare with what loading its address shows."""
    start, before, hrefs = page.url, shown(page), page.evaluate(LINKS)
    followed = one_of_each(hrefs, place)
    assert followed
    for number, href in followed:
        click_link(page, number, href)
        if said_at:
            check_shows(page, said_at(href), f"{href} on {start}")
        else:
            stand_still(page)
        assert page.url == href, f"the address after a click on {start}"
        if page.evaluate("number => 'inPlace' in window.links[number].dataset", number):
            page.goto(start)  # a choice within what is shown is no step of its own
        elif href != start:
            page.go_back()
        page.wait_for_url(start)
        check_shows(page, before, f"Back from {href}")


@pytest.mark.slow
def test_whoever_walks_from_every_page_to_every_other_sees_what_the_addresses_say(
    open_page, said_at
):
    titles = walk()
    assert len(set(pairwise(["Label", *titles]))) == len(titles) == 42
    page = open_page(f"/?{PAIR}&{FIELD}")
    trail = [page.url]
    for title in titles:
        link = page.get_by_role("link", name=title, exact=True)
        before, href = page.url, link.evaluate("link => link.href")
        link.click()
        page.wait_for_url(href)
        check_shows(page, said_at(href), f"{href} on {before}")
        trail.append(href)
    for href in trail[-2:-5:-1]:
        page.go_back()
        page.wait_for_url(href)
        check_shows(page, said_at(href), f"Back to {href}")


def walk() -> list[str]:
    """Return titles of pages, from Label to Label, so that each follows each of the others once."""
    titles = [name.title() for name in STATES]
    to_go = {title: [other for other in titles if other != title] for title in titles}
    trail, done = [titles[0]], []
    while trail:  # Hierholzer's circuit
        if left := to_go[trail[-1]]:
            trail.append(left.pop())
        else:
            done.append(trail.pop())
    return done[::-1][1:]


def click_link(page: Page, number: int, href: str) -> None:
    """Click one of the links of a page, which must not load the page anew."""
    # the text of two states of Label can be the same
    page.wait_for_function(f"([number, href]) => ({LINKS})()[number] === href", arg=[number, href])
    page.evaluate("window.isTheSameDocument = true")
    page.evaluate("number => window.links[number].click()", number)
    page.wait_for_url(href)
    assert page.evaluate("window.isTheSameDocument"), f"{href} was loaded anew"


def test_links_obey_the_enter_key_and_open_tabs_when_asked_to(open_page):
    page = open_page(f"/compare?{PAIR}")
    link = page.get_by_role("link", name="Slices")
    address = link.evaluate("link => link.href")
    for how in ({"button": "middle"}, {"modifiers": ["Control"]}):
        with page.context.expect_page() as tab:
            link.click(**how)
        expect(tab.value.get_by_role("combobox", name="B", exact=True)).to_have_value(RUNS[2])
        assert tab.value.url == address
        tab.value.close()
    assert says(page)["path"] == ["/compare"]
    link.press("Enter")
    expect(page.get_by_role("combobox", name="B", exact=True)).to_have_value(RUNS[2])
    assert page.url == address


@pytest.mark.slow
def test_an_address_opened_by_hand_names_its_runs_and_a_dropped_run_changes_nothing(
    serve, visit, tmp_path
):
    server = serve(graded(tmp_path / "graded.db"))
    page = stand_still(visit(f"{server.url}/compare"))
    expect(page).to_have_url(re.compile(r"/compare\?a=lsa\+2%2B3&b=bm25$"))
    address, before = page.url, shown(page)
    assert page.evaluate("history.length") == 2, "about:blank and one page"
    with server.store() as store:
        store.runs.drop("bm25")
    page.goto(address)
    expect(
        page.get_by_text("no run is called 'bm25'; there are: hybrid & more, lsa 2+3")
    ).to_be_visible()
    page.get_by_role("button", name="Go on without it").click()
    expect(page).to_have_url(re.compile(r"/compare\?a=lsa\+2%2B3&b=hybrid\+%26\+more$"))
    assert shown(stand_still(page)) != before


@pytest.mark.slow
def test_what_was_chosen_by_hand_goes_along_and_back_leaves_the_page(open_page):
    page = open_page("/compare")
    for label, run in (("A", RUNS[2]), ("B", RUNS[0])):
        page.get_by_role("combobox", name=label, exact=True).click()
        page.get_by_role("option", name=run, exact=True).click()
        stand_still(page)
    pair = {"a": [RUNS[2]], "b": [RUNS[0]]}
    assert says(page) == {"path": ["/compare"], **pair}
    for title in ("Slices", "Queries", "Scores", "Review", "Data", "Label", "Compare"):
        page.get_by_role("link", name=title, exact=True).click()
        expect(page.get_by_role("link", name=title, exact=True)).to_have_attribute(
            "aria-current", "page"
        )
        stand_still(page)
        assert {"a": says(page)["a"], "b": says(page)["b"]} == pair, title
    expect(page.get_by_role("combobox", name="A", exact=True)).to_have_value(RUNS[2])
    page.go_back()
    expect(page).to_have_url(re.compile(r"/\?a="))
    for _ in range(6):
        page.go_back()
        stand_still(page)
    assert says(page) == {"path": ["/compare"], **pair}
    page.go_back()  # ten choices on a page are not ten steps
    expect(page).to_have_url("about:blank")


def test_an_opened_query_is_a_step_and_leads_where_it_says(open_page):
    page = open_page(f"/queries?{PAIR}")
    page.get_by_role("textbox", name="Query").fill("q1")
    page.get_by_role("textbox", name="Query").press("Enter")
    expect(page.get_by_role("link", name="Open in Compare")).to_be_visible()
    assert says(page)["query"] == ["q1"]
    page.get_by_role("link", name="Open in Compare").click()
    expect(page.get_by_role("button", name="Compare")).to_be_visible()
    stand_still(page)
    assert says(page)["query"] == ["q1"]
    assert {"a": says(page)["a"], "b": says(page)["b"]} == {"a": [RUNS[1]], "b": [RUNS[2]]}
    page.go_back()
    page.get_by_role("link", name="Grade this query").click()
    expect(page.locator(".query-text")).to_have_text("What is 1?")
    assert {"a": says(page)["a"], "b": says(page)["b"]} == {"a": [RUNS[1]], "b": [RUNS[2]]}
    page.go_back()
    page.go_back()
    expect(page.locator(".question")).to_have_count(0)
    assert "query" not in says(page)


def test_a_run_that_ends_late_takes_no_opened_query_away(tab, golden):
    page = follow(tab, f"{golden.url}/queries?{PAIR}&query=q1")
    page.evaluate("history.pushState({}, '', '?review=Notes')")  # as Streamlit does then
    assert says(page)["query"] == ["q1"]
    page.get_by_role("button", name="Queries of").click()
    expect(page.locator(".question")).to_have_count(0)
    assert "query" not in says(page)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/?query=gone", "there is no query 'gone'"),
        ("/compare?query=gone", "no query is called 'gone'"),
        pytest.param("/queries?query=gone", "no query is called 'gone'", marks=pytest.mark.slow),
        ("/queries?b=gone&a=bm25", "no run is called 'gone'"),
        pytest.param("/slices?facet=gone", "no facet is called 'gone'", marks=pytest.mark.slow),
        pytest.param(
            "/scores?facet=intent&bucket=gone",
            "no bucket of intent is called 'gone'",
            marks=pytest.mark.slow,
        ),
        pytest.param("/review?review=gone", "no section is called 'gone'", marks=pytest.mark.slow),
        pytest.param("/data?section=gone", "no section is called 'gone'", marks=pytest.mark.slow),
        ("/slices?least=many", "least is a number from 1 to 1000, not 'many'"),
    ],
)
def test_a_link_to_what_is_gone_says_so_and_goes_on_without_it(tab, golden, address, said):
    page = follow(tab, golden.url + address)
    expect(page.get_by_text(said)).to_be_visible()
    page.get_by_role(
        "button", name=re.compile("Go on without it|Show all|Back to the list")
    ).click()
    expect(page.get_by_text(said)).to_have_count(0)
