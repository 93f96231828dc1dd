"""Seals: what was said is noticed to have been changed, alone or against a seal that was kept."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from labeler.errors import BadInput
from labeler.model import Judgment, Remark
from labeler.store import Store
from labeler.store.hash_chain import Seal, next_seal
from labeler.store.tamper_check import MOST_FAULTS, SEALED_AT_ONCE
from tests.support.databases import IN_BOTH, assert_whole, rewrite
from tests.support.store_reads import check_seals, differs_from


@pytest.fixture
def graded(filled: Store) -> Store:
    """Three imported grades, five of Ann's, one of them taken back, and two remarks; all sealed."""
    for number in range(1, 5):
        filled.judgments.add(Judgment(f"e{number}", "q1", f"c{number}", "Ann", grade=number % 4))
    filled.judgments.undo(event_id="u4", undoes="e4", grader="Ann")
    filled.remarks.add(Remark("r1", "q1", "Ann", "unclear"))
    filled.remarks.add(Remark("r2", "q2", "Bob", "unanswered", note="nothing fits"))
    filled.tamper_check.seal()
    return filled


def seal_anew(store: Store) -> None:
    """Make all seals anew, as somebody would who knows how they are made."""
    rewrite(store.path, "DELETE FROM seals")
    store.tamper_check.seal()


@IN_BOTH
def test_an_untouched_log_is_as_it_was_sealed(graded: Store):
    report = check_seals(graded)
    assert report.faults == ()
    assert (report.events, report.unsealed) == (10, 0)
    assert (report.seal.judgments, report.seal.remarks) == (8, 2)
    assert differs_from(graded, report.seal) is None


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE judgments SET grade = 3 WHERE id = 5", "judgment 5 is not what it was"),
        ("UPDATE judgments SET note = 'x' WHERE id = 1", "judgment 1 is not what it was"),
        ("UPDATE judgments SET blind = 1 - blind WHERE id = 4", "judgment 4 is not what"),
        ("UPDATE judgments SET grader = 2 WHERE id = 8", "judgment 8 is not what it was"),
        ("UPDATE judgments SET created_at = '2020' WHERE id = 6", "judgment 6 is not what"),
        ("UPDATE judgments SET undoes = 6 WHERE id = 8", "judgment 8 is not what it was"),
        ("DELETE FROM judgments WHERE id = 2", "judgment 2 has been taken out of the log"),
        ("DELETE FROM judgments WHERE id = 8", "judgment 8 has been taken out of the log"),
        ("UPDATE remarks SET kind = 'unclear' WHERE id = 2", "remark 2 is not what it was"),
        ("DELETE FROM remarks WHERE id = 1", "remark 1 has been taken out of the log"),
    ],
)
def test_one_edit_is_noticed_alone_and_nothing_else_is_blamed(
    graded: Store, statement: str, said: str
):
    rewrite(graded.path, statement)
    report = check_seals(graded)
    assert len(report.faults) == 1
    assert report.faults[0].startswith(said)


def test_of_many_faults_the_first_are_named_and_the_others_counted(filled: Store):
    filled.connection.execute("PRAGMA synchronous = OFF")
    for number in range(MOST_FAULTS + 5):
        filled.judgments.add(Judgment(f"e{number}", "q1", "c3", "Ann", grade=number % 4))
    filled.tamper_check.seal()
    rewrite(filled.path, "UPDATE judgments SET note = 'x' WHERE kind = 'grade'")
    report = check_seals(filled)
    assert (len(report.faults), report.more) == (MOST_FAULTS, 5)
    assert report.faults[0].startswith("judgment 4 is not what it was")


def test_a_chunk_that_is_given_another_id_is_noticed(graded: Store):
    rewrite(
        graded.path,
        "UPDATE chunks SET chunk_id = 'x' WHERE chunk_id = 'c1'",
        "UPDATE chunks SET chunk_id = 'c1' WHERE chunk_id = 'c2'",
        "UPDATE chunks SET chunk_id = 'c2' WHERE chunk_id = 'x'",
    )
    assert len(check_seals(graded).faults) == 4  # those of c1 and c2, imported and Ann's


