"""Transferred grades in the log: what they rest on, when they count, how they are taken back."""

from __future__ import annotations

import html
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from labeler.cli import main
from labeler.evaluation import Conventions, Scoreboard
from labeler.formats import read_golden, write_golden
from labeler.formats.event_log import golden_grades_of
from labeler.model import Answer, Chunk, Judgment, Query, Ranking, Selection, Settings
from labeler.services.import_export import export, snapshots
from labeler.services.transfer import compute_transfer, locate_basis, record_transfer
from labeler.store import Store, integrity
from labeler.store.backup.file_check import check_file
from labeler.ui.transfers import transferred_file
from tests.support.databases import IN_BOTH, assert_refused, assert_whole, rewrite
from tests.support.examples import examples
from tests.support.page import listed_queries, open_page, words
from tests.support.store_reads import check_seals

FEES = "Annual fees are due in May, and are taken from the account at the end of that month."
LATE = "A late transfer costs twelve euros, which the branch may waive once in any year it likes."
CARDS = "Cards are sent by letter to the registered address within ten working days of a request."
LOST = "A lost card is blocked at any hour by telephone, and a new one is free of any charge."
WHOLE = ("carry", "--from", "", "--to", "v2")
DAY = "2026-03-04T10:00:00.000Z"


def fill(store: Store, loaded: Callable[..., Any]) -> Store:
    """Fill it with four chunks cut anew under ids of their own, of which Ana graded two."""
    texts = [FEES, LATE, CARDS, LOST]
    store.queries.load(loaded([Query("q1", "when are fees due"), Query("q2", "a lost card")]))
    for name in ("", "v2"):
        chunks = [Chunk(str(n), text, document_id="d") for n, text in enumerate(texts, 1)]
        store.chunks.load(loaded(chunks), chunking=name)
    lists = [Ranking(q, ("1", "2", "3", "4")) for q in ("q1", "q2")]
    store.runs.load(loaded(lists), name="old", chunking="")
    lists = [Ranking("q1", ("3", "1", "2", "4")), Ranking("q2", ("4", "1"))]
    store.runs.load(loaded(lists), name="new", chunking="v2")
    for name in ("Ana", "Ben", "Cy"):
        store.people.add(name)
    said = {"grader": "Ana", "created_at": DAY}
    store.judgments.add(Judgment("e1", "q1", "1", grade=3, evidence=((0, 26),), **said))
    store.judgments.add(Judgment("e2", "q1", "2", grade=0, **said))
    return store


