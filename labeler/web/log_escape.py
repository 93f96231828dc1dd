"""Log records with control characters escaped, for every logger of the process.

User data in a message can neither send control sequences to a terminal that shows the log, nor fake
a line.
"""

from __future__ import annotations

import logging

from labeler.model import escape_controls

KEPT_CHARACTERS = "\n\t"  # in messages and tracebacks, but not in a message's arguments


class EscapedRecord(logging.LogRecord):
    """A log record whose message and traceback hold no control characters but `KEPT_CHARACTERS`."""

    _traceback: str | None = None

    def getMessage(self) -> str:  # noqa: N802  # logging's name
        """Return the escaped message; line breaks in its arguments are escaped, too."""
        if isinstance(self.args, tuple):
            self.args = tuple(escape_controls(a) if isinstance(a, str) else a for a in self.args)
        return escape_controls(super().getMessage(), keep=KEPT_CHARACTERS)

    @property
    def exc_text(self) -> str | None:
        """The escaped traceback, once a handler has formatted it."""
        return self._traceback

    @exc_text.setter
    def exc_text(self, text: str | None) -> None:
        self._traceback = None if text is None else escape_controls(text, keep=KEPT_CHARACTERS)


def escape_log_records() -> None:
    """Make all loggers of this process escape their records, also Streamlit's and the server's."""
    logging.setLogRecordFactory(EscapedRecord)
