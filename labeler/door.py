"""The door's HTTP face: a link's secret becomes a cookie, files are for leads; draws no page.

The pages check for themselves who may see them; what is here has no page to do so.
"""

from __future__ import annotations

import re

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from labeler.access import PERSON_COOKIE, PROMISE, Door, Key, hash_of, keep_promise
from labeler.errors import LabelerError
from labeler.model import Actor
from labeler.store import Store
from labeler.tokens import Forbidden
from labeler.visitors import claims_of

A_YEAR_SECONDS = 365 * 24 * 3600
DATA, PEOPLE = "/data", "/data?section=People"
NO_STORE = {"cache-control": "no-store"}
UNKNOWN_LINK = (
    "This link does not work, or not any more.\nAsk whoever sent it to you for a new one.\n"
)
FOR_LEADS = "This is for leads.\n"
# What Streamlit serves beside its pages: files that were uploaded or offered for download, and
# everything of its own but what the pages of a grader need.
GUARDED = re.compile(
    "(^|/)(media/|app/static/|_stcore/(?!(health|host-config|stream)$|bidi-components/))"
)
# The fonts and pictures of Streamlit's own, which stand in a folder of that name, too: a plain
# file in it, and no other spelling.
STREAMLITS_OWN = re.compile(r"/static/media/[\w-]+(\.[\w-]+)+", re.ASCII)


def door_routes(path: str) -> list[Route]:
    """Return the route an invitation's link leads to, for the golden set at ``path``.

    A lead lands where files are loaded while there is nothing to grade.
    """

    def join(request: Request) -> Response:
        secret = request.path_params["secret"]
        promise = request.query_params.get(PROMISE)
        try:
            with Store(path) as store:
                address = request.client.host if request.client else None
                store.actor = Actor(None, "unknown", address)
                if promise is not None:
                    keep_promise(store, Key(secret, promise))
                known = store.invited_with(hash_of(secret))
                is_empty = not store.count_queries()
                if known is not None:
                    store.actor = Actor(known[0], "link", address)
                    store.note_once("sign_in")
        except Forbidden as error:
            return PlainTextResponse(f"{error}\n", status_code=403, headers=NO_STORE)
        except LabelerError as error:
            return PlainTextResponse(f"{error}\n", status_code=503, headers=NO_STORE)
        if known is None:
            return PlainTextResponse(UNKNOWN_LINK, status_code=403, headers=NO_STORE)
        lands_at = PEOPLE if promise else DATA if is_empty and known[1] == "lead" else "/"
        response = RedirectResponse(lands_at, status_code=303, headers=NO_STORE)
        response.set_cookie(
            PERSON_COOKIE,
            secret,
            max_age=A_YEAR_SECONDS,
            httponly=True,
            samesite="lax",
            secure=is_secure(request),
        )
        return response

    return [Route("/join/{secret}", join, methods=["GET"])]


def is_secure(request: Request) -> bool:
    """Say whether the visitor's browser came by https, to this server or to a proxy before it."""
    forwarded = request.headers.get("x-forwarded-proto", "").partition(",")[0]
    return "https" in (request.url.scheme, forwarded.strip().lower())


def is_guarded(path: str) -> bool:
    """Say whether what stands under a path, as the server reads it, is for leads.

    >>> is_guarded("/media/scores.csv"), is_guarded("/static/media/Sans.B1.woff2")
    (True, False)
    >>> is_guarded("/static/media/../../media/scores.csv")
    True
    """
    return bool(GUARDED.search(path)) and not STREAMLITS_OWN.fullmatch(path)


def comes_as_lead(store: Store, connection: HTTPConnection) -> bool:
    """Say whether what a request or a socket brings makes its visitor a lead, now."""
    door = Door.of_this_server()
    person = door.visitor(store, claims_of(connection.cookies, door))
    return person is not None and person.is_lead


class FilesForLeads:
    """Refuses uploads, downloads and Streamlit's other services to anyone who is no lead."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app = app
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request that is a lead's or asks for nothing guarded."""
        if scope["type"] == "http" and is_guarded(scope["path"]):
            refusal = await run_in_threadpool(self.refusal, HTTPConnection(scope))
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def refusal(self, connection: HTTPConnection) -> Response | None:
        """Return the answer to a visitor who may not have what they ask for."""
        try:
            with Store(self.path) as store:
                if comes_as_lead(store, connection):
                    return None
        except LabelerError as error:
            return PlainTextResponse(f"{error}\n", status_code=503)
        return PlainTextResponse(FOR_LEADS, status_code=403, headers=NO_STORE)
