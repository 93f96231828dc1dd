"""Limits on input: sizes of files, lines, texts and ids, and the messages when one is exceeded.

They apply to what is read from a file, never to what is already stored. Every message names the
``--limit`` option that raises the limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace

from labeler.errors import BadInput

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_GIVEN = re.compile(r"([a-z]+)=([0-9]{1,15}) ?([KMG]B|)", re.IGNORECASE | re.ASCII)
_DEEPEST = 500  # Python itself gives up not far below


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that is taken in; sizes are bytes of UTF-8.

    ``unpacked`` is what a compressed file may come to, all files of an archive together, or what
    comes through a pipe; ``line`` a line, or a row of a table whose cells hold line ends; ``text``
    one text of a record, ``id`` an id; ``members`` how many files an archive may have, and
    ``depth`` how deep JSON may be nested.

    >>> Limits(text=10).over("text", 14, "the text")
    'the text has 14 bytes, and 10 bytes are the most that is taken; --limit text=14 takes it'
    """

    unpacked: int = 1_000_000_000
    line: int = 64_000_000
    text: int = 16_000_000
    id: int = 1_024
    members: int = 1_000
    depth: int = 100

    def __post_init__(self) -> None:
        for name, most in asdict(self).items():
            if isinstance(most, bool) or not isinstance(most, int) or most < 1:
                raise BadInput(f"the limit {name} is a whole number from 1, not {most!r}")
        if self.depth > _DEEPEST:
            raise BadInput(f"the limit depth goes up to {_DEEPEST}, not {self.depth}")

    def over(self, name: str, found: int | None, what: str) -> str:
        """Say that ``what`` is more than a limit allows, and which option would take it.

        ``found`` is how much it is, None where nobody went on to find out.
        """
        most: int = getattr(self, name)
        noun = {"members": " files", "depth": " levels"}.get(name)
        told = _told(most) if noun is None else f"{most:,}{noun}"
        if found is None:
            remedy = f"--limit {name}={_spelled(2 * most)} takes twice as much"
            return f"{what} is more than {told}, the most that is taken; {remedy}"
        has = f"{found:,}{noun or ' bytes'}"
        if name == "depth" and found > _DEEPEST:
            return f"{what} has {has}, and {_DEEPEST} are the most that --limit depth takes"
        remedy = f"--limit {name}={found} takes it"
        return f"{what} has {has}, and {told} are the most that is taken; {remedy}"

    def check_id(self, identifier: str, what: str) -> str:
        """Return an id of a ``what``, or raise `BadInput` where it is too long."""
        if len(identifier) * 4 > self.id and (size := _bytes(identifier)) > self.id:
            raise BadInput(self.over("id", size, f"the {what} id {identifier[:20]!r}…"))
        return identifier

    def check_text(self, text: str) -> None:
        """Raise `BadInput` where a text is too long."""
        if len(text) * 4 > self.text and (size := _bytes(text)) > self.text:
            raise BadInput(self.over("text", size, f"the text {text[:20]!r}…"))


LIMITS = Limits()


def parse_limits(given: Iterable[str]) -> Limits:
    """Return the limits with those that ``--limit`` names; bare numbers are bytes, or counts.

    >>> parse_limits(["text=32MB", "id=4096"]).text
    32000000
    """
    found: dict[str, int] = {}
    known = {field.name for field in fields(Limits)}
    for text in given:
        match = _GIVEN.fullmatch(text.strip())
        if match is None or match[1].lower() not in known:
            raise BadInput(
                f"--limit: {text!r} must be one of {', '.join(sorted(known))}, =, and a number, "
                "such as text=32MB"
            )
        found[match[1].lower()] = int(match[2]) * _UNITS[match[3].upper()]
    return replace(LIMITS, **found)


def usual_limits() -> str:
    """Return the limits that hold where none is named, as ``--limit`` takes them."""
    return ", ".join(f"{name}={_spelled(most)}" for name, most in asdict(LIMITS).items())


def _bytes(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _told(size: int) -> str:
    """Return a size as people read it.

    >>> _told(16_000_000), _told(1024)
    ('16 MB', '1,024 bytes')
    """
    spelled = _spelled(size)
    return f"{size:,} bytes" if spelled.isdigit() else f"{spelled[:-2]} {spelled[-2:]}"


def _spelled(size: int) -> str:
    """Return a size as an option takes it, with the largest unit that leaves no fraction."""
    for unit in ("GB", "MB"):
        if size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return str(size)
