"""Redaction of file paths and database addresses in messages shown to visitors.

A message that still contains a path, such as the target of a symbolic link, goes to the log, and
the visitor gets a general sentence.
"""

from __future__ import annotations

import logging
import re

from labeler.errors import DatabaseUnavailable, LabelerError
from labeler.model import escape_controls

OUT_OF_ORDER = "it can't be opened; the reason is in the server's log"
UNAVAILABLE = "the database isn't answering; work resumes automatically when it does"
PATH_PATTERN = re.compile(r"(^|[\s'])(/|\.\.|[A-Za-z]:\\)")
ADDRESS_PATTERN = re.compile(r"postgres(?:ql)?://\S*[^\s:]:?(?=\s|$)")
SERVER_MESSAGE = "the database does not answer"  # the driver's text after it has the address

log = logging.getLogger(__name__)


def redact_path(error: LabelerError, path: str) -> str:
    """Return the message of an error without paths and addresses; the full text may go to the log.

    >>> redact_path(LabelerError("/srv/golden.db: damaged; restore a backup"), "/srv/golden.db")
    'the golden set: damaged; restore a backup'
    """
    message = str(error)
    redacted = ADDRESS_PATTERN.sub("the golden set:", message)
    redacted = redacted.replace(path, "the golden set") if path else redacted
    if redacted == message or not (PATH_PATTERN.search(redacted) or SERVER_MESSAGE in redacted):
        return redacted
    # the message still contains a path: a symlink's target or a missing folder
    log.error("%s", escape_controls(message))
    return (
        f"the golden set: {UNAVAILABLE if isinstance(error, DatabaseUnavailable) else OUT_OF_ORDER}"
    )
