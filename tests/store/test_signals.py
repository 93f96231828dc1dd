"""Signals and answers as they are loaded: each said once, replaced on request, never a grade."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.errors import BadInput, NotFound
from labeler.formats import Limits, guess, read_answers, read_signals
from labeler.model import Answer, Ranking, Signal, SignalPoint
from labeler.store import Store
from tests.support.databases import assert_whole

SIGNALS = "date,system,query,name,value,n\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of these lines."""

    def put(*lines: str, name: str = "file.csv") -> Path:
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return put


@pytest.fixture
def run(filled: Store) -> Iterator[Callable[..., str]]:
    """Run a command on the filled golden set; its output, whatever it ends with."""

    def go(*arguments: object, exit_code: int = 0) -> str:
        result = CliRunner().invoke(main, ["--db", str(filled.path), *map(str, arguments)])
        assert result.exit_code == exit_code, result.output
        return result.output

    yield go
    assert_whole(filled)


def test_a_signal_is_of_one_query_or_of_all(write: Callable[..., Path]) -> None:
    table = read_signals(
        write(SIGNALS + "2026-01-31,s,,ctr,0.034,100", "2026-01-31T23:30-02:00,s,007,ctr,1,")
    )
    lines = read_signals(
        write(
            '{"day": "2026-01-31", "system": "s", "signal": "ctr", "value": 0.034, "count": 100}',
            '{"date": "2026-02-01T01:30:00Z", "system": "s", "query_id": 7, "name": "ctr", '
            '"value": "1e0", "by": "me"}',
            name="file.jsonl",
        )
    )
    whole = Signal("2026-01-31", "s", "ctr", 0.034, None, 100)
    assert list(table.records) == [whole, Signal("2026-02-01T01:30:00Z", "s", "ctr", 1.0, "007")]
    assert list(lines.records) == [whole, Signal("2026-02-01T01:30:00Z", "s", "ctr", 1.0, "7")]
    assert lines.facts["not read"] == "by"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("2026-31-01,s,,ctr,1,", "date '2026-31-01' is not like 2026-01-31"),
        ("20260131,s,,ctr,1,", "is not like 2026-01-31"),
        ("2026-01-31,s,,ctr,12%,", "value must be a number such as 0.034, not '12%'; 12% is 0.12"),
        ("2026-01-31,s,,ctr,nan,", "a value is a finite number"),
        ("2026-01-31,s,,ctr,,", "there is no value; name it value"),
        ("2026-01-31,,,ctr,1,", "there is no system"),
        ("2026-01-31,s,,ctr,1,0", "n is how often something was counted, from 1 on, not 0"),
        ("2026-01-31,s,,ctr,1,1.5", "n must be a whole number, not '1.5'"),
        ("2026-01-30,s,,ctr,2,", "'ctr' of 's' on 2026-01-30 for all queries is another one on"),
    ],
)
def test_a_line_that_says_no_signal_is_named(
    write: Callable[..., Path], line: str, said: str
) -> None:
    path = write(SIGNALS + "2026-01-30,s,,ctr,1,", line)
    with pytest.raises(BadInput, match=r"file\.csv:3: ") as error:
        read_signals(path)
    assert said in str(error.value)


def test_a_file_of_signals_needs_its_columns_and_keeps_to_the_limits(
    write: Callable[..., Path],
) -> None:
    with pytest.raises(BadInput, match="no column for the name of the signal; name it name or"):
        read_signals(write("date,system,value", "2026-01-31,s,1"))
    with pytest.raises(BadInput, match="there is no signal in it"):
        read_signals(write(SIGNALS))
    long = write(SIGNALS + f"2026-01-31,{'s' * 2000},,ctr,1,")
    with pytest.raises(BadInput, match="--limit id="):
        read_signals(long)
    assert len(read_signals(long, limits=Limits(id=4000)).records) == 1


