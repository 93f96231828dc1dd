"""Gate files: reading the TOML, with the line of each mistake, and resolving rules into checks.

A server reads its gate file every time it is needed, because people edit it meanwhile.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from labeler.analysis.gate.passed_runs import PassedRuns, read_passed_runs
from labeler.analysis.gate.rules import (
    ALL_QUERIES,
    Check,
    Gate,
    LimitTerms,
    Rule,
    Threshold,
    line_of,
)
from labeler.errors import BadInput, LabelerError, NotFound
from labeler.evaluation import PRESETS, Conventions, Scoreboard
from labeler.measures import Measure, parse
from labeler.model import LEAKED_CHOICES, SPLITS, escape_controls

MOST_BYTES = 100_000
MOST_CONFIDENCE = 0.999
LARGEST = 10**9
EXAMPLE = '"nDCG@10" = {at_least = 0.75, drop = 0.02}'

_TEXT_KEYS = ("run", "baseline", "last_passing", "golden", "preset", "split", "leaked", "weighted")
_KNOWN_TEXTS = {"preset": PRESETS, "split": SPLITS, "leaked": LEAKED_CHOICES}
_WHOLE_KEYS = ("rel", "prompt_k", "budget")
_TERM_KEYS = (
    "confidence",
    "anytime",
    "most_unjudged",
    "most_holes",
    "fewest_queries",
    "most_absent",
)
_CURRENT_KEYS = {"budget": "prompt_k", "most_holes": "most_unjudged"}  # by their earlier names
_LIMIT_KEYS = ("at_least", "drop")
_SECTIONS = ("overall", "task", "bucket", "each")
KeyPath = tuple[str, ...]


def read_gate(data: bytes, name: str) -> Gate:
    r"""Parse a gate file; ``name`` is its name in messages.

    A number in place of a table is the minimum value. Raises `BadInput`, with the line.

    >>> gate = read_gate(b'run = "new"\n[overall]\n"nDCG@10" = 0.75', "gate.toml")
    >>> gate.run, gate.rules[0].at_least, gate.rules[0].terms.fewest_queries
    ('new', 0.75, 10)
    >>> read_gate(b'[overall]\n"nCDG@10" = 0.75', "gate.toml")
    Traceback (most recent call last):
    labeler.errors.BadInput: gate.toml:2: no measure is called 'nCDG'; did you mean nDCG?
    """
    return _GateReader(data, name).gate()


class _GateReader:
    """A parser of one file, which keeps the text to report mistakes with their line."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.text = self._decoded(data)
        try:
            self.given = tomllib.loads(self.text)
        except ValueError as error:  # bad TOML, or a number with thousands of digits
            raise BadInput(
                f"{name}: is not TOML: {escape_controls(str(error))}; a measure's "
                "name stands in quotes, "
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
        """Return the gate that the file defines."""
        self._check_keys((), self.given, (*_TEXT_KEYS, *_WHOLE_KEYS, *_TERM_KEYS, *_SECTIONS))
        texts = {
            key: self._text((key,), self.given[key]) for key in _TEXT_KEYS if key in self.given
        }
        whole = {
            _CURRENT_KEYS.get(key, key): self._whole((key,), self.given[key])
            for key in _WHOLE_KEYS
            if key in self.given
        }
        for key, known in _KNOWN_TEXTS.items():
            if key in texts and texts[key] not in known:
                wanted = f"{key!r} is {', '.join(known[:-1])} or {known[-1]}, not "
                raise self._bad(
                    (key,), f"{wanted}{_quote(texts[key])}; {suggest_nearest(texts[key], known)}"
                )
        if whole.get("rel", 1) > 3:
            raise self._bad(("rel",), "'rel' is 1, 2 or 3, the lowest grade that is relevant")
        rules = tuple(self._rules(self._terms((), self.given, LimitTerms())))
        if not rules:
            raise BadInput(
                f"{self.name}: asks nothing; give it a section, such as [overall] with {EXAMPLE}"
            )
        gate = Gate(
            self.name, rules, self.text, rel=whole.get("rel"), prompt_k=whole.get("prompt_k")
        )
        return replace(gate, **texts)  # type: ignore[arg-type]  # all of them are texts

    def _rules(self, terms: LimitTerms) -> Iterator[Rule]:
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

    def _buckets(self, given: object, terms: LimitTerms) -> Iterator[Rule]:
        for facet, buckets in self._table(("bucket",), given).items():
            for bucket, inner in self._table(("bucket", facet), buckets).items():
                where = ("bucket", facet, bucket)
                if not isinstance(inner, dict):
                    raise self._bad(where, "a bucket is written [bucket.FACET.NAME]")
                yield from self._section(where, facet, bucket, inner, terms)

    def _section(
        self,
        where: KeyPath,
        facet: str | None,
        bucket: str | None,
        given: object,
        terms: LimitTerms,
    ) -> Iterator[Rule]:
        table = self._table(where, given)
        terms = self._terms(where, table, terms)
        seen: dict[object, str] = {}
        for key, limits in table.items():
            if key in _TERM_KEYS:
                continue
            place = (*where, key)
            rule = self._rule(place, facet, bucket, limits, terms)
            measure = parse(key)
            if measure in seen:
                raise self._bad(place, f"{key!r} and {seen[measure]!r} are the same measure")
            seen[measure] = key
            yield rule
        if not seen:
            raise self._bad(where, f"this section asks nothing; give it {EXAMPLE}")

    def _rule(
        self,
        place: KeyPath,
        facet: str | None,
        bucket: str | None,
        given: object,
        terms: LimitTerms,
    ) -> Rule:
        name = place[-1]
        try:
            is_count = parse(name).definition.count
        except BadInput as error:
            reason = str(error).partition("is not a measure: ")[2] or str(error)
            raise self._bad(place, reason) from None
        table = given if isinstance(given, dict) else {"at_least": given}
        self._check_keys(place, table, (*_LIMIT_KEYS, *_TERM_KEYS))
        most = math.inf if is_count else 1.0
        limits = {
            key: self._number(place if table is not given else (*place, key), key, table[key], most)
            for key in _LIMIT_KEYS
            if key in table
        }
        if not limits:
            raise self._bad(place, f"{name!r} asks nothing; give it at_least, drop, or both")
        least, drop = limits.get("at_least"), limits.get("drop")
        terms = self._terms(place, table, terms)
        if terms.anytime:
            self._check_anytime(place, terms, is_count=is_count)
        return Rule(name, facet, bucket, least, drop, terms, place)

    def _check_anytime(self, place: KeyPath, terms: LimitTerms, *, is_count: bool) -> None:
        """Raise `BadInput` where no bound can hold at every look."""
        if terms.confidence is None:
            raise self._bad(place, "'anytime' needs a confidence, such as confidence = 0.95")
        if is_count:
            raise self._bad(
                place, f"{place[-1]!r} is a count; 'anytime' needs a measure from 0 to 1"
            )
        if "weighted" in self.given:
            raise self._bad(place, "'anytime' is not for weighted means; leave one of them out")

    def _terms(self, where: KeyPath, table: Mapping[str, Any], terms: LimitTerms) -> LimitTerms:
        """Return the terms of a section, which override those of the enclosing one."""
        given: dict[str, Any] = {}
        for key in _TERM_KEYS:
            if key not in table:
                continue
            place = (*where, key)
            if key == "fewest_queries":
                given[key] = self._whole(place, table[key])
            elif key == "anytime":
                given[key] = self._is_true(place, table[key])
            elif key == "confidence":
                given[key] = self._confidence(place, table[key])
            else:
                given[_CURRENT_KEYS.get(key, key)] = self._number(place, key, table[key], 1.0)
        return replace(terms, **given)

    def _confidence(self, place: KeyPath, value: object) -> float:
        found = self._number(place, place[-1], value, math.inf)
        if not 0.5 < found <= MOST_CONFIDENCE:
            raise self._bad(
                place, f"a confidence is above 0.5 and up to {MOST_CONFIDENCE}, such as 0.95"
            )
        return found

    def _is_true(self, place: KeyPath, value: object) -> bool:
        if not isinstance(value, bool):
            raise self._bad(place, f"{place[-1]!r} is true or false, not {_quote(value)}")
        return value

    def _number(self, place: KeyPath, name: str, value: object, most: float) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not isinstance(value, int | float) or not is_number or not 0 <= value <= most:
            wanted = "a number from 0 to 1" if most == 1 else "a number from 0"
            raise self._bad(place, f"{name!r} is {wanted}, not {_quote(value)}")
        if not value < LARGEST:
            raise self._bad(place, f"{name!r} is at most {LARGEST:,}, not {_quote(value)}")
        return float(value)

    def _whole(self, place: KeyPath, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < LARGEST:
            raise self._bad(place, f"{place[-1]!r} is a whole number from 1, not {_quote(value)}")
        return value

    def _text(self, place: KeyPath, value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self._bad(place, f"{place[-1]!r} is a text in quotes, not {_quote(value)}")
        return value

    def _table(self, place: KeyPath, value: object) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._bad(place, f"{'.'.join(place)} is a section, not {_quote(value)}")
        return value

    def _check_keys(self, where: KeyPath, table: Mapping[str, Any], known: Iterable[str]) -> None:
        known = list(known)
        for key in table:
            if key not in known:
                raise self._bad(
                    (*where, key),
                    f"{_quote(key)} means nothing here; {suggest_nearest(key, known)}",
                )

    def _bad(self, place: KeyPath, what: str) -> BadInput:
        return BadInput(f"{self.name}:{line_of(self.text, place)}: {what}")


def suggest_nearest(word: str, known: Iterable[str]) -> str:
    """Suggest the known words that are most similar, or list the first ten known ones.

    >>> (
    ...     suggest_nearest("refnud", ["refund", "billing"]),
    ...     suggest_nearest("xyz", ["refund"]),
    ...     suggest_nearest("x", []),
    ... )
    ("did you mean 'refund'?", "there are: 'refund'", 'there is none')
    """
    words = list(known)
    near = difflib.get_close_matches(word, words, n=2, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(map(_quote, near))}?"
    if not words:
        return "there is none"
    more = f" and {len(words) - 10:,} more" if len(words) > 10 else ""
    return f"there are: {', '.join(map(_quote, words[:10]))}{more}"


def _quote(value: object) -> str:
    """Return a value in quotes for a message, shortened if it is long."""
    text = escape_controls(repr(value))
    return text if len(text) <= 80 else f"{text[:79]}…"


GATE_VARIABLE = "LABELER_GATE"
"""The environment variable with the path of a server's gate file."""

MOST_PASSED_BYTES = 10_000_000  # largest file of passed runs


def read_gate_file(path: Path) -> Gate:
    """Read a gate file; raises `NotFound` or `BadInput`."""
    return read_gate(read_limited_bytes(path, "a gate file"), path.name)


def served_gate(environment: Mapping[str, str]) -> tuple[Gate | None, str]:
    """Return a server's gate file as it is now, and what is wrong with it.

    None without a gate file, or where it cannot be read: then the sentence says why.
    """
    path = environment.get(GATE_VARIABLE)
    if not path:
        return None, ""
    try:
        return read_gate_file(Path(path)), ""
    except LabelerError as error:
        return None, str(error).replace(path, Path(path).name)


def served_passed_runs(environment: Mapping[str, str], gate: Gate) -> tuple[PassedRuns | None, str]:
    """Return the runs that passed a server's gate file, and why there are none.

    Both are empty where the file has no ``last_passing``.
    """
    if gate.last_passing is None:
        return None, ""
    path = Path(environment[GATE_VARIABLE]).parent / gate.last_passing
    if not path.exists():
        return None, f"{gate.name}: no run has passed yet, so no drop from one is shown"
    try:
        return read_passed_runs(
            read_limited_bytes(path, "a file of runs that passed"), path.name
        ), ""
    except LabelerError as error:
        return None, f"{str(error).replace(str(path), path.name)}; no drop from one is shown"


def read_limited_bytes(path: Path, what: str) -> bytes:
    """Return the bytes of a file; raises `NotFound`, or `BadInput` if unreadable or too large."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_PASSED_BYTES + 1)
    except FileNotFoundError:
        raise NotFound(f"{path}: there is no such file; name {what}") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > MOST_PASSED_BYTES:
        raise BadInput(f"{path}: has more than {MOST_PASSED_BYTES:,} bytes; that is not {what}")
    return data


def resolve_checks(gate: Gate, board: Scoreboard) -> tuple[Check, ...]:
    """Return the checks of a gate for runs of this board, in the order of its file.

    A rule for each bucket of a facet skips the buckets that have a separate rule for the same
    measure. Raises `BadInput`, with the line, for a facet or a bucket that no query is in.
    """
    rules = [(rule, _measure(rule, board)) for rule in gate.rules]
    own = {(rule.facet, rule.bucket, measure) for rule, measure in rules if rule.bucket is not None}
    return tuple(
        Check(measure, rule.facet, bucket, rule.at_least, rule.drop, rule.terms)
        for rule, measure in rules
        for bucket in _buckets_of_rule(gate, board, rule)
        if not _is_for_each_bucket(rule) or (rule.facet, bucket, measure) not in own
    )


def thresholds_for(
    gate: Gate,
    board: Scoreboard,
    measure: Measure,
    facet: str | None = None,
    bucket: str | None = None,
) -> tuple[Threshold, ...]:
    """Return the minimum values a gate sets for a measure over all queries, or over one bucket.

    Empty where it sets none. Rules for buckets that do not exist are ignored.

    >>> from labeler.evaluation import Conventions, collect
    >>> board = Scoreboard(collect({"q": {"c": 1}}, {"A": {"q": ["c"]}}), Conventions.of())
    >>> gate = read_gate(b'[overall]\\n"MRR" = 0.6', "gate.toml")
    >>> [measure] = board.conventions.measures("RR")
    >>> [(each.at_least, each.source) for each in thresholds_for(gate, board, measure)]
    [(0.6, 'gate.toml')]
    """
    found = rules_for(gate, board, measure, facet, bucket)
    return tuple(
        Threshold(rule.at_least, rule.terms, gate.name)
        for rule in found
        if rule.at_least is not None
    )


def rules_for(
    gate: Gate, board: Scoreboard, measure: Measure, facet: str | None, bucket: str | None
) -> tuple[Rule, ...]:
    """Return a gate's rules for a measure over all queries, or over one bucket.

    As in `resolve_checks`, a bucket's separate rule replaces that for each bucket of its facet.
    """
    (resolved,) = board.resolve([measure])
    own = [rule for rule in gate.rules if rule.facet == facet and _measure(rule, board) == resolved]
    if bucket is None:
        return tuple(rule for rule in own if rule.facet is None)
    return tuple(
        [rule for rule in own if rule.bucket == bucket]
        or [rule for rule in own if _is_for_each_bucket(rule)]
    )


def why_other_conventions(gate: Gate, chosen: Conventions) -> str:
    """Explain why the thresholds of a gate do not apply to these numbers; empty where they do."""
    asked = {"preset": gate.preset, "rel": gate.rel, "prompt_k": gate.prompt_k}
    own = {"preset": chosen.preset, "rel": chosen.rel, "prompt_k": chosen.prompt_k}
    if gate.prompt_k is not None and chosen.prompt_k_by_task:
        own["prompt_k"] = None
    for name, value in asked.items():
        if value is not None and value != own[name]:
            return f"{gate.name} asks for values by {name} {value}, so its thresholds are not shown"
    by = None if chosen.weighted is None else chosen.weighted.facet
    if gate.weighted != by:
        how = f"weighted by {gate.weighted}" if gate.weighted else "that count queries the same"
        return f"{gate.name} asks for values {how}, so its thresholds are not shown"
    if gate.selected != chosen.selected:
        of = gate.selected.describe() or ALL_QUERIES
        return f"{gate.name} asks for values of {of}, so its thresholds are not shown"
    return ""


def _is_for_each_bucket(rule: Rule) -> bool:
    return rule.facet is not None and rule.bucket is None


def _measure(rule: Rule, board: Scoreboard) -> Measure:
    (measure,) = board.resolve(board.conventions.measures([rule.measure]))
    return measure


def _buckets_of_rule(gate: Gate, board: Scoreboard, rule: Rule) -> Iterable[str | None]:
    """Return the buckets a rule applies to; None means all queries."""
    if rule.facet is None:
        return (None,)
    where, facets = f"{gate.name}:{gate.line_of(rule)}", board.facets
    if rule.facet not in facets:
        if rule.facet == "task":
            raise BadInput(f"{where}: no query of the golden set has a task")
        raise BadInput(
            f"{where}: the golden set has no facet {rule.facet!r}; "
            f"{suggest_nearest(rule.facet, facets)}"
        )
    buckets = facets[rule.facet]
    if rule.bucket is None:
        if not buckets:
            raise BadInput(f"{where}: no query that is looked at has a bucket of {rule.facet!r}")
        return buckets
    if rule.bucket not in buckets:
        what = "task" if rule.facet == "task" else f"bucket of {rule.facet!r}"
        raise BadInput(
            f"{where}: no query is in {what} {rule.bucket!r}; "
            f"{suggest_nearest(rule.bucket, buckets)}"
        )
    return (rule.bucket,)


def with_runs(gate: Gate, run: str | None, baseline: str | None) -> Gate:
    """Return a gate with another run, or another baseline, than its file names.

    Raises `BadInput` without a run, where both are the same, and for a drop from no run.
    """
    run = gate.run if run is None else run
    changed = replace(gate, run=run, baseline=gate.baseline if baseline is None else baseline)
    for wrong in _mistakes_in(changed):
        raise BadInput(f"{gate.name}: {wrong}")
    return changed


def _mistakes_in(gate: Gate) -> Iterator[str]:
    if gate.run is None:
        yield 'does not say which run is judged; give it run = "NAME", or name it with --run'
    if gate.run == gate.baseline:
        yield f"the run and its baseline are both {gate.run!r}; name two different runs"
    if gate.baseline is None and gate.last_passing is None:
        for rule in gate.rules:
            if rule.drop is not None:
                yield (
                    f"line {gate.line_of(rule)} allows a drop, but from what? give the file "
                    'baseline = "RUN", or last_passing = "FILE.json"'
                )
