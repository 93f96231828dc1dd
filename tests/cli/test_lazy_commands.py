"""Commands are imported when they are called: what does that save, and what must not change."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from labeler.cli import COMMANDS, main

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


def test_each_command_is_listed_by_its_own_name():
    assert {name: command.name for name, command in main.commands.items()} == {
        name: name for name in COMMANDS
    }


def test_a_group_has_the_commands_of_all_modules_from_the_start():
    script = "from labeler.cli import main; print(*main.commands['load'].commands)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    group = main.commands["load"]
    assert isinstance(group, click.Group)
    assert done.stdout.split() == [*group.commands]
    assert "candidates" in done.stdout.split(), "which another module adds"


@pytest.mark.parametrize("name", ["nosuch", ""])
def test_an_unknown_command_is_not_there(name: str):
    assert main.commands.get(name) is None
