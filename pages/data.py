"""Files in and out, the runs, and what the team decides once."""

import tempfile
from dataclasses import replace
from pathlib import Path

import streamlit as st

from labeler import address, transfer, ui
from labeler.formats import parse_grade_map
from labeler.model import GRADES, LONGEST_WORD, STRATEGIES, TASKS, Settings

KINDS = {
    "run": "Run: TREC, JSONL or CSV",
    "queries": "Queries: JSONL, BEIR or CSV",
    "chunks": "Chunks: JSONL, BEIR corpus or CSV",
    "golden": "Golden grades: JSONL, qrels, BEIR tsv or CSV",
    "beir": "BEIR folder as .zip: corpus, queries and qrels",
}
DOWNLOADS = {
    "jsonl": "JSONL, complete: loads back as the same golden set",
    "qrels": "TREC qrels, for trec_eval and others",
    "beir": "BEIR folder as .zip: corpus, queries and qrels",
    "csv": "CSV, for people and spreadsheets",
    "events": "The whole log as JSONL: every judgment of every grader",
}
UPDATE = "Replace queries and chunks that are there with other content"
NEGATIVE = "Read negative grades as 0"
GRADE_MAP = "Grade map"
RUN_NAME = "Name of the run"
FIRST = "Keep the better placed where a chunk stands twice for a query"
# Messages name the options of the command line; these are the same in the words of this page.
ON_THIS_PAGE = {
    "--on-duplicate": f'On this page: "{FIRST}"',
    "--update": f'On this page: "{UPDATE}"',
    "--negative-as-zero": f'On this page: "{NEGATIVE}"',
    "--grade-map": f'On this page: "{GRADE_MAP}", written as 0.3=1,1.0=3',
    "--name": f'On this page: "{RUN_NAME}"',
    "labeler load queries": f'On this page: "{KINDS["queries"]}"',
    "--db": "On this page: nothing; --db is given where the server is started",
}
TASK_NAMES = {
    "single": "single answer",
    "research": "research",
    "compliance": "compliance lookup",
    "longtail": "long tail",
}
POOL_DEPTH = (
    "How many chunks from the top of each run are to be graded for a query. Deeper means fewer "
    "holes in the measures and more to grade."
)
PROMPT_BUDGET = (
    "How many chunks your product really puts into the prompt: what `@budget` in a measure's name "
    "stands for."
)
STRATEGY = (
    "Query by query: all chunks of one query, then the next. Most useful first: of each query the "
    "five chunks that stand high in many runs, then five more of each. Least judged first: "
    "queries of which the least is graded. Only holes of A vs B: what two runs have near their "
    "top and nobody has graded."
)
OVERLAP = (
    "The share of queries that every grader gets, whatever others have graded in them: without it "
    "nobody can tell how far graders agree."
)
HOW_TO_GRADE = "In words of your own, for all queries; a query's own guideline stands beside it."
NO_RUN = "no run"


def load() -> None:
    """Take an uploaded file and show what came of it."""
    kind = st.selectbox(
        "What is in the file?", list(KINDS), format_func=KINDS.__getitem__, key="kind"
    )
    with st.form("load", border=False):
        uploaded = st.file_uploader("File, plain or .gz", key="file")
        options = load_options(kind)
        pressed = st.form_submit_button("Load", type="primary")
    if pressed and uploaded is None:
        ui.show_error("choose a file first")
    elif pressed and uploaded is not None:
        with ui.guard(ON_THIS_PAGE):
            for report in put(kind, uploaded.name, uploaded.getvalue(), options()):
                show_report(report)


def show_report(report):
    """Say whether a load changed anything, and what it found."""
    if report.changed:
        st.success("Loaded", icon=":material/check:")
    else:
        st.info("Nothing to do: everything in the file is there already")
    st.code(str(report), language=None)


def load_options(kind):
    """Draw the options a kind of file has; return what reads them."""
    if kind == "run":
        return run_options()
    update = st.checkbox(UPDATE)
    facets = (
        st.text_input("Facets, separated by commas", help="Empty: every field with few values")
        if kind in ("queries", "beir")
        else ""
    )
    negative = kind in ("golden", "beir") and st.checkbox(NEGATIVE)
    grade_map = (
        st.text_input(GRADE_MAP, placeholder="0.3=1,1.0=3", help="For grades other than 0-3")
        if kind in ("golden", "beir")
        else ""
    )
    return lambda: transfer.LoadOptions(
        update=update,
        facets=[facet.strip() for facet in facets.split(",")] if facets.strip() else None,
        negative_as_zero=negative,
        grade_map=parse_grade_map(grade_map) if grade_map.strip() else None,
    )


def run_options():
    """Draw the options of a run; return what reads them."""
    with st.container(horizontal=True):
        name = st.text_input(RUN_NAME, placeholder="the file's name")
        system = st.text_input("System", placeholder="the run's name")
        date = st.date_input("Made on", value="today")
    order = st.selectbox("Order of the list", ["score", "rank"], help="Which column decides")
    first = st.checkbox(FIRST)
    return lambda: transfer.LoadOptions(
        run_name=name or None,
        system=system or None,
        created_at=None if date is None else date.isoformat(),
        order=order,
        on_duplicate="first" if first else "refuse",
    )


