"""The components' scripts: how they reach a browser, and which of them imports which."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette

from labeler.paths import PACKAGE
from labeler.web import static_js

SCRIPTS = PACKAGE / "ui"
FILES = sorted(SCRIPTS.glob("*/*.js"))
IMPORT = re.compile(r'^import (?:.*? from )?"([^"]+)";$', re.MULTILINE | re.DOTALL)


def name_of(path: Path) -> str:
    return path.relative_to(SCRIPTS).as_posix()


def imports_of(path: Path) -> list[str]:
    """Return the scripts a script imports, by their place in the package."""
    named = IMPORT.findall(path.read_text(encoding="utf-8"))
    return [name_of((path.parent / name).resolve()) for name in named]


@pytest.fixture
def get(ask):
    """Ask for a script as a browser does."""
    app = Starlette(routes=static_js.script_routes())
    return lambda name, version=static_js.VERSION, **headers: ask(
        app, "GET", f"/scripts/{version}/{name}", headers=headers
    )


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_browser_keeps_a_script_for_good(get, path):
    answer = get(name_of(path))
    assert answer.status == 200
    assert answer.body == path.read_bytes()
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"].startswith("text/javascript")


def test_scripts_travel_compressed(get):
    answer = get("grading/pad.js", **{"accept-encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(answer.body) == (PACKAGE / "ui" / "grading" / "pad.js").read_bytes()


@pytest.mark.parametrize("name", ["grading/gone.js", "grading/pad.css", "../app.py", "app.py", ""])
def test_nothing_but_a_script_is_served(get, name):
    answer = get(name)
    assert answer.status == 404
    assert "immutable" not in answer.headers.get("cache-control", "")


def test_an_address_of_another_version_finds_nothing_rather_than_another_script(get):
    answer = get("grading/pad.js", version="0123456789abcdef")
    assert answer.status == 404
    assert answer.headers["cache-control"] == "no-store"


def test_any_change_of_any_script_makes_new_addresses():
    one = {"a/x.js": b"1", "a/y.js": b"2"}
    others = ({"a/x.js": b"1", "a/y.js": b"3"}, {"a/x.js": b"12", "a/y.js": b""}, {"a/x.js": b"1"})
    assert all(static_js._hash_of(other) != static_js._hash_of(one) for other in others)
    assert static_js._hash_of(dict(one)) == static_js._hash_of(one)


@pytest.mark.parametrize(
    ("room", "main", "lent"),
    [
        (
            *("grading", "main"),
            "api dialogs dom keys marker mount outbox outbox_words pairs passages "
            "refused storage text_marks text_paint text_places text_shape token_renewal words",
        ),
        ("rank_views", "strips", ""),
        ("query_view", "wires", ""),
    ],
)
def test_a_room_is_asked_for_at_once_the_main_script_first(room, main, lent):
    addresses = re.findall(rf"/scripts/{static_js.VERSION}/([^\"]+)", static_js.loader(room, main))
    assert addresses[0] == f"{room}/{main}.js"
    own = [name_of(path) for path in FILES if path.parent.name == room]
    assert sorted(addresses) == sorted([*own, *(f"js/{name}.js" for name in lent.split())])


def test_what_a_room_has_from_another_comes_along():
    addresses = re.findall(r"/scripts/[0-9a-f]+/([^\"]+)", static_js.loader("adjudication", "main"))
    assert len(set(addresses)) == len(addresses)
    assert {"adjudication/bench.js", "js/marker.js", "js/text_places.js"} <= {*addresses}
    for name in addresses:
        assert {*imports_of(SCRIPTS / name)} <= {*addresses}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_script_imports_scripts_of_its_own_room_and_shared_ones(path):
    assert {Path(name).parent.name for name in imports_of(path)} <= {path.parent.name, "js"}
    assert all((SCRIPTS / name).is_file() for name in imports_of(path))


def test_no_scripts_import_each_other_in_a_circle():
    waiting = {name_of(path): set(imports_of(path)) for path in FILES}
    of_main = {"grading/names.js", "grading/pad.js", "js/mount.js", "js/words.js"}
    assert waiting["grading/main.js"] == of_main
    while waiting:
        ready = [name for name, needed in waiting.items() if not needed & set(waiting)]
        assert ready, f"these import each other in a circle: {', '.join(waiting)}"
        for name in ready:
            del waiting[name]
