"""Data > Load: many files at once, each with its guessed kind, which the user can correct.

Files are loaded in order of dependency; one that fails does not stop the others.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from labeler.errors import LabelerError
from labeler.formats import LIMITS, GradeCuts, Guess, guess, parse_grade_cuts, parse_grade_map
from labeler.model import LoadReport, format_count
from labeler.render.markup import show_html, style
from labeler.services import import_export
from labeler.store import Contents, integrity
from labeler.store.addresses import parse_location
from labeler.ui import links, url_state
from labeler.ui import shared as ui
from labeler.ui.data.runs import DATE_HELP, SYSTEM_HELP
from labeler.ui.data.setup_steps import SetupCounts, SetupStep, next_steps

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator
    from streamlit.runtime.uploaded_file_manager import UploadedFile


KINDS = {
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
DROP_HERE = (
    "Drop files here, all at once: queries, chunks, runs, golden grades, answers, signals; plain, "
    ".gz, or a BEIR .zip"
)
EXAMPLES = """\
queries       {"query_id": "q1", "query": "how long does a refund take?"}
chunks        {"chunk_id": "c7", "text": "A refund takes three days.", "title": "Refunds"}
a run         q1 Q0 c7 1 12.5 bm25            (TREC: query Q0 chunk rank score tag)
              {"query_id": "q1", "results": [{"chunk_id": "c7", "score": 12.5}]}
golden grades q1 0 c7 3                       (TREC qrels: query 0 chunk grade)
              query,docid,rating              (a table with a header)
answers       {"run": "bm25", "query": "q1", "answer": "Three days.", "correct": "yes"}
signals       date,system,query,name,value,n  (a table with a header; query and n may be missing)

A line each; CSV and TSV with a header are read, too, and all of it as .gz.
What Quepid, OpenSearch, RAGAS and ranx write is read as it is.
Logs of what users asked, generated questions and thumbs are loaded under Candidates."""
COLUMNS = (3, 2.7, 2.5, 5)
# The rows of a table with fields in it, not those of a form.
STYLE = """
    .st-key-files [data-testid="stText"] { font-size: 0.875rem; }
    @media (max-width: 640px) {
        .st-key-files [data-testid="stHorizontalBlock"] {
            gap: 0.25rem; padding: 0.5rem 0; border-top: 1px solid rgb(128 128 128 / 40%);
        }
        .st-key-files [data-testid="stColumn"]:empty { display: none; }
    }
    [data-testid="stFileUploaderDropzone"] { min-height: 6rem; align-items: center; }
