"""Who may ask the routes, and the words for what goes wrong; knows nothing of chunks and grades."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from labeler.errors import Busy, LabelerError
from labeler.store import Store, Unusable
from labeler.web.auth import tokens
from labeler.web.auth.access import check_may_grade
from labeler.web.auth.tokens import Expired, Forbidden
from labeler.web.discretion import without_path
from labeler.web.grading_api.allowance import Spent

TOKEN_HEADER = "x-labeler-token"
MOST_BYTES = 4_000_000  # one grade of ids as long as earlier versions took them; the pad splits
TOO_MUCH = f"more than {MOST_BYTES:,} bytes at once"

Answer = Callable[[Request, bytes, Store, str], dict[str, Any]]


def guarded(
    path: str,
    open_store: Callable[[], Store],
    answer: Answer,
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
                grader = tokens.grader_of(token, store.signing_key(), store.golden_set_uuid())
                check(store, grader)
                store.add_grader(grader)  # the file may have come from a backup made before them
                return JSONResponse(answer(request, body, store, grader))
        except Spent as error:
            headers = {"retry-after": str(error.seconds)}
            return JSONResponse({"error": str(error)}, status_code=429, headers=headers)
        except LabelerError as error:
            status = {Forbidden: 403, Busy: 503, Unusable: 503}
            code = next((code for kind, code in status.items() if isinstance(error, kind)), 400)
            # a page that was open for long has nobody to be warned of
            renewed = {TOKEN_HEADER: "expired"} if isinstance(error, Expired) else {}
            said = {"error": without_path(error, path)}
            return JSONResponse(said, status_code=code, headers=renewed)

    async def handle(request: Request) -> Response:
        body = bytearray()
        try:
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    return JSONResponse({"error": TOO_MUCH}, status_code=413)
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
