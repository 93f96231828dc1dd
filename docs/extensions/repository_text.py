"""Sphinx extension that reads the Markdown of the repository as pages of the site.

On GitHub a page links to `SECURITY.md` beside `docs/`; on the site that file is a page. The
comments of cog, which say how a part is generated, are for whoever edits the file. A picture
`NAME-light.webp` becomes that and its twin `NAME-dark.webp`, each shown in its colour scheme.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

COG = re.compile(r"<!-- \[\[\[(?:cog\n.*?\]\]\]|end\]\]\]) -->\n?", re.DOTALL)
BESIDE = re.compile(r"\]\((?:\.\./)+(SECURITY|CONTRIBUTING)\.md(?=[#)])")
PICTURE = re.compile(r"!\[([^\]]*)\]\(([\w./-]+)-light\.webp\)")
BOTH = r"![\1](\2-light.webp){.only-light} ![\1](\2-dark.webp){.only-dark}"
PAGES = {"SECURITY": "/explanation/security.md", "CONTRIBUTING": "/explanation/contributing.md"}


def read_source(_: Sphinx, __: str, source: list[str]) -> None:
    """Leave out what cog reads, show pictures in both schemes, and link to pages of the site."""
    text = PICTURE.sub(BOTH, COG.sub("", source[0]))
    source[0] = BESIDE.sub(lambda link: f"]({PAGES[link[1]]}", text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx to pass each source through `read_source`."""
    app.connect("source-read", read_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
