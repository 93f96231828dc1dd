"""The form that asks a lead for a name, if nobody is invited and no name is known yet."""

from __future__ import annotations

import streamlit as st

from labeler.model import check_name, name_key
from labeler.ui import shared as ui
from labeler.ui.grading import COOKIE
from labeler.web.static_js import loader

LONGEST_NAME = 80  # characters, as on Label
ANSWER = "name-answer"

_remember = st.components.v2.component("labeler_name", html="", js=loader("review", "remember"))


def ask_name(why: str) -> None:
    """Ask for the name of this browser's user, and load the page again with it.

    If the name is, or nearly is, that of a known grader, the form asks whether both are the same,
    as on Label.
    """
    with (
        st.form("name", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        typed = st.text_input("Your name", max_chars=LONGEST_NAME, help=why, width=320)
        pressed = st.form_submit_button("Start deciding", type="primary")
    if (answer := st.session_state.pop(ANSWER, None)) is not None:
        _remember(key="remember", data={"cookie": COOKIE, "name": answer})
    elif pressed:
        with ui.guard():
            name = check_name(typed.strip(), "grader")
        known = known_alike(name)
        if known is None:
            _remember(key="remember", data={"cookie": COOKIE, "name": name})
        else:
            ask_whether_same(name, *known)


def known_alike(name: str) -> tuple[str, int] | None:
    """Return a grader whose name differs in case or blanks at most, with their number of grades.

    An equal name is preferred.
    """
    with ui.open_store() as store:
        grades = store.activity.grades_by_grader()
    alike = [each for each in grades if name_key(each) == name_key(name)]
    return min(((each, grades[each]) for each in alike), key=lambda of: of[0] != name, default=None)


def ask_whether_same(name: str, known: str, grades: int) -> None:
    """Ask whether the user is the known grader, so that nobody becomes two people."""
    with st.container(border=True, key="name-question"):
        st.text(f"{known} has graded {grades:,} here. Is that you?")
        with st.container(horizontal=True):
            _answer("Yes, that's me", known)
            if name == known:
                st.text("If not, add something to your name that tells you apart.")
            else:
                _answer("No, someone else", name)


def _answer(label: str, name: str) -> None:
    kept = {ANSWER: name}
    st.button(label, key=f"name-{label}", on_click=st.session_state.update, args=[kept])
