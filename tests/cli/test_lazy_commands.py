"""Commands are imported when they are called: what does that save, and what must not change."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import labeler.cli
from labeler.cli import COMMANDS, OLDER_COMMANDS, main
from labeler.cli.lazy_commands import CommandPlace
from labeler.store import Store

LISTED = {name: place for under in COMMANDS.values() for name, place in under.items()}


@pytest.fixture
def runner() -> CliRunner:
    """Run commands in this process."""
    return CliRunner()


LOADED = """
import sys
from labeler.cli import main
try:
    main(sys.argv[1:])
finally:
    print(*sorted(name for name in sys.modules if name.count(".") < 2))
"""


def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that a new process has after a command line."""
    command = [sys.executable, "-c", LOADED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_what_needs_no_golden_set_does_not_wait_for_the_store():
    assert not loaded_by("--version") & {"labeler.store", "labeler.services", "pandas", "pyarrow"}


def test_an_invitation_and_its_message_wait_for_no_page(filled: Store):
    slow = {"streamlit", "htpy", "starlette", "pandas", "pyarrow"}
    assert not loaded_by("invite", "Ann", "--db", str(filled.path)) & slow


def test_help_imports_no_command():
    assert not loaded_by("--help") & {"labeler.model", "labeler.cli.score", "numpy"}


@pytest.mark.parametrize("name", [*LISTED, *OLDER_COMMANDS])
def test_a_line_of_help_is_the_command_s_own(name: str):
    place: CommandPlace = {**LISTED, **OLDER_COMMANDS}[name]
    command = main.commands[name]
    assert (command.name, command.get_short_help_str(200)) == (name, place.help)


def test_help_lists_each_command_once_under_a_heading(runner: CliRunner):
    shown = runner.invoke(main, ["--help"], prog_name="labeler").output
    _, *parts = re.split(r"^([A-Z][a-z ]+):$", shown, flags=re.MULTILINE)
    headings = dict(zip(parts[::2], parts[1::2], strict=True))
    listed = {
        heading: re.findall(r"^  (\S+)  ", text, flags=re.MULTILINE)
        for heading, text in headings.items()
    }
    assert listed.pop("Options")
    assert listed == {heading: [*under] for heading, under in COMMANDS.items()}
    assert main.commands.keys() == {*LISTED, *OLDER_COMMANDS}


@pytest.mark.parametrize("name", ["load", "queries", "restore", "change", "rename", "drop"])
def test_a_group_has_what_any_module_adds_to_it(name: str):
    script = f"from labeler.cli import main; print(*main.commands[{name!r}].commands)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    for module in pkgutil.iter_modules(labeler.cli.__path__):
        importlib.import_module(f"labeler.cli.{module.name}")
    group = main.commands[name]
    assert isinstance(group, click.Group)
    assert sorted(done.stdout.split()) == sorted(group.commands)


@pytest.mark.parametrize("name", ["nosuch", ""])
def test_an_unknown_command_is_not_there(name: str):
    assert main.commands.get(name) is None


def test_scores_for_people_do_not_wait_for_readers_of_files(filled: Store):
    loaded = loaded_by("--db", str(filled.path), "score")
    heavy = {"pandas", "pyarrow", "streamlit", "labeler.formats", "labeler.services"}
    assert not loaded & heavy
    assert "labeler.evaluation" in loaded
