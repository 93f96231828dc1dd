"""Who may import whom: the table is the architecture, and each file is held against it."""

from __future__ import annotations

import ast
import importlib.metadata
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# A room is a module or a package under labeler/, or the folder of pages. Named are third-party
# packages and other rooms; the standard library is free to all.
MAY_IMPORT: dict[str, set[str]] = {
    "labeler": {"labeler.api"},
    "labeler.errors": set(),
    "labeler.places": set(),
    "labeler.model": {"numpy", "labeler.errors"},
    "labeler.measures": {"numpy", "labeler.errors"},
    "labeler.evaluation": {
        "numpy",
        "labeler.errors",
        "labeler.measures",
        "labeler.model",
        "labeler.rechunking",
    },
    "labeler.uncertainty": {
        "numpy",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.measures",
        "labeler.model",
    },
    "labeler.deciding": {
        "numpy",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.measures",
        "labeler.uncertainty",
    },
    "labeler.comparison": {
        "numpy",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.measures",
        "labeler.model",
        "labeler.uncertainty",
    },
    "labeler.gate": {
        "numpy",
        "labeler.comparison",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.measures",
        "labeler.model",
        "labeler.uncertainty",
    },
    "labeler.trend": {
        "numpy",
        "labeler.comparison",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.measures",
        "labeler.model",
        "labeler.uncertainty",
    },
    "labeler.keywords": {
        "numpy",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.measures",
        "labeler.model",
    },
    "labeler.likeness": set(),
    "labeler.leakage": {"numpy", "rapidfuzz", "labeler.errors", "labeler.formats"},
    "labeler.rechunking": {"numpy", "rapidfuzz", "labeler.errors", "labeler.model"},
    "labeler.carryover": {
        "labeler.errors",
        "labeler.model",
        "labeler.rechunking",
        "labeler.store",
    },
    "labeler.splitting": {"labeler.errors", "labeler.leakage", "labeler.model"},
    "labeler.candidates": {"labeler.errors", "labeler.leakage", "labeler.model"},
    "labeler.lineup": set(),
    "labeler.naming": set(),
    "labeler.diagnosis": {
        "numpy",
        "labeler.comparison",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.likeness",
        "labeler.measures",
        "labeler.model",
        "labeler.uncertainty",
    },
    "labeler.logs": {"labeler.model"},
    "labeler.promptly": set(),
    "labeler.pooling": {"labeler.model"},
    "labeler.portions": set(),
    "labeler.agreement": {"numpy", "labeler.errors", "labeler.model"},
    "labeler.fitness": {
        "numpy",
        "labeler.agreement",
        "labeler.errors",
        "labeler.model",
        "labeler.uncertainty",
    },
    "labeler.formats": {"numpy", "pyarrow", "labeler.errors", "labeler.model"},
    "labeler.chain": {"labeler.errors"},
    "labeler.schema": {"sqlite_utils", "labeler.chain"},
    "labeler.versions": {"labeler.errors", "labeler.model"},
    "labeler.store": {
        "numpy",
        "psycopg",
        "psycopg_pool",
        "labeler.chain",
        "labeler.errors",
        "labeler.model",
        "labeler.schema",
        "labeler.versions",
    },
    "labeler.safekeeping": {"filelock", "labeler.chain", "labeler.errors", "labeler.store"},
    "labeler.transfer": {
        "labeler.candidates",
        "labeler.chain",
        "labeler.errors",
        "labeler.extracts",
        "labeler.formats",
        "labeler.freezing",
        "labeler.model",
        "labeler.store",
        "labeler.versions",
    },
    "labeler.extracts": {
        "labeler.errors",
        "labeler.freezing",
        "labeler.model",
        "labeler.store",
        "labeler.versions",
    },
    "labeler.freezing": {
        "labeler.errors",
        "labeler.formats",
        "labeler.model",
        "labeler.store",
        "labeler.versions",
    },
    "labeler.tokens": {"itsdangerous", "labeler.errors"},
    "labeler.access": {"labeler.errors", "labeler.model", "labeler.store", "labeler.tokens"},
    "labeler.visitors": {"streamlit", "labeler.access"},
    "labeler.auditing": {
        "starlette",
        "labeler.doors",
        "labeler.errors",
        "labeler.model",
        "labeler.store",
        "labeler.watching",
    },
    "labeler.hosts": {"labeler.errors"},
    "labeler.discretion": {"labeler.errors", "labeler.model"},
    "labeler.doors": {
        "htpy",
        "starlette",
        "streamlit",
        "labeler.access",
        "labeler.discretion",
        "labeler.errors",
        "labeler.hosts",
        "labeler.markup",
        "labeler.model",
        "labeler.store",
        "labeler.tokens",
        "labeler.visitors",
    },
    "labeler.given": {
        "numpy",
        "pandas",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.formats",
        "labeler.model",
    },
    "labeler.api": {
        "pyarrow",
        "numpy",
        "pandas",
        "labeler.comparison",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.formats",
        "labeler.given",
        "labeler.keywords",
        "labeler.measures",
        "labeler.model",
        "labeler.rechunking",
        "labeler.trend",
        "labeler.uncertainty",
    },
    "labeler.spark": {
        "numpy",
        "pandas",
        "pyarrow",
        "pyspark",
        "labeler.api",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.formats",
        "labeler.given",
        "labeler.model",
    },
    "labeler.frames": {
        "pandas",
        "labeler.errors",
        "labeler.given",
        "labeler.model",
        "labeler.store",
    },
    "labeler.palette": set(),
    "labeler.charts": {
        "altair",
        "pandas",
        "labeler.comparison",
        "labeler.diagnosis",
        "labeler.evaluation",
        "labeler.palette",
        "labeler.trend",
    },
    "labeler.tables": {
        "htpy",
        "pandas",
        "labeler.agreement",
        "labeler.comparison",
        "labeler.diagnosis",
        "labeler.evaluation",
        "labeler.keywords",
        "labeler.lineup",
        "labeler.markup",
        "labeler.measures",
        "labeler.model",
        "labeler.palette",
        "labeler.trend",
        "labeler.uncertainty",
    },
    "labeler.report": {
        "altair",
        "htpy",
        "vl_convert",
        "labeler",
        "labeler.charts",
        "labeler.comparison",
        "labeler.diagnosis",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.keywords",
        "labeler.lineup",
        "labeler.markup",
        "labeler.measures",
        "labeler.model",
        "labeler.naming",
        "labeler.palette",
        "labeler.tables",
        "labeler.uncertainty",
    },
    "labeler.downloads": {
        "labeler.comparison",
        "labeler.diagnosis",
        "labeler.evaluation",
        "labeler.formats",
        "labeler.keywords",
        "labeler.measures",
        "labeler.trend",
        "labeler.uncertainty",
    },
    "labeler.address": {"streamlit", "labeler.errors"},
    "labeler.scripts": {"starlette", "labeler.places"},
    "labeler.markup": {"htpy", "markupsafe", "streamlit"},
    "labeler.links": {"htpy", "streamlit", "labeler.markup", "labeler.scripts"},
    "labeler.grading": {"streamlit", "labeler.markup", "labeler.scripts"},
    "labeler.adjudicating": {"streamlit", "labeler.scripts"},
    "labeler.ranks": {
        "streamlit",
        "labeler.comparison",
        "labeler.evaluation",
        "labeler.measures",
        "labeler.model",
        "labeler.scripts",
    },
    "labeler.confining": {"labeler.errors", "labeler.model", "labeler.store"},
    "labeler.claiming": {"labeler.store"},
    "labeler.papers": {
        "labeler.carryover",
        "labeler.likeness",
        "labeler.model",
        "labeler.store",
    },
    "labeler.remaining": {"labeler.carryover", "labeler.model", "labeler.pooling"},
    "labeler.watching": {"labeler.store"},
    "labeler.waiting": {"streamlit", "labeler.errors"},
    "labeler.desk": {
        "labeler.carryover",
        "labeler.claiming",
        "labeler.confining",
        "labeler.errors",
        "labeler.model",
        "labeler.papers",
        "labeler.pooling",
        "labeler.portions",
        "labeler.remaining",
        "labeler.store",
    },
    "labeler.routes": {
        "starlette",
        "labeler.access",
        "labeler.agreement",
        "labeler.carryover",
        "labeler.confining",
        "labeler.desk",
        "labeler.discretion",
        "labeler.doors",
        "labeler.errors",
        "labeler.model",
        "labeler.papers",
        "labeler.portions",
        "labeler.store",
        "labeler.tokens",
    },
    "labeler.ui": {
        "streamlit",
        "labeler.access",
        "labeler.address",
        "labeler.discretion",
        "labeler.errors",
        "labeler.grading",
        "labeler.hosts",
        "labeler.links",
        "labeler.model",
        "labeler.store",
        "labeler.tokens",
        "labeler.transfer",
        "labeler.visitors",
        "labeler.waiting",
    },
    "labeler.boards": {
        "streamlit",
        "labeler.address",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.freezing",
        "labeler.links",
        "labeler.measures",
        "labeler.model",
        "labeler.store",
        "labeler.ui",
        "labeler.versions",
    },
    "labeler.asking": {
        "streamlit",
        "labeler.boards",
        "labeler.deciding",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.measures",
        "labeler.model",
        "labeler.ui",
    },
    "labeler.certainty": {
        "labeler.comparison",
        "labeler.deciding",
        "labeler.evaluation",
        "labeler.model",
        "labeler.uncertainty",
    },
    "labeler.leading": {
        "htpy",
        "labeler.address",
        "labeler.comparison",
        "labeler.evaluation",
        "labeler.lineup",
        "labeler.measures",
    },
    "labeler.banding": {
        "streamlit",
        "labeler.boards",
        "labeler.evaluation",
        "labeler.measures",
        "labeler.tables",
        "labeler.ui",
        "labeler.uncertainty",
    },
    "labeler.wording": {
        "streamlit",
        "labeler.address",
        "labeler.boards",
        "labeler.evaluation",
        "labeler.keywords",
        "labeler.model",
        "labeler.ui",
    },
    "labeler.choices": {
        "htpy",
        "streamlit",
        "labeler.address",
        "labeler.boards",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.markup",
        "labeler.measures",
        "labeler.model",
        "labeler.naming",
        "labeler.ui",
    },
    "labeler.pushing": {
        "starlette",
        "labeler.doors",
        "labeler.errors",
        "labeler.store",
        "labeler.watching",
    },
    "labeler.live": {
        "htpy",
        "streamlit",
        "labeler.address",
        "labeler.boards",
        "labeler.errors",
        "labeler.markup",
        "labeler.pushing",
        "labeler.scripts",
        "labeler.ui",
        "labeler.versions",
    },
    "labeler.comparing": {
        "altair",
        "htpy",
        "streamlit",
        "labeler.address",
        "labeler.asking",
        "labeler.banding",
        "labeler.boards",
        "labeler.certainty",
        "labeler.charts",
        "labeler.comparison",
        "labeler.deciding",
        "labeler.downloads",
        "labeler.evaluation",
        "labeler.keywords",
        "labeler.leading",
        "labeler.links",
        "labeler.markup",
        "labeler.measures",
        "labeler.model",
        "labeler.opened",
        "labeler.ranks",
        "labeler.report",
        "labeler.reranker",
        "labeler.tables",
        "labeler.ui",
        "labeler.uncertainty",
        "labeler.wording",
    },
    "labeler.scoring": {
        "streamlit",
        "labeler.address",
        "labeler.banding",
        "labeler.boards",
        "labeler.charts",
        "labeler.choices",
        "labeler.comparison",
        "labeler.downloads",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.gate",
        "labeler.keywords",
        "labeler.leading",
        "labeler.lineup",
        "labeler.live",
        "labeler.markup",
        "labeler.measures",
        "labeler.model",
        "labeler.naming",
        "labeler.tables",
        "labeler.trend",
        "labeler.ui",
        "labeler.uncertainty",
        "labeler.wording",
    },
    "labeler.opened": {
        "htpy",
        "streamlit",
        "labeler.address",
        "labeler.comparison",
        "labeler.diagnosis",
        "labeler.downloads",
        "labeler.evaluation",
        "labeler.links",
        "labeler.markup",
        "labeler.measures",
        "labeler.model",
        "labeler.naming",
        "labeler.palette",
        "labeler.portions",
        "labeler.ranks",
        "labeler.tables",
        "labeler.ui",
        "labeler.wording",
    },
    "labeler.reranker": {
        "streamlit",
        "labeler.address",
        "labeler.comparison",
        "labeler.downloads",
        "labeler.evaluation",
        "labeler.markup",
        "labeler.measures",
        "labeler.naming",
        "labeler.tables",
        "labeler.ui",
    },
    "labeler.failing": {
        "pandas",
        "streamlit",
        "labeler.address",
        "labeler.charts",
        "labeler.choices",
        "labeler.diagnosis",
        "labeler.downloads",
        "labeler.evaluation",
        "labeler.links",
        "labeler.markup",
        "labeler.measures",
        "labeler.model",
        "labeler.naming",
        "labeler.opened",
        "labeler.reranker",
        "labeler.tables",
        "labeler.ui",
    },
    "labeler.reviewing": {
        "htpy",
        "streamlit",
        "labeler.address",
        "labeler.adjudicating",
        "labeler.agreement",
        "labeler.boards",
        "labeler.charts",
        "labeler.choices",
        "labeler.deciding",
        "labeler.downloads",
        "labeler.fitness",
        "labeler.leakage",
        "labeler.links",
        "labeler.markup",
        "labeler.model",
        "labeler.palette",
        "labeler.store",
        "labeler.tables",
        "labeler.transfer",
        "labeler.ui",
    },
    "labeler.beginning": set(),
    "labeler.sections": {
        "htpy",
        "streamlit",
        "labeler.access",
        "labeler.address",
        "labeler.asking",
        "labeler.beginning",
        "labeler.boards",
        "labeler.candidates",
        "labeler.carryover",
        "labeler.choices",
        "labeler.downloads",
        "labeler.errors",
        "labeler.extracts",
        "labeler.formats",
        "labeler.freezing",
        "labeler.hosts",
        "labeler.links",
        "labeler.markup",
        "labeler.model",
        "labeler.safekeeping",
        "labeler.store",
        "labeler.tables",
        "labeler.transfer",
        "labeler.ui",
        "labeler.unsettled",
        "labeler.versions",
    },
    "labeler.unsettled": {"streamlit", "labeler.carryover", "labeler.store"},
    "labeler.navigation": {
        "streamlit",
        "labeler.access",
        "labeler.address",
        "labeler.boards",
        "labeler.choices",
        "labeler.links",
        "labeler.markup",
        "labeler.places",
        "labeler.ui",
    },
    "labeler.warming": {"starlette", "labeler.boards", "labeler.errors"},
    "labeler.app": {
        "starlette",
        "streamlit",
        "labeler.access",
        "labeler.asking",
        "labeler.auditing",
        "labeler.doors",
        "labeler.hosts",
        "labeler.logs",
        "labeler.promptly",
        "labeler.places",
        "labeler.pushing",
        "labeler.routes",
        "labeler.safekeeping",
        "labeler.scripts",
        "labeler.store",
        "labeler.unsettled",
        "labeler.warming",
    },
    "labeler.cli": {
        "click",
        "labeler",
        "labeler.certainty",
        "labeler.access",
        "labeler.agreement",
        "labeler.candidates",
        "labeler.carryover",
        "labeler.chain",
        "labeler.comparison",
        "labeler.deciding",
        "labeler.diagnosis",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.extracts",
        "labeler.fitness",
        "labeler.formats",
        "labeler.freezing",
        "labeler.gate",
        "labeler.hosts",
        "labeler.leakage",
        "labeler.keywords",
        "labeler.measures",
        "labeler.model",
        "labeler.places",
        "labeler.report",
        "labeler.safekeeping",
        "labeler.splitting",
        "labeler.store",
        "labeler.transfer",
        "labeler.trend",
        "labeler.uncertainty",
        "labeler.versions",
    },
    "labeler.pytest_plugin": {
        "pytest",
        "labeler.cli",
        "labeler.errors",
        "labeler.gate",
        "labeler.model",
        "labeler.store",
    },
    "labeler.__main__": {"labeler.cli"},
    "pages": {
        "streamlit",
        "labeler.address",
        "labeler.agreement",
        "labeler.banding",
        "labeler.boards",
        "labeler.charts",
        "labeler.choices",
        "labeler.comparing",
        "labeler.comparison",
        "labeler.diagnosis",
        "labeler.downloads",
        "labeler.evaluation",
        "labeler.failing",
        "labeler.grading",
        "labeler.keywords",
        "labeler.leading",
        "labeler.lineup",
        "labeler.links",
        "labeler.live",
        "labeler.markup",
        "labeler.model",
        "labeler.naming",
        "labeler.opened",
        "labeler.palette",
        "labeler.portions",
        "labeler.ranks",
        "labeler.reranker",
        "labeler.reviewing",
        "labeler.scoring",
        "labeler.sections",
        "labeler.tables",
        "labeler.ui",
        "labeler.uncertainty",
        "labeler.unsettled",
        "labeler.wording",
    },
}
INTRODUCERS = {"labeler.boards", "labeler.cli"}  # the only rooms where store and evaluation meet
MOST_LINES = 420
MOST_BODY_LINES = 50

