"""Sentences that graders read, by language: a package of keys and templates for each.

A template's placeholders stand in braces. ``{question}``, ``{questions}``, ``{passage}`` and
``{passages}`` are the team's names, with a capital where the placeholder has one. A sentence with
a plural is one template for each form, chosen by ``{n}``. A language is added by its package. The
pad fills in templates itself, see ``ui/js/words.js``; `Words.say` does the same here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from labeler.model import AUTOMATIC, GRADES, Settings, capitalize_first

Sentence = str | Mapping[str, str]

DEFAULT_LANGUAGE = "en"
# The first part of the keys that only pages made by the server use.
OF_SERVER = frozenset({"api", "generic", "message", "page", "sign_in"})
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_DEFAULTS = Settings()


@dataclass(frozen=True, slots=True)
class Language:
    """A language: its code, what it calls itself, its sentences, and what parts thousands."""

    code: str
    name: str
    sentences: Mapping[str, Sentence]
    thousands: str


def _read_languages() -> Mapping[str, Language]:
    """Return the languages by their codes, which are the names of their packages."""
    found = {}
    for each in iter_modules(__path__):
        file = import_module(f"{__name__}.{each.name}")
        found[each.name] = Language(each.name, file.NAME, file.SENTENCES, file.THOUSANDS)
    return MappingProxyType(found)


LANGUAGES = _read_languages()


@dataclass(frozen=True, slots=True)
class Words:
    """The sentences of one language, with the ``names`` that the team gives things."""

    language: Language
    names: Mapping[str, str]

    @classmethod
    def of(cls, settings: Settings, accepted: str | None = None) -> Words:
        """Return the words of a golden set's graders, for a browser that accepts languages."""
        language = LANGUAGES[choose_language(settings.language, accepted)]
        return cls(language, _names(localize(settings, language)))

    def say(self, key: str, **values: str | int) -> str:
        """Return a sentence with its placeholders filled in; raises `KeyError` for no such key.

        >>> Words.of(Settings(language="de")).say("count.passages", n=1200)
        '1.200 Textstellen'
        """
        found = self.language.sentences[key]
        template = found if isinstance(found, str) else found[("other", "one")[values["n"] == 1]]
        return _PLACEHOLDER.sub(lambda match: self._fill(match[1], values), template)

    def duration(self, milliseconds: int) -> str:
        """Say how long something takes, as ``timeWords`` of the pad does.

        >>> words = Words.of(Settings())
        >>> [words.duration(minutes * 60_000) for minutes in (0, 59, 62, 78, 700)]
        ['about 1 min', 'about 59 min', 'about 1 hour', 'about 1 h 20 min', 'about 12 hours']
        """
        minutes = max(1, (milliseconds + 30_000) // 60_000)
        if minutes < 60:
            return self.say("time.minutes", n=minutes)
        hours, tens = divmod((minutes + 5) // 10, 6)
        if tens and hours < 10:
            return self.say("time.hours_minutes", n=hours, minutes=10 * tens)
        return self.say("time.hours", n=(minutes + 30) // 60)

    def _fill(self, name: str, values: Mapping[str, str | int]) -> str:
        value = values[name] if name in values else self.names[name]
        if isinstance(value, int):
            return f"{value:,}".replace(",", self.language.thousands)
        return value

    def for_grades(self, key: str) -> tuple[str, str, str, str]:
        """Return what is said of each grade from 0 to 3."""
        zero, one, two, three = (self.say(f"{key}_{grade}") for grade in GRADES)
        return zero, one, two, three

    def for_browser(self) -> Mapping[str, Sentence]:
        """Return the templates that a component of the pages fills in."""
        return {
            key: sentence
            for key, sentence in self.language.sentences.items()
            if key.partition(".")[0] not in OF_SERVER
        }


def choose_language(setting: str, accepted: str | None) -> str:
    """Return the code of the language of the grading pages.

    ``accepted`` is a browser's Accept-Language; it counts where the setting is automatic.

    >>> choose_language("automatic", "fr, de-AT;q=0.9, en;q=0.5"), choose_language("en", "de")
    ('de', 'en')
    >>> choose_language("automatic", "fr"), choose_language("automatic", None)
    ('en', 'en')
    """
    wanted = [setting] if setting != AUTOMATIC else _by_preference(accepted or "")
    return next((code for code in wanted if code in LANGUAGES), DEFAULT_LANGUAGE)


def _by_preference(accepted: str) -> list[str]:
    """Return the languages of an Accept-Language header without their regions, the best first."""
    weighed = []
    for each in accepted.split(","):
        tag, *parameters = (part.strip() for part in each.split(";"))
        weight = 1.0
        for parameter in parameters:
            if match := re.fullmatch(r"q=(0(?:\.\d{1,3})?|1(?:\.0{1,3})?)", parameter):
                weight = float(match[1])
        if weight:
            weighed.append((weight, tag.partition("-")[0].lower()))
    return [tag for _, tag in sorted(weighed, key=lambda each: -each[0])]


def localize(settings: Settings, language: Language) -> Settings:
    """Return settings with what graders read in a language; what a lead has changed stays.

    >>> localize(Settings(passage=("Absatz", "Absätze")), LANGUAGES["de"]).passage
    ('Absatz', 'Absätze')
    """
    generic = Words(language, {})
    own = settings.changes_to(_DEFAULTS)
    question = (generic.say("generic.question"), generic.say("generic.questions"))
    passage = (generic.say("generic.passage"), generic.say("generic.passages"))
    found = replace(
        settings,
        question=settings.question if "question" in own else question,
        passage=settings.passage if "passage" in own else passage,
        words=settings.words if "words" in own else generic.for_grades("generic.word"),
        meanings=settings.meanings if "meanings" in own else generic.for_grades("generic.meaning"),
    )
    guideline = Words(language, _names(found)).say("generic.guideline")
    return replace(found, guideline=found.guideline or guideline)


def _names(settings: Settings) -> Mapping[str, str]:
    """Return the team's names by the placeholders they fill."""
    (question, questions), (passage, passages) = settings.question, settings.passage
    named = {"question": question, "questions": questions, "passage": passage, "passages": passages}
    return named | {capitalize_first(key): capitalize_first(name) for key, name in named.items()}
