"""Looks at every answer that leaves: counts those that refuse, notes who has logged in."""

from __future__ import annotations

import logging
from http.cookies import CookieError, SimpleCookie

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labeler.access import Door, Person
from labeler.auditing.refusals import Refusals
from labeler.errors import LabelerError
from labeler.model import Actor
from labeler.store import Store
from labeler.visitors import claims_of

WAIT = 429
REFUSED = {401, 403, 421, WAIT}
UNKNOWN_HOST = b"Invalid host header"  # what Starlette answers to it, with 400
RENEWED = "x-labeler-token"  # on an answer that refuses for a moment only
LOGGED_IN = "/oauth2callback"

log = logging.getLogger(__name__)


class NotesAnswers:
    """Notes the answers of the app inside it; every one leaves as it came."""

    def __init__(self, app: ASGIApp, path: str, refusals: Refusals) -> None:
        self.app = app
        self.path = path
        self.refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or a websocket."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        client = scope.get("client")
        answer = Answer(scope["type"], scope["path"], client[0] if client else None)

        async def noted(message: Message) -> None:
            kind = answer.refuses(message)
            if kind is not None:
                self.refusals.add(kind, answer.address)
            if message["type"] == "http.response.start" and scope["path"].endswith(LOGGED_IN):
                await run_in_threadpool(self._note_login, Headers(raw=message["headers"]), answer)
            await send(message)

        await self.app(scope, receive, noted)

    def _note_login(self, headers: Headers, answer: Answer) -> None:
        cookies = cookies_set(headers)
        if not cookies:
            return
        door = Door.of_this_server()
        claims = claims_of(cookies, door)
        if claims.address is None:
            return
        try:
            with Store(self.path) as store:
                person = door.visitor(store, claims)
                if person is None:
                    self.refusals.add("login", answer.address)
                else:
                    store.actor = actor_of(person, answer.address)
                    store.note_once("sign_in", claims.address)
        except LabelerError as error:  # they are in all the same
            log.warning("a login is not in the audit: %s", error)


class Answer:
    """An answer as it leaves in parts, and whether it refuses what was asked."""

    def __init__(self, protocol: str, path: str, address: str | None) -> None:
        self.address = address
        self._protocol = protocol
        self._path = path
        self._status = 0

    def refuses(self, message: Message) -> str | None:
        """Return what is refused, where this part of the answer says that something is."""
        kind: str | None = None
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            self._status = message["status"]
            if self._status in REFUSED and RENEWED not in Headers(raw=message.get("headers", [])):
                kind = self._kind()
        elif message["type"] == "http.response.body":
            unknown_host = self._status == 400 and message.get("body") == UNKNOWN_HOST
            kind = "host" if unknown_host else None
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
            # who grades faster than is taken at once waits, and is refused nothing
            return None if self._status == WAIT else "grading"
        return "host" if self._status == 421 else "page or file"


def cookies_set(headers: Headers) -> dict[str, str]:
    """Return the cookies that an answer gives to a browser."""
    found: dict[str, str] = {}
    for line in headers.getlist("set-cookie"):
        try:
            found |= {name: each.value for name, each in SimpleCookie(line).items() if each.value}
        except CookieError:
            continue
    return found


def actor_of(person: Person, address: str | None) -> Actor:
    """Return a person who has come in as the audit names them."""
    return Actor(person.name, person.known_by, address)
