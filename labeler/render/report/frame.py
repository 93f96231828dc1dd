"""The file itself: one page that loads nothing, and says so to the browser; knows no number."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import htpy
import vl_convert

from labeler.render.markup import script, style
from labeler.render.report.figures import Figures

LOOK = style((Path(__file__).parent / "report.css").read_text(encoding="utf-8"))
DRAWS = (Path(__file__).parent / "draw.js").read_text(encoding="utf-8")
GIVES = "window.vegaEmbed = vegaEmbed;"
A_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)


def as_file(title: str, parts: Iterable[htpy.Node], figures: Figures) -> bytes:
    """Return the whole page as a file; the same parts give the same bytes.

    Tables bring their style sheets along: each is kept once, in the head.
    """
    body = str(htpy.main[list(parts)])
    sheets = "".join(dict.fromkeys(A_STYLE.findall(body)))
    scripts = [libraries(), DRAWS]
    head = str(
        htpy.fragment[
            htpy.meta(charset="utf-8"),
            htpy.meta(http_equiv="Content-Security-Policy", content=policy(scripts)),
            htpy.meta(name="viewport", content="width=device-width, initial-scale=1"),
            htpy.meta(name="color-scheme", content="light dark"),
            htpy.title[title],
        ]
    )
    drawn = str(htpy.fragment[figures.element, [script(code) for code in scripts]])
    page = f"<head>{head}{sheets}{LOOK}</head><body>{A_STYLE.sub('', body)}{drawn}</body>"
    return f'<!doctype html>\n<html lang="en">{page}</html>\n'.encode()


def policy(scripts: Iterable[str]) -> str:
    """Return what the browser is told: nothing is loaded, and these scripts alone are run."""
    own = " ".join(f"'sha256-{_hash(code)}'" for code in scripts)
    return (
        f"default-src 'none'; script-src {own}; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(code: str) -> str:
    return base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()


@cache
def libraries() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script; it is made once, in about a second."""
    return vl_convert.javascript_bundle(GIVES)
