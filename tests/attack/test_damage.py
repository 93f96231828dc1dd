"""Damaged files, logs of another file, and what is put in their place: nothing is made worse."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.errors import BadInput
from labeler.model import Chunk, Judgment, Loaded
from labeler.store import StorageError, Store, integrity, sqlite
from labeler.store.backup import file_check
from labeler.store.backup.maintenance import checkpoint
from labeler.store.sqlite import check_sqlite_version
from tests.support.databases import grade
from tests.support.page import open_page, words

Run = Callable[..., Result]

HOLD = """
import sys
from labeler.store import Store
with Store(sys.argv[1]) as store:
    print(store.judgments.revision(), flush=True)
    sys.stdin.readline()
"""
GRADE_AND_WAIT = """
import sys
from labeler.model import Judgment
from labeler.store import Store
with Store(sys.argv[1]) as store:
    for n in range(30):
        store.judgments.add(Judgment(f"new/{n}", "q1", "c3", "Ann", grade=n % 4))
    print("graded", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def path(filled: Store) -> Path:
    """A golden set of some size that nobody has open."""
    chunks = [Chunk(f"new {n}", f"{n} {'text ' * 800}") for n in range(100)]
    filled.chunks.load(Loaded("chunks.jsonl", chunks, range(len(chunks))))
    filled.close()
    return filled.path


def damaged(path: Path) -> bytes:
    """Wipe out a part of a file, as a bad disk might; return what is left."""
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 100_000] = bytes(100_000)
    path.write_bytes(content)
    return bytes(content)


def judgments(path: Path) -> int:
    with Store(path) as store:
        return store.judgments.revision()


# A damaged file ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ["people"],
        ["invite", "Zoe"],
        ["load", "queries", "queries.jsonl"],
        ["serve", "--no-browser"],
    ],
)
def test_a_partly_damaged_file_is_not_written_to(
    path: Path, run: Run, taken: int, command: list[str], tmp_path: Path, monkeypatch
):
    command = [*command, "--port", taken] if command[0] == "serve" else command
    monkeypatch.chdir(tmp_path)
    Path("queries.jsonl").write_text(json.dumps({"query_id": "new", "query": "new?"}))
    left = damaged(path)
    refused = run(*command)
    assert (refused.exit_code, refused.output) == (1, f"Error: {sqlite.describe_damage(path)}\n")
    assert path.read_bytes() == left


def test_files_dropped_on_the_page_are_not_loaded_into_a_damaged_file(path: Path):
    app = open_page("data")
    app.file_uploader[0].set_value([("q.jsonl", b'{"query_id": "new", "query": "n?"}', "")])
    app.run()
    [load] = [each for each in app.button if each.label == "Load 1 file"]
    left = damaged(path)
    app = load.click().run()
    assert sqlite.describe_damage(path).removeprefix(f"{path}: ") in words(app)
    assert "On this page" not in words(app)
    assert path.read_bytes() == left


@pytest.mark.slow
def test_who_stumbles_on_damage_stops_everybody_from_writing(path: Path, python):
    server = python(GRADE_AND_WAIT, path)
    server.stdout.readline()
    left = damaged(path)
    log = (path.parent / "golden.db-wal").read_bytes()
    with pytest.raises(StorageError, match="nothing more is written to it"), Store(path) as store:
        store.chunks.all()
    with Store(path) as store:
        assert store.judgments.revision() == 33, "what can be read can still be read"
        with pytest.raises(StorageError, match="labeler restore BACKUP"):
            store.judgments.add(Judgment("e1", "q1", "c3", "Ann", grade=2))
        with pytest.raises(StorageError, match="labeler restore BACKUP"):
            store.people.add("Dee")
    server.communicate()
    assert path.read_bytes() == left, "its end folds nothing into the file"
    assert (path.parent / "golden.db-wal").read_bytes() == log


def test_a_damaged_index_of_words_stops_the_search_and_nothing_else(path: Path):
    with sqlite3.connect(path) as other:
        other.execute("UPDATE chunk_words_data SET block = x'00' WHERE id > 10")
    other.close()
    with Store(path) as store:
        with pytest.raises(StorageError, match="though each page is whole"):
            store.texts.search("text", 10)
        assert store.judgments.add(Judgment("e1", "q1", "c3", "Ann", grade=2))
    assert not sqlite.is_marked_damaged(path)


