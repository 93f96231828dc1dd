"""The components' JavaScript files, served at addresses that never change.

Streamlit passes a component's script to the browser as text, which cannot import other files. So it
gets a few lines that load all files of a component at once, from addresses with a hash of all
scripts: a browser caches them permanently, and files of two versions are never mixed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from posixpath import dirname, normpath

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from labeler.paths import PACKAGE

SCRIPTS = PACKAGE / "ui"
CACHE_FOREVER = {"cache-control": "public, max-age=31536000, immutable"}
NOT_FOUND_HEADERS = {"cache-control": "no-store"}
_IMPORT_STATEMENT = re.compile(r'^(?:import|export)\b[^;"]*"(\.[^"]+)";', re.MULTILINE)

INCOMPLETE = "A part of this page did not arrive. Reload the page to try again."
LOADER = """
const files = {files};
let show;
try {
  const modules = files.map((file) => import(location.origin + file));
  show = (await Promise.all(modules))[0].default;
} catch (problem) {
  console.error(problem);
  show = ({ parentElement, data }) => {
    const said = document.createElement("p");
    said.textContent = data?.sentences?.["trouble.incomplete"] ?? "{incomplete}";
    parentElement.replaceChildren(said);
  };
}
export default (component) => show(component);
"""


def _read_scripts() -> Mapping[str, bytes]:
    """Return every script by its path below ``ui/``, such as ``grading/pad.js``."""
    return {
        path.relative_to(SCRIPTS).as_posix(): path.read_bytes()
        for path in sorted(SCRIPTS.glob("*/*.js"))
    }


def _hash_of(scripts: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in scripts.items():
        digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


_SCRIPTS = _read_scripts()
VERSION = _hash_of(_SCRIPTS)


def loader(folder: str, main: str) -> str:
    """Return the script that loads all files of a folder and shows the default export of ``main``.

    ``main`` is a file of the folder without its extension. Files imported from other folders are
    loaded as well.
    """
    files = json.dumps(script_paths(folder, main))
    return LOADER.replace("{files}", files).replace("{incomplete}", INCOMPLETE)


def script_paths(folder: str, main: str) -> list[str]:
    """Return the addresses of the files that `loader` loads, ``main`` first."""
    first = f"{folder}/{main}.js"
    others = [name for name in _SCRIPTS if name.startswith(f"{folder}/") and name != first]
    wanted = [first, *others]
    for name in wanted:  # the list grows during the loop
        wanted += [each for each in _imports_of(name) if each not in wanted]
    return [f"/scripts/{VERSION}/{name}" for name in wanted]


def _imports_of(name: str) -> list[str]:
    """Return the paths below ``ui/`` of the scripts that a script imports."""
    found = _IMPORT_STATEMENT.findall(_SCRIPTS[name].decode())
    return [normpath(f"{dirname(name)}/{each}") for each in found]


def read_assets(*names: str) -> str:
    """Return files below ``ui/``, such as ``grading/pad.css``, one after the other."""
    return "\n".join((SCRIPTS / name).read_text(encoding="utf-8") for name in names)


def script_routes() -> list[Route]:
    """Return the route that serves the scripts, and 404 for another version's."""

    async def script(request: Request) -> Response:
        content = _SCRIPTS.get(request.path_params["name"])
        if content is None or request.path_params["version"] != VERSION:
            return Response("This script is not here, or not any more.\n", 404, NOT_FOUND_HEADERS)
        return Response(content, 200, CACHE_FOREVER, "text/javascript")

    return [
        Route(
            "/scripts/{version}/{name:path}",
            script,
            methods=["GET"],
            middleware=[Middleware(GZipMiddleware)],
        )
    ]
