"""Exceptions that callers may want to catch.

::

    LabelerError
    * BadInput   (ValueError)    a file, a value or a database that cannot be used as it is
      * Incomparable           two runs without a query that both have results for
      * StorageError           its file, disk or server does not work at the moment
        * DatabaseUnavailable  its server does not answer; the caller retries automatically
    * NotFound   (LookupError)   a run, a query, a chunk or a file that does not exist
    * Busy                       another writer holds the database; the same call may work later

A message names the place, what is wrong there and what would be right:
``runs/a.trec:14: grade must be 0, 1, 2 or 3, not 5``.
"""

MOST_CHARACTERS = 1_000
_KEPT_END = 300  # characters of a message's end that stay, since the remedy stands there


class LabelerError(Exception):
    """Any failure that is the world's and not the program's; its text is meant for people.

    A line of it that has more than 1,000 characters is cut in its middle.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(_shorten(each) if isinstance(each, str) else each for each in args))


def _shorten(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return "\n".join(
        line
        if len(line) <= MOST_CHARACTERS
        else f"{line[: MOST_CHARACTERS - _KEPT_END - 3]} … {line[-_KEPT_END:]}"
        for line in text.split("\n")
    )


class BadInput(LabelerError, ValueError):
    """Something given cannot be used; nothing was changed."""


class Incomparable(BadInput):
    """Two runs cannot be set against each other; each may be looked at alone."""


class StorageError(BadInput):
    """The file, the disk under it or its server does not work: what was asked may work later."""


class DatabaseUnavailable(StorageError):
    """The server that a database is at does not answer now: whoever waits goes on by themselves."""


class NotFound(LabelerError, LookupError):
    """Something named does not exist."""


class Busy(LabelerError):
    """Another process is writing; nothing was changed and a retry may succeed."""
