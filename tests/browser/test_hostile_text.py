"""Text from strangers is shown as text: it runs nothing and loads nothing from anywhere."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from labeler.model import Chunk, Loaded, Query, Ranking
from labeler.store import Store

pytestmark = pytest.mark.browser

HOSTILE = {
    "script": "<script>window.ran = 1</script><img src=x onerror='window.ran = 2'>",
    "markdown": "![image](http://evil.example/a.png) [link](javascript:alert(1)) <b>bold</b>",
    "css": "<style>@import url(http://evil.example/a.css)</style><iframe src=//evil.example>",
    "controls": "a\tb\u0007c\u200bd\u202eright to left\u202c \ufeff e",
    "rtl": "مرحبا بالعالم שלום עולם",
    "emoji": "👩‍👩‍👧‍👦 🇪🇺 ❤️‍🔥",
    "code": "def f():\n    return {\n        'a': 1,\n    }",
    "long": "word " * 400_000,
}
TAGS = "elements => elements.map(element => element.tagName)"


def read_to_the_end(page) -> None:
    """Read a text that was too long to come whole: the rest comes as one nears its end."""
    while page.locator(".chunk .text .more-text").count():
        page.keyboard.press("End")
        page.wait_for_timeout(20)


@pytest.fixture
def hostile(tmp_path):
    path = tmp_path / "hostile.db"
    evil = "<img src=http://evil.example/q.png onerror='window.ran = 3'> $\\LaTeX$ :red[x]"

    def loaded(records):
        return Loaded("test", records, [1] * len(records))

    with Store(path, create=True) as store:
        store.queries.load(loaded([Query("q<b>1", evil, reference=evil, guideline=evil)]))
        store.chunks.load(loaded([Chunk(name, text, evil) for name, text in HOSTILE.items()]))
        store.runs.load(loaded([Ranking("q<b>1", tuple(HOSTILE))]), name="<script>run</script>")
        store.people.add("<img src=x onerror='window.ran=4'>")
    return path


def test_hostile_text_is_text_on_every_page(serve, visit, hostile):
    server = serve(hostile)
    page = visit("about:blank", grader=None)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.context.add_cookies([{"name": "labeler_grader", "value": "Ann", "url": server.url}])
    page.goto(server.url)
    seen = set()
    for _ in HOSTILE:
        text = page.locator(".chunk .text")
        expect(text).not_to_be_empty()
        shown = text.text_content()
        name = next(name for name, full in HOSTILE.items() if shown[:20] == full[:20])
        read_to_the_end(page)
        assert text.text_content() == HOSTILE[name]
        assert set(text.locator("*").evaluate_all(TAGS)) <= {"MARK", "SPAN"}
        seen.add(name)
        page.keyboard.press("1")
        page.wait_for_timeout(50)
    assert seen == set(HOSTILE)
    for section, what in (
        (
            "Runs&run=%3Cscript%3Erun%3C%2Fscript%3E",
            "'<script>run</script>' is removed with its 1 list",
        ),
        ("Queries", "q<b>1 · <img src=http://evil.example/q.png"),
        ("People&person=%3Cimg%20src%3Dx%20onerror%3D%27window.ran%3D4%27%3E", "Close"),
    ):
        page.goto(f"{server.url}/data?section={section}")
        if section.startswith("Runs"):
            page.get_by_test_id("stDataFrame").hover()
            expect(page.get_by_role("button", name="Search")).to_be_visible()
            names = page.get_by_role("button", name=re.compile("Download"))
            expect(names).to_have_text("Download this table as CSV")  # ours, and no other
            page.get_by_role("button", name="Drop this run").click()
        expect(page.get_by_text(what).first).to_be_visible()
        page.wait_for_timeout(500)  # for what it would load then
    page.goto(f"{server.url}/data")
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    name = "![x](http://evil.example/f.png) <img src=x onerror='window.ran=5'>.trec"
    page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": b"q1 Q0 c1 1 2 a\nq1 Q0 c1 2 1 a\n"}
    )
    page.get_by_role("button", name="Load 1 file").click()
    expect(page.get_by_text(f"{name}:2: chunk 'c1' appears twice")).to_be_visible()
    page.wait_for_timeout(500)
    page.goto(f"{server.url}/scores")
    expect(page.get_by_role("rowheader", name="<script>run</script>")).to_be_visible()
    page.wait_for_timeout(500)
    assert page.evaluate("window.ran") is None
    hosts = {urlsplit(url).netloc for url in asked if url.startswith("http")}
    assert hosts == {urlsplit(server.url).netloc}


def test_no_page_may_load_from_elsewhere(server, visit):
    page = visit(server.url)
    expect(page.locator(".chunk .text")).to_contain_text("This is the text")
    blocked: list[str] = []
    page.on("console", lambda message: blocked.append(message.text))
    loaded = page.evaluate(
        """() => new Promise(done => {
            const image = new Image();
            image.onload = () => done("loaded");
            image.onerror = () => done("refused");
            image.src = "http://127.0.0.1:9/a.png";
        })"""
    )
    assert loaded == "refused"
    assert any("Content Security Policy" in text for text in blocked)
