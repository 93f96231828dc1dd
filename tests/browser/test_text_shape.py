"""The shape of a chunk's text, asked in a browser: tables, lists, headings and code as text.

All of the text is on the page in its order, so that places in it are those of the source.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page

from labeler.paths import PACKAGE
from tests.browser.modules import page_with

pytestmark = pytest.mark.browser

STYLE = ".pad #host { white-space: pre-wrap; overflow-wrap: anywhere; position: relative; }"
SCRIPTS = ("js/text_marks", "js/text_paint", "js/text_shape", "js/passages", "js/text_places")


@pytest.fixture(scope="module")
def bench(browser: Browser):
    """Give a blank page that has the scripts and one element to paint into."""
    host = '<div class="pad"><div id="host" class="text"></div></div>'
    with page_with(browser, *SCRIPTS, body=host) as page:
        page.add_style_tag(path=PACKAGE / "ui" / "grading" / "query_list.css")
        page.add_style_tag(content=STYLE)
        yield page


def paint(page: Page, text: str, query: str = "") -> None:
    """Paint a text and make sure that all of it is there, as text."""
    page.evaluate(
        """([text, query]) => paintText(document.querySelector("#host"), text,
            marksOf({text: query, keywords: []}), {marking: true, say: (key) => key})""",
        [text, query],
    )
    assert page.locator("#host").evaluate("host => host.textContent") == text


def blocks(page: Page, text: str) -> list[list[str]]:
    """Return the kind and the text of each block."""
    return page.evaluate(
        "text => blocksOf(text).map(({kind, start, end}) => [kind, text.slice(start, end)])", text
    )


def sentences(page: Page, text: str) -> list[str]:
    return page.evaluate(
        "text => sentencesOf(text).map(({start, end}) => text.slice(start, end))", text
    )


TABLE = """| weight | dose |
|---|---:|
| 33–50 kg | 15 mg/kg |
| over 50 kg | 1 g, **not** more |
"""


def test_a_pipe_table_has_aligned_columns_and_no_bars(bench):
    paint(bench, f"The doses:\n\n{TABLE}\nAnd so on.", "dose")
    rows = bench.locator("#host .tr")
    assert rows.count() == 3
    assert rows.first.get_by_role("columnheader").count() == 2
    left = {round(row.get_by_role("cell").nth(1).bounding_box()["x"]) for row in rows.all()[1:]} | {
        round(rows.first.get_by_role("columnheader").nth(1).bounding_box()["x"])
    }
    assert len(left) == 1
    read = bench.locator("#host .td").evaluate_all(
        "cells => cells.map(cell => [...cell.childNodes].filter(node => "
        "!node.classList?.contains('shape')).map(node => node.textContent).join(''))"
    )
    assert read == ["weight", "dose", "33–50 kg", "15 mg/kg", "over 50 kg", "1 g, **not** more"]
    assert bench.locator("#host mark").all_text_contents() == ["doses", "dose"]


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n| c | d |\n",
        "a | b\n--|--\nc | d",
        "|a|b|\n|-|-|\n|c||\n",
        "| a \\| b | c |\n| - | - |\n",
        "|---|---|\n| c | d |",
        "||\n||\n",
    ],
)
def test_a_table_is_whole_however_it_is_cut(bench, text):
    paint(bench, text)
    assert bench.locator("#host .table").count() == 1


def test_lists_and_headings_have_their_shape(bench):
    text = "## Which one\nCount.\n- up to 10: Wren\n  or less\n    - nested\n\n1. open\n2. close\n"
    assert blocks(bench, text) == [
        ["heading", "## Which one\n"],
        ["paragraph", "Count.\n"],
        ["item", "- up to 10: Wren\n  or less\n"],
        ["item", "    - nested\n"],
        ["gap", "\n"],
        ["item", "1. open\n"],
        ["item", "2. close\n"],
    ]
    paint(bench, text)
    assert bench.locator("#host").get_by_role("listitem").count() == 4
    assert bench.locator("#host").get_by_role("heading").inner_text().strip().endswith("Which one")
    assert bench.locator("#host .number").all_text_contents() == ["1. ", "2. "]
    first, nested = (bench.locator("#host .item").nth(n) for n in (0, 1))
    inset = "item => parseFloat(getComputedStyle(item).paddingLeft)"
    assert nested.evaluate(inset) > first.evaluate(inset) > 0


CODE = "def refund(size):\n    return <b>size</b>\n\n\nprint(1)\n"


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_code_between_fences_is_a_block_of_its_own_and_still_text(bench, fence):
    paint(bench, f"Before it.\n{fence}python\n{CODE}{fence}\nAfter it, refund.", "refund")
    block = bench.locator("#host .code")
    assert block.text_content() == CODE
    assert block.locator("b").count() == 0
    assert bench.locator("#host .fence").all_text_contents() == [f"{fence}python\n", f"{fence}\n"]
    boxes = [each.bounding_box() for each in bench.locator("#host .fence").all()]
    assert all(box["height"] <= 1 for box in boxes)
    assert bench.locator("#host mark").all_text_contents() == ["refund", "refund"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"Never closed:\n```\n{CODE}", CODE),
        (f"Never closed:\n```python\n{CODE}", CODE),
        (f"{CODE}```\nHow the refund works is said on the next page.", CODE),
        ("E01 tank empty\nE02 no water\n```\n", "E01 tank empty\nE02 no water\n"),
        (f"E01 tank\n```\nIt is not the same as on the Wren.\n```sh\n{CODE}```\n", "E01 tank\n"),
        (
            "```\nThe numbers are not the same as on the Wren and the Heron, so look here.\n",
            None,
        ),
    ],
)
def test_an_odd_fence_does_not_turn_the_rest_inside_out(bench, text, code):
    paint(bench, text)
    found = bench.locator("#host .code").all_text_contents()
    assert (found[:1] or [None]) == [code]


def test_a_long_line_of_code_wraps(bench):
    paint(bench, "```\n" + "x = refund(1) " * 200 + "\n```")
    code = bench.locator("#host .code")
    assert code.evaluate("code => code.scrollWidth <= code.clientWidth")
    assert code.bounding_box()["height"] > 60


COLUMNS = {
    "code": "def f():\n    return {\n        'a': 1,\n    }",
    "spaces": "name     size\nbig      10\nsmall    2",
    "tabs": "name\tsize\nbig\t10",
}
FILLER = "Nothing to see in this sentence, which only fills the page. "
PROSE = {
    "a list": "Steps:\n- open\n    - click here\n    1. wait",
    "a gap": "One sentence with a   gap inside it.",
    "an indent": "    " + FILLER * 4,
    "a gap in one line of three": "One line.\nAnother   line.\nThe last line.",
    "a bar": "Choose this | that as you like.\nOr not.",
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_keep_their_lines(bench, name):
    text = f"Before it, some prose with refund in it.\n\n{COLUMNS[name]}\n\nAfter it."
    paint(bench, text, "refund size")
    lines = bench.locator("#host .lines")
    assert [each.strip("\n") for each in lines.all_text_contents()] == [COLUMNS[name]]
    assert lines.evaluate("box => getComputedStyle(box).whiteSpace") == "pre"


@pytest.mark.parametrize("name", PROSE)
def test_prose_is_no_table(bench, name):
    paint(bench, COLUMNS["tabs"])
    paint(bench, PROSE[name])
    assert bench.locator("#host .lines, #host .table").count() == 0


def test_fences_bullets_and_bars_are_no_sentences(bench):
    text = f"# Doses\n```\nE01 tank empty\nE02 no water\n```\n- One. Two.\n{TABLE}\nThree. Four."
    assert sentences(bench, text) == [
        "Doses",
        "E01 tank empty",
        "E02 no water",
        "One.",
        "Two.",
        "weight | dose",
        "33–50 kg | 15 mg/kg",
        "over 50 kg | 1 g, **not** more",
        "Three.",
        "Four.",
    ]


def test_marks_are_where_they_are_in_the_source(bench):
    text = f"# Doses 👩\n\n{TABLE}\n- by mouth\n"
    paint(bench, text)
    for words in ("Doses", "15 mg/kg", "by mouth", "dose |\n|---|---:|\n| 33"):
        at = text.encode("utf-16-le").index(words.encode("utf-16-le")) // 2
        said = bench.evaluate(
            """([start, end]) => { const host = document.querySelector("#host");
                wrap(host, [{ start, end }], "evidence");
                return [...host.querySelectorAll("mark.evidence")].map(m => m.textContent).join("");
            }""",
            [at, at + len(words)],
        )
        assert said == words


def test_code_within_a_line_is_in_code_type_without_its_backticks(bench):
    text = "# The `429`\nIt is `429` with ``Retry-After``.\n- `a b`\n\n| `x` |\n| --- |\n| y |\n"
    paint(bench, text, "retry")
    inline = bench.locator("#host .inline")
    assert inline.all_text_contents() == ["429", "429", "Retry-After", "a b", "x"]
    assert "mono" in inline.first.evaluate("code => getComputedStyle(code).fontFamily").lower()
    assert bench.locator("#host mark").all_text_contents() == ["Retry"]
    assert "`" not in bench.locator("#host .shape").first.evaluate(
        "() => [...document.querySelectorAll('#host :not(.shape)')].flatMap((e) =>"
        " [...e.childNodes]).filter((n) => n.nodeType === 3"
        " && !n.parentElement.closest('.shape')).map((n) => n.data).join('')"
    )
    assert sentences(bench, "Send `429`. Wait.") == ["Send `429`.", "Wait."]
    assert bench.evaluate("briefOf('Send `429`.', 99)") == "Send 429."


@pytest.mark.parametrize(
    "text",
    [
        "`like this' and `so'",
        "l`eau et d`une",
        "a lone ` here",
        "` a `",
        "```not a fence here``` b",
    ],
)
def test_a_backtick_that_holds_no_code_stays(bench, text):
    paint(bench, text)
    assert bench.locator("#host .inline").count() == 0


def test_a_preview_has_no_fences_bars_or_bullets(bench):
    text = f"```\nE01 tank empty\n```\n## Doses\n{TABLE}- one"
    brief = bench.evaluate("text => briefOf(text, 200)", text)
    assert brief == (
        "E01 tank empty Doses weight · dose 33–50 kg · 15 mg/kg over 50 kg · 1 g, **not** more one"
    )


@pytest.mark.parametrize(
    ("dragged", "words"),
    [
        ("wo important points of a boundary l", "two important points of a boundary layer"),
        ("mporta", "important"),
        (" points of ", " points of "),
        ("yer, and don", "layer, and don’t"),
    ],
)
def test_what_is_dragged_over_snaps_to_words(bench, dragged, words):
    text = "the two important points of a boundary layer, and don’t stop"
    at = text.index(dragged)
    start, end = bench.evaluate(
        "([text, start, end]) => { const at = wholeWords(text, { start, end });"
        " return [at.start, at.end]; }",
        [text, at, at + len(dragged)],
    )
    assert text[start:end] == words


def test_what_is_dragged_over_stays_where_words_have_no_blanks(bench):
    found = bench.evaluate("wholeWords('全額返金できます', { start: 2, end: 4 })")
    assert found == {"start": 2, "end": 4}


@pytest.mark.parametrize(
    "text",
    [
        "|" * 50_000,
        ("|" * 200 + "\n") * 200,
        "| a |\n" + " " * 50_000 + "-x\n",
        "```" + " " * 50_000 + "x\n",
        "- " * 25_000,
        "\n" * 50_000,
        ("word, " * 5_000 + "\n") * 2 + "```\n",
        "# " * 20_000,
        "`" * 50_000,
        "`a " * 20_000,
    ],
)
def test_no_text_takes_long(bench, text):
    paint(bench, text)