@pytest.fixture
def both(store: Store, loaded, place: str, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("LABELER_DB", place)
    return fill(store, loaded)


@pytest.fixture
def run(both: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a labeler command beside that golden set."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Result:
        result = CliRunner().invoke(main, list(arguments))
        assert result.exit_code == 0, result.output
        return result

    return invoke


def carry(store: Store) -> None:
    basis = store.transfers.basis("", "v2")
    record_transfer(store, compute_transfer(basis, locate_basis(basis)))


def golden(store: Store) -> dict[tuple[str, str], int]:
    return {(each.query_id, each.chunk_id): each.grade for each in store.golden_set.read()[1]}


def transferred(store: Store) -> dict[str, int]:
    """Return the transferred grades that count, by chunk."""
    return {each.chunk_id: each.grade for each in store.golden_set.read()[1] if each.carried_from}


def everything(store: Store) -> tuple[Any, ...]:
    board = Scoreboard(store.collection.read(), Conventions.of())
    rows = board.table(board.conventions.measures("nDCG@10 RR Judged@10 AP"))
    return (
        store.collection.golden_state().hash,
        [(row.run, row.measure, repr(row.value), row.n, row.unjudged) for row in rows],
        export(store, "jsonl"),
        store.evidence.of_grades(),
    )


def test_carried_grades_count_in_no_bucket_of_a_facet_that_no_chosen_query_has(
    both: Store, loaded
) -> None:
    carry(both)
    both.splits.assign({"q1": "test", "q2": "dev"}, {})
    both.queries.load(loaded([Query("q2", "a lost card", buckets={"place": "eu"})]), update=True)
    chosen = Conventions.of(selected=Selection("test", chunkings=("v2",)))
    board = Scoreboard(both.collection.read(), chosen)
    assert board.table(board.conventions.measures("RR"), "place") == []


def test_a_run_lacks_lists_of_queries_that_are_graded_in_the_other_chunking(
    both: Store, loaded
) -> None:
    both.judgments.add(Judgment("e3", "q2", "4", "Ana", grade=3))
    both.runs.load(loaded([Ranking("q2", ("4",))]), name="half", chunking="v2")
    chosen = Conventions.of(selected=Selection(chunkings=("", "v2")))
    board = Scoreboard(both.collection.read(), chosen)
    [of_documents] = board.conventions.measures("R(documents=True)@10")
    row = next(row for row in board.table([of_documents]) if row.run == "half")
    said = [note.sentence for note in board.notes([of_documents]) if note.kind == "absent"]
    assert (row.missing, row.n) == (1, 2)
    assert said == [
        "half: no list for 1 query of 2 with golden grades in any chunking, where its values of "
        "documents and of the evidence are 0"
    ]


# What is written -------------------------------------------------------------------------------


def test_what_follows_is_added_to_the_log_as_nobody_s_and_names_what_it_rests_on(run, both: Store):
    said = run(*WHOLE).stdout
    assert "2 grades transferred; --undo undoes this" in said
    assert transferred(both) == {"v2:1": 3, "v2:2": 0}
    [best] = [e for e in both.judgments.log() if e.kind == "carry" and e.grade == 3]
    assert (best.grader, best.blind, best.evidence) == (None, False, ((0, 26),))
    assert best.note == "the same text as chunk 1"
    [base] = best.carried_from
    assert base.in_words == "chunk 1: 3 by Ana on 2026-03-04"
    assert (base.event_id, base.golden) == ("e1", 3)
    [entry] = [each for each in both.audit.search()[0] if each.kind == "carry"]
    assert entry.detail == {"from": "", "to": "v2", "transferred": 2, "undone": 0}
    assert check_seals(both).unsealed == 0
    assert_whole(both)
    assert not [each for each in check_file(both.path) if each.is_wrong]


def test_a_trial_writes_nothing(run, both: Store):
    before = everything(both), both.golden_set.newest()
    assert "2 grades would be transferred; nothing was written" in run(*WHOLE, "--dry-run").stdout
    assert (everything(both), both.golden_set.newest()) == before


def test_carrying_over_twice_adds_nothing(run, both: Store):
    run(*WHOLE)
    before = everything(both), both.golden_set.newest()
    assert "nothing new" in run(*WHOLE).stdout
    assert (everything(both), both.golden_set.newest()) == before


def test_one_that_is_interrupted_leaves_nothing_half_written(both: Store):
    before = everything(both), both.golden_set.newest()
    basis = both.transfers.basis("", "v2")
    found = compute_transfer(basis, locate_basis(basis))

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record_transfer(both, found, stop)
    assert (everything(both), both.golden_set.newest()) == before
    record_transfer(both, found)
    assert transferred(both) == {"v2:1": 3, "v2:2": 0}


@IN_BOTH
def test_an_undo_restores_every_number_bit_for_bit(run, both: Store):
    before, events = everything(both), len(both.judgments.log())
    run(*WHOLE)
    assert everything(both) != before
    assert "2 transferred grades undone" in run(*WHOLE, "--undo").stdout
    assert everything(both) == before
    assert len(both.judgments.log()) == events + 4, "nothing is taken out of the log"
    again = CliRunner().invoke(main, [*WHOLE, "--undo"])
    assert (again.exit_code, "that could be undone" in again.stderr) == (1, True)
    run(*WHOLE)
    assert transferred(both) == {"v2:1": 3, "v2:2": 0}


@IN_BOTH
def test_an_undo_takes_back_the_last_carry_over_alone(run, both: Store):
    run(*WHOLE)
    first = everything(both)
    both.judgments.add(Judgment("e3", "q1", "1", "Ana", grade=2))
    both.judgments.add(Judgment("e4", "q1", "3", "Ana", grade=1))
    run(*WHOLE)
    assert transferred(both) == {"v2:1": 2, "v2:2": 0, "v2:3": 1}
    run(*WHOLE, "--undo")
    assert transferred(both) == {"v2:2": 0}, "what was carried before rests on a grade that changed"
    both.judgments.undo(event_id="u3", undoes="e3", grader="Ana")
    both.judgments.undo(event_id="u4", undoes="e4", grader="Ana")
    assert everything(both) == first


def test_what_contradicts_itself_by_now_is_taken_back_and_an_undo_brings_it_again(
    run, both: Store, loaded
):
    run(*WHOLE)
    first = transferred(both)
    both.chunks.load(loaded([Chunk("9", FEES, document_id="d")]))
    both.judgments.add(Judgment("e9", "q1", "9", "Ana", grade=1))
    assert "1 undone" in run(*WHOLE).stdout
    assert transferred(both) == {"v2:2": 0}
    run(*WHOLE, "--undo")
    assert transferred(both) == first


def test_grades_are_carried_from_where_people_gave_them_and_no_further(run, both: Store, loaded):
    run(*WHOLE)
    both.chunks.load(loaded([Chunk("1", FEES, document_id="d")]), chunking="v3")
    both.runs.load(loaded([Ranking("q1", ("1",))]), name="newest", chunking="v3")
    refused = CliRunner().invoke(main, ["carry", "--from", "v2", "--to", "v3"])
    assert "no chunk of chunking v2 has a golden grade" in refused.stderr
    both.judgments.add(Judgment("e5", "q1", "v2:3", "Ana", grade=1))
    said = run("carry", "--from", "v2", "--to", "v3").stdout
    assert "2 golden grades were transferred to chunking v2, and not further" in said
    run("carry", "--from", "", "--to", "v3")
    assert transferred(both)["v3:1"] == 3


# When it counts --------------------------------------------------------------------------------


def test_it_stands_below_people_and_is_nobody_s(run, both: Store):
    run(*WHOLE)
    assert [(each.grader, each.chunk_id) for each in both.activity.given_grades()] == [
        ("Ana", "1"),
        ("Ana", "2"),
    ]
    assert [(each.grader, each.grades) for each in both.activity.work() if each.grades] == [
        ("Ana", 2)
    ]
    assert both.assignment.others_said("Ben", "q1", "v2:1") == []
    assert both.adjudication.disagreements() == []
    assert both.activity.notes() == []
    both.judgments.add(Judgment("e6", "q1", "v2:1", "Ben", grade=1))
    assert transferred(both) == {"v2:2": 0}
    [found] = both.adjudication.disagreements()
    assert found.grades == {"Ana": 3, "Ben": 1}, "two people, of one text in both chunkings"
    both.judgments.undo(event_id="u6", undoes="e6", grader="Ben")
    assert transferred(both) == {"v2:1": 3, "v2:2": 0}


CHANGES: Mapping[str, Callable[[Store], Any]] = {
    "changed": lambda store: store.judgments.add(Judgment("x", "q1", "1", "Ana", grade=2)),
    "undone": lambda store: store.judgments.undo(event_id="x", undoes="e1", grader="Ana"),
    "withdrawn": lambda store: store.judgments.add(Judgment("x", "q1", "1", "Ana", "withdraw")),
    "can't tell": lambda store: store.judgments.add(Judgment("x", "q1", "1", "Ana", "cannot_tell")),
    "outvoted": lambda store: store.judgments.add(Judgment("x", "q1", "1", "Ben", grade=1)),
    "overruled": lambda store: store.adjudication.adjudicate(
        Judgment("x", "q1", "1", "Ben", "adjudicate", 2), None
    ),
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_pair_is_open_again_once_what_it_rests_on_is(run, both: Store, how: str):
    run(*WHOLE)
    before = both.judgments.revision()
    CHANGES[how](both)
    assert transferred(both) == {"v2:2": 0}
    number = both.chunks.number("v2:1")
    told = {change.chunk: change.grade for change in both.judgments.changes_since(before)}
    assert told[number] is None, "a board that follows the log is told of it"
    assert "v2:1" in str(both.transfers.basis("", "v2").asked)


def test_who_agrees_later_ends_nothing(run, both: Store):
    run(*WHOLE)
    both.judgments.add(Judgment("x", "q1", "1", "Ben", grade=3))
    assert transferred(both) == {"v2:1": 3, "v2:2": 0}


def test_another_wording_of_either_chunk_ends_it(run, both: Store, loaded):
    run(*WHOLE)
    both.chunks.load(loaded([Chunk("1", f"{FEES} Or so.")]), update=True)
    assert transferred(both) == {"v2:2": 0}
    both.chunks.load(loaded([Chunk("2", f"{LATE} Or so.")]), chunking="v2", update=True)
    assert transferred(both) == {}
    both.chunks.load(loaded([Chunk("1", FEES)]), update=True)
    assert transferred(both) == {"v2:1": 3}


def test_another_rule_for_several_grades_ends_what_it_changes(run, both: Store):
    both.judgments.add(Judgment("e3", "q1", "1", "Ben", grade=1))
    both.judgments.add(Judgment("e4", "q1", "2", "Ben", grade=0))
    run(*WHOLE)
    assert transferred(both) == {"v2:1": 1, "v2:2": 0}
    both.settings.save(Settings(golden_rule="upper median"))
    assert transferred(both) == {"v2:2": 0}


def test_a_team_may_have_none_of_them_count(run, both: Store):
    before = golden(both)
    run(*WHOLE)
    both.settings.save(Settings(transferred="ignore"))
    assert golden(both) == before
    assert "nothing new" in run(*WHOLE).stdout
    both.settings.save(Settings())
    assert transferred(both) == {"v2:1": 3, "v2:2": 0}


def test_how_many_carried_grades_a_mean_rests_on_stands_beside_it(run, both: Store):
    asked = ("--measures", "P@2 nDCG@10 AP", "--chunking", "v2")
    run(*WHOLE)
    rows = json.loads(run("score", *asked, "--format", "json").stdout)
    assert {row["measure"]: row["transferred"] for row in rows} == {"P@2": 1, "nDCG@10": 2, "AP": 2}
    assert rows[0]["conventions"]["transferred"] == "count"
    table = run("score", *asked).stdout.splitlines()
    assert table[0].split()[-2:] == ["unjudged@10", "transferred@10"]
    assert table[1].split()[-1] == "2"
    assert any("2 of 2 golden grades transferred from other chunks" in line for line in table)
    both.judgments.add(Judgment("e3", "q1", "v2:3", "Ana", grade=1))
    rows = json.loads(run("score", *asked, "--format", "json").stdout)
    assert {row["measure"]: row["transferred"] for row in rows} == {"P@2": 1, "nDCG@10": 2, "AP": 2}
    both.judgments.add(Judgment("e4", "q1", "v2:1", "Ana", grade=3))
    rows = json.loads(run("score", *asked, "--format", "json").stdout)
    assert {row["measure"]: row["transferred"] for row in rows} == {"P@2": 0, "nDCG@10": 1, "AP": 1}
    run("change", "setting", "transferred", "ignore")
    said = run("score", *asked).stdout
    assert "transferred grades do not count" in said
    assert "transferred@10" not in said


def hovering(app: AppTest) -> str:
    """Return what a page says where a pointer rests."""
    bodies = "".join(element.proto.body for element in app.get("html"))
    return html.unescape("|".join(re.findall(r'title="([^"]*)"', bodies)))


def test_it_stands_beside_slices_trends_and_queries_too(run, both: Store, loaded):
    run(*WHOLE)
    queries = [Query("q1", "when are fees due", task="single"), Query("q2", "a lost card")]
    both.queries.load(loaded(queries), update=True)
    both.runs.load(
        loaded([Ranking("q1", ("1", "2"))]), name="dated", chunking="v2", created_at="2026-05-01"
    )
    v2, as_json = ("--chunking", "v2", "--measures", "P@2"), ("--format", "json")
    shown = {"facet": "task", "measure": "P@2", "chunking": "v2", "numbers": "true"}
    slices = open_page("slices", a="new", **shown)
    assert "2 of 2 golden grades transferred from other chunks" in words(slices)
    assert hovering(slices).count("0.5000 (n 1); 1 unjudged, 1 transferred") == 2
    pair = hovering(open_page("slices", a="dated", b="new", **shown))
    assert "; dated: none unjudged, 2 transferred; new: 1 unjudged, 1 transferred" in pair
    points = json.loads(run("trend", "--points", *v2, *as_json).stdout)
    assert [(row["run"], row["unjudged"], row["transferred"]) for row in points] == [
        ("dated", 0, 2)
    ]
    table = run("trend", "--points", *v2).stdout.splitlines()
    assert table[2].split()[-1] == "Transferred"
    trend = words(open_page("scores", view="trend", runs="true", **shown))
    assert "|Queries||Unjudged|Transferred|" in trend
    assert "|1||0|2|" in trend
    rows = json.loads(run("score", "--per-query", *v2, *as_json).stdout)
    assert {(row["run"], row["query_id"]): row["transferred"] for row in rows} == {
        ("new", "q1"): 1,
        ("new", "q2"): 0,
        ("dated", "q1"): 2,
        ("dated", "q2"): 0,
    }
    listed = open_page("queries", run="new", chunking="v2", measure="P@2", numbers="true")
    assert "1 of 2, 1 transferred" in listed_queries(listed)["unjudged"].tolist()
    one = words(open_page("compare", a="dated", b="new", query="q1", measure="P@2", chunking="v2"))
    assert "Transferred grades behind P@2: 2 in dated and 1 in new." in one
    [row] = json.loads(run("compare", "dated", "new", "--per-query", *v2, *as_json).stdout)[:1]
    assert (row["transferred_a"], row["transferred_b"]) == (2, 1)


def test_a_document_rests_on_carried_grades_where_it_would_have_another_without(
    run, both: Store, loaded
):
    renamed = [Chunk(str(n), text, document_id="e") for n, text in enumerate((FEES, LATE), 1)]
    both.chunks.load(loaded(renamed), chunking="v3")
    both.runs.load(loaded([Ranking("q1", ("2", "1"))]), name="renamed", chunking="v3")
    run(*WHOLE)
    asked = ("score", "--measures", "R(documents=True)@2 EvidenceR@2", "--format", "json")

    def transferred(chunking: str) -> list[int]:
        rows = json.loads(run(*asked, "--chunking", chunking).stdout)
        return [row.get("transferred", 0) for row in rows]

    assert transferred("v2") == [0, 0], "people graded a chunk of that document with the same"
    assert transferred("v3") == [0, 0]
    run("carry", "--from", "", "--to", "v3")
    assert transferred("v3") == [1, 0], "of document e nobody has graded a chunk"
    assert transferred("v2") == [0, 0]
    both.judgments.add(Judgment("e3", "q1", "v3:2", "Ben", grade=1))
    assert transferred("v3") == [1, 0], "its best grade is the carried 3"
    both.judgments.add(Judgment("e4", "q1", "v3:2", "Ben", grade=3))
    assert transferred("v3") == [0, 0]


# Live equals batch -----------------------------------------------------------------------------

PAIRS = [("q1", str(n)) for n in range(1, 5)] + [("q1", f"v2:{n}") for n in range(1, 5)]
EVENT = st.tuples(
    st.sampled_from(["grade", "grade", "grade", "undo", "withdraw", "adjudicate", "import"]),
    st.sampled_from(PAIRS),
    st.sampled_from(["Ana", "Ben", "Cy"]),
    st.integers(0, 3),
)


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(EVENT, min_size=1, max_size=4), min_size=1, max_size=6))
def test_a_board_that_follows_the_log_is_what_a_new_one_is(
    tmp_path_factory: pytest.TempPathFactory, loaded, batches: list[list[Any]]
):
    with Store(tmp_path_factory.mktemp("live") / "golden.db", create=True) as store:
        fill(store, loaded)
        carry(store)
        board = Scoreboard(store.collection.read(), Conventions.of())
        state = store.collection.golden_state()
        for number, batch in enumerate(batches):
            for place_in, (kind, pair, who, grade) in enumerate(batch):
                say(store, f"{number}/{place_in}", kind, pair, who, grade)
            changes, newest, state = store.collection.news_since(board.revision, state)
            board.refresh(changes, newest)
            fresh = Scoreboard(store.collection.read(), Conventions.of())
            measures = board.conventions.measures("nDCG@10 RR Judged@10 AP")
            assert repr(board.table(measures)) == repr(fresh.table(measures))
            assert state.hash == store.collection.golden_state().hash
            assert golden(store) == golden_grades_of(store.judgments.log())


def say(store: Store, event: str, kind: str, pair: tuple[str, str], who: str, grade: int) -> None:
    if kind == "undo":
        for done in store.assignment.undoable(who, 1):
            store.judgments.undo(event_id=event, undoes=done.judgment.event_id, grader=who)
    elif kind == "import":
        with store.connection.transaction():
            store.judgments.append(Judgment(event, *pair, None, "import", grade))
    else:
        given_grade = None if kind == "withdraw" else grade
        store.judgments.add(Judgment(event, *pair, who, kind, given_grade))


# The log ---------------------------------------------------------------------------------------


def test_the_log_goes_out_and_in_with_what_was_carried_over(run, both: Store, tmp_path: Path):
    run(*WHOLE)
    run(*WHOLE, "--undo")
    both.judgments.add(Judgment("e3", "q1", "1", "Ana", grade=2))
    run(*WHOLE)
    log = export(both, "events")
    (tmp_path / "log.jsonl").write_bytes(log)
    with other(both, tmp_path / "other.db") as brought:
        brought.golden_loads.add(read_golden(tmp_path / "log.jsonl"))
        assert brought.judgments.log() == both.judgments.log()
        assert transferred(brought) == transferred(both) == {"v2:1": 2, "v2:2": 0}
        assert not brought.golden_loads.add(read_golden(tmp_path / "log.jsonl")).changed
        brought.judgments.add(Judgment("e4", "q1", "1", "Ana", grade=1))
        assert transferred(brought) == {"v2:2": 0}, "it rests on the judgments that came along"
        assert_whole(brought)


def test_a_golden_set_goes_out_and_in_byte_for_byte_and_says_which_are_carried(
    run, both: Store, tmp_path: Path
):
    run(*WHOLE)
    exported = write_golden(*both.golden_set.read(), "jsonl")
    rows = [json.loads(line) for line in exported.decode().splitlines()]
    marked = {j["chunk_id"] for row in rows for j in row["judgments"] if "carried_from" in j}
    assert marked == {"v2:1", "v2:2"}
    (tmp_path / "golden.jsonl").write_bytes(exported)
    with Store(tmp_path / "other.db", create=True) as brought:
        brought.golden_loads.add(read_golden(tmp_path / "golden.jsonl"))
        assert write_golden(*brought.golden_set.read(), "jsonl") == exported
        assert brought.collection.golden_state().hash == both.collection.golden_state().hash
        assert brought.activity.given_grades() == []
        assert transferred(brought) == {"v2:1": 3, "v2:2": 0}


@contextmanager
def other(store: Store, path: Path) -> Iterator[Store]:
    """Give a golden set with the queries, chunks and graders of another, and no judgment."""
    with closing(sqlite3.connect(path)) as copy:
        store.connection.conn.backup(copy)
    rewrite(path, "DELETE FROM seals", "DELETE FROM judgments", "DELETE FROM sqlite_sequence")
    with Store(path) as opened:
        yield opened


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE judgments SET carried_from = '[]' WHERE kind = 'carry'",
        "DELETE FROM judgments WHERE kind = 'carry'",
        "INSERT OR REPLACE INTO judgments SELECT * FROM judgments WHERE kind = 'carry'",
    ],
)
@pytest.mark.parametrize("recursive", ["OFF", "ON"])
def test_it_is_only_added_to(run, both: Store, change: str, recursive: str):
    run(*WHOLE)
    assert_refused(both, "judgments", change, recursive)


