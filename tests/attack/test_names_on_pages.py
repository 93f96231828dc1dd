"""Names of anybody's choosing on every page: they are text, never Markdown, and break nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1.element_tree import Block, Element

from labeler.model import Chunk, GoldenGrade, Judgment, LoadedGolden, Query, Ranking, Remark
from labeler.render.text import in_label
from labeler.services.import_export import snapshots
from labeler.store import Store
from tests.support.page import empty_golden_set, listed_queries, loaded, open_page, words
from tests.support.traffic import log

IMAGE = "![i](http://evil.example/i.png)"
LINK = f"[l](http://evil.example) :red[x] $y$ {IMAGE}"
NAMES = ["__proto__", "constructor", "toString", "a'b\\", 'q"x', "[0].length", "a.b", LINK]
# What a browser shows as it is, by kind of element and field. All else may be Markdown.
PLAIN = {
    *(("text", "body"), ("html", "body"), ("code", "code_text"), ("iframe", "srcdoc")),
    *(("selectbox", "options"), ("selectbox", "placeholder"), ("selectbox", "raw_value")),
    *(("multiselect", "options"), ("multiselect", "raw_values"), ("multiselect", "placeholder")),
    *(("text_input", "default"), ("text_input", "value"), ("text_input", "placeholder")),
}
NEVER_SHOWN = {"id", "element_id", "form_id", "element_hash", "key", "url", "fragment_id"}
DRAWN = {"arrow_data_frame", "arrow_vega_lite_chart", "bidi_component", "vega_lite_chart"}


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a golden set in which runs, systems, facets, buckets, people and ids have these names.

    Whoever looks is lead.
    """
    monkeypatch.setenv("LABELER_OPEN", "1")
    path = empty_golden_set(tmp_path)
    queries = [
        Query(
            name,
            f"{name} asks",
            task="single",
            reference=name,
            guideline=name,
            keywords=("text", f"{name} never found"),
            buckets=dict.fromkeys(NAMES, name),
        )
        for name in NAMES
    ]
    with Store(path) as store:
        store.queries.load(loaded(queries))
        chunks = [Chunk(name, f"text {name}", name, document_id=name, position=1) for name in NAMES]
        store.chunks.load(loaded(chunks))
        for at, run in enumerate(NAMES):
            order = (*NAMES[at:], *NAMES[:at])
            lists = [Ranking(name, order, (1.0,) * len(order)) for name in NAMES]
            store.runs.load(
                loaded(lists), name=run, system=f"{run} system", created_at="2026-01-31"
            )
        grades = [GoldenGrade(name, NAMES[0], 3, (name,), name) for name in NAMES]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
        for number, name in enumerate(NAMES):
            store.people.invite(name, f"hash {number}", role="lead")
            judge(store, f"e{number}", name, NAMES[1], "grade", 0)
            judge(store, f"x{number}", name, NAMES[2], "cannot_tell", None)
            store.judgments.add(Judgment(f"o{number}", NAMES[0], NAMES[2], name, grade=number % 4))
            store.remarks.add(Remark(f"r{number}", name, name, "unclear", name))
        snapshots.freeze(store, LINK)
    log(path, LINK, dict.fromkeys(NAMES, 2))
    return path


def judge(store: Store, event_id: str, name: str, chunk: str, kind: str, grade: int | None) -> None:
    """Let somebody judge a pair with a reason and a note."""
    said = {"reason": None if grade is not None else name, "note": name}
    store.judgments.add(Judgment(event_id, name, chunk, name, kind, grade, **said))