FILES = sorted([*ROOT.glob("labeler/**/*.py"), *ROOT.glob("pages/**/*.py")])


def name_of(path: Path) -> str:
    """Return a file as messages show it."""
    return path.relative_to(ROOT).as_posix()


def room_of(path: Path) -> str:
    """Return the room a file belongs to."""
    top, second, *_ = (*path.relative_to(ROOT).with_suffix("").parts, "")
    if top == "pages":
        return "pages"
    return "labeler" if second == "__init__" else f"labeler.{second}"


@cache
def nodes_of(source: str) -> list[ast.AST]:
    """Return what a file is made of, read once for all tests; only what they look at."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]


def imports_of(path: Path) -> Iterator[str]:
    """Give the rooms and third-party packages a file imports, wherever in it."""
    room = room_of(path)
    for node in nodes_of(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "labeler":
            names = [f"labeler.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "."]
        else:
            continue
        for name in names:
            top, second, *_ = (*name.split("."), "")
            if top == "labeler":
                target = f"labeler.{second}" if f"labeler.{second}" in MAY_IMPORT else "labeler"
                if target != room:
                    yield target
            elif top not in sys.stdlib_module_names:
                yield top


def strangers(path: Path) -> list[str]:
    """Return what a file imports although its room may not."""
    return sorted(set(imports_of(path)) - MAY_IMPORT.get(room_of(path), set()))


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Give every function of a file."""
    for node in nodes_of(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function's body, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_imports_only_what_its_room_may(path: Path) -> None:
    found = strangers(path)
    assert not found, f"{name_of(path)} may not import {', '.join(found)}"


def test_a_stray_import_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "pages" / "label.py"
    source = page.read_text(encoding="utf-8") + "\ndef late():\n    import sqlite_utils.db\n"
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: source)
    assert strangers(page) == ["sqlite_utils"]


