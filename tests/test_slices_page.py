"""The Slices page: every bucket with its n and holes, few ones greyed, none of them hidden."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from labeler import charts, downloads
from labeler.charts import HEAT_COLOURS, HeatCell
from labeler.comparison import compare
from labeler.evaluation import Conventions, Scoreboard
from labeler.model import Chunk, GoldenGrade, LoadedGolden, Query, Ranking
from labeler.store import Store
from tests.page import add_collapsed_bucket, empty_golden_set, loaded, open_page, words


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return empty_golden_set(tmp_path)


@pytest.fixture
def filled(database: Path) -> Path:
    """B wins four queries of one bucket and loses both of the other; one query has no bucket."""
    low, high = ("c1", "c2", "c0"), ("c0", "c1", "c2")
    better = {1: (low, high), 2: (low, high), 3: (low, high), 4: (low, high)}
    worse = {5: (high, low), 6: (high, low)}
    both = {**better, **worse, 7: (high, high)}
    with Store(database) as store:
        store.add_chunks(loaded([Chunk(f"c{n}", f"text {n}") for n in range(3)]))
        store.add_queries(
            loaded(
                [
                    Query(
                        f"q{n}",
                        f"query {n}",
                        task="single" if n % 2 else "research",
                        buckets={"intent": "<b>refund</b>" if n < 5 else "setup"} if n < 7 else {},
                    )
                    for n in both
                ]
            )
        )
        for at, name in enumerate(("A&A", "B")):
            lists = [Ranking(f"q{n}", given[at]) for n, given in both.items()]
            store.add_run(loaded(lists), name=name)
        grades = [GoldenGrade(f"q{n}", "c0", 3) for n in both]
        store.add_golden(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return database


def open_slices(**parameters: str | list[str]) -> AppTest:
    return open_page("slices", **parameters)


def row(said: str, name: str) -> list[str]:
    """The cells of the table row that opens with ``name``."""
    rest = re.split(rf"\|{re.escape(name)}\|", said, maxsplit=1)[1]
    return [cell for cell in rest.split("|") if cell.strip()]


def test_without_a_run_it_says_what_to_load(database: Path):
    said = words(open_slices())
    assert "labeler load run" in said
    assert "n 0" not in said


def test_queries_without_buckets_say_how_to_give_some(database: Path):
    with Store(database) as store:
        store.add_queries(loaded([Query("q1", "one")]))
        store.add_run(loaded([Ranking("q1", ("c0",))]), name="only")
    said = words(open_slices())
    assert '"buckets"' in said
    assert "nan" not in said.lower()


def test_one_run_shows_every_bucket_the_total_and_who_has_no_bucket(filled: Path):
    said = words(open_slices(facet="intent", a="A&A", measure=["RR"]))
    assert row(said, "<b>refund</b>")[:3] == ["0.3333", "n 4", "few"]
    assert row(said, "setup")[:3] == ["1.0000", "n 2", "few"]
    assert row(said, "all judged queries")[:2] == ["0.6190", "n 7 · 14 holes"]
    assert "1 judged query has no intent" in said
    assert "gain 2^grade−1" in said


def test_how_few_is_few_is_a_choice_and_hides_nothing(filled: Path):
    said = words(open_slices(facet="intent", measure=["RR"], least="3"))
    assert row(said, "<b>refund</b>")[1] != "few"
    assert "few" in row(said, "setup")[:3]


def test_a_bucket_against_the_total_is_said_in_words(database: Path):
    add_collapsed_bucket(database)
    said = words(open_slices(facet="intent", a="old", b="new", measure=["RR"]))
    assert "intent = setup moves against the total: RR falls by 0.5000 (n 11)" in said
    assert "intent = refund moves against" not in said


def test_two_queries_that_lose_are_no_bucket_against_the_total(filled: Path):
    said = words(open_slices(facet="intent", a="A&A", b="B", measure=["RR"]))
    assert "No bucket of intent moves against the total by more than chance." in said
    assert row(said, "setup")[:9] == [
        *("2", "few", "4", "4", "1.0000", "0.3333", "▼ −0.6667", "0", "0"),
    ]
    assert row(said, "all judged queries")[-7:-3] != ["0", "0", "0", "0"]


def test_two_facets_cross_with_the_empty_crossings_left_to_the_heat_map(filled: Path):
    app = open_slices(facet="intent", other="task", a="A&A", b="B", measure=["RR"])
    said = words(app)
    assert re.search(r"\|setup\|+single\|+1\|few", said)
    assert "RR of B by intent and task; under it B − A and n" in said
    (chart,) = app.get("vega_lite_chart")
    assert "RR of B by intent and task" in chart.proto.spec


def test_names_from_files_stay_text_and_lead_to_the_queries(filled: Path):
    bodies = [element.proto.body for element in open_slices(facet="intent").get("html")]
    assert not any("<b>refund" in body for body in bodies)
    (address,) = re.findall(r'href="(/queries\?[^"]*setup[^"]*)"', "".join(bodies))
    assert "a=A%26A" in address
    assert "facet=intent" in address


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"a": "nope"}, "no run is called 'nope'; there are: A&A, B"),
        ({"b": "nope"}, "no run is called 'nope'"),
        ({"facet": "nope"}, "no facet is called 'nope'; there are: intent, task"),
        ({"other": "nope"}, "no facet is called 'nope'"),
        ({"a": "B", "b": "B", "facet": "intent"}, "choose two different runs"),
        ({"measure": ["nDGC@10"]}, "nDCG"),
    ],
)
def test_a_wrong_address_is_said_in_words(filled: Path, given: dict, said: str):
    shown = words(open_slices(**given))
    assert said in shown
    assert "0.6190" not in shown


def test_the_file_has_every_digit_and_the_conventions(filled: Path):
    with Store(filled) as store:
        board = Scoreboard(store.collection(), Conventions.of())
    found = compare(board, "A&A", "B", board.conventions.measures("RR"), "intent")
    rows = list(csv.DictReader(io.StringIO(downloads.compare_csv(found).decode())))
    assert [each["bucket"] for each in rows] == ["", "<b>refund</b>", "setup"]
    assert float(rows[1]["a"]) == 1 / 3
    assert (rows[0]["measure"], rows[0]["full_name"]) == ("RR", "RR(rel=1)")
    assert all("gain 2^grade−1" in each["conventions"] for each in rows)


def luminance(rgb: list[float]) -> float:
    """Return how bright a colour is, as WCAG defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def channels(colour: str) -> list[float]:
    """Return the red, green and blue of ``#rrggbb``, from 0 to 1."""
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def test_every_number_on_the_heat_map_stands_out_from_its_box():
    cells = [HeatCell(str(n), "RR", n / 200, "n 9") for n in range(201)]
    drawn = charts.heat_chart(cells, rows="bucket", columns="measure", description="").to_dict()
    [rows] = drawn["datasets"].values()
    low, high = (channels(colour) for colour in HEAT_COLOURS)
    for row in rows:
        box = luminance([a + (b - a) * row["value"] for a, b in zip(low, high, strict=True)])
        darker, brighter = sorted((box, luminance(channels(row["ink"]))))
        assert (brighter + 0.05) / (darker + 0.05) >= 4.5, row["value"]
