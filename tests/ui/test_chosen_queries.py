"""Pages over some of the queries, or a frozen version: what is kept, linked and said fits these."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from labeler.model import Chunk, GoldenGrade, LoadedGolden, Query, Ranking, Remark
from labeler.services.import_export import snapshots
from labeler.store import Store
from tests.support.page import empty_golden_set, loaded, open_page, words

DEV, TEST = [f"d{n}" for n in range(6)], [f"t{n}" for n in range(6)]
NONE_OF_LANG = "None of the queries that are chosen has a bucket of lang."


def query(name: str, intent: str) -> Query:
    """A query of a split, which its name begins with; only those of dev have a language."""
    split = "dev" if name.startswith("d") else "test"
    buckets = {"intent": intent, **({"lang": "en"} if split == "dev" else {})}
    return Query(name, f"query {name}", "single", buckets=buckets, keywords=("text",), split=split)


@pytest.fixture
def halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs A and B are the same in dev; in test B is worse. Frozen as v1."""
    path = empty_golden_set(tmp_path)
    monkeypatch.setenv("LABELER_DB", str(path))
    with Store(path) as store:
        intents = {name: "refund" if int(name[1]) % 2 else "setup" for name in DEV + TEST}
        store.queries.load(loaded([query(*each) for each in intents.items()]))
        store.chunks.load(loaded([Chunk("c1", "a text"), Chunk("c2", "another text")]))
        for run, last in (("A", ("c1", "c2")), ("B", ("c2", "c1"))):
            lists = [Ranking(name, ("c1", "c2")) for name in DEV]
            store.runs.load(loaded([*lists, *(Ranking(name, last) for name in TEST)]), name=run)
        grades = [GoldenGrade(name, "c1", 3) for name in DEV + TEST]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
        snapshots.freeze(store, "v1")
    return path


def test_how_candidates_are_related_is_of_the_split_that_is_shown(halves: Path):
    same = "A and B return the same results."
    runs = {"a": "A", "b": "B"}
    assert same in words(open_page("compare", split="dev", **runs))
    assert same not in words(open_page("compare", split="test", **runs))
    assert same in words(open_page("compare", split="dev", **runs))


def test_review_shows_what_is_live_whatever_its_reader_comes_from(halves: Path):
    for section in ("Work", "Progress"):
        app = open_page("review", golden="v1", review=section)
        assert "Frozen" not in words(app)
        assert "golden" not in app.query_params
    from_frozen = open_page("scores", golden="v1")
    [pages] = [each.proto.body for each in from_frozen.get("html") if "Pages" in each.proto.body]
    assert re.findall(r'href="/(\w*)\?[^"]*golden=v1', pages) == [
        *("scores", "scores", "compare", "slices", "queries")  # first that of the product's name
    ]


def test_remarks_of_today_change_nothing_of_a_frozen_version(halves: Path):
    with Store(halves) as store:
        store.people.add("Ann")
        store.remarks.add(Remark("r1", "t0", "Ann", "unclear"))
    asked = {"a": "B", "bar": "nDCG@1", "query": "t0"}
    assert "Ann says: it is unclear" in words(open_page("queries", **asked))
    said = words(open_page("queries", golden="v1", **asked))
    assert "unclear" not in said
    assert "ranked too low" in said


def test_rows_are_sorted_anew_for_other_queries(halves: Path):
    with Store(halves) as store:
        late = [Ranking(name, ("x", "c1")) for name in DEV]
        store.runs.load(loaded([*late, *(Ranking(name, ("c1",)) for name in TEST)]), name="late")
    app = open_page("scores", measure="RR", split="dev")
    said = words(app)
    assert said.index("|B|") < said.index("|late|")
    app.query_params["split"] = "test"
    said = words(app.run())
    assert said.index("|late|") < said.index("|B|")


@pytest.mark.parametrize("other", [{}, {"b": "B"}])
def test_a_facet_that_no_chosen_query_has_is_said_to_be_empty(halves: Path, other: dict[str, str]):
    asked = {"split": "test", "a": "A", **other}
    assert NONE_OF_LANG in words(open_page("slices", facet="lang", **asked))
    assert NONE_OF_LANG in words(open_page("slices", facet="intent", other="lang", **asked))


@pytest.mark.parametrize("page", ["queries", "compare"])
def test_an_opened_query_that_is_not_chosen_leads_back_to_all(halves: Path, page: str):
    app = open_page(page, a="A", b="B", query="t0", split="dev")
    assert "query 't0' is not among those chosen: split dev" in words(app)
    [leave] = [each for each in app.button if each.label == "Go on without it"]
    leave.click().run()
    assert "query t0" in words(app)
    assert "split" not in app.query_params


def test_keywords_of_a_frozen_bucket_are_those_of_its_queries_then(halves: Path):
    with Store(halves) as store:
        moved = [query(name, "moved") for name in DEV + TEST]
        store.queries.load(loaded(moved), update=True)
    asked = {"view": "keywords", "facet": "intent", "bucket": "refund"}
    assert "queries with keywords: 6" in words(open_page("scores", golden="v1", **asked))


def test_a_frozen_version_takes_no_grade(halves: Path):
    asked = {"a": "A", "b": "B", "query": "t0"}
    with Store(halves) as store:
        store.people.add("Ann")
    for golden, is_offered in ({}, True), ({"golden": "v1"}, False):
        app = open_page("compare", **asked, **golden)
        assert "|What if B had it at …|" in words(app)
        assert ("Enter your name" in words(app)) is is_offered


def test_numbers_of_a_bucket_lead_to_its_queries_alone(halves: Path):
    app = open_page("scores", view="by task", facet="intent", bucket="refund")
    ways = re.findall(r'href="/?queries\?([^"]*)"', "".join(e.proto.body for e in app.get("html")))
    [way] = {each for each in ways if "bucket=single" in each}
    assert "facet=task" in way
    assert "other=intent" in way
    assert "crossing=refund" in way
