"""What the measures are called and mean: the registry, and names read and written."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from labeler.errors import BadInput
from labeler.measures import contributions, functions
from labeler.measures.functions import GAINS, WHOLE_LIST, Floats, Hits, Ints

Cutoff = int | Literal["budget"] | None

BUDGET: Literal["budget"] = "budget"


@dataclass(frozen=True, slots=True)
class Definition:
    """What a measure means, for people and for programs.

    ``terms`` gives one number per hit, summing to ``function``'s value of the row; ``depends``
    says in a sentence how a term depends on other chunks, and is empty where it does not.
    """

    name: str
    function: Callable[..., Floats]
    terms: Callable[..., Floats]
    meaning: str
    hides: str
    formula: str
    example: str
    aliases: tuple[str, ...] = ()
    depends: str = ""
    takes_rel: bool = False
    takes_dcg: bool = False
    needs_cutoff: bool = False

    @property
    def takes(self) -> str:
        """The parameters the measure takes, as words after its name."""
        if self.takes_rel:
            return "takes rel=1, rel=2 or rel=3"
        return "takes dcg='log2' or dcg='exp-log2'" if self.takes_dcg else "takes no parameters"


_DEFINITIONS = (
    Definition(
        name="nDCG",
        function=functions.ndcg,
        terms=contributions.ndcg,
        meaning="How much of the best possible gain the ranking collects, early ranks counting "
        "most.",
        hides="Which grades were missed: one chunk of grade 3 can outweigh several of grade 1.",
        formula="Σ gain(grade)/log2(rank+1) over the top k, divided by the same sum for the "
        "query's golden grades in best order",
        example="nDCG@10",
        aliases=("NormalizedDCG",),
        takes_dcg=True,
    ),
    Definition(
        name="P",
        function=functions.precision,
        terms=contributions.precision,
        meaning="The share of the top k that is relevant.",
        hides="The order inside the top k, and that a query with few relevant chunks cannot "
        "reach 1.",
        formula="relevant in the top k / k",
        example="P@5",
        aliases=("Precision",),
        takes_rel=True,
        needs_cutoff=True,
    ),
    Definition(
        name="R",
        function=functions.recall,
        terms=contributions.recall,
        meaning="The share of the query's known relevant chunks that the top k hold.",
        hides="The order inside the top k, and relevant chunks that nobody has graded yet.",
        formula="relevant in the top k / known relevant",
        example="R@5",
        aliases=("Recall",),
        takes_rel=True,
    ),
    Definition(
        name="Success",
        function=functions.success,
        terms=contributions.success,
        meaning="Whether the top k hold at least one relevant chunk (hit rate).",
        hides="Everything after the first relevant chunk.",
        formula="1 if relevant in the top k ≥ 1, else 0",
        example="Success@3",
        aliases=("Hit", "Hits", "HitRate", "SuccessRate"),
        depends="Terms depend on each other: only the first relevant chunk has one, and any that "
        "overtakes it takes the term.",
        takes_rel=True,
        needs_cutoff=True,
    ),
    Definition(
        name="RR",
        function=functions.reciprocal_rank,
        terms=contributions.reciprocal_rank,
        meaning="How early the first relevant chunk comes; its mean over queries is MRR.",
        hides="Everything after the first relevant chunk.",
        formula="1 / rank of the first relevant chunk, 0 if none is in the top k",
        example="RR@10",
        aliases=("MRR", "ReciprocalRank", "MeanReciprocalRank"),
        depends="Terms depend on each other: only the first relevant chunk has one, and any that "
        "overtakes it takes the term.",
        takes_rel=True,
    ),
    Definition(
        name="AP",
        function=functions.average_precision,
        terms=contributions.average_precision,
        meaning="Precision at the rank of each relevant chunk, averaged over all known ones; its "
        "mean over queries is MAP.",
        hides="How relevant a chunk is: grades above the threshold all count the same.",
        formula="Σ P@rank over the relevant chunks in the top k / known relevant",
        example="AP",
        aliases=("MAP", "AveragePrecision", "MeanAveragePrecision"),
        depends="Terms depend on each other: a chunk's term is the precision at its rank, which "
        "counts the relevant chunks above it too.",
        takes_rel=True,
    ),
    Definition(
        name="Judged",
        function=functions.judged,
        terms=contributions.judged,
        meaning="The share of the top k that somebody graded: how far to trust the others.",
        hides="Whether the graded chunks are any good.",
        formula="graded in the top k / min(k, length of the list)",
        example="Judged@10",
    ),
)

MEASURES: Mapping[str, Definition] = MappingProxyType({d.name: d for d in _DEFINITIONS})


def _fold(name: str) -> str:
    return re.sub(r"[-_]", "", name).lower()


_NAMES: Mapping[str, str] = MappingProxyType(
    {_fold(alias): d.name for d in _DEFINITIONS for alias in (d.name, *d.aliases)}
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with all its parameters. Its text is the ir_measures name, fully spelled.

    ``cutoff`` is None for the whole list, or ``"budget"`` where it is the prompt budget, which a
    query's task may change. ``rel`` and ``dcg`` are given exactly where the measure takes them.

    >>> str(Measure("nDCG", 10, dcg="exp-log2"))
    "nDCG(dcg='exp-log2')@10"
    """

    name: str
    cutoff: Cutoff = None
    rel: int | None = None
    dcg: str | None = None

    def __post_init__(self) -> None:
        definition = MEASURES.get(self.name)
        if definition is None:
            raise BadInput(f"no measure is called {self.name!r}; there are {', '.join(MEASURES)}")
        if self.cutoff is None and definition.needs_cutoff:
            raise BadInput(f"{self.name} needs a cut-off, as in {definition.example}")
        if self.cutoff not in (None, BUDGET) and self.cutoff not in range(1, WHOLE_LIST):
            raise BadInput(
                f"the cut-off of {self.name} is a whole number from 1, not {self.cutoff}"
            )
        rels = (1, 2, 3) if definition.takes_rel else (None,)
        dcgs = tuple(GAINS) if definition.takes_dcg else (None,)
        if self.rel not in rels or self.dcg not in dcgs:
            raise BadInput(f"{self.name} {definition.takes}")

    @property
    def parameters(self) -> dict[str, int | str]:
        """The parameters the measure takes, without the cut-off."""
        given = {"rel": self.rel, "dcg": self.dcg}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def label(self) -> str:
        """The name without parameters, for headings: ``nDCG@10``."""
        return self.name if self.cutoff is None else f"{self.name}@{self.cutoff}"

    @property
    def definition(self) -> Definition:
        """What this measure means."""
        return MEASURES[self.name]

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.name}({inside}){cutoff}" if inside else f"{self.name}{cutoff}"


