"""The documentation in the app: opened from a page, searched, and closed to strangers."""

from __future__ import annotations

import subprocess
import sys

import pytest
from playwright.sync_api import expect

from labeler.paths import documentation
from labeler.store import Store
from labeler.web.auth.access import hash_secret
from tests.browser.padpage import library
from tests.support.documentation import ROOT

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", autouse=True)
def built():
    """Build the pages, as ``make docs`` does, where nobody has yet."""
    if documentation() is None:
        build = [sys.executable, "-m", "sphinx", "-q", ROOT / "docs", ROOT / "build" / "docs"]
        subprocess.run(build, check=True)


def test_a_page_leads_to_its_guide_whose_scripts_run(serve, visit, tmp_path):
    golden = serve(library(tmp_path / "golden.db"))
    page = visit(f"{golden.url}/compare")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Guide").click()
    guide = opened.value
    refused: list[str] = []
    guide.on("console", lambda said: refused.append(said.text) if said.type == "error" else None)
    guide.reload()
    expect(guide.get_by_role("heading", level=1)).to_contain_text("Compare")
    guide.get_by_role("textbox", name="Search").first.fill("nDCG")
    guide.keyboard.press("Enter")
    guide.get_by_role("link", name="nDCG").first.click()
    expect(guide.get_by_role("heading", level=1)).to_be_visible()
    assert refused == []


def test_a_stranger_is_asked_to_sign_in_first(serve, visit, tmp_path):
    path = library(tmp_path / "golden.db")
    with Store(path) as store:
        store.people.invite("Ann", hash_secret("secret"), role="lead")
    golden = serve(path)
    page = visit("about:blank", grader=None)
    answer = page.goto(f"{golden.url}/docs/index.html")
    assert answer.status == 403
    expect(page.get_by_text("invitation").first).to_be_visible()