"""
UPDATE = "Replace what is there with other content"
CHUNKING = "Chunking"
CHUNKING_HELP = (
    "Chunks make a chunking of this name, beside those there are; ids need to be unique within it "
    "only. Of runs and golden grades it says which chunks their ids mean. Empty: chunks and grades "
    "are of the default chunking, and a run is of the one that knows its ids."
)
NEGATIVE = "Negative grades"
AS_ZERO, AS_UNGRADED = "are 0", "are in the pool, but ungraded"
GRADE_MAP = "Grade map"
ORDER = "Order of the list"
FACETS = "Empty: every field with few values"
FIRST = "Keep the better placed where a chunk stands twice for a query"
# Messages name the options of the command line; these are the same in the words of this page.
HINTS = {
    "--on-duplicate": f'On this page: Options, "{FIRST}"',
    "--update": f'On this page: Options, "{UPDATE}"',
    "--negative-as-zero": f'On this page: Options, "{NEGATIVE}"',
    "--negative-as-ungraded": f'On this page: Options, "{NEGATIVE}"',
    "--grade-cuts": f'On this page: Options, "{GRADE_MAP}", written as 0.25,0.5,0.75',
    "--grade-map": f'On this page: Options, "{GRADE_MAP}", written as 0.3=1,1.0=3',
    "--order": f'On this page: Options, "{ORDER}"',
    "--name": "On this page: the name beside the file's kind",
    "--run": "On this page: the name beside the file's kind",
    "labeler load queries": "On this page: drop the file of its queries, too",
    "labeler restore query": 'On this page: "Queries"',
    "--limit": "On this page the limits stand as they are; where files are loaded in a terminal, "
    "that option takes more: labeler load files PATH",
    "--chunking": f'On this page: Options, "{CHUNKING}"',
    "--db": "On this page: nothing; --db is given where the server is started",
}
INVITE_LABEL = "Invite graders"
PAGES = {"grade": ("/", "Start grading"), "score": ("/scores", "See the measures")}
READING, STORING = "Reading …", "Storing …"
ROUND = "turn"  # how often all files given were loaded, and the place for them emptied

ReadOptions = Callable[[], import_export.LoadOptions]


@dataclass(frozen=True, slots=True)
class UploadPlan:
    """What is to become of one file; ``status`` and ``below`` are where on the page it is said."""

    file: UploadedFile
    kind: str | None
    run_name: str | None
    status: DeltaGenerator
    below: DeltaGenerator


@dataclass(frozen=True, slots=True)
class UploadOutcome:
    """What became of a file: its reports, or why there is none."""

    name: str
    reports: Sequence[LoadReport] = ()
    error: str | None = None


def show_upload() -> None:
    """Take files, say what each is taken for, load them, and lead on to what comes next."""
    show_html(style(STYLE))
    chooser = st.empty()
    files = files_from(chooser)
    st.caption(describe_limits())
    if not files:
        show_next_steps()
        with st.expander("What a file looks like"):
            st.code(EXAMPLES, language=None, wrap_lines=True)
        return
    plans = plan_files(files)
    said, controls = st.container(), st.empty()
    wanted = [plan for plan in plans if plan.kind in KINDS]
    untold = sum(plan.kind is None for plan in plans)
    with controls.container():
        options = load_options({plan.kind for plan in plans})
        pressed = load_button(len(wanted))
    if pressed:
        with said:
            outcomes = load_all(wanted, options)
            show_conclusion(outcomes, untold)
            show_next_steps()
            show_reports(outcomes)
        if not untold and not any(each.error for each in outcomes):
            controls.empty()
            st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
            files_from(chooser)


def describe_limits() -> str:
    """Say how much a file may hold here."""
    upload, most = st.get_option("server.maxUploadSize"), LIMITS
    return (
        f"A file may have {upload} MB and come to {most.unpacked // 10**9} GB unpacked, one text "
        f"in it to {most.text // 10**6} MB and an id to {most.id:,} bytes. What is larger is "
        "loaded in a terminal, by 'labeler load files'."
    )


def load_button(wanted: int) -> bool:
    """Draw the button that loads so many files; return whether it was pressed."""
    files = format_count(wanted, "file", "files")
    return st.button(f"Load {files}", type="primary", key="load", disabled=not wanted)


def files_from(place: DeltaGenerator) -> list[UploadedFile]:
    """Draw the place where files are dropped; a new one where all before were loaded."""
    return place.file_uploader(
        DROP_HERE, accept_multiple_files=True, key=f"files-{st.session_state.get(ROUND, 0)}"
    )


def plan_files(files: Sequence[UploadedFile]) -> list[UploadPlan]:
    """Show what each file is taken for, in the order of loading, and let it be corrected."""
    guesses = [(file, guess(file.name, file.getvalue())) for file in files]
    order = {kind: number for number, kind in enumerate(import_export.LOADS)}
    guesses.sort(key=lambda each: order.get(each[1].kind or "", len(order)))
    taken: set[str] = set()
    st.caption(
        "Is each file what it was taken for? Its kind, and the name of a run, can be changed."
    )
    with st.container(border=True, gap="xsmall", key="files"):
        plans = [plan_of(number, *each, taken) for number, each in enumerate(guesses, 1)]
    named = Counter(plan.run_name for plan in plans if plan.kind == "run")
    for name, often in named.items():
        if often > 1:
            st.text(f"⚠ {often} files would be runs of the name {name!r}; give each its own")
    return plans


def plan_of(number: int, file: UploadedFile, found: Guess, taken: set[str]) -> UploadPlan:
    """Show what a file is taken for and why, and let that and a run's name be changed."""
    named, chosen, called, why = st.columns(COLUMNS, vertical_alignment="center")
    named.text(file.name)
    kind = chosen.selectbox(
        f"What file {number} holds",
        [*KINDS, LEFT_OUT],
        index=None if found.kind is None else [*KINDS].index(found.kind),
        format_func=lambda kind: KINDS.get(kind, kind),
        placeholder="choose …",
        key=f"kind-{file.file_id}",
        label_visibility="collapsed",
    )
    name = None
    if kind == "run":
        name = called.text_input(
            f"Name of the run in file {number}",
            unused_run_name(import_export.run_name_of(file.name), taken),
            key=f"name-{file.file_id}",
            label_visibility="collapsed",
        )
    elif kind == "answers":
        given = called.text_input(
            f"Run whose answers file {number} has",
            key=f"answered-{file.file_id}",
            placeholder="run, if not in the file",
            label_visibility="collapsed",
        )
        name = given or None
    status = why.empty()
    if kind is None:
        status.text(f"⚠ not told: {found.why}")
    elif kind == found.kind:
        status.text(found.why)
    elif found.kind is not None and kind != LEFT_OUT:
        status.text(f"it looks like {KINDS[found.kind]}: {found.why}")
    return UploadPlan(file, kind, name, status, st.container())


