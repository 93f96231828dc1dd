"""What a page reads in its address."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def reads_while_the_next_run_begins() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx
    from streamlit.runtime.state import SafeSessionState

    from labeler.ui import url_state

    of_next = SafeSessionState(get_script_run_ctx().session_state._state, lambda: None)
    with of_next.query_params() as shared:
        shared.populate_from_query_string("a=other&query=q9")
    st.text(url_state.this_page_url("queries"))
    st.text(url_state.get("a"))
    url_state.write(query="q2")
    st.text(url_state.this_page_url("queries"))


def test_a_run_that_is_being_replaced_reads_its_own_address_to_the_end() -> None:
    app = AppTest.from_function(reads_while_the_next_run_begins)
    app.query_params["a"] = "bm25"
    app.query_params["also"] = ["lsa", "rrf"]
    app.run()
    assert not app.exception
    there = "queries?a=bm25&also=lsa&also=rrf"
    assert [each.value for each in app.text] == [there, "bm25", f"{there}&query=q2"]


def shows_a_list_or_what_was_opened() -> None:
    import streamlit as st

    from labeler.ui import url_state

    if url_state.get("query") is None:
        url_state.choose_tab("Show", ["List", "Why"], "view")
        url_state.choose("Sorted", ["worst", "unjudged"], "sort")
        url_state.write_text("Query", "query")
        url_state.choose_page(3)
    st.text(url_state.this_page_url("queries"))


def test_what_a_browser_still_says_of_boxes_that_are_gone_changes_no_address() -> None:
    app = AppTest.from_function(shows_a_list_or_what_was_opened).run()
    of_the_list = app._tree.get_widget_states()
    app.query_params["query"] = "q2"
    app.query_params["sort"] = "unjudged"
    app.query_params["page"] = "2"
    app.run()
    opened = app.text[0].value
    app._run(of_the_list)  # such as a push that crosses the click
    assert app.text[0].value == opened == "queries?query=q2&sort=unjudged&page=2"


def test_a_choice_that_is_taken_back_before_the_page_has_run_is_taken_back() -> None:
    app = AppTest.from_function(shows_a_list_or_what_was_opened).run()
    app.selectbox[0].select("unjudged").run()
    assert app.text[0].value == "queries?sort=unjudged"
    app.selectbox[0].select("worst").run()
    assert app.text[0].value == "queries"


def chooses_measures() -> None:
    import streamlit as st

    from labeler.ui import url_state

    options = ["R@10", "R@100", "RR@10"]
    url_state.choose_several("Measures", "Add a measure", "measure", options, ["nDCG@10", "RR"])
    st.text(url_state.this_page_url("scores"))


def test_one_more_is_added_to_those_that_are_chosen_and_the_usual_ones_are_left_out() -> None:
    app = AppTest.from_function(chooses_measures).run()
    app.selectbox[0].set_value("R@10").run()
    assert app.text[0].value == "scores?measure=nDCG%4010&measure=RR&measure=R%4010"
    assert (app.selectbox[0].value, app.selectbox[0].options) == (None, ["R@100", "RR@10"])
    app.multiselect[0].unselect("R@10").run()
    assert app.text[0].value == "scores"
