"""Loading files into a golden set: whole or not at all, twice is once, nothing changes unasked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from labeler.errors import BadInput, NotFound
from labeler.model import (
    Chunk,
    GoldenGrade,
    Judgment,
    LoadedBeir,
    Query,
    Ranking,
    find_control_character,
)
from labeler.store import Store
from tests.support.databases import REFUSED, another_tool, dump


def grades_of(store: Store) -> dict[tuple[str, str], int]:
    return {(grade.query_id, grade.chunk_id): grade.grade for grade in store.golden_set.read()[1]}


def broken_loads(loaded: Callable, golden: Callable) -> dict[str, Callable[[Store], object]]:
    """Loads of several records of which a later one is bad."""
    good = Query("new", "a new question")
    event = Judgment("e1", "q1", "c1", "Dee", grade=2)
    other = replace(good, text="another wording of it")
    grades = [GoldenGrade("q1", "new chunk", 2), GoldenGrade("nobody", "c1", 2)]
    return {
        "queries": lambda store: store.queries.load(loaded([good, Query("q1", "changed"), good])),
        "facets": lambda store: store.queries.load(
            loaded([good, Query("x", "x", buckets={"": "b"})])
        ),
        "surrogate": lambda store: store.queries.load(loaded([good, Query("x", "half \ud800")])),
        "chunks": lambda store: store.chunks.load(
            loaded([Chunk("new", "new"), Chunk("c1", "changed")])
        ),
        "huge": lambda store: store.chunks.load(
            loaded([Chunk("new", "new"), Chunk("x", "x", position=2**63)])
        ),
        "grades": lambda store: store.golden_loads.add(golden(grades, [good])),
        "own queries": lambda store: store.golden_loads.add(golden(grades[:1], [good, other])),
        "events": lambda store: store.golden_loads.add(
            golden(events=[event, replace(event, event_id="e2", query_id="nobody")])
        ),
        "undo": lambda store: store.golden_loads.add(
            golden(events=[event, replace(event, event_id="e2", chunk_id="c2", undoes="e1")])
        ),
        "two undos": lambda store: store.golden_loads.add(
            golden(events=[event, *(replace(event, event_id=n, undoes="e1") for n in ("u1", "u2"))])
        ),
        "beir": lambda store: store.golden_loads.add_beir(
            LoadedBeir(loaded([good]), loaded([Chunk("new", "new")]), golden(grades))
        ),
    }


@pytest.mark.parametrize("what", broken_loads(list, list))
def test_one_bad_record_leaves_everything_as_it_was(filled: Store, loaded, golden, what: str):
    before = dump(filled)
    with pytest.raises(BadInput, match=r"^file\.jsonl:[123]: ") as caught:
        broken_loads(loaded, golden)[what](filled)
    assert dump(filled) == before
    assert "Traceback" not in str(caught.value)
    assert str(filled.path) not in str(caught.value), "the file is at fault, not the database"


def test_the_same_content_again_changes_nothing(filled: Store, loaded, golden):
    queries, grades = filled.golden_set.read()
    before = dump(filled)
    filled.queries.load(loaded(queries))
    filled.chunks.load(loaded(filled.chunks.all()))
    report = filled.golden_loads.add(golden(grades, queries))
    assert report.facts["already imported"] == 3
    assert dump(filled) == before


def test_the_data_revision_moves_with_every_change_and_with_nothing_else(filled: Store, loaded):
    first = filled.golden_set.data_revision()
    filled.queries.load(loaded(filled.queries.all()))
    filled.judgments.add(Judgment("e", "q1", "c3", "Ann", grade=1))
    assert filled.golden_set.data_revision() == first
    filled.queries.load(loaded([Query("q3", "a third")]))
    assert filled.golden_set.data_revision() == first + 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda q: replace(q, text="other words"), "query 'q1' is already"),
        (lambda q: replace(q, buckets={"intent": "other"}), "query 'q1' is already"),
        (lambda q: replace(q, keywords=("refund",)), "query 'q1' is already"),
    ],
)
def test_a_changed_query_needs_update(filled: Store, loaded, change, said: str):
    old = filled.queries.all()[0]
    changed = loaded([Query("new", "new"), change(old)])
    with pytest.raises(BadInput, match=rf"^file\.jsonl:2: {said}.*--update"):
        filled.queries.load(changed)
    assert filled.queries.all()[0] == old
    filled.queries.load(changed, update=True)
    assert filled.queries.all() == [change(old), filled.queries.all()[1], Query("new", "new")]


def test_a_changed_chunk_needs_update_and_marks_its_grades(filled: Store, loaded):
    changed = loaded([Chunk("new", "new"), Chunk("c1", "other words", "title 1")])
    with pytest.raises(
        BadInput, match=r"^file\.jsonl:2: chunk 'c1' is in the golden set.*--update"
    ):
        filled.chunks.load(changed)
    assert filled.golden_set.contents().stale == 0
    filled.chunks.load(changed, update=True)
    assert filled.golden_set.contents().stale == 1
    assert grades_of(filled)["q1", "c1"] == 3, "a stale grade keeps counting"


def test_the_old_wording_again_makes_its_grades_good_again(filled: Store, loaded):
    old = filled.chunks.get("c1")
    filled.chunks.load(loaded([replace(old, text="other words")]), update=True)
    filled.chunks.load(loaded([old]), update=True)
    assert filled.golden_set.contents().stale == 0


def test_a_new_title_does_not_make_a_grade_stale(filled: Store, loaded):
    filled.chunks.load(loaded([Chunk("c1", "text 1", "another title")]), update=True)
    assert filled.golden_set.contents().stale == 0


def test_a_chunk_known_by_id_gets_its_text_without_being_changed(filled: Store, loaded, golden):
    filled.golden_loads.add(golden([GoldenGrade("q2", "c5", 2)]))
    report = filled.chunks.load(loaded([Chunk("c5", "text 5", document_id="d", position=4)]))
    assert report.facts == {"known by id, now with text": 1}
    assert filled.chunks.get("c5") == Chunk("c5", "text 5", document_id="d", position=4)
    assert filled.golden_set.contents().stale == 0, "nobody had judged another wording"


@pytest.mark.parametrize(
    "again",
    [
        [
            Ranking("q1", ("c1", "c2", "c3"), (3.5, 2.0, -1.5)),
            Ranking("q2", ("c3", "c5"), (0.5, 0.25)),
        ],
        [
            Ranking("q1", ("c1", "c3", "c2"), (3.5, 2.0, -1.0)),
            Ranking("q2", ("c3", "c5"), (0.5, 0.25)),
        ],
        [Ranking("q1", ("c1", "c2", "c3")), Ranking("q2", ("c3", "c5"))],
        [Ranking("q1", ("c1", "c2", "c3"), (3.5, 2.0, -1.0))],
    ],
)
def test_a_run_is_not_changed_under_its_name(filled: Store, loaded, again):
    before = dump(filled)
    with pytest.raises(BadInput, match=r"already a run named 'first'.*labeler drop run first"):
        filled.runs.load(loaded(again), name="first")
    assert dump(filled) == before


def test_the_same_run_again_is_harmless_in_any_query_order(filled: Store, loaded):
    before = dump(filled)
    lists = [
        Ranking("q2", ("c3", "c5"), (0.5, 0.25)),
        Ranking("q1", ("c1", "c2", "c3"), (3.5, 2.0, -1.0)),
    ]
    assert "already there" in str(filled.runs.load(loaded(lists), name="first"))
    assert dump(filled) == before


def test_the_same_run_under_another_name_is_called_the_same(filled: Store, loaded):
    first, second = Ranking("q1", ("c1", "c2"), (2.0, 1.0)), Ranking("q2", ("c3",), (1.0,))
    assert not filled.runs.load(loaded([first, second]), name="bm25").warnings
    copy = filled.runs.load(loaded([second, first]), name="bm25copy")
    assert copy.warnings == ("its content is the same as that of run 'bm25'",)
    assert copy.changed
    third = filled.runs.load(loaded([first, second]), name="third")
    assert third.warnings == ("its content is the same as that of runs 'bm25', 'bm25copy'",)
    rescored = Ranking("q1", ("c1", "c2"), (3.0, 1.0))
    assert not filled.runs.load(loaded([rescored, second]), name="rescored").warnings


def test_a_run_may_come_before_its_queries(store: Store, loaded):
    report = store.runs.load(loaded([Ranking("q1", ("c1",)), Ranking("q2", ("c1",))]), name="early")
    assert report.facts["run queries not in the golden set"] == 2
    assert "no query of this run" in report.warnings[0]
    assert store.collection.read().runs[0].lists == {}
    store.queries.load(loaded([Query("q2", "a question")]))
    run = store.collection.read().runs[0]
    assert list(run.lists) == [0]
    assert run.unknown_queries == 1


def test_a_run_counts_what_it_does_not_have(filled: Store, loaded):
    report = filled.runs.load(loaded([Ranking("q1", ("c1", "c5", "c7"))]), name="third")
    assert report.facts == {
        "chunks known by id only": 2,
        "golden queries not in this run": 1,
        "run queries not in the golden set": 0,
    }
    assert filled.chunks.get("c1") != Chunk("c1"), "a run must not touch a chunk's text"


@pytest.mark.parametrize("date", [None, ""])
def test_a_run_whose_date_nobody_gave_has_none(store: Store, loaded, date: str | None):
    store.runs.load(loaded([Ranking("q1", ("c1",))]), name="run", created_at=date)
    assert [run.created_at for run in store.runs.all()] == [None]
    assert [run.created_at for run in store.collection.read().runs] == [None]


@pytest.mark.parametrize("date", ["yesterday", "2026-2-30"])
def test_a_date_that_is_none_is_refused(store: Store, loaded, date: str):
    with pytest.raises(BadInput, match="is not like 2026-01-31"):
        store.runs.load(loaded([Ranking("q1", ("c1",))]), name="run", created_at=date)
    assert store.runs.all() == []


def test_a_run_without_a_result_is_not_said_to_lack_the_texts_of_its_chunks(filled: Store, loaded):
    [warned] = filled.runs.load(loaded([Ranking("q1", ())]), name="silent").warnings
    assert warned.startswith("all lists of this run are empty")
    report = filled.runs.load(loaded([Ranking("q1", ("c8",))]), name="unreadable")
    assert [warning.partition(" of this")[0] for warning in report.warnings] == [
        "no text is known of any chunk"
    ]


def test_a_run_of_another_chunking_is_told_when_it_is_loaded_and_only_then(filled: Store, loaded):
    def suspected(chunk_id: str) -> list[str]:
        report = filled.runs.load(loaded([Ranking("q1", (chunk_id,))]), name=chunk_id)
        return [warning for warning in report.warnings if "chunking" in warning]

    graded = [grade.chunk_id for grade in filled.golden_set.read()[1]]
    [said] = suspected("c1-of-v2")
    others = "one other is" if len(set(graded)) == 1 else f"{len(set(graded))} others are"
    assert f"and none is graded, while {others}, so its measures are 0" in said
    assert suspected(graded[0]) == []


def test_a_dropped_run_is_gone_and_its_judgments_stay(filled: Store):
    before = filled.golden_set.contents()
    filled.runs.drop("first")
    assert [run.name for run in filled.runs.all()] == ["second"]
    assert filled.connection.value("SELECT count(*) FROM ranked_lists") == 3, (
        "no list is left behind"
    )
    assert filled.golden_set.contents() == replace(before, runs=1)
    with pytest.raises(NotFound, match="no run named 'first'; there are: second"):
        filled.runs.drop("first")


def test_a_retired_query_leaves_grading_scores_and_exports_until_restored(filled: Store):
    grades = grades_of(filled)
    filled.queries.retire("q1")
    assert [query.query_id for query in filled.queries.all()] == ["q2"]
    assert grades_of(filled) == {("q2", "c3"): 1}
    assert set(filled.assignment.pool(10)[0]) == {"q2"}
    assert filled.golden_set.contents().judgments == 3, "the log keeps everything"
    filled.queries.restore("q1")
    assert grades_of(filled) == grades
    with pytest.raises(NotFound, match="no query 'q7'"):
        filled.queries.retire("q7")


def test_importing_twice_adds_nothing_and_a_change_adds_one_event(filled: Store, golden):
    revision = filled.judgments.revision()
    grades = filled.golden_set.read()[1]
    filled.golden_loads.add(golden(grades))
    assert filled.judgments.revision() == revision
    changed = golden([replace(grades[0], grade=1), *grades[1:]])
    with pytest.raises(BadInput, match="1 of 3 grades differ from those loaded before"):
        filled.golden_loads.add(changed)
    assert filled.judgments.revision() == revision
    report = filled.golden_loads.add(changed, update=True)
    assert (report.facts["changed"], report.facts["already imported"]) == (1, 2)
    assert len(filled.judgments.log()) == 4
    assert grades_of(filled)["q1", "c1"] == 1


def test_a_day_that_does_not_exist_is_said_to_be_none(store: Store, loaded):
    with pytest.raises(BadInput, match=r"^date '2026-02-30': the calendar has no such day$"):
        store.runs.load(loaded([Ranking("q1", ("c1",))]), name="run", created_at="2026-02-30")
    assert store.runs.all() == []


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\n", "a\u2028b"])
def test_a_run_needs_a_name_that_people_can_read(store: Store, loaded, name: str):
    with pytest.raises(BadInput, match="a run needs a name that is one line and not blank"):
        store.runs.load(loaded([Ranking("q1", ("c1",))]), name=name)
    with pytest.raises(BadInput, match="a system needs a name"):
        store.runs.load(loaded([Ranking("q1", ("c1",))]), name="run", system=name)
    assert store.runs.all() == []


def test_grades_of_a_retired_query_are_kept_and_the_way_back_is_named(filled: Store, golden):
    filled.queries.retire("q2")
    (warning,) = filled.golden_loads.add(golden([GoldenGrade("q2", "c1", 2)])).warnings
    assert warning == (
        "query 'q2' is retired: its grades are kept but do not count; to take it back: "
        "labeler queries restore q2"
    )
    assert ("q2", "c1") not in grades_of(filled)
    filled.queries.restore("q2")
    assert grades_of(filled)["q2", "c1"] == 2
    assert filled.golden_loads.add(golden([GoldenGrade("q2", "c1", 2)])).warnings == ()


def test_a_retired_query_of_a_run_is_not_called_unknown(filled: Store, loaded):
    filled.queries.retire("q2")
    run = loaded([Ranking("q1", ("c1",)), Ranking("q2", ("c1",)), Ranking("q8", ("c1",))])
    facts = filled.runs.load(run, name="third").facts
    assert facts["queries that are retired"] == 1
    assert facts["run queries not in the golden set"] == 1
    assert facts["golden queries not in this run"] == 0
    assert [run.unknown_queries for run in filled.collection.read().runs] == [0, 1, 1]


def test_a_load_that_finds_everything_there_says_that_nothing_changed(store: Store, loaded, golden):
    queries, chunks = loaded([Query("q1", "?")]), loaded([Chunk("c1", "!")])
    run, grades = loaded([Ranking("q1", ("c1",))]), golden([GoldenGrade("q1", "c1", 2)])
    for changed in (True, False):
        assert store.queries.load(queries).changed == changed
        assert store.chunks.load(chunks).changed == changed
        assert store.runs.load(run, name="a").changed == changed
        assert store.golden_loads.add(grades).changed == changed


def test_unknown_chunks_of_a_golden_set_are_taken_by_id_and_counted(filled: Store, golden):
    report = filled.golden_loads.add(
        golden([GoldenGrade("q1", "elsewhere", 2), GoldenGrade("q1", "c4", 0)])
    )
    assert report.facts["new chunks, known by id only"] == 1
    assert filled.chunks.get("elsewhere") == Chunk("elsewhere")
    assert grades_of(filled)["q1", "elsewhere"] == 2


HOSTILE_IDS = [
    "007",
    "7",
    " a ",
    "a",
    "É",
    "E\u0301",
    "e",
    "E",
    "a'b\"c",
    "\u202e",
    "🙂",
    "0x7",
    "NULL",
]


def test_ids_are_kept_exactly(store: Store, loaded, golden):
    store.queries.load(loaded([Query(name, "?", buckets={name: name}) for name in HOSTILE_IDS]))
    store.chunks.load(loaded([Chunk(name, name) for name in HOSTILE_IDS]))
    store.runs.load(loaded([Ranking(name, tuple(HOSTILE_IDS)) for name in HOSTILE_IDS]), name=" r ")
    store.golden_loads.add(
        golden([GoldenGrade(name, name, 3, (name,), name) for name in HOSTILE_IDS])
    )
    names = [name for name in HOSTILE_IDS if find_control_character(name) is None]
    for name in names:
        store.people.add(name)
    collection = store.collection.read()
    assert list(collection.query_ids) == HOSTILE_IDS
    assert sorted(collection.chunk_ids[1:]) == sorted(HOSTILE_IDS)
    assert store.runs.all()[0].name == " r "
    assert len({store.people.seed(name) for name in names}) == len(names)
    assert grades_of(store) == {(name, name): 3 for name in HOSTILE_IDS}
    assert store.golden_set.contents().chunks == len(HOSTILE_IDS), "no two ids may fold into one"


def history(store: Store) -> None:
    """Judge a little, with an undo, a can't tell and a grade for a chunk without text."""
    store.judgments.add(
        Judgment("e1", "q1", "c3", "Ann", grade=1, note="n", elapsed_ms=12, source="pad")
    )
    store.judgments.add(Judgment("e2", "q1", "c3", "Ann", grade=2, blind=False))
    store.judgments.add(Judgment("e3", "q1", "c3", "Bob", kind="cannot_tell", reason="illegible"))
    store.judgments.undo(event_id="e4", undoes="e2", grader="Ann", source="pad")
    store.judgments.undo(event_id="e5", undoes="e1", grader="Ann")
    store.adjudication.adjudicate(
        Judgment("e6", "q1", "c2", "Cy", kind="adjudicate", grade=3), None
    )
    store.judgments.add(Judgment("e7", "q2", "c5", "Cy", grade=3))