@pytest.mark.parametrize(
    ("kind", "grade", "bases", "said"),
    [
        ("carry", "1", "'[]'", "CHECK"),
        ("carry", "1", "NULL", "CHECK"),
        ("grade", "1", """'[{"event_id": "e1", "golden": 3}]'""", "CHECK"),
        ("withdraw", "NULL", """'[{"event_id": "e1", "golden": 3}]'""", "CHECK"),
        ("carry", "1", """'[{"event_id": "e1"}]'""", "carried_from is a list"),
        ("carry", "1", """'[{"event_id": "e1", "golden": 4}]'""", "carried_from is a list"),
        ("carry", "1", "'[7]'", "carried_from is a list"),
    ],
)
def test_the_file_itself_refuses_what_is_no_carried_grade(both: Store, kind, grade, bases, said):
    with pytest.raises(sqlite3.IntegrityError, match=said):
        both.connection.execute(
            "INSERT INTO judgments (event_id, query, chunk, kind, grade, blind, created_at, "
            f"carried_from) SELECT 'x', query, chunk, '{kind}', {grade}, 0, '2026', {bases} "
            "FROM judgments WHERE id = 1"
        )


def test_what_rests_on_another_query_is_refused_and_found_where_it_got_in(run, both: Store):
    run(*WHOLE)
    change = (
        "UPDATE judgments SET query = (SELECT id FROM queries WHERE query_id = 'q2') "
        "WHERE kind = 'carry' AND grade = 3"
    )
    rewrite(both.path, change)
    with integrity.open_read_only(both.path) as db:
        [broken] = integrity.broken_rules(db)
    assert "rests on judgment 1, which is of another query" in broken
    [fault] = check_seals(both).faults
    assert "is not what it was when it was sealed" in fault


