"""From two dumps in an empty folder to a decided verdict, by keys alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from labeler.store import Store
from tests.browser.server import Server, wait_for
from tests.support.dumps import RightGrades, write_dumps

pytestmark = pytest.mark.browser
Visit = Callable[..., Page]
MOST_GRADES = 60


class OpenServer(Server):
    """The app as ``labeler open`` runs it."""

    def start(self) -> None:
        """Load the files, start the server and return once it answers."""
        command = ["--db", str(self.database), "open", *self.arguments]
        arguments = [*command, "--no-browser", "--port", str(self.port)]
        self.process = self.begin(arguments, {**os.environ, **self.environment})
        wait_for(f"{self.url}/_stcore/health")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[OpenServer, RightGrades]]:
    """Open two dumps from an empty folder."""
    one, two, grades = write_dumps(tmp_path)
    server = OpenServer(tmp_path / "golden.db", str(one), str(two))
    server.start()
    yield server, grades
    server.stop()


def grade_until_the_end(page: Page, grades: RightGrades) -> int:
    """Press the right key for each passage until there is none; return how many there were."""
    end, state = page.locator("section.done"), page.locator(".status .state")
    for given in range(MOST_GRADES + 1):
        expect(page.locator(".chunk .text:visible, section.done:visible").first).to_be_visible()
        expect(state).to_have_text(f"{given} saved")
        page.wait_for_timeout(100)  # what was chosen again may take the place of what is shown
        if end.is_visible():
            return given
        asked = page.locator(".query-text").inner_text(), page.locator(".chunk .text").inner_text()
        page.keyboard.press(str(grades[asked]))
    raise AssertionError(f"not decided after {MOST_GRADES} grades")


def test_two_dumps_are_decided_by_keys_and_the_page_says_how_sure_it_is(opened, visit: Visit):
    server, grades = opened
    page = visit(f"{server.url}/compare?a=bm25&b=dense", grader="Ann")
    said = page.locator(".answer")
    expect(said).to_contain_text(re.compile(r"bm25 and dense share \d\.\d of their top 10"))
    expect(said).to_contain_text("of 60 queries the first result is the same.")
    expect(
        page.get_by_role("table", name="Where the lists differ").locator("tbody tr")
    ).to_have_count(10)
    page.get_by_role("button", name="Grade the 12 passages that decide most").click()
    expect(page).to_have_url(f"{server.url}/?a=bm25&b=dense&until=decided")
    expect(page.locator(".chunk .text")).to_contain_text("paragraph")
    expect(page.locator(".status .progress")).to_have_text("about 30 more decide it")
    for word in ("bm25", "dense", "rank"):
        assert word not in page.locator("main").inner_text()
    given = grade_until_the_end(page, grades)
    expect(page.locator("section.done h2")).to_have_text("Decided")
    expect(page.locator("section.done .did")).to_contain_text(f"You graded {given} passages")
    page.get_by_role("link", name="See the verdict on Compare").click()
    expect(said).to_contain_text("Decided: dense is ahead of bm25 by nDCG@10")
    expect(said).to_contain_text("92% of verdicts that claimed 90% or more named the right run")
    expect(page.get_by_role("button", name=re.compile("^Grade the"))).to_have_count(0)
    with Store(server.database) as store:
        assert all(event.blind for event in store.judgments.log())


def test_undoing_the_last_grade_goes_on_and_all_questions_are_one_link_away(opened, visit: Visit):
    server, grades = opened
    page = visit(f"{server.url}/compare?a=bm25&b=dense", grader="Ann")
    page.get_by_role("button", name="Grade the 12 passages that decide most").click()
    expect(page.locator(".chunk .text")).to_contain_text("paragraph")
    asked = page.locator(".query-text").inner_text(), page.locator(".chunk .text").inner_text()
    page.keyboard.press(str(grades[asked]))
    expect(page.locator(".status .state")).to_have_text("1 saved")
    page.keyboard.press("u")
    expect(page.locator(".status .state")).to_have_text("0 saved")
    expect(page.locator(".query-text")).to_have_text(asked[0])
    expect(page.locator(".status .progress")).to_have_text("about 30 more decide it")
    page.get_by_role("link", name="all questions").click()
    expect(page).to_have_url(f"{server.url}/?a=bm25&b=dense")
    expect(page.locator(".status .progress")).not_to_contain_text("decide")
    expect(page.locator(".status .progress")).not_to_be_empty()
