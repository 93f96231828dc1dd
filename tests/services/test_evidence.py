"""Evidence: the passages that made a grade, kept with it, by the same laws as everything given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from labeler.errors import BadInput
from labeler.formats import read_golden, write_golden
from labeler.formats.snapshots import read_complete
from labeler.formats.writers import write_events
from labeler.model import (
    Chunk,
    Evidence,
    GoldenGrade,
    Judgment,
    Loaded,
    LoadedGolden,
    check_evidence,
    merge_passages,
)
from labeler.services.import_export import LoadOptions, export, read
from labeler.store import Store
from labeler.store.backup.file_check import check_file
from labeler.store.columns import hash_text
from tests.support.databases import IN_BOTH, REFUSED, another_tool, rewrite
from tests.support.examples import examples
from tests.support.store_reads import check_seals

TEXT = "Naïve 👩‍🏫 café. Refunds take 30 days. 返金は三十日以内です。"
MARKED = ((0, 5), (17, 39))


@pytest.fixture
def marked(filled: Store, loaded: Callable[..., Loaded[Chunk]]) -> Store:
    """A golden set whose chunk c1 has a text of many scripts, with Ann's grade and its evidence."""
    filled.chunks.load(loaded([Chunk("c1", TEXT)]), update=True)
    for name in ("Cyd", "Dot", "Lea"):
        filled.people.add(name)
    filled.judgments.add(Judgment("e1", "q1", "c1", "Ann", grade=2, evidence=MARKED))
    return filled


def evidence_of(store: Store) -> dict[tuple[str, str], tuple[tuple[int, int], ...]]:
    return {pair: each.passages for pair, each in store.evidence.golden().items()}


def test_a_grade_keeps_the_passages_that_made_it(marked: Store):
    [event] = [each for each in marked.judgments.log() if each.event_id == "e1"]
    assert event.evidence == MARKED
    assert event.text_hash == hash_text(TEXT)
    [found] = marked.evidence.of_grades("q1")
    assert (found.who, found.grade, found.passages) == (("Ann",), 2, MARKED)
    assert found.is_golden
    assert found.is_found
    assert marked.evidence.of_grades("q2") == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("0-5", "must be a list"),
        ([[0]], "a passage is"),
        ([[0, 5, 9]], "a passage is"),
        ([[-1, 5]], "whole number from 0 on"),
        ([[0, 2.5]], "whole number from 0 on"),
        ([[0, float("nan")]], "whole number from 0 on"),
        ([[0, float("inf")]], "whole number from 0 on"),
        ([[False, True]], "whole number from 0 on"),
        ([["0", "5"]], "whole number from 0 on"),
        ([[0, 10**30]], "whole number from 0 on"),
        ([[5, 5]], "holds nothing"),
        ([[9, 5]], "ends before it starts"),
        ([[0, 5], [4, 9]], "overlap or are not in order"),
        ([[10, 15], [0, 5]], "overlap or are not in order"),
        ([[at, at + 1] for at in range(101)], "can have 100 passages, not 101"),
    ],
)
def test_passages_that_are_none_are_refused_with_what_would_be_right(given: object, said: str):
    with pytest.raises(BadInput, match=said):
        check_evidence(given)


def test_a_passage_beyond_the_text_is_refused_and_nothing_is_written(marked: Store):
    before = marked.judgments.revision()
    with pytest.raises(BadInput, match=rf"ends beyond the text, which has {len(TEXT)} characters"):
        marked.judgments.add(
            Judgment("e2", "q1", "c1", "Bob", grade=2, evidence=((0, len(TEXT) + 1),))
        )
    marked.judgments.add(Judgment("e3", "q1", "c1", "Bob", grade=2, evidence=((0, len(TEXT)),)))
    assert marked.judgments.revision() == before + 1


def test_what_is_no_grade_has_no_evidence():
    with pytest.raises(BadInput, match="evidence is for a grade"):
        Judgment("e2", "q1", "c1", "Ann", kind="cannot_tell", evidence=((0, 5),))


@IN_BOTH
def test_no_other_program_writes_evidence_that_cannot_be(marked: Store):
    before = marked.judgments.log()
    said = (
        "INSERT INTO judgments (event_id, query, chunk, grader, kind, grade, blind, text_hash, "
        "created_at, evidence) SELECT 'x', query, chunk, grader, 'grade', 2, 1, text_hash, "
        "created_at, '{}' FROM judgments WHERE event_id = 'e1'"
    )
    for evidence in (
        *("[]", "{}", "[[1]]", "[[5, 2]]", "[[-1, 2]]", "[[0, 4], [3, 5]]", "[[0.5, 2]]"),
        "[[0, 999]]",
    ):
        with another_tool(marked) as run, pytest.raises(REFUSED):
            run(said.replace("{}", evidence))
    assert marked.judgments.log() == before
    with another_tool(marked) as run:
        run(said.replace("{}", "[[0, 4]]"))
    assert len(marked.judgments.log()) == len(before) + 1