def test_an_event_that_is_slipped_in_later_is_noticed(graded: Store):
    rewrite(
        graded.path,
        "DELETE FROM judgments WHERE id = 3",
        "DELETE FROM seals WHERE log = 'judgments' AND event = 3",
        "INSERT INTO judgments SELECT 3, 'new', query, chunk, grader, kind, grade, graders, "
        "reason, note, blind, source, NULL, elapsed_ms, text_hash, created_at, evidence, "
        "carried_from, seen_whole, highlighted FROM judgments WHERE id = 4",
    )
    [slipped_in, next_one] = check_seals(graded).faults
    assert slipped_in == "judgment 3 came into the log later than those after it"
    assert next_one.startswith("judgment 4 is not what it was")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE judgments SET grade = 3 WHERE id = 5",
        "DELETE FROM judgments WHERE id = 8",
        "DELETE FROM remarks WHERE id = 2",
    ],
)
def test_who_makes_all_seals_anew_is_found_out_by_any_that_was_kept(graded: Store, statement: str):
    kept = graded.tamper_check.newest_seal()
    rewrite(graded.path, statement)
    seal_anew(graded)
    assert check_seals(graded).faults == ()
    assert differs_from(graded, kept) is not None


def test_an_older_copy_that_was_put_back_is_told_from_a_changed_one(graded: Store):
    kept = graded.tamper_check.newest_seal()
    rewrite(graded.path, "DELETE FROM judgments WHERE id = 8", "DELETE FROM seals")
    said = differs_from(graded, kept)
    assert said is not None
    assert "judgments went up to number 8, and that one is not there" in said


@IN_BOTH
def test_a_seal_that_was_kept_stays_true_while_people_grade_and_are_renamed(graded: Store):
    kept = graded.tamper_check.newest_seal()
    graded.judgments.add(Judgment("later", "q2", "c3", "Bob", grade=2))
    graded.remarks.add(Remark("r3", "q1", "Bob", "unclear"))
    graded.people.rename("Ann", "Anna")
    graded.queries.retire("q1")
    graded.runs.drop("first")
    assert check_seals(graded).faults == ()
    assert differs_from(graded, kept) is None
    assert not kept.is_of(graded.tamper_check.newest_seal())


def test_a_seal_may_be_shortened_but_not_made_up(graded: Store):
    kept = graded.tamper_check.newest_seal()
    short = Seal.parse(str(kept)[: len("8-2-") + 16])
    assert differs_from(graded, short) is None
    wrong = Seal(short.judgments, short.remarks, "0" * 16)
    assert differs_from(graded, wrong) is not None
    for text in ("", "8-2-", f"8-2-{kept.digest[:15]}", f"8-{kept.digest}", str(kept) + "0"):
        with pytest.raises(BadInput, match="is no seal"):
            Seal.parse(text)


def test_two_golden_sets_with_the_same_log_have_other_seals(tmp_path: Path):
    seals = set()
    for name in ("a.db", "b.db"):
        with Store(tmp_path / name, create=True) as store:
            seals.add(str(store.tamper_check.newest_seal()))
    assert len(seals) == 2


@pytest.mark.parametrize("recursive", ["on", "off"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE seals SET seal = zeroblob(32)",
        "DELETE FROM seals",
        "INSERT OR REPLACE INTO seals VALUES ('judgments', 1, zeroblob(32))",
    ],
)
def test_no_statement_changes_a_seal(graded: Store, statement: str, recursive: str):
    before = graded.connection.rows("SELECT * FROM seals")
    other = sqlite3.connect(graded.path)
    other.execute(f"PRAGMA recursive_triggers = {recursive}")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        other.execute(statement)
    other.commit()
    other.close()
    assert graded.connection.rows("SELECT * FROM seals") == before