def test_a_changed_base_is_noticed_by_its_seal(run, both: Store):
    run(*WHOLE)
    rewrite(
        both.path,
        "UPDATE judgments SET carried_from = replace(carried_from, 'Ana', 'Eve') "
        "WHERE kind = 'carry'",
    )
    assert len(check_seals(both).faults) == 2


def test_a_golden_set_of_the_past_has_what_was_carried_over_by_then(run, both: Store):
    run(*WHOLE)
    when = both.judgments.log()[-1].created_at
    both.judgments.add(
        Judgment("e3", "q1", "1", "Ana", grade=2, created_at="2999-01-01T00:00:00.000Z")
    )
    moment = datetime.fromisoformat(when)
    for at, count in ((moment - timedelta(days=1), 2), (moment + timedelta(days=1), 4)):
        then = both.versions.collection_at(at, ["new"])
        assert len(then.golden_grade) == count
        assert sum([] if then.transferred is None else then.transferred) == count - 2


def test_a_frozen_golden_set_has_the_evidence_that_people_marked_like_the_live_one(run, both):
    run(*WHOLE)
    snapshots.freeze(both, "v1")
    then, _ = snapshots.collection_of(both, "v1")
    live = both.collection.read()
    assert then.marks == live.marks != {}
    assert list(then.transferred) == list(live.transferred)