@IN_BOTH
def test_marking_later_is_one_more_event_and_an_undo_takes_it_back(filled: Store):
    filled.judgments.add(Judgment("e1", "q1", "c1", "Ann", grade=2))
    plain = filled.collection.golden_state().hash
    filled.judgments.add_knowing(
        Judgment("e2", "q1", "c1", "Ann", grade=2, evidence=((0, 3),)), "e1"
    )
    assert evidence_of(filled) == {("q1", "c1"): ((0, 3),)}
    assert filled.collection.golden_state().hash != plain
    filled.judgments.undo(event_id="u1", undoes="e2", grader="Ann")
    assert evidence_of(filled) == {}
    assert filled.collection.golden_state().hash == plain
    filled.judgments.undo(event_id="u2", undoes="e1", grader="Ann")
    assert filled.assignment.judgment_of("Ann", "q1", "c1") is None


@IN_BOTH
def test_an_undo_brings_back_the_passages_of_before(marked: Store):
    marked.judgments.add(Judgment("e2", "q1", "c1", "Ann", grade=1))
    assert evidence_of(marked) == {}
    marked.judgments.undo(event_id="u1", undoes="e2", grader="Ann")
    assert evidence_of(marked) == {("q1", "c1"): MARKED}
    [step] = [
        each for each in marked.assignment.undoable("Ann", 9) if each.judgment.event_id == "e1"
    ]
    assert step.judgment.evidence == MARKED


def test_an_event_sent_twice_with_other_passages_is_another_event(marked: Store):
    again = Judgment("e1", "q1", "c1", "Ann", grade=2, evidence=MARKED)
    assert not marked.judgments.add(again)
    with pytest.raises(BadInput, match="is in the log with other content"):
        marked.judgments.add(replace(again, evidence=((0, 4),)))


@IN_BOTH
def test_golden_evidence_is_the_union_of_those_who_gave_the_golden_grade(marked: Store):
    marked.judgments.add(Judgment("e2", "q1", "c1", "Bob", grade=2, evidence=((3, 9), (39, 41))))
    marked.judgments.add(Judgment("e3", "q1", "c1", "Cyd", grade=3, evidence=((41, 45),)))
    assert evidence_of(marked) == {("q1", "c1"): ((0, 9), (17, 39), (39, 41))}
    assert [each.is_golden for each in marked.evidence.of_grades()] == [True, True, False]
    marked.adjudication.adjudicate(
        Judgment("a1", "q1", "c1", "Lea", kind="adjudicate", grade=3), None
    )
    assert evidence_of(marked) == {("q1", "c1"): ((41, 45),)}


def test_evidence_of_a_text_that_changed_is_said_not_to_be_found(
    marked: Store, loaded: Callable[..., Loaded[Chunk]]
):
    golden = marked.collection.golden_state().hash
    marked.chunks.load(loaded([Chunk("c1", "Another text.")]), update=True)
    [found] = marked.evidence.of_grades()
    assert not found.is_found
    judged = marked.assignment.judged_by("Ann")
    [mine] = [each for each in judged.values() if each.event_id == "e1"]
    assert not mine.present
    [step] = [
        each for each in marked.assignment.undoable("Ann", 9) if each.judgment.event_id == "e1"
    ]
    assert step.judgment.evidence == ()
    assert marked.collection.golden_state().hash == golden
    assert not [each for each in check_file(marked.path) if each.is_wrong]


@IN_BOTH
def test_the_newest_wording_counts_where_passages_are_of_several(
    marked: Store, loaded: Callable[..., Loaded[Chunk]]
):
    marked.chunks.load(loaded([Chunk("c1", "Another text.")]), update=True)
    marked.judgments.add(Judgment("e2", "q1", "c1", "Bob", grade=2, evidence=((0, 7),)))
    wanted = Evidence(str(hash_text("Another text.")), ((0, 7),))
    assert marked.evidence.golden() == {("q1", "c1"): wanted}


# --- seals, versions, migration -----------------------------------------------------------------


def test_a_seal_covers_the_passages(marked: Store):
    marked.tamper_check.seal()
    assert check_seals(marked).faults == ()
    rewrite(marked.path, "UPDATE judgments SET evidence = '[[0, 4]]' WHERE event_id = 'e1'")
    [fault] = check_seals(marked).faults
    assert "is not what it was when it was sealed" in fault


def test_passages_taken_out_of_a_sealed_event_are_noticed(marked: Store):
    marked.tamper_check.seal()
    rewrite(marked.path, "UPDATE judgments SET evidence = NULL WHERE event_id = 'e1'")
    assert len(check_seals(marked).faults) == 1


def test_check_finds_evidence_that_left_its_text(marked: Store):
    rewrite(marked.path, "UPDATE judgments SET evidence = '[[0, 999]]' WHERE event_id = 'e1'")
    said = [each.says for each in check_file(marked.path) if each.is_wrong]
    assert any("is not in the text that it is of" in each for each in said)


def test_a_version_is_frozen_with_its_evidence(marked: Store):
    exported = write_golden(*marked.golden_set.read(), "jsonl")
    assert b'"evidence": [[0, 5], [17, 39]], "text_hash": ' in exported


