"""Measures with all their parameters, and their ir_measures names, parsed and written."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Literal

from labeler.errors import BadInput
from labeler.measures.definition import PARAMETERS, Definition, is_whole
from labeler.measures.hits import WHOLE_LIST
from labeler.measures.registry import MEASURES

Cutoff = int | Literal["prompt"] | None
Reads = Literal["chunks", "documents", "evidence"]

PROMPT: Literal["prompt"] = "prompt"
_PROMPT_NAMES = (PROMPT, "budget")  # files and links may have the earlier name


def _fold(name: str) -> str:
    return re.sub(r"[-_]", "", name).lower()


_RELEVANT_RETRIEVED = "numrelret"  # NumRet of relevant chunks only, also trec_eval's name
_NAME_OF_ALIAS: Mapping[str, str] = MappingProxyType(
    {_fold(alias): d.name for d in MEASURES.values() for alias in (d.name, *d.aliases)}
    | {_RELEVANT_RETRIEVED: "NumRet"}
)


_CHARACTERS = "c"  # follows a number of characters; a cut-off has no unit
_ZERO_OR_ONE_AT_1 = ("P", "RR", "Judged")  # 0 or 1 for a single rank
CACHED_MEASURES = 512  # measures whose parsing or spelling is cached
_identity_of = attrgetter("name", "cutoff", *PARAMETERS)
_family_of = attrgetter("name", *PARAMETERS)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with all its parameters; `str` returns its full ir_measures name.

    ``cutoff`` is None for the whole list, or ``"prompt"`` for prompt_k, which can depend on a
    query's task. Other parameters are set exactly where the measure takes them: ``gains`` (one for
    each grade) in place of ``dcg``, and ``NumRet`` may have no ``rel``. A prompt of ``characters``
    replaces a cut-off. ``asked`` are the names it was requested by, if any; they do not affect
    equality. It ``reads`` the chunks of a ranked list, their documents, or the evidence they hold;
    for the last two it ``crosses``: its values compare runs of different chunkings.

    >>> str(Measure("nDCG", 10, dcg="exp-log2"))
    "nDCG(dcg='exp-log2')@10"
    >>> str(Measure("nDCG", 10, gains=(0, 1, 10, 100), judged_only=True))
    'nDCG(gains={0: 0, 1: 1, 2: 10, 3: 100}, judged_only=True)@10'
    >>> [parse(name).reads for name in ("R@5", "R(documents=True)@5", "EvidenceR@5")]
    ['chunks', 'documents', 'evidence']
    """

    name: str
    cutoff: Cutoff = None
    rel: int | None = None
    dcg: str | None = None
    gains: tuple[int, int, int, int] | None = None
    p: float | None = None
    beta: float | None = None
    max: int | None = None
    recall: float | None = None
    characters: int | None = None
    documents: bool = False
    judged_only: bool = False
    asked: tuple[str, ...] = field(default=(), compare=False, repr=False)
    reads: Reads = field(init=False, compare=False, repr=False)
    crosses: bool = field(init=False, compare=False, repr=False)
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        definition = MEASURES.get(self.name)
        if definition is None:
            raise BadInput(f"no measure is called {self.name!r}; there are {', '.join(MEASURES)}")
        _check_cutoff(definition, self.cutoff)
        if self.characters is not None and self.cutoff is not None:
            raise BadInput(f"{self.name} takes a cut-off or a number of characters, not both")
        for parameter in PARAMETERS:
            value = getattr(self, parameter)
            if not self._fits(definition, parameter, value):
                raise BadInput(f"{self.name} {definition.takes_all}; not {parameter}={value!r}")
        # Stored, since scoreboards read these hundreds of times for each grade.
        reads = "documents" if self.documents else definition.reads
        derived = {"reads": reads, "crosses": reads != "chunks", "_hash": hash(_identity_of(self))}
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out the hash: that of a text differs between processes."""
        return Measure, tuple(getattr(self, each.name) for each in fields(self) if each.init)

    def _fits(self, definition: Definition, parameter: str, value: object) -> bool:
        if parameter not in definition.parameters:
            return value is None or value is False
        if parameter == "dcg" and self.gains is not None:
            return value is None
        return (value is None and parameter in definition.optional) or PARAMETERS[
            parameter
        ].is_right(value)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters the measure takes and their values, without the cut-off."""
        given = {name: getattr(self, name) for name in PARAMETERS}
        taken = self.definition.parameters
        return {name: given[name] for name in given if name in taken and given[name] is not None}

    @property
    def family(self) -> tuple[object, ...]:
        """A key without the cut-off; `score` takes all chunk or document measures that share it.

        >>> parse("P@5").family == parse("P@10").family, parse("P@5").family == parse("R@5").family
        (True, False)
        """
        own = self.cutoff if self.cutoff == PROMPT or self.reads == "evidence" else None
        return own, *_family_of(self)

    @property
    def least_grade(self) -> int | None:
        """The lowest grade that makes a query's value defined; None if every value is.

        >>> [parse(name).least_grade for name in ("P(rel=2)@5", "nDCG(gains={1: 0})", "Judged")]
        [2, 2, None]
        """
        if self.definition.always_defined:
            return None
        if self.gains is not None:
            return next(grade for grade, gain in enumerate(self.gains) if gain)
        return self.rel or 1

    @property
    def is_zero_or_one(self) -> bool:
        """Whether every query's value is 0 or 1, whatever the grades.

        >>> [parse(name).is_zero_or_one for name in ("Success@3", "P@1", "P@5", "R@1", "nDCG@1")]
        [True, True, False, False, False]
        """
        return self.name == "Success" or (self.cutoff == 1 and self.name in _ZERO_OR_ONE_AT_1)

    @property
    def label(self) -> str:
        """The name for headings, without parameters except ``documents``: ``nDCG@10``."""
        return f"{self.name}{'(documents=True)' if self.documents else ''}{_suffix(self)}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names it was requested by, else its full name.

        >>> parse("MRR").names, Measure("RR", rel=1).names
        (('MRR',), ('RR(rel=1)',))
        """
        return self.asked or (str(self),)

    @property
    def definition(self) -> Definition:
        """The definition of this measure."""
        return MEASURES[self.name]

    def __str__(self) -> str:
        return _full_name(self)


class UniqueMeasures(tuple[Measure, ...]):
    """Measures without repeats; what scoreboards need of all of them is computed once."""

    @cached_property
    def kinds(self) -> tuple[UniqueMeasures, ...]:
        """Measures that do not cross chunkings, then those that do; without empty groups."""
        crossing = UniqueMeasures(measure for measure in self if measure.crosses)
        others = UniqueMeasures(measure for measure in self if not measure.crosses)
        return (others, crossing) if others and crossing else (self,)

    @cached_property
    def use_prompt_k(self) -> bool:
        """Whether one of them depends on prompt_k."""
        return any(measure.cutoff == PROMPT for measure in self)

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out the hash: that of a text differs between processes."""
        return UniqueMeasures, (tuple(self),)


