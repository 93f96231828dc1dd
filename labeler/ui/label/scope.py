"""Scope of grading, from the URL: a bucket, a split, the open pairs of a transfer, or a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from labeler.model import (
    ACTIVE_OF_TWO,
    LEAKED_CHOICES,
    WITH_LEAKED,
    Settings,
    chunking_from_label,
    chunking_label,
)
from labeler.services.assignment.scope import UNTIL_DECIDED
from labeler.ui import url_state
from labeler.ui.grading import PadScope
from labeler.ui.url_state import StaleLink

# parameters that never mean a facet
OWN = {*url_state.KEPT_PARAMETERS, "query", "from", "to", "until"}


def chosen_field(facets: Mapping[str, Sequence[str]], known: bool) -> PadScope | None:
    """Return the bucket the URL keeps a grader to, as ``?facet=F&bucket=B`` or ``?F=B``.

    ``known`` says whether the URL names an existing query. Raises `StaleLink` for what does not
    exist: grading the wrong queries would be worse than grading none.
    """
    if (short := in_short(facets, known)) is not None:
        return short
    named = [facet for facet in facets if facet not in OWN]
    asked = {facet: value for facet in named if (value := url_state.get(facet)) is not None}
    facet = url_state.check_among("facet", facets, "facet", clears=["bucket"])
    bucket = url_state.get("bucket")
    if bucket is not None:
        if facet is None:
            said = f"the address names the bucket {bucket!r}, but not of which facet"
            raise StaleLink(said, ["bucket"])
        asked[facet] = bucket
    if len(asked) > 1:
        said = f"one bucket at a time, not of {' and '.join(asked)}"
        raise StaleLink(said, [*asked, "facet", "bucket"])
    for name, value in asked.items():
        if value not in facets[name]:
            there = ", ".join(facets[name])
            said = f"no bucket of {name} is called {value!r}; there are: {there}"
            raise StaleLink(said, [name, "facet", "bucket"])
        return PadScope(name, value)
    return None


def kept_to(field: PadScope | None, splits: Sequence[str], leaked: bool) -> PadScope | None:
    """Return ``field`` restricted to the split and the leaks of the URL.

    Raises `StaleLink` for a split without queries.
    """
    split = url_state.check_among("split", splits, "split")
    how = LEAKED_CHOICES if leaked else [WITH_LEAKED]
    told = url_state.check_among("leaked", how, "choice of leaked queries") or WITH_LEAKED
    if split is None and told == WITH_LEAKED:
        return field
    return replace(field or PadScope(), split=split, leaked=told)


def between(field: PadScope | None, names: Sequence[str]) -> PadScope | None:
    """Return ``field`` restricted to the open pairs between the two chunkings in the URL.

    Raises `StaleLink` for an unknown chunking, and if the URL has only one of the two.
    """
    shown = [chunking_label(name) for name in names]
    old = url_state.check_among("from", shown, "chunking", clears=["to"])
    new = url_state.check_among("to", shown, "chunking", clears=["from"])
    if old is None and new is None:
        return field
    if old is None or new is None or old == new:
        said = "the address says ?from= and ?to=, two chunkings, of which the one is graded"
        raise StaleLink(said, ["from", "to"])
    named = [chunking_from_label(each) for each in (old, new)]
    return replace(field or PadScope(), old=named[0], recut=named[1])


def until_decided(field: PadScope | None, settings: Settings) -> PadScope | None:
    """Return ``field`` restricted to the pairs that decide between two runs, if the URL says so.

    Raises `StaleLink` if there is nothing to decide.
    """
    until = url_state.check_among("until", [UNTIL_DECIDED], "end")
    if until is None:
        return field
    if settings.strategy != ACTIVE_OF_TWO or settings.unjudged_of is None:
        raise StaleLink("nothing is to be decided between two runs just now", ["until"])
    return replace(field or PadScope(), until=until)


def in_short(facets: Mapping[str, Sequence[str]], known: bool) -> PadScope | None:
    """Return the bucket of ``?F=B`` for a facet F that is called facet, bucket or query.

    The parameter's own meaning comes first; this is for URLs that can mean nothing else.
    """
    facet, bucket = url_state.get("facet"), url_state.get("bucket")
    said = {
        "bucket": bucket if facet is None else None,
        "facet": facet if bucket is None and facet not in facets else None,
        "query": None if known else url_state.get("query"),
    }
    for name, value in said.items():
        if value is not None and value in facets.get(name, ()):
            return PadScope(name, value)
    return None


def chosen_query(known: bool, confined: PadScope | None) -> str | None:
    """Return the query in the URL; raises `StaleLink` if it does not exist."""
    query_id = url_state.get("query")
    if confined == PadScope("query", query_id or "") and not known:
        return None
    if query_id is not None and not known:
        said = f"there is no query {query_id!r} in this golden set, or not any more"
        raise StaleLink(said, ["query"])
    return query_id
