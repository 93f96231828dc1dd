"""Pool of connections to PostgreSQL, kept for the life of the process.

After a server has not answered, only one caller a second tries again; the others get the error
at once.
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
MOST_CONNECTIONS = 30  # connections of one process
CONNECT_SECONDS = 5.0  # for a connection, where the server does not answer
IDLE_SECONDS = 300.0
FIRST_WAIT_SECONDS = 1.0  # in which a server that is there has made one
RETRY_AFTER_SECONDS = 1.0  # that nobody asks a server which did not answer: its answer is known
# By how long either side learns that the other one's machine is gone, with whatever it had locked.
KEEPALIVES = {"keepalives_idle": 20, "keepalives_interval": 5, "keepalives_count": 4}
SESSION_SETTINGS = {
    "search_path": f"{SCHEMA},pg_catalog",
    "client_encoding": "UTF8",
    "cursor_tuple_fraction": "1",  # what is read row by row is read to its end
    "plan_cache_mode": "force_generic_plan",  # what is planned ahead is, for whichever number
    **{f"tcp_{name}": str(number) for name, number in KEEPALIVES.items()},
}
SERVER_INFO = """
SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding'),
    datcollate, datctype, datlocprovider
FROM pg_database WHERE datname = current_database()
"""


class LiteralDumper(Dumper):
    """Writes a value so that PostgreSQL takes it for whatever stands in its place, as SQLite does.

    A truth goes into a column of whole numbers as into a condition, and 1.5 into no column of them.
    """

    def dump(self, obj: Any) -> bytes:
        """Return a truth as 1 or 0, a number with all its digits."""
        return (str(int(obj)) if isinstance(obj, bool) else repr(obj)).encode()


class BooleanLoader(Loader):
    """Reads a truth as SQLite has it."""

    def load(self, data: Any) -> int:
        """Return 1 or 0."""
        return int(bytes(data) == b"t")


class NumericLoader(Loader):
    """Reads a number of any size."""

    def load(self, data: Any) -> int | float:
        """Return a whole number as one."""
        words = bytes(data).decode()
        return int(words) if words.lstrip("-").isdigit() else float(words)


class JsonTextLoader(Loader):
    """Reads JSON as the text it is."""

    def load(self, data: Any) -> str:
        """Return the text."""
        return bytes(data).decode()


_pools: dict[Address, ConnectionPool[Any]] = {}
_pools_lock = Lock()
_unavailable: dict[Address, tuple[float, str]] = {}  # until when it is not asked, and what it said


def pool_for(address: Address) -> ConnectionPool[Any]:
    """Return this process's connections to a database, which is looked at the first time."""
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
    """Close this process's connections to a database; only the ``known`` ones, if any are named."""
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
    """Return what every connection is made with."""
    return {
        "autocommit": True,
        "options": " ".join(f"-c {name}={value}" for name, value in SESSION_SETTINGS.items()),
        "connect_timeout": int(CONNECT_SECONDS),
        "application_name": "labeler",
        "tcp_user_timeout": 20_000,
        **KEEPALIVES,
    }


def configure_connection(connection: psycopg.Connection[Any]) -> None:
    """Let values go to the server and come from it as they do with SQLite."""
    for kind in (bool, float):
        connection.adapters.register_dumper(kind, LiteralDumper)
    connection.adapters.register_loader("bool", BooleanLoader)
    connection.adapters.register_loader("numeric", NumericLoader)
    connection.adapters.register_loader("json", JsonTextLoader)


def lease(address: Address) -> tuple[ConnectionPool[Any], psycopg.Connection[Any]]:
    """Return a connection that works, for as long as it is wanted, and whose it is.

    Of a server that does not answer all but one are told so at once: nobody waits in vain for what
    another waits for, and what needs no database goes on.
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
        if said:  # whoever comes first tries it
            _unavailable[address] = now + RETRY_AFTER_SECONDS, said


def _leased(address: Address) -> tuple[ConnectionPool[Any], psycopg.Connection[Any]]:
    pool = pool_for(address)
    try:
        return pool, pool.getconn(timeout=FIRST_WAIT_SECONDS)
    except PoolTimeout:
        if pool.get_stats()["pool_size"] >= MOST_CONNECTIONS:
            return pool, pool.getconn()
    connect(address).close()  # says why there is none; or the server is back
    close_pool(address, pool)
    pool = pool_for(address)
    return pool, pool.getconn()


def connect(address: Address) -> psycopg.Connection[Any]:
    """Return a connection of its own; raises `BadInput` and its kinds where there is none."""
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
    """Raise `BadInput` where a golden set cannot be in a database."""
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
