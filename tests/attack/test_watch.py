"""What a server does for its file beside the pages: its log is folded, its backups are made."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from click.testing import Result

from labeler.errors import Busy
from labeler.model import Chunk, Judgment, Loaded
from labeler.store import Store
from labeler.store.backup import backups
from labeler.store.backup.backups import Schedule, back_up_in_series, backups_in_series
from labeler.store.backup.maintenance import (
    IDLE_SECONDS,
    LONGEST_WAIT_SECONDS,
    FileMaintenance,
    IdleTimer,
    checkpoint,
)
from tests.browser.server import WarmServer
from tests.support.databases import grade, newest_alone

Run = Callable[..., Result]


# A plain copy -----------------------------------------------------------------------------------


def test_a_plain_copy_made_when_the_server_has_rested_has_every_grade(path: Path, tmp_path: Path):
    async def serve() -> None:
        with Store(path) as store:
            async with FileMaintenance(str(path), rest_seconds=0.1, look_every=0.02).running():
                for n in range(150):
                    store.judgments.add(Judgment(f"e{n}", "q1", "c3", "Ann", grade=n % 4))
                for _ in range(500):
                    await asyncio.sleep(0.02)
                    with suppress(sqlite3.DatabaseError):  # half of the log is in the file just now
                        if newest_alone(path) == 153:
                            break
                with store.connection.transaction():  # the end of the fold is waited for, too
                    pass
            shutil.copy(path, tmp_path / "copy.db")

    asyncio.run(serve())
    assert newest_alone(tmp_path / "copy.db") == 153


def test_the_log_is_folded_at_rest_and_at_least_once_a_minute():
    rest = IdleTimer(0.0)
    assert not rest.is_time(IDLE_SECONDS - 1)
    assert rest.is_time(IDLE_SECONDS), "an earlier server may have left something"
    rest.note_checkpoint()
    assert not rest.is_time(1_000.0)
    for second in range(1_000, 1_060):
        rest.note_write(float(second))
        assert not rest.is_time(second + 0.5)
    assert rest.is_time(1_000 + LONGEST_WAIT_SECONDS), "those who never rest are folded, too"
    rest.note_checkpoint()
    rest.note_write(2_000.0)
    assert not rest.is_time(2_009.0)
    assert rest.is_time(2_010.0)


def test_nothing_but_the_server_s_fold_folds_a_log_that_is_in_use(path: Path):
    with Store(path) as store:
        # SQLite would have folded by itself from a thousand pages on, which is 4 MB.
        chunks = [Chunk(f"new {n}", f"{n} {'text ' * 4_000}") for n in range(250)]
        before = path.read_bytes()
        store.chunks.load(Loaded("chunks.jsonl", chunks, range(len(chunks))))
        grade(path, 1)
        assert path.read_bytes() == before
        assert checkpoint(path)
        assert newest_alone(path) == 4


def test_a_fold_waits_for_no_reader_and_goes_on_when_they_are_gone(path: Path):
    with Store(path) as store:
        grade(path, 5)
        with Store(path) as reader, reader.connection.reading():
            assert reader.judgments.revision() == 8
            grade(path, 5, "later")
            assert not checkpoint(path)
        assert store.judgments.revision() == 13
        assert checkpoint(path)
        assert newest_alone(path) == 13


def test_a_log_is_folded_only_while_nobody_else_can_commit(path: Path):
    """SQLite's bug needs a commit that begins the log anew in the middle of a fold."""
    with Store(path), Store(path, busy_seconds=0) as other:
        grade(path, 5)
        with other.connection.transaction():
            with pytest.raises(Busy):
                checkpoint(path)
            assert newest_alone(path) == 3
        with Store(path) as guard, guard.connection.transaction(), pytest.raises(Busy):
            other.people.add("Dee")


# On a timer -------------------------------------------------------------------------------------


def test_the_newest_backups_stay_and_nothing_else_is_ever_removed(path: Path, tmp_path: Path):
    folder = tmp_path / "kept"
    folder.mkdir()
    others = ["golden-auto-00000000-20200101T000000Z.db", "golden-20200101T000000Z.db", "notes.db"]
    for name in others:
        (folder / name).write_text("mine")
    schedule = Schedule(timedelta(minutes=15), folder, keep=3)
    made = [back_up_in_series(path, schedule).path for _ in range(5)]
    assert made == sorted(made), "a later one has a later name, even in the same second"
    left = {each.name for each in folder.iterdir()}
    assert left == {*others, *(each.name for each in made[-3:])}


