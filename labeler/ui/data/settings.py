"""Data > Settings: the words of the scale, what measures need, and how chunks are handed out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from labeler.formats import map_named, map_text
from labeler.model import (
    COUNT_TRANSFERRED,
    GOLDEN_RULE_MEANINGS,
    GOLDEN_RULES,
    GRADES,
    IGNORE_TRANSFERRED,
    LONGEST_MAP,
    LONGEST_MEANING,
    LONGEST_NOUN,
    LONGEST_TITLE,
    LONGEST_WORD,
    MOST_CHUNKS,
    STRATEGIES,
    TASKS,
    TRANSFER_CHOICES,
    Settings,
    capitalize_first,
)
from labeler.ui import assignment_cache, filter_widgets
from labeler.ui import shared as ui

TASK_NAMES = {
    "single": "single answer",
    "research": "research",
    "compliance": "compliance lookup",
    "longtail": "long tail",
}
POOL_DEPTH = (
    "How many chunks from the top of each run are to be graded for a query. Deeper means fewer "
    "unjudged chunks in the measures and more to grade."
)
PROMPT_K_HELP = (
    "How many chunks your product really puts into the prompt: what `@prompt` in a measure's name "
    "stands for."
)
GOLDEN_RULE = (
    "What counts where people gave a chunk different grades. "
    + " ".join(
        f"{capitalize_first(rule)}: {words}." for rule, words in GOLDEN_RULE_MEANINGS.items()
    )
    + " An adjudication comes before any of them. What was given stays as it is: the rule can be "
    "changed back."
)
TRANSFERRED_HELP = (
    "Grades that follow from those of chunks that were cut another way. They count only where "
    "nobody has graded and no file has, and how many a number rests on stands beside it."
)
TRANSFERRED_LABELS = {
    COUNT_TRANSFERRED: "count below all others",
    IGNORE_TRANSFERRED: "do not count",
}
STRATEGY = (
    "Query by query: all chunks of one query, then the next. Most useful first: of each query the "
    "five chunks that stand high in many runs, then five more of each. Least judged first: "
    "queries of which the least is graded. Only unjudged of A vs B: what two runs have near their "
    "top and nobody has graded. What decides A vs B: of these, the chunks whose grades say soonest "
    "which of the two is better; once that is settled, query by query."
)
DECIDE_BY = "The one measure that says which of two runs is better, on Compare and everywhere else."
MEASURES = (
    "Measures with a test of their own beside that one, corrected for how many they are. Other "
    "measures can be shown, but are not tested."
)
MATTERS = "A smaller difference is too small to act on, and nobody is asked for grades over it."
TASK_MEASURES = (
    "The primary measure and, after a space, the secondary one. Scores, Compare and Slices start "
    "with these where a task is looked at; no number depends on it."
)
OVERLAP = (
    "The share of queries that every grader gets, whatever others have graded in them: without it "
    "nobody can tell how far graders agree."
)
HOW_TO_GRADE = (
    "In words of your own, for all queries; a query's own guideline stands beside it. Empty: "
    "graders read what stands here in grey."
)
NAMES = (
    "What graders call a query and a chunk, one and several: a question and passages, a case and "
    "clauses. The engineers' pages say query and chunk."
)
CONTACT = "Stands on a grader's first card and under the guideline."
NO_RUN = "no run"
EVIDENCE = (
    "Who grades may mark the passages of the text that made a grade. Once a grade is saved that is "
    "at least this one, a line asks for them; it may be left open."
)
SHOW_EARLIER_HELP = (
    "Where somebody grades what a transfer leaves open: which grade is likely, whose grades that "
    "rests on, and which words they marked. Grades given so are not blind, and agreement leaves "
    "them aside. Without it such grades are blind, and take longer."
)
HIGHLIGHT_HELP = (
    "It draws the eye to passages that share words with the question, so grades tend towards "
    "keyword search. Each grade keeps whether the words were highlighted; graders switch it with M."
)
NAME_HELP = "In the header of every page and in invitations. Empty: the name of its file."
FIELD_MAP = "Where the fields of files stand"
FIELD_MAP_HELP = (
    "The map that read a file last, as 'labeler load --map' takes it. It is tried on files of no "
    "known kind. Empty: none is."
)
EVIDENCE_FROM: tuple[int | None, ...] = (None, *GRADES)

ReadValues = Callable[[], Mapping[str, Any]]


def show_settings() -> None:
    """Let the team set the words of the scale, the threshold, prompt sizes and the grading."""
    with ui.open_store() as store:
        settings, names = store.settings(), [run.name for run in store.runs()]
    with st.form("settings", border=False):
        name = st.text_input(
            "Name of the golden set",
            settings.name,
            max_chars=LONGEST_TITLE,
            placeholder=ui.golden_set_name(),
            help=NAME_HELP,
        )
        scale, measured = scale_form(settings), measuring_form(settings)
        graded = grading_form(settings, names)
        field_map = st.text_input(
            FIELD_MAP, settings.field_map, max_chars=LONGEST_MAP, help=FIELD_MAP_HELP
        )
        if st.form_submit_button("Save settings", type="primary"):
            with ui.guard(), ui.open_store() as store:
                kept = field_map.strip()
                if kept and kept != settings.field_map:
                    kept = map_text(map_named(kept))
                chosen = replace(
                    settings,
                    **{**scale(), **measured(), **graded()},
                    name=name.strip(),
                    field_map=kept,
                )
                assignment_cache.check_measures(chosen)
                store.save_settings(chosen)
            ui.done("Saved")  # drawn anew: a field that starts with another value is another field


def scale_form(settings: Settings) -> ReadValues:
    """Draw what the grades mean, in a word and in a line; return what reads them."""
    with st.container(horizontal=True):
        words = [
            st.text_input(f"Grade {grade} means", word, max_chars=LONGEST_WORD, key=f"word-{grade}")
            for grade, word in zip(GRADES, settings.words, strict=True)
        ]
    with st.container(horizontal=True):
        meanings = [
            st.text_input(f"Grade {grade} in a line", meaning, max_chars=LONGEST_MEANING)
            for grade, meaning in zip(GRADES, settings.meanings, strict=True)
        ]
    return lambda: {"words": tuple(words), "meanings": tuple(meanings)}


def measuring_form(settings: Settings) -> ReadValues:
    """Draw the settings that measures depend on; return what reads them."""
    with st.container(horizontal=True):
        rel = st.selectbox("Relevant from grade", GRADES[1:], index=settings.rel - 1)
        prompt_k = st.number_input(
            "Prompt size", 1, MOST_CHUNKS, settings.prompt_k, help=PROMPT_K_HELP
        )
        rule = st.selectbox(
            "Several grades become one by",
            GOLDEN_RULES,
            GOLDEN_RULES.index(settings.golden_rule),
            help=GOLDEN_RULE,
        )
        transferred = st.selectbox(
            "Transferred grades",
            TRANSFER_CHOICES,
            TRANSFER_CHOICES.index(settings.transferred),
            format_func=TRANSFERRED_LABELS.__getitem__,
            help=TRANSFERRED_HELP,
        )
    by_task = _task_fields(settings)
    return lambda: {
        "rel": rel,
        "prompt_k": int(prompt_k),
        "golden_rule": rule,
        "transferred": transferred,
        **by_task(),
    }


def _task_fields(settings: Settings) -> ReadValues:
    """Draw what each kind of question has of its own; return what reads it."""
    with st.container(horizontal=True):
        prompt_ks = {
            task: st.number_input(
                f"Prompt size for {TASK_NAMES[task]}",
                1,
                MOST_CHUNKS,
                settings.prompt_k_by_task.get(task),
                placeholder="the same",
            )
            for task in TASKS
        }
    with st.container(horizontal=True):
        measures = {
            task: st.text_input(
                f"Measures for {TASK_NAMES[task]}",
                settings.measures_by_task.get(task, ""),
                placeholder=filter_widgets.task_measures(task),
                max_chars=100,
                help=TASK_MEASURES,
            )
            for task in TASKS
        }
    return lambda: {
        "measures_by_task": {
            task: " ".join(names.split()) for task, names in measures.items() if names.strip()
        },
        "prompt_k_by_task": {task: int(value) for task, value in prompt_ks.items() if value},
    }


def grading_form(settings: Settings, names: Sequence[str]) -> ReadValues:
    """Draw the settings that graders meet; return what reads them."""
    guideline = st.text_area(
        "How to grade",
        settings.guideline,
        help=HOW_TO_GRADE,
        placeholder=settings.default_guideline,
        height=240,
    )
    called = names_form(settings)
    shown = shown_form(settings)
    with st.container(horizontal=True):
        depth = st.number_input("Pool depth", 1, MOST_CHUNKS, settings.pool_depth, help=POOL_DEPTH)
        percent = round(settings.overlap * 100)
        overlap = st.number_input("Queries for everyone, %", 0, 100, percent, help=OVERLAP)
        strategy = st.selectbox(
            "Which chunks come first",
            STRATEGIES,
            STRATEGIES.index(settings.strategy),
            help=STRATEGY,
        )
    with st.container(horizontal=True):
        pair = [
            st.selectbox(f"Run {side}, for A vs B", [NO_RUN, *names], run_index(run, names))
            for side, run in zip("AB", settings.unjudged_of or (None, None), strict=True)
        ]
        decide_by = st.text_input("Decide by", settings.decide_by, max_chars=100, help=DECIDE_BY)
        measures = st.text_input("Tested measures", settings.measures, max_chars=200, help=MEASURES)
        matters = st.number_input(
            "A difference that matters", 0.0, 1.0, settings.matters, 0.005, "%.3f", help=MATTERS
        )
    return lambda: {
        "guideline": guideline.strip(),
        **called(),
        **shown(),
        "pool_depth": int(depth),
        "overlap": settings.overlap if overlap == percent else overlap / 100,
        "strategy": strategy,
        "unjudged_of": None if NO_RUN in pair else tuple(pair),
        "decide_by": decide_by.strip(),
        "measures": " ".join(measures.split()),
        "matters": matters,
    }


def shown_form(settings: Settings) -> ReadValues:
    """Draw what graders are shown beside a chunk, and asked for; return what reads it."""
    reference = st.checkbox("Show graders the reference answer", settings.show_reference)
    before = st.checkbox(
        "Show graders what was marked before documents were cut anew",
        settings.show_before,
        help=SHOW_EARLIER_HELP,
    )
    highlight = st.checkbox(
        "Highlight the question's words in what graders read",
        settings.highlight,
        help=HIGHLIGHT_HELP,
    )
    evidence_from = st.selectbox(
        "Ask for the evidence of a grade",
        EVIDENCE_FROM,
        EVIDENCE_FROM.index(settings.evidence_from),
        format_func=describe_evidence_grade,
        help=EVIDENCE,
    )
    return lambda: {
        "show_reference": reference,
        "show_before": before,
        "highlight": highlight,
        "evidence_from": evidence_from,
    }


def describe_evidence_grade(grade: int | None) -> str:
    """Say from which grade on graders are asked which passage made it."""
    return "never" if grade is None else f"from grade {grade} on" if grade else "always"


def names_form(settings: Settings) -> ReadValues:
    """Draw what graders call things, and whom they ask; return what reads them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        question, questions, passage, passages = [
            st.text_input(label, name, max_chars=LONGEST_NOUN, help=NAMES)
            for label, name in zip(
                ("A query is called", "Queries are", "A chunk is called", "Chunks are"),
                (*settings.question, *settings.passage),
                strict=True,
            )
        ]
        contact = st.text_input("Whom graders ask", settings.contact, max_chars=200, help=CONTACT)
    return lambda: {
        "question": (question.strip(), questions.strip()),
        "passage": (passage.strip(), passages.strip()),
        "contact": contact.strip(),
    }


def run_index(run: str | None, names: Sequence[str]) -> int:
    """Return a run's index in the choice of runs; a dropped run counts as none."""
    return names.index(run) + 1 if run in names else 0