@lru_cache(maxsize=CACHED_MEASURES)
def _full_name(measure: Measure) -> str:
    inside = ", ".join(
        f"{name}={PARAMETERS[name].write(value)}"
        for name, value in measure.parameters.items()
        if not (PARAMETERS[name].unsaid and value == PARAMETERS[name].default)
        and name != measure.definition.after_at
    )
    return f"{measure.name}({inside}){_suffix(measure)}" if inside else measure.label


def _suffix(measure: Measure) -> str:
    """Return what follows a measure's name: its cut-off, characters, or IPrec's recall."""
    if measure.characters is not None:
        return f"@{measure.characters}{_CHARACTERS}"
    value = measure.recall if measure.cutoff is None else measure.cutoff
    return "" if value is None else f"@{value}"


def _check_cutoff(definition: Definition, cutoff: Cutoff) -> None:
    name = definition.name
    if cutoff is None and definition.cutoff == "must":
        raise BadInput(f"{name} needs a cut-off, as in {definition.example}")
    if cutoff is not None and definition.cutoff == "never":
        instead = f"; {definition.instead} has one" if definition.instead else ""
        raise BadInput(f"{name} takes no cut-off{instead}")
    if cutoff not in (None, PROMPT) and not is_whole(cutoff, 1, WHOLE_LIST - 1):
        raise BadInput(f"the cut-off of {name} is a whole number from 1, not {cutoff}")


def current_name(text: str) -> str:
    """Return the name of a measure with ``@prompt`` where earlier versions wrote ``@budget``.

    >>> current_name("R(rel=2)@budget")
    'R(rel=2)@prompt'
    """
    return re.sub(r"@(\s*)budget\b", rf"@\1{PROMPT}", text, flags=re.IGNORECASE)


@lru_cache(maxsize=CACHED_MEASURES)
def parse(text: str, *, rel: int = 1, dcg: str = "exp-log2") -> Measure:
    """Parse a measure's name; ``rel`` and ``dcg`` apply where it does not set them.

    Case does not matter, and the names other tools use (MRR, MAP, Recall, HitRate) are understood.
    By default ``p`` is 0.8, ``beta`` 1 and ``max`` 3. Raises `BadInput` with the nearest valid
    names.

    >>> str(parse("mrr@10", rel=2))
    'RR(rel=2)@10'
    >>> str(parse("R(rel=3)@prompt", rel=2))
    'R(rel=3)@prompt'
    >>> str(parse("RBP")), str(parse("ERR(max=4)@10"))
    ('RBP(rel=1, p=0.8)', 'ERR(max=4)@10')
    """
    match = _SPELLING.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"{text!r} is not a measure; one is written like nDCG@10 or P(rel=2)@5")
    definition = MEASURES[_find_name(match["name"])]
    try:
        given = _read_parameters(match["inside"] or "", definition)
        if _fold(match["name"]) == _RELEVANT_RETRIEVED:
            given.setdefault("rel", rel)
        cutoff = None
        if definition.cutoff == "never" and definition.after_at:
            given |= _read_after_at(match["cutoff"], definition)
        elif characters := _read_characters(match["cutoff"], definition):
            given["characters"] = characters
        else:
            cutoff = _read_cutoff(match["cutoff"])
        parameters = _add_defaults(given, definition, {"rel": rel, "dcg": dcg})
        return Measure(definition.name, cutoff, **parameters, asked=(current_name(text).strip(),))
    except BadInput as error:
        raise BadInput(f"{text!r} is not a measure: {error}") from None


