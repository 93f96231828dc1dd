"""What was acknowledged is there afterwards: after a kill, a half load, a full disk."""

from __future__ import annotations

import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from labeler.store import Store
from tests.support.databases import assert_whole

JUDGE = """
import sys
from labeler.model import Judgment
from labeler.store import Store
with Store(sys.argv[1]) as store:
    for n in range(100_000):
        event_id = f"{sys.argv[2]}/{n}"
        store.judgments.add(Judgment(event_id, "q1", "c3", "Ann", grade=n % 4))
        print(event_id, flush=True)
"""

LOAD = """
import sys, time
from labeler.model import Chunk, Loaded, Query
from labeler.store import Store
def chunks():
    for n in range(20_000):
        if n == 10_000:
            print("half", flush=True)
            time.sleep(600)
        yield Chunk(f"new {n}", "text " * 50)
with Store(sys.argv[1]) as store:
    store.chunks.load(Loaded("chunks.jsonl", chunks(), range(20_000)))
"""

FILL = """
import resource, sys
from pathlib import Path
from labeler.errors import BadInput
from labeler.model import Chunk, Judgment, Loaded
from labeler.store import Store
path, limit = sys.argv[1], int(sys.argv[2])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
chunks = [Chunk(f"new {n}", "text " * 2000) for n in range(400)]
with Store(path) as store:
    before = list(store.connection.conn.iterdump())
    try:
        store.chunks.load(Loaded("chunks.jsonl", chunks, range(len(chunks))))
    except BadInput as error:
        print(type(error).__name__, error)
    assert list(store.connection.conn.iterdump()) == before
"""


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_no_acknowledged_grade_is_lost_when_the_process_is_killed(
    filled: Store, python, kills: int
):
    filled.close()
    acknowledged: set[str] = set()
    for attempt in range(kills):
        process = python(JUDGE, filled.path, attempt)
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(random.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        rest, errors = process.communicate()
        assert errors == ""
        # a line cut off in the middle was not acknowledged to anybody
        lines = (first + rest).splitlines(keepends=True)
        acknowledged |= {line.strip() for line in lines if line.endswith("\n")}
        with Store(filled.path) as store:
            events = [event.event_id for event in store.judgments.log()]
            assert acknowledged <= set(events)
            assert len(events) == len(set(events))
            assert_whole(store)
    assert len(acknowledged) >= kills


def test_a_load_killed_in_the_middle_leaves_nothing(filled: Store, python):
    before = list(filled.connection.conn.iterdump())
    filled.close()
    process = python(LOAD, filled.path)
    assert process.stdout is not None
    assert process.stdout.readline() == "half\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with Store(filled.path) as store:
        assert list(store.connection.conn.iterdump()) == before
        assert store.chunks.get("new 0") is None
        assert_whole(store)


def test_a_file_that_may_not_grow_is_one_clear_error(filled: Store, python):
    filled.close()
    said, errors = python(FILL, filled.path, 1_000_000).communicate()
    assert errors == ""
    assert said == (
        f"StorageError {filled.path}: the disk does not read or write; nothing was changed, "
        "check its space and its health\n"
    )
    with Store(filled.path) as store:
        assert_whole(store)
        assert store.chunks.get("new 0") is None


def test_a_full_disk_is_one_clear_error_and_room_makes_it_work_again(
    filled: Store, small_disk: Path, python
):
    filled.close()
    path = small_disk / "golden.db"
    shutil.copy(filled.path, path)
    said, errors = python(FILL, path, 0).communicate()
    assert errors == ""
    assert said == f"StorageError {path}: the disk is full; nothing was changed\n"
    with Store(path) as store:
        assert_whole(store)
        assert store.chunks.get("new 0") is None
        store.people.add("Dee")
