"""The built documentation, served at ``/docs`` to everybody who may open a page.

Its pages load nothing from elsewhere. Their content security policy is written when they are built:
it has the hashes of the scripts and styles inside them.
"""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from labeler.paths import POLICY

MISSING = "The documentation has no such page. It begins at /docs/index.html.\n"
CHECK_FIRST = "private, no-cache"  # another version may have other pages


def documentation_routes(site: Path | None) -> list[Route]:
    """Return the routes of the documentation in the folder ``site``, none if it is not built."""
    if site is None:
        return []
    files = StaticFiles(directory=site)
    policy = (site / POLICY).read_text(encoding="utf-8").strip()

    async def file(request: Request) -> Response:
        try:
            response = await files.get_response(request.path_params["name"], request.scope)
        except HTTPException:
            response = PlainTextResponse(MISSING, status_code=404)
        response.headers["content-security-policy"] = policy
        response.headers["cache-control"] = CHECK_FIRST
        return response

    def begin(_: Request) -> Response:
        return RedirectResponse("/docs/index.html")

    return [
        Route("/docs", begin),
        Route("/docs/", begin),
        Route("/docs/{name:path}", file, middleware=[Middleware(GZipMiddleware)]),
    ]
