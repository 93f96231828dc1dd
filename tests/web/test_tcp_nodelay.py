"""Answers leave at once: none waits until what was sent before it has been acknowledged."""

from __future__ import annotations

import http.client
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from labeler.web.tcp_nodelay import set_tcp_nodelay
from tests.browser.server import WarmServer, small_golden_set

ACKNOWLEDGED_AFTER = 0.04  # seconds that Linux lets pass at least before it does so unasked


def no_delay(connection: socket.socket) -> bool:
    return bool(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_connection_that_is_accepted_sends_at_once(family: int) -> None:
    with socket.socket(family) as listening:
        try:
            listening.bind(("localhost", 0))
        except OSError as error:
            pytest.skip(f"no such address here: {error}")
        listening.listen()
        before = os.listdir("/dev/fd")
        set_tcp_nodelay()
        assert len(os.listdir("/dev/fd")) == len(before), "every socket it looked at is closed"
        with socket.create_connection(listening.getsockname()[:2]) as client:
            accepted, _ = listening.accept()
            with accepted:
                assert no_delay(accepted)
            assert not no_delay(client), "only what listens is changed"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[http.client.HTTPConnection]:
    """A connection to a real server, kept as a proxy keeps its own."""
    server = WarmServer(small_golden_set(tmp_path / "golden.db"))
    server.start()
    kept = http.client.HTTPConnection("127.0.0.1", server.port)
    try:
        kept.connect()
        kept.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield kept
    finally:
        kept.close()
        server.stop()


def seconds_apart(connection: http.client.HTTPConnection) -> float:
    """Send a request's head, then its body, and return how long the whole answer takes."""
    start = time.perf_counter()
    connection.putrequest("POST", "/api/judgments")
    connection.putheader("Content-Length", "2")
    connection.endheaders()
    connection.send(b"{}")
    connection.getresponse().read()
    return time.perf_counter() - start


def test_a_request_in_two_parts_waits_for_no_acknowledgement(
    connection: http.client.HTTPConnection,
) -> None:
    """The first ones of a connection are acknowledged at once; of the later ones nearly all wait.

    A busy machine makes some of them slow as well, hence a quarter.
    """
    seconds = [seconds_apart(connection) for _ in range(60)]
    later = sorted(seconds[20:])
    assert later[len(later) // 4] < ACKNOWLEDGED_AFTER
