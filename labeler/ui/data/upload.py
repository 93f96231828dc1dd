"""Data > Load: many files at once, each with its guessed kind, which the user can correct.

Files are loaded in order of dependency; one that fails does not stop the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import streamlit as st

from labeler.formats import LIMITS, FieldMap, Guess
from labeler.model import format_count
from labeler.render.markup import show_html, style
from labeler.services import import_export
from labeler.store import Contents, integrity
from labeler.store.addresses import parse_location
from labeler.ui import links, url_state
from labeler.ui import shared as ui
from labeler.ui.data.field_map import ChosenMap, RecordSample, choose_map, sample_of
from labeler.ui.data.setup_steps import SetupCounts, SetupStep, next_steps
from labeler.ui.data.upload_options import HINTS, ReadOptions, load_options
from labeler.ui.data.upload_outcome import UploadOutcome, UploadPlan, load_one

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator
    from streamlit.runtime.uploaded_file_manager import UploadedFile


KINDS = {
    "records": "questions with results",
    "queries": "queries",
    "documents": "whole documents",
    "chunks": "chunks",
    "golden": "golden grades",
    "run": "a run",
    "beir": "a BEIR set",
    "version": "a frozen golden set",
    "complete": "a complete golden set",
    "answers": "answers",
    "signals": "signals of use",
}
LEFT_OUT = "leave it out"
DROP_HERE = "Drop your files here, all at once"
EXAMPLES = """\
questions     {"query": "how long does a refund take?",
 with results  "results": [{"id": "c7", "text": "A refund takes three days.", "score": 12.5}]}
queries       {"query_id": "q1", "query": "how long does a refund take?"}
chunks        {"chunk_id": "c7", "text": "A refund takes three days.", "title": "Refunds"}
a run         q1 Q0 c7 1 12.5 bm25            (TREC: query Q0 chunk rank score tag)
              {"query_id": "q1", "results": [{"chunk_id": "c7", "score": 12.5}]}
golden grades q1 0 c7 3                       (TREC qrels: query 0 chunk grade)
              query,docid,rating              (a table with a header)
answers       {"run": "bm25", "query": "q1", "answer": "Three days.", "correct": "yes"}
signals       date,system,query,name,value,n  (a table with a header; query and n may be missing)

One per line. CSV and TSV with a header, a JSON list and Parquet work too, also as .gz.
Questions with results are read as LangChain, LlamaIndex, Haystack, RAGAS, DeepEval and
search engines write them; for other tools you name the fields.
Files of Quepid, OpenSearch and ranx work as they are, and a BEIR folder as .zip.
Logs of what users asked, generated questions and thumbs are loaded under Queries > Candidates."""
CHECK = (
    "Check what each file is, then load them together. A file that holds several things, such as "
    "questions and results, is loaded whole."
)
WHAT_ALL_NEED = "; queries need "  # begins the message of every unrecognised file
EXAMPLES_LABEL = "What files look like"
SEE_EXAMPLES = f"see '{EXAMPLES_LABEL}' below"
SAY_WHERE = "name its fields below"
MAPPABLE = f"if it holds questions with results, {SAY_WHERE}"
COLUMNS = (2.6, 3.4, 2.2, 5)
HEADINGS = ("File", "What it is", "Name of its run", "What was found")
# For rows of a table that has fields, not for those of a form.
STYLE = """
    .st-key-files [data-testid="stText"] { font-size: 0.875rem; }
    .st-key-files .sample {
        display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.125rem 1rem;
        margin: 0 0 0.5rem; padding: 0; font-size: 0.875rem; overflow-wrap: anywhere;
    }
    .st-key-files .sample dt { opacity: 0.7; font-weight: 400; }
    .st-key-files .sample dd { margin: 0; }
    .st-key-headings [data-testid="stText"], [class*="st-key-taken"] [data-testid="stText"] {
        opacity: 0.7;
    }
    [class*="st-key-file-row"] {
        padding: 0.5rem 0; border-top: 1px solid rgb(128 128 128 / 40%);
        row-gap: 0.25rem;
    }
    @media (max-width: 640px) {
        .st-key-headings { display: none; }
        .st-key-files [data-testid="stHorizontalBlock"] { gap: 0.25rem; }
        .st-key-files [data-testid="stColumn"]:empty { display: none; }
        .st-key-files .sample { grid-template-columns: minmax(0, 1fr); gap: 0; }
        .st-key-files .sample dd { margin-bottom: 0.25rem; }
    }
    [data-testid="stFileUploaderDropzone"] { min-height: 6rem; align-items: center; }