def unused_run_name(name: str, taken: set[str]) -> str:
    """Return a name for a run that no other file here suggests, and note it."""
    several = (name if number == 1 else f"{name}-{number}" for number in count(1))
    free = next(each for each in several if each not in taken)
    taken.add(free)
    return free


def load_options(kinds: set[str | None]) -> ReadOptions:
    """Draw the options of the kinds that are there, folded away; return what reads them."""
    with st.expander("Options"):
        grades, texts = grade_options(kinds), text_options(kinds)
        runs = run_options() if "run" in kinds else dict
        chunking = ""
        if kinds & {"chunks", "run", "golden", "beir"}:
            chunking = st.text_input(CHUNKING, placeholder="default", help=CHUNKING_HELP)
    of: dict[str, Any] = {"chunking": chunking.strip() or None}
    return lambda: import_export.LoadOptions(**grades(), **texts(), **runs(), **of)


def text_options(kinds: set[str | None]) -> Callable[[], dict[str, Any]]:
    """Draw the options of queries and chunks; return what reads them."""
    if not kinds & {"queries", "documents", "chunks", "golden", "beir", "answers", "signals"}:
        return dict
    update = st.checkbox(UPDATE)
    facets = ""
    if kinds & {"queries", "beir"}:
        facets = st.text_input("Facets, separated by commas", help=FACETS)
    named = [facet.strip() for facet in facets.split(",")] if facets.strip() else None
    return lambda: {"update": update, "facets": named}


def grade_options(kinds: set[str | None]) -> Callable[[], dict[str, Any]]:
    """Draw the options of golden grades; return what reads them."""
    if not kinds & {"golden", "beir"}:
        return dict
    negative = st.selectbox(NEGATIVE, ["are refused", AS_ZERO, AS_UNGRADED])
    text = st.text_input(GRADE_MAP, placeholder="0.3=1,1.0=3", help="For grades other than 0-3")
    return lambda: {
        "negative_as_zero": negative == AS_ZERO,
        "negative_as_ungraded": negative == AS_UNGRADED,
        "grade_map": _parse_grades(text) if text.strip() else None,
    }


def _parse_grades(text: str) -> dict[float, int] | GradeCuts:
    are_cuts = "," in text and "=" not in text
    return parse_grade_cuts(text) if are_cuts else parse_grade_map(text)


def run_options() -> Callable[[], dict[str, Any]]:
    """Draw the options of runs, which hold for all that are there; return what reads them."""
    with st.container(horizontal=True):
        system = st.text_input("System", placeholder="each run's name", help=SYSTEM_HELP)
        date = st.date_input("Made on", value=None, help=DATE_HELP)
        order = st.selectbox(ORDER, ["score", "rank", "file"], help="What decides")
    first = st.checkbox(FIRST)
    return lambda: {
        "system": system or None,
        "created_at": date.isoformat() if date else None,
        "order": order,
        "on_duplicate": "first" if first else "refuse",
    }


