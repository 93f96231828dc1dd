"""One file that makes a golden set anew without its runs: the same hash, the same bytes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.model import AskedQuestion, Chunk, Judgment, Query, Remark, Settings
from labeler.services import import_export
from labeler.services.candidates import group_questions
from labeler.services.import_export import snapshots
from labeler.store import Store, query_fingerprint

Labeler = Callable[..., Result]


@pytest.fixture
def run() -> Labeler:
    return lambda *arguments: CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture
def rich(filled: Store, loaded) -> Store:
    """A golden set with all that can be said in one."""
    snapshots.freeze(filled, "v1", "a note")
    more = [Query("q7", "seven", split="dev", metadata={"a": [1, 0.5]}), Query("q8", "eight")]
    filled.queries.load(loaded(more))
    filled.chunks.load(loaded([Chunk("c1", "new text", document_id="d", position=2)]), update=True)
    for number, (name, grade) in enumerate([("Ann", 3), ("Bob", 1), ("Cy", 1)]):
        filled.judgments.add(
            Judgment(f"e{number}", "q1", "c3", name, grade=grade, note="why", blind=False)
        )
    filled.adjudication.adjudicate(Judgment("a1", "q1", "c3", "Bob", "adjudicate", 2), None)
    filled.judgments.add(Judgment("t1", "q7", "c6", "Cy", "cannot_tell", reason="no text"))
    filled.judgments.add(Judgment("u1", "q7", "c2", "Cy", grade=3))
    filled.judgments.undo(event_id="u2", undoes="u1", grader="Cy")
    filled.remarks.add(Remark("r1", "q2", "Ann", "unclear", "which?"))
    filled.queries.retire("q2")
    tend(filled)
    filled.settings.save(Settings(rel=2, prompt_k_by_task={"single": 3}, guideline="Read."))
    return filled


def tend(store: Store) -> None:
    """Edit a query, and propose grades for one that was taken and one that was there."""
    began = store.queries.get("q7")
    store.queries.edit(replace(began, text="seven?", keywords=("7",)), query_fingerprint(began))
    votes = [
        AskedQuestion("", query_id="q1", grades={"c4": {2: 3, 0: 1}}),
        AskedQuestion("new", grades={"c9": {3: 1}}),
    ]
    found = group_questions(enumerate(votes, 1), "thumbs", "thumbs.csv")
    store.candidates.add(found, found.questions)
    store.candidates.take(1, Query("taken", "new"))


def test_a_complete_file_makes_the_golden_set_anew(
    rich: Store, run: Labeler, tmp_path: Path
) -> None:
    file, other = tmp_path / "all.jsonl.gz", tmp_path / "other.db"
    told = run("export", file, "--complete").output
    assert "left out: runs, answers, signals, candidates, people, seals, the audit" in told
    assert rich.collection.golden_state().hash in told
    before = import_export.export(rich, "complete")
    result = run("--db", other, "load", "complete", file)
    assert result.exit_code == 0, result.output
    with Store(other) as store:
        assert store.collection.golden_state().hash == rich.collection.golden_state().hash
        assert import_export.export(store, "complete") == before
        assert import_export.export(store, "jsonl") == import_export.export(rich, "jsonl")
        assert (store.judgments.log(), store.remarks.log()) == (
            rich.judgments.log(),
            rich.remarks.log(),
        )
        assert (store.settings.read(), store.versions.all()) == (
            rich.settings.read(),
            rich.versions.all(),
        )
        assert (store.full_copy.tended().changes[0], store.suggestions.votes()) == (
            replace(rich.full_copy.tended().changes[0], number=1),
            rich.suggestions.votes(),
        )
        assert store.history.origin_of("taken") == rich.history.origin_of("taken")
        assert (store.full_copy.tended().origins, store.candidates.find()) == (
            rich.full_copy.tended().origins,
            ([], 0),
        )
        assert store.runs.names() == []
        assert not store.queries.has("q2")
    again = run("--db", other, "load", "files", file)
    assert again.exit_code == 1
    assert "goes into an empty file" in again.output
    assert "labeler load complete" in run("load", "golden", file).output


def test_a_plain_export_says_what_it_leaves_out(rich: Store, run: Labeler, tmp_path: Path) -> None:
    told = run("export", tmp_path / "golden.jsonl").output
    assert "left out: texts of chunks, single graders' grades" in told
    assert "left out" not in run("export", tmp_path / "golden.qrels").output
    assert run("export", tmp_path / "x.csv", "--complete", "--format", "csv").exit_code == 2


BROKEN = {
    "not complete": lambda text: text.split("\n", 1)[1],
    "a line of no kind": lambda text: text.replace('"of": "chunk"', '"of": "chunks"', 1),
    "twice": lambda text: text + next(x for x in text.split("\n") if '"of": "query"' in x) + "\n",
    "an unknown chunk of a version": lambda text: text.replace(r"\"grade\": 3", r"\"grade\": 2"),
    "settings": lambda text: text.replace('"rel": 2', '"rel": 7'),
    "an unknown query": lambda text: text.replace('"query_id": "q7"', '"query_id": "q9"', 1),
    "a grade": lambda text: text.replace('"grade": 2, "graders"', '"grade": 1, "graders"', 1),
    "a change of nothing": lambda text: text.replace('"kind": "edit"', '"kind": "forge"', 1),
    "a proposed grade": lambda text: text.replace('"thumbs", "grade": 3', '"thumbs", "grade": 7'),
    "a proposal's field": lambda text: text.replace('"of": "proposal"', '"of": "proposal", "x": 1'),
    "a hash that is a number": lambda text: re.sub('"golden": "[0-9a-f]+"', '"golden": 7', text),
    "a name that is a list": lambda text: re.sub(r'"added_by": [^,}]+', '"added_by": [[]]', text),
    "a time that is none": lambda text: re.sub('"retired_at": "[^"]+"', '"retired_at": {}', text),
    "nothing": lambda text: "",
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_complete_file_leaves_nothing_behind(
    rich: Store, run: Labeler, tmp_path: Path, what: str
) -> None:
    text = import_export.export(rich, "complete").decode()
    (tmp_path / "all.jsonl").write_text(broken := BROKEN[what](text))
    assert broken != text
    result = run("--db", tmp_path / "other.db", "load", "complete", tmp_path / "all.jsonl")
    assert result.exit_code == 1, result.output
    assert "all.jsonl" in result.output
    assert not (tmp_path / "other.db").exists()
