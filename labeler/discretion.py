"""What visitors are told of an error: never where on this machine the golden set lies."""

from __future__ import annotations

import logging
import re

from labeler.errors import LabelerError
from labeler.model import legible

OUT_OF_ORDER = "it cannot be opened; whoever runs labeler finds the reason in its log"
A_PATH = re.compile(r"(^|[\s'])(/|\.\.|[A-Za-z]:\\)")

log = logging.getLogger(__name__)


def without_path(error: LabelerError, path: str) -> str:
    """Return what a visitor is told; what says more of where it lies goes to the log.

    >>> without_path(LabelerError("/srv/golden.db: damaged; restore a backup"), "/srv/golden.db")
    'the golden set: damaged; restore a backup'
    """
    said = str(error)
    told = said.replace(path, "the golden set") if path else said
    if told == said or not A_PATH.search(told):
        return told
    # it names where a link ends, or the folder that is missing
    log.error("%s", legible(said))
    return f"the golden set: {OUT_OF_ORDER}"