"""
INVITE_LABEL = "Invite graders"
PAGES = {"grade": ("/", "Start grading"), "score": ("/scores", "See the measures")}
ROUND = "turn"  # how often all files were loaded; each time the drop area is emptied


@dataclass(frozen=True, slots=True)
class DroppedFile:
    """A file, its guessed kind, and the remembered map if only that can read it."""

    file: UploadedFile
    found: Guess
    kept_map: FieldMap | None


def show_upload() -> None:
    """Take files, show their guessed kinds, load them, and link to the next step."""
    show_html(style(STYLE))
    chooser = st.empty()
    files = files_from(chooser)
    if files:
        plan_and_load(files, chooser)
    else:
        show_next_steps()
    with st.expander(EXAMPLES_LABEL):
        st.code(EXAMPLES, language=None, wrap_lines=True)
    with st.expander("Limits"):
        st.text(describe_limits())


def plan_and_load(files: Sequence[UploadedFile], chooser: DeltaGenerator) -> None:
    """Show the guessed kind of each file, and load them when the user presses the button."""
    heading = st.empty()
    plans, recognised = plan_files(files)
    said, controls = st.container(), st.empty()
    wanted = [plan for plan in plans if plan.kind in KINDS]
    untold = sum(plan.kind is None for plan in plans)
    with controls.container():
        options = load_options(kinds_of(plans))
        pressed = load_button(len(wanted), untold)
    if not pressed:
        show_heading(heading, recognised, len(files))
        return
    with said:
        outcomes = load_all(wanted, options)
        show_conclusion(outcomes, untold)
        show_next_steps()
        show_reports(outcomes)
    if not untold and not any(each.error for each in outcomes):
        controls.empty()
        st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
        files_from(chooser)


def show_heading(place: DeltaGenerator, recognised: int, total: int) -> None:
    """Say how many files are recognised, and what to do."""
    some = format_count(total, "file", "files")
    if recognised == total:
        said = f"{some} recognised"
    elif total == 1:
        said = "The file is not recognised"
    else:
        said = f"{recognised} of {some} recognised"
    with place.container(gap="xsmall"):
        st.header(f"{said}. Nothing is loaded yet.", anchor=False)
        st.caption(CHECK)


def describe_limits() -> str:
    """Return the largest size of a file in words."""
    upload, most = st.get_option("server.maxUploadSize"), LIMITS
    return (
        f"{upload} MB per file, {most.unpacked // 10**9} GB unpacked, {most.text // 10**6} MB per "
        f"text, {most.id:,} bytes per id. Larger files: use the command line, 'labeler load FILE'."
    )


def load_button(wanted: int, untold: int) -> bool:
    """Draw the button that loads ``wanted`` files; return whether it was pressed."""
    label = f"Load {format_count(wanted, 'file', 'files')}"
    if untold and wanted:
        label += f" ({untold} not recognised)"
    elif untold:
        label = f"{format_count(untold, 'file', 'files')} not recognised"
    return st.button(label, type="primary", key="load", disabled=not wanted)


def files_from(place: DeltaGenerator) -> list[UploadedFile]:
    """Draw the area where files are dropped; it is a new one after all files were loaded."""
    return place.file_uploader(
        DROP_HERE, accept_multiple_files=True, key=f"files-{st.session_state.get(ROUND, 0)}"
    )


def plan_files(files: Sequence[UploadedFile]) -> tuple[list[UploadPlan], int]:
    """Show the guessed kind of each file in the order of loading, and let the user correct it.

    Return the plans, and how many files were recognised.
    """
    with ui.open_store() as store:
        remembered = store.settings.read().field_map
    dropped = [DroppedFile(file, *recognise(file.file_id, remembered, file)) for file in files]
    order = {kind: number for number, kind in enumerate(import_export.LOADS)}
    dropped.sort(key=lambda each: order.get(each.found.kind or "", len(order)))
    taken: set[str] = set()
    with st.container(gap=None, key="files"):
        with st.container(key="headings"):
            for column, heading in zip(st.columns(COLUMNS), HEADINGS, strict=True):
                column.text(heading)
        plans = [plan_in_row(number, each, taken) for number, each in enumerate(dropped, 1)]
    named = Counter(plan.run_name for plan in plans if plan.kind in ("run", "records"))
    for name, often in named.items():
        if often > 1 and name is not None:
            st.text(f"⚠ {often} files have the run name {name!r}: give each its own")
    return plans, sum(each.found.kind is not None for each in dropped)


@st.cache_data(max_entries=64, ttl=900, show_spinner=False)
def recognise(file_id: str, remembered: str, _file: UploadedFile) -> tuple[Guess, FieldMap | None]:
    """Return a file's guessed kind, and the remembered map if only that can read it."""
    return import_export.recognise(_file.name, _file.getvalue(), remembered=remembered)


