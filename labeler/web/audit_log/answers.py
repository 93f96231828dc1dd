"""Looks at every answer that leaves, and counts those that refuse."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labeler.web.audit_log.refusals import Refusals
from labeler.web.auth.naming import NOT_A_NAME, NOT_MY_NAME

WAIT = 429
REFUSED = {401, 403, 421, WAIT}
UNKNOWN_HOST = tuple(said.partition("{")[0].encode() for said in (NOT_A_NAME, NOT_MY_NAME))
RENEWED = "x-labeler-token"  # on an answer that refuses for a moment only


class NotesAnswers:
    """Notes the answers of the app inside it; every one leaves as it came."""

    def __init__(self, app: ASGIApp, refusals: Refusals) -> None:
        self.app = app
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
            await send(message)

        await self.app(scope, receive, noted)


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
            said = message.get("body", b"")
            kind = "host" if self._status == 400 and said.startswith(UNKNOWN_HOST) else None
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