# The Data page --------------------------------------------------------------------------------


def press(app: AppTest, label: str) -> AppTest:
    """Press the button with these words."""
    [button] = [each for each in app.button if each.label == label]
    return button.click().run()


def test_the_data_page_shows_what_follows_then_keeps_it_and_takes_it_back(both: Store):
    before = everything(both), both.golden_set.newest()
    app = open_page("data", section="Transfer")
    assert "6 pairs are asked for" not in words(app)
    app = press(app, "Preview")
    assert "to transfer 2 · suggested 0 · left to graders 4" in words(app)
    assert "2 grades would be transferred." in words(app)
    assert "the same text as a graded chunk" in app.dataframe[-1].value["why"].tolist()
    assert (everything(both), both.golden_set.newest()) == before, "looking writes nothing"
    app = press(app, "Transfer 2 grades")
    assert transferred(both) == {"v2:1": 3, "v2:2": 0}
    assert "2 grades transferred from the default chunking to chunking v2" in words(app)
    app = press(app, "Preview")
    assert "Nothing new to transfer." in words(app)
    app = press(app, "Undo")
    assert everything(both) == before[0]
    assert "Undo" not in [each.label for each in app.button]


def test_the_data_page_says_what_a_carry_over_takes(store: Store):
    said = words(open_page("data", section="Transfer"))
    assert "There is nothing to transfer" in said
    assert "labeler load chunks FILE --chunking v2" in said


