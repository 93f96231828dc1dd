"""Who may import whom: the table is the architecture, and each file is held against it."""

from __future__ import annotations

import ast
import importlib.metadata
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A room is a module or a package under labeler/, or the folder of pages. Named are third-party
# packages and other rooms, or a part of one; the standard library is free to all.
MAY_IMPORT: dict[str, set[str]] = {
    "labeler.errors": set(),
    "labeler.paths": set(),
    "labeler.model": {"numpy", "labeler.errors"},
    "labeler.measures": {"numpy", "labeler.errors"},
    "labeler.formats": {"numpy", "pyarrow", "labeler.errors", "labeler.model"},
    "labeler.rechunking": {"numpy", "rapidfuzz", "labeler.errors", "labeler.model"},
    "labeler.store": {
        "filelock",
        "numpy",
        "psycopg",
        "psycopg_pool",
        "sqlite_utils",
        "labeler.errors",
        "labeler.model",
    },
    "labeler.evaluation": {
        "numpy",
        "labeler.errors",
        "labeler.measures",
        "labeler.model",
        "labeler.rechunking",
    },
    "labeler.stats": {
        "numpy",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.measures",
        "labeler.model",
        "labeler.rechunking",
    },
    "labeler.analysis": {
        "numpy",
        "rapidfuzz",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.formats",
        "labeler.measures",
        "labeler.model",
        "labeler.rechunking",
        "labeler.stats",
    },
    "labeler.services": {
        "labeler.analysis",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.formats",
        "labeler.measures",
        "labeler.model",
        "labeler.rechunking",
        "labeler.stats",
        "labeler.store",
    },
    "labeler.api": {
        "numpy",
        "pandas",
        "pyarrow",
        "pyspark",
        "labeler.analysis",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.formats",
        "labeler.measures",
        "labeler.model",
        "labeler.rechunking",
        "labeler.stats",
    },
    "labeler.render": {
        "altair",
        "htpy",
        "markupsafe",
        "pandas",
        "streamlit",
        "vl_convert",
        "labeler",
        "labeler.analysis",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.formats",
        "labeler.measures",
        "labeler.model",
        "labeler.rechunking",
        "labeler.stats",
    },
    "labeler.web": {
        "htpy",
        "itsdangerous",
        "starlette",
        "streamlit",
        "labeler.analysis",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.formats",
        "labeler.measures",
        "labeler.model",
        "labeler.paths",
        "labeler.rechunking",
        "labeler.render",
        "labeler.services",
        "labeler.stats",
        "labeler.store",
    },
    "labeler.ui": {
        "altair",
        "htpy",
        "streamlit",
        "labeler.analysis",
        "labeler.api",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.formats",
        "labeler.measures",
        "labeler.model",
        "labeler.paths",
        "labeler.rechunking",
        "labeler.render",
        "labeler.services",
        "labeler.stats",
        "labeler.store",
        "labeler.web",
    },
    "labeler.cli": {
        "click",
        "labeler",
        "labeler.analysis",
        "labeler.api",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.formats",
        "labeler.measures",
        "labeler.model",
        "labeler.paths",
        "labeler.rechunking",
        "labeler.render",
        "labeler.services",
        "labeler.stats",
        "labeler.store",
        "labeler.web.auth",
    },
    "labeler.app": {
        "starlette",
        "streamlit",
        "labeler",
        "labeler.analysis",
        "labeler.api",
        "labeler.cli",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.formats",
        "labeler.measures",
        "labeler.model",
        "labeler.paths",
        "labeler.rechunking",
        "labeler.render",
        "labeler.services",
        "labeler.stats",
        "labeler.store",
        "labeler.ui",
        "labeler.web",
        "labeler.web.auth",
    },
    "labeler": {"labeler.api"},
    "labeler.__main__": {"labeler.cli"},
    "labeler.spark": {"labeler.api"},
    "labeler.frames": {"labeler.api"},
    "labeler.pytest_plugin": {
        "pytest",
        "labeler.analysis",
        "labeler.cli",
        "labeler.errors",
        "labeler.model",
        "labeler.store",
    },
    "pages": {
        "streamlit",
        "labeler.analysis",
        "labeler.api",
        "labeler.errors",
        "labeler.evaluation",
        "labeler.formats",
        "labeler.measures",
        "labeler.model",
        "labeler.paths",
        "labeler.rechunking",
        "labeler.render",
        "labeler.services",
        "labeler.stats",
        "labeler.store",
        "labeler.ui",
        "labeler.web",
    },
}
# The only packages where store and evaluation may meet.
INTRODUCERS = {
    "labeler.services",
    "labeler.web",
    "labeler.ui",
    "labeler.cli",
    "labeler.app",
    "pages",
}
EXCEPTIONS = {"labeler/api/pyterrier.py": {"labeler.store"}}  # it reads and writes a golden set
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
                    yield name if target != "labeler" else target
            elif top not in sys.stdlib_module_names:
                yield top


def is_among(name: str, allowed: set[str]) -> bool:
    """Say whether a module is allowed, or is part of a package that is."""
    parts = name.split(".")
    above = {".".join(parts[:cut]) for cut in range(1, len(parts) + 1)} - {"labeler"}
    return bool(allowed & {name, *above})


def strangers(path: Path) -> list[str]:
    """Return what a file imports although its room may not."""
    may = MAY_IMPORT.get(room_of(path), set()) | EXCEPTIONS.get(name_of(path), set())
    return sorted(name for name in set(imports_of(path)) if not is_among(name, may))


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


def rooms(allowed: set[str]) -> set[str]:
    """Return the packages that these are, or are in."""
    return {".".join(name.split(".")[:2]) for name in allowed}


def test_nothing_imports_in_a_circle() -> None:
    waiting = dict(MAY_IMPORT)
    while waiting:
        ready = [room for room, allowed in waiting.items() if not rooms(allowed) & set(waiting)]
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
    """Elements escape by themselves; `labeler.render.markup` alone gives them, and styles, to a
    page.
    """
    source = path.read_text(encoding="utf-8")
    found = [word for word in ("escape(", "Markup(", "st.html(", "unsafe_") if word in source]
    allowed = ["Markup(", "st.html("] if name_of(path) == "labeler/render/markup.py" else []
    assert found == allowed, f"{name_of(path)} makes HTML by hand: {', '.join(found)}"


def test_no_module_hides_another() -> None:
    """The server puts ``labeler/app/`` first on the path: each name in it comes before all else."""
    names = {
        path.stem for path in FILES if path.parent in (ROOT / "labeler" / "app", ROOT / "pages")
    }
    names |= {path.name for path in (ROOT / "labeler" / "app").iterdir() if path.is_dir()}
    others = sys.stdlib_module_names | set(importlib.metadata.packages_distributions())
    assert not {name for name in names & others if not name.startswith("_")}
