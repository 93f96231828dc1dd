"""What a page reads in its address."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def reads_while_the_next_run_begins() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx
    from streamlit.runtime.state import SafeSessionState

    from labeler import address

    of_next = SafeSessionState(get_script_run_ctx().session_state._state, lambda: None)
    with of_next.query_params() as shared:
        shared.populate_from_query_string("a=other&query=q9")
    st.text(address.here("queries"))
    st.text(address.given("a"))
    address.write(query="q2")
    st.text(address.here("queries"))


def test_a_run_that_is_being_replaced_reads_its_own_address_to_the_end() -> None:
    app = AppTest.from_function(reads_while_the_next_run_begins)
    app.query_params["a"] = "bm25"
    app.query_params["also"] = ["lsa", "rrf"]
    app.run()
    assert not app.exception
    there = "queries?a=bm25&also=lsa&also=rrf"
    assert [each.value for each in app.text] == [there, "bm25", f"{there}&query=q2"]