def test_the_data_page_says_that_carried_grades_do_not_count(both: Store):
    both.settings.save(Settings(transferred="ignore"))
    assert "Transferred grades don't count now" in words(open_page("data", section="Transfer"))


# Where it comes from ----------------------------------------------------------------------------

TRAIL = "The grade is transferred: the same text as chunk 1; rests on chunk 1: 3 by Ana on"


def test_queries_and_compare_follow_a_carried_grade_back_to_the_person_and_the_day(
    both: Store, loaded
):
    carry(both)
    both.answers.load(loaded([Answer("old", "q1", "In May.", correct=True)]))
    shown = words(open_page("queries", run="new", query="q1", chunking="v2"))
    assert f"{TRAIL} 2026-03-04" in shown
    assert "Transferred grades behind nDCG@10: 2 in new." in shown
    assert re.search(r"\|3 highly relevant\|+transferred\|+v2:1\|", shown)
    assert re.search(r"\|not graded\|+v2:3\|", shown)
    assert "3 Ana, transferred" in shown, (
        "the passage that made the grade is marked in the new text"
    )
    panel = words(open_page("compare", a="old", b="new", query="q1", chunk="v2:1"))
    assert f"{TRAIL} 2026-03-04" in panel
    both.judgments.add(Judgment("e3", "q1", "1", "Ana", grade=2))
    assert both.transfers.trails("q1") == {
        "v2:2": "the same text as chunk 2; rests on chunk 2: 0 by Ana on 2026-03-04"
    }


