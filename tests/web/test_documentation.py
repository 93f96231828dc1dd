"""The documentation as labeler serves it: behind the sign-in, with a policy of its own."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.applications import Starlette

from labeler.app.pages import PAGE_SPECS
from labeler.measures import parse
from labeler.render.tables.html_table import measure_meanings
from labeler.web.documentation import documentation_routes
from tests.support.documentation import PAGES, ROOT

PAGE = """<script>let theme = "dark";</script><style>p { color: red }</style>
<svg style="display: none"></svg><script src="a.js"></script>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Build a site of one page, with what a theme writes into pages, by the project's extension."""
    source = tmp_path / "source"
    (source / "_templates").mkdir(parents=True)
    (source / "conf.py").write_text(
        "import sys\n"
        f"sys.path.append({str(ROOT / 'docs' / 'extensions')!r})\n"
        "extensions = ['content_security_policy']\n"
    )
    (source / "index.rst").write_text(
        f"Gate\n====\n\n.. raw:: html\n\n   {PAGE}".replace("\n<", "\n   <")
    )
    build = [sys.executable, "-m", "sphinx", "-q", "-b", "html", source, tmp_path / "site"]
    subprocess.run(build, check=True)
    return tmp_path / "site"


@pytest.fixture
def get(ask, site):
    """Ask for an address of the documentation as a browser does."""
    app = Starlette(routes=documentation_routes(site))
    return lambda address, **headers: ask(app, "GET", address, headers=headers)


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_a_page_runs_the_scripts_it_was_built_with_and_no_other(get):
    answer = get("/docs/index.html")
    rules = dict(
        rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; ")
    )
    assert (answer.status, rules["default-src"]) == (200, "'none'")
    assert digest('let theme = "dark";') in rules["script-src"]
    assert digest("p { color: red }") in rules["style-src"]
    assert digest("display: none") in rules["style-src"]
    assert not re.search(
        r"unsafe-(inline|eval)|https?:|\*", answer.headers["content-security-policy"]
    )


@pytest.mark.parametrize("address", ["/docs", "/docs/"])
def test_the_documentation_begins_at_its_index(get, address):
    answer = get(address)
    assert (answer.status, answer.headers["location"]) == (307, "/docs/index.html")


@pytest.mark.parametrize(
    "address", ["/docs/none.html", "/docs/../conf.py", "/docs/%2e%2e/source/conf.py"]
)
def test_nothing_but_the_site_is_served(get, address):
    assert get(address).status == 404


def test_a_checkout_without_the_site_has_no_such_address(ask):
    assert documentation_routes(None) == []


def test_every_page_of_the_app_is_guided_by_a_page_of_the_documentation():
    guides = [page.guide for page in PAGE_SPECS if page.guide]
    assert len(guides) == len(PAGE_SPECS) - 1
    assert [guide for guide in guides if f"{guide}.md" not in PAGES] == []


def test_a_measure_s_meaning_leads_to_its_section_where_the_site_is_built():
    measures = [parse("nDCG@10"), parse("nDCG@5"), parse("RR")]
    shown = str(measure_meanings(measures, lambda page: f"/docs/{page}"))
    assert re.findall(r'href="([^"]*)"', shown) == [
        "/docs/handbook/ndcg#ndcg",
        "/docs/handbook/first-hit#rr",
    ]
    alone = str(measure_meanings(measures, lambda _: None))
    assert "nDCG: How much of the best possible gain" in alone
    assert "href" not in alone