def parse(text: str, *, rel: int = 1, dcg: str = "exp-log2") -> Measure:
    """Read a measure's name; what it leaves open comes from ``rel`` and ``dcg``.

    Upper and lower case, and the names other tools use (MRR, MAP, Recall, HitRate), are
    understood. Raises `BadInput` naming the nearest right names.

    >>> str(parse("mrr@10", rel=2))
    'RR(rel=2)@10'
    >>> str(parse("R(rel=3)@budget", rel=2))
    'R(rel=3)@budget'
    """
    match = _SPELLING.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"{text!r} is not a measure; one is written like nDCG@10 or P(rel=2)@5")
    definition = MEASURES[_find_name(match["name"])]
    parameters: dict[str, Any] = {"rel": rel} if definition.takes_rel else {}
    parameters |= {"dcg": dcg} if definition.takes_dcg else {}
    try:
        parameters |= _read_parameters(match["inside"] or "", definition)
        return Measure(definition.name, _read_cutoff(match["cutoff"]), **parameters)
    except BadInput as error:
        raise BadInput(f"{text!r}: {error}") from None


def parse_all(
    texts: str | Iterable[str], *, rel: int = 1, dcg: str = "exp-log2"
) -> tuple[Measure, ...]:
    """Read measures from one text or several, each holding one name or more, without repeats.

    Names are set apart by spaces or commas, which may also stand inside parentheses.

    >>> [m.label for m in parse_all(["nDCG@10 P( rel = 2 )@5", "AP,RR"])]
    ['nDCG@10', 'P@5', 'AP', 'RR']
    """
    lines = [texts] if isinstance(texts, str) else texts
    names = [name for line in lines for name in _NAME_IN_LIST.findall(line)]
    return tuple(dict.fromkeys(parse(name, rel=rel, dcg=dcg) for name in names))


_SPELLING = re.compile(
    r"(?P<name>[A-Za-z_-]+)\s*(?:\((?P<inside>[^()]*)\))?\s*(?:@\s*(?P<cutoff>\w+))?"
)
_NAME_IN_LIST = re.compile(r"(?:[^\s,(]|\([^)]*\)?)+")


def _find_name(text: str) -> str:
    if _fold(text) in _NAMES:
        return _NAMES[_fold(text)]
    near = difflib.get_close_matches(_fold(text), _NAMES, n=6, cutoff=0.5)
    names = list(dict.fromkeys(_NAMES[name] for name in near))[:3]
    hint = f"did you mean {' or '.join(names)}?" if names else f"there are {', '.join(MEASURES)}"
    raise BadInput(f"no measure is called {text!r}; {hint}")


def _read_cutoff(text: str | None) -> Cutoff:
    if text is None:
        return None
    if text.lower() == BUDGET:
        return BUDGET
    if not re.fullmatch("[0-9]{1,9}", text):
        raise BadInput(f"a cut-off is a whole number from 1, or 'budget', not {text!r}")
    return int(text)


def _read_parameters(text: str, definition: Definition) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name in given or name not in ("rel", "dcg"):
            raise BadInput(f"{definition.name} {definition.takes}; {part!r} is not among them")
        given[name] = int(value) if value in ("1", "2", "3") else value.strip("'\"")
    return given


def score(hits: Hits, measure: Measure, k: int | Ints | None = None) -> Floats:
    """Compute one value for each row of ``hits``, NaN where the measure is undefined.

    ``k`` stands in for the measure's cut-off: a number, or one for each row. It must be given for
    ``@budget``, since a measure does not know the prompt budget.

    >>> score(Hits.of([[0, 1], [0, 0]]), parse("RR")).tolist()
    [0.5, nan]
    """
    return measure.definition.function(hits, _limit(measure, k), **measure.parameters)


def terms(hits: Hits, measure: Measure, k: int | Ints | None = None) -> Floats:
    """Return what each hit adds to the value of its row; ``k`` is as for `score`.

    The terms of a row sum to its value, and are all 0 where that is undefined.

    >>> terms(Hits.of([[0, 1, 1]]), parse("RR")).tolist()
    [0.0, 0.5, 0.0]
    """
    return measure.definition.terms(hits, _limit(measure, k), **measure.parameters)


def _limit(measure: Measure, k: int | Ints | None) -> int | Ints:
    if k is None and measure.cutoff == BUDGET:
        raise BadInput(f"{measure} needs to be told the prompt budget")
    return k if k is not None else int(measure.cutoff or WHOLE_LIST)
