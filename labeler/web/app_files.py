"""Middleware that adds our header to Streamlit's page, and compresses its files.

A first visit loads three megabytes of scripts, and until they run there is nothing to see: half a
minute over a slow network. Compressed they are a third of that.
"""

from __future__ import annotations

import gzip
import re
from functools import cache, lru_cache

import htpy
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labeler.render import frame
from labeler.render.markup import style
from labeler.render.tokens import TOKENS_CSS
from labeler.web.auth.login_pages import font_face
from labeler.web.auth.middleware import is_page
from labeler.web.first_visit import STATIC
from labeler.web.language import words_at

ROOT = b'<div id="root"></div>'
COMPRESSED = re.compile(r"/static/(js|css)/[\w.-]+\.(js|css)", re.ASCII)
KINDS = {"js": "text/javascript", "css": "text/css"}
CACHE_FOREVER = "public, immutable, max-age=31536000"  # the names have hashes in them
# With these, Streamlit may send a compressed page, or answer that the page has not changed.
NOT_PASSED_ON = (b"if-none-match", b"if-modified-since", b"accept-encoding", b"range")
# Hidden as soon as the scripts have drawn the same header into the page.
STARTING_CSS = f"""
html {{ background: var(--bg); }}
.starting {{
  position: absolute; inset: 0 0 auto; z-index: 1; background: var(--bg);
  font: 400 1rem/1.5 {frame.FONT}; min-height: 100vh; overflow-x: clip;
}}
.starting > * {{
  max-width: {frame.WIDTH}; box-sizing: border-box; margin: 0 auto; padding-inline: 1.5rem;
}}
.starting .brand {{
  display: flex; align-items: center; gap: 0.625rem; height: 3.5rem; font-size: 0.9375rem;
  color: var(--ink);
  border-image: linear-gradient(var(--card) calc(100% - 1px), var(--line) 0) fill 0 // 0 100vmax;
}}
.starting p {{ color: var(--muted); font-size: 0.9375rem; padding-top: 1.5rem; }}
body:has(#root .top, #root [role="dialog"]) .starting {{ display: none; }}
@media (max-width: 40rem) {{ .starting > * {{ padding-inline: 1rem; }} }}
"""


@cache
def starting(said: str) -> bytes:
    """Return what a page shows until its scripts have loaded: the header, and that it opens."""
    shown = htpy.div(".starting")[
        htpy.div(".brand")[frame.mark(), htpy.b[frame.PRODUCT]],
        htpy.p(role="status")[said],
    ]
    return f"{style(TOKENS_CSS + font_face() + frame.FRAME_CSS + STARTING_CSS)}{shown}".encode()


@lru_cache(maxsize=256)  # there are about as many files
def compressed(path: str) -> bytes | None:
    """Return one of Streamlit's scripts or styles, compressed; None if there is no such file."""
    file = STATIC / path.removeprefix("/")
    return gzip.compress(file.read_bytes(), 6, mtime=0) if file.is_file() else None


class AppFiles:
    """Middleware that compresses Streamlit's files and puts a header into its page."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app = app
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if found := COMPRESSED.fullmatch(scope["path"]):
            takes = "gzip" in headers.get("accept-encoding", "") and "range" not in headers
            if takes and (content := compressed(scope["path"])) is not None:
                await send_file(content, KINDS[found[1]], send)
                return
        elif is_page(scope["path"]) and "text/html" in headers.get("accept", ""):
            others = [each for each in scope["headers"] if each[0] not in NOT_PASSED_ON]
            await self.send_page({**scope, "headers": others}, receive, send)
            return
        await self.app(scope, receive, send)

    async def send_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a page, with our header added if it is Streamlit's page."""
        start: Message = {}
        body, words = b"", await run_in_threadpool(words_at, HTTPConnection(scope), self.path)

        async def send_with_header(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            page = body.replace(ROOT, ROOT + starting(words.say("page.opening")), 1)
            headers = MutableHeaders(raw=list(start["headers"]))
            if page != body:
                del headers["etag"], headers["last-modified"]
            if "content-length" in headers:
                headers["content-length"] = str(len(page))
            await send({**start, "headers": headers.raw})
            await send({"type": "http.response.body", "body": page})

        await self.app(scope, receive, send_with_header)


async def send_file(content: bytes, kind: str, send: Send) -> None:
    """Send a compressed file that never changes."""
    headers = {
        "content-type": f"{kind}; charset=utf-8",
        "content-encoding": "gzip",
        "content-length": str(len(content)),
        "cache-control": CACHE_FOREVER,
        "vary": "accept-encoding",
    }
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": raw})
    await send({"type": "http.response.body", "body": content})
