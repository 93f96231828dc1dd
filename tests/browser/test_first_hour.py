"""The first hour in a browser: from nothing at all to graded chunks, and back out of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from labeler.paths import folder
from labeler.store import Store
from tests.browser.doors import DoorServer, come_in, link_for

pytestmark = pytest.mark.browser

SAMPLE = folder("sample_data")
FILES = ["runs/bm25.trec", "runs/hybrid.trec", "judgments.jsonl", "chunks.jsonl", "queries.jsonl"]


@pytest.fixture
def new(tmp_path: Path) -> Iterator[DoorServer]:
    """Serve a golden set that was not there before."""
    server = DoorServer(tmp_path / "golden.db", "--new")
    server.start()
    yield server
    server.stop()


def still(page: Page) -> None:
    """Wait until the page has been put together."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def section(page: Page, name: str) -> None:
    """Open a section of Data."""
    page.get_by_role("radio", name=name, exact=True).click()
    still(page)


def choose(page: Page, label: str, option: str) -> None:
    """Choose from a list."""
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=True).click()
    still(page)


def link_on(page: Page) -> str:
    """Return the link that is shown once."""
    shown = page.get_by_test_id("stCode").first.inner_text()
    return re.search(r"http\S+/join/\S+", shown)[0]


def close_the_door(page: Page, name: str = "Lea") -> str:
    """Come in as the first lead, as the page says; return the link for other browsers."""
    section(page, "People")
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Create my link").click()
    link = link_on(page)
    page.get_by_role("link", name=f"Sign in as {name}").click()
    come_in(page)
    expect(page.get_by_role("heading", name="Invite people")).to_be_visible()
    return link


def test_from_nothing_to_a_graded_chunk_without_a_terminal(new, visit):
    page = visit(f"{new.url}/data", grader=None)
    expect(page.get_by_text("Load what your system retrieved")).to_be_visible()
    still(page)
    page.locator("input[type=file]").set_input_files([SAMPLE / name for name in FILES])
    page.get_by_role("button", name="Load 5 files").click()
    expect(page.get_by_text("Loaded", exact=True)).to_be_visible()
    expect(
        page.get_by_text("105 queries · 264 chunks · 2 runs · 921 golden grades")
    ).to_be_visible()
    page.get_by_role("link", name="See the measures").click()
    expect(page.get_by_text(re.compile(r"\d+ of 105 queries")).first).to_be_visible()
    page.get_by_role("link", name="Data").click()
    page.get_by_role("button", name="Invite graders").click()
    expect(page.get_by_text("Nobody is invited yet")).to_be_visible()
    close_the_door(page)
    page.get_by_role("textbox", name="Names, one per line").fill("Ann")
    page.get_by_role("button", name="Invite", exact=True).click()
    expect(page.get_by_text("Ann is invited. Send them this message:")).to_be_visible()

    grading = visit(link_on(page), grader=None)
    expect(grading.locator(".chunk .text")).not_to_be_empty()
    before = new.store().golden_set.contents().judgments
    grading.keyboard.press("2")
    expect(grading.locator(".status .state")).to_have_text("1 saved")
    grading.goto(f"{new.url}/data")
    expect(grading.get_by_text("Data is for leads")).to_be_visible()

    page.goto(f"{new.url}/data?section=People&person=Ann")
    page.get_by_role("button", name="Revoke").click()
    page.get_by_role("button", name="Revoke", exact=True).last.click()
    expect(page.get_by_text("Revoked", exact=True).last).to_be_visible()
    grading.reload()
    expect(grading.get_by_text("You need an invitation")).to_be_visible()
    with new.store() as store:
        assert store.golden_set.contents().judgments == before + 1
        assert store.people.leads() == ["Lea"]
    assert os.listdir(new.database.parent)[0].startswith("golden.db")


