"""Files of the first visit to Label, which load while the invitation is read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import htpy
import streamlit

from labeler.web.static_js import script_paths

STATIC = Path(streamlit.__file__).parent / "static"
# Streamlit's names of the parts that Label uses.
PARTS = frozenset({"index", "Html", "BidiComponent", "recordbatch"})


@cache
def links_ahead() -> Sequence[htpy.VoidElement]:
    """Return links that load the scripts and styles of Label, which the browser then keeps."""
    scripts, sheets = streamlit_files()
    scripts += script_paths("grading", "main")
    return [
        *(htpy.link(rel="modulepreload", href=path, crossorigin=True) for path in scripts),
        *(htpy.link(rel="prefetch", href=path, as_="style") for path in sheets),
    ]


def streamlit_files() -> tuple[list[str], list[str]]:
    """Return the addresses of Streamlit's scripts and style sheets; none if it lists none."""
    listed = STATIC / "manifest.json"
    if not listed.is_file():
        return [], []
    files: dict[str, Any] = json.loads(listed.read_text(encoding="utf-8"))
    wanted = [key for key, file in files.items() if file.get("name") in PARTS]
    for key in wanted:  # the list grows during the loop
        wanted += [each for each in files[key].get("imports", ()) if each not in wanted]
    scripts = [f"/{files[key]['file']}" for key in wanted]
    sheets = [f"/{sheet}" for key in wanted for sheet in files[key].get("css", ())]
    return scripts, sheets
