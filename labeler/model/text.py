"""Text for people: control characters escaped, numbers with their nouns, short lists."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# Control characters, the two line separators of Unicode, and characters that reverse the writing
# direction: in a terminal or a log they move the cursor, fake a line, or disguise a name.
CONTROL_CHARACTERS = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def find_control_character(text: str) -> str | None:
    r"""Return the first control character of a text, escaped; None if it has none.

    >>> find_control_character("a\tb"), find_control_character("Zoë 👩‍🏫")
    ('\\t', None)
    """
    found = CONTROL_CHARACTERS.search(text)
    return None if found is None else _escape(found[0])


def escape_controls(text: str, *, keep: str = "") -> str:
    r"""Return a text with its control characters escaped, safe for terminals and logs.

    ``keep`` are characters that stay, such as our own line ends.

    >>> escape_controls("a\x1b[2J\nb")
    'a\\x1b[2J\\nb'
    """
    return CONTROL_CHARACTERS.sub(
        lambda found: found[0] if found[0] in keep else _escape(found[0]), text
    )


_BLANKS = re.compile("[\\s\u00ad\u200b-\u200f\u2060\ufeff]+")


def visible_text(text: str | None) -> str | None:
    r"""Return a text that has something to read; blanks alone, zero-width ones too, are none.

    >>> visible_text(" a "), visible_text(" \u200b\n"), visible_text("")
    (' a ', None, None)
    """
    return text if text and not _BLANKS.fullmatch(text) else None


def fold_text(text: str) -> str:
    r"""Return a text in one Unicode form and with single blanks, to see whether two look alike.

    >>> fold_text("cafe\u0301\u00a0menu ") == "caf\u00e9 menu"
    True
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


def format_count(number: int, one: str, many: str) -> str:
    """Return a number with its noun.

    >>> format_count(1, "query", "queries"), format_count(2_000, "query", "queries")
    ('1 query', '2,000 queries')
    """
    return f"{number:,} {one if number == 1 else many}"


def format_list(names: Sequence[str], most: int) -> str:
    """Return the first ``most`` names, and how many more there are.

    >>> format_list(["Ana", "Bo"], 2), format_list(["Ana", "Bo", "Cy", "Di"], 2)
    ('Ana, Bo', 'Ana, Bo, 2 more')
    """
    left = [f"{len(names) - most:,} more"] if len(names) > most else []
    return ", ".join([*names[:most], *left])


def capitalize_first(words: str) -> str:
    """Return words with a capital first letter, to begin a sentence.

    >>> capitalize_first("with BM25"), capitalize_first("")
    ('With BM25', '')
    """
    return words[:1].upper() + words[1:]


def format_minute(moment: str) -> str:
    """Return a time, which is UTC, to the minute.

    >>> format_minute("2026-01-31T10:05:00.000Z")
    '2026-01-31 10:05'
    """
    return moment[:16].replace("T", " ")


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape").decode()
