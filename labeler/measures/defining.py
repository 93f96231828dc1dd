"""What there is to say of a measure, whichever it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from labeler.measures.hits import Floats
from labeler.measures.parameters import PARAMETERS

OPTIONS = ("documents", "judged_only")
"""Parameters that say which hits a measure gets, not what it makes of them."""


@dataclass(frozen=True, slots=True)
class Definition:
    """What a measure means, for people and for programs.

    ``function`` and ``terms`` take hits, the cut-off unless there is none, and the ``parameters``,
    of which those in ``optional`` may be left open; `OPTIONS` come last and are none of their
    business. Those of a measure that ``reads`` evidence take `Finds`, and ``rel`` is none of theirs
    either. ``terms`` gives one number per hit, summing to ``function``'s value of the row;
    ``depends`` says in a sentence how a term depends on other chunks, or that terms do not sum to
    the value, and is empty otherwise.

    ``after_at`` is the parameter that stands after @, where that is no cut-off, or instead of one.

    ``instead`` is what to ask for where somebody gives a cut-off to a measure that takes none.

    A ``count`` is a whole number that may exceed 1; every other value is from 0 to 1.
    ``always_defined`` measures have a value even if nothing relevant is known. ``bands`` say how a
    mean is usually read, to stand after "a mean": a rule of thumb, which knows neither how hard the
    queries are nor how many chunks are graded.
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
    parameters: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    cutoff: Literal["may", "must", "never"] = "may"
    instead: str = ""
    after_at: str = ""
    count: bool = False
    always_defined: bool = False
    bands: str = ""
    reads: Literal["chunks", "evidence"] = "chunks"

    @property
    def help(self) -> str:
        """What it means and, where there is a rule of thumb, how a mean is read."""
        return (
            f"{self.meaning} As a rule of thumb, a mean {self.bands}"
            if self.bands
            else self.meaning
        )

    @property
    def takes(self) -> str:
        """The parameters the measure takes but `OPTIONS`, as words after its name."""
        return _take(tuple(name for name in self.parameters if name not in OPTIONS))

    @property
    def takes_all(self) -> str:
        """All parameters the measure takes, as words after its name.

        >>> from labeler.measures import MEASURES
        >>> MEASURES["P"].takes_all
        'takes rel=1, rel=2 or rel=3, and documents=True, and judged_only=True'
        """
        return _take(self.parameters)

    @property
    def condenses(self) -> bool:
        """Whether the measure can be told to leave out the chunks that nobody graded."""
        return "judged_only" in self.parameters

    @property
    def joins(self) -> bool:
        """Whether the measure can be told to be of documents instead of chunks."""
        return "documents" in self.parameters


def _take(parameters: tuple[str, ...]) -> str:
    if not parameters:
        return "takes no parameters"
    first, *others = (PARAMETERS[name] for name in parameters)
    return "takes " + first.takes + "".join(f", {each.joined} {each.takes}" for each in others)
