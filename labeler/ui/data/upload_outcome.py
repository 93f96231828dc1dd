"""Data > Load: the outcome of a file in its row, with buttons that answer its warnings."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from labeler.errors import LabelerError
from labeler.formats import map_named
from labeler.model import LoadReport, format_count
from labeler.services import import_export
from labeler.ui import shared as ui
from labeler.ui.data.upload_options import HINTS

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator
    from streamlit.runtime.uploaded_file_manager import UploadedFile

READING, STORING = "Reading …", "Storing …"
# The nouns of counts, by their key in reports. For a run its name is shown instead.
NOUNS = {
    "queries with their text": ("query", "queries"),
    "chunks with their text": ("chunk", "chunks"),
    "queries": ("query", "queries"),
    "chunks": ("chunk", "chunks"),
    "documents": ("document", "documents"),
    "without text": ("without text", "without text"),
    "judgments": ("golden grade", "golden grades"),
    "events": ("event", "events"),
    "answers": ("answer", "answers"),
    "signals": ("signal", "signals"),
}
RECORDS = "retrieval records"
FIELD_FACTS = {
    "fields taken": "read",
    "kept with the queries": "kept with the queries",
    "fields left": "not read",
    "other records, passed over": "records skipped",
}
LONGEST_SHOWN = 120  # characters of what was taken and left; more is folded


@dataclass(frozen=True, slots=True)
class UploadPlan:
    """How to load one file; ``status`` and ``below`` are the places of its messages on the page.

    ``run_name`` is None if the file names its runs. ``map_text`` is the map that reads it, if it is
    not the one inferred from its keys.
    """

    file: UploadedFile
    kind: str | None
    run_name: str | None
    status: DeltaGenerator
    below: DeltaGenerator
    map_text: str | None = None
    has_grades: bool = False

    @property
    def chosen_name(self) -> str | None:
        """Return the run name in the form; None for a run or records left with the usual one."""
        is_usual = self.run_name == import_export.run_name_of(self.file.name)
        return None if is_usual and self.kind in ("run", "records") else self.run_name


@dataclass(frozen=True, slots=True)
class UploadOutcome:
    """The outcome of a file: its reports, or why there is none."""

    name: str
    reports: Sequence[LoadReport] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class WarningAnswer:
    """An answer to a warning that names ``option``: the file's runs are read again with it."""

    option: str
    label: str
    changes: Mapping[str, Any]
    done: str


ANSWERS = (
    WarningAnswer(
        "--order file",
        "The order of the file is right",
        {"order": "file"},
        "loaded again, in the order of the file",
    ),
    WarningAnswer(
        "--order rank", "The ranks are right", {"order": "rank"}, "loaded again, in order of rank"
    ),
    WarningAnswer(
        "--order score",
        "The scores are right",
        {"order": "score"},
        "loaded again, in order of score",
    ),
    WarningAnswer(
        "--leave-out-self",
        "Leave the query itself out",
        {"leave_out_self": True},
        "loaded again, without the queries themselves",
    ),
)


@dataclass(slots=True)
class OpenWarnings:
    """The warnings of a load whose runs can be read again with other options, until answered."""

    plan: UploadPlan
    options: import_export.LoadOptions
    runs: Sequence[str]
    warnings: Sequence[str]
    done: list[str] = field(default_factory=list)


def load_one(
    plan: UploadPlan, options: import_export.LoadOptions, before: Sequence[UploadOutcome]
) -> UploadOutcome:
    """Load a file, and show progress and outcome in its row."""
    options = replace(options, **st.session_state.get(answered_key(plan), {}))
    try:
        reports, runs = store_file(plan, options, plan.status)
    except LabelerError as error:
        said = ui.describe_error(error, HINTS)
        lost = [each.name for each in before if each.error is not None]
        if lost and "load its queries first" in said:
            said += f"\nThey may be in {lost[0]}, which was not loaded."
        plan.status.text("⚠ not loaded")
        with plan.below:
            ui.show_error(said)
        return UploadOutcome(plan.file.name, error=said)
    changed = any(report.changed for report in reports)
    came = describe_reports(reports, plan.file.name)
    plan.status.text(
        f"✓ loaded: {came}" if changed else "✓ nothing new: all of it was loaded before"
    )
    with plan.below:
        with st.container(gap=None, key=f"taken-{plan.file.file_id}"):
            show_fields(reports)
        warnings = warnings_of(reports, plan.file.name)
        show_warnings(OpenWarnings(plan, options, runs, warnings))
    return UploadOutcome(plan.file.name, reports)


def answered_key(plan: UploadPlan) -> str:
    """Return the key that keeps the answers about a file while it is on the page."""
    return f"answers-{plan.file.file_id}"