def plan_in_row(number: int, dropped: DroppedFile, taken: set[str]) -> UploadPlan:
    """Show a file in its own row, see `plan_of`."""
    with st.container(gap=None, key=f"file-row-{number}"):
        return plan_of(number, dropped, taken)


def plan_of(number: int, dropped: DroppedFile, taken: set[str]) -> UploadPlan:
    """Show a file's guessed kind and why; let the user change it, the map and a run's name."""
    file, found = dropped.file, dropped.found
    named, chosen, called, why = st.columns(COLUMNS, vertical_alignment="center")
    named.text(file.name)
    kinds = [*dict.fromkeys((*found.could_be, *KINDS)), LEFT_OUT]
    key = f"kind-{file.file_id}"
    kind = chosen.selectbox(
        f"What file {number} holds",
        kinds,
        index=None if found.kind is None else kinds.index(found.kind),
        format_func=lambda kind: KINDS.get(kind, kind),
        placeholder="choose …",
        key=key,
        label_visibility="collapsed",
    )
    status, folded = why.empty(), found.kind == kind == "records"
    choice = ChosenMap()
    if is_mappable(dropped, kind):
        choice = choose_map(file, dropped.kept_map, key, folded=folded)
    name = name_run(number, file, kind, choice.sample, called, taken)
    show_reason(status, found, kind, choice.sample)
    has_grades = kind == "records" and choice.sample is not None and choice.sample.has_grades
    below = st.container(gap="xsmall")
    return UploadPlan(file, kind, name, status, below, choice.text, has_grades)


def is_mappable(dropped: DroppedFile, kind: str | None) -> bool:
    """Return whether a map can apply to a file: it has records, or may have."""
    found = dropped.found
    if kind is not None or found.kind is not None or found.could_be:
        return kind == "records"
    return bool(sample_of(dropped.file.file_id, "", dropped.file).fields)


def show_reason(
    place: DeltaGenerator, found: Guess, kind: str | None, sample: RecordSample | None
) -> None:
    """Say why a file has its guessed kind, or what the user has to choose.

    There is a ``sample`` of a file that a map may read.
    """
    if kind == "records" != found.kind and sample is not None and not found.could_be:
        place.text("read by the map below" if sample.rows else f"⚠ {SAY_WHERE}")
    elif kind is None and found.could_be:
        one_of = " or ".join(KINDS[each] for each in found.could_be)
        place.text(f"⚠ {one_of}? {re.split('[;:]', found.why)[0]}")
    elif kind is None:
        why, generic, _ = found.why.partition(WHAT_ALL_NEED)
        way = f"; {SEE_EXAMPLES if sample is None else MAPPABLE}" if generic else ""
        place.text(f"⚠ Couldn't tell what this is: {why}{way}")
    elif kind == found.kind:
        place.text(found.why)
    elif found.kind is not None and kind != LEFT_OUT:
        place.text(f"it looks like {KINDS[found.kind]}: {found.why}")


