"""Settings of a golden set that a team decides once, with their defaults and checks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from labeler.errors import BadInput
from labeler.model.grades import (
    COUNT_TRANSFERRED,
    LOWER_MEDIAN,
    TRANSFER_CHOICES,
    check_golden_rule,
)
from labeler.model.records import GRADES, check_grade, check_name

STRATEGIES = (
    *("query by query", "most useful first", "least judged first"),
    *("only unjudged of A vs B", "what decides A vs B"),
)
QUERY_BY_QUERY, MOST_USEFUL, LEAST_JUDGED, UNJUDGED_OF_TWO, ACTIVE_OF_TWO = STRATEGIES
# Names in files and databases of earlier development versions.
OLD_NAMES = {
    "budget": "prompt_k",
    "budget_by_task": "prompt_k_by_task",
    "holes_of": "unjudged_of",
    "carried": "transferred",
}
_OLD_STRATEGIES = {"only holes of A vs B": UNJUDGED_OF_TWO}
LONGEST_WORD = 40  # characters of a grade's name, which is on a button
LONGEST_MEANING = 60  # characters, in the line under the name
LONGEST_NOUN = 20  # characters of the graders' word for a query or a chunk
LONGEST_MAP = 2000  # characters of a field map
LONGEST_TITLE = 60  # characters of the golden set's name, which is in the header of every page
PRACTICE_IDS = 6  # three pairs of a query and a chunk
AUTOMATIC = "automatic"  # the language that a grader's browser asks for
MOST_CHUNKS = 1000  # in a pool or a prompt; a larger number is a typing mistake

GENERIC_GUIDELINE = """\
Read the {question}, then the {passage}. Grade what the {passage} says, as if it were all you \
could show to the person who asks: not how well it is written, and nothing you know from \
elsewhere. If you can’t decide between two grades, give the lower one.
For example, the {question}: How long do I have to send a parcel back?
3: You can send a parcel back within 30 days of its delivery.
2: Parcels with sale items go back within 14 days; for others, see the terms.
1: Parcels that come back are checked in our warehouse in Leeds.
0: We deliver parcels from Monday to Friday."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings a team decides once for its golden set; the numbers 0-3 of grades are fixed.

    ``words`` name the grades and ``meanings`` explain each in a line. ``question`` and ``passage``
    are the graders' words for a query and a chunk, singular and plural. ``guideline`` applies to
    every query, beside the query's own; if it is empty, ``default_guideline`` does. ``contact``
    says whom graders can ask. ``overlap`` is the share of queries that every grader gets, so that
    agreement can be measured. ``strategy`` says which chunks come first; ``unjudged_of`` are the
    two runs of "only unjudged of A vs B" and "what decides A vs B". The latter uses the measure
    ``decide_by``, and ignores deltas below ``matters``. ``golden_rule`` says how several people's
    grades of a pair become one, see `agreed_grade`. ``measures_by_task`` names the primary measure
    of a task and, after a space, the secondary one; pages start with these, and no number depends
    on them. From the grade ``evidence_from`` on graders are asked to mark the passage that made it,
    which is optional; None asks nobody. ``transferred`` says whether grades transferred from
    another chunking count. With ``show_before`` graders of pairs that a transfer left open see the
    earlier grades and passages, and are not blind. ``highlight`` marks the query's words in what
    graders read, until they choose otherwise. ``field_map`` says where the fields of the
    team's files stand, as ``labeler load --map`` takes it; it is tried on files of no known kind.
    ``name`` is what the golden set is called on every page; if it is empty, its file's name is.
    ``language`` is that of the pages graders see, by its code, or `AUTOMATIC`. ``practice`` are the
    ids of three graded pairs, a query and a chunk in turn, that graders can practise on.
    """

    words: tuple[str, str, str, str] = (
        "not relevant",
        "slightly relevant",
        "partly relevant",
        "highly relevant",
    )
    rel: int = 1
    prompt_k: int = 5
    prompt_k_by_task: Mapping[str, int] = field(default_factory=dict)
    pool_depth: int = 10
    guideline: str = ""
    show_reference: bool = True
    strategy: str = QUERY_BY_QUERY
    unjudged_of: tuple[str, str] | None = None
    overlap: float = 0.1
    meanings: tuple[str, str, str, str] = (
        "about something else",
        "on topic, doesn’t answer",
        "answers part of it",
        "answers it fully",
    )
    question: tuple[str, str] = ("question", "questions")
    passage: tuple[str, str] = ("passage", "passages")
    contact: str = ""
    golden_rule: str = LOWER_MEDIAN
    decide_by: str = "nDCG@10"
    measures: str = "nDCG@10 R@5 RR"
    matters: float = 0.01
    measures_by_task: Mapping[str, str] = field(default_factory=dict)
    evidence_from: int | None = None
    transferred: str = COUNT_TRANSFERRED
    show_before: bool = True
    highlight: bool = False
    field_map: str = ""
    name: str = ""
    language: str = AUTOMATIC
    practice: tuple[str, ...] = ()

    @property
    def default_guideline(self) -> str:
        """The meaning of each grade for any golden set, in the team's words for query and chunk."""
        return GENERIC_GUIDELINE.format(question=self.question[0], passage=self.passage[0])

    def changes_to(self, others: Settings) -> dict[str, list[Any]]:
        """Return each setting that differs from ``others``, as a list of this value and theirs."""
        names = [each.name for each in fields(self)]
        pairs = {name: [getattr(self, name), getattr(others, name)] for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    def __post_init__(self) -> None:
        if len(self.words) != len(GRADES) or not all(word.strip() for word in self.words):
            raise BadInput("the scale needs four words, one for each of the grades 0, 1, 2 and 3")
        for word in self.words:
            if len(word) > LONGEST_WORD:
                raise BadInput(
                    f"a word of the scale must have at most {LONGEST_WORD} characters, "
                    f"not {len(word)}: {word[:LONGEST_WORD]!r} ..."
                )
        self._check_texts()
        if self.rel not in GRADES[1:]:
            raise BadInput(f"'relevant from' must be grade 1, 2 or 3, not {self.rel!r}")
        for name, value in [("pool depth", self.pool_depth), ("prompt size", self.prompt_k)]:
            if not 1 <= value <= MOST_CHUNKS:
                raise BadInput(f"the {name} must be from 1 to {MOST_CHUNKS:,}, not {value}")
        for task in (*self.prompt_k_by_task, *self.measures_by_task):
            check_name(task, "task")
        for task, prompt_k in self.prompt_k_by_task.items():
            if not 1 <= prompt_k <= MOST_CHUNKS:
                raise BadInput(f"the prompt size of task {task!r} cannot be {prompt_k}")
        for task, measures in self.measures_by_task.items():
            if len(measures.split()) not in (1, 2):
                raise BadInput(
                    f"task {task} has a primary and perhaps a secondary measure, such as "
                    f"'nDCG@10 R@10', not {measures!r}"
                )
        check_golden_rule(self.golden_rule)
        self._check_grading()

    def _check_texts(self) -> None:
        if len(self.practice) not in (0, PRACTICE_IDS):
            raise BadInput(
                f"practice takes three queries, each with a chunk: {PRACTICE_IDS} ids, not "
                f"{len(self.practice)}"
            )
        if len(self.meanings) != len(GRADES):
            raise BadInput("the scale needs four meanings, one for each of the grades")
        if len(self.question) != 2 or len(self.passage) != 2:
            raise BadInput("a question and a passage need two names: of one, and of several")
        for what, texts, longest in [
            ("line of meaning", self.meanings, LONGEST_MEANING),
            ("name for questions or passages", (*self.question, *self.passage), LONGEST_NOUN),
        ]:
            for text in texts:
                if not text.strip() or len(text) > longest:
                    raise BadInput(f"a {what} needs 1 to {longest} characters, not {text!r}")

    def _check_grading(self) -> None:
        if self.strategy not in STRATEGIES:
            raise BadInput(f"a strategy can be {', '.join(STRATEGIES)}, not {self.strategy!r}")
        if self.strategy in (UNJUDGED_OF_TWO, ACTIVE_OF_TWO) and (
            self.unjudged_of is None or self.unjudged_of[0] == self.unjudged_of[1]
        ):
            raise BadInput(f"{self.strategy!r} needs two different runs A and B")
        if not 0 <= self.overlap <= 1:
            raise BadInput(f"the overlap is a share between 0 and 1, not {self.overlap}")
        if not 0 <= self.matters <= 1:
            raise BadInput(f"a difference that matters is from 0 to 1, not {self.matters}")
        if self.evidence_from is not None:
            check_grade(self.evidence_from)
        if self.transferred not in TRANSFER_CHOICES:
            raise BadInput(
                f"transferred grades can be {' or '.join(TRANSFER_CHOICES)}, not "
                f"{self.transferred!r}"
            )
        if not self.decide_by.strip():
            raise BadInput("deciding needs a measure to go by, such as nDCG@10")
        if not self.measures.strip():
            raise BadInput("name the measures that are tested, such as 'nDCG@10 R@5 RR'")
        if self.name:
            check_title(self.name)
        if self.language != AUTOMATIC and not re.fullmatch("[a-z]{2,3}", self.language):
            raise BadInput(
                f"a language is {AUTOMATIC} or a code such as 'en' or 'de', not {self.language!r}"
            )
        if len(self.field_map) > LONGEST_MAP:
            raise BadInput(f"a field map has at most {LONGEST_MAP:,} characters")


def check_title(name: str) -> str:
    r"""Return ``name`` if a golden set can be called so; raises `BadInput` otherwise.

    >>> check_title("Help centre")
    'Help centre'
    >>> check_title("a\nb")
    Traceback (most recent call last):
    labeler.errors.BadInput: golden set name 'a\nb' holds the control character \n; take it out
    """
    check_name(name, "golden set")
    if not name.strip() or len(name) > LONGEST_TITLE:
        raise BadInput(
            f"the name of a golden set has 1 to {LONGEST_TITLE} characters, not {len(name)}"
        )
    return name


def settings_from(stored: Mapping[str, Any]) -> Settings:
    """Return settings from JSON, with the names of today or of earlier versions.

    Raises `BadInput` for a value that is none, `TypeError` for a name that no setting has.

    >>> settings_from({"budget": 8, "strategy": "only holes of A vs B", "holes_of": ["a", "b"]})
    ... # doctest: +ELLIPSIS
    Settings(words=(...), rel=1, prompt_k=8, ..., strategy='only unjudged of A vs B', ...)
    """
    found = {OLD_NAMES.get(name, name): value for name, value in stored.items()}
    lists = {name: tuple(value) for name, value in found.items() if isinstance(value, list)}
    strategy = found.get("strategy", QUERY_BY_QUERY)
    return Settings(**{**found, **lists, "strategy": _OLD_STRATEGIES.get(strategy, strategy)})


def settings_to_store(settings: Settings) -> dict[str, Any]:
    """Return settings as a database keeps them, by name."""
    values = {each.name: getattr(settings, each.name) for each in fields(settings)}
    return {
        name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()
    }
