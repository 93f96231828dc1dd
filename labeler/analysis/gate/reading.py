"""The gate file: TOML in, a frozen record out, every slip named with its line; judges nothing."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from labeler.analysis.gate.lines import line_of
from labeler.analysis.gate.records import Gate, Rule, Terms
from labeler.errors import BadInput
from labeler.evaluation import PRESETS
from labeler.measures import parse
from labeler.model import LEAKED, SPLITS, legible

MOST_BYTES = 100_000
MOST_CONFIDENCE = 0.999
LARGEST = 10**9
EXAMPLE = '"nDCG@10" = {at_least = 0.75, drop = 0.02}'

_TEXTS = ("run", "baseline", "last_passing", "golden", "preset", "split", "leaked", "weighted")
_KNOWN = {"preset": PRESETS, "split": SPLITS, "leaked": LEAKED}
_WHOLE = ("rel", "budget")
_TERMS = ("confidence", "most_holes", "fewest_queries", "most_absent")
_LIMITS = ("at_least", "drop")
_SECTIONS = ("overall", "task", "bucket", "each")
Keys = tuple[str, ...]


def read_gate(data: bytes, name: str) -> Gate:
    r"""Read a gate file; ``name`` is what messages call it.

    A number in place of a table is the least value. Raises `BadInput`, with the line.

    >>> gate = read_gate(b'run = "new"\n[overall]\n"nDCG@10" = 0.75', "gate.toml")
    >>> gate.run, gate.rules[0].at_least, gate.rules[0].terms.fewest_queries
    ('new', 0.75, 10)
    >>> read_gate(b'[overall]\n"nCDG@10" = 0.75', "gate.toml")
    Traceback (most recent call last):
    labeler.errors.BadInput: gate.toml:2: no measure is called 'nCDG'; did you mean nDCG?
    """
    return _Reader(data, name).gate()


class _Reader:
    """Reads one file; knows its text, so that a slip can be named with its line."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.text = self._decoded(data)
        try:
            self.given = tomllib.loads(self.text)
        except ValueError as error:  # of TOML, or of a number with thousands of digits
            raise BadInput(
                f"{name}: is not TOML: {legible(str(error))}; a measure's name stands in quotes, "
                f"as in {EXAMPLE}"
            ) from None
        except RecursionError:
            raise BadInput(f"{name}: is nested too deep for a gate file") from None

    def _decoded(self, data: bytes) -> str:
        if len(data) > MOST_BYTES:
            raise BadInput(f"{self.name}: has {len(data):,} bytes; that is no gate file")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(f"{self.name}: is not UTF-8 (byte {error.start}); save it so") from None

    def gate(self) -> Gate:
        """Return all the file says."""
        self._check_keys((), self.given, (*_TEXTS, *_WHOLE, *_TERMS, *_SECTIONS))
        texts = {key: self._text((key,), self.given[key]) for key in _TEXTS if key in self.given}
        whole = {key: self._whole((key,), self.given[key]) for key in _WHOLE if key in self.given}
        for key, known in _KNOWN.items():
            if key in texts and texts[key] not in known:
                said = f"{key!r} is {', '.join(known[:-1])} or {known[-1]}, not "
                raise self._bad((key,), f"{said}{_shown(texts[key])}; {nearest(texts[key], known)}")
        if whole.get("rel", 1) > 3:
            raise self._bad(("rel",), "'rel' is 1, 2 or 3, the lowest grade that is relevant")
        rules = tuple(self._rules(self._terms((), self.given, Terms())))
        if not rules:
            raise BadInput(
                f"{self.name}: asks nothing; give it a section, such as [overall] with {EXAMPLE}"
            )
        gate = Gate(self.name, rules, self.text, rel=whole.get("rel"), budget=whole.get("budget"))
        return replace(gate, **texts)  # type: ignore[arg-type]  # all of them are texts

    def _rules(self, terms: Terms) -> Iterator[Rule]:
        for section, given in self.given.items():
            if section == "overall":
                yield from self._section((section,), None, None, given, terms)
            elif section == "task":
                for task, inner in self._table((section,), given).items():
                    yield from self._section((section, task), "task", task, inner, terms)
            elif section == "each":
                for facet, inner in self._table((section,), given).items():
                    yield from self._section((section, facet), facet, None, inner, terms)
            elif section == "bucket":
                yield from self._buckets(given, terms)

    def _buckets(self, given: object, terms: Terms) -> Iterator[Rule]:
        for facet, buckets in self._table(("bucket",), given).items():
            for bucket, inner in self._table(("bucket", facet), buckets).items():
                where = ("bucket", facet, bucket)
                if not isinstance(inner, dict):
                    raise self._bad(where, "a bucket is written [bucket.FACET.NAME]")
                yield from self._section(where, facet, bucket, inner, terms)

    def _section(
        self, where: Keys, facet: str | None, bucket: str | None, given: object, terms: Terms
    ) -> Iterator[Rule]:
        table = self._table(where, given)
        terms = self._terms(where, table, terms)
        seen: dict[object, str] = {}
        for key, asked in table.items():
            if key in _TERMS:
                continue
            place = (*where, key)
            rule = self._rule(place, facet, bucket, asked, terms)
            measure = parse(key)
            if measure in seen:
                raise self._bad(place, f"{key!r} and {seen[measure]!r} are the same measure")
            seen[measure] = key
            yield rule
        if not seen:
            raise self._bad(where, f"this section asks nothing; give it {EXAMPLE}")

    def _rule(
        self, place: Keys, facet: str | None, bucket: str | None, asked: object, terms: Terms
    ) -> Rule:
        name = place[-1]
        try:
            is_count = parse(name).definition.count
        except BadInput as error:
            said = str(error).partition("is not a measure: ")[2] or str(error)
            raise self._bad(place, said) from None
        table = asked if isinstance(asked, dict) else {"at_least": asked}
        self._check_keys(place, table, (*_LIMITS, *_TERMS))
        most = math.inf if is_count else 1.0
        limits = {
            key: self._number(place if table is not asked else (*place, key), key, table[key], most)
            for key in _LIMITS
            if key in table
        }
        if not limits:
            raise self._bad(place, f"{name!r} asks nothing; give it at_least, drop, or both")
        least, drop = limits.get("at_least"), limits.get("drop")
        terms = self._terms(place, table, terms)
        return Rule(name, facet, bucket, least, drop, terms, place)

    def _terms(self, where: Keys, table: Mapping[str, Any], terms: Terms) -> Terms:
        """Return the terms of a section: its own, and where it says nothing those around it."""
        said: dict[str, Any] = {}
        for key in _TERMS:
            if key not in table:
                continue
            place = (*where, key)
            if key == "fewest_queries":
                said[key] = self._whole(place, table[key])
            elif key == "confidence":
                said[key] = self._confidence(place, table[key])
            else:
                said[key] = self._number(place, key, table[key], 1.0)
        return replace(terms, **said)

    def _confidence(self, place: Keys, value: object) -> float:
        found = self._number(place, place[-1], value, math.inf)
        if not 0.5 < found <= MOST_CONFIDENCE:
            raise self._bad(
                place, f"a confidence is above 0.5 and up to {MOST_CONFIDENCE}, such as 0.95"
            )
        return found

    def _number(self, place: Keys, name: str, value: object, most: float) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not isinstance(value, int | float) or not is_number or not 0 <= value <= most:
            wanted = "a number from 0 to 1" if most == 1 else "a number from 0"
            raise self._bad(place, f"{name!r} is {wanted}, not {_shown(value)}")
        if not value < LARGEST:
            raise self._bad(place, f"{name!r} is at most {LARGEST:,}, not {_shown(value)}")
        return float(value)

    def _whole(self, place: Keys, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < LARGEST:
            raise self._bad(place, f"{place[-1]!r} is a whole number from 1, not {_shown(value)}")
        return value

    def _text(self, place: Keys, value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self._bad(place, f"{place[-1]!r} is a text in quotes, not {_shown(value)}")
        return value

    def _table(self, place: Keys, value: object) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._bad(place, f"{'.'.join(place)} is a section, not {_shown(value)}")
        return value

    def _check_keys(self, where: Keys, table: Mapping[str, Any], known: Iterable[str]) -> None:
        known = list(known)
        for key in table:
            if key not in known:
                raise self._bad(
                    (*where, key), f"{_shown(key)} means nothing here; {nearest(key, known)}"
                )

    def _bad(self, place: Keys, what: str) -> BadInput:
        return BadInput(f"{self.name}:{line_of(self.text, place)}: {what}")


def nearest(word: str, known: Iterable[str]) -> str:
    """Say which known words are the nearest, or which there are: the first of many.

    >>> nearest("refnud", ["refund", "billing"]), nearest("xyz", ["refund"]), nearest("x", [])
    ("did you mean 'refund'?", "there are: 'refund'", 'there is none')
    """
    words = list(known)
    near = difflib.get_close_matches(word, words, n=2, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(map(_shown, near))}?"
    if not words:
        return "there is none"
    more = f" and {len(words) - 10:,} more" if len(words) > 10 else ""
    return f"there are: {', '.join(map(_shown, words[:10]))}{more}"


def _shown(value: object) -> str:
    """Return a value as messages quote it, a long one cut."""
    text = legible(repr(value))
    return text if len(text) <= 80 else f"{text[:79]}…"
