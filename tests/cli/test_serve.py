"""``labeler serve`` and ``labeler demo`` as processes: they start, answer, refuse and stop."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.util import calc_hash
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from labeler.cli import main
from labeler.cli.demo_data import build_demo
from labeler.cli.server import FIRST_PORT, environment, free_port, is_free
from labeler.errors import BadInput
from labeler.model import Loaded, Query
from labeler.store import Store
from labeler.web.auth import access
from labeler.web.auth.access import AccessPolicy, hash_secret
from tests.browser.server import any_port
from tests.support.signed_in import let_in
from tests.support.store_reads import invited_with

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


Refuse = Callable[..., tuple[int, str, str]]


@pytest.fixture
def refuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Refuse:
    """Run a command in an empty folder that must not come as far as to start its server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB")

    def serves(*_: object) -> NoReturn:
        raise AssertionError("it was not refused")

    monkeypatch.setattr(os, "execve", serves)

    def run(*arguments: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(main, arguments, prog_name="labeler", catch_exceptions=False)
        return result.exit_code, result.stdout, result.stderr

    return run


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


@pytest.mark.slow
def test_serve_takes_no_name_but_its_own(start: Start, database: Path) -> None:
    port = any_port()
    address = address_of(start("serve", "--port", str(port), "--no-browser"))
    assert status_of(address, Host="evil.example") == 400


@pytest.mark.slow
def test_ctrl_c_while_the_server_starts_stops_it_too(start: Start, database: Path) -> None:
    process = start("serve", "--port", str(any_port()), "--no-browser")
    command = Path(f"/proc/{process.pid}/cmdline")
    if not command.exists():
        pytest.skip("only Linux shows what a process has become")
    threads = Path(f"/proc/{process.pid}/task")
    while b"launch.py" not in command.read_bytes() or len(list(threads.iterdir())) == 1:
        time.sleep(0.01)  # until it watches for its own answer
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")


def test_demo_makes_its_own_file_and_serves_it(start: Start, tmp_path: Path) -> None:
    process = start("demo", "--no-browser", "--port", str(any_port()))
    address = address_of(process)
    assert address.endswith("/scores")
    assert status_of(address) == 200
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 0
    assert os.listdir(tmp_path) == ["labeler-demo.db"]
    with Store(tmp_path / "labeler-demo.db") as store:
        contents = store.golden_set.contents()
        assert [run.name for run in store.runs.all()] == ["bm25", "lsa", "hybrid"]
        assert [(k.name, k.chunks, k.runs) for k in store.chunkings.all()] == [("", 264, 3)]
        assert store.golden_set.name() == "Pellamy help centre"
        assert "every fact that is needed" in store.settings.read().guideline
    assert contents.queries > 100
    assert contents.judgments > 1000
    assert contents.chunks_without_text == 0


@pytest.mark.slow
def test_a_demo_is_used_again_unless_a_fresh_one_is_asked_for(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "labeler-demo.db"
    build_demo(path)
    with Store(path) as store:
        store.runs.drop("lsa")
        born = store.golden_set.uuid()
    kept = start("demo", "--no-browser", "--port", str(any_port()))
    address_of(kept)
    busy = start("demo", "--fresh", "--no-browser")
    assert busy.communicate(timeout=20)[1] == (
        "Error: labeler-demo.db: is in use; stop its server first\n"
    )
    kept.send_signal(signal.SIGINT)
    kept.wait(timeout=20)
    with Store(path) as store:
        assert store.golden_set.uuid() == born
        assert len(store.runs.all()) == 2
        store.people.invite("Lea", "hash", role="lead")
    late = start("demo", "--rechunked", "--no-browser")
    assert late.communicate(timeout=20)[1].endswith("goes with a new demo: add --fresh\n")
    invited = start("demo", "--no-browser", "--port", str(any_port()))
    assert not address_of(invited).endswith("/scores"), "who has no link sees no page"
    invited.send_signal(signal.SIGINT)
    invited.wait(timeout=20)
    fresh = start("demo", "--fresh", "--rechunked", "--no-browser", "--port", str(any_port()))
    address_of(fresh)
    with Store(path) as store:
        assert store.golden_set.uuid() != born
        assert [run.name for run in store.runs.all()] == ["bm25", "lsa", "hybrid", "hybrid-v2"]
        assert [(k.name, k.chunks, k.runs) for k in store.chunkings.all()] == [
            ("", 264, 3),
            ("v2", 343, 1),
        ]


def test_a_fresh_demo_never_replaces_a_team_s_golden_set(refuse: Refuse, tmp_path: Path) -> None:
    with Store(tmp_path / "golden.db", create=True) as store:
        store.queries.load(Loaded("q.jsonl", [Query("q-001", "our own question")], [1]))
    before = (tmp_path / "golden.db").read_bytes()
    for arguments in (
        ["demo", "--db", "golden.db", "--fresh", "--no-browser"],
        ["--db", "golden.db", "demo", "--fresh", "--no-browser"],
    ):
        code, _, err = refuse(*arguments)
        assert code == 1
        assert err.startswith("Error: golden.db: holds queries of your own, such as 'q-001'")
    assert (tmp_path / "golden.db").read_bytes() == before


def test_a_demo_that_cannot_be_built_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = tmp_path / "sample_data"
    (sample / "runs").mkdir(parents=True)
    (sample / "queries.jsonl").write_text('{"query_id": "q1", "query": "why"}\n')
    (sample / "chunks.jsonl").write_text('{"chunk_id": "c1", "text": "because"}\n')
    monkeypatch.setattr("labeler.cli.demo_data.folder", tmp_path.joinpath)
    target = tmp_path / "out"
    target.mkdir()
    with pytest.raises(LookupError, match="there is no such file"):
        build_demo(target / "demo.db")
    assert os.listdir(target) == []


def test_serve_on_a_missing_file_names_new_and_makes_nothing(start: Start, tmp_path: Path) -> None:
    _, err = (process := start("serve", "--no-browser")).communicate(timeout=20)
    assert process.returncode == 1
    assert err.startswith("Error: golden.db: there is no golden set here; ")
    assert "'labeler serve --new'" in err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("there", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_new_makes_an_empty_golden_set_and_opens_the_page_that_fills_it(
    start: Start, tmp_path: Path, there: bool
) -> None:
    if there:  # as touch leaves it
        (tmp_path / "golden.db").touch()
    port = any_port()
    process = start("serve", "--new", "--port", str(port), "--no-browser")
    address = address_of(process)
    assert address == f"http://127.0.0.1:{port}/data"
    assert status_of(address) == 200
    assert "file_uploader" in what_a_rerun_shows(address.removesuffix("/data"), "data")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 0
    assert os.listdir(tmp_path) == ["golden.db"]
    with Store(tmp_path / "golden.db") as store:
        contents = store.golden_set.contents()
        assert (contents.queries, contents.runs, store.people.has_invitations()) == (0, 0, False)


def test_new_names_the_golden_set(start: Start, tmp_path: Path) -> None:
    named = ("--name", " Help centre ")
    address_of(start("serve", "--new", *named, "--port", str(any_port()), "--no-browser"))
    with Store(tmp_path / "golden.db") as store:
        assert store.golden_set.name() == "Help centre"


@pytest.mark.slow
def test_new_asks_in_a_terminal_what_the_golden_set_is_called(tmp_path: Path) -> None:
    terminal, typed_into = os.openpty()
    command = [sys.executable, "-m", "labeler", "serve", "--new", "--no-browser"]
    os.write(terminal, f"{'x' * 61}\nHelp centre\n".encode())
    pipes = {"stdin": typed_into, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    command += ["--port", str(any_port())]
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as process:
        assert process.stdout is not None
        said = []
        while not said or b"labeler is at" not in said[-1]:
            said.append(process.stdout.readline())
            assert said[-1], said
        process.send_signal(signal.SIGINT)
    os.close(terminal)
    os.close(typed_into)
    assert said[0].startswith(b"Name of the golden set [golden]: ")
    assert b"the name of a golden set has 1 to 60 characters, not 61" in said[0]
    with Store(tmp_path / "golden.db") as store:
        assert store.golden_set.name() == "Help centre"


def test_new_refuses_a_file_that_is_there_and_says_what_to_do(
    refuse: Refuse, database: Path
) -> None:
    with Store(database) as store:
        born = store.golden_set.uuid()
    assert refuse("serve", "--new", "--no-browser")[2] == (
        "Error: golden.db: is there already; open it without --new, or name another with --db\n"
    )
    with Store(database) as store:
        assert store.golden_set.uuid() == born


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "name who signs in first (--lead NAME), or let everyone"),
        pytest.param(
            *(["--login", "secrets.toml"], "name who signs in first (--lead NAME)\n"),
            marks=pytest.mark.slow,
        ),
        (["--port", "{taken}"], "is taken"),
        pytest.param(
            *(["--host", "203.0.113.9", "--lead", "Lea"], "cannot listen on 203.0.113.9"),
            marks=pytest.mark.slow,
        ),
        (["--lead", " "], "grader id must not be empty"),
        (["--name", "x" * 61], "the name of a golden set has 1 to 60 characters, not 61"),
        (["--db", "nowhere/golden.db"], "the folder nowhere does not exist"),
    ],
)
def test_new_that_cannot_be_served_leaves_nothing(
    refuse: Refuse, tmp_path: Path, arguments: list[str], said: str
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    (tmp_path / "secrets.toml").write_text(
        f"[auth]\nredirect_uri = 'http://x/oauth2callback'\ncookie_secret = '{'x' * 40}'\n"
        "client_id = 'x'\nclient_secret = 'x'\nserver_metadata_url = 'http://x'\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        given = [each.format(taken=taken.getsockname()[1]) for each in arguments]
        code, out, err = refuse("--db", "empty/golden.db", "serve", "--new", "--no-browser", *given)
    assert (code, out) == (1, "")
    assert said in err
    assert len(err.splitlines()) == 1
    assert os.listdir(folder) == []


@pytest.mark.parametrize(
    "arguments", [["--new", "--graders-only"], ["--lead", "Lea"], ["--name", "Help centre"]]
)
def test_new_and_lead_go_with_what_they_can_go_with(
    refuse: Refuse, tmp_path: Path, arguments: list[str]
) -> None:
    assert refuse("serve", *arguments)[0] == 2
    assert os.listdir(tmp_path) == []


def test_a_new_golden_set_on_any_address_lets_its_lead_in_and_nobody_else(
    start: Start, tmp_path: Path
) -> None:
    port = any_port()
    process = start("serve", "--new", "--host", "0.0.0.0", "--lead", " Lea ", "--port", str(port))
    assert process.stdout is not None
    link, key, address = (process.stdout.readline() for _ in range(3))
    begin = f"http://127.0.0.1:{port}"
    assert link.startswith(f"{begin}/join/")
    assert key.startswith("This is the sign-in link of Lea (lead). Copy it now")
    assert address.startswith(f"labeler is at {begin}/data and this machine's other addresses")
    secret = link.strip().rpartition("/")[2]
    with pytest.raises(InvalidStatus):
        what_a_rerun_shows(begin, "data")
    with Store(tmp_path / "golden.db") as store:
        assert invited_with(store, hash_secret(secret)) == ("Lea", "lead")
        token = access.session_by_link(store, secret)
    assert "file_uploader" in what_a_rerun_shows(begin, "data", cookie=f"labeler_session={token}")


@pytest.mark.slow
def test_the_first_link_begins_with_the_name_people_know(start: Start, tmp_path: Path) -> None:
    name = ("--host-name", "labels.example.org")
    process = start("serve", "--new", *name, "--lead", "Lea", "--port", str(any_port()))
    assert process.stdout is not None
    assert process.stdout.readline().startswith("https://labels.example.org/join/")


@pytest.mark.parametrize(
    "host",
    [
        "0.0.0.0",
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ("::", "192.168.7.7", "labeler.example")
        ),
    ],
)
def test_serve_refuses_an_address_that_others_reach(
    refuse: Refuse, database: Path, host: str
) -> None:
    code, out, err = refuse("serve", "--host", host, "--no-browser")
    assert (code, out) == (1, "")
    assert "others can reach this address, and nobody is invited yet" in err
    for way in ("labeler invite YOU --role lead", "--login FILE", "--allow-unauthenticated"):
        assert way in err
    assert len(err.splitlines()) == 1


@pytest.mark.slow
def test_serve_everywhere_is_possible_when_asked_for(start: Start, database: Path) -> None:
    port = str(any_port())
    process = start(
        "serve", "--host", "0.0.0.0", "--allow-unauthenticated", "--no-browser", "--port", port
    )
    assert process.stdout is not None
    assert process.stdout.readline() == (
        "Everyone who reaches this server is lead (--allow-unauthenticated).\n"
    )
    assert process.stdout.readline() == (
        f"labeler is at http://127.0.0.1:{port} and this machine's other addresses; "
        "Ctrl-C stops it\n"
    )
    assert status_of(f"http://127.0.0.1:{port}/", Host="10.0.0.7") == 200
    assert status_of(f"http://127.0.0.1:{port}/", Host="labeler.example") == 400


def test_serve_everywhere_is_possible_once_somebody_is_invited(
    start: Start, database: Path
) -> None:
    with Store(database) as store:
        store.people.invite("Ann", hash_secret("anns"))
    port = str(any_port())
    process = start("serve", "--host", "0.0.0.0", "--no-browser", "--port", port)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(f"labeler is at http://127.0.0.1:{port}")
    with Store(database) as store:
        store.people.revoke("Ann")
    # nobody is invited now, and still the door is closed: others can reach it
    assert status_of(f"http://127.0.0.1:{port}/media/x.csv") == 403
    assert status_of(f"http://127.0.0.1:{port}/join/anns") == 403


def test_behind_a_proxy_with_a_name_somebody_has_to_be_invited(
    refuse: Refuse, database: Path
) -> None:
    code, out, err = refuse("serve", "--host-name", "labels.example.org", "--no-browser")
    assert (code, out) == (1, "")
    assert "--host-name labels.example.org: others can reach this address, and nobody is" in err
    code, out, err = refuse("serve", "--host-name", "https://labels.example.org/", "--no-browser")
    assert (code, out) == (1, "")
    assert "give the name alone, as in labels.example.org" in err


def test_a_login_that_cannot_work_is_refused_before_the_server_starts(
    refuse: Refuse, database: Path
) -> None:
    (database.parent / "secrets.toml").write_text('[auth]\nredirect_uri = "x/oauth2callback"\n')
    for file, said in [
        ("secrets.toml", "cookie_secret is missing in [auth]"),
        ("nowhere.toml", "there is no such file"),
    ]:
        found = refuse("serve", "--login", file, "--host", "0.0.0.0", "--no-browser")
        assert found == (1, "", f"Error: {file}: {said}\n")


def test_nobody_both_asks_who_comes_in_and_does_not(refuse: Refuse, database: Path) -> None:
    code, _, err = refuse("serve", "--login", "secrets.toml", "--allow-unauthenticated")
    assert code == 2
    assert "--login asks who signs in, --allow-unauthenticated does not" in err


def test_how_the_door_is_guarded_is_said_on_the_command_line_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = {access.OPEN, access.LOGIN, access.ANY_HOST, access.GRADERS_ONLY}
    for name in names:
        monkeypatch.setenv(name, "1")
    said = environment(Path("golden.db"), AccessPolicy(graders_only=True))
    assert names & said.keys() == {access.GRADERS_ONLY}


def test_threads_share_their_memory_unless_the_machine_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    assert environment(Path("golden.db"), AccessPolicy())["MALLOC_ARENA_MAX"] == "2"
    monkeypatch.setenv("MALLOC_ARENA_MAX", "8")
    assert environment(Path("golden.db"), AccessPolicy())["MALLOC_ARENA_MAX"] == "8"


@pytest.fixture
def as_in_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the commands run from a copy where the pages stand inside the package."""
    root = Path(__file__).parents[2]
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(root / "labeler", tmp_path / "wheel" / "labeler", ignore=without)
    pages = tmp_path / "wheel" / "labeler" / "pages"
    shutil.copytree(root / "pages", pages, ignore=without, dirs_exist_ok=True)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "wheel"))
    monkeypatch.setenv("PYTHONSAFEPATH", "1")


def what_a_rerun_shows(address: str, page: str, **named: str) -> str:
    """Ask for a page as no browser would, straight on the websocket; return all that it sends."""
    host = address.removeprefix("http://")
    asked = BackMsg()
    asked.rerun_script.page_name = page
    asked.rerun_script.page_script_hash = named.get("page_hash", "")
    headers = {"Cookie": named["cookie"]} if "cookie" in named else {}
    texts = []
    with connect(
        f"ws://{host}/_stcore/stream",
        origin=Origin(address),
        subprotocols=[Subprotocol("streamlit")],
        additional_headers=headers,
        max_size=None,
    ) as socket_:
        socket_.send(asked.SerializeToString())
        while True:
            message = ForwardMsg.FromString(bytes(socket_.recv(timeout=60)))
            texts.append(str(message))
            if message.WhichOneof("type") == "script_finished":
                return "\n".join(texts)


@pytest.mark.usefixtures("as_in_a_wheel")
def test_no_page_runs_for_a_stranger_who_is_the_first_to_ask(start: Start, database: Path) -> None:
    with Store(database) as store:
        let_in(store, "Ann", "anns")
        let_in(store, "Lea", "leas", "lead")
    address = address_of(start("serve", "--port", str(any_port()), "--no-browser"))
    for named in ({}, {"page_hash": calc_hash("data")}, {"cookie": "labeler_grader=Lea"}):
        with pytest.raises(InvalidStatus):
            what_a_rerun_shows(address, "data", **named)
    shown = what_a_rerun_shows(address, "data", cookie="labeler_session=anns")
    assert "Data is for leads" in shown
    assert "file_uploader" not in shown
    shown = what_a_rerun_shows(address, "data", cookie="labeler_session=leas")
    assert "file_uploader" in shown


def test_a_port_that_is_taken_is_refused_in_one_sentence(refuse: Refuse, database: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = refuse("serve", "--port", str(port), "--no-browser")
    assert (code, out) == (1, "")
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
