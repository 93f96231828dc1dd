"""The documentation as tests read it: README.md and docs/, whole or by section."""

from __future__ import annotations

import re
from collections.abc import Iterator
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


BLOCK = re.compile(
    r"^```(?P<language>console|python)\n(?P<block>.*?)^```"
    r"|`(?P<file>[\w.-]+)`:\n\n```(?:jsonl?|toml|csv|text)\n(?P<content>.*?)^```",
    flags=re.DOTALL | re.MULTILINE,
)


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Give what of a page is executed, in order: a language and a block, or a file's name and it.

    A block after a line that ends with the name of a file is that file.
    """
    for found in BLOCK.finditer(text):
        if found["file"]:
            yield found["file"], found["content"]
        else:
            yield found["language"], found["block"]


def steps(block: str) -> Iterator[tuple[str, list[str]]]:
    """Give the commands of console blocks, each with the lines shown under it."""
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *shown = step.partition("\n```")[0].splitlines()
        while command.endswith("\\"):
            command = command[:-1] + shown.pop(0)
        yield command, shown


def agree(shown: list[str], printed: list[str]) -> bool:
    """Say whether output is as shown, where a last line ``...`` stands for any more lines."""
    if shown[-1:] == ["..."]:
        return printed[: len(shown) - 1] == shown[:-1] and len(printed) >= len(shown)
    return printed == shown


def _without_code(text: str) -> str:
    """Return a text in which code blocks are blanked, so that a comment is no heading."""
    return re.sub(r"```.*?```", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL)
