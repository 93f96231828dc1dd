"""The project's Python files: what each imports, defines and how long its functions are."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("labeler/**/*.py"), *ROOT.glob("pages/**/*.py")])

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    """Return a file's path as messages show it."""
    return path.relative_to(ROOT).as_posix()


def package_of(path: Path) -> str:
    """Return the package at the top of labeler/ that a file belongs to."""
    top, second, *_ = (*path.relative_to(ROOT).with_suffix("").parts, "")
    if top == "pages":
        return "pages"
    return "labeler" if second == "__init__" else f"labeler.{second}"


@cache
def nodes_of(source: str) -> list[ast.AST]:
    """Return the imports, functions and classes of a file, parsed once for all tests."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]


def imports_of(path: Path) -> Iterator[str]:
    """Give the modules of other packages, ours and third-party ones, that a file imports."""
    package = package_of(path)
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
                if second.startswith("__version"):
                    yield "labeler"
                elif f"labeler.{second}" != package:
                    yield name
            elif top not in sys.stdlib_module_names:
                yield top


def functions_of(path: Path) -> Iterator[Function]:
    """Give every function of a file."""
    for node in nodes_of(path.read_text(encoding="utf-8")):
        if isinstance(node, Function):
            yield node


def classes_of(path: Path) -> Iterator[ast.ClassDef]:
    """Give every class of a file."""
    for node in nodes_of(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.ClassDef):
            yield node


def body_lines(function: Function) -> int:
    """Count the lines of a function's body, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0
