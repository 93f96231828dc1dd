"""Which package may import which: each file is checked against the table."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import FILES, ROOT, imports_of, name_of, package_of

# Each package of labeler/ adds its own packages of others to what the ones below it may import.
# The standard library is free to all.
BELOW = {
    "errors": "",
    "paths": "",
    "model": "errors",
    "measures": "errors",
    "formats": "model",
    "rechunking": "model",
    "store": "model",
    "evaluation": "measures rechunking",
    "stats": "evaluation",
    "analysis": "stats formats",
    "services": "analysis store",
    "api": "analysis",
    "render": "analysis",
    "web": "services render paths",
    "ui": "web api",
    "cli": "services api render paths",
    "app": "ui cli",
    "__main__": "cli",
    "spark": "api",
    "frames": "api",
    "pytest_plugin": "analysis store cli",
}
THIRD_PARTY = {
    "model": "numpy",
    "measures": "numpy",
    "formats": "numpy pyarrow",
    "rechunking": "numpy rapidfuzz",
    "store": "filelock numpy psycopg psycopg_pool sqlite_utils",
    "evaluation": "numpy",
    "stats": "numpy",
    "analysis": "numpy rapidfuzz",
    "api": "numpy pandas pyarrow pyspark",
    "render": "altair htpy markupsafe pandas streamlit",
    "web": "htpy itsdangerous starlette streamlit",
    "ui": "htpy streamlit",
    "cli": "click",
    "app": "starlette streamlit",
    "pytest_plugin": "pytest",
}
# Parts of packages that one file or package may import beyond its row.
EXCEPTIONS = {
    "labeler.cli": {"labeler.web.auth"},  # invitations and tokens, made at the command line
    "labeler/api/pyterrier.py": {"labeler.store"},  # reads and writes a golden set
    "labeler/cli/__init__.py": {"labeler"},  # the version
    "labeler.render": {"labeler"},  # the version, in a report
    "labeler/__init__.py": {"labeler.api"},
}


def packages_below(package: str) -> set[str]:
    """Return the packages that a package may import, directly or through others."""
    direct = set(BELOW[package].split())
    return direct.union(*(packages_below(each) for each in direct))


def allowed_for(path: Path) -> set[str]:
    """Return the modules and third-party packages that a file may import."""
    package = package_of(path)
    short = package.removeprefix("labeler.")
    below = packages_below("ui") | {"ui"} if short == "pages" else set()
    below |= packages_below(short) if short in BELOW else set()
    return {
        *(f"labeler.{each}" for each in below),
        *THIRD_PARTY.get(short, "").split(),
        *EXCEPTIONS.get(package, set()),
        *EXCEPTIONS.get(name_of(path), set()),
    }


def is_allowed(name: str, allowed: set[str]) -> bool:
    """Say whether a module, or a package that holds it, is among those allowed."""
    parts = name.split(".")
    holders = {".".join(parts[:cut]) for cut in range(1, len(parts) + 1)} - {"labeler"}
    return bool(allowed & {name, *holders})


def stray_imports(path: Path) -> list[str]:
    """Return what a file imports although its package may not."""
    allowed = allowed_for(path)
    return sorted(name for name in set(imports_of(path)) if not is_allowed(name, allowed))


def test_files_import_only_what_their_package_may() -> None:
    assert {name_of(path): found for path in FILES if (found := stray_imports(path))} == {}


def test_a_stray_import_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "pages" / "label.py"
    source = page.read_text(encoding="utf-8") + "\ndef late():\n    import sqlite_utils.db\n"
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: source)
    assert stray_imports(page) == ["sqlite_utils"]


def test_every_package_is_in_the_table() -> None:
    listed = {f"labeler.{package}" for package in BELOW}
    assert {package_of(path) for path in FILES} == {*listed, "labeler", "pages"}


def test_every_third_party_package_in_the_table_is_used() -> None:
    used: dict[str, set[str]] = {}
    for path in FILES:
        package = package_of(path).removeprefix("labeler.")
        used.setdefault(package, set()).update(imports_of(path))
    listed = {package: set(names.split()) for package, names in THIRD_PARTY.items()}
    assert {package: left for package in listed if (left := listed[package] - used[package])} == {}


def test_no_package_imports_itself_through_others() -> None:
    waiting = {package: set(below.split()) for package, below in BELOW.items()}
    while waiting:
        ready = [package for package, below in waiting.items() if not below & set(waiting)]
        assert ready, f"these import each other in a circle: {', '.join(waiting)}"
        for package in ready:
            del waiting[package]


def test_nothing_is_made_html_by_hand() -> None:
    """Elements escape their text; only `labeler.render.markup` hands them to a page."""
    words = re.compile(r"(?<![\w])(?:escape\(|Markup\(|st\.html\(|unsafe_)")
    found = {
        name_of(path): sorted(set(words.findall(source)))
        for path in FILES
        if words.search(source := path.read_text(encoding="utf-8"))
    }
    assert found == {"labeler/render/markup.py": ["Markup(", "st.html("]}


def test_no_script_of_the_server_hides_a_module() -> None:
    """The server puts ``labeler/app/`` and ``pages/`` first on the path."""
    folders = (ROOT / "labeler" / "app", ROOT / "pages")
    names = {path.stem for path in FILES if path.parent in folders}
    others = sys.stdlib_module_names | set(importlib.metadata.packages_distributions())
    assert not {name for name in names & others if not name.startswith("_")}
