"""Where graders work: the pad does the grading, this page says who, where and in which words."""

import streamlit as st

from labeler import charts, ui
from labeler.grading import Desk, pad

with ui.open_store() as store:
    queries, runs = store.count_queries(), store.runs()
    name = ui.grader()
    desk = Desk(
        golden_set=store.golden_set_uuid(),
        grader=name,
        token=None if name is None else ui.grading_token(store, name),
        words=store.settings().words,
        colours=charts.GRADE_COLOURS,
    )

if not queries:
    st.subheader("There are no queries to grade yet")
    st.write("Load queries, chunks and a run on the Data page, or in a terminal:")
    st.code("labeler load queries FILE\nlabeler load chunks FILE\nlabeler load run FILE")
elif not runs:
    st.subheader("There is no run yet, so nothing to grade")
    st.write("A run says which chunks a system retrieved. Load one on the Data page, or:")
    st.code("labeler load run FILE")
else:
    pad(desk)
