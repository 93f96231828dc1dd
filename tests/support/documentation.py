"""The documentation as tests read it: README.md and docs/, whole or by section."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {
    path.relative_to(ROOT / "docs").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("docs/**/*.md"))
}
ALL = "\n".join([README, *PAGES.values()])


def section(title: str) -> str:
    """Return the part of the documentation under a heading, up to the next of its level."""
    for text in (README, *PAGES.values()):
        found = re.search(rf"^(#+) {re.escape(title)}$", text, flags=re.MULTILINE)
        if found:
            rest = text[found.end() :]
            end = re.search(rf"^#{{1,{len(found[1])}}} ", _without_code(rest), re.MULTILINE)
            return rest[: end.start()] if end else rest
    raise LookupError(f"no section {title!r} in README.md or docs/")


def _without_code(text: str) -> str:
    """Return a text in which code blocks are blanked, so that a comment is no heading."""
    return re.sub(r"```.*?```", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL)