def every_page(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give every page in every shape, at addresses that name ``name`` wherever they can."""
    two = {"a": name, "b": NAMES[0]}
    field = {"facet": name, "bucket": name}
    yield "label", {}
    for view in ("measures", "by task", "recall over k", "ties", "keywords"):
        yield "scores", {"view": view, "measure": ["RR", "RBP"], **field}
    whole = {"runs": "true", "parts": "true"}
    for trend in (
        {"system": f"{name} system", **field},
        {"from": name},
        {"window": name},
        {"facet": name},
    ):
        yield "scores", {"view": "trend", "measure": "RR", **whole, **trend}
    yield "scores", {"facet": name, "systems": "true", "pin": name}
    yield "scores", {"view": "keywords", "missed": "true", "measure": ["RR"]}
    for show in (
        "Rank strips",
        "What moved most",
        "Perfect reranker",
        "Keywords",
    ):
        yield "compare", {**two, "show": show, **field}
    yield "compare", {**two, "query": name, "chunk": name}
    yield "slices", {"a": name, "facet": name, "numbers": "true"}
    yield "slices", {**two, "facet": name, "numbers": "true", "keywords": "true"}
    yield "slices", {**two, "facet": name, "other": NAMES[0], "numbers": "true"}
    yield "queries", {**two, **field}
    yield "queries", {"a": name, "facet": name, "view": "Why they fail"}
    for part in ("Ranked lists", "DCG table", "Pool"):
        yield "queries", {**two, "query": name, "part": part}
    for review in ("Work", "Progress", "Can't tell", "Remarks on queries", "Notes"):
        yield "review", {"review": review, "facet": name}
    yield "review", {"review": "Agreement", "facet": name, "down": name}
    yield "review", {"review": "Agreement", **field, "grader": [name, NAMES[0]]}
    for section in ("Load", "Download", "Runs", "Queries", "People", "Settings"):
        yield "data", {"section": section, "run": name, "person": name, "find": name}
    of_version = {"golden": name, "weighted": name}
    for page in ("scores", "compare", "slices", "queries"):
        yield page, {**two, **field, **of_version}
    yield "queries", {**two, **of_version, "query": name, "part": "DCG table"}
    for page in ("scores", "compare", "slices", "queries"):  # what is not there is named, too
        yield page, {"a": f"no {name}", "facet": name}
        yield page, {"facet": f"no {name}", "query": f"no {name}"}


def elements(block: Block) -> Iterator[Element | Block]:
    """Give everything on a page, blocks with their labels included."""
    for child in block.children.values():
        yield child
        if isinstance(child, Block):
            yield from elements(child)


def said_as_markdown(app: Any) -> Iterator[str]:
    """Give every text of a page that is not known to be shown as it is."""
    for tree in app._tree.children.values():
        for each in elements(tree):
            proto = getattr(each, "proto", None)
            if proto is not None and each.type not in DRAWN:
                yield from texts_in(each.type, proto)


def texts_in(kind: str, proto: Any) -> Iterator[str]:
    """Give the texts of a message, and of the messages inside it."""
    if not hasattr(proto, "ListFields"):
        return
    for field, value in proto.ListFields():
        many = value if not isinstance(value, str) and hasattr(value, "__iter__") else [value]
        for each in many:
            if isinstance(each, str):
                if (kind, field.name) not in PLAIN and field.name not in NEVER_SHOWN:
                    yield f"{kind}.{field.name}: {each.replace(in_label(LINK), '')}"
            else:
                yield from texts_in(kind, each)


def test_no_name_is_markdown_and_none_breaks_a_page(hostile):
    for page, parameters in every_page(LINK):
        app = open_page(page, **parameters)
        assert not app.exception, (page, parameters)
        found = [text for text in said_as_markdown(app) if "evil.example" in text]
        assert not found, (page, parameters, found)


def test_the_walk_would_notice(hostile, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("labeler.ui.scores.trend.AXIS_NOTE", LINK)
    found = said_as_markdown(open_page("scores", view="trend", measure="RR"))
    assert any("evil.example" in text for text in found)


# A facet called as a parameter is ---------------------------------------------------------------

CALLED = ["bucket", "facet", "query", "text", "all queries"]


@pytest.fixture
def called(tmp_path: Path) -> Path:
    """Make a golden set with facets that are called as parameters and columns are."""
    path = empty_golden_set(tmp_path)
    buckets = [dict.fromkeys([*CALLED, "intent"], bucket) for bucket in ("red", "every bucket")]
    queries = [Query(f"q{n}", "what?", buckets=buckets[n % 2]) for n in range(4)]
    with Store(path) as store:
        store.queries.load(loaded(queries))
        store.chunks.load(loaded([Chunk("c", "text")]))
        for run in ("no other run", "other"):
            lists = [Ranking(query.query_id, ("c",)) for query in queries]
            store.runs.load(loaded(lists), name=run)
        grades = [GoldenGrade("q0", "c", 3), GoldenGrade("q1", "c", 0)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return path


def kept_to(monkeypatch: pytest.MonkeyPatch, **parameters: str) -> Any:
    """Open Label and return what its pad is told: the bucket, and the query to begin with."""
    told = []
    monkeypatch.setattr("labeler.ui.grading.pad", told.append)
    app = open_page("label", **parameters)
    assert not app.exception
    assert told, words(app)
    [desk] = told
    return desk.confined and (desk.confined.facet, desk.confined.bucket), desk.query


@pytest.mark.parametrize("facet", CALLED)
def test_a_facet_may_be_called_as_a_parameter_of_an_address(called, monkeypatch, facet: str):
    field = {"facet": facet, "bucket": "red"}
    assert kept_to(monkeypatch, **field) == ((facet, "red"), None)
    for page in ("scores", "compare", "slices", "queries", "review"):
        app = open_page(page, **field)
        said = words(app)
        assert "Go on without it" not in [button.label for button in app.button], (page, said)
    listed = open_page("queries", **field)
    assert list(listed_queries(listed)["query"]) == ["q0", "q2"]


def test_addresses_of_label_mean_what_they_meant(called, monkeypatch):
    assert kept_to(monkeypatch) == (None, None)
    assert kept_to(monkeypatch, intent="red") == (("intent", "red"), None)
    assert kept_to(monkeypatch, facet="intent", bucket="red") == (("intent", "red"), None)
    assert kept_to(monkeypatch, query="q1") == (None, "q1")
    assert kept_to(monkeypatch, bucket="red") == (("bucket", "red"), None)
    assert kept_to(monkeypatch, facet="red") == (("facet", "red"), None)
    assert kept_to(monkeypatch, query="red") == (("query", "red"), None)
    assert kept_to(monkeypatch, facet="intent", bucket="red", query="q1") == (
        ("intent", "red"),
        "q1",
    )
    for wrong in ({"bucket": "blue"}, {"query": "q9"}, {"facet": "intents"}, {"text": "blue"}):
        app = open_page("label", **wrong)
        assert [button.label for button in app.button] == ["Go on without it"], wrong


def test_label_keeps_to_a_split_beside_a_bucket(called, monkeypatch):
    with Store(called) as store:
        store.splits.assign({"q0": "dev"}, {})
    told = []
    monkeypatch.setattr("labeler.ui.grading.pad", told.append)
    open_page("label", split="dev", intent="red")
    open_page("label", split="dev")
    open_page("label", split="dev", query="q1")
    fields = [(desk.confined.facet, desk.confined.split, desk.query) for desk in told]
    assert fields == [("intent", "dev", None), (None, "dev", None), (None, "dev", "q1")]
    assert told[0].splits == ["dev"]
    app = open_page("label", split="test")
    assert "no split is called 'test'; there are: dev" in words(app)
    assert [button.label for button in app.button] == ["Go on without it"]


def test_a_bucket_called_as_the_choice_of_none_can_be_chosen(called):
    app = open_page("queries", facet="intent", bucket="every bucket")
    assert list(listed_queries(app)["query"]) == ["q1", "q3"]
    app = open_page("queries", a="no other run", b="other")
    against = next(box for box in app.selectbox if box.label == "B")
    assert (app.selectbox(key="a").value, against.value) == ("no other run", "other")
    against.set_value("(no other run)").run()
    assert "b" not in app.query_params


def test_scores_are_sorted_by_a_bucket_called_as_a_column_or_a_direction_is(tmp_path):
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        queries = [
            Query(name, "what?", buckets={"kind": name}) for name in ("run", "-a", "a", "=a")
        ]
        store.queries.load(loaded(queries))
        for at, run in enumerate(("x", "y")):
            lists = [Ranking(q.query_id, ("c", "d")[:: 1 - 2 * at]) for q in queries]
            store.runs.load(loaded(lists), name=run)
        grades = [GoldenGrade(q.query_id, "d", 3) for q in queries]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    for column in ("=run", "=-a", "a", "==a"):
        for sort, first in ((f"-{column}", "y"), (column, "x")):
            said = words(open_page("scores", facet="kind", measure=["RR"], sort=sort))
            assert said.index("|y|" if first == "y" else "|x|") < said.index(
                "|x|" if first == "y" else "|y|"
            ), (sort, said)
