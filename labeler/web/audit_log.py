"""Refused requests in the audit log, counted by kind and minute, and the judgment log's hash chain.

A middleware inspects every response as it is sent, so no route can forget to report a refusal. It
changes no response, and no grade waits for it. However many requests are refused, each minute has
one entry per kind. Refusals and hash chain are written together shortly after a change; while
nobody grades, nothing is written, so that the write-ahead log can be checkpointed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labeler.errors import LabelerError
from labeler.model import Actor
from labeler.store import Store
from labeler.web.auth.middleware import HOST_MISSING, HOST_UNKNOWN
from labeler.web.poller import open_poller

TOO_MANY_REQUESTS = 429
REFUSED_STATUSES = {401, 403, 421, TOO_MANY_REQUESTS}
UNKNOWN_HOST = tuple(said.partition("{")[0].encode() for said in (HOST_MISSING, HOST_UNKNOWN))
RENEWAL_HEADER = "x-labeler-token"  # on a response that only asks for a new token


class RefusalMonitor:
    """Middleware that counts the refusals among responses and changes none."""

    def __init__(self, app: ASGIApp, refusals: Refusals) -> None:
        self.app = app
        self.refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        client = scope.get("client")
        response = OutgoingResponse(scope["type"], scope["path"], client[0] if client else None)

        async def send_and_count(message: Message) -> None:
            kind = response.refuses(message)
            if kind is not None:
                self.refusals.add(kind, response.address)
            await send(message)

        await self.app(scope, receive, send_and_count)


class OutgoingResponse:
    """A response sent in several messages; finds out whether it refuses the request."""

    def __init__(self, protocol: str, path: str, address: str | None) -> None:
        self.address = address
        self._protocol = protocol
        self._path = path
        self._status = 0

    def refuses(self, message: Message) -> str | None:
        """Return the kind of refusal if this message makes the response one."""
        kind: str | None = None
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            self._status = message["status"]
            if self._status in REFUSED_STATUSES and RENEWAL_HEADER not in Headers(
                raw=message.get("headers", [])
            ):
                kind = self._kind()
        elif message["type"] == "http.response.body":
            body = message.get("body", b"")
            kind = "host" if self._status == 400 and body.startswith(UNKNOWN_HOST) else None
        elif message["type"] == "websocket.accept":
            self._status = 101
        elif message["type"] == "websocket.close":
            kind = None if self._status else "socket"
        return kind

    def _kind(self) -> str | None:
        if self._protocol == "websocket":
            return "socket"
        if "/join/" in self._path:
            return "link"
        if self._path.startswith("/api/"):
            # 429 only delays a fast grader; nothing is refused
            return None if self._status == TOO_MANY_REQUESTS else "grading"
        return "host" if self._status == 421 else "page or file"


KINDS = ("link", "grading", "page or file", "socket", "host")
MOST_MINUTES = 1_000  # kept while the database cannot be written
MOST_ADDRESSES = 3  # named in an entry


@dataclass(slots=True)
class RefusalMinute:
    """The refusals of one kind within a minute, since ``at``, with the first addresses."""

    kind: str
    at: str
    count: int = 0
    addresses: list[str] = field(default_factory=list)
    others: bool = False

    def add(self, address: str | None) -> None:
        self.count += 1
        if address is None or address in self.addresses:
            return
        if len(self.addresses) < MOST_ADDRESSES:
            self.addresses.append(address)
        else:
            self.others = True


class Refusals:
    """The refusals that are not in the audit log yet; thread-safe.

    >>> refusals = Refusals(lambda: "2026-11-22T10:00:59.000Z")
    >>> refusals.add("link", "192.0.2.1")
    >>> refusals.add("link", "192.0.2.2")
    >>> refusals.finished(), [(each.kind, each.count) for each in refusals.all()]
    ([], [('link', 2)])
    """

    def __init__(self, clock: Callable[[], str]) -> None:
        """Start without refusals; ``clock`` returns the time in the format that is stored."""
        self._clock = clock
        self._lock = Lock()
        self._minutes: dict[tuple[str, str], RefusalMinute] = {}

    def add(self, kind: str, address: str | None) -> None:
        """Count a refusal of one of the `KINDS`."""
        now = self._clock()
        with self._lock:
            minute = self._minutes.setdefault((now[:16], kind), RefusalMinute(kind, now))
            minute.add(address)

    def finished(self) -> list[RefusalMinute]:
        """Remove and return the counts of minutes that are over."""
        now = self._clock()[:16]
        return self._take(lambda minute: minute != now)

    def all(self) -> list[RefusalMinute]:
        """Remove and return all counts."""
        return self._take(lambda _: True)

    def put_back(self, minutes: Iterable[RefusalMinute]) -> None:
        """Keep counts that could not be written; the oldest are dropped beyond `MOST_MINUTES`."""
        with self._lock:
            for minute in minutes:
                self._minutes[minute.at[:16], minute.kind] = minute
            for key in sorted(self._minutes)[:-MOST_MINUTES]:
                del self._minutes[key]

    def _take(self, wanted: Callable[[str], bool]) -> list[RefusalMinute]:
        with self._lock:
            keys = [key for key in self._minutes if wanted(key[0])]
            return [self._minutes.pop(key) for key in keys]


LOOK_EVERY_SECONDS = 1.0
MOST_WAITS = 5  # rounds without writing while people grade without a pause
LOOKS_AFTER_FAILURE = 10

log = logging.getLogger(__name__)


@asynccontextmanager
async def audit_log_writer(
    path: str, refusals: Refusals, every: float = LOOK_EVERY_SECONDS
) -> AsyncIterator[None]:
    """Write regularly while the block runs, and once more after it."""
    task = asyncio.create_task(_write_repeatedly(path, refusals, every))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        with suppress(LabelerError):
            await run_in_threadpool(write_audit_log, path, refusals.all())


async def _write_repeatedly(path: str, refusals: Refusals, every: float) -> None:
    seen, waits = None, 0
    async with open_poller(path) as golden_set:
        while True:
            await asyncio.sleep(every)
            refused = refusals.finished()
            try:
                moved = (
                    commits := await golden_set.ask(
                        lambda store: store.golden_set.commits_of_others()
                    )
                ) != seen
                seen, waits = commits, waits + 1 if moved or waits else 0
                if refused or (waits and not moved) or waits >= MOST_WAITS:
                    await run_in_threadpool(write_audit_log, path, refused)
                    waits = 0
            except LabelerError as error:
                refusals.put_back(refused)
                log.warning("what was done lately is not sealed or not in the audit yet: %s", error)
                await asyncio.sleep(every * LOOKS_AFTER_FAILURE)


def write_audit_log(path: str, refused: list[RefusalMinute]) -> None:
    """Extend the hash chain and write refusals, removing each from the list once written."""
    with Store(path) as store:
        while refused:
            write_minute(store, refused[0])
            refused.pop(0)
        store.tamper_check.seal()


def write_minute(store: Store, minute: RefusalMinute) -> None:
    """Write the refusals of a minute as one entry of the audit log."""
    store.connection.actor = Actor(
        None, "unknown", minute.addresses[0] if minute.addresses else None
    )
    others = ", and others" if minute.others else ""
    more = {"from": ", ".join(minute.addresses) + others} if len(minute.addresses) > 1 else {}
    store.audit.note("refuse", minute.kind, more, at=minute.at, count=minute.count)