def parse_all(texts: str | Iterable[str], *, rel: int = 1, dcg: str = "exp-log2") -> UniqueMeasures:
    """Parse measures from one text or several, each with one name or more, without repeats.

    Names are separated by spaces or commas, which may also be inside parentheses. A measure
    requested by two names is returned once, with both.

    >>> [m.names for m in parse_all(["nDCG@10 P( rel = 2 )@5", "AP,MAP"])]
    [('nDCG@10',), ('P( rel = 2 )@5',), ('AP', 'MAP')]
    """
    lines = [texts] if isinstance(texts, str) else texts
    names = [name for line in lines for name in _NAME_IN_LIST.findall(line)]
    return without_repeats(parse(name, rel=rel, dcg=dcg) for name in names)


def without_repeats(measures: Iterable[Measure]) -> UniqueMeasures:
    """Return each measure once, in order of first appearance, with all its names.

    >>> [m.names for m in without_repeats([parse("RR"), parse("AP"), parse("MRR")])]
    [('RR', 'MRR'), ('AP',)]
    """
    if isinstance(measures, UniqueMeasures):
        return measures
    given = tuple(measures)
    if len(set(given)) == len(given):
        return UniqueMeasures(given)
    names: dict[Measure, dict[str, None]] = {}
    for measure in given:
        names.setdefault(measure, {}).update(dict.fromkeys(measure.names))
    return UniqueMeasures(replace(measure, asked=tuple(asked)) for measure, asked in names.items())


_SPELLING = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_-]*)\s*(?:\((?P<inside>[^()]*)\))?\s*(?:@\s*(?P<cutoff>[^\s@()]+))?"
)
_NAME_IN_LIST = re.compile(r"(?:[^\s,(]|\([^)]*\)?)+")
_PARAMETER_IN_LIST = re.compile(r"(?:[^,{]|\{[^}]*\}?)+")


def _find_name(text: str) -> str:
    if _fold(text) in _NAME_OF_ALIAS:
        return _NAME_OF_ALIAS[_fold(text)]
    near = difflib.get_close_matches(_fold(text), _NAME_OF_ALIAS, n=6, cutoff=0.5)
    names = list(dict.fromkeys(_NAME_OF_ALIAS[name] for name in near))[:3]
    hint = f"did you mean {' or '.join(names)}?" if names else f"there are {', '.join(MEASURES)}"
    raise BadInput(f"no measure is called {text!r}; {hint}")


def _read_cutoff(text: str | None) -> Cutoff:
    if text is None:
        return None
    if text.lower() in _PROMPT_NAMES:
        return PROMPT
    if not re.fullmatch("[0-9]{1,9}", text):
        raise BadInput(f"a cut-off is a whole number from 1, or 'prompt', not {text!r}")
    return int(text)


def _read_characters(text: str | None, definition: Definition) -> int | None:
    """Parse a number of characters, as 2000c; None for anything else."""
    match = re.fullmatch(f"([0-9]{{1,9}}){_CHARACTERS}", (text or "").lower())
    if match is None:
        return None
    if "characters" not in definition.parameters:
        some = ", ".join(name for name, each in MEASURES.items() if each.reads == "evidence")
        raise BadInput(f"characters are counted by measures of the evidence alone: {some}")
    if not int(match[1]):
        raise BadInput("a prompt has at least one character, as in EvidenceR@2000c")
    return int(match[1])


def _read_after_at(text: str | None, definition: Definition) -> dict[str, Any]:
    """Parse the parameter written after @."""
    parameter = PARAMETERS[definition.after_at]
    value = None if text is None else parameter.read(text)
    if not parameter.is_right(value):
        raise BadInput(f"{definition.name} takes {parameter.takes}, as in {definition.example}")
    return {definition.after_at: value}


def _read_parameters(text: str, definition: Definition) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for part in filter(None, map(str.strip, _PARAMETER_IN_LIST.findall(text))):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name in given:
            raise BadInput(f"{name} is given twice")
        if name in definition.parameters:
            given[name] = PARAMETERS[name].read(value)
            if PARAMETERS[name].is_right(given[name]):
                continue
        raise BadInput(f"{definition.name} {definition.takes_all}; {part!r} is not among them")
    return given


def _add_defaults(
    given: dict[str, Any], definition: Definition, defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Add defaults of missing parameters; ir_measures may write ``gains`` with dcg='log2'."""
    if "gains" in given and given.get("dcg", "log2") == "log2":
        return {**given, "dcg": None}
    missing = set(definition.parameters) - set(definition.optional) - set(given)
    added = {name: defaults.get(name, PARAMETERS[name].default) for name in missing}
    return {**given, **added}
