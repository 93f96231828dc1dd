"""Copies of a golden set that people are writing to: each is whole, or is not there."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from labeler.errors import BadInput, NotFound
from labeler.store import Store, sqlite
from labeler.store.backup import backups
from tests.support.databases import assert_whole, grade, newest_alone

Run = Callable[..., Result]

GRADE = """
import sys
from labeler.model import Judgment
from labeler.store import Store
with Store(sys.argv[1]) as store:
    for n in range(int(sys.argv[3])):
        store.judgments.add(Judgment(f"{sys.argv[2]}/{n}", "q1", "c3", "Ann", grade=n % 4))
        print(n, flush=True)
"""


# labeler backup ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_backup_has_all_that_was_acknowledged_before_it_while_others_go_on_writing(
    path: Path, tmp_path: Path, python, run: Run
):
    writers = [python(GRADE, path, f"w{n}", 100_000) for n in range(2)]
    for writer in writers:
        writer.stdout.readline()
    for n in range(2):
        with Store(path) as store:
            acknowledged = {event.event_id for event in store.judgments.log()}
        made = run("backup", tmp_path / f"{n}.db")
        assert made.exit_code == 0, made.output
        with Store(tmp_path / f"{n}.db") as copy:
            assert acknowledged <= {event.event_id for event in copy.judgments.log()}
            assert_whole(copy)
    assert not any(writer.poll() for writer in writers)


def test_a_backup_says_what_is_in_it_and_replaces_nothing_unasked(path: Path, tmp_path: Path, run):
    target = tmp_path / "backup.db"
    made = run("backup", target)
    assert made.output.startswith(f"{target}: 3 judgments of ")
    said, seal = made.output.splitlines()
    assert said.endswith(" MB, checked")
    with Store(path) as store:
        assert seal == f"seal: {store.tamper_check.present_seal()}"
    before = target.read_bytes()
    grade(path, 1)
    again = run("backup", target)
    assert (again.exit_code, again.output) == (
        1,
        f"Error: {target}: is there already; replace it with --force\n",
    )
    assert target.read_bytes() == before
    assert run("backup", target, "--force").exit_code == 0
    assert newest_alone(target) == 4
    itself = run("backup", path, "--force")
    assert "is the golden set itself" in itself.output
    assert [each.name for each in tmp_path.iterdir() if each.suffix == ".part"] == []


def test_a_backup_into_a_folder_is_named_after_the_golden_set_and_the_moment(tmp_path: Path, run):
    (tmp_path / "kept").mkdir()
    assert run("backup", tmp_path / "kept").exit_code == 0
    [made] = (tmp_path / "kept").iterdir()
    assert made.name.startswith("golden-20")


def test_a_damaged_golden_set_gives_no_backup_and_the_one_before_stays(
    path: Path, tmp_path: Path, run: Run
):
    run("backup", tmp_path / "backup.db")
    before = (tmp_path / "backup.db").read_bytes()
    break_index(path)
    refused = run("backup", tmp_path / "backup.db", "--force")
    assert (refused.exit_code, refused.output) == (1, f"Error: {sqlite.describe_damage(path)}\n")
    assert sqlite.is_marked_damaged(path)
    assert (tmp_path / "backup.db").read_bytes() == before


def test_a_backup_of_a_golden_set_that_breaks_a_law_is_made_and_says_so(
    path: Path, tmp_path: Path, run: Run
):
    with sqlite3.connect(path) as other:
        other.execute("DROP TRIGGER judgments_are_not_deleted")
    other.close()
    made = run("backup", tmp_path / "backup.db")
    assert made.exit_code == 0
    assert "WRONG in the golden set, and so in it: the trigger judgments_are_not" in made.output
    restored = run("restore", tmp_path / "backup.db")
    assert restored.exit_code == 0
    assert "'labeler check' says" in restored.output


def break_index(path: Path) -> None:
    """Take a row out of an index behind SQLite's back, as a fault in memory might."""
    with sqlite3.connect(path) as db:
        [(root,)] = db.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'judgments_pair'"
        ).fetchall()
        [(size,)] = db.execute("PRAGMA page_size").fetchall()
    db.close()
    content = bytearray(path.read_bytes())
    cells = (root - 1) * size + 3  # two bytes of the page's header: how many rows it has
    content[cells : cells + 2] = (int.from_bytes(content[cells : cells + 2]) - 1).to_bytes(2)
    path.write_bytes(content)


def test_a_killed_backup_leaves_the_one_before_and_the_next_removes_its_part(
    path: Path, tmp_path: Path, python, run: Run
):
    target = tmp_path / "backup.db"
    run("backup", target)
    half = python(
        """
import sys
from pathlib import Path
from labeler.store.backup import atomic_files
with atomic_files.partial_file(Path(sys.argv[1])) as part:
    part.write_bytes(b"half")
    print(part, flush=True)
    sys.stdin.readline()
""",
        target,
    )
    part = Path(half.stdout.readline().strip())
    assert run("backup", target, "--force").exit_code == 0
    assert part.exists(), "its maker is at work: nobody touches it"
    half.send_signal(signal.SIGKILL)
    half.communicate()
    assert newest_alone(target) == 3
    assert run("backup", target, "--force").exit_code == 0
    assert [each.name for each in tmp_path.iterdir() if ".part" in each.name] == []


def test_what_stands_in_the_way_of_a_backup_is_named(tmp_path: Path, path: Path):
    with pytest.raises(BadInput, match=r"the folder .*nowhere does not exist"):
        backups.back_up(path, tmp_path / "nowhere" / "backup.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "gone.db")
    with pytest.raises(NotFound, match="is a link"):
        backups.back_up(path, tmp_path / "link.db")


FULL = """
import resource, sys
from labeler.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
main(sys.argv[1:])
"""


@pytest.mark.slow
def test_a_backup_that_the_disk_has_no_room_for_leaves_the_one_before_and_nothing_else(
    path: Path, tmp_path: Path, python, run: Run
):
    target = tmp_path / "backup.db"
    run("backup", target)
    before, there = target.read_bytes(), {each.name for each in tmp_path.iterdir()}
    said, errors = python(FULL, "--db", path, "backup", target, "--force").communicate()
    assert said == ""
    assert errors.startswith(f"Error: {target}: the disk ")
    assert len(errors.splitlines()) == 1
    assert target.read_bytes() == before
    assert {each.name for each in tmp_path.iterdir()} == there
