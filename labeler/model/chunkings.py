"""Chunk ids where a golden set holds several chunkings of the same documents.

Most chunkers number their chunks from the start, so that one id means another text in each
chunking. The golden set therefore puts the chunking's name in front: a chunk of the default
chunking, which every set has, is called by its own id alone, any other by ``CHUNKING:ID``. Only
loaders see the ids of the files. All other code uses the full id, so it cannot mix chunkings,
and every list, export and log that names a chunk also says which chunking it is from.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from labeler.errors import BadInput

DEFAULT_CHUNKING = ""
DEFAULT_LABEL = "(unnamed)"  # as none can be called
CHUNKING_SEPARATOR = ":"
_NAME = re.compile(r"[\w.-]{1,60}")


def check_chunking(name: str) -> str:
    """Return ``name`` if a chunking can have it, else raise `BadInput`.

    It stands before a colon in ids, which some files set apart by blanks.
    """
    if name != DEFAULT_CHUNKING and not _NAME.fullmatch(name):
        raise BadInput(
            f"a chunking is named by up to 60 letters, digits, dots, dashes and underscores, such "
            f"as v2, not {name!r}"
        )
    return name


def chunking_label(name: str) -> str:
    """Return what an address and a box call a chunking; `chunking_from_label` is the way back.

    >>> chunking_label(""), chunking_from_label("(unnamed)"), chunking_from_label("v2")
    ('(unnamed)', '', 'v2')
    """
    return name or DEFAULT_LABEL


def chunking_from_label(shown: str) -> str:
    """Return the chunking that an address or a box means."""
    return DEFAULT_CHUNKING if shown == DEFAULT_LABEL else shown


def full_chunk_id(chunking: str, chunk_id: str) -> str:
    """Return what a golden set calls a chunk that a file of this chunking calls ``chunk_id``.

    A file that a golden set wrote has the whole name already.

    >>> full_chunk_id("", "c7"), full_chunk_id("v2", "c7"), full_chunk_id("v2", "v2:c7")
    ('c7', 'v2:c7', 'v2:c7')
    """
    before = chunk_id_prefix(chunking)
    return chunk_id if chunk_id.startswith(before) else f"{before}{chunk_id}"


def own_chunk_id(chunking: str, called: str) -> str:
    """Return the id that a chunk has within its chunking.

    >>> own_chunk_id("v2", "v2:c7"), own_chunk_id("", "c7")
    ('c7', 'c7')
    """
    return called.removeprefix(chunk_id_prefix(chunking))


def chunking_of(called: str, names: Collection[str]) -> str:
    """Return which of the chunkings ``names`` a chunk is of, by what a golden set calls it.

    >>> chunking_of("v2:c7", ["", "v2"]), chunking_of("urn:c7", ["", "v2"])
    ('v2', '')
    """
    name, _, _ = called.partition(CHUNKING_SEPARATOR)
    return name if name != called and name in names else DEFAULT_CHUNKING


def chunking_in_file(chunk_id: str, said: object) -> str:
    """Return the chunking that a file says a chunk is of, if its id begins so; else the unnamed.

    >>> (
    ...     chunking_in_file("v2:c7", "v2"),
    ...     chunking_in_file("c7", "v2"),
    ...     chunking_in_file("v2:c7", None),
    ... )
    ('v2', '', '')
    """
    is_named = isinstance(said, str) and said and _NAME.fullmatch(said)
    return (
        str(said)
        if is_named and chunk_id.startswith(f"{said}{CHUNKING_SEPARATOR}")
        else DEFAULT_CHUNKING
    )


def chunk_id_prefix(chunking: str) -> str:
    """Return what stands before every id of a chunking; nothing in the unnamed one."""
    return f"{chunking}{CHUNKING_SEPARATOR}" if chunking else ""


def describe_chunking(name: str) -> str:
    """Return a chunking's name as sentences have it."""
    return f"chunking {name}" if name else "the unnamed chunking"
