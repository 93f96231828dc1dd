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
from labeler.web.language import reason_for, words_at

TOKEN_HEADER = "x-labeler-token"
MOST_BYTES = 4_000_000  # one grade with the longest ids of earlier versions; the pad splits more
TOO_LARGE = f"more than {MOST_BYTES:,} bytes at once"

ApiHandler = Callable[[Request, bytes, Store, str], dict[str, Any]]


def guarded(
    path: str,
    open_store: Callable[[], Store],
    answer: ApiHandler,
    check: Callable[[Store, str], None] = check_may_grade,
) -> Callable[[Request], Awaitable[Response]]:
    """Wrap the handler ``answer`` with access checks and error responses.

    ``path`` is redacted from messages. ``check`` raises `Forbidden` for a grader without access.
    """

    def respond(request: Request, body: bytes) -> Response:
        try:
            check_same_origin(request)
            with open_store() as store:
                token = request.headers.get(TOKEN_HEADER, "")
                grader = tokens.grader_from_token(
                    token, store.golden_set.signing_key(), store.golden_set.uuid()
                )
                check(store, grader)
                store.people.add(grader)  # a restored backup may be older than the grader
                return JSONResponse(answer(request, body, store, grader))
        except RateLimited as error:
            headers = {"retry-after": str(error.seconds)}
            reason = words_at(request, path).say("api.too_much", n=error.most)
            return JSONResponse({"error": reason}, status_code=429, headers=headers)
        except LabelerError as error:
            status = {Forbidden: 403, Busy: 503, StorageError: 503}
            code = next((code for kind, code in status.items() if isinstance(error, kind)), 400)
            # an expired token is not a refusal: the page renews it, and the audit log skips it
            renewed = {TOKEN_HEADER: "expired"} if isinstance(error, Expired) else {}
            said = {"error": reason_for(error, path, words_at(request, path))}
            return JSONResponse(said, status_code=code, headers=renewed)

    async def handle(request: Request) -> Response:
        body = bytearray()
        try:
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    return JSONResponse({"error": TOO_LARGE}, status_code=413)
        except ClientDisconnect:
            return Response(status_code=400)  # never read: the client has gone
        return await run_in_threadpool(respond, request, bytes(body))

    return handle


def check_same_origin(request: Request) -> None:
    """Raise `Forbidden` for a request from another site's page.

    A browser names a request's source in ``Sec-Fetch-Site`` (on https and localhost) or
    ``Origin``; one that sends neither cannot send the token's header across origins.
    """
    site = request.headers.get("sec-fetch-site", "same-origin")
    if site != "same-origin" or is_foreign(request.headers):
        raise Forbidden("grades are taken from labeler's own page only")


def is_foreign(headers: Headers) -> bool:
    """Return whether a request's origin differs from its host."""
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")


WINDOW_SECONDS = 60.0


class RateLimited(LabelerError):
    """A grader has sent more than ``most`` bytes a minute and may send again in ``seconds``."""

    def __init__(self, most: int, seconds: int) -> None:
        super().__init__(f"more than {most:,} bytes a minute")
        self.most = most
        self.seconds = seconds


class RateLimit:
    """Counts the bytes that each grader has sent within the last minute; thread-safe.

    After a quiet minute one message is always accepted, however large it is.
    """

    def __init__(self, bytes_per_minute: int) -> None:
        self._most = bytes_per_minute
        self._lock = Lock()
        self._sent: defaultdict[str, deque[tuple[float, int]]] = defaultdict(deque)

    def use(self, grader: str, size: int) -> None:
        """Count a message of ``size`` bytes; raise `RateLimited` if it is too much."""
        now = time.monotonic()
        with self._lock:
            sent = self._sent[grader]
            while sent and sent[0][0] <= now - WINDOW_SECONDS:
                sent.popleft()
            if sent and sum(each for _, each in sent) + size > self._most:
                raise RateLimited(self._most, self._wait(sent, size, now))
            sent.append((now, size))

    def _wait(self, sent: deque[tuple[float, int]], size: int, now: float) -> int:
        """Return in how many seconds ``size`` bytes may be sent."""
        left = sum(each for _, each in sent)
        for at, each in sent:
            left -= each
            if left + size <= self._most:
                return math.ceil(at + WINDOW_SECONDS - now)
        return math.ceil(sent[-1][0] + WINDOW_SECONDS - now)
