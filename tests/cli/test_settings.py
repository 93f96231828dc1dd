"""``labeler settings`` and ``change setting`` as they are typed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import fields

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.model import Judgment, Settings
from labeler.store import Store

Run = Callable[..., str]

TYPED = {
    "words": (["no", "a bit", "partly", "fully"], ("no", "a bit", "partly", "fully")),
    "rel": (["2"], 2),
    "prompt-k": (["8"], 8),
    "prompt-k-by-task": (["single=3", "research=10"], {"single": 3, "research": 10}),
    "pool-depth": (["20"], 20),
    "guideline": (["Read it.\nThen grade it."], "Read it.\nThen grade it."),
    "show-reference": (["no"], False),
    "strategy": (["least judged first"], "least judged first"),
    "unjudged-of": (["first", "second"], ("first", "second")),
    "overlap": (["25%"], 0.25),
    "meanings": (["none", "a hint", "a part", "all"], ("none", "a hint", "a part", "all")),
    "question": (["case", "cases"], ("case", "cases")),
    "passage": (["clause", "clauses"], ("clause", "clauses")),
    "contact": (["Ann, room 3"], "Ann, room 3"),
    "golden-rule": (["upper", "median"], "upper median"),
    "decide-by": (["RR@5"], "RR@5"),
    "measures": (["RR", "R@5"], "RR R@5"),
    "matters": (["0.02"], 0.02),
    "measures-by-task": (["single=RR P@5", "research=AP"], {"single": "RR P@5", "research": "AP"}),
    "evidence-from": (["2"], 2),
    "transferred": (["ignore"], "ignore"),
    "show-before": (["no"], False),
    "highlight": (["yes"], True),
    "field-map": (["query=in.q", "results=out"], "query=in.q results=out"),
    "name": (["Help centre"], "Help centre"),
    "language": (["de"], "de"),
    "practice": (["q1", "c1", "q1", "c3", "q1", "c4"], ("q1", "c1", "q1", "c3", "q1", "c4")),
}


@pytest.fixture
def run(filled: Store) -> Run:
    """Run a command on the filled golden set, with three grades; return what it printed."""
    for chunk in ("c1", "c3", "c4"):
        filled.judgments.add(Judgment(f"e-{chunk}", "q1", chunk, "Bob", grade=2))

    def invoke(*arguments: str, exit_code: int = 0) -> str:
        result = CliRunner().invoke(main, ["--db", str(filled.path), *arguments])
        assert result.exit_code == exit_code, result.output
        return result.output

    return invoke


def test_every_setting_is_listed_and_can_be_typed():
    """A setting that is new needs a line here and, unless its type says it, a form."""
    assert list(TYPED) == [field.name.replace("_", "-") for field in fields(Settings)]


@pytest.mark.parametrize("name", TYPED)
def test_a_setting_is_changed_typed_back_and_set_to_its_default(run: Run, filled: Store, name: str):
    values, wanted = TYPED[name]
    usual = run("settings", name)
    said = run("change", "setting", name, *values)
    assert said.startswith(f"{name} is ")
    assert said.count("\n") == 1
    assert getattr(filled.settings.read(), name.replace("-", "_")) == wanted
    typed = run("settings", name)
    assert typed != usual
    run("change", "setting", name, "--default")
    assert filled.settings.read() == Settings()
    run("change", "setting", name, *shlex.split(typed))
    assert getattr(filled.settings.read(), name.replace("-", "_")) == wanted
    run("change", "setting", name, *shlex.split(usual))
    assert filled.settings.read() == Settings()


def test_the_list_names_the_default_of_what_was_changed(run: Run):
    run("change", "setting", "prompt-k", "8")
    rows = [re.split(r"\s{2,}", line) for line in run("settings").splitlines()]
    assert [row[0] for row in rows[1:]] == list(TYPED)
    assert ["prompt-k", "8", "5"] in rows
    assert ["rel", "1"] in rows


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("rel", ["4"], "'relevant from' must be grade 1, 2 or 3, not 4"),
        ("practice", ["q1", "c1"], "three queries, each with a chunk: 6 ids, not 2"),
        ("practice", ["q1", "c1", "q1", "c3", "q1", "c9"], "chunk 'c9' have no golden grade"),
        ("rel", ["two"], "rel is a whole number, not two"),
        ("rel", ["1", "2"], "rel is a whole number, not 1 2"),
        ("words", ["no", "yes"], "the scale needs four words"),
        ("prompt-k-by-task", ["single"], "prompt-k-by-task is task=number for each task"),
        ("field-map", ["mytool"], "no tool is called 'mytool'; there are"),
        ("field-map", ["results=out"], "it names no query"),
        ("prompt-k", ["0"], "the prompt size must be from 1 to 1,000, not 0"),
        ("prompt-k-by-task", ["single=1001"], "the prompt size of task 'single' cannot be 1001"),
        ("pool-depth", ["1001"], "the pool depth must be from 1 to 1,000, not 1001"),
        ("show-reference", ["maybe"], "show-reference is yes or no, not maybe"),
        ("overlap", ["150%"], "the overlap is a share between 0 and 1, not 1.5"),
        ("strategy", ["at random"], "a strategy can be query by query"),
        ("strategy", ["only unjudged of A vs B"], "needs two different runs A and B"),
        ("golden-rule", ["mode"], "golden-rule is lower median, upper median, mean rounded half "),
        ("golden-rule", ["mean", "rounded"], "half down or majority, not mean rounded"),
        ("unjudged-of", ["first"], "unjudged-of is the names of two runs, or '', not first"),
        ("unjudged-of", ["first", "third"], "no run named 'third'; there are: first, second"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_one_sentence(
    run: Run, filled: Store, name: str, values: list[str], said: str
):
    printed = run("change", "setting", name, *values, exit_code=1)
    assert printed.startswith("Error: ")
    assert said in printed
    assert printed.count("\n") == 1
    assert filled.settings.read() == Settings()


def test_a_setting_needs_a_value_or_its_default(run: Run):
    for arguments in ([], ["8", "--default"]):
        assert "say --default" in run("change", "setting", "prompt-k", *arguments, exit_code=2)
    assert "Invalid value" in run("change", "setting", "colour", "red", exit_code=2)
