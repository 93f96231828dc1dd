"""Chunk ids where a golden set holds several chunkings of the same documents.

Most chunkers number their chunks from the start, so that the same id means a different text in each
chunking. The golden set therefore adds the chunking's name as a prefix: a chunk of the default
chunking, which every set has, keeps its own id, any other is ``CHUNKING:ID``. Only loaders see the
ids of the files. All other code uses the full id, so it cannot mix chunkings, and every list,
export and log that names a chunk also says which chunking it is from.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from labeler.errors import BadInput

DEFAULT_CHUNKING = ""
DEFAULT_LABEL = "default"  # refused as a name, so no chunking can have it
CHUNKING_SEPARATOR = ":"
_NAME = re.compile(r"[\w.-]{1,60}")


def check_chunking(name: str) -> str:
    """Return ``name`` if it is valid for a chunking, else raise `BadInput`.

    It has no colon, which ends the prefix of an id, and no blanks, which separate ids in a file.
    """
    if name == DEFAULT_LABEL:
        raise BadInput(f"{name!r} is the chunking without a name; choose another, such as v2")
    if name != DEFAULT_CHUNKING and not _NAME.fullmatch(name):
        raise BadInput(
            f"a chunking is named by up to 60 letters, digits, dots, dashes and underscores, such "
            f"as v2, not {name!r}"
        )
    return name


def chunking_label(name: str) -> str:
    """Return a chunking's label in URLs and select boxes; `chunking_from_label` reverses it.

    >>> chunking_label(""), chunking_from_label("default"), chunking_from_label("v2")
    ('default', '', 'v2')
    """
    return name or DEFAULT_LABEL


def chunking_from_label(shown: str) -> str:
    """Return the chunking that has this label."""
    return DEFAULT_CHUNKING if shown == DEFAULT_LABEL else shown


def full_chunk_id(chunking: str, chunk_id: str) -> str:
    """Return the golden set's id of a chunk that a file of this chunking calls ``chunk_id``.

    Files written by a golden set have the prefix already; it is not added twice.

    >>> full_chunk_id("", "c7"), full_chunk_id("v2", "c7"), full_chunk_id("v2", "v2:c7")
    ('c7', 'v2:c7', 'v2:c7')
    """
    prefix = chunk_id_prefix(chunking)
    return chunk_id if chunk_id.startswith(prefix) else f"{prefix}{chunk_id}"


def own_chunk_id(chunking: str, full_id: str) -> str:
    """Return a chunk's id within its chunking, without the prefix.

    >>> own_chunk_id("v2", "v2:c7"), own_chunk_id("", "c7")
    ('c7', 'c7')
    """
    return full_id.removeprefix(chunk_id_prefix(chunking))


def chunking_of(full_id: str, names: Collection[str]) -> str:
    """Return which of the chunkings ``names`` the full id of a chunk names, else the default.

    >>> chunking_of("v2:c7", ["", "v2"]), chunking_of("urn:c7", ["", "v2"])
    ('v2', '')
    """
    name, _, _ = full_id.partition(CHUNKING_SEPARATOR)
    return name if name != full_id and name in names else DEFAULT_CHUNKING


def chunking_in_file(chunk_id: str, stated: object) -> str:
    """Return the chunking a file states for a chunk if the id has its prefix, else the default.

    >>> (
    ...     chunking_in_file("v2:c7", "v2"),
    ...     chunking_in_file("c7", "v2"),
    ...     chunking_in_file("v2:c7", None),
    ... )
    ('v2', '', '')
    """
    is_named = isinstance(stated, str) and stated and _NAME.fullmatch(stated)
    return (
        str(stated)
        if is_named and chunk_id.startswith(f"{stated}{CHUNKING_SEPARATOR}")
        else DEFAULT_CHUNKING
    )


def chunk_id_prefix(chunking: str) -> str:
    """Return the prefix of all full ids of a chunking; empty for the default one."""
    return f"{chunking}{CHUNKING_SEPARATOR}" if chunking else ""


def describe_chunking(name: str) -> str:
    """Return the words for a chunking within a sentence."""
    return f"chunking {name}" if name else "the default chunking"
