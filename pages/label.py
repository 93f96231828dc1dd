"""Where graders work: the pad does the grading, this page says who, where and in which words."""

from collections.abc import Mapping, Sequence

import streamlit as st

from labeler import charts, ui
from labeler.grading import Confined, Desk, pad


def chosen_field(facets: Mapping[str, Sequence[str]]) -> Confined | None:
    """Return the bucket the address keeps a grader to, as ``?facet=F&bucket=B`` or ``?F=B``.

    What it names and is not there is said, and the page ends: grading another field than the one
    that was meant would be worse than not grading.
    """
    asked = {facet: st.query_params[facet] for facet in facets if facet in st.query_params}
    facet, bucket = st.query_params.get("facet"), st.query_params.get("bucket")
    if facet not in (None, ui.ALL_QUERIES, *facets):
        refuse(["facet", "bucket"], f"no facet is called {facet!r}; there are: {', '.join(facets)}")
    if bucket not in (None, ui.EVERY_BUCKET) and facet != ui.ALL_QUERIES:
        if facet is None:
            refuse(["bucket"], f"the address names the bucket {bucket!r}, but not of which facet")
        asked[facet] = bucket
    if len(asked) > 1:
        refuse([*asked, "facet", "bucket"], f"one bucket at a time, not of {' and '.join(asked)}")
    for name, value in asked.items():
        if value not in facets[name]:
            there = ", ".join(facets[name])
            said = f"no bucket of {name} is called {value!r}; there are: {there}"
            refuse([name, "facet", "bucket"], said)
        return Confined(name, value)
    return None


def refuse(names: Sequence[str], message: str) -> None:
    """Say what is wrong with the address, offer to drop these parameters, and end the page."""
    ui.show_error(message)
    st.button("Go on without it", on_click=forget, args=(names,))
    st.stop()


def chosen_query(known: bool) -> str | None:
    """Return the query the address asks for; one that is not there is said, and the page ends."""
    query_id = st.query_params.get("query")
    if query_id is not None and not known:
        refuse(["query"], f"there is no query {query_id!r} in this golden set, or not any more")
    return query_id


def forget(names: Sequence[str]) -> None:
    """Take parameters out of the address."""
    for name in names:
        ui.forget(name)


def ask_a_lead(is_lead: bool) -> None:
    """Tell a grader, who cannot load anything, whom to ask, and end the page."""
    if not is_lead:
        st.write("Whoever runs this has to load it first. Come back later.")
        st.stop()


with ui.open_store() as store:
    queries, runs, facets = store.count_queries(), store.runs(), store.facets()
    settings, name = store.settings(), ui.grader()
    token = None if name is None else ui.grading_token(store, name)
    golden_set = store.golden_set_uuid()
    is_known = store.has_query(st.query_params.get("query", ""))
    is_lead = ui.is_lead()

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
    pad(
        Desk(
            golden_set=golden_set,
            grader=name,
            token=token,
            words=settings.words,
            colours=charts.GRADE_COLOURS,
            can_change_name=ui.can_change_name(),
            guideline=settings.guideline,
            confined=chosen_field(facets),
            query=chosen_query(is_known),
        )
    )