def store_file(
    plan: UploadPlan,
    options: import_export.LoadOptions,
    status: DeltaGenerator,
    *,
    instead_of: Iterable[str] = (),
) -> tuple[list[LoadReport], list[str]]:
    """Store a file, ``instead_of`` these runs; return its reports and the runs that it made.

    Messages use the file's name on the user's machine.
    """
    field_map = None if plan.map_text is None else map_named(plan.map_text)
    bar = status.progress(0.0, READING)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "upload"
        path.write_bytes(plan.file.getbuffer())
        apply = import_export.read(
            str(plan.kind),
            path,
            replace(options, run_name=plan.chosen_name, field_map=field_map),
            name=plan.file.name,
            progress=lambda share: bar.progress(share, READING),
        )
        bar.progress(1.0, STORING)
        with ui.open_store() as store:
            for name in {*instead_of} & {*store.runs.names()}:
                store.runs.drop(name)
            there = {*store.runs.names()}
            reports = apply(store)
            return reports, [name for name in store.runs.names() if name not in there]


def describe_reports(reports: Sequence[LoadReport], source: str) -> str:
    """Return the contents of a file in one line.

    >>> describe_reports([LoadReport("queries from a", {"queries": 2, "new": 2}),
    ...                   LoadReport("run 'a' from a", {"queries": 2})], "a")
    "2 queries, run 'a'"
    """
    parts: list[str] = []
    for report in reports:
        what = report.title.removesuffix(f" from {source}")
        counts = [(noun, report.facts.get(noun)) for noun in NOUNS]
        known = [format_count(n, *NOUNS[noun]) for noun, n in counts if isinstance(n, int) and n]
        if is_run(report):
            parts.append(what)
        elif what != RECORDS:
            parts += known or [what]
    return ", ".join(parts)


def is_run(report: LoadReport) -> bool:
    """Return whether a report is of a run."""
    return report.title.startswith("run ")


def warnings_of(reports: Sequence[LoadReport], source: str) -> list[str]:
    """Return the warnings of a load, each once, with its run if there are several.

    >>> warnings_of([LoadReport("run 'a' from x", {}, ("empty",)),
    ...              LoadReport("run 'b' from x", {}, ("empty",))], "x")
    ["run 'a': empty", "run 'b': empty"]
    """
    several = sum(map(is_run, reports)) > 1
    found: dict[str, None] = {}
    for report in reports:
        of = f"{report.title.removesuffix(f' from {source}')}: "
        for warning in report.warnings:
            found[f"{of if several and is_run(report) else ''}{warning}"] = None
    return [*found]


def show_fields(reports: Iterable[LoadReport]) -> None:
    """Show which fields of retrieval records were taken and which were left."""
    facts = {name: value for report in reports for name, value in report.facts.items()}
    lines = [f"{said}: {facts[name]}" for name, said in FIELD_FACTS.items() if name in facts]
    if sum(map(len, lines)) <= LONGEST_SHOWN:
        for line in lines:
            st.text(line)
        return
    left = " and not read" if "fields left" in facts else ""
    with st.expander(f"Fields read{left}", type="compact"):
        for line in lines:
            st.text(line)


@st.fragment
def show_warnings(found: OpenWarnings) -> None:
    """Show the warnings of a load, with a button if there is an answer."""
    for done in found.done:
        st.text(f"✓ {done}")
    for number, warning in enumerate(found.warnings):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"⚠ {warning}{''.join(_hints_for(found, warning))}")
            for answer in _answers_to(found, warning):
                key = f"answer-{found.plan.file.file_id}-{number}-{answer.option}"
                if st.button(answer.label, key=key):
                    load_again(found, answer)


def _answers_to(found: OpenWarnings, warning: str) -> Iterator[WarningAnswer]:
    """Yield the answers to a warning that would change the runs this load made."""
    for answer in ANSWERS if found.runs else ():
        differs = any(getattr(found.options, key) != to for key, to in answer.changes.items())
        if answer.option in warning and differs:
            yield answer


def _hints_for(found: OpenWarnings, warning: str) -> Iterator[str]:
    answered = {answer.option.partition(" ")[0] for answer in _answers_to(found, warning)}
    for option, hint in HINTS.items():
        if option in warning and option not in answered:
            yield f"\n{hint}"


def load_again(found: OpenWarnings, answer: WarningAnswer) -> None:
    """Read the runs of a file again with the user's answer, and show the new outcome."""
    options = replace(found.options, **answer.changes)
    place = st.empty()
    try:
        reports, runs = store_file(found.plan, options, place, instead_of=found.runs)
    except LabelerError as error:
        with place:
            ui.show_error(ui.describe_error(error, HINTS))
        return
    found.options, found.runs = options, runs
    key = answered_key(found.plan)
    st.session_state[key] = {**st.session_state.get(key, {}), **answer.changes}
    found.warnings = warnings_of(reports, found.plan.file.name)
    found.done.append(answer.done)
    st.rerun(scope="fragment")
