"""What two runs both found, and where their lists part: known before anybody grades."""

from __future__ import annotations

import pytest

from labeler.analysis.comparison import compare_lists
from labeler.errors import Incomparable
from labeler.evaluation import Conventions, Scoreboard, collect

ONE = {
    "same": ["c1", "c2"],
    "swapped": ["c1", "c2"],
    "half": ["c1", "c2"],
    "apart": ["c1", "c2"],
    "longer": ["c1"],
    "alone": ["c1"],
}
TWO = {
    "same": ["c1", "c2"],
    "swapped": ["c2", "c1"],
    "half": ["c1", "c3"],
    "apart": ["c3", "c4"],
    "longer": ["c1", "c2"],
}


def board_of(one=ONE, two=TWO) -> Scoreboard:
    """Return a board of two runs without a grade."""
    known = {query: {} for query in {**ONE, **one, **two}}
    return Scoreboard(collect(known, {"one": one, "two": two}), Conventions.of())


def test_each_query_has_what_is_shared_and_where_the_lists_part():
    found = {row.query_id: row for row in compare_lists(board_of(), "one", "two").rows}
    assert {name: (row.share, row.parts_at) for name, row in found.items()} == {
        "same": (2, None),
        "swapped": (2, 1),
        "half": (1, 2),
        "apart": (0, 1),
        "longer": (1, 2),
    }
    assert (found["longer"].only_a, found["longer"].only_b) == (0, 1)


def test_the_queries_that_part_most_come_first_and_equal_ones_are_left_out():
    found = compare_lists(board_of(), "one", "two")
    shown = [row["query_id"] for row in found.table({}).rows]
    assert shown == ["apart", "half", "longer", "swapped"]
    assert len(found.table({}, 2).rows) == 2


def test_the_sentences_say_how_much_is_shared_and_who_answered_alone():
    said = [each.sentence for each in compare_lists(board_of(), "one", "two").statements()]
    assert said == [
        "one and two share 1.2 of their top 10 on average.",
        "In 3 of 5 queries the first result is the same.",
        "Nothing is shared in 1 query.",
        "In 1 query the top 10 is the same in both, in the same order.",
        "one alone has results for 1 more query.",
    ]


def test_short_names_are_used_where_they_are_given():
    said = compare_lists(board_of(), "one", "two").statements(("A", "B"))[0].sentence
    assert said == "A and B share 1.2 of their top 10 on average."


def test_only_the_first_ten_results_count():
    lists = ({"q": [f"c{n}" for n in range(20)]}, {"q": [f"c{n}" for n in [*range(10), 30]]})
    [row] = compare_lists(board_of(*lists), "one", "two").rows
    assert (row.share, row.parts_at, row.shown_a, row.shown_b) == (10, None, 10, 10)


def test_runs_that_share_no_query_are_refused():
    with pytest.raises(Incomparable, match="share no query"):
        compare_lists(board_of({"same": ["c1"]}, {"half": ["c1"]}), "one", "two")