def test_a_clock_that_is_put_back_does_not_make_the_newest_backup_the_first_to_go(
    path: Path, tmp_path: Path
):
    schedule = Schedule(timedelta(minutes=15), tmp_path, keep=2)
    first = back_up_in_series(path, schedule).path
    ahead = first.with_name(first.name.replace(first.stem[-16:], "20990101T000000Z"))
    first.rename(ahead)
    second, third = (back_up_in_series(path, schedule).path for _ in range(2))
    with Store(path) as store:
        assert backups_in_series(tmp_path, "golden", store.golden_set.uuid()) == [second, third]


def test_a_backup_is_due_only_when_something_is_new(path: Path, tmp_path: Path):
    folder = tmp_path / "kept"
    folder.mkdir()

    async def serve() -> list[int]:
        counts = []
        async with FileMaintenance(
            str(path), Schedule(timedelta(seconds=0.1), folder, 9)
        ).running():
            for _ in range(2):
                await asyncio.sleep(0.7)
                counts.append(len(list(folder.glob("*.db"))))
            grade(path, 1)
            await asyncio.sleep(1.0)
            counts.append(len(list(folder.glob("*.db"))))
        return counts

    assert asyncio.run(serve()) == [1, 1, 2]


def test_a_failed_backup_is_said_and_the_next_is_made(path: Path, tmp_path: Path, caplog):
    folder = tmp_path / "kept"

    async def serve() -> None:
        async with FileMaintenance(
            str(path), Schedule(timedelta(seconds=0.1), folder, 9)
        ).running():
            await asyncio.sleep(0.5)
            folder.mkdir()
            for _ in range(200):
                await asyncio.sleep(0.05)
                if list(folder.glob("*.db")):
                    return

    asyncio.run(serve())
    assert "no backup was made: " in caplog.text
    assert str(folder) in caplog.text
    assert len(list(folder.glob("*.db"))) == 1


def test_a_lead_is_told_whether_backups_are_made(path: Path, tmp_path: Path):
    assert "makes no automatic backups" in backups.describe_schedule(None, path)
    schedule = Schedule(timedelta(minutes=15), tmp_path / "kept", 3)
    said = partial(backups.describe_schedule, schedule, path)
    assert said() == f"No backup can be made: {tmp_path / 'kept'}: No such file or directory"
    schedule.folder.mkdir()
    now = datetime.now(UTC)
    assert said(now).endswith("every 15 minutes where anything is new; there is none yet")
    assert "one is overdue: there is none yet" in said(now + timedelta(minutes=31))
    made = backups.backup_time(back_up_in_series(path, schedule).path)
    later = now + timedelta(hours=5)
    assert said(later).endswith(f"anything is new; the newest is of {made:%Y-%m-%d %H:%M} UTC")
    after = f"{now + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
    with Store(path) as store:
        store.judgments.add(Judgment("after", "q1", "c3", "Ann", grade=1, created_at=after))
    assert "one is overdue: the newest is of" in said(later)


@pytest.mark.slow
def test_a_server_makes_its_first_backup_at_once_and_keeps_its_file_from_being_replaced(
    path: Path, tmp_path: Path, run: Run
):
    folder = tmp_path / "kept"
    folder.mkdir()
    server = WarmServer(path, "--backup-every", "1h", "--backup-to", str(folder))
    server.start()
    try:
        for _ in range(500):
            if made := list(folder.glob("golden-auto-*.db")):
                break
            time.sleep(0.05)
        [backup] = made
        grade(path, 1)
        assert "is open in a server" in run("restore", backup).output
    finally:
        server.stop(signal.SIGKILL)
    assert run("restore", backup).exit_code == 0
    assert newest_alone(path) == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--backup-every", "15m"], "go together"),
        (["--backup-to", "."], "go together"),
        (["--backup-every", "15 minutes", "--backup-to", "."], "write it like 15m, 2h or 1d"),
        (["--backup-every", "1s", "--backup-to", "."], "from 10s to 365d"),
        (["--backup-every", "15m", "--backup-to", "nowhere"], "there is no such folder"),
    ],
)
def test_a_server_that_could_not_make_its_backups_does_not_start(
    run: Run, taken: int, options: list[str], said: str
):
    refused = run("serve", "--port", taken, *options)
    assert refused.exit_code in (1, 2)
    assert said in " ".join(refused.output.split())
