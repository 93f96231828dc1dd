"""Loads of golden grades by number, and what taking one back leaves, in both databases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import BadInput, NotFound
from labeler.evaluation import Conventions, Scoreboard
from labeler.formats import event_fields, read_golden
from labeler.formats.event_log import golden_grades_of
from labeler.formats.writers import write_jsonl
from labeler.measures import parse
from labeler.model import (
    Chunk,
    Evidence,
    GoldenGrade,
    Judgment,
    Loaded,
    LoadedGolden,
    LoadReport,
    Query,
    Ranking,
    TransferSource,
)
from labeler.services.import_export import snapshots
from labeler.store import Store
from labeler.store.columns import hash_text
from tests.support.databases import IN_BOTH, assert_refused, assert_whole
from tests.support.new_golden_set import newborn
from tests.support.store_reads import check_seals, differs_from

Grades = dict[tuple[str, str], int]
FIRST: Grades = {("q1", "a"): 3, ("q1", "b"): 0, ("q2", "a"): 1}
LATER: Grades = {("q1", "a"): 1, ("q1", "b"): 0, ("q2", "b"): 2}
MEASURES = tuple(map(parse, ("nDCG@10", "R@5", "AP", "Judged@10")))
RUNS = {"one": ("a", "b", "c"), "two": ("c", "b", "a")}


@pytest.fixture
def base(store: Store) -> Store:
    """Two queries, two runs, three people, no grade."""
    return set_up(store)


def set_up(store: Store) -> Store:
    queries = [Query("q1", "when?"), Query("q2", "where?")]
    store.queries.load(Loaded("queries.jsonl", queries, (1, 2)))
    for name, order in RUNS.items():
        lists = [Ranking(query.query_id, order) for query in queries]
        store.runs.load(Loaded(name, lists, (1, 2)), name=name)
    for name in ("Ann", "Bob", "Lea"):
        store.people.add(name)
    return store


def qrels(grades: Grades, file: str = "some.qrels", **also: Any) -> LoadedGolden:
    records = [GoldenGrade(*pair, grade, **also) for pair, grade in grades.items()]
    nothing: Loaded[Any] = Loaded(file, (), ())
    return LoadedGolden(nothing, Loaded(file, records, range(1, len(records) + 1)), nothing)


def table(grades: dict[tuple[str, str, str], int], file: str = "people.csv") -> LoadedGolden:
    """Return a table in which each query, chunk and grader has a grade."""
    records = [
        Judgment("-".join(key), key[0], key[1], key[2], grade=grade, source=file)
        for key, grade in grades.items()
    ]
    nothing: Loaded[Any] = Loaded(file, (), ())
    rows = Loaded(file, records, range(1, len(records) + 1))
    return LoadedGolden(nothing, nothing, nothing, by_graders=rows)


def log_of(events: list[Judgment], file: str = "log.jsonl") -> LoadedGolden:
    nothing: Loaded[Any] = Loaded(file, (), ())
    return LoadedGolden(nothing, nothing, Loaded(file, events, range(1, len(events) + 1)))


def load(store: Store, loaded: LoadedGolden, *, update: bool = False) -> int | None:
    return store.golden_loads.add(loaded, update=update).load


def golden(store: Store) -> Grades:
    return {(each.query_id, each.chunk_id): each.grade for each in store.golden_set.read()[1]}


def means(store: Store) -> list[str]:
    return means_of(Scoreboard(store.collection.read(), Conventions.of()))


def means_of(board: Scoreboard) -> list[str]:
    return [repr(board.means(MEASURES).value.tolist())]


# Numbers ----------------------------------------------------------------------------------------


@IN_BOTH
def test_loads_of_grades_are_numbered_from_1_and_others_are_not(base: Store):
    assert load(base, qrels(FIRST, "first.qrels")) == 1
    base.runs.load(Loaded("three.trec", [Ranking("q1", ("b",))], (1,)), name="three")
    assert load(base, qrels(LATER, "later.qrels"), update=True) == 2
    assert load(base, table({("q1", "c", "Ann"): 2})) == 3
    found = base.golden_loads.states()
    assert [(each.load.number, each.load.file) for each in found] == [
        (1, "first.qrels"),
        (2, "later.qrels"),
        (3, "people.csv"),
    ]
    assert [(each.brought, each.current, each.taken_back) for each in found] == [
        (3, 2, None),
        (2, 2, None),
        (1, 1, None),
    ]
    assert [each.load.number for each in base.golden_loads.states(newest=2)] == [2, 3]
    assert base.audit.search("load")[0][1].detail["load"] == 2


@IN_BOTH
def test_a_load_that_brings_no_grade_has_no_number_and_uses_none_up(base: Store):
    assert load(base, qrels(FIRST)) == 1
    assert load(base, qrels(FIRST)) is None
    with pytest.raises(BadInput, match="differ from those loaded before"):
        load(base, qrels(LATER))
    assert load(base, qrels(LATER), update=True) == 2
    assert [each.number for each in base.golden_loads.all()] == [1, 2]


def test_a_report_ends_with_the_number_also_below_warnings():
    report = LoadReport("grades from a.qrels", {"imported": 1}, ("careful",), load=3)
    assert str(report).splitlines()[-1] == "  load 3; undo it with 'labeler undo-load 3'"


@IN_BOTH
@pytest.mark.parametrize("recursive", ["off", "on"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE golden_loads SET file = 'another'",
        "DELETE FROM golden_loads",
        "INSERT OR REPLACE INTO golden_loads (id, at, file, first_event, last_event) "
        "VALUES (1, '', '', 1, 1)",
    ],
)
def test_the_list_of_loads_only_grows(base: Store, statement: str, recursive: str):
    load(base, qrels(FIRST))
    assert_refused(base, "golden_loads", statement, recursive)


# Undo -------------------------------------------------------------------------------------------


@IN_BOTH
def test_the_only_load_is_taken_back_and_the_log_keeps_both(base: Store):
    before = means(base)
    load(base, qrels(FIRST, graders=("Zoe",)))
    log, seal = base.judgments.log(), base.tamper_check.newest_seal()
    done = base.golden_loads.undo(1)
    assert (done.taken_back, done.restored, sum(done.left.values())) == (3, 0, 0)
    assert golden(base) == {}
    assert means(base) == before
    assert base.judgments.log()[:3] == log
    assert [(each.kind, each.grade, each.undoes) for each in base.judgments.log()[3:]] == [
        ("withdraw", None, each.event_id) for each in reversed(log)
    ]
    assert differs_from(base, seal) is None
    assert check_seals(base).faults == ()
    assert check_seals(base).unsealed == 0
    assert_whole(base)


@IN_BOTH
def test_a_grade_that_the_load_replaced_counts_again_with_all_that_was_said_of_it(base: Store):
    load(base, qrels(FIRST, graders=("Zoe",), note="by hand"))
    before, was = means(base), base.golden_set.read()
    load(base, qrels(LATER), update=True)
    assert golden(base) == {**FIRST, **LATER}
    done = base.golden_loads.undo(2)
    assert done.sentences() == [
        "2 grades are undone",
        "1 grade that it had replaced counts again",
    ]
    assert (means(base), base.golden_set.read()) == (before, was)


@IN_BOTH
def test_what_a_later_load_replaced_is_left_and_comes_back_when_that_is_undone(base: Store):
    load(base, qrels(FIRST))
    load(base, qrels(LATER), update=True)
    assert base.golden_loads.undo(1).sentences() == [
        "2 grades are undone",
        "1 is left: it was replaced by a later load",
    ]
    assert golden(base) == {("q1", "a"): 1, ("q2", "b"): 2}
    assert base.golden_loads.undo(2).restored == 1
    assert golden(base) == {("q1", "a"): 3}
    assert base.golden_loads.undo(1).taken_back == 1
    assert golden(base) == {}


@IN_BOTH
def test_doing_it_twice_adds_no_event(base: Store):
    load(base, qrels(FIRST))
    base.golden_loads.undo(1)
    revision = base.judgments.revision(), base.golden_set.data_revision()
    again = base.golden_loads.undo(1)
    assert again.sentences() == [
        "there is nothing left to undo",
        "3 are left: they were undone before",
    ]
    assert (base.judgments.revision(), base.golden_set.data_revision()) == revision
    [state] = base.golden_loads.states()
    assert (state.brought, state.current) == (3, 0)
    assert state.taken_back == base.judgments.log()[-1].created_at


@IN_BOTH
def test_what_would_be_taken_back_is_told_without_doing_it(base: Store):
    load(base, qrels(FIRST))
    revision = base.judgments.revision()
    assert base.golden_loads.undo_of(1).sentences(is_done=False) == ["3 grades would be undone"]
    assert (base.judgments.revision(), golden(base)) == (revision, FIRST)


@IN_BOTH
def test_what_people_and_leads_said_in_the_app_is_never_touched(base: Store):
    load(base, qrels(FIRST))
    base.judgments.add(Judgment("ann", "q1", "a", "Ann", grade=2))
    base.adjudication.adjudicate(
        Judgment("lea", "q1", "b", "Lea", kind="adjudicate", grade=1), None
    )
    assert base.golden_loads.undo(1).taken_back == 3
    assert golden(base) == {("q1", "a"): 2, ("q1", "b"): 1}
    assert [each.source for each in base.judgments.log() if each.grader] == [None, None]


@IN_BOTH
def test_the_file_of_a_load_taken_back_can_be_loaded_again(base: Store):
    load(base, qrels(FIRST))
    base.golden_loads.undo(1)
    assert load(base, qrels(FIRST)) == 2
    assert golden(base) == FIRST
    assert base.golden_loads.undo(1).taken_back == 0, "they are of load 2 now"
    assert golden(base) == FIRST


@IN_BOTH
def test_grades_of_several_people_are_taken_back_but_for_those_given_again_since(base: Store):
    base.judgments.add(Judgment("own", "q2", "a", "Ann", grade=1))
    people = {("q1", "a", "Ann"): 3, ("q1", "a", "Bob"): 1, ("q1", "b", "Bob"): 2}
    load(base, table({**people, ("q2", "a", "Ann"): 3}))
    base.judgments.add(Judgment("later", "q1", "b", "Bob", grade=0))
    assert base.golden_loads.undo(1).sentences() == [
        "2 grades are undone",
        "1 is left: it was given again by its grader since",
    ]
    assert golden(base) == {("q1", "b"): 0, ("q2", "a"): 1}
    assert [(each.load.number, each.current) for each in base.golden_loads.states()] == [(1, 0)]


@IN_BOTH
def test_a_grade_whose_grader_took_it_back_is_counted_as_such(base: Store):
    load(base, table({("q1", "a", "Ann"): 3, ("q1", "b", "Ann"): 3}))
    base.judgments.undo(event_id="mine", undoes="q1-a-Ann", grader="Ann")
    done = base.golden_loads.undo(1)
    assert done.sentences() == [
        "1 grade is undone",
        "1 is left: it was undone before",
    ]


@IN_BOTH
def test_a_log_is_taken_back_with_what_it_said_over_but_a_leads_decisions_stay(base: Store):
    base.judgments.add(Judgment("here", "q1", "a", "Ann", grade=2))
    events = [
        Judgment("l1", "q1", "a", "Ann", grade=0),
        Judgment("l2", "q1", "a", "Ann", grade=3),
        Judgment("l3", "q1", "b", "Bob", kind="cannot_tell"),
        Judgment("l4", "q2", "a", "Lea", kind="adjudicate", grade=1),
        Judgment("l5", "q2", "b", "Ann", grade=1),
        Judgment("l6", "q2", "b", "Ann", kind="withdraw", undoes="l5"),
    ]
    load(base, log_of(events))
    assert golden(base) == {("q1", "a"): 3, ("q2", "a"): 1}
    assert base.golden_loads.undo(1).sentences() == [
        "2 grades are undone",
        "1 grade that it had replaced counts again",
        "1 is left: it is a lead's decision, which stays",
    ]
    assert golden(base) == {("q1", "a"): 2, ("q2", "a"): 1}
    assert base.golden_loads.undo(1).taken_back == 0


@IN_BOTH
def test_transferred_grades_of_a_file_and_marked_passages_are_taken_back_as_well(base: Store):
    base.chunks.load(Loaded("chunks", [Chunk("a", "at nine"), Chunk("b", "at ten")], (1, 2)))
    wording = hash_text("at nine")
    marked = Evidence(str(wording), ((3, 7),))
    load(base, qrels({("q1", "a"): 3}, evidence=marked))
    elsewhere = TransferSource("elsewhere", 3, "old", 3, ("Zoe",), "2026-01-31T09:30:00Z")
    load(base, qrels({("q1", "b"): 2}, carried_from=(elsewhere,)))
    load(base, qrels({("q1", "a"): 1}), update=True)
    before = base.golden_set.read()
    assert [base.golden_loads.undo(number).restored for number in (3, 2)] == [1, 0]
    assert [(each.chunk_id, each.evidence) for each in base.golden_set.read()[1]] == [("a", marked)]
    load(base, qrels({("q1", "b"): 2}, carried_from=(elsewhere,)))
    load(base, qrels({("q1", "a"): 1}), update=True)
    assert base.golden_set.read() == before
    assert [base.golden_loads.undo(number).taken_back for number in (5, 4, 1)] == [1, 1, 1]
    assert (golden(base), check_seals(base).faults) == ({}, ())


@IN_BOTH
def test_an_unknown_number_names_those_there_are(base: Store):
    with pytest.raises(NotFound, match="no load of golden grades to undo"):
        base.golden_loads.undo(1)
    load(base, qrels(FIRST))
    with pytest.raises(NotFound, match="no load 2 of golden grades; there is load 1 alone"):
        base.golden_loads.undo(2)
    with pytest.raises(NotFound, match="labeler drop run NAME"):
        base.golden_loads.undo_of(10**30)


# What reads the log -----------------------------------------------------------------------------


@IN_BOTH
def test_an_open_scoreboard_that_reads_the_tail_of_the_log_sees_an_undo(base: Store):
    load(base, qrels(FIRST))
    before = means(base)
    load(base, qrels(LATER), update=True)
    board = Scoreboard(base.collection.read(), Conventions.of())
    seen = base.judgments.revision()
    base.golden_loads.undo(2)
    board.refresh(base.judgments.changes_since(seen), base.judgments.revision())
    assert means_of(board) == before


@IN_BOTH
def test_the_log_goes_out_and_comes_into_another_golden_set_with_the_same_grades(
    base: Store, tmp_path: Path
):
    load(base, qrels(FIRST, note="first"))
    load(base, qrels(LATER), update=True)
    load(base, table({("q1", "c", "Ann"): 3}))
    for number in (2, 3, 1):
        base.golden_loads.undo(number)
    load(base, qrels({("q2", "a"): 2}, "last.qrels"))
    file = tmp_path / "log.jsonl"
    file.write_bytes(write_jsonl(map(event_fields, base.judgments.log())))
    assert golden_grades_of(base.judgments.log()) == golden(base) == {("q2", "a"): 2}
    read = read_golden(file)
    assert base.golden_loads.add(read).load is None, "all of it is there"
    with set_up(Store(newborn(tmp_path / "other.db"))) as other:
        assert load(other, read) == 1
        assert (other.judgments.log(), golden(other)) == (base.judgments.log(), golden(base))
        assert other.golden_loads.undo(1).taken_back == 1
        assert golden(other) == {}


@IN_BOTH
def test_a_complete_file_carries_the_numbers_and_what_was_taken_back(base: Store, tmp_path: Path):
    load(base, qrels(FIRST))
    load(base, qrels(LATER), update=True)
    base.golden_loads.undo(2)
    load(base, table({("q1", "c", "Ann"): 3}))
    path = tmp_path / "whole.jsonl"
    path.write_bytes(snapshots.complete_file(base))
    apply = snapshots.read_complete(path)
    with Store(newborn(tmp_path / "other.db")) as other:
        apply(other)
        assert other.golden_loads.states() == base.golden_loads.states()
        assert snapshots.complete_file(other) == path.read_bytes()
        assert other.golden_loads.undo(3).taken_back == 1
        assert load(other, qrels({("q2", "c"): 1})) == 4


def test_a_complete_file_whose_load_names_a_lost_event_is_refused(base: Store, tmp_path: Path):
    load(base, qrels(FIRST))
    path = tmp_path / "whole.jsonl"
    last = base.golden_loads.all()[0].last
    whole = snapshots.complete_file(base).decode()
    path.write_text(whole.replace(f'"last": "{last}"', '"last": "lost"'))
    with (
        Store(newborn(tmp_path / "other.db")) as other,
        pytest.raises(BadInput, match="load 1 of golden grades names the event 'lost'"),
    ):
        snapshots.read_complete(path)(other)


def test_a_copy_in_a_database_goes_on_with_the_numbers(base: Store, tmp_path: Path):
    load(base, qrels(FIRST))
    with Store(newborn(tmp_path / "other.db")) as other:
        other.full_copy.become(base.full_copy)
        assert other.golden_loads.states() == base.golden_loads.states()
        assert load(other, qrels({("q2", "c"): 1})) == 2


FILES = st.dictionaries(
    st.tuples(st.sampled_from(["q1", "q2"]), st.sampled_from("abc")), st.integers(0, 3), min_size=1
)


def without_repeats(files: list[Grades], undone: int) -> list[Grades]:
    """Leave out grades that a pair has already, with the undone file or without it.

    A file that repeats a grade adds nothing to the log, so the grade goes with its first load.
    """
    with_it: Grades = {}
    without: Grades = {}
    kept = []
    for at, file in enumerate(files):
        new = {
            pair: grade
            for pair, grade in file.items()
            if grade not in (with_it.get(pair), without.get(pair))
        }
        kept.append(new)
        with_it |= new
        without |= {} if at == undone else new
    return kept


@given(files=st.lists(FILES, min_size=1, max_size=4), data=st.data())
def test_means_after_an_undo_are_those_of_a_set_in_which_the_file_was_never_loaded(
    tmp_path_factory: pytest.TempPathFactory, files: list[Grades], data: st.DataObject
):
    place = tmp_path_factory.mktemp("loads")
    undone = data.draw(st.integers(0, len(files) - 1))
    with (
        set_up(Store(newborn(place / "with.db"))) as with_it,
        set_up(Store(newborn(place / "without.db"))) as without,
    ):
        for at, file in enumerate(without_repeats(files, undone)):
            number = load(with_it, qrels(file), update=True)
            if at == undone:
                undo = number
            else:
                load(without, qrels(file), update=True)
        board, seen = (
            Scoreboard(with_it.collection.read(), Conventions.of()),
            with_it.judgments.revision(),
        )
        if undo is not None:
            with_it.golden_loads.undo(undo)
        board.refresh(with_it.judgments.changes_since(seen), with_it.judgments.revision())
        assert golden(with_it) == golden(without)
        assert means_of(board) == means(with_it) == means(without)
