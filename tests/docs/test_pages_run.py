"""What the documentation shows is executed: console and python blocks, page by page."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from labeler.cli import main
from tests.support.documentation import PAGES, README, ROOT, agree, blocks, steps

EXECUTED = {
    name: list(blocks(text))
    for name, text in {"README.md": README, **PAGES}.items()
    if name != "reference/commands.md"  # cog compares that one
    and any(of in ("console", "python") for of, _ in blocks(text))
}


class Console:
    """The console of a page: each command prints what is shown, and ends as is said."""

    def __init__(self) -> None:
        self.unexplained = ""  # the command that failed last, until `echo $?` shows its code
        self.ended = 0

    def run(self, block: str) -> None:
        """Execute the commands of a block in order."""
        for command, shown in steps(block):
            if command == "echo $?":
                assert shown == [str(self.ended)], command
                self.unexplained = ""
                continue
            assert not self.unexplained
            program, *arguments = shlex.split(command)
            assert program == "labeler", command
            result = CliRunner().invoke(main, arguments, prog_name="labeler")
            printed, self.ended = result.output.splitlines(), result.exit_code
            assert agree(shown, printed), "\n".join([f"$ {command}", *printed])
            self.unexplained = "" if self.ended == 0 else f"$ {command}\n{result.output}"


@pytest.mark.parametrize("page", EXECUTED)
def test_the_blocks_of_a_page_run_in_order_and_print_what_is_shown(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    console = Console()
    names: dict[str, Any] = {"__name__": "page"}
    for language, block in EXECUTED[page]:
        if language == "python":
            exec(compile(block, f"{page}: {block.splitlines()[0]}", "exec"), names)
        elif language == "console":
            console.run(block)
        else:
            (tmp_path / language).write_text(block, encoding="utf-8")
    assert not console.unexplained
    if page == "tutorial/tour.md":
        golden, again = tmp_path / "golden.jsonl", tmp_path / "again.jsonl"
        assert again.read_bytes() == golden.read_bytes()


def test_enough_is_executed() -> None:
    commands = {
        page: [command for _, block in EXECUTED[page] for command, _ in steps(block)]
        for page in ("README.md", "tutorial/tour.md")
    }
    assert len(commands["README.md"]) >= 2
    assert len(commands["tutorial/tour.md"]) >= 10


def test_output_that_is_not_as_shown_is_noticed() -> None:
    assert agree(["a", "..."], ["a", "b", "c"])
    assert not agree(["a", "..."], ["b", "b", "c"])
    assert not agree(["a"], ["a", "b"])
    assert not agree(["a", "..."], ["a"])


def test_a_command_goes_on_after_a_backslash() -> None:
    assert list(steps("$ labeler load \\\n  a b\nread\n$ echo $?\n0\n")) == [
        ("labeler load   a b", ["read"]),
        ("echo $?", ["0"]),
    ]
