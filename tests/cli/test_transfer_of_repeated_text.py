"""A transfer says what would decide the pairs that repeated text leaves open, and that is so."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.model import Chunk, Judgment, Query, Ranking, Settings
from labeler.store import Store
from tests.support.documents import spans_of
from tests.support.filings import make_filings
from tests.support.page import open_page, words

[TEXT] = make_filings(1, 40, seed=3, asked=0).texts.values()
Run = Callable[..., str]


def chunks_of(size: int, given: Sequence[str]) -> list[Chunk]:
    """Return the chunks of a filing with some of what is known of them."""
    found = []
    for number, (start, end) in enumerate(spans_of(TEXT, size)):
        known = {"document_id": "filing", "position": number, "start": start, "end": end}
        there = {name: known[name] for name in given}
        found.append(replace(Chunk(f"{size}-{number}", TEXT[start:end].strip()), **there))
    return found[::-1] if "position" not in given and "start" not in given else found


@pytest.fixture
def load(store: Store, loaded) -> Callable[[Sequence[str]], None]:
    """Load old chunks, all of them graded, and new ones with what is given of them."""
    store.queries.load(loaded([Query("q1", "what is due")]))
    old = chunks_of(800, ("document_id", "position", "start", "end"))
    store.chunks.load(loaded(old))
    store.runs.load(loaded([Ranking("q1", tuple(each.chunk_id for each in old))]), name="old")
    store.settings.save(Settings(pool_depth=100))
    store.people.add("Ana")
    for number, chunk in enumerate(old):
        grade = 0 if number % 3 else 3
        passages = ((0, 60),) if grade else ()
        store.judgments.add(
            Judgment(f"e{number}", "q1", chunk.chunk_id, "Ana", grade=grade, evidence=passages)
        )

    def add(given: Sequence[str]) -> None:
        new = chunks_of(300, given)
        names = tuple(sorted(each.chunk_id for each in new))
        update = "v2" in store.chunkings.names()
        store.chunks.load(loaded(new), chunking="v2", update=update)
        if not update:
            store.runs.load(loaded([Ranking("q1", names)]), name="new", chunking="v2")

    return add


@pytest.fixture
def run(store: Store) -> Run:
    def invoke(*arguments: str) -> str:
        command = ["--db", str(store.path), "transfer", "--from", "default", "--to", "v2"]
        result = CliRunner().invoke(main, [*command, "--dry-run", *arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    return invoke


def facts(run: Run) -> dict:
    return json.loads(run("--format", "json"))


@pytest.mark.parametrize("then", [("position",), ("start", "end")])
def test_what_is_said_to_be_decided_is_decided_once_it_is_loaded(
    load: Callable[[Sequence[str]], None], run: Run, then: Sequence[str]
) -> None:
    load(("document_id",))
    before = facts(run)
    [said] = before["statements"]
    assert said["kind"] == "repeated text"
    assert said["numbers"]["pairs"] > 10
    promised = said["numbers"]["would_be_decided"]
    assert said["text"] == (
        "Load the chunks of chunking v2 with position, or with start and end: about "
        f"{promised} of the {said['numbers']['pairs']} pairs that repeated text leaves open "
        f"({said['numbers']['share']:.0%}) would be decided."
    )
    load(("document_id", *then))
    after = facts(run)
    assert after["statements"] == after["in_several_places"] == []
    assert math.isclose(after["decided"] - before["decided"], promised, rel_tol=0.15)


def test_the_page_says_it_as_the_command_does(
    load: Callable[[Sequence[str]], None],
    run: Run,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load(("document_id",))
    [said] = facts(run)["statements"]
    assert f"! Repeated text: {said['text']}" in run()
    monkeypatch.setenv("LABELER_DB", str(store.path))
    looking = {"section": "Transfer", "from": "default", "to": "v2", "look": "yes"}
    assert said["text"] in words(open_page("data", **looking))