def test_a_file_that_was_swapped_under_a_connection_is_not_called_damaged(path: Path):
    with Store(path) as store:
        other = path.with_name("other.db")
        shutil.copy(path, other)
        damaged(other)
        other.replace(path)
        store.connection.engine._mark_damaged("it only seems so")
    assert not sqlite.is_marked_damaged(path)


def test_a_file_that_is_whole_after_all_is_written_to_again(path: Path, run: Run):
    sqlite.mark_damaged(path, "by mistake")
    assert run("invite", "Zoe").exit_code == 1
    looked = run("check")
    assert looked.exit_code == 0
    assert "is whole: the mark is removed" in looked.output
    assert run("invite", "Zoe").exit_code == 0


def test_a_sound_file_and_none_at_all_are_sound(path: Path, tmp_path: Path):
    integrity.check_undamaged(path)
    integrity.check_undamaged(tmp_path / "none.db")
    (tmp_path / "empty.db").touch()
    integrity.check_undamaged(tmp_path / "empty.db")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["empty.db", "golden.db"]


# The log of another file ------------------------------------------------------------------------


def left_log(path: Path, python) -> None:
    """Leave a log beside a golden set, as a server does that is killed."""
    server = python(GRADE_AND_WAIT, path)
    server.stdout.readline()
    server.send_signal(signal.SIGKILL)
    server.communicate()
    assert path.with_name(f"{path.name}-wal").stat().st_size > 0


@pytest.mark.parametrize(
    ("graded", "left"),
    [
        (None, 3),
        pytest.param(400, 763, marks=pytest.mark.slow),
        pytest.param(31, 394, marks=pytest.mark.slow),
    ],
    ids=["an older copy", "a newer copy", "one that its log fits"],  # and only takes back
)
def test_a_copy_put_beside_another_s_log_is_said_to_be_and_left_alone(
    path: Path, run: Run, python, tmp_path: Path, graded: int | None, left: int
):
    older, newer = tmp_path / "older.db", tmp_path / "newer.db"
    run("backup", older)
    grade(path, 360, "more")
    shutil.copy(path, newer)
    grade(newer, graded or 0, "new")
    left_log(path, python)
    shutil.copy(newer if graded else older, path)
    before, log = (each.read_bytes() for each in (path, tmp_path / "golden.db-wal"))
    for command in (["people"], ["check"], ["serve", "--no-browser"]):
        refused = run(*command)
        assert refused.exit_code == 1
        assert "golden.db-wal beside it belongs to another file" in refused.output
        assert "move golden.db-wal and golden.db-shm elsewhere" in refused.output
    assert path.read_bytes() == before
    assert (tmp_path / "golden.db-wal").read_bytes() == log
    for ending in ("-wal", "-shm"):
        (tmp_path / f"golden.db{ending}").rename(tmp_path / f"elsewhere{ending}")
    assert run("people").exit_code == 0
    assert judgments(path) == left


def test_a_log_of_its_own_that_a_killed_server_left_is_taken(path: Path, run: Run, python):
    left_log(path, python)
    assert run("people").exit_code == 0
    assert judgments(path) == 33


# labeler restore --------------------------------------------------------------------------------


def test_restore_puts_a_backup_in_place_and_keeps_what_was_there(
    path: Path, run: Run, tmp_path: Path
):
    backup = tmp_path / "backup.db"
    path.chmod(0o600)
    run("backup", backup)
    grade(path, 1, "later")
    done = run("restore", backup)
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"{path}: 3 judgments of ")
    [aside] = tmp_path.glob("golden-replaced-*.db")
    assert f"what was there is {aside} now (4 judgments" in done.output
    assert (judgments(path), judgments(aside)) == (3, 4)
    modes = [each.stat().st_mode & 0o777 for each in (path, backup, aside)]
    assert modes == [0o600] * 3, "what others may not read they may not read in a copy"

    advice = done.output.splitlines()[-1].partition("since: ")[2]
    for command in advice.split("; "):
        words = command.replace("since.jsonl", str(tmp_path / "since.jsonl")).split()[1:]
        assert CliRunner().invoke(main, words).exit_code == 0
    assert judgments(path) == 4, "what was graded since is taken over as it is said"


