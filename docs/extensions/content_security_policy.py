"""Sphinx extension that writes the content security policy of the pages it has built.

labeler serves the pages beside a golden set, where nothing may run that is not ours. The policy
allows the files of the site, and the scripts and styles inside the pages by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

POLICY = "content-security-policy.txt"
SCRIPT = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
STYLE = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL)
STYLE_ATTRIBUTE = re.compile(r'<[^>]*\sstyle="([^"]*)"')
HANDLER = re.compile(r"<[^>]*\son\w+=")


def hashes(texts: Iterable[str]) -> str:
    """Return the sources of a policy that allow exactly these texts."""
    digests = {hashlib.sha256(text.encode()).digest() for text in texts}
    return "".join(sorted(f" 'sha256-{base64.b64encode(each).decode()}'" for each in digests))


def policy_of(pages: Iterable[str]) -> str:
    """Return the policy under which pages of HTML show and do all that they were written to."""
    scripts: set[str] = set()
    styles: set[str] = set()
    for page in pages:
        if HANDLER.search(page):
            raise ValueError("a page has an event handler, which no policy can allow by a hash")
        scripts.update(SCRIPT.findall(page))
        styles.update(STYLE.findall(page))
        styles.update(unescape(each) for each in STYLE_ATTRIBUTE.findall(page))
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'self'{hashes(scripts)}",
            f"style-src 'self' 'unsafe-hashes'{hashes(styles)}",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )


def write_policy(app: Sphinx, problem: Exception | None) -> None:
    """Write the policy beside the pages, once all of them are built."""
    if problem is None and app.builder.name == "html":
        site = Path(app.outdir)
        pages = [page.read_text(encoding="utf-8") for page in sorted(site.rglob("*.html"))]
        (site / POLICY).write_text(policy_of(pages) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx when to write the policy."""
    app.connect("build-finished", write_policy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
