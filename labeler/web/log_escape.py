"""Log records in which control characters are escaped, whoever writes them.

So user data in a message cannot act on the terminal that shows the log, and cannot fake a line.
"""

from __future__ import annotations

import logging

from labeler.model import escape_controls

KEPT_CHARACTERS = "\n\t"  # of messages and tracebacks; what is put into a message has none


class EscapedRecord(logging.LogRecord):
    """A record whose message and traceback can move no cursor, and whose names begin no line."""

    _traceback: str | None = None

    def getMessage(self) -> str:  # noqa: N802  # logging's name
        """Return the message with what was put into it, written out."""
        if isinstance(self.args, tuple):
            self.args = tuple(escape_controls(a) if isinstance(a, str) else a for a in self.args)
        return escape_controls(super().getMessage(), keep=KEPT_CHARACTERS)

    @property
    def exc_text(self) -> str | None:
        """The traceback, once a handler has formatted it."""
        return self._traceback

    @exc_text.setter
    def exc_text(self, text: str | None) -> None:
        self._traceback = None if text is None else escape_controls(text, keep=KEPT_CHARACTERS)


def escape_log_records() -> None:
    """Let every logger of this process write such records: ours, Streamlit's and the server's."""
    logging.setLogRecordFactory(EscapedRecord)