def name_run(
    number: int,
    file: UploadedFile,
    kind: str | None,
    sample: RecordSample | None,
    place: DeltaGenerator,
    taken: set[str],
) -> str | None:
    """Let the user name the run of a file; return the name, None if the file names its runs."""
    if kind == "answers":
        given = place.text_input(
            f"Run whose answers file {number} has",
            key=f"answered-{file.file_id}",
            placeholder="run, if not in the file",
            label_visibility="collapsed",
        )
        return given or None
    if kind not in ("run", "records"):
        return None
    usual, by_file = (
        import_export.run_name_of(file.name),
        sample is not None and sample.names_systems,
    )
    free = "" if by_file else unused_run_name(usual, taken)
    given = place.text_input(
        f"Name of the run in file {number}",
        free,
        key=f"name-{file.file_id}",
        placeholder="as the file names it" if by_file else usual,
        label_visibility="collapsed",
    )
    return given or (None if by_file else usual)


def unused_run_name(name: str, taken: set[str]) -> str:
    """Return a run name that no other file here suggests, and add it to ``taken``."""
    several = (name if number == 1 else f"{name}-{number}" for number in count(1))
    free = next(each for each in several if each not in taken)
    taken.add(free)
    return free


def kinds_of(plans: Sequence[UploadPlan]) -> set[str | None]:
    """Return the kinds of files that there are options for."""
    graded = {"graded records"} if any(plan.has_grades for plan in plans) else set()
    return {*(plan.kind for plan in plans), *graded}


def load_all(plans: Sequence[UploadPlan], options: ReadOptions) -> list[UploadOutcome]:
    """Load files in order of dependency; one that fails does not stop the others."""
    with ui.guard(HINTS):
        given = options()
        integrity.check_undamaged(parse_location(ui.database()))
    outcomes: list[UploadOutcome] = []
    for kind in import_export.LOADS:
        for plan in (plan for plan in plans if plan.kind == kind):
            outcomes.append(load_one(plan, given, outcomes))
    return outcomes


def show_conclusion(outcomes: Sequence[UploadOutcome], untold: int) -> None:
    """Say the outcome of all files in one line."""
    loaded = [each for each in outcomes if each.error is None]
    reports = [report for each in loaded for report in each.reports]
    total = len(outcomes) + untold
    if len(loaded) < total:
        some = f"{len(loaded)} of {total} files {'is' if len(loaded) == 1 else 'are'} loaded"
        st.warning(f"{some}. Beside the others you see why not.", icon=":material/warning:")
    elif any(report.warnings for report in reports):
        st.warning("Loaded, with warnings: see ⚠ above", icon=":material/warning:")
    elif any(report.changed for report in reports):
        st.success("Loaded", icon=":material/check:")
    else:
        st.info("Nothing new: everything in the files was loaded before")


def show_reports(outcomes: Sequence[UploadOutcome]) -> None:
    """Show the contents of the files in a fold."""
    reports = [str(report) for each in outcomes for report in each.reports]
    if reports:
        with st.expander("What the files held"):
            st.code("\n".join(reports), language=None)


def show_next_steps() -> None:
    """Show the next steps with links."""
    with ui.open_store() as store:
        contents, strangers = store.golden_set.contents(), store.runs.matching_nothing()
        graders = [way for way in store.people.ways_in() if way.stands and way.role == "grader"]
    st.markdown("**Next**")
    there = SetupCounts(
        queries=contents.queries,
        readable=contents.chunks - contents.chunks_without_text,
        runs=contents.runs,
        matching=contents.runs - len(strangers),
        grades=contents.golden,
        invited=len(graders),
    )
    for step in next_steps(there):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(step.sentence, width="content")
            show_step_link(step)


def show_step_link(step: SetupStep) -> None:
    """Draw the link to the page of a step, unless it is this page."""
    if step.task == "invite":
        st.button(INVITE_LABEL, on_click=url_state.write, kwargs={"section": "People"})
    elif step.task in PAGES:
        path, label = PAGES[step.task]
        links.link(label, url_state.to(path, **url_state.get_all(["a", "b"])))


def describe_contents(contents: Contents) -> str:
    """Return the amount of stored data in one line."""
    parts = [
        format_count(contents.queries, "query", "queries"),
        format_count(contents.chunks, "chunk", "chunks"),
        format_count(contents.runs, "run", "runs"),
        format_count(contents.golden, "golden grade", "golden grades"),
        format_count(contents.graders, "grader", "graders"),
    ]
    if contents.stale:
        stale = format_count(contents.stale, "grade", "grades")
        parts.append(f"{stale} of an earlier text")
    return " · ".join(parts)