def load_all(plans: Sequence[UploadPlan], options: ReadOptions) -> list[UploadOutcome]:
    """Load files in the order they need each other; one that fails stops no other."""
    with ui.guard(HINTS):
        given = options()
        integrity.check_undamaged(parse_location(ui.database()))
    outcomes: list[UploadOutcome] = []
    for kind in import_export.LOADS:
        for plan in (plan for plan in plans if plan.kind == kind):
            outcomes.append(load_one(plan, replace(given, run_name=plan.run_name), outcomes))
    return outcomes


def load_one(
    plan: UploadPlan, options: import_export.LoadOptions, before: Sequence[UploadOutcome]
) -> UploadOutcome:
    """Load a file and show in its row how far that is, and what came of it."""
    try:
        reports = store_file(plan, options)
    except LabelerError as error:
        said = ui.describe_error(error, HINTS)
        lost = [each.name for each in before if each.error is not None]
        if lost and "load its queries first" in said:
            said += f"\nThey may be in {lost[0]}, which could not be loaded."
        plan.status.text("⚠ not loaded")
        with plan.below:
            ui.show_error(said)
        return UploadOutcome(plan.file.name, error=said)
    changed = any(report.changed for report in reports)
    plan.status.text("✓ loaded" if changed else "✓ nothing to do: all of it is there already")
    for warning in (warning for report in reports for warning in report.warnings):
        plan.below.text(f"⚠ {warning}")
    return UploadOutcome(plan.file.name, reports)


def store_file(plan: UploadPlan, options: import_export.LoadOptions) -> list[LoadReport]:
    """Store a file; messages call it by the name it had on the user's machine."""
    bar = plan.status.progress(0.0, READING)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "upload"
        path.write_bytes(plan.file.getbuffer())
        apply = import_export.read(
            str(plan.kind),
            path,
            options,
            name=plan.file.name,
            progress=lambda share: bar.progress(share, READING),
        )
        bar.progress(1.0, STORING)
        with ui.open_store() as store:
            return apply(store)


def show_conclusion(outcomes: Sequence[UploadOutcome], untold: int) -> None:
    """Say in one line what came of all files."""
    loaded = [each for each in outcomes if each.error is None]
    reports = [report for each in loaded for report in each.reports]
    total = len(outcomes) + untold
    if len(loaded) < total:
        some = f"{len(loaded)} of {total} files {'is' if len(loaded) == 1 else 'are'} loaded"
        st.warning(f"{some}; what the others lack is said beside them", icon=":material/warning:")
    elif any(report.warnings for report in reports):
        st.warning("Loaded, but not all is well: see ⚠ above", icon=":material/warning:")
    elif any(report.changed for report in reports):
        st.success("Loaded", icon=":material/check:")
    else:
        st.info("Nothing to do: everything in the files is there already")


def show_reports(outcomes: Sequence[UploadOutcome]) -> None:
    """Show what the files held, folded away."""
    reports = [str(report) for each in outcomes for report in each.reports]
    if reports:
        with st.expander("What the files held"):
            st.code("\n".join(reports), language=None)


def show_next_steps() -> None:
    """Say what comes next, with the way there."""
    with ui.open_store() as store:
        contents, strangers = store.contents(), store.runs_that_match_nothing()
        graders = [way for way in store.ways_in() if way.stands and way.role == "grader"]
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
    """Draw the way to where a step is done, unless that is here."""
    if step.task == "invite":
        st.button(INVITE_LABEL, on_click=url_state.write, kwargs={"section": "People"})
    elif step.task in PAGES:
        path, label = PAGES[step.task]
        links.link(label, url_state.to(path, **url_state.get_all(["a", "b"])))


def describe_contents(contents: Contents) -> str:
    """Say in one line how much there is."""
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
