"""Label with what decides between two runs alone: who is led there, and where it leads back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from labeler.model import ACTIVE_OF_TWO, Chunk, Query, Ranking
from labeler.store import Store
from tests.support.page import empty_golden_set, loaded, open_page, words


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """Two runs of a query, and graders are asked what decides between them."""
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        store.queries.load(loaded([Query("q", "one")]))
        store.chunks.load(loaded([Chunk(f"c{n}", f"text {n}") for n in range(4)]))
        store.runs.load(loaded([Ranking("q", ("c0", "c1"))]), name="A & B")
        store.runs.load(loaded([Ranking("q", ("c2", "c3"))]), name="C")
        settings = replace(
            store.settings.read(), strategy=ACTIVE_OF_TWO, unjudged_of=("A & B", "C")
        )
        store.settings.save(settings)
    return path


def pad_data(app: AppTest) -> dict[str, Any]:
    """Return what the grading pad of a page is told."""
    assert not app.exception

    def parts(block: Any) -> Iterator[Any]:
        for each in getattr(block, "children", {}).values():
            yield each
            yield from parts(each)

    [pad] = [each for each in parts(app.main) if getattr(each, "key", None) == "grading_pad"]
    found: dict[str, Any] = json.loads(pad.proto.json)
    return found


def test_a_lead_is_led_back_to_the_verdict_on_these_two_runs(asked: Path) -> None:
    told = pad_data(open_page("label", until="decided"))
    assert told["confined"]["until"] == "decided"
    assert told["verdict_url"] == "/compare?a=A+%26+B&b=C"


def test_without_that_in_the_address_nothing_is_said_of_it(asked: Path) -> None:
    told = pad_data(open_page("label"))
    assert (told["confined"], told["verdict_url"]) == (None, None)


def test_an_address_of_what_is_no_longer_asked_leads_on(asked: Path) -> None:
    with Store(asked) as store:
        store.settings.save(replace(store.settings.read(), strategy="query by query"))
    app = open_page("label", until="decided")
    assert "nothing is to be decided between two runs just now" in words(app)
    assert [each.label for each in app.button] == ["Go on without it"]


def test_another_end_is_unknown(asked: Path) -> None:
    assert "no end is called 'noon'" in words(open_page("label", until="noon"))
