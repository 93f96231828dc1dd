"""A golden set that is streamed away while people grade: what is restored after a crash."""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labeler.store import Store
from labeler.store.backup.file_check import check_file
from tests.benchmarks.load import clients_of
from tests.browser.server import QUIET, WarmServer, small_golden_set

LITESTREAM = str(Path(sys.executable).with_name("litestream"))
GRADES = 40
SYNCS = 2.5  # seconds: longer than two of Litestream's intervals


@pytest.fixture
def server(tmp_path: Path):
    """A server on a disk that will be lost."""
    disk = tmp_path / "disk"
    disk.mkdir()
    server = WarmServer(small_golden_set(disk / "golden.db"))
    server.start()
    yield server
    server.stop(signal.SIGKILL)


def test_what_is_restored_after_a_crash_is_the_log_up_to_a_moment(
    server: WarmServer, tmp_path: Path
) -> None:
    replica, restored = f"file://{tmp_path}/replica", tmp_path / "restored.db"
    with server.store() as store:
        [client] = clients_of(store, server.port, 1)
    streaming = subprocess.Popen([LITESTREAM, "replicate", server.database, replica], **QUIET)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        until, items = time.monotonic() + SYNCS, client.next_items(connection)
        while len(client.saved) < GRADES or time.monotonic() < until:
            client.grade(connection, items.pop(0))
            items = items or client.next_items(connection)
            time.sleep(SYNCS / GRADES)
        connection.close()
        server.stop(signal.SIGKILL)
    finally:
        streaming.kill()
        streaming.wait()
    subprocess.run([LITESTREAM, "restore", "-o", restored, replica], check=True, **QUIET)
    with server.store() as store:
        given = store.judgments.log()
    with Store(restored) as store:
        kept = store.judgments.log()
    assert [event.event_id for event in given] == client.saved
    assert kept, "what is older than an interval is there"
    assert kept == given[: len(kept)], "nothing is missing before what is kept"
    assert [found for found in check_file(restored) if found.is_wrong] == []
