"""``labeler load FILE`` of what other tools write: queries, chunks, runs and grades at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.store import Store
from tests.support.retrieval_shapes import FOLDER, LISTS, SHAPES, TEXTS


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)


def load(path: str | Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["load", str(path), *options], prog_name="labeler")


def test_every_file_has_its_expectation() -> None:
    assert {path.name for path in FOLDER.iterdir()} == SHAPES.keys()


@pytest.mark.parametrize("name", SHAPES)
def test_one_command_brings_all_that_a_tools_file_holds(name: str) -> None:
    shape = SHAPES[name]
    result = load(FOLDER / name, *shape.options)
    assert result.exit_code == 0, result.output
    expected = {name.partition(".")[0]: LISTS} if shape.runs is None else shape.runs
    called = shape.chunk_ids or {}
    with Store("golden.db") as store:
        queries, grades = store.texts_of_queries(), store.golden_set()[1]
        runs = {run.name: store.run_lists(run.name) for run in store.runs()}
        ids = {each for lists in runs.values() for one in lists for each in one.chunk_ids}
        ids |= {each.chunk_id for each in grades}
        found = {each: store.chunk(each) for each in ids}
    texts = {each: chunk.text if chunk else None for each, chunk in found.items()}
    assert set(queries.values()) == (set(LISTS) if shape.asked else set())
    tokens = {text: token for token, text in TEXTS.items()}
    if shape.texts:
        token = {each: tokens[text or ""] for each, text in texts.items()}
        assert not called or {value: key for key, value in called.items()}.items() >= token.items()
    else:
        assert set(texts.values()) == {None}
        token = {value: key for key, value in called.items()}
    assert {
        run: {
            queries.get(one.query_id, one.query_id): [token[each] for each in one.chunk_ids]
            for one in lists
        }
        for run, lists in runs.items()
    } == expected
    assert {
        (queries[each.query_id], token[each.chunk_id]): each.grade for each in grades
    } == shape.grades


def test_grades_of_several_people_stay_each_persons_own_and_may_be_blind() -> None:
    said = load(FOLDER / "argilla.json", "--blind").output
    assert re.search(r"graders +u-1, u-2\n", said)
    with Store("golden.db") as store:
        events = store.events()
    assert {(each.grader, each.grade, each.blind) for each in events if each.grade != 2} == {
        ("u-1", 3, True),
        ("u-1", 1, True),
    }
