"""What can go wrong, as a caller may want to catch it; knows nothing but words.

::

    LabelerError
    * BadInput   (ValueError)    a file, a value or a database that cannot be used as it is
      * Incomparable           two runs without a query that both have results for
      * Unusable               its file, disk or server does not work at the moment
        * Away                 its server does not answer, and is asked again and again
    * NotFound   (LookupError)   a run, a query, a chunk or a file that is not there
    * Busy                       another writer holds the database; the same call may work later

A message names the place, what is wrong there and what would be right:
``runs/a.trec:14: grade must be 0, 1, 2 or 3, not 5``.
"""

LONGEST = 1_000
_END = 300  # characters of a message's end that stay, since the remedy stands there


class LabelerError(Exception):
    """Any failure that is the world's and not the program's; its text is meant for people.

    A line of it that has more than 1,000 characters is cut in its middle.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(_cut(each) if isinstance(each, str) else each for each in args))


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return "\n".join(
        line if len(line) <= LONGEST else f"{line[: LONGEST - _END - 3]} … {line[-_END:]}"
        for line in text.split("\n")
    )


class BadInput(LabelerError, ValueError):
    """Something given cannot be used; nothing was changed."""


class Incomparable(BadInput):
    """Two runs cannot be set against each other; each may be looked at alone."""


class Unusable(BadInput):
    """The file, the disk under it or its server does not work: what was asked may work later."""


class Away(Unusable):
    """The server that a database is at does not answer now: whoever waits goes on by themselves."""


class NotFound(LabelerError, LookupError):
    """Something named does not exist."""


class Busy(LabelerError):
    """Another process is writing; nothing was changed and a retry may succeed."""
