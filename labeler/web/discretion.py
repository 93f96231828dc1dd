"""What visitors are told of an error: never where on this machine the golden set lies."""

from __future__ import annotations

import logging
import re

from labeler.errors import Away, LabelerError
from labeler.model import legible

OUT_OF_ORDER = "it cannot be opened; whoever runs labeler finds the reason in its log"
AWAY = "its database does not answer; all goes on by itself once it does"
A_PATH = re.compile(r"(^|[\s'])(/|\.\.|[A-Za-z]:\\)")
AN_ADDRESS = re.compile(r"postgres(?:ql)?://\S*[^\s:]:?(?=\s|$)")
A_SERVER = "the database does not answer"  # and what its driver says then names where it is

log = logging.getLogger(__name__)


def without_path(error: LabelerError, path: str) -> str:
    """Return what a visitor is told; what says more of where it lies goes to the log.

    >>> without_path(LabelerError("/srv/golden.db: damaged; restore a backup"), "/srv/golden.db")
    'the golden set: damaged; restore a backup'
    """
    said = str(error)
    told = AN_ADDRESS.sub("the golden set:", said)
    told = told.replace(path, "the golden set") if path else told
    if told == said or not (A_PATH.search(told) or A_SERVER in told):
        return told
    # it names where a link ends, or the folder that is missing
    log.error("%s", legible(said))
    return f"the golden set: {AWAY if isinstance(error, Away) else OUT_OF_ORDER}"
