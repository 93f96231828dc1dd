"""Data > Settings: what graders read, who gets what, what counts, and how A and B are compared."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from labeler.errors import BadInput
from labeler.evaluation import MEASURES_BY_TASK
from labeler.formats import map_named, map_text
from labeler.model import (
    AUTOMATIC,
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
    TRANSFER_CHOICES,
    Settings,
    capitalize_first,
    format_count,
    order_buckets,
)
from labeler.render.words import LANGUAGES
from labeler.services.assignment.practice import practice_examples
from labeler.ui import assignment_cache
from labeler.ui import shared as ui

TASK_EXAMPLE = "single: 3 chunks, RR Success@1"
TASK_LINE = re.compile(
    r"(?P<task>.*):\s*"
    r"(?:(?P<size>\d{1,3}(?:,\d{3})+|\d{1,9})(?:\s*chunks?)?\s*(?:,|$|\s))?\s*(?P<measures>[^:]*)"
)
TASKS_HELP = (
    f"One task per line, as in {TASK_EXAMPLE}: how many chunks its prompt gets, and the first and "
    "second measure. Scores, Compare and Slices start with these measures if you look at that "
    "task; no number depends on them."
)
POOL_DEPTH = (
    "How many chunks from the top of each run are graded for a query. Deeper leaves fewer unjudged "
    "chunks in the measures, and means more to grade."
)
PROMPT_K_HELP = "How many chunks your product puts into the prompt. R@prompt counts these."
GOLDEN_RULE = (
    "What counts if people gave a chunk different grades. "
    + " ".join(
        f"{capitalize_first(rule)}: {words}." for rule, words in GOLDEN_RULE_MEANINGS.items()
    )
    + " A decision on Review > Disagreements comes before any of them. No grade is lost: you can "
    "change the rule back."
)
TRANSFERRED_HELP = (
    "Grades transferred from another chunking. They count only where there is no grade by a person "
    "or from a file. Pages say how many were used."
)
TRANSFERRED_LABELS = {
    COUNT_TRANSFERRED: "count below all others",
    IGNORE_TRANSFERRED: "do not count",
}
STRATEGY = (
    "Query by query: all chunks of one query, then the next. Most useful first: of each query the "
    "five chunks that rank high in many runs, then five more of each. Least judged first: queries "
    "with the smallest share of graded chunks. Only unjudged of A vs B: what two runs return near "
    "the top and nobody has graded. What decides A vs B: of these, the chunks whose grades show "
    "soonest which run is better; once that is settled, query by query."
)
DECIDE_BY = "The one measure that says which of two runs is better, on all pages."
MEASURES = (
    "Measures that are tested beside it, corrected for how many they are. Other measures can be "
    "shown but are not tested."
)
MATTERS = "Smaller differences are too small to act on. Nobody is asked to grade because of them."
OVERLAP = "Share of the queries that every grader gets, so that you can see how far they agree."
GENERIC_GUIDELINE = (
    "This is the generic guideline. Start from this text: say what each grade means for your "
    "documents. A query's own guideline is shown beside it."
)
OWN_GUIDELINE = "A query's own guideline is shown beside it. Empty: the generic guideline."
NAMES = (
    "What graders call a query and a chunk, singular and plural: a question and passages, a case "
    "and clauses. Engineers see query and chunk."
)
CONTACT = "Shown on a grader's first card and under the guideline."
NO_RUN = "no run"
EVIDENCE = (
    "Graders can mark the words their grade rests on. From this grade on they are asked to; they "
    "may leave it out."
)
SHOW_EARLIER_HELP = (
    "What a transfer leaves to graders is shown with the likely grade, who gave it and which words "
    "were marked. Grades given with this help are not blind, and agreement leaves them out."
)
NAME_HELP = "In the header of every page and in invitations. Empty: the name of its file."
FIELD_MAP = "Field map for files"
FIELD_MAP_HELP = (
    "The map used last, as in 'labeler load --map'. It is tried on files of unknown kind."
)
HIGHLIGHT_HELP = (
    "It draws the eye to passages that share words with the question, so grades tend towards "
    "keyword search. Each grade keeps whether the words were highlighted; graders switch it with M."
)
LANGUAGE_HELP = (
    "Of all that graders see, invitations included; other pages stay in English. Automatic: as "
    "each grader's browser asks. A guideline and names of your own stay as you write them."
)
PRACTICE_HELP = (
    "Three graded passages that graders can practise on, one per line: the query's id, then the "
    "chunk's; an id with a space in quotes. They see the golden grade after their own, which is "
    "not saved. Empty: an example that is built in."
)
EVIDENCE_FROM: tuple[int | None, ...] = (None, *GRADES)

ReadValues = Callable[[], Mapping[str, Any]]


def show_settings() -> None:
    """Let the team set what graders read, who gets what, what counts, and how runs are compared."""
    with ui.open_store() as store:
        settings, names = store.settings.read(), [run.name for run in store.runs.all()]
        several = len(store.chunkings.names()) > 1
        tasks = store.queries.facets().get("task", ())
    with st.form("settings", border=False):
        name = st.text_input(
            "Name of the golden set",
            settings.name,
            max_chars=LONGEST_TITLE,
            placeholder=ui.golden_set_name(),
            help=NAME_HELP,
            width=480,
        )
        st.header("What graders read")
        groups = [reading_form(settings)]
        st.header("Who gets what")
        groups.append(assignment_form(settings, names, several=several))
        st.header("What counts")
        groups.append(counting_form(settings, tasks, several=several))
        st.header("A vs B")
        groups.append(comparison_form(settings))
        with st.expander("Files"):
            field_map = st.text_input(
                FIELD_MAP, settings.field_map, max_chars=LONGEST_MAP, help=FIELD_MAP_HELP
            )
        if st.form_submit_button("Save settings", type="primary"):
            with ui.guard(), ui.open_store() as store:
                kept = field_map.strip()
                if kept and kept != settings.field_map:
                    kept = map_text(map_named(kept))
                given = {key: value for read in groups for key, value in read().items()}
                chosen = replace(settings, **given, name=name.strip(), field_map=kept)
                assignment_cache.check_measures(chosen)
                if chosen.practice != settings.practice:
                    practice_examples(store, chosen.practice)
                store.settings.save(chosen)
            ui.done("Saved")  # run again: a field with another initial value is a new field


def reading_form(settings: Settings) -> ReadValues:
    """Draw the texts for graders: guideline, words of the scale, and what is shown beside."""
    st.caption(OWN_GUIDELINE if settings.guideline else GENERIC_GUIDELINE)
    text = settings.guideline or settings.default_guideline
    guideline = st.text_area("Guideline", text, height=240, width=760)
    scale, called = scale_form(settings), names_form(settings)
    languages = [AUTOMATIC, *LANGUAGES]
    language = st.selectbox(
        "Language of the grading pages",
        languages,
        languages.index(settings.language) if settings.language in languages else 0,
        format_func=describe_language,
        help=LANGUAGE_HELP,
        width=320,
    )
    practice = practice_field(settings.practice)
    reference = st.checkbox("Show graders the reference answer", settings.show_reference)
    highlight = st.checkbox(
        "Highlight the question's words in passages", settings.highlight, help=HIGHLIGHT_HELP
    )
    evidence_from = st.selectbox(
        "Ask for the words a grade rests on",
        EVIDENCE_FROM,
        EVIDENCE_FROM.index(settings.evidence_from),
        format_func=describe_evidence_grade,
        help=EVIDENCE,
        width=320,
    )

    def read() -> Mapping[str, Any]:
        own = guideline.strip()
        generic = settings.default_guideline.strip()
        return {
            "guideline": "" if own == generic else own,
            **scale(),
            **called(),
            "language": language,
            "practice": read_practice(practice),
            "show_reference": reference,
            "highlight": highlight,
            "evidence_from": evidence_from,
        }

    return read


def practice_field(ids: Sequence[str]) -> str:
    """Draw the field for passages to practise on; return its text."""
    return st.text_area(
        "Passages for practice",
        "\n".join(shlex.join(pair) for pair in zip(ids[::2], ids[1::2], strict=True)),
        placeholder="QUERY CHUNK",
        help=PRACTICE_HELP,
        height=96,
        width=480,
    )


def read_practice(text: str) -> tuple[str, ...]:
    """Return the ids in the field, a query's and a chunk's in turn.

    >>> read_practice("q1 'c 1'\\nq2 c2\\nq3 c3")
    ('q1', 'c 1', 'q2', 'c2', 'q3', 'c3')
    """
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise BadInput(f"passages for practice: {error}; ids with a quote need quotes") from None


def describe_language(code: str) -> str:
    """Return a language's own name, or that the browser decides."""
    return "automatic, by the browser" if code == AUTOMATIC else LANGUAGES[code].name