def test_a_log_loads_as_it_is_and_loading_it_again_changes_nothing(
    filled: Store, tmp_path, loaded, golden
):
    history(filled)
    log = filled.judgments.log()
    with Store(tmp_path / "copy.db", create=True) as copy:
        copy.queries.load(loaded(filled.queries.all()))
        copy.chunks.load(loaded([*filled.chunks.all(), Chunk("c5", "a text that came later")]))
        copy.golden_loads.add(golden(events=log))
        assert copy.judgments.log() == log
        assert grades_of(copy) == grades_of(filled)
        before = dump(copy)
        report = copy.golden_loads.add(golden(events=log))
        assert report.facts["events already in the log"] == len(log)
        assert dump(copy) == before


def test_a_log_that_contradicts_ours_is_refused(filled: Store, golden):
    history(filled)
    before = dump(filled)
    for change in ({"grade": 0}, {"note": "another"}, {"chunk_id": "c1"}, {"grader": "Bob"}):
        event = replace(filled.judgments.log()[3], **change)
        with pytest.raises(BadInput, match=r"^file\.jsonl:1: event 'e1' is in the log"):
            filled.golden_loads.add(golden(events=[event]))
    assert dump(filled) == before


def insert(store: Store, **values: object) -> None:
    """Write a judgment past the store, as another tool would."""
    row = {
        "event_id": "x", "query": 1, "chunk": 1, "grader": 1, "kind": "grade", "grade": 1,
        "graders": None, "blind": 1, "created_at": "2026-01-31T00:00:00Z", **values,
    }  # fmt: skip
    with another_tool(store) as run:
        run(f"INSERT INTO judgments ({', '.join(row)}) VALUES (:{', :'.join(row)})", row)


@pytest.mark.parametrize(
    "values",
    [
        {"grade": 4},
        {"grade": -1},
        {"grade": 1.5},
        {"grade": "three"},
        {"grade": None},
        {"kind": "nonsense"},
        {"kind": "cannot_tell"},
        {"kind": "withdraw", "grade": 0},
        {"kind": "import", "graders": "[]"},
        {"kind": "import", "grader": None},
        {"kind": "import", "grader": None, "graders": '{"a": 1}'},
        {"grader": None},
        {"graders": "[]"},
        {"blind": 2},
        {"event_id": ""},
        {"event_id": None},
        {"query": 99},
        {"chunk": 99},
        {"grader": 99},
        {"undoes": 99},
        {"created_at": None},
    ],
)
def test_the_database_itself_refuses_what_a_judgment_cannot_be(filled: Store, values):
    if values == {"grade": 1.5} and not isinstance(filled.path, Path):
        pytest.skip("PostgreSQL rounds what another tool writes")
    insert(filled, event_id="fine")
    with pytest.raises(REFUSED):
        insert(filled, **values)
    assert filled.golden_set.contents().judgments == 4
