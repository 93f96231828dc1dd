"""HTML that cannot be left unescaped: what is no element stays a text, wherever it stands."""

from __future__ import annotations

import htpy
from streamlit.testing.v1 import AppTest

from labeler.analysis.comparison import DcgTable
from labeler.measures import parse
from labeler.render import tables

HOSTILE = "</style><script>alert(1)</script><img src=x onerror='alert(1)'> & \"so\""


def drawn() -> None:
    import htpy

    from labeler.render.markup import show_html, style

    show_html(style("p > b { color: red }"), htpy.p(title='<i>"')["<b>bold</b>"], "<script>")


def test_a_text_between_elements_stays_a_text_and_a_style_sheet_a_style_sheet():
    [html] = AppTest.from_function(drawn).run().get("html")
    assert html.proto.body == (
        "<style>p > b { color: red }</style>"
        '<p title="&lt;i&gt;&#34;">&lt;b&gt;bold&lt;/b&gt;</p>&lt;script&gt;'
    )


def test_no_name_becomes_html_in_any_part_of_a_table():
    row: list[tables.TextCell | str] = [
        tables.TextCell(HOSTILE, HOSTILE, f"/queries?query={HOSTILE}")
    ]
    worked = DcgTable(parse("nDCG@10"), (), (), 0.0, 0.0, float("nan"))
    for table in (
        tables.plain_table([HOSTILE, HOSTILE], [[*row, HOSTILE]], [HOSTILE, HOSTILE]),
        tables.chunk_text(HOSTILE, HOSTILE, HOSTILE),
        tables.query_heading(HOSTILE, [HOSTILE], {HOSTILE: HOSTILE}, [HOSTILE]),
        tables.small_print([HOSTILE]),
        tables.sentences([HOSTILE]),
        tables.ndcg_table(worked, HOSTILE, [HOSTILE]),
    ):
        source = str(table)
        assert "<script" not in source
        assert "<img" not in source
        assert source.count("<style") == source.count("</style")
        assert str(htpy.fragment[HOSTILE]) in source
