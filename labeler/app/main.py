"""The server's one process: Streamlit's script, the grading routes beside it, the security headers.

Run by ``labeler serve``, which says in the environment which golden set to open.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime.pages_manager import PagesManager

from labeler.app.warming import NotesTraffic, Traffic, set_aside, warm_up
from labeler.paths import PACKAGE
from labeler.store import Store, moment
from labeler.store.backup.backups import Schedule
from labeler.store.backup.watch import Watch
from labeler.ui.asking import Asking
from labeler.ui.unsettled import opening
from labeler.web.audit_log import NotesAnswers, Refusals, keep_books
from labeler.web.auth.access import BYTES_PER_MINUTE, MOST_SENT, Door
from labeler.web.auth.entering import door_routes
from labeler.web.auth.guarding import ClosedDoor, FilesForLeads
from labeler.web.auth.hosts import HostNames, came_by_https
from labeler.web.auth.naming import OwnNames, PlainCallback
from labeler.web.grading_api import grading_routes
from labeler.web.logs import keep_legible
from labeler.web.promptly import answer_at_once
from labeler.web.push import Telling
from labeler.web.scripts import script_routes

keep_legible()
DATABASE = os.environ.get("LABELER_DB", "golden.db")
MOST_BYTES_PER_MINUTE = int(os.environ.get(MOST_SENT, BYTES_PER_MINUTE))
TRAFFIC = Traffic()
TELLING = Telling(DATABASE)
STAY_ON_HTTPS = [(b"strict-transport-security", b"max-age=31536000")]
REFUSALS = Refusals(moment)
WATCH = Watch(DATABASE, Schedule.of_this_server(os.environ))


@asynccontextmanager
async def hold_open(_: st.App) -> AsyncIterator[dict[str, Any]]:
    """Keep one idle connection while the server runs; open the board, tell pages, keep the file.

    SQLite folds the write-ahead log into the file whenever the last connection closes; without
    this one that would happen after every grade. And nobody puts another file in the place of one
    that is open.
    """
    answer_at_once()
    set_aside()
    is_for_leads = not Door.of_this_server().graders_only
    with Store(DATABASE), warm_up(TRAFFIC) if is_for_leads else nullcontext():
        async with (
            TELLING.running(),
            WATCH.running(),
            keep_books(DATABASE, REFUSALS),
        ):
            yield {}


class SecurityHeaders:
    """Adds to every response the headers that let a page load nothing from elsewhere."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.headers = security_headers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, adding the headers as its response starts."""

        by_https = "scheme" in scope and came_by_https(scope["scheme"], Headers(scope=scope))
        secure = STAY_ON_HTTPS if by_https else []

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self.headers, *secure]
            await send(message)

        await self.app(scope, receive, send_with_headers)


def security_headers() -> list[tuple[bytes, bytes]]:
    """Return the headers every response carries."""
    return [
        (b"content-security-policy", content_security_policy().encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
    ]


def content_security_policy() -> str:
    """Say what a page may load: only what this server sends.

    Scripts: this server's files, the loaders of our components (which Streamlit hands to the
    browser as blobs) and the inline scripts of Streamlit's own page, by their hashes. Vega draws
    charts by compiling expressions, hence unsafe-eval; styles are written inline by Streamlit's
    widgets.
    """
    page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    inline = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in inline]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return "; ".join(
        [
            "default-src 'self'",
            f"script-src 'self' blob: 'unsafe-eval' {allowed}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'self'",
        ]
    )


def to_label(request: Request) -> Response:
    """Lead from ``/label``, where people look for it, to the first page, which is at ``/``."""
    return RedirectResponse(f"/?{request.url.query}" if request.url.query else "/")


def broken(_: Request, __: Exception) -> Response:
    """Answer a request that failed for a reason of the program's own; the log has the traceback.

    It leaves outside of all middleware, so it carries the headers itself.
    """
    headers = {name.decode(): value.decode() for name, value in security_headers()}
    return JSONResponse({"error": "labeler failed"}, status_code=500, headers=headers)


def middleware() -> list[Middleware]:
    """Return what stands before the pages, from the outside in."""
    return [
        Middleware(SecurityHeaders),  # outside, so that refusals carry them too
        Middleware(NotesAnswers, refusals=REFUSALS),
        Middleware(OwnNames, names=HostNames.of_this_server()),
        Middleware(PlainCallback),
        Middleware(FilesForLeads, path=DATABASE),
        Middleware(ClosedDoor, path=DATABASE),
        Middleware(NotesTraffic, traffic=TRAFFIC),
    ]


# In a wheel pages/ stands beside the script. Until that has run once, Streamlit would open what is
# in there for anyone, past the table of pages.
PagesManager.uses_pages_directory = False

app = st.App(
    PACKAGE / "app" / "navigation.py",
    lifespan=hold_open,
    routes=[
        *grading_routes(
            DATABASE,
            bytes_per_minute=MOST_BYTES_PER_MINUTE,
            on_taken=TELLING.look_now,
            telling=Asking().telling,
            opening=opening(),
        ),
        TELLING.route(),
        *door_routes(DATABASE),
        *script_routes(),
        Route("/label", to_label),
    ],
    middleware=middleware(),
    exception_handlers={Exception: broken},
)
