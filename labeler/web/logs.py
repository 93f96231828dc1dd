"""The server's log, as letters: what would act on a terminal is written out, whoever logs it."""

from __future__ import annotations

import logging

from labeler.model import legible

LAYOUT = "\n\t"  # of messages and tracebacks; what is put into a message has none


class LegibleRecord(logging.LogRecord):
    """A record whose message and traceback can move no cursor, and whose names begin no line."""

    _traceback: str | None = None

    def getMessage(self) -> str:  # noqa: N802  # logging's name
        """Return the message with what was put into it, written out."""
        if isinstance(self.args, tuple):
            self.args = tuple(legible(a) if isinstance(a, str) else a for a in self.args)
        return legible(super().getMessage(), keep=LAYOUT)

    @property
    def exc_text(self) -> str | None:
        """The traceback, once a handler has formatted it."""
        return self._traceback

    @exc_text.setter
    def exc_text(self, text: str | None) -> None:
        self._traceback = None if text is None else legible(text, keep=LAYOUT)


def keep_legible() -> None:
    """Let every logger of this process write such records: ours, Streamlit's and the server's."""
    logging.setLogRecordFactory(LegibleRecord)
