"""Connections to PostgreSQL, kept for as long as a process runs; knows no table."""

from __future__ import annotations

import atexit
import re
import time
from threading import Lock
from typing import Any

import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg_pool import ConnectionPool, PoolTimeout

from labeler.errors import Away, BadInput, NotFound
from labeler.store.addresses import Address, without_secrets, wrong_address
from labeler.store.schema.postgres import SCHEMA

LEAST_SERVER = 16
MOST_AT_ONCE = 30  # connections of one process
PATIENCE_SECONDS = 5.0  # for a connection, where the server does not answer
IDLE_SECONDS = 300.0
SOON_SECONDS = 1.0  # in which a server that is there has made one
SPARED_SECONDS = 1.0  # that nobody asks a server which did not answer: its answer is known
# By how long either side learns that the other one's machine is gone, with whatever it had locked.
SIGN_OF_LIFE = {"keepalives_idle": 20, "keepalives_interval": 5, "keepalives_count": 4}
SESSION = {
    "search_path": f"{SCHEMA},pg_catalog",
    "client_encoding": "UTF8",
    "cursor_tuple_fraction": "1",  # what is read row by row is read to its end
    "plan_cache_mode": "force_generic_plan",  # what is planned ahead is, for whichever number
    **{f"tcp_{name}": str(number) for name, number in SIGN_OF_LIFE.items()},
}
ABOUT = """
SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding'),
    datcollate, datctype, datlocprovider
FROM pg_database WHERE datname = current_database()
"""


class Plainly(Dumper):
    """Writes a value so that PostgreSQL takes it for whatever stands in its place, as SQLite does.

    A truth goes into a column of whole numbers as into a condition, and 1.5 into no column of them.
    """

    def dump(self, obj: Any) -> bytes:
        """Return a truth as 1 or 0, a number with all its digits."""
        return (str(int(obj)) if isinstance(obj, bool) else repr(obj)).encode()


class Truth(Loader):
    """Reads a truth as SQLite has it."""

    def load(self, data: Any) -> int:
        """Return 1 or 0."""
        return int(bytes(data) == b"t")


class Number(Loader):
    """Reads a number of any size."""

    def load(self, data: Any) -> int | float:
        """Return a whole number as one."""
        words = bytes(data).decode()
        return int(words) if words.lstrip("-").isdigit() else float(words)


class Words(Loader):
    """Reads JSON as the text it is."""

    def load(self, data: Any) -> str:
        """Return the text."""
        return bytes(data).decode()


_pools: dict[Address, ConnectionPool[Any]] = {}
_pools_lock = Lock()
_away: dict[Address, tuple[float, str]] = {}  # until when it is not asked, and what it said


def pool_of(address: Address) -> ConnectionPool[Any]:
    """Return this process's connections to a database, which is looked at the first time."""
    with _pools_lock:
        pool = _pools.get(address)
    if pool is not None:
        return pool
    check(address)
    with _pools_lock:
        if address not in _pools:
            _pools[address] = ConnectionPool(
                address.url,
                kwargs=arguments(),
                min_size=0,
                max_size=MOST_AT_ONCE,
                max_idle=IDLE_SECONDS,
                timeout=PATIENCE_SECONDS,
                reconnect_timeout=PATIENCE_SECONDS,
                configure=configure,
                open=True,
            )
        return _pools[address]


def forget(address: Address, known: ConnectionPool[Any] | None = None) -> None:
    """Close this process's connections to a database; only the ``known`` ones, if any are named."""
    with _pools_lock:
        pool = _pools.get(address)
        if pool is None or known not in (None, pool):
            return
        del _pools[address]
    pool.close()


@atexit.register
def _forget_all() -> None:
    for address in list(_pools):
        forget(address)


def arguments() -> dict[str, Any]:
    """Return what every connection is made with."""
    return {
        "autocommit": True,
        "options": " ".join(f"-c {name}={value}" for name, value in SESSION.items()),
        "connect_timeout": int(PATIENCE_SECONDS),
        "application_name": "labeler",
        "tcp_user_timeout": 20_000,
        **SIGN_OF_LIFE,
    }


def configure(connection: psycopg.Connection[Any]) -> None:
    """Let values go to the server and come from it as they do with SQLite."""
    for kind in (bool, float):
        connection.adapters.register_dumper(kind, Plainly)
    connection.adapters.register_loader("bool", Truth)
    connection.adapters.register_loader("numeric", Number)
    connection.adapters.register_loader("json", Words)


def lease(address: Address) -> tuple[ConnectionPool[Any], psycopg.Connection[Any]]:
    """Return a connection that works, for as long as it is wanted, and whose it is.

    Of a server that does not answer all but one are told so at once: nobody waits in vain for what
    another waits for, and what needs no database goes on.
    """
    _spare(address)
    try:
        leased = _leased(address)
    except Away as error:
        _away[address] = time.monotonic() + SPARED_SECONDS, str(error)
        raise
    _away.pop(address, None)
    return leased


def _spare(address: Address) -> None:
    with _pools_lock:
        until, said = _away.get(address, (0.0, ""))
        now = time.monotonic()
        if now < until:
            raise Away(said)
        if said:  # whoever comes first tries it
            _away[address] = now + SPARED_SECONDS, said


def _leased(address: Address) -> tuple[ConnectionPool[Any], psycopg.Connection[Any]]:
    pool = pool_of(address)
    try:
        return pool, pool.getconn(timeout=SOON_SECONDS)
    except PoolTimeout:
        if pool.get_stats()["pool_size"] >= MOST_AT_ONCE:
            return pool, pool.getconn()
    connected(address).close()  # says why there is none; or the server is back
    forget(address, pool)
    pool = pool_of(address)
    return pool, pool.getconn()


def connected(address: Address) -> psycopg.Connection[Any]:
    """Return a connection of its own; raises `BadInput` and its kinds where there is none."""
    try:
        made: psycopg.Connection[Any] = psycopg.connect(address.url, **arguments())
        return made
    except psycopg.ProgrammingError:
        raise wrong_address() from None
    except psycopg.OperationalError as error:
        said = without_secrets(str(error).strip(), address)
        if error.sqlstate == "3D000" or re.search(r'database ".*" does not exist', said):
            raise NotFound(
                f"{address}: there is no such database; make it with: createdb --template "
                f"template0 --encoding UTF8 --locale C {address.name}"
            ) from None
        raise Away(
            f"{address}: the database does not answer: {said.splitlines()[-1].strip()}"
        ) from None


def check(address: Address) -> None:
    """Raise `BadInput` where a golden set cannot be in a database."""
    with connected(address) as connection:
        [(version, encoding, collate, kinds, provider)] = connection.execute(ABOUT).fetchall()
    if version < LEAST_SERVER:
        raise BadInput(
            f"{address}: a server of PostgreSQL {version}; labeler needs {LEAST_SERVER} or later"
        )
    by_bytes = {collate, kinds} <= {"C", "POSIX"} or provider in ("b", b"b")
    if encoding != "UTF8" or not by_bytes:
        raise BadInput(
            f"{address}: a database of encoding {encoding} and locale {collate}; ids would be "
            "sorted otherwise than in exports: make one with createdb --template template0 "
            "--encoding UTF8 --locale C NAME"
        )