def test_a_grade_is_one_insert_and_sealed_after_it_is_on_the_disk(filled: Store):
    filled.tamper_check.seal()
    statements: list[str] = []
    filled.connection.conn.set_trace_callback(statements.append)
    filled.judgments.add(Judgment("e1", "q1", "c3", "Ann", grade=2))
    filled.connection.conn.set_trace_callback(None)
    assert {each.split()[0] for each in statements} <= {"BEGIN", "INSERT", "COMMIT", "--"}
    assert len({each for each in statements if each.split()[0] == "INSERT"}) == 1
    assert filled.connection.value("SELECT max(event) FROM seals WHERE log = 'judgments'") == 3
    assert filled.tamper_check.present_seal().judgments == 4
    assert filled.connection.value("SELECT max(event) FROM seals WHERE log = 'judgments'") == 3
    assert filled.tamper_check.newest_seal() == filled.tamper_check.present_seal()
    assert filled.connection.value("SELECT max(event) FROM seals WHERE log = 'judgments'") == 4


def test_more_events_than_are_sealed_at_once_are_all_sealed(filled: Store):
    many = SEALED_AT_ONCE + 5
    for number in range(many):
        filled.judgments.add(Judgment(f"e{number}", "q1", "c3", "Ann", grade=number % 4))
        if not number:
            filled.connection.execute("PRAGMA synchronous = OFF")
    assert filled.tamper_check.seal() == many
    assert check_seals(filled).faults == ()
    assert filled.tamper_check.seal() == 0


SEAL_ALL = """
import sys
from labeler.store import Store
with Store(sys.argv[1]) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    store.tamper_check.seal()
"""


def test_processes_that_seal_at_the_same_time_make_one_chain(filled: Store, python):
    filled.connection.execute("PRAGMA synchronous = OFF")
    for number in range(300):
        filled.judgments.add(Judgment(f"e{number}", "q1", "c3", "Ann", grade=number % 4))
    processes = [python(SEAL_ALL, filled.path) for _ in range(3)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate()[1] for process in processes] == [""] * 3
    report = check_seals(filled)
    assert report.faults == ()
    assert filled.connection.value("SELECT count(*) FROM seals") == 303
    assert differs_from(filled, report.seal) is None
    assert_whole(filled)


GRADE_AND_SEAL = """
import sys
from labeler.model import Judgment
from labeler.store import Store
with Store(sys.argv[1]) as store:
    for number in range(100_000):
        event = f"{sys.argv[2]}-{number}"
        store.judgments.add(Judgment(event, "q1", "c3", "Ann", grade=number % 4))
        if number % 7 == 0:
            print(store.tamper_check.newest_seal(), flush=True)
"""


def test_a_server_that_is_killed_leaves_one_chain_and_seals_that_stay_true(filled: Store, python):
    kept = []
    for life in range(3):
        process = python(GRADE_AND_SEAL, filled.path, life)
        kept += [process.stdout.readline() for _ in range(3 + life)]
        process.kill()
        process.wait()
    filled.tamper_check.seal()
    assert check_seals(filled).faults == ()
    for seal in kept:
        assert differs_from(filled, Seal.parse(seal)) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to any file")
def test_a_file_that_takes_no_writes_is_checked_too(graded: Store):
    graded.judgments.add(Judgment("later", "q2", "c3", "Bob", grade=2))
    graded.close()
    graded.path.chmod(0o444)
    with Store(graded.path) as opened:
        report = check_seals(opened)
        assert report.faults == ()
        assert (report.seal.judgments, report.unsealed) == (9, 1)


def test_what_is_hashed_is_the_same_for_ever():
    """People have kept seals: this must not be made anew but by a chain of another name."""
    event = [1, "e1", "q1", "c1", 2, "grade", 3, None, None, "ä\n", 1, "pool", None, 7, "f", "2026"]
    assert next_seal(b"\0" * 32, event).hex() == (
        "a4402de81dc6fd04cda23d659ffd78f61686cbc6f8e87e48d5fab98ebc38cee4"
    )


def test_a_seal_made_by_hand_is_the_one_that_is_stored(graded: Store):
    [(first, second)] = graded.connection.rows(
        "SELECT (SELECT seal FROM seals WHERE log = 'remarks' AND event = 1), "
        "(SELECT seal FROM seals WHERE log = 'remarks' AND event = 2)"
    )
    [(grader, at)] = graded.connection.rows("SELECT grader, created_at FROM remarks WHERE id = 2")
    event = [2, "r2", "q2", grader, "unanswered", "nothing fits", None, at]
    assert next_seal(first, event) == second
