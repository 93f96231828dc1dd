"""Takes the passages that a grader marked, and never lets them cost a grade.

What the browser says of a text is a claim: passages that cannot be are refused and said to be,
while the grade they came with is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any

from labeler.errors import BadInput
from labeler.model import Judgment, check_evidence
from labeler.store import Store


def is_blind(store: Store, event: Mapping[str, Any], judgment: Judgment) -> bool:
    """Say whether a judgment is blind.

    That somebody knew more is believed, that they did not is looked up. Marking the passages of a
    grade that stands leaves the grade as blind as it was given.
    """
    if "evidence" in event and (stands := restated(store, event, judgment)) is not None:
        return stands.blind
    return judgment.blind and store.is_blind(
        str(judgment.grader), judgment.query_id, judgment.chunk_id
    )


def with_evidence(
    store: Store, event: Mapping[str, Any], judgment: Judgment
) -> tuple[Judgment, str | None]:
    """Return a judgment with the passages that were marked for it, and why it has not got them.

    A chunk that comes back unmarked is graded without its passages: they still hold if it gets
    the grade that they were marked for. Where new ones are refused, so do the old ones.
    """
    given = event.get("evidence")
    if given is None and judgment.source != "repeat":
        return judgment, None
    refused = None
    if given is not None:
        try:
            marked = replace(judgment, evidence=check_evidence(given))
            store.check_evidence(marked)
            return marked, None
        except BadInput as error:
            refused = str(error)
    stands = restated(store, event, judgment)
    return replace(judgment, evidence=stands.evidence if stands else ()), refused


def restated(store: Store, event: Mapping[str, Any], judgment: Judgment) -> Judgment | None:
    """Return the judgment that an event replaces, if it says the same of the same text."""
    replaces = event.get("replaces")
    if judgment.kind != "grade" or not isinstance(replaces, str):
        return None
    before = store.given_by(str(judgment.grader), replaces)
    said = attrgetter("query_id", "chunk_id", "grade", "text_hash")
    return before if before is not None and said(before) == said(judgment) else None
