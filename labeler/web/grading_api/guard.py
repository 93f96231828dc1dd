"""Checks before each route of the grading API, its error responses, the rate limit per grader."""

from __future__ import annotations

import math
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from threading import Lock
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from labeler.errors import Busy, LabelerError
from labeler.store import StorageError, Store
from labeler.web.auth import tokens
from labeler.web.auth.access import check_may_grade
from labeler.web.auth.tokens import Expired, Forbidden
from labeler.web.redact import redact_path

TOKEN_HEADER = "x-labeler-token"
MOST_BYTES = 4_000_000  # one grade of ids as long as earlier versions took them; the pad splits
TOO_LARGE = f"more than {MOST_BYTES:,} bytes at once"

ApiHandler = Callable[[Request, bytes, Store, str], dict[str, Any]]


def guarded(
    path: str,
    open_store: Callable[[], Store],
    answer: ApiHandler,
    check: Callable[[Store, str], None] = check_may_grade,
) -> Callable[[Request], Awaitable[Response]]:
    """Wrap ``answer`` with the checks of who is asking and the words for what goes wrong.

    ``path`` is the golden set's, which no answer names. ``check`` raises `Forbidden` for whoever
    may not have this answer.
    """

    def respond(request: Request, body: bytes) -> Response:
        try:
            check_same_origin(request)
            with open_store() as store:
                token = request.headers.get(TOKEN_HEADER, "")
                grader = tokens.grader_from_token(
                    token, store.signing_key(), store.golden_set_uuid()
                )
                check(store, grader)
                store.add_grader(grader)  # the file may have come from a backup made before them
                return JSONResponse(answer(request, body, store, grader))
        except RateLimited as error:
            headers = {"retry-after": str(error.seconds)}
            return JSONResponse({"error": str(error)}, status_code=429, headers=headers)
        except LabelerError as error:
            status = {Forbidden: 403, Busy: 503, StorageError: 503}
            code = next((code for kind, code in status.items() if isinstance(error, kind)), 400)
            # a page that was open for long has nobody to be warned of
            renewed = {TOKEN_HEADER: "expired"} if isinstance(error, Expired) else {}
            said = {"error": redact_path(error, path)}
            return JSONResponse(said, status_code=code, headers=renewed)

    async def handle(request: Request) -> Response:
        body = bytearray()
        try:
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    return JSONResponse({"error": TOO_LARGE}, status_code=413)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        return await run_in_threadpool(respond, request, bytes(body))

    return handle


def check_same_origin(request: Request) -> None:
    """Raise `Forbidden` for a request that another site's page made.

    A browser says where a request comes from by ``Sec-Fetch-Site`` (on https and localhost) or
    ``Origin``; one that says neither cannot carry the token's header across origins.
    """
    site = request.headers.get("sec-fetch-site", "same-origin")
    if site != "same-origin" or is_foreign(request.headers):
        raise Forbidden("grades are taken from labeler's own page only")


def is_foreign(headers: Headers) -> bool:
    """Say whether the page that asks is of another origin than what it asks for."""
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")


WINDOW_SECONDS = 60.0


class RateLimited(LabelerError):
    """Somebody has sent too much just now; after ``seconds`` there is room again."""

    def __init__(self, reason: str, seconds: int) -> None:
        super().__init__(reason)
        self.seconds = seconds


class RateLimit:
    """Counts the bytes that graders have sent within the last minute; safe to ask from threads.

    One message is always taken where the minute before it was quiet, however large it is.
    """

    def __init__(self, bytes_per_minute: int) -> None:
        self._most = bytes_per_minute
        self._lock = Lock()
        self._sent: defaultdict[str, deque[tuple[float, int]]] = defaultdict(deque)

    def use(self, grader: str, size: int) -> None:
        """Count a message of ``size`` bytes; raises `RateLimited` where it is too much."""
        now = time.monotonic()
        with self._lock:
            sent = self._sent[grader]
            while sent and sent[0][0] <= now - WINDOW_SECONDS:
                sent.popleft()
            if sent and sum(each for _, each in sent) + size > self._most:
                raise RateLimited(
                    f"one person can send {self._most:,} bytes a minute, and more than that has "
                    "come; whoever runs this can raise it (labeler serve --bytes-per-minute)",
                    self._wait(sent, size, now),
                )
            sent.append((now, size))

    def _wait(self, sent: deque[tuple[float, int]], size: int, now: float) -> int:
        """Return after how many seconds there is room for ``size`` bytes."""
        left = sum(each for _, each in sent)
        for at, each in sent:
            left -= each
            if left + size <= self._most:
                return math.ceil(at + WINDOW_SECONDS - now)
        return math.ceil(sent[-1][0] + WINDOW_SECONDS - now)
