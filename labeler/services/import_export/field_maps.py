"""Field maps of a golden set: the one that read a file last is tried on files of no known kind."""

from __future__ import annotations

from contextlib import suppress
from os import PathLike

from labeler import formats
from labeler.errors import LabelerError
from labeler.formats import FieldMap, Guess


def recognise(
    path: str | PathLike[str], content: bytes | None = None, *, remembered: str = ""
) -> tuple[Guess, FieldMap | None]:
    """Return the kind of a file, and the ``remembered`` map if that alone can read it.

    ``remembered`` is the setting ``field_map`` of a golden set. A file of which only a person can
    say what it is stays so.
    """
    found = formats.guess(path, content)
    if found.kind is not None or found.could_be or not remembered:
        return found, None
    with suppress(LabelerError):
        field_map = formats.map_named(remembered)
        read = formats.preview_retrievals(path, content, field_map)
        if read.has_chunks:
            return Guess("records", f"{read.read_as}, by the field map kept here"), field_map
    return found, None