def put(kind, name, content, options):
    """Store an uploaded file; messages call it by the name it had on the user's machine."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upload"
        path.write_bytes(content)
        bar = st.progress(0.0, "Reading …")
        try:
            apply = transfer.read(kind, path, options, name=name, progress=bar.progress)
            bar.progress(1.0, "Storing …")
            with ui.open_store() as store:
                return apply(store)
        finally:
            bar.empty()


def download() -> None:
    """Offer the golden set in every format."""
    for kind, words in DOWNLOADS.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.download_button(
                transfer.EXPORTS[kind],
                data=lambda kind=kind: exported(kind),
                file_name=transfer.EXPORTS[kind],
                key=f"download-{kind}",
                on_click="ignore",
                width=220,
            )
            st.write(words)


def exported(kind: str) -> bytes:
    """Return the bytes ``labeler export`` would write."""
    with ui.open_store() as store:
        return transfer.export(store, kind)


def runs() -> None:
    """List the stored runs."""
    with ui.open_store() as store:
        found = store.runs()
    if not found:
        st.write("There is no run yet. Load one here or with: `labeler load run FILE`")
        return
    st.dataframe(
        [
            {
                "run": run.name,
                "system": run.system,
                "made on": run.created_at,
                "queries": run.queries,
                "depth": run.depth,
            }
            for run in found
        ],
        hide_index=True,
    )
    st.caption("A run never changes once loaded. To remove one: `labeler drop run NAME`")


def decide() -> None:
    """Let the team set the words of the scale, the threshold, the budgets and the grading."""
    with ui.open_store() as store:
        settings, names = store.settings(), [run.name for run in store.runs()]
    with st.form("settings", border=False):
        measured, graded = measuring_form(settings), grading_form(settings, names)
        if st.form_submit_button("Save settings", type="primary"):
            with ui.guard(), ui.open_store() as store:
                store.save_settings(replace(settings, **measured(), **graded()))
            st.success("Saved", icon=":material/check:")


def measuring_form(settings: Settings):
    """Draw the settings that measures depend on; return what reads them."""
    with st.container(horizontal=True):
        words = [
            st.text_input(f"Grade {grade} means", word, max_chars=LONGEST_WORD, key=f"word-{grade}")
            for grade, word in zip(GRADES, settings.words, strict=True)
        ]
    with st.container(horizontal=True):
        rel = st.selectbox("Relevant from grade", GRADES[1:], index=settings.rel - 1)
        budget = st.number_input("Prompt budget", 1, 1000, settings.budget, help=PROMPT_BUDGET)
    with st.container(horizontal=True):
        by_task = {
            task: st.number_input(
                f"Budget for {TASK_NAMES[task]}",
                1,
                1000,
                settings.budget_by_task.get(task),
                placeholder="the same",
            )
            for task in TASKS
        }
    return lambda: {
        "words": tuple(words),
        "rel": rel,
        "budget": int(budget),
        "budget_by_task": {task: int(value) for task, value in by_task.items() if value},
    }


def grading_form(settings: Settings, names):
    """Draw the settings that graders meet; return what reads them."""
    guideline = st.text_area("How to grade", settings.guideline, help=HOW_TO_GRADE, height=100)
    reference = st.checkbox("Show graders the reference answer", settings.show_reference)
    with st.container(horizontal=True):
        depth = st.number_input("Pool depth", 1, 1000, settings.pool_depth, help=POOL_DEPTH)
        overlap = st.number_input(
            "Queries for everyone, %", 0, 100, round(settings.overlap * 100), help=OVERLAP
        )
        strategy = st.selectbox(
            "Which chunks come first",
            STRATEGIES,
            STRATEGIES.index(settings.strategy),
            help=STRATEGY,
        )
    with st.container(horizontal=True):
        pair = [
            st.selectbox(f"Run {side}, for holes of A vs B", [NO_RUN, *names], index_of(run, names))
            for side, run in zip("AB", settings.holes_of or (None, None), strict=True)
        ]
    return lambda: {
        "guideline": guideline.strip(),
        "show_reference": reference,
        "pool_depth": int(depth),
        "overlap": overlap / 100,
        "strategy": strategy,
        "holes_of": None if NO_RUN in pair else tuple(pair),
    }


def index_of(run, names) -> int:
    """Return where a run stands in the choice of runs; one that has gone counts as none."""
    return names.index(run) + 1 if run in names else 0


SECTIONS = {"Load": load, "Download": download, "Runs": runs, "Settings": decide}


def count() -> None:
    """Say above the sections how much there is now."""
    with ui.open_store() as store:
        counts.caption(ui.counts_line(store.contents()))


counts = st.empty()
count()
section = address.choose_tab("Section", list(SECTIONS), "section", what="section")
SECTIONS[section]()
count()  # once more: the section may have loaded something
