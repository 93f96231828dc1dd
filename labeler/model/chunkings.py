"""What a chunk is called where a golden set holds several chunkings; knows no chunk and no file.

Most chunkers number anew, so that one id means another text in each chunking. A golden set tells
them apart by the name: in the unnamed chunking, which every set has, a chunk is called by its id
alone, and in the others by ``CHUNKING:ID``. That is what everything but a loader goes by, so that
what knows nothing of chunkings cannot mix them, and every list, export and log that names a chunk
says of which chunking it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from labeler.errors import BadInput

UNNAMED = ""
SHOWN_UNNAMED = "(unnamed)"  # as none can be called
BETWEEN = ":"
_NAME = re.compile(r"[\w.-]{1,60}")


def check_chunking(name: str) -> str:
    """Return ``name`` if a chunking can have it, else raise `BadInput`.

    It stands before a colon in ids, which some files set apart by blanks.
    """
    if name != UNNAMED and not _NAME.fullmatch(name):
        raise BadInput(
            f"a chunking is named by up to 60 letters, digits, dots, dashes and underscores, such "
            f"as v2, not {name!r}"
        )
    return name


def chunking_shown(name: str) -> str:
    """Return what an address and a box call a chunking; `chunking_named` is the way back.

    >>> chunking_shown(""), chunking_named("(unnamed)"), chunking_named("v2")
    ('(unnamed)', '', 'v2')
    """
    return name or SHOWN_UNNAMED


def chunking_named(shown: str) -> str:
    """Return the chunking that an address or a box means."""
    return UNNAMED if shown == SHOWN_UNNAMED else shown


def called_in(chunking: str, chunk_id: str) -> str:
    """Return what a golden set calls a chunk that a file of this chunking calls ``chunk_id``.

    A file that a golden set wrote has the whole name already.

    >>> called_in("", "c7"), called_in("v2", "c7"), called_in("v2", "v2:c7")
    ('c7', 'v2:c7', 'v2:c7')
    """
    before = before_ids(chunking)
    return chunk_id if chunk_id.startswith(before) else f"{before}{chunk_id}"


def own_id(chunking: str, called: str) -> str:
    """Return the id that a chunk has within its chunking.

    >>> own_id("v2", "v2:c7"), own_id("", "c7")
    ('c7', 'c7')
    """
    return called.removeprefix(before_ids(chunking))


def chunking_of(called: str, names: Collection[str]) -> str:
    """Return which of the chunkings ``names`` a chunk is of, by what a golden set calls it.

    >>> chunking_of("v2:c7", ["", "v2"]), chunking_of("urn:c7", ["", "v2"])
    ('v2', '')
    """
    name, _, _ = called.partition(BETWEEN)
    return name if name != called and name in names else UNNAMED


def named_in(chunk_id: str, said: object) -> str:
    """Return the chunking that a file says a chunk is of, if its id begins so; else the unnamed.

    >>> named_in("v2:c7", "v2"), named_in("c7", "v2"), named_in("v2:c7", None)
    ('v2', '', '')
    """
    is_named = isinstance(said, str) and said and _NAME.fullmatch(said)
    return str(said) if is_named and chunk_id.startswith(f"{said}{BETWEEN}") else UNNAMED


def before_ids(chunking: str) -> str:
    """Return what stands before every id of a chunking; nothing in the unnamed one."""
    return f"{chunking}{BETWEEN}" if chunking else ""


def chunking_in_words(name: str) -> str:
    """Return a chunking's name as sentences have it."""
    return f"chunking {name}" if name else "the unnamed chunking"