def test_every_room_is_in_the_table_and_the_table_has_no_other() -> None:
    assert {room_of(path) for path in FILES} == set(MAY_IMPORT)


def test_store_and_evaluation_meet_nowhere_else() -> None:
    both = {"labeler.store", "labeler.evaluation"}
    assert {room for room, allowed in MAY_IMPORT.items() if both <= allowed} == INTRODUCERS


def test_nothing_imports_in_a_circle() -> None:
    waiting = dict(MAY_IMPORT)
    while waiting:
        ready = [room for room, allowed in waiting.items() if not allowed & set(waiting)]
        assert ready, f"these import each other in a circle: {', '.join(waiting)}"
        for room in ready:
            del waiting[room]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_has_one_job_and_its_functions_too(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES, f"{name_of(path)} has {lines} lines: split it into a package"
    for function in functions_of(path):
        found = body_lines(function)
        assert found <= MOST_BODY_LINES, f"{name_of(path)}: {function.name} has {found} lines"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_nothing_is_made_html_by_hand(path: Path) -> None:
    """Elements escape by themselves; `labeler.markup` alone gives them, and styles, to a page."""
    source = path.read_text(encoding="utf-8")
    found = [word for word in ("escape(", "Markup(", "st.html(", "unsafe_") if word in source]
    allowed = ["Markup(", "st.html("] if room_of(path) == "labeler.markup" else []
    assert found == allowed, f"{name_of(path)} makes HTML by hand: {', '.join(found)}"


def test_no_module_hides_another() -> None:
    """The server puts ``labeler/`` first on the path, so each name in it stands before all else."""
    names = {path.stem for path in FILES if path.parent in (ROOT / "labeler", ROOT / "pages")}
    names |= {path.name for path in (ROOT / "labeler").iterdir() if path.is_dir()}
    others = sys.stdlib_module_names | set(importlib.metadata.packages_distributions())
    assert not {name for name in names & others if not name.startswith("_")}
