"""List of the pages: the file, title, address and question of each, and who may open it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labeler.web.auth.access import Person


@dataclass(frozen=True, slots=True)
class PageSpec:
    """A page: its file, its title, its path, the question it answers, and what its URL names.

    ``guide`` is the documentation's page about it. ``runs`` are parameters that always name a run:
    a link without them would show another run once the first is dropped. ``of_versions``: the page
    can show frozen golden sets.
    """

    file: str
    title: str
    path: str
    answers: str | None = None
    guide: str | None = None
    for_graders: bool = False
    runs: Sequence[str] = ()
    of_versions: bool = False

    def is_open_to(self, person: Person | None) -> bool:
        """Say whether a visitor may open the page."""
        return person is not None and (person.is_lead or self.for_graders)


LABEL = PageSpec("label.py", "Label", "/", for_graders=True)
SCORES = PageSpec(
    *("scores.py", "Scores", "/scores", "How good is each run?"),
    guide="handbook/index",
    of_versions=True,
)
PAGE_SPECS = [
    LABEL,
    SCORES,
    PageSpec(
        *("compare.py", "Compare", "/compare", "Which run is better, and where?"),
        guide="how-to/compare-runs",
        runs=("a", "b"),
        of_versions=True,
    ),
    PageSpec(
        *("slices.py", "Slices", "/slices", "In which buckets is a run weak?"),
        guide="tutorial/pages",
        runs=("a",),
        of_versions=True,
    ),
    PageSpec(
        *("queries.py", "Queries", "/queries"),
        "Where does a run fail, why, and what can you try?",
        guide="how-to/failing-queries",
        runs=("a",),
        of_versions=True,
    ),
    PageSpec(
        *("review.py", "Review", "/review", "Can you rely on the grades?"),
        guide="how-to/settle-disagreements",
    ),
    PageSpec(
        *("data.py", "Data", "/data", "Load your files, invite people, download the golden set."),
        guide="how-to/bring-your-data",
    ),
]
