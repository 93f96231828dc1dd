"""The ASGI application: Streamlit, the grading API, sign-in, live push and the security headers.

``labeler serve`` runs this file and names the golden set in the environment.
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

from labeler.app.pages import PAGE_SPECS
from labeler.app.prewarm import ActivityMiddleware, RequestActivity, freeze_garbage, warm_up
from labeler.paths import PACKAGE, documentation
from labeler.services.assignment.assigner import Assigner
from labeler.store import Store, moment
from labeler.store.backup.backups import Schedule
from labeler.store.backup.maintenance import FileMaintenance
from labeler.ui.assignment_cache import DecisionQueue, open_pairs_cache
from labeler.web.app_files import AppFiles
from labeler.web.audit_log import RefusalMonitor, Refusals, audit_log_writer
from labeler.web.auth.access import BYTES_PER_MINUTE, MOST_SENT, AccessPolicy
from labeler.web.auth.allowed_hosts import AllowedHosts, is_https
from labeler.web.auth.login_flow import login_routes
from labeler.web.auth.middleware import EscapedCallback, HostCheck, LeadFilesOnly, SignInRequired
from labeler.web.documentation import documentation_routes
from labeler.web.grading_api import grading_routes
from labeler.web.language import words_for
from labeler.web.log_escape import escape_log_records
from labeler.web.push import LivePush
from labeler.web.static_js import script_routes
from labeler.web.tcp_nodelay import set_tcp_nodelay
from labeler.web.unknown_pages import UnknownPages

escape_log_records()
DATABASE = os.environ.get("LABELER_DB", "golden.db")
BYTE_LIMIT = int(os.environ.get(MOST_SENT, BYTES_PER_MINUTE))
TRAFFIC = RequestActivity()
LIVE_PUSH = LivePush(DATABASE)
DECISION_QUEUE = DecisionQueue()
ASSIGNER = Assigner(DECISION_QUEUE.telling, open_pairs_cache(), DECISION_QUEUE.decision)
HSTS_HEADER = [(b"strict-transport-security", b"max-age=31536000")]
REFUSALS = Refusals(moment)
WATCH = FileMaintenance(DATABASE, Schedule.from_environment(os.environ))


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[dict[str, Any]]:
    """Keep one idle connection while the server runs; open the board, tell pages, keep the file.

    SQLite folds the write-ahead log into the file whenever the last connection closes; without
    this one that would happen after every grade. And nobody puts another file in the place of one
    that is open.
    """
    set_tcp_nodelay()
    freeze_garbage()
    is_for_leads = not AccessPolicy.from_environment().graders_only
    with Store(DATABASE), warm_up(TRAFFIC) if is_for_leads else nullcontext():
        async with LIVE_PUSH.running(), WATCH.running(), audit_log_writer(DATABASE, REFUSALS):
            yield {}


class SecurityHeaders:
    """Adds to every response the headers that let a page load nothing from elsewhere.

    A response that has one of them already, such as a page of the documentation, keeps its own.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.headers = security_headers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, adding the headers as its response starts."""

        by_https = "scheme" in scope and is_https(scope["scheme"], Headers(scope=scope))
        secure = HSTS_HEADER if by_https else []

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                added = [header for header in self.headers if header[0] not in own]
                message["headers"] = [*message["headers"], *added, *secure]
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


def redirect_to_label(request: Request) -> Response:
    """Lead from ``/label``, where people look for it, to the first page, which is at ``/``."""
    return RedirectResponse(f"/?{request.url.query}" if request.url.query else "/")


def server_error(request: Request, _: Exception) -> Response:
    """Answer a request that failed for a reason of the program's own; the log has the traceback.

    It leaves outside of all middleware, so it carries the headers itself.
    """
    headers = {name.decode(): value.decode() for name, value in security_headers()}
    said = words_for(request).say("api.failed")
    return JSONResponse({"error": said}, status_code=500, headers=headers)


def middleware() -> list[Middleware]:
    """Return the middleware, the outermost first."""
    return [
        Middleware(SecurityHeaders),  # outside, so that refusals carry them too
        Middleware(RefusalMonitor, refusals=REFUSALS),
        Middleware(HostCheck, names=AllowedHosts.from_environment()),
        Middleware(EscapedCallback),
        Middleware(LeadFilesOnly, path=DATABASE),
        Middleware(SignInRequired, path=DATABASE),
        Middleware(
            UnknownPages,
            path=DATABASE,
            titles={page.path: page.title for page in PAGE_SPECS},
            for_graders=[page.path for page in PAGE_SPECS if page.for_graders],
            others=["/label", "/docs"],
        ),
        Middleware(ActivityMiddleware, traffic=TRAFFIC),
        Middleware(AppFiles, path=DATABASE),
    ]


# In a wheel pages/ stands beside the script. Until that has run once, Streamlit would open what is
# in there for anyone, past the table of pages.
PagesManager.uses_pages_directory = False

app = st.App(
    PACKAGE / "app" / "navigation.py",
    lifespan=lifespan,
    routes=[
        *grading_routes(
            DATABASE,
            bytes_per_minute=BYTE_LIMIT,
            on_taken=LIVE_PUSH.look_now,
            assigner=ASSIGNER,
        ),
        LIVE_PUSH.route(),
        *login_routes(DATABASE, left_for=ASSIGNER.left_for),
        *script_routes(),
        *documentation_routes(documentation()),
        Route("/label", redirect_to_label),
    ],
    middleware=middleware(),
    exception_handlers={Exception: server_error},
)
