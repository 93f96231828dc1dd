"""The words of a query in a chunk's text, asked directly in a browser: found and painted."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page

from labeler.paths import PACKAGE
from tests.browser.modules import page_with

pytestmark = pytest.mark.browser

FILLER = "Nothing to see in this sentence, which only fills the page. "
LIGHT, DARK = ("#ffffff", "#31333f"), ("#0e1117", "#fafafa")


@pytest.fixture(scope="module")
def bench(browser: Browser):
    """Give a blank page that has the script and one element to paint into."""
    host = '<div class="pad"><div id="host" class="text"></div></div>'
    with page_with(browser, "js/text_marks", "js/text_paint", body=host) as page:
        page.add_style_tag(path=PACKAGE / "ui" / "grading" / "query_list.css")
        yield page


def found(page: Page, text: str, query: str = "", keywords: tuple[str, ...] = ()) -> list[str]:
    """List what is marked in ``text``, keywords in brackets."""
    return page.evaluate(
        """([text, query, keywords]) =>
            findMarks(text, marksOf({text: query, keywords})).map(({start, end, kind}) =>
                kind === "keyword" ? `[${text.slice(start, end)}]` : text.slice(start, end))""",
        [text, query, list(keywords)],
    )


def paint(page: Page, text: str, query: str = "", *, marking: bool = True) -> None:
    """Paint ``text`` for a query without keywords."""
    page.evaluate(
        """([text, query, marking]) => paintText(
            document.querySelector("#host"), text, marksOf({text: query, keywords: []}),
            {marking, say: (key) => key})""",
        [text, query, marking],
    )


def test_words_of_the_query_are_found_whole_and_in_any_case(bench):
    query = "How do I get a REFUND for the annual plan?"
    text = "A refund is no prerefund. Annual plans: the PLAN, planning, refund_id."
    assert found(bench, text, query) == ["refund", "Annual", "plans", "PLAN", "refund"]
    assert found(bench, "How do I get it for the other?", query) == []


def test_plurals_are_found_from_singulars_and_back(bench):
    assert found(bench, "invoice invoices business busines", "invoices business") == [
        *("invoice", "invoices"),
        *("business",),
    ]


def test_codes_and_numbers_are_found_whole(bench):
    query = "What does E-104 mean in v2.1 after 30 days?"
    text = "E-104, e‑104 and E-1045; xE-104; v2.1 not v2.10; 30 days or 300 days; 104"
    assert found(bench, text, query) == ["E-104", "e‑104", "v2.1", "30", "days", "days"]


def test_keywords_are_phrases_and_win_over_words(bench):
    marks = found(
        bench,
        "The annual\n plan costs. An annual fee; biannual plan. Annual Plan’s",
        "annual costs",
        ("annual plan", "plan's", "fee"),
    )
    assert marks == ["[annual\n plan]", "costs", "annual", "[fee]", "[Annual Plan]"]


def test_characters_of_a_pattern_are_only_characters_in_a_keyword(bench):
    keywords = ("C++", ".NET", "a.c", "(x|y)*", "[0-9]", "\\d", "$5", "  ", "")
    text = "C++ c ASP.NET abc a.c (x|y)* xy [0-9] 7 \\d 7 $5 $50"
    assert found(bench, text, "", keywords) == [
        *("[C++]", "[.NET]", "[a.c]", "[(x|y)*]", "[[0-9]]", "[\\d]", "[$5]"),
    ]


def test_other_scripts_and_accents_are_found(bench):
    assert found(bench, "سياسة الاسترداد هنا", "الاسترداد") == ["الاسترداد"]
    assert found(bench, "cafe\u0301 Café cafeteria", "café") == ["cafe\u0301", "Café"]
    assert found(bench, "全額返金できます", "", ("返金",)) == ["[返金]"]
    assert found(bench, "👍 great 👍🏽", "great", ("👍",))[:2] == ["[👍]", "great"]


def test_marks_stand_in_order_and_never_overlap(bench):
    text = "new york city, york city hall, New York and a city-hall E-1 1"
    marks = bench.evaluate(
        """(text) => findMarks(text, marksOf({text: "new york city hall E-1 1",
            keywords: ["york city", "city hall", "new york"]}))""",
        text,
    )
    assert len(marks) > 6
    for one, other in pairwise(marks):
        assert one["start"] < one["end"] <= other["start"]


@pytest.mark.parametrize(
    "text",
    [
        "<script>window.ran = 1</script> <img src=x onerror='window.ran = 2'> refund",
        "**refund** [refund](javascript:window.ran=3) $\\LaTeX$ &lt;b&gt; &amp;",
        "a\tb\u0007c\u200bd\u202eright to left\u202c \ufeff\r\n refund",
        "مرحبا refund بالعالم שלום עולם",
        "👩‍👩‍👧‍👦 🇪🇺 ❤️‍🔥 refund \ud83d",
    ],
)
def test_hostile_text_is_painted_as_the_text_it_is(bench, text):
    long = text + "\n" + text * 400
    for whole in (text, long):
        paint(bench, whole, "refund script img alert window")
        # a lone surrogate cannot be sent: the browser compares
        assert bench.evaluate(
            "(text) => document.querySelector('#host').textContent === text", whole
        )
        tags = bench.evaluate(
            "() => [...document.querySelectorAll('#host *')].map((each) => each.tagName)"
        )
        assert set(tags) <= {"MARK", "SPAN"}
        assert "MARK" in tags
    assert bench.evaluate("window.ran") is None


@pytest.mark.parametrize("marking", [True, False])
def test_nothing_is_folded_out_of_a_long_text(bench, marking):
    text = FILLER * 60 + "The Refund takes a week. " + FILLER * 60
    paint(bench, text, "refund", marking=marking)
    assert bench.locator("#host").inner_text().strip() == text.strip()
    assert bench.locator("#host button").count() == 0
    assert bench.locator("#host mark").count() == marking


def test_a_long_text_with_very_many_hits_is_whole_and_not_all_are_marked(bench):
    text = "refund is a word now " * 5_000
    paint(bench, text, "refund")
    assert bench.locator("#host mark").count() == 1_000
    assert bench.evaluate("document.querySelector('#host').textContent.length") == len(text)


def test_a_title_is_marked(bench):
    title = "Refunds " + FILLER * 60
    bench.evaluate(
        """(title) => paintMarked(document.querySelector("#host"), title,
            marksOf({text: "refund", keywords: []}))""",
        title,
    )
    assert bench.locator("#host").text_content() == title
    assert bench.locator("#host mark").all_text_contents() == ["Refunds"]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_marked_words_are_readable_and_told_apart_without_colour(bench, theme):
    bench.evaluate(
        """([background, text]) => { const style = document.querySelector(".pad").style;
            style.setProperty("--st-background-color", background);
            style.color = text; }""",
        theme,
    )
    bench.evaluate(
        """() => paintMarked(document.querySelector("#host"), "annual plan and refund",
            marksOf({text: "refund", keywords: ["annual plan"]}))"""
    )
    styles = {
        kind: bench.locator(f"#host mark.{kind}").evaluate(CONTRAST) for kind in ("keyword", "word")
    }
    for contrast, _ in styles.values():
        assert contrast >= 4.5
    assert styles["keyword"][1] != styles["word"][1]


CONTRAST = """(mark) => {
    const { color, backgroundColor, textDecorationStyle } = getComputedStyle(mark);
    const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1});
    const context = canvas.getContext("2d");
    const light = (css) => {
        context.fillStyle = css;
        context.fillRect(0, 0, 1, 1);
        const [r, g, b] = Array.from(context.getImageData(0, 0, 1, 1).data, (value) => {
            const share = value / 255;
            return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const [dim, bright] = [light(color), light(backgroundColor)].sort((a, b) => a - b);
    return [(bright + 0.05) / (dim + 0.05), textDecorationStyle];
}"""
