"""Pool of connections to PostgreSQL, kept for the life of the process.

When a server does not answer, only one caller a second tries again; the others get the error at
once.
"""

from __future__ import annotations

import atexit
import re
import time
from threading import Lock
from typing import Any

import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg_pool import ConnectionPool, PoolTimeout

from labeler.errors import BadInput, DatabaseUnavailable, NotFound
from labeler.store.addresses import Address, invalid_address, redact_secrets

SCHEMA = "labeler"
OLDEST_SERVER = 16
MOST_CONNECTIONS = 30  # of one process
CONNECT_SECONDS = 5.0  # to wait for a server that does not answer
IDLE_SECONDS = 300.0
FIRST_WAIT_SECONDS = 1.0  # enough for a server that is up
RETRY_AFTER_SECONDS = 1.0  # between attempts on a server that did not answer
# Each side notices in this time that the other machine is gone, which releases its locks.
KEEPALIVES = {"keepalives_idle": 20, "keepalives_interval": 5, "keepalives_count": 4}
SESSION_SETTINGS = {
    "search_path": f"{SCHEMA},pg_catalog",
    "client_encoding": "UTF8",
    "cursor_tuple_fraction": "1",  # rows of a cursor are read to the end
    "plan_cache_mode": "force_generic_plan",  # one plan for all parameters
    **{f"tcp_{name}": str(number) for name, number in KEEPALIVES.items()},
}
SERVER_INFO = """
SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding'),
    datcollate, datctype, datlocprovider
FROM pg_database WHERE datname = current_database()
"""


class LiteralDumper(Dumper):
    """Writes a value as an untyped literal, so that PostgreSQL converts it where SQLite would.

    A bool can be an integer or a condition, and 1.5 is refused by an integer column.
    """

    def dump(self, obj: Any) -> bytes:
        """Return a bool as 1 or 0, a number with all its digits."""
        return (str(int(obj)) if isinstance(obj, bool) else repr(obj)).encode()


class BooleanLoader(Loader):
    """Reads a bool as an integer, as SQLite does."""

    def load(self, data: Any) -> int:
        """Return 1 or 0."""
        return int(bytes(data) == b"t")


class NumericLoader(Loader):
    """Reads a ``numeric`` as an int or a float."""

    def load(self, data: Any) -> int | float:
        """Return an int for a whole number, else a float."""
        words = bytes(data).decode()
        return int(words) if words.lstrip("-").isdigit() else float(words)


class JsonTextLoader(Loader):
    """Reads JSON as text."""

    def load(self, data: Any) -> str:
        """Return the text."""
        return bytes(data).decode()


_pools: dict[Address, ConnectionPool[Any]] = {}
_pools_lock = Lock()
_unavailable: dict[Address, tuple[float, str]] = {}  # until when no attempt is made, and the error


def pool_for(address: Address) -> ConnectionPool[Any]:
    """Return this process's pool for a database; the first time the database is checked."""
    with _pools_lock:
        pool = _pools.get(address)
    if pool is not None:
        return pool
    check_database(address)
    with _pools_lock:
        if address not in _pools:
            _pools[address] = ConnectionPool(
                address.url,
                kwargs=connection_arguments(),
                min_size=0,
                max_size=MOST_CONNECTIONS,
                max_idle=IDLE_SECONDS,
                timeout=CONNECT_SECONDS,
                reconnect_timeout=CONNECT_SECONDS,
                configure=configure_connection,
                open=True,
            )
        return _pools[address]


def close_pool(address: Address, known: ConnectionPool[Any] | None = None) -> None:
    """Close this process's pool for a database; if ``known`` is given, only that pool."""
    with _pools_lock:
        pool = _pools.get(address)
        if pool is None or known not in (None, pool):
            return
        del _pools[address]
    pool.close()


@atexit.register
def _close_all_pools() -> None:
    for address in list(_pools):
        close_pool(address)


