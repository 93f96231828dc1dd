"""Conventions: how a measure is computed beyond its name, and how numbers are formatted.

Two scoreboards can be compared only if their conventions agree. The presets are ``graded`` and
``trec_eval``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from numbers import Integral
from typing import Literal, TypeAlias

from labeler.errors import BadInput
from labeler.measures import GAINS, Measure, UniqueMeasures, parse, parse_all
from labeler.model import (
    EVERYTHING,
    IGNORE_TRANSFERRED,
    MAJORITY,
    SHORT_HASH,
    TRANSFER_CHOICES,
    Collection,
    GoldenState,
    Selection,
    Traffic,
    check_golden_rule,
    escape_controls,
)

Undefined: TypeAlias = Literal["nan", 0, 1]
PRESETS = ("graded", "trec_eval")


@dataclass(frozen=True, slots=True)
class Conventions:
    """The rules that values are computed by; two boards can be compared only if these agree.

    ``pool_depth`` is how many chunks of a list are meant to be graded: for a measure without a
    cut-off, unjudged chunks are counted down to this rank, since below it every chunk is unjudged.

    ``golden_rule`` is how the grades of several people became one; None if each chunk came with one
    grade. ``transferred`` says whether grades transferred from another chunking count, None if
    there are none. ``undefined`` is the value of a query with nothing relevant: 0, 1, or ``"nan"``,
    which leaves the query out; None is the preset's rule.

    ``golden`` is the hash of the golden set behind the numbers, None if it has none. It changes
    with every grade, so it is not part of equality. ``frozen`` is the name of the frozen version,
    None for the live set. ``selected`` are the queries behind the numbers. ``weighted`` is the
    traffic that means are weighted by, None if every query counts the same.

    ``dcg`` and ``rel`` apply to measures whose name leaves them open. Make conventions with
    `Conventions.of`, which sets the ``dcg`` of the preset.

    >>> print(Conventions.of("trec_eval").describe())  # doctest: +ELLIPSIS
    gain = grade · relevant from grade 1 · ... · nothing relevant: 0, in the mean · ...
    """

    preset: str = "graded"
    rel: int = 1
    dcg: str = "exp-log2"
    prompt_k: int = 5
    prompt_k_by_task: Mapping[str, int] = field(default_factory=dict, hash=False)
    pool_depth: int = 10
    golden_rule: str | None = None
    undefined: Undefined | None = None
    transferred: str | None = None
    golden: str | None = field(default=None, compare=False, repr=False)
    frozen: str | None = None
    selected: Selection = EVERYTHING
    weighted: Traffic | None = None

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise BadInput(f"no preset is called {self.preset!r}; there are {', '.join(PRESETS)}")
        if not _is_whole(self.rel) or self.rel not in (1, 2, 3):
            raise BadInput(f"'relevant from' must be grade 1, 2 or 3, not {self.rel!r}")
        if self.dcg not in GAINS:
            raise BadInput(f"the gain must be {' or '.join(GAINS)}, not {self.dcg!r}")
        for prompt_k in (self.prompt_k, *self.prompt_k_by_task.values()):
            if not _is_whole(prompt_k) or prompt_k < 1:
                raise BadInput(f"a prompt size is a whole number from 1, not {prompt_k!r}")
        if not _is_whole(self.pool_depth) or self.pool_depth < 1:
            raise BadInput(f"the pool depth is a whole number from 1, not {self.pool_depth!r}")
        if self.golden_rule is not None:
            check_golden_rule(self.golden_rule)
        if self.transferred not in (None, *TRANSFER_CHOICES):
            raise BadInput(
                f"transferred is {' or '.join(map(repr, TRANSFER_CHOICES))}, not "
                f"{self.transferred!r}"
            )
        if self.undefined is not None and not _is_undefined(self.undefined):
            raise BadInput(f"undefined is 'nan', 0 or 1, not {self.undefined!r}")

    @classmethod
    def of(
        cls,
        preset: str = "graded",
        *,
        rel: int = 1,
        prompt_k: int = 5,
        prompt_k_by_task: Mapping[str, int] | None = None,
        pool_depth: int = 10,
        golden_rule: str | None = None,
        transferred: str | None = None,
        undefined: Undefined | None = None,
        selected: Selection = EVERYTHING,
    ) -> Conventions:
        """Make the conventions of a preset, with its gain."""
        rel, prompt_k = (int(each) if _is_whole(each) else each for each in (rel, prompt_k))
        dcg = "log2" if preset == "trec_eval" else "exp-log2"
        by_task = dict(prompt_k_by_task or {})
        rules = (pool_depth, golden_rule, undefined, transferred)
        return cls(preset, rel, dcg, prompt_k, by_task, *rules, selected=selected)

    def on(self, golden: GoldenState | None) -> Conventions:
        """Return these conventions for numbers on a golden set; None if it is not stored."""
        if golden is None:
            return self if self.golden is None else replace(self, golden=None, frozen=None)
        return replace(self, golden=golden.hash, frozen=golden.name)

    def selecting(self, collection: Collection) -> tuple[Collection, Conventions]:
        """Return the selected part of a collection, and conventions that name its chunkings."""
        chosen = self.selected.of(collection)
        if chosen.sides is None or chosen.sides.names == self.selected.chunkings:
            return chosen, self
        return chosen, replace(self, selected=replace(self.selected, chunkings=chosen.sides.names))

    def across(self, collection: Collection, runs: Sequence[str]) -> Conventions:
        """Return these conventions with all chunkings of some runs selected."""
        if collection.sides is None:
            return self
        every = (*collection.runs, *collection.runs_left_out)
        chunkings = tuple(sorted({run.chunking for run in every if run.name in runs}))
        return replace(self, selected=replace(self.selected, chunkings=chunkings))

    @property
    def like_trec_eval(self) -> bool:
        """Whether ties, order and undefined values are treated as trec_eval does."""
        return self.preset == "trec_eval"

    @property
    def stand_in(self) -> float | None:
        """The value of a query with nothing relevant; None if it is left out."""
        if self.undefined is None:
            return 0.0 if self.like_trec_eval else None
        return None if isinstance(self.undefined, str) else float(self.undefined)

    def prompt_k_of(self, task: str | None) -> int:
        """Return the prompt k of a query with this task, or without a task."""
        return self.prompt_k_by_task.get(task or "", self.prompt_k)

    def measures(self, texts: str | Iterable[str]) -> UniqueMeasures:
        """Parse measures, with this gain and threshold where a name leaves them open."""
        return parse_all(texts, rel=self.rel, dcg=self.dcg)

    def heading(self, measure: Measure) -> str:
        """Return a measure's short name if these conventions give the parameters it leaves out.

        RBP always keeps its ``p``: it is not a convention, and the value means nothing without it.

        >>> measures = parse_all("nDCG@10 P(rel=3)@5 RBP@10", dcg="exp-log2")
        >>> [Conventions().heading(measure) for measure in measures]
        ['nDCG@10', 'P(rel=3)@5', 'RBP(p=0.8)@10']
        """
        if measure.p is not None:
            return str(measure).replace(f"rel={self.rel}, ", "")
        usual = parse(measure.label, rel=self.rel, dcg=self.dcg)
        return measure.label if usual == measure else str(measure)

    def depth_of_unjudged(self, measure: Measure) -> str:
        """Return how deep unjudged chunks are counted, for a measure without a cut-off.

        >>> [Conventions().depth_of_unjudged(each) for each in parse_all("AP P@5 EvidenceP@2000c")]
        ['in the top 10', '', '']
        """
        is_open = measure.cutoff is None and measure.reads != "evidence"
        return f"in the top {self.pool_depth}" if is_open else ""

    def describe(self) -> str:
        """Return all conventions in one line, to be shown under every number."""
        like_trec_eval = self.like_trec_eval
        tie = ", a tie is as ungraded" if self.golden_rule == MAJORITY else ""
        words = [
            *self._golden_in_words(),
            *([self.selected.describe()] if self.selected != EVERYTHING else []),
            *([escape_controls(self.weighted.describe())] if self.weighted else []),
            "gain = grade" if self.dcg == "log2" else "gain 2^grade−1",
            f"relevant from grade {self.rel}",
            *([f"several graders: {self.golden_rule}{tie}"] if self.golden_rule else []),
            *(
                ["transferred grades do not count"]
                if self.transferred == IGNORE_TRANSFERRED
                else []
            ),
            "ideal from all golden grades",
            "unjudged gains nothing",
            f"unjudged chunks of whole lists: top {self.pool_depth}",
            f"nothing relevant: {_describe_stand_in(self.stand_in)}",
            "absent query: 0",
            "order by 32-bit score, ties by chunk id descending"
            if like_trec_eval
            else "ties in file order",
        ]
        if self.prompt_k_by_task:
            tasks = sorted(self.prompt_k_by_task.items())
            words.append(f"prompt size {self.prompt_k}, {', '.join(f'{t} {k}' for t, k in tasks)}")
        return " · ".join(words)

    def _golden_in_words(self) -> list[str]:
        if self.golden is None:
            return []
        short = f"golden {self.golden[:SHORT_HASH]}"
        return [
            short if self.frozen is None else f"{short}, frozen as {escape_controls(self.frozen)}"
        ]

    @property
    def sentence(self) -> str:
        """The description with the name of the preset, as pages show it."""
        return f"Conventions ({self.preset}): {self.describe()}"

    def as_dict(self) -> dict[str, object]:
        """Return the fields and the description, ready for JSON."""
        found = {**asdict(self), "description": self.describe()}
        if self.selected.chunkings is None:
            del found["selected"]["chunkings"]
        if self.transferred is None:
            del found["transferred"]
        return found


def _describe_stand_in(value: float | None) -> str:
    return "undefined, left out" if value is None else f"{value:.0f}, in the mean"


def _is_undefined(value: object) -> bool:
    return value == "nan" or (_is_whole(value) and value in (0, 1))


def _is_whole(value: object) -> bool:
    is_number = isinstance(value, (int, Integral))  # int first: the fastest check
    return is_number and not isinstance(value, bool)


def format_number(value: float) -> str:
    """Format a value for people: four digits, a dash if it is undefined; 0 has no sign.

    >>> format_number(0.60114), format_number(-0.00001), format_number(float("nan"))
    ('0.6011', '0.0000', '–')
    """
    if math.isnan(value):
        return "–"
    shown = f"{value:.4f}"
    return "0.0000" if shown == "-0.0000" else shown


def format_signed(value: float) -> str:
    """Format a difference for people: four digits with its sign; 0 has no sign.

    >>> tuple(map(format_signed, (0.25, -0.25, -0.00001, float("nan"))))
    ('+0.2500', '−0.2500', '0.0000', '–')
    """
    if math.isnan(value):
        return "–"
    shown = f"{value:+.4f}"
    return "0.0000" if shown[1:] == "0.0000" else shown.replace("-", "−")


def format_with_arrow(value: float) -> str:
    """Format a difference with an arrow in front, so that its direction needs no colour.

    >>> tuple(map(format_with_arrow, (0.25, -0.25, 0.0, float("nan"))))
    ('▲ +0.2500', '▼ −0.2500', '0.0000', '–')
    """
    shown = format_signed(value)
    return {"+": "▲ ", "−": "▼ "}.get(shown[0], "") + shown


def format_share(part: int, whole: int) -> str:
    """Format a share in per cent; 100% is shown only for all, 0% only for none.

    >>> format_share(1, 3), format_share(999, 1000), format_share(1, 1000), format_share(0, 0)
    ('33%', '>99%', '<1%', '–')
    """
    if not whole:
        return "–"
    share = f"{part / whole:.0%}"
    if 0 < part < whole:
        return {"0%": "<1%", "100%": ">99%"}.get(share, share)
    return share
