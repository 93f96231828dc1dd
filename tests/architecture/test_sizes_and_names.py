"""Files and functions are as long as their idea, and every name says one thing."""

from __future__ import annotations

from tests.architecture.sources import (
    FILES,
    body_lines,
    functions_of,
    name_of,
)

MOST_LINES = 600
MOST_BODY_LINES = 50


def test_no_file_is_too_long_to_be_one_idea() -> None:
    lines = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in FILES}
    assert {name: found for name, found in lines.items() if found > MOST_LINES} == {}


def test_no_function_is_too_long_to_be_read_at_once() -> None:
    found = {
        f"{name_of(path)}: {function.name}": lines
        for path in FILES
        for function in functions_of(path)
        if (lines := body_lines(function)) > MOST_BODY_LINES
    }
    assert found == {}
