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
    """The largest input that is accepted; sizes are bytes of UTF-8.

    ``unpacked`` limits a compressed file or Parquet once unpacked, all files of an archive
    together, or the data from a pipe; ``line`` a line, or a row of a table or of Parquet; ``text``
    one text of a record; ``id`` an id; ``members`` the number of files in an archive; and ``depth``
    the nesting of JSON.

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
        """Return a message that ``what`` exceeds a limit, with the option that would accept it.

        ``found`` is its size, None where reading stopped before it was known.
        """
        most: int = getattr(self, name)
        noun = {"members": " files", "depth": " levels"}.get(name)
        allowed = _format_size(most) if noun is None else f"{most:,}{noun}"
        if found is None:
            remedy = f"--limit {name}={_format_option(2 * most)} takes twice as much"
            return f"{what} is more than {allowed}, the most that is taken; {remedy}"
        has = f"{found:,}{noun or ' bytes'}"
        if name == "depth" and found > _DEEPEST:
            return f"{what} has {has}, and {_DEEPEST} are the most that --limit depth takes"
        remedy = f"--limit {name}={found} takes it"
        return f"{what} has {has}, and {allowed} are the most that is taken; {remedy}"

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
    """Return the limits as changed by ``--limit`` options; plain numbers are bytes, or counts.

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
    """Return the default limits, as ``--limit`` takes them."""
    return ", ".join(f"{name}={_format_option(most)}" for name, most in asdict(LIMITS).items())


def _bytes(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _format_size(size: int) -> str:
    """Format a size for people.

    >>> _format_size(16_000_000), _format_size(1024)
    ('16 MB', '1,024 bytes')
    """
    spelled = _format_option(size)
    return f"{size:,} bytes" if spelled.isdigit() else f"{spelled[:-2]} {spelled[-2:]}"


def _format_option(size: int) -> str:
    """Format a size for an option, with the largest unit that leaves no fraction."""
    for unit in ("GB", "MB"):
        if size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return str(size)
