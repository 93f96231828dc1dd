"""The Label page: the grading pad, for the grader and the part of the pool that the URL names."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from labeler.model import (
    LEAKED_CHOICES,
    SPLITS,
    WITH_LEAKED,
    chunking_from_label,
    chunking_label,
)
from labeler.render.palette import GRADE_COLOURS
from labeler.ui import assignment_cache, url_state
from labeler.ui import shared as ui
from labeler.ui.grading import GradingTerms, PadData, PadScope, pad
from labeler.ui.url_state import StaleLink

OWN = {
    *url_state.KEPT_PARAMETERS,
    "query",
    "from",
    "to",
}  # parameters with a meaning of their own, whatever a facet is


def chosen_field(facets: Mapping[str, Sequence[str]], known: bool) -> PadScope | None:
    """Return the bucket the address keeps a grader to, as ``?facet=F&bucket=B`` or ``?F=B``.

    ``known`` says whether the address names a query that is there. Raises `StaleLink` for what is
    not there: grading another field than the one that was meant would be worse than not grading.
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
    """Return ``field`` as far as the address keeps to a split, or to what did not leak.

    Raises `StaleLink` for a split that no query is in.
    """
    split = url_state.check_among("split", splits, "split")
    how = LEAKED_CHOICES if leaked else [WITH_LEAKED]
    told = url_state.check_among("leaked", how, "choice of leaked queries") or WITH_LEAKED
    if split is None and told == WITH_LEAKED:
        return field
    return replace(field or PadScope(), split=split, leaked=told)


def between(field: PadScope | None, names: Sequence[str]) -> PadScope | None:
    """Return ``field`` as far as the address keeps to what one chunking leaves open in another.

    Raises `StaleLink` for a chunking that is not there, and for one without the other.
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


def in_short(facets: Mapping[str, Sequence[str]], known: bool) -> PadScope | None:
    """Return what ``?F=B`` says of a facet F called facet, bucket or query.

    Only where it can mean nothing else: the parameter's own meaning comes first.
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
    """Return the query the address asks for; raises `StaleLink` for one that is not there."""
    query_id = url_state.get("query")
    if confined == PadScope("query", query_id or "") and not known:
        return None
    if query_id is not None and not known:
        said = f"there is no query {query_id!r} in this golden set, or not any more"
        raise StaleLink(said, ["query"])
    return query_id


def ask_a_lead(is_lead: bool) -> None:
    """Tell a grader, who cannot load anything, whom to ask, and end the page."""
    if not is_lead:
        st.write("Whoever runs this has to load it first. Come back later.")
        st.stop()


with ui.open_store() as store:
    queries, runs, facets = store.count_queries(), store.runs(), store.facets()
    settings, name = store.settings(), ui.grader()
    token = None if name is None else ui.grading_token(store, name)
    giver = None if name is None else store.giver(name)
    golden_set = store.golden_set_uuid()
    sizes, leaked = store.split_sizes(), bool(store.leaked())
    is_known = store.has_query(url_state.get("query") or "")
    is_lead = ui.is_lead()
    chunkings, openings = (
        store.chunking_names(),
        assignment_cache.openings(store) if is_lead else [],
    )
    is_new = name is not None and ui.came_by_invitation() and not store.has_judged(name)

if not queries:
    st.subheader("There are no queries to grade yet")
    ask_a_lead(is_lead)
    st.write("Load queries, chunks and a run on the Data page, or in a terminal:")
    st.code("labeler load queries FILE\nlabeler load chunks FILE\nlabeler load run FILE")
elif not runs:
    st.subheader("There is no run yet, so nothing to grade")
    ask_a_lead(is_lead)
    st.write("A run says which chunks a system retrieved. Load one on the Data page, or:")
    st.code("labeler load run FILE")
else:
    field = chosen_field(facets, is_known)
    splits = [split for split in SPLITS if split in sizes]
    pad(
        PadData(
            golden_set=golden_set,
            grader=name,
            token=token,
            key=giver and giver.key,
            known_as=giver and giver.known_as,
            terms=GradingTerms(
                settings.words,
                settings.meanings,
                GRADE_COLOURS,
                settings.question,
                settings.passage,
            ),
            can_change_name=ui.can_change_name(),
            is_new=is_new,
            guideline=settings.guideline or settings.default_guideline,
            contact=settings.contact,
            evidence_from=settings.evidence_from,
            confined=between(kept_to(field, splits, leaked), chunkings),
            splits=splits if is_lead else (),
            openings=openings,
            query=chosen_query(is_known, field),
        )
    )
