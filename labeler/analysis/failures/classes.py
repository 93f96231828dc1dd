"""The reasons to fail, each in the words of somebody new to it; knows no query and no run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Side = Literal["ranking", "recall", "unknown", "generation"]


@dataclass(frozen=True, slots=True)
class FailureClass:
    """A reason to fail: what it means, what to try, and what it is a matter of.

    ``side`` is ``ranking`` where a better order of the run's own list would do, ``recall`` where no
    order would, because what the query needs is not in the list, ``unknown`` where nobody knows
    what that is, and ``generation`` where retrieval did its part.
    """

    name: str
    meaning: str
    lever: str
    side: Side


NO_RESULTS = FailureClass(
    "no results",
    "The run has no result for this query.",
    "Look for an error, a time-out or a filter that leaves nothing.",
    "recall",
)
UNCLEAR = FailureClass(
    "the query is unclear",
    "A grader says that nobody can tell what the query asks.",
    "Ask whoever wrote it, write it anew, or retire it.",
    "unknown",
)
UNANSWERED = FailureClass(
    "nothing here answers it",
    "A grader says that no chunk answers the query, and no relevant one is known.",
    "Write the missing document, or let the product say that it does not know.",
    "recall",
)
NOTHING_RELEVANT = FailureClass(
    "nothing relevant known",
    "Chunks were graded, and none of them is relevant.",
    "Grade further down or search by hand; if no document answers it, write one, or let the "
    "product say that it does not know.",
    "unknown",
)
NOT_IN_CORPUS = FailureClass(
    "relevant chunk not in the corpus",
    "The relevant chunks are known by their ids alone: none is among the chunks that were loaded "
    "with their text.",
    "Load the missing documents; if chunks were cut anew, bring the grades over to the new ids.",
    "recall",
)
NEVER_RETRIEVED = FailureClass(
    "never retrieved by any run",
    "Chunks that would do are known, and no run has one of them, however far down one looks.",
    "The words of the query are not those of the answer: try embeddings or hybrid search, rewrite "
    "the query, or cut chunks otherwise.",
    "recall",
)
OTHER_RUN_ONLY = FailureClass(
    "retrieved by another run only",
    "Another run finds a chunk that would do; this one has none such, however far down one looks.",
    "Combine the two (hybrid search, fusion), or learn what the other does.",
    "recall",
)
TOO_FEW = FailureClass(
    "too few retrieved",
    "Some relevant chunks are in the list, but not enough of them: even in its best order the list "
    "would fail.",
    "Retrieve more candidates, combine runs or split the query: a reranker alone is not enough.",
    "recall",
)
CROWDED_OUT = FailureClass(
    "crowded out by near-duplicates",
    "The top says the same thing several times; without the repeats a relevant chunk would be "
    "there.",
    "Remove duplicates before the prompt: by text, by document, or with a diversifying reranker.",
    "ranking",
)
OUTRANKED = FailureClass(
    "outranked",
    "What the query needs is in the list, but something of less use stands near the top in its "
    "place: an old version, another region, another product, something that only sounds like it.",
    "Look at what stands above it: filter by version, region or product, or rerank.",
    "ranking",
)
TOO_LOW = FailureClass(
    "retrieved too low",
    "What the query needs is in the list, but below the top, where it does not count.",
    "Rerank the candidates, or put more of them into the prompt.",
    "ranking",
)

GENERATION = FailureClass(
    "generation",
    "The prompt holds what the query needs, and the answer is wrong all the same.",
    "Look at the prompt and the model: no retriever can help.",
    "generation",
)

CLASSES = (
    NO_RESULTS,
    UNCLEAR,
    UNANSWERED,
    NOTHING_RELEVANT,
    NOT_IN_CORPUS,
    NEVER_RETRIEVED,
    OTHER_RUN_ONLY,
    TOO_FEW,
    CROWDED_OUT,
    OUTRANKED,
    TOO_LOW,
)
"""In the order they are asked; the first that matches counts.

`GENERATION` is none of them: it is asked of answers, of those queries alone that do not fail.
"""
