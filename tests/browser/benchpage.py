"""What tests of Review > Disagreements share: graders who disagree, and looks at the page."""

from __future__ import annotations

import time
from pathlib import Path

from playwright.sync_api import Page, expect

from labeler.model import Judgment
from labeler.store import Store
from tests.browser.server import Server

HOSTILE = "<img src=x onerror=alert(1)> **bold** :red[x]"
MANY = 23  # more than a page of them holds
DECISIONS = "**/api/adjudications"


def dispute(path: Path) -> Path:
    """Let two graders disagree on chunks of one query, and on one of another, each with a note."""
    with Store(path) as store:
        for grader, grade in (("Ann", 0), (HOSTILE, 3)):
            store.people.add(grader)
            for number in range(MANY - 1):
                judge(store, "q1", f"c{number}", grader, grade, note=HOSTILE)
            judge(store, "q2", "c0", grader, grade and 1)
    return path


def judge(store: Store, query: str, chunk: str, grader: str, grade: int, **more) -> None:
    event = f"{query} {chunk} {grader}"
    store.judgments.add(Judgment(event, query, chunk, grader, grade=grade, **more))


def decided(server: Server) -> dict[tuple[str, str], tuple[int | None, str | None]]:
    """Return what was decided of each pair, as it stands in the file."""
    with server.store() as store:
        return {
            (each.query_id, each.chunk_id): (each.adjudication.grade, each.adjudication.note)
            for each in store.adjudication.disagreements()
            if each.adjudication is not None
        }


def wait_until_decided(server: Server, count: int) -> None:
    for _ in range(400):
        if len(decided(server)) == count:
            return
        time.sleep(0.05)
    assert len(decided(server)) == count


def open_bench(visit, server: Server, **more) -> Page:
    page = visit(f"{server.url}/review?review=Disagreements", grader="Lea", **more)
    expect(page.locator(".bench .passage")).to_be_visible(timeout=30_000)
    return page


def at(page: Page, place: int):
    """Expect the pair at this place on screen."""
    expect(page.locator(".bench .case .over").first).to_contain_text(f"· {place} of {MANY} ·")
