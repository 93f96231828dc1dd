"""The language of a visitor's pages, and of the errors that they show.

Errors are raised in English, for logs and leads. The catalogue translates those that graders may
see; for any other, graders see a general sentence, and the error is logged.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from functools import cache

from starlette.requests import HTTPConnection

from labeler.errors import Busy, LabelerError
from labeler.model import Settings, escape_controls
from labeler.render.words import DEFAULT_LANGUAGE, LANGUAGES, Words
from labeler.store import StorageError, Store
from labeler.web.redact import redact_path

ENGINEERS_NAMES: Mapping[str, str] = {"passage": "chunk", "question": "query"}
"""What errors of the store, which engineers see too, call what graders have other names for."""
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
log = logging.getLogger(__name__)


def words_for(connection: HTTPConnection, store: Store | None = None) -> Words:
    """Return the words for a visitor, by the golden set's setting if it can be read."""
    settings = Settings() if store is None else store.settings.read()
    return Words.of(settings, connection.headers.get("accept-language"))


def words_at(connection: HTTPConnection, path: str) -> Words:
    """Return `words_for` a visitor of the golden set at ``path``, even if it cannot be read."""
    try:
        with Store(path) as store:
            return words_for(connection, store)
    except LabelerError:
        return words_for(connection)


def reason_for(error: LabelerError, path: str, words: Words) -> str:
    """Return an error's reason in a visitor's words, without the ``path`` of the golden set."""
    said = redact_path(error, path)
    translated = translate(said, words)
    if translated is not None:
        return translated
    if words.language.code == DEFAULT_LANGUAGE:
        return said
    log.warning("%s", escape_controls(said))
    return words.say("api.storage" if isinstance(error, StorageError | Busy) else "api.refused")


def translate(said: str, words: Words) -> str | None:
    """Return an error's sentence in other words, None if the catalogue does not have it.

    >>> german, own = Words.of(Settings(language="de")), Words.of(Settings(passage=("clause",) * 2))
    >>> translate("this was given by 'Ann', not by 'Bo'", german)
    "das kommt von 'Ann', nicht von 'Bo'"
    >>> translate("grade this passage first; then you can see what others gave", own)
    'grade this clause first; then you can see what others gave'
    >>> translate("there is no chunk 'c7' in this golden set", own)
    "there is no clause 'c7' in this golden set"
    """
    for key, sentence in _sentences():
        if found := sentence.fullmatch(said):
            return words.say(key, **found.groupdict())
    return None


@cache
def _sentences() -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return the catalogue's keys of errors, each with patterns for the sentence as raised."""
    graders_names = Words.of(Settings()).names
    return [
        (key, re.compile(_as_pattern(sentence, names), re.DOTALL))
        for names in (graders_names, {**graders_names, **ENGINEERS_NAMES})
        for key, sentence in LANGUAGES[DEFAULT_LANGUAGE].sentences.items()
        if key.startswith("api.") and isinstance(sentence, str)
    ]


def _as_pattern(template: str, names: Mapping[str, str]) -> str:
    """Return a pattern with the default names filled in, and any text for other placeholders."""
    named = _PLACEHOLDER.sub(lambda field: names.get(field[1], field[0]), template)
    parts = _PLACEHOLDER.split(named)
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = (f"(?P<{field}>.*)" for field in parts[1::2])
    return "".join(parts)