@pytest.mark.parametrize(
    ("given", "right"),
    [("yes", True), ("FALSE", False), ("1", True), ("0", False), ("No", False), ("true", True)],
)
def test_an_answer_is_right_or_wrong(write: Callable[..., Path], given: str, right: bool) -> None:
    found = read_answers(write("query,answer,correct,run", f'q1,"one, ""two""",{given},A'))
    assert list(found.records) == [Answer("A", "q1", 'one, "two"', right)]


@pytest.mark.parametrize("given", ['"maybe"', "2", "null", "1.0", '""', "[]"])
def test_any_other_verdict_is_refused_with_its_line(write: Callable[..., Path], given: str) -> None:
    good = '{"query": "q1", "response": "one", "correct": true}'
    path = write(good, f'{{"query": "q2", "correct": {given}}}', name="a.jsonl")
    with pytest.raises(BadInput, match=r"a\.jsonl:2: correct must be yes or no, true or false"):
        read_answers(path)


def test_loading_a_file_twice_doubles_nothing_and_another_value_needs_update(
    run: Callable[..., str], filled: Store, write: Callable[..., Path]
) -> None:
    before = filled.collection.golden_state().hash
    path = write(SIGNALS + "2026-01-31,first,,ctr,0.3,10", "2026-01-31,first,q1,up,1,")
    assert "new                                2" in run("load", "signals", path)
    revision = filled.golden_set.data_revision()
    assert "already there                      2" in run("load", "signals", path)
    assert filled.golden_set.data_revision() == revision
    assert filled.collection.golden_state().hash == before
    other = write(SIGNALS + "2026-02-01,first,,ctr,9,", "2026-01-31,first,,ctr,0.4,10")
    refused = run("load", "signals", other, exit_code=1)
    assert "file.csv:3: 'ctr' of 'first' on 2026-01-31 is 0.3 (n 10) already" in refused
    assert "--update" in refused
    assert len(filled.signals.points()) == 2, "a load is all or nothing"
    run("load", "signals", other, "--update")
    assert [(each.date, each.value) for each in filled.signals.points() if each.name == "ctr"] == [
        ("2026-01-31", 0.4),
        ("2026-02-01", 9.0),
    ]
    assert [entry.subject for entry in filled.audit.log() if entry.kind == "load"][-2:] == [
        str(path),
        str(other),
    ]


def test_values_by_query_are_averaged_and_what_is_said_of_all_comes_first(
    filled: Store, loaded: Callable
) -> None:
    day = "2026-01-31"
    filled.signals.load(
        loaded(
            [
                Signal(day, "s", "counted", 1.0, "q1", 3),
                Signal(day, "s", "counted", 0.0, "q2", 1),
                Signal(day, "s", "partly", 1.0, "q1", 3),
                Signal(day, "s", "partly", 0.0, "q2"),
                Signal(day, "s", "whole", 0.2, None, 50),
                Signal(day, "s", "whole", 1.0, "q1", 3),
            ]
        )
    )
    assert filled.signals.points() == [
        SignalPoint("s", "counted", day, 0.75, 4, 2),
        SignalPoint("s", "partly", day, 0.5, None, 2),
        SignalPoint("s", "whole", day, 0.2, 50, 0),
    ]
    assert filled.signals.points({"q1"}) == [
        SignalPoint("s", name, day, 1.0, 3, 1) for name in ("counted", "partly", "whole")
    ]


def test_a_system_without_runs_and_a_query_nobody_knows_are_told(
    run: Callable[..., str], write: Callable[..., Path]
) -> None:
    said = run("load", "signals", write(SIGNALS + "2026-01-31,ghost,q9,ctr,1,"))
    assert "queries unknown to the golden set  1" in said
    assert "! no run is of the system 'ghost', so its signals stand beside nothing" in said


