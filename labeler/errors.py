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

_MOST_CHARACTERS = 1_000
_KEPT_END = 300  # characters kept at the end of a line, where the remedy is


class LabelerError(Exception):
    """A failure that is not a bug of the program; its message is written for people.

    A line of the message that has more than 1,000 characters is shortened in its middle.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(_shorten(each) if isinstance(each, str) else each for each in args))


def _shorten(text: str) -> str:
    if len(text) <= _MOST_CHARACTERS:
        return text
    return "\n".join(
        line
        if len(line) <= _MOST_CHARACTERS
        else f"{line[: _MOST_CHARACTERS - _KEPT_END - 3]} … {line[-_KEPT_END:]}"
        for line in text.split("\n")
    )


class BadInput(LabelerError, ValueError):
    """A file, value or database that cannot be used as given; nothing was changed."""


class Incomparable(BadInput):
    """Two runs without a query that both have results for; each can be evaluated alone."""


class StorageError(BadInput):
    """A failure of the database's file, disk or server; the same call may work later."""


class DatabaseUnavailable(StorageError):
    """A database server that does not answer; the caller retries automatically."""


class NotFound(LabelerError, LookupError):
    """A run, query, chunk or file that does not exist."""


class Busy(LabelerError):
    """A database that another process is writing to; a retry may succeed, nothing was changed."""