def scale_form(settings: Settings) -> ReadValues:
    """Draw the word and the meaning of each grade; return a function that reads them."""
    words, meanings = [], []
    for grade, word, meaning in zip(GRADES, settings.words, settings.meanings, strict=True):
        with st.container(horizontal=True):
            words.append(
                st.text_input(
                    f"Name of grade {grade}",
                    word,
                    max_chars=LONGEST_WORD,
                    key=f"word-{grade}",
                    width=240,
                )
            )
            meanings.append(
                st.text_input(
                    f"Grade {grade} explained", meaning, max_chars=LONGEST_MEANING, width=504
                )
            )
    return lambda: {"words": tuple(words), "meanings": tuple(meanings)}


def names_form(settings: Settings) -> ReadValues:
    """Draw the nouns that graders read and the contact; return a function that reads them."""
    labels = (
        "Word for query, singular",
        "Word for query, plural",
        "Word for chunk, singular",
        "Word for chunk, plural",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        question, questions, passage, passages = [
            st.text_input(label, name, max_chars=LONGEST_NOUN, help=NAMES, width=240)
            for label, name in zip(labels, (*settings.question, *settings.passage), strict=True)
        ]
    contact = st.text_input(
        "Contact for graders", settings.contact, max_chars=200, help=CONTACT, width=480
    )
    return lambda: {
        "question": (question.strip(), questions.strip()),
        "passage": (passage.strip(), passages.strip()),
        "contact": contact.strip(),
    }


def assignment_form(settings: Settings, names: Sequence[str], *, several: bool) -> ReadValues:
    """Draw the assignment of chunks to graders and its order; return a function that reads it."""
    with st.container(horizontal=True):
        depth = st.number_input("Pool depth", 1, MOST_CHUNKS, settings.pool_depth, help=POOL_DEPTH)
        percent = round(settings.overlap * 100)
        overlap = st.number_input("Share graded by everyone, %", 0, 100, percent, help=OVERLAP)
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
    before = settings.show_before
    if several:
        before = st.checkbox(
            "Show graders what was marked before documents were re-split",
            settings.show_before,
            help=SHOW_EARLIER_HELP,
        )
    return lambda: {
        "pool_depth": int(depth),
        "overlap": settings.overlap if overlap == percent else overlap / 100,
        "strategy": strategy,
        "unjudged_of": None if NO_RUN in pair else tuple(pair),
        "show_before": before,
    }


def counting_form(settings: Settings, tasks: Sequence[str], *, several: bool) -> ReadValues:
    """Draw what measures count, with the own settings of each of the ``tasks``."""
    with st.container(horizontal=True):
        rel = st.selectbox("Relevant from grade", GRADES[1:], index=settings.rel - 1)
        prompt_k = st.number_input(
            "Chunks in the prompt", 1, MOST_CHUNKS, settings.prompt_k, help=PROMPT_K_HELP
        )
        rule = st.selectbox(
            "When graders differ, use",
            GOLDEN_RULES,
            GOLDEN_RULES.index(settings.golden_rule),
            help=GOLDEN_RULE,
        )
        transferred = settings.transferred
        if several:
            transferred = st.selectbox(
                "Transferred grades",
                TRANSFER_CHOICES,
                TRANSFER_CHOICES.index(settings.transferred),
                format_func=TRANSFERRED_LABELS.__getitem__,
                help=TRANSFERRED_HELP,
            )
    by_task = task_field(settings, tasks)
    return lambda: {
        "rel": rel,
        "prompt_k": int(prompt_k),
        "golden_rule": rule,
        "transferred": transferred,
        **by_task(),
    }


def task_field(settings: Settings, tasks: Sequence[str]) -> ReadValues:
    """Draw the settings of each task, one per line; return a function that reads them.

    Draws nothing if neither a query nor a setting has a task.
    """
    own = [*tasks, *settings.prompt_k_by_task, *settings.measures_by_task]
    named = order_buckets(dict.fromkeys(own, 1))
    if not named:
        return dict
    text = st.text_area(
        "Tasks with values of their own",
        "\n".join(task_line(settings, task) for task in named),
        help=TASKS_HELP,
        height=16 + 24 * max(len(named) + 1, 3),
        width=480,
    )
    usual = [f"{task} {MEASURES_BY_TASK[task]}" for task in named if task in MEASURES_BY_TASK]
    chunks = format_count(settings.prompt_k, "chunk", "chunks")
    measures = f" ({', '.join(usual)})" if usual else ""
    st.caption(f"Without values: {chunks} in the prompt, and the usual measures{measures}.")
    return lambda: read_tasks(text)


def task_line(settings: Settings, task: str) -> str:
    """Return the settings of a task as a line of text.

    >>> task_line(Settings(prompt_k_by_task={"single": 3}), "single")
    'single: 3 chunks'
    """
    size = settings.prompt_k_by_task.get(task)
    chunks = None if size is None else format_count(size, "chunk", "chunks")
    values = filter(None, (chunks, settings.measures_by_task.get(task)))
    return f"{task}: {', '.join(values)}".rstrip()


def read_tasks(text: str) -> Mapping[str, Any]:
    """Return the prompt sizes and the measures of tasks; raises `BadInput` with the line.

    >>> read_tasks("single: 3 chunks, RR Success@1\\nlaw: EU: nDCG@10\\nlongtail:")
    {'prompt_k_by_task': {'single': 3}, 'measures_by_task': {'single': 'RR Success@1', \
'law: EU': 'nDCG@10'}}
    """
    sizes: dict[str, int] = {}
    measures: dict[str, str] = {}
    seen: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        found = TASK_LINE.fullmatch(line.strip())
        if found is None:
            raise BadInput(f"tasks, line {number}: {line.strip()!r} is not like {TASK_EXAMPLE!r}")
        task = found["task"].strip()
        if task in seen:
            raise BadInput(f"tasks, line {number}: {task!r} occurs twice")
        seen.add(task)
        if found["size"]:
            sizes[task] = int(found["size"].replace(",", ""))
        if names := " ".join(found["measures"].split()):
            measures[task] = names
    return {"prompt_k_by_task": sizes, "measures_by_task": measures}


def comparison_form(settings: Settings) -> ReadValues:
    """Draw the rules that decide between two runs; return a function that reads them."""
    with st.container(horizontal=True):
        decide_by = st.text_input("Decide by", settings.decide_by, max_chars=100, help=DECIDE_BY)
        measures = st.text_input("Tested measures", settings.measures, max_chars=200, help=MEASURES)
        matters = st.number_input(
            "A difference that matters", 0.0, 1.0, settings.matters, 0.005, "%.3f", help=MATTERS
        )
    return lambda: {
        "decide_by": decide_by.strip(),
        "measures": " ".join(measures.split()),
        "matters": matters,
    }


def describe_evidence_grade(grade: int | None) -> str:
    """Say from which grade on graders are asked for evidence."""
    return "never" if grade is None else f"from grade {grade} on" if grade else "always"


def run_index(run: str | None, names: Sequence[str]) -> int:
    """Return a run's index in the choice of runs; a dropped run counts as none."""
    return names.index(run) + 1 if run in names else 0