def test_answers_belong_to_a_run_that_is_there(
    run: Callable[..., str], filled: Store, write: Callable[..., Path]
) -> None:
    path = write("query,answer,correct", "q1,three days,yes", "q9,,no")
    assert "it is not said of which run" in run("load", "answers", path, exit_code=1)
    no_run = run("load", "answers", path, "--run", "none", exit_code=1)
    assert "file.csv:2: there is no run named 'none'; there are: first" in no_run
    said = run("load", "answers", path, "--run", "first")
    assert "answers of run 'first' from" in said
    assert "without text                       1" in said
    assert "queries unknown to the golden set  1" in said
    assert "already there                      2" in run("load", "answers", path, "--run", "first")
    assert filled.answers.right("first") == {"q1": True, "q9": False}
    assert filled.answers.to("q1", 5) == {"first": Answer("first", "q1", "three …", True)}
    other = write("run,query,answer,correct", "first,q1,three days,no")
    assert "file.csv:2: query 'q1' has another answer or verdict already" in run(
        "load", "answers", other, exit_code=1
    )
    assert "--run says 'second'" in run("load", "answers", other, "--run", "second", exit_code=1)
    run("load", "answers", other, "--update")
    assert filled.answers.right("first") == {"q1": False, "q9": False}


def test_answers_fall_with_their_run_or_alone(filled: Store, loaded: Callable) -> None:
    filled.answers.load(loaded([Answer(None, "q1", "one", True)]), run="first")
    assert filled.answers.runs() == {"first": 1}
    assert filled.answers.drop("first") == 1
    with pytest.raises(NotFound, match="run 'first' has no answers"):
        filled.answers.drop("first")
    filled.answers.load(loaded([Answer("first", "q1", "one", True)]))
    filled.runs.rename("first", "renamed")
    assert filled.answers.runs() == {"renamed": 1}
    filled.runs.drop("renamed")
    assert filled.answers.runs() == {}
    assert_whole(filled)


def test_signals_follow_a_system_that_is_renamed_with_its_only_run(
    filled: Store, loaded: Callable
) -> None:
    days = [f"2026-01-{day}" for day in range(10, 30)]
    filled.runs.load(loaded([Ranking("q1", ("c1",))]), name="alone")
    filled.signals.load(loaded([Signal(day, "alone", "ctr", 0.5) for day in days]))
    filled.runs.rename("alone", "a name before the others")
    [found] = filled.signals.all()
    assert (found.system, found.dates) == ("a name before the others", 20)
    filled.signals.load(loaded([Signal(days[0], "taken", "ctr", 0.7)]))
    filled.runs.rename("a name before the others", "taken")
    assert {each.system for each in filled.signals.all()} == {"a name before the others", "taken"}


def test_signals_are_dropped_by_system_and_name(
    run: Callable[..., str], filled: Store, write
) -> None:
    run("load", "signals", write(SIGNALS + "2026-01-31,s,,ctr,1,", "2026-01-31,s,,up,1,"))
    assert "1 value is removed" in run("drop", "signals", "s", "--name", "up")
    assert [each.name for each in filled.signals.all()] == ["ctr"]
    assert "there are: ctr of s" in run("drop", "signals", "t", exit_code=1)


def test_the_content_says_that_a_file_has_signals_or_answers() -> None:
    assert guess("x.csv", b"date,system,query,name,value\n2026-01-31,s,,ctr,1").kind == "signals"
    assert guess("x.csv", b"Run,Query,Answer,Correct\nA,q1,one,yes").kind == "answers"
    assert guess("x.jsonl", b'{"query": "q1", "answer": "one", "correct": 1}').kind == "answers"


def test_files_of_all_kinds_are_loaded_in_the_order_they_need(
    run: Callable[..., str], filled: Store, write: Callable[..., Path]
) -> None:
    answers = write("run,query,correct", "late,q1,yes", name="answers.csv")
    lists = write("q1 Q0 c1 1 2.0 late", name="late.trec")
    run("load", "files", answers, lists)
    assert filled.answers.right("late") == {"q1": True}
