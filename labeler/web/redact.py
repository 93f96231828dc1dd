"""Redaction of file paths and database addresses in messages shown to visitors.

A message that still contains a path, such as the target of a symbolic link, goes to the log,
and the visitor is told a general sentence.
"""

from __future__ import annotations

import logging
import re

from labeler.errors import DatabaseUnavailable, LabelerError
from labeler.model import escape_controls

OUT_OF_ORDER = "it cannot be opened; whoever runs labeler finds the reason in its log"
UNAVAILABLE = "its database does not answer; all goes on by itself once it does"
PATH_PATTERN = re.compile(r"(^|[\s'])(/|\.\.|[A-Za-z]:\\)")
ADDRESS_PATTERN = re.compile(r"postgres(?:ql)?://\S*[^\s:]:?(?=\s|$)")
SERVER_MESSAGE = "the database does not answer"  # and what its driver says then names where it is

log = logging.getLogger(__name__)


def redact_path(error: LabelerError, path: str) -> str:
    """Return what a visitor is told; what says more of where it lies goes to the log.

    >>> redact_path(LabelerError("/srv/golden.db: damaged; restore a backup"), "/srv/golden.db")
    'the golden set: damaged; restore a backup'
    """
    said = str(error)
    told = ADDRESS_PATTERN.sub("the golden set:", said)
    told = told.replace(path, "the golden set") if path else told
    if told == said or not (PATH_PATTERN.search(told) or SERVER_MESSAGE in told):
        return told
    # it names where a link ends, or the folder that is missing
    log.error("%s", escape_controls(said))
    return (
        f"the golden set: {UNAVAILABLE if isinstance(error, DatabaseUnavailable) else OUT_OF_ORDER}"
    )
