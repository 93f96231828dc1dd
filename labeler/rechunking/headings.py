"""Which lines were put in front of a chunk and are not of its place; knows a chunking's texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from labeler.rechunking.squeezing import squeezed

LONGEST = 200  # squeezed characters of a heading
MOSTLY = 0.5
_MOST_LINES = 4
_WRITTEN_AS_HEADING = re.compile(r"\s*#{1,6}\s|.*\S\s*[>›»→]\s*\S")


class Headings:
    """The first lines of a chunking's texts: one that several begin with was put in front."""

    def __init__(self, texts: Iterable[str]) -> None:
        counts: Counter[str] = Counter()
        firsts: Counter[str] = Counter()
        for text in texts:
            lines = [squeezed(line) for line in _first_lines(text)]
            counts.update(set(lines))
            firsts.update(lines[:1] or [""])
        self._repeated = {line for line, count in counts.items() if count > 1}
        headed = sum(count for line, count in firsts.items() if line in self._repeated)
        self._is_habit = headed >= MOSTLY * firsts.total() > MOSTLY

    def added(self, text: str) -> int:
        """Return what `repeated` does where most texts begin with such a line, else 0.

        Then it is the chunker's habit; else the lines may be the document's own.

        >>> Headings(["Fees\\nIn May", "Fees\\nIn June", "Dues"]).added("Fees\\nIn May")
        4
        """
        return self.repeated(text) if self._is_habit else 0

    def repeated(self, text: str) -> int:
        """Return how many squeezed characters the lines have that other chunks begin with, too.

        >>> headings = Headings(["Fees\\nIn May", "Fees\\nIn June", "Dues"])
        >>> headings.repeated("Fees\\nIn May"), headings.repeated("Dues")
        (4, 0)
        """
        found = 0
        for line in _first_lines(text):
            plain = squeezed(line)
            if plain not in self._repeated or found + len(plain) > LONGEST:
                break
            found += len(plain)
        return found

    def front(self, text: str, size: int, known: str) -> int:
        """Return ``size`` where so many squeezed characters in front are headings, else 0.

        Each is a line of its own, and repeated in the chunking, or written as headings are, or
        it stands in ``known``, which is the document.
        """
        found = 0
        for line in _first_lines(text):
            plain = squeezed(line)
            is_heading = plain in self._repeated or _WRITTEN_AS_HEADING.match(line)
            if not (is_heading or plain in known):
                return 0
            found += len(plain)
            if found >= size:
                break
        return size if found == size <= LONGEST else 0


def _first_lines(text: str) -> list[str]:
    """Return the first lines that say something, without the last of all: it is no heading."""
    lines: list[str] = []
    at = 0
    while len(lines) < _MOST_LINES and at < 4 * LONGEST:
        end = text.find("\n", at)
        if end < 0:
            break
        if not text[at:end].isspace() and end > at:
            lines.append(text[at:end])
        at = end + 1
    return lines
