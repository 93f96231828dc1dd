"""The language of a visitor's pages and of the errors that the grading pad shows.

An error says in English what is wrong, for logs and leads. A grader who reads another language gets
a sentence of that language for what may happen while grading.
"""

from __future__ import annotations

from starlette.requests import HTTPConnection

from labeler.errors import Busy, LabelerError
from labeler.model import Settings
from labeler.render.words import Words
from labeler.store import JudgmentConflict, StorageError, Store
from labeler.web.auth.tokens import Expired, Forbidden
from labeler.web.redact import redact_path

_REASONS: tuple[tuple[type[LabelerError], str], ...] = (
    (JudgmentConflict, "api.changed_elsewhere"),
    (Expired, "api.expired"),
    (Forbidden, "api.forbidden"),
    (StorageError, "api.storage"),
    (Busy, "api.busy"),
)


def words_for(connection: HTTPConnection, store: Store | None = None) -> Words:
    """Return the words for a visitor, by the golden set's setting if it can be read."""
    settings = Settings() if store is None else store.settings()
    return Words.of(settings, connection.headers.get("accept-language"))


def reason_for(error: LabelerError, path: str, words: Words) -> str:
    """Return why a grader's request failed, without the ``path`` of the golden set."""
    key = next((key for kind, key in _REASONS if isinstance(error, kind)), "api.other")
    return words.say(key, reason=redact_path(error, path))