def connection_arguments() -> dict[str, Any]:
    """Return the arguments of every new connection."""
    return {
        "autocommit": True,
        "options": " ".join(f"-c {name}={value}" for name, value in SESSION_SETTINGS.items()),
        "connect_timeout": int(CONNECT_SECONDS),
        "application_name": "labeler",
        "tcp_user_timeout": 20_000,
        **KEEPALIVES,
    }


def configure_connection(connection: psycopg.Connection[Any]) -> None:
    """Convert values to and from the server as SQLite does."""
    for kind in (bool, float):
        connection.adapters.register_dumper(kind, LiteralDumper)
    connection.adapters.register_loader("bool", BooleanLoader)
    connection.adapters.register_loader("numeric", NumericLoader)
    connection.adapters.register_loader("json", JsonTextLoader)


def lease(address: Address) -> tuple[ConnectionPool[Any], psycopg.Connection[Any]]:
    """Lease a working connection; return its pool and the connection.

    While a server does not answer, only one caller waits for it. All others get
    `DatabaseUnavailable` at once, so that pages without the database still work.
    """
    _refuse_if_unavailable(address)
    try:
        leased = _leased(address)
    except DatabaseUnavailable as error:
        _unavailable[address] = time.monotonic() + RETRY_AFTER_SECONDS, str(error)
        raise
    _unavailable.pop(address, None)
    return leased


def _refuse_if_unavailable(address: Address) -> None:
    with _pools_lock:
        until, said = _unavailable.get(address, (0.0, ""))
        now = time.monotonic()
        if now < until:
            raise DatabaseUnavailable(said)
        if said:  # the first caller tries again
            _unavailable[address] = now + RETRY_AFTER_SECONDS, said


def _leased(address: Address) -> tuple[ConnectionPool[Any], psycopg.Connection[Any]]:
    pool = pool_for(address)
    try:
        return pool, pool.getconn(timeout=FIRST_WAIT_SECONDS)
    except PoolTimeout:
        if pool.get_stats()["pool_size"] >= MOST_CONNECTIONS:
            return pool, pool.getconn()
    connect(address).close()  # raises the reason, or the server is back
    close_pool(address, pool)
    pool = pool_for(address)
    return pool, pool.getconn()


def connect(address: Address) -> psycopg.Connection[Any]:
    """Open a connection outside the pool; raises `BadInput`, `NotFound`, `DatabaseUnavailable`."""
    try:
        made: psycopg.Connection[Any] = psycopg.connect(address.url, **connection_arguments())
        return made
    except psycopg.ProgrammingError:
        raise invalid_address() from None
    except psycopg.OperationalError as error:
        said = redact_secrets(str(error).strip(), address)
        if error.sqlstate == "3D000" or re.search(r'database ".*" does not exist', said):
            raise NotFound(
                f"{address}: there is no such database; make it with: createdb --template "
                f"template0 --encoding UTF8 --locale C {address.name}"
            ) from None
        raise DatabaseUnavailable(
            f"{address}: the database does not answer: {said.splitlines()[-1].strip()}"
        ) from None


def check_database(address: Address) -> None:
    """Raise `BadInput` for a database that cannot hold a golden set."""
    with connect(address) as connection:
        [(version, encoding, collate, kinds, provider)] = connection.execute(SERVER_INFO).fetchall()
    if version < OLDEST_SERVER:
        raise BadInput(
            f"{address}: a server of PostgreSQL {version}; labeler needs {OLDEST_SERVER} or later"
        )
    by_bytes = {collate, kinds} <= {"C", "POSIX"} or provider in ("b", b"b")
    if encoding != "UTF8" or not by_bytes:
        raise BadInput(
            f"{address}: a database of encoding {encoding} and locale {collate}; ids would be "
            "sorted otherwise than in exports: make one with createdb --template template0 "
            "--encoding UTF8 --locale C NAME"
        )