# --- files --------------------------------------------------------------------------------------


def again(tmp_path: Path, content: bytes) -> Store:
    """Load a file into an empty golden set."""
    file = tmp_path / "given.jsonl"
    file.write_bytes(content)
    store = Store(tmp_path / "again.db", create=True)
    store.golden_loads.add(read_golden(file))
    return store


def test_a_golden_set_goes_out_and_in_byte_for_byte(marked: Store, tmp_path: Path):
    marked.judgments.add(Judgment("e2", "q1", "c1", "Bob", grade=2, evidence=((3, 9),)))
    exported = write_golden(*marked.golden_set.read(), "jsonl")
    with again(tmp_path, exported) as store:
        assert write_golden(*store.golden_set.read(), "jsonl") == exported
        assert store.collection.golden_state().hash == marked.collection.golden_state().hash
        report = store.golden_loads.add(read_golden(tmp_path / "given.jsonl"))
        assert not report.changed


def test_the_log_goes_out_and_in_byte_for_byte(
    marked: Store, tmp_path: Path, golden: Callable[..., LoadedGolden]
):
    written = write_events(marked.judgments.log())
    assert written.count(b'"evidence"') == 1
    with Store(tmp_path / "again.db", create=True) as store:
        store.golden_loads.add(golden([], marked.queries.all()))
        file = tmp_path / "log.jsonl"
        file.write_bytes(written)
        store.golden_loads.add(read_golden(file))
        assert write_events(store.judgments.log()) == written


def test_a_complete_file_goes_out_and_in_byte_for_byte(marked: Store, tmp_path: Path):
    written = export(marked, "complete")
    assert b"evidence_from" not in written
    file = tmp_path / "complete.jsonl"
    file.write_bytes(written)
    assert any(getattr(each, "evidence", ()) for each in read_complete(file).events.records)
    with Store(tmp_path / "again.db", create=True) as store:
        read("complete", file, LoadOptions())(store)
        assert export(store, "complete") == written


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('"evidence": [[0, 5]]', "evidence needs text_hash"),
        ('"evidence": [[0, 5]], "text_hash": "abc"', "32 hexadecimal digits"),
        ('"evidence": [[5, 0]], "text_hash": "' + "0" * 32 + '"', "ends before it starts"),
        ('"evidence": [[0, 1e9]], "text_hash": "' + "0" * 32 + '"', "whole number"),
    ],
)
def test_a_file_whose_evidence_cannot_be_is_refused_by_its_line(
    tmp_path: Path, more: str, said: str
):
    file = tmp_path / "golden.jsonl"
    file.write_text(
        '{"query_id": "q1", "query": "Q?", "judgments": []}\n'
        '{"query_id": "q2", "query": "Q?", "judgments": [{"chunk_id": "c", "grade": 1, '
        f"{more}}}]}}"
    )
    with pytest.raises(BadInput, match=rf"golden\.jsonl:2: .*{said}"):
        read_golden(file)


# --- laws ---------------------------------------------------------------------------------------

PLACES = st.lists(st.integers(0, len(TEXT)), min_size=2, max_size=12, unique=True)
PASSAGES = PLACES.map(
    lambda places: tuple(zip(sorted(places)[::2], sorted(places)[1::2], strict=False))
)


@given(st.lists(PASSAGES, max_size=5))
def test_a_union_holds_each_character_once_and_no_other(marks: list[tuple[tuple[int, int], ...]]):
    union = merge_passages(each for passages in marks for each in passages)
    assert check_evidence(union) == union
    held = [at for start, end in union for at in range(start, end)]
    assert len(held) == len(set(held))
    assert set(held) == {at for each in marks for start, end in each for at in range(start, end)}
    assert merge_passages(union) == union


@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(passages=PASSAGES, grade=st.integers(0, 3))
def test_whatever_is_marked_is_what_comes_back(
    marked: Store, passages: tuple[tuple[int, int], ...], grade: int
):
    number = marked.judgments.revision() + 1
    event = Judgment(f"law{number}", "q1", "c1", "Dot", grade=grade, evidence=passages)
    before = marked.collection.golden_state().hash
    marked.judgments.add(event)
    stored = marked.judgments.log()[-1]
    assert stored.evidence == passages
    assert [TEXT[start:end] for start, end in stored.evidence] == [
        TEXT[start:end] for start, end in passages
    ]
    marked.judgments.undo(event_id=f"undo{number}", undoes=event.event_id, grader="Dot")
    assert marked.collection.golden_state().hash == before


def test_grades_without_evidence_are_in_files_as_they_always_were(
    filled: Store, tmp_path: Path, golden: Callable[..., LoadedGolden]
):
    filled.golden_loads.add(golden([GoldenGrade("q1", "c1", 2, ("Ann",), "a note")]), update=True)
    exported = write_golden(*filled.golden_set.read(), "jsonl") + write_events(
        filled.judgments.log()
    )
    assert b"evidence" not in exported