def test_restore_heals_a_damaged_file_and_it_is_written_to_again(
    path: Path, run: Run, tmp_path: Path
):
    run("backup", tmp_path / "backup.db")
    left = damaged(path)
    assert run("invite", "Zoe").exit_code == 1
    done = run("restore", tmp_path / "backup.db")
    assert done.exit_code == 0, done.output
    [aside] = tmp_path.glob("golden-replaced-*.db")
    assert aside.read_bytes() == left
    assert run("invite", "Zoe").exit_code == 0
    assert run("check").exit_code == 0


@pytest.mark.slow
def test_restore_takes_a_foreign_log_out_of_the_way(path: Path, run: Run, python, tmp_path: Path):
    run("backup", tmp_path / "backup.db")
    left_log(path, python)
    log = (tmp_path / "golden.db-wal").read_bytes()
    assert run("restore", tmp_path / "backup.db").exit_code == 0
    assert judgments(path) == 3
    [aside] = tmp_path.glob("golden-replaced-*.db")
    assert aside.with_name(f"{aside.name}-wal").read_bytes() == log
    assert judgments(aside) == 33, "the log goes with the file it belongs to"


def test_restore_refuses_while_anybody_has_the_golden_set_open(
    path: Path, run: Run, python, tmp_path: Path
):
    run("backup", tmp_path / "backup.db")
    server = python(HOLD, path)
    server.stdout.readline()
    before = {each.name for each in tmp_path.iterdir()}
    refused = run("restore", tmp_path / "backup.db")
    assert refused.exit_code == 1
    assert "is open in a server or another program; nothing was changed" in refused.output
    assert {each.name for each in tmp_path.iterdir()} == before
    server.communicate()
    assert run("restore", tmp_path / "backup.db").exit_code == 0


def has_open(process: subprocess.Popen[str], path: Path) -> bool:
    """Say whether a process has a file open."""
    opened = Path(f"/proc/{process.pid}/fd").iterdir()
    return any(os.path.realpath(each) == str(path) for each in opened)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="Linux tells what is open")
def test_who_waits_while_a_backup_is_put_in_place_opens_the_restored_file(
    path: Path, run: Run, python, tmp_path: Path
):
    """Whoever had the old file open would write it a log under the new one's name."""
    run("backup", tmp_path / "backup.db")
    grade(path, 5, "later")
    holder = python(
        """
import os, sys, time
from pathlib import Path
from labeler.store.backup import backups
path, new = map(Path, sys.argv[1:])
with backups.exclusive_access(path):
    print("held", flush=True)
    sys.stdin.readline()
    os.replace(new, path)
""",
        path,
        shutil.copy(tmp_path / "backup.db", tmp_path / "new.db"),
    )
    holder.stdout.readline()
    waiting = python(GRADE_AND_WAIT.replace("range(30)", "range(1)"), path)
    while not has_open(waiting, path):
        assert waiting.poll() is None
        time.sleep(0.02)
    holder.communicate("go\n")
    assert waiting.stdout.readline() == "graded\n"
    waiting.communicate()
    assert judgments(path) == 4


@pytest.mark.parametrize("what", ["damaged", "text", "nothing", "another", "itself"])
def test_restore_takes_no_file_that_is_no_backup_of_this(
    path: Path, run: Run, tmp_path: Path, what: str
):
    backup = tmp_path / "backup.db"
    if what == "damaged":
        run("backup", backup)
        damaged(backup)
    elif what == "text":
        backup.write_text("not a database, but quite long enough to be taken for one\n" * 20)
    elif what == "another":
        Store(backup, create=True).close()
    before = path.read_bytes()
    refused = run("restore", path if what == "itself" else backup)
    said = {
        "damaged": "cannot be restored",
        "text": "cannot be restored",
        "nothing": "there is no such file",
        "another": "is of another golden set than",
        "itself": "is the golden set itself",
    }
    assert refused.exit_code == 1
    assert said[what] in refused.output
    assert path.read_bytes() == before
    if what == "another":
        assert run("restore", "backup", backup, "--force").exit_code == 0
        assert judgments(path) == 0


