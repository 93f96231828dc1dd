"""``labeler serve`` and ``labeler demo`` as processes: they start, answer, refuse and stop."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from labeler.cli.serving import FIRST_PORT, build_demo, free_port, is_free
from labeler.errors import BadInput
from labeler.model import Loaded, Query
from labeler.store import Store

ADDRESS = re.compile(r"labeler is at (http://\S+); Ctrl-C stops it\n")

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a labeler command in an empty folder; it is gone after the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "labeler", *arguments],
            cwd=tmp_path,
            env={key: value for key, value in os.environ.items() if key != "LABELER_DB"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """An empty golden set."""
    with Store(tmp_path / "golden.db", create=True) as store:
        return store.path


def address_of(process: subprocess.Popen[str]) -> str:
    """Wait for the line that says where the server is."""
    assert process.stdout is not None
    line = process.stdout.readline()
    found = ADDRESS.fullmatch(line)
    assert found is not None, line + process.communicate(timeout=20)[1]
    return found[1]


def status_of(url: str, **headers: str) -> int:
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def any_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_serve_answers_and_ctrl_c_stops_it_quietly(start: Start, database: Path) -> None:
    port = any_port()
    process = start("serve", "--port", str(port), "--no-browser")
    assert address_of(process) == f"http://127.0.0.1:{port}"
    assert status_of(f"http://127.0.0.1:{port}/_stcore/health") == 200
    assert status_of(f"http://127.0.0.1:{port}/") == 200
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - began < 5
    assert (process.returncode, out, err) == (0, "", "")


def test_serve_takes_no_name_but_its_own(start: Start, database: Path) -> None:
    port = any_port()
    address = address_of(start("serve", "--port", str(port), "--no-browser"))
    assert status_of(address, Host="evil.example") == 400


def test_ctrl_c_while_the_server_starts_stops_it_too(start: Start, database: Path) -> None:
    process = start("serve", "--port", str(any_port()), "--no-browser")
    command = Path(f"/proc/{process.pid}/cmdline")
    if not command.exists():
        pytest.skip("only Linux shows what a process has become")
    while b"launch.py" not in command.read_bytes():
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")


def test_demo_makes_its_own_file_and_serves_it(start: Start, tmp_path: Path) -> None:
    process = start("demo", "--no-browser", "--port", str(any_port()))
    assert status_of(address_of(process)) == 200
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 0
    assert os.listdir(tmp_path) == ["labeler-demo.db"]
    with Store(tmp_path / "labeler-demo.db") as store:
        contents = store.contents()
        assert [run.name for run in store.runs()] == ["bm25", "lsa", "hybrid"]
    assert contents.queries > 100
    assert contents.judgments > 1000
    assert contents.chunks_without_text == 0


def test_a_demo_is_used_again_unless_a_fresh_one_is_asked_for(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "labeler-demo.db"
    build_demo(path)
    with Store(path) as store:
        store.drop_run("lsa")
        born = store.golden_set_uuid()
    kept = start("demo", "--no-browser", "--port", str(any_port()))
    address_of(kept)
    busy = start("demo", "--fresh", "--no-browser")
    assert busy.communicate(timeout=20)[1] == (
        "Error: labeler-demo.db: is in use; stop its server first\n"
    )
    kept.send_signal(signal.SIGINT)
    kept.wait(timeout=20)
    with Store(path) as store:
        assert store.golden_set_uuid() == born
        assert len(store.runs()) == 2
    fresh = start("demo", "--fresh", "--no-browser", "--port", str(any_port()))
    address_of(fresh)
    with Store(path) as store:
        assert store.golden_set_uuid() != born
        assert len(store.runs()) == 3


def test_a_fresh_demo_never_replaces_a_team_s_golden_set(start: Start, tmp_path: Path) -> None:
    with Store(tmp_path / "golden.db", create=True) as store:
        store.add_queries(Loaded("q.jsonl", [Query("q-001", "our own question")], [1]))
    before = (tmp_path / "golden.db").read_bytes()
    for arguments in (
        ["demo", "--db", "golden.db", "--fresh", "--no-browser"],
        ["--db", "golden.db", "demo", "--fresh", "--no-browser"],
    ):
        process = start(*arguments)
        _, err = process.communicate(timeout=20)
        assert process.returncode == 1
        assert err.startswith("Error: golden.db: holds queries of your own, such as 'q-001'")
    assert (tmp_path / "golden.db").read_bytes() == before


def test_a_demo_that_cannot_be_built_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = tmp_path / "sample_data"
    (sample / "runs").mkdir(parents=True)
    (sample / "queries.jsonl").write_text('{"query_id": "q1", "query": "why"}\n')
    (sample / "chunks.jsonl").write_text('{"chunk_id": "c1", "text": "because"}\n')
    monkeypatch.setattr("labeler.cli.serving.folder", tmp_path.joinpath)
    target = tmp_path / "out"
    target.mkdir()
    with pytest.raises(LookupError, match="there is no such file"):
        build_demo(target / "demo.db")
    assert os.listdir(target) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.7.7", "labeler.example"])
def test_serve_refuses_an_address_that_others_reach(
    start: Start, database: Path, host: str
) -> None:
    process = start("serve", "--host", host, "--no-browser")
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (1, "")
    assert "anyone who can reach this address could read everything and grade under any name" in err
    assert "--allow-unauthenticated" in err
    assert len(err.splitlines()) == 1


def test_serve_everywhere_is_possible_when_asked_for(start: Start, database: Path) -> None:
    port = str(any_port())
    process = start(
        "serve", "--host", "0.0.0.0", "--allow-unauthenticated", "--no-browser", "--port", port
    )
    assert process.stdout is not None
    assert process.stdout.readline() == (
        f"labeler is at http://127.0.0.1:{port} and this machine's other addresses; "
        "Ctrl-C stops it\n"
    )
    assert status_of(f"http://127.0.0.1:{port}/", Host="labeler.example") == 200


def test_a_port_that_is_taken_is_refused_in_one_sentence(start: Start, database: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start("serve", "--port", str(port), "--no-browser")
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (1, "")
    assert err == (
        f"Error: port {port} is taken; name another with --port, or leave it out to get the next "
        "free one\n"
    )


def test_without_a_port_the_next_free_one_is_found() -> None:
    first = free_port("127.0.0.1", None)
    assert FIRST_PORT <= first < FIRST_PORT + 100
    with socket.create_server(("127.0.0.1", first)):
        assert not is_free("127.0.0.1", first)
        assert free_port("127.0.0.1", None) > first


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(BadInput, match=r"cannot listen on 203\.0\.113\.9"):
        free_port("203.0.113.9", None)
