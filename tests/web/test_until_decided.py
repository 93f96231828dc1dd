"""Grading until it is decided: two dumps, what decides and nothing else, and then the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from click.testing import CliRunner
from starlette.applications import Starlette

from labeler.analysis.active import AT_ONCE
from labeler.cli import main
from labeler.cli.open import DumpFile, load_pair
from labeler.model import ACTIVE_OF_TWO, ACTIVE_SOURCE, Settings
from labeler.services.assignment.assigner import Assigner
from labeler.services.assignment.scope import UNTIL_DECIDED
from labeler.store import Store
from labeler.ui.assignment_cache import DecisionQueue
from labeler.web.grading_api import grading_routes
from tests.support.dumps import RightGrades, write_dumps
from tests.support.grading_client import Pad

MOST_GRADES = 60


@pytest.fixture(params=[4, *(pytest.param(each, marks=pytest.mark.slow) for each in (5, 6))])
def dumped(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Store, RightGrades]]:
    """Load two dumps as ``labeler open`` does, and ask what decides between them."""
    *files, grades = write_dumps(tmp_path, request.param)
    path = tmp_path / "golden.db"
    monkeypatch.setenv("LABELER_DB", str(path))
    with Store(path, create=True) as store:
        pair = load_pair(store, [DumpFile(file) for file in files])
        store.people.add("Ann")
        store.settings.save(
            replace(store.settings.read(), strategy=ACTIVE_OF_TWO, unjudged_of=pair)
        )
        yield store, grades
    st.cache_resource.clear()


def sit_down(store: Store, ask) -> Pad:
    """Return a grader's browser at a server that knows what decides."""
    pad, queue = Pad(store, ask), DecisionQueue()
    assigner = Assigner(queue.telling, decision=queue.decision)
    routes = grading_routes(str(store.path), assigner=assigner)
    pad.app = Starlette(routes=routes)
    return pad


def right_grade(grades: RightGrades, answer: dict, item: dict) -> int:
    """Return what a grader who knows says of a passage."""
    return grades[answer["queries"][item["query"]]["text"], item["text"]]


def test_a_newcomer_with_two_dumps_reaches_the_right_verdict_with_at_most_60_grades(dumped, ask):
    store, grades = dumped
    pad = sit_down(store, ask)
    given = 0
    while not (answer := pad.next(until=UNTIL_DECIDED, limit=1))["decision"]["settled"]:
        [item] = answer["items"]
        pad.grade(item, right_grade(grades, answer, item))
        given += 1
        assert given <= MOST_GRADES
    assert answer["items"] == []
    assert answer["open"] == 0
    work = DecisionQueue().decision()
    assert work is not None
    assert work.settled
    assert work.graded == given == store.golden_set.contents().judgments
    assert verdict_of(store) == "dense"
    assert {event.source for event in store.judgments.log()} == {ACTIVE_SOURCE}
    assert all(event.blind for event in store.judgments.log())


def verdict_of(store: Store) -> str:
    """Return which run ``labeler next`` says is ahead."""
    arguments = ["--db", str(store.path), "next", "bm25", "dense", "--format", "json"]
    said = json.loads(CliRunner().invoke(main, arguments, catch_exceptions=False).output)
    assert said["settled"]
    return said["leader"]


@pytest.mark.parametrize("dumped", [4], indirect=True)
def test_what_is_handed_out_names_no_system_and_is_a_dozen_at_once(dumped, ask):
    store, _ = dumped
    answer = sit_down(store, ask).next(until=UNTIL_DECIDED)
    assert len(answer["items"]) == AT_ONCE
    assert answer["decision"] == {"graded": 0, "likely": 30, "settled": False}
    assert answer["open"] == 30
    said = json.dumps(answer)
    for word in ("bm25", "dense", "rank", "deciding", "score"):
        assert word not in said
    assert {item["source"] for item in answer["items"]} == {"pool"}
    assert {query["left"] for query in answer["queries"].values()} == {0}, "not of all passages"


@pytest.mark.parametrize("dumped", [4], indirect=True)
def test_after_each_grade_what_decides_is_chosen_again(dumped, ask):
    store, grades = dumped
    pad = sit_down(store, ask)
    first = pad.next(until=UNTIL_DECIDED)
    item = first["items"][0]
    pad.grade(item, right_grade(grades, first, item))
    second = pad.next(until=UNTIL_DECIDED)
    assert second["decision"]["graded"] == 1
    assert (item["query"], item["chunk"]) not in [(e["query"], e["chunk"]) for e in second["items"]]
    assert len(second["items"]) == AT_ONCE


@pytest.mark.parametrize("dumped", [4], indirect=True)
def test_two_graders_at_once_are_given_other_passages(dumped, ask):
    store, _ = dumped
    store.people.add("Bob")
    ann = sit_down(store, ask)
    bob = ann.beside(store, "Bob")
    assert not set(ann.pairs(until=UNTIL_DECIDED)) & set(bob.pairs(until=UNTIL_DECIDED))


@pytest.mark.parametrize("dumped", [4], indirect=True)
def test_without_a_question_there_is_nothing_to_decide(dumped, ask):
    store, _ = dumped
    pad = sit_down(store, ask)
    store.settings.save(Settings())
    assert "nothing is to be decided" in pad.refused("next", until=UNTIL_DECIDED)
    assert "until=decided" in pad.refused("next", until="tomorrow")
    assert "decision" not in pad.next()