def test_restore_makes_a_golden_set_where_there_is_none(path: Path, tmp_path: Path):
    new = tmp_path / "new.db"
    done = CliRunner().invoke(main, ["--db", str(new), "restore", str(path)])
    assert done.exit_code == 0, done.output
    assert len(done.output.splitlines()) == 1
    assert judgments(new) == 3


# labeler check ----------------------------------------------------------------------------------


def test_check_says_that_a_file_is_whole_and_what_is_in_it(run: Run):
    looked = run("check")
    assert looked.exit_code == 0
    said = looked.output
    assert said.startswith("pages:      every page of the database file is intact\n")
    intact = "references: all point to something that is there"
    for line in ("schema:     first_schema_", intact, "holds:      3 judgments of ", "SQLite:  "):
        assert line in said
    assert "nothing is missing, and" in said
    assert "WRONG" not in said


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DROP TRIGGER judgments_are_not_updated", "the trigger judgments_are_not_updated is gone"),
        (
            "DROP TRIGGER judgments_are_not_deleted; DELETE FROM judgments WHERE id = 2",
            "log:        WRONG: 2 of 3 judgments are there",
        ),
        (
            "PRAGMA foreign_keys = OFF; DELETE FROM chunks WHERE chunk_id = 'c1'",
            "references: WRONG: row 1 of judgments names a chunks that is not there",
        ),
        (
            "DROP TRIGGER judgments_are_not_updated; UPDATE judgments SET undoes = 3 WHERE id = 2",
            "judgment 2 takes back judgment 3, which is of another pair or grader, later",
        ),
        (
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
            "VALUES ('labeler', 'm999_later', '2099-01-01')",
            "schema:     WRONG: written by a newer version of labeler; upgrade labeler to open it",
        ),
    ],
)
def test_check_finds_what_somebody_did_behind_labeler_s_back(
    path: Path, run: Run, statement: str, said: str
):
    with sqlite3.connect(path) as other:
        other.executescript(statement)
    other.close()
    looked = run("check")
    assert looked.exit_code == 1
    assert said in looked.output


def test_check_shows_where_pages_are_damaged(path: Path, run: Run):
    left = damaged(path)
    looked = run("check")
    assert looked.exit_code == 1
    assert looked.output.startswith("pages:      WRONG: ")
    assert "SQLite:" in looked.output
    assert path.read_bytes() == left


def test_check_says_what_lies_beside_the_file(path: Path, run: Run, python, tmp_path: Path):
    left_log(path, python)
    (tmp_path / ".golden.db.4711.part").touch()
    (tmp_path / f".golden.db.{'0' * 16}.part").touch()
    (tmp_path / f".golden.db.{'0' * 16}.part.lock").touch()
    said = run("check").output
    assert "golden.db-wal, 0." in said
    assert "some of the newest is in there alone" in said
    with Store(path):
        checkpoint(path)
        assert "the file has all judgments and remarks without it" in run("check").output
    assert ".golden.db.4711.part, left by an earlier labeler: delete it" in said
    assert f".golden.db.{'0' * 16}.part, left by a process that was killed" in said


def test_check_of_no_golden_set_is_one_sentence(tmp_path: Path):
    (tmp_path / "empty.db").touch()
    for name, said in (("none.db", "there is no golden set here"), ("empty.db", "is empty")):
        looked = CliRunner().invoke(main, ["--db", str(tmp_path / name), "check"])
        assert looked.exit_code == 1
        assert said in looked.output


# SQLite itself ----------------------------------------------------------------------------------


def test_a_sqlite_with_a_known_bug_is_named_with_what_is_done_about_it():
    assert "WAL reset, 3.7.0 to 3.51.2" in file_check.check_sqlite_bug("3.40.1").says
    assert (
        "labeler folds its log so that it cannot happen"
        in file_check.check_sqlite_bug("3.51.2").says
    )
    for version in ("3.44.6", "3.50.7", "3.51.3", "3.53.0"):
        assert file_check.check_sqlite_bug(version).says == version
    assert not file_check.check_sqlite_bug().is_wrong


def test_a_sqlite_that_is_too_old_is_refused_in_a_sentence():
    check_sqlite_version((3, 37, 0))
    with pytest.raises(BadInput, match=r"comes with SQLite 3\.36\.1; labeler needs 3\.37\.0"):
        check_sqlite_version((3, 36, 1))