@pytest.mark.slow
def test_whoever_closes_the_door_is_inside_and_whoever_only_looks_changes_nothing(new, visit):
    page = visit(f"{new.url}/data", grader=None)
    section(page, "People")
    page.get_by_label("Your name").fill("Lea")
    page.get_by_role("button", name="Create my link").click()
    expect(page.get_by_role("link", name="Sign in as Lea")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Nobody is invited yet")).to_be_visible()
    other = visit(f"{new.url}/data", grader=None)
    expect(other.get_by_text("Load what your system retrieved")).to_be_visible()

    link = close_the_door(page)
    page.reload()
    expect(page.get_by_role("heading", name="Invite people")).to_be_visible()
    other.reload()
    expect(other.get_by_text("You need an invitation")).to_be_visible()
    other.goto(link)
    come_in(other)
    expect(other.get_by_role("heading", name="Invite people")).to_be_visible()

    page.get_by_role("button", name="Turn off invitations").click()
    page.get_by_role("button", name="End all invitations").click()
    expect(page.get_by_text("Nobody is invited yet")).to_be_visible()
    stranger = visit(f"{new.url}/data", grader=None)
    expect(stranger.get_by_text("Load what your system retrieved")).to_be_visible()


@pytest.mark.slow
def test_the_first_link_works_in_another_browser_before_its_own_has_opened_it(new, visit):
    page = visit(f"{new.url}/data", grader=None)
    section(page, "People")
    page.get_by_label("Your name").fill("Lea")
    page.get_by_role("button", name="Create my link").click()
    link = link_on(page)
    other = visit(link, grader=None)
    come_in(other)
    expect(other.get_by_role("heading", name="Invite people")).to_be_visible()
    with new.store() as store:
        assert store.people.leads() == ["Lea"]
    page.goto(link)
    come_in(page)
    expect(page.get_by_role("heading", name="Invite people")).to_be_visible()


@pytest.mark.slow
def test_a_lead_s_own_new_link_takes_effect_where_it_is_opened(new, visit):
    page = visit(f"{new.url}/data", grader=None)
    old = close_the_door(page)
    page.get_by_role("button", name="New link").click()
    expect(page.get_by_role("link", name="Sign in as Lea")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Invite people")).to_be_visible()
    page.get_by_role("button", name="New link").click()
    page.get_by_role("link", name="Sign in as Lea").click()
    come_in(page)
    expect(page.get_by_role("heading", name="Invite people")).to_be_visible()
    assert visit(old, grader=None).get_by_text("This link doesn't work").is_visible()


@pytest.mark.slow
def test_the_last_lead_cannot_go_and_another_may_take_over(new, visit):
    page = visit(f"{new.url}/data", grader=None)
    close_the_door(page)
    page.get_by_role("button", name="Manage").click()
    page.get_by_role("button", name="Make grader").click()
    page.get_by_role("button", name="Make grader", exact=True).last.click()
    expect(page.get_by_text("'Lea' is the last lead who can sign in")).to_be_visible()
    bea = visit(link_for(new, "Bea", role="lead"), grader=None)
    expect(bea.get_by_text("Load what your system retrieved")).to_be_visible()
    page.goto(f"{new.url}/data?section=People&person=Lea")
    page.get_by_role("button", name="Make grader").click()
    page.get_by_role("button", name="Make grader", exact=True).last.click()
    expect(page.get_by_text("Data is for leads")).to_be_visible()
    with Store(new.database) as store:
        assert store.people.leads() == ["Bea"]


@pytest.mark.slow
def test_a_run_and_a_query_change_and_the_address_keeps_up(server, visit):
    page = visit(f"{server.url}/data?section=Runs")
    choose(page, "Change a run", "forward")
    page.get_by_label("Name", exact=True).fill("base & line")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_text("Renamed", exact=True)).to_be_visible()
    expect(page).to_have_url(f"{server.url}/data?section=Runs&run=base+%26+line")
    expect(page.get_by_role("textbox", name="System")).to_have_value("base & line")
    still(page)
    page.get_by_role("spinbutton", name="year, Made on").click()
    page.keyboard.type("20260112")
    expect(page.get_by_role("spinbutton", name="day, Made on")).to_have_text("12")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    with server.store() as store:
        assert [(run.name, run.created_at) for run in store.runs.all()] == [
            ("base & line", "2026-01-12"),
            ("backward", None),
        ]
    page.get_by_role("button", name="Drop this run").click()
    expect(page.get_by_text("'base & line' is removed with its 4 lists")).to_be_visible()
    page.get_by_role("button", name="Drop it").click()
    expect(page.get_by_text("Dropped")).to_be_visible()
    expect(page).to_have_url(f"{server.url}/data?section=Runs")

    section(page, "Queries")
    page.get_by_label("Find").fill("query 3")
    page.get_by_label("Find").press("Enter")
    expect(page.get_by_role("button", name="Retire")).to_have_count(1)
    still(page)
    page.get_by_role("button", name="Retire").click()
    expect(page.get_by_text("· 1 retired.")).to_be_visible()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("· 0 retired.")).to_be_visible()
    expect(page).to_have_url(f"{server.url}/data?section=Queries&find=query+3")