def test_review_lists_what_was_carried_over_with_the_people_the_days_and_the_passages(both: Store):
    assert "No transferred grade counts" in words(open_page("review", review="Transferred"))
    carry(both)
    app = open_page("review", review="Transferred")
    shown = words(app)
    assert "2 transferred grades count" in shown
    assert "|the same text as chunk 1||chunk 1: 3 by Ana on 2026-03-04|" in shown
    assert FEES[:26] in shown, "the passage"
    assert sections(app)[-1] == "Transferred"
    link = "/queries?a=new&amp;query=q1&amp;chunking=v2"
    assert any(link in each.proto.body for each in app.get("html"))
    [best, zero] = transferred_file(both.transfers.grades()).decode().splitlines()[1:]
    assert best.startswith("q1,")
    assert "1,3,Ana,2026-03-04T" in best
    assert ",2,0,Ana," in zero
    both.judgments.add(Judgment("e3", "q1", "1", "Ana", grade=2))
    left = words(open_page("review", review="Transferred"))
    assert "1 transferred grade counts" in left
    assert "the same text as chunk 1" not in left


def sections(app: AppTest) -> list[str]:
    return [option.content for option in app.get("button_group")[0].proto.options]


def test_review_of_one_chunking_alone_does_not_speak_of_carrying_over(
    store: Store, place: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LABELER_DB", place)
    assert "Transferred" not in sections(open_page("review"))


def test_history_follows_a_carried_grade_back_on_the_command_line(run, both: Store):
    carry(both)
    said = run("history", "q1", "--chunk", "v2:1").stdout
    assert "transferred  3" in said
    assert "chunk 'v2:1' for query 'q1': the golden grade is 3\n" in said
    assert "transferred: the same text as chunk 1\nrests on chunk 1: 3 by Ana on 2026-03-04" in said
    assert f"marked: \u201c{FEES[:26]}\u201d" in said
    old = run("history", "q1", "--chunk", "1").stdout
    assert "2026-03-04" in old
    assert "Ana  graded  3" in old
    assert "transferred" not in old
    both.judgments.undo(event_id="u", undoes="e1", grader="Ana")
    both.judgments.add(Judgment("e3", "q1", "v2:1", "Ana", grade=1))
    later = run("history", "q1", "--chunk", "v2:1").stdout
    assert "the golden grade is 1" in later
    assert "rests on" not in later
    assert "undoes the judgment of 2026-03-04" in run("history", "q1", "--chunk", "1").stdout
    lines = run("history", "q1", "--chunk", "1", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["event_id"] for line in lines] == ["e1", "u"]


def test_history_of_an_unknown_chunk_says_so(both: Store):
    found = CliRunner().invoke(main, ["history", "q1", "--chunk", "1:1"])
    assert (found.exit_code, found.stderr) == (
        1,
        "Error: there is no chunk '1:1' in the golden set\n",
    )
