"""What is written for people: complete, up to date, and true when it is executed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.cli.settings import NAMES
from labeler.measures import MEASURES, parse
from labeler.store import Store
from tests.support.documentation import ALL, PAGES, README, ROOT, section


def all_commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Give a command and everything below it by full name."""
    yield name, command
    if isinstance(command, click.Group):
        for below, inner in command.commands.items():
            yield from all_commands(inner, f"{name} {below}")


COMMANDS = dict(all_commands(main, "labeler"))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_and_its_options_have_help(name: str) -> None:
    command = COMMANDS[name]
    assert command.help, f"{name} has no help"
    listed = command is main or not command.get_short_help_str(limit=60).endswith("...")
    assert listed, f"{name}: the first sentence is too long for the list of commands"
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{name} {option.opts[0]} has no help"


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_says_what_it_means_and_hides(name: str) -> None:
    definition = MEASURES[name]
    assert definition.meaning.endswith(".")
    assert definition.hides.endswith(".")
    assert definition.formula
    assert parse(definition.example).name == name


def test_nothing_tells_a_reader_to_install_the_other_project_named_labeler() -> None:
    """On PyPI `labeler` is somebody else's package; ours is `retrieval-labeler`."""
    other = re.compile(
        r"(?:\b(?:pip3?|uv|pipx)\b[^\n]*\b(?:install|add|run)\b|\buvx\b|\bpipx\b)"
        r"[^\n]*?[\s'\"`]labeler(?=[\[=<>~!'\"`\s]|$)"
    )
    listed = ["git", "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    texts = {
        name: (ROOT / name).read_text(encoding="utf-8", errors="replace")
        for name in names.splitlines()
        if (ROOT / name).is_file() and not name.startswith("tests/")
    }
    assert other.search("run: pip install labeler")
    assert not other.search("pip install 'retrieval-labeler[login]'")
    assert [name for name, text in texts.items() if other.search(text)] == []
    assert [
        name for name, text in texts.items() if re.search(r"(?<!-)\blabeler\[[a-z]", text)
    ] == []


def test_both_commands_start_the_same_program() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "retrieval-labeler"
    assert project["scripts"] == dict.fromkeys(("labeler", "retrieval-labeler"), "labeler.cli:main")


def test_the_generated_parts_are_up_to_date() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "cogapp", "--check", *(f"docs/{name}" for name in PAGES)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, f"{checked.stdout}{checked.stderr}run 'make fix'"


def test_the_documentation_names_files_that_are_there() -> None:
    text = ALL + read("CONTRIBUTING.md")
    named = set(re.findall(r"`((?:labeler|pages|tests|sample_data)/[\w./]*)`", text))
    assert "labeler/measures" in named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def first_cells(title: str, heading: str) -> str:
    """Return the first column of the table in a section that begins with this heading."""
    rows = section(title).partition(f"\n| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return "\n".join(row.split(" | ")[0].strip("| ") for row in rows)


def test_the_documentation_says_what_each_setting_decides() -> None:
    told = re.findall(r"`([\w-]+)`", first_cells("Settings", "Setting"))
    assert sorted(told) == sorted(NAMES)


def test_the_documentation_names_every_key_of_the_pad() -> None:
    told = {name.lower() for name in re.findall(r"`(.+?)`", first_cells("Grade together", "key"))}
    script = (ROOT / "labeler/ui/js/keys.js").read_text(encoding="utf-8")
    table = script.partition("GRADING = new KeyMap([")[2].partition("]);")[0]
    keys = re.findall(r'^  \["\w+", "([^"]+)"', table, flags=re.MULTILINE)
    assert len(keys) > 10
    names = {"arrowleft": "←", "arrowright": "→"}
    wanted = {names.get(part, part) for key in keys for part in re.split(r"[ +]", key)}
    assert wanted - told == set()


def read(name: str) -> str:
    """Return a file of the checkout's top folder."""
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_documentation_names_every_way_to_open_an_address_that_others_can_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Store(tmp_path / "golden.db", create=True).close()
    refused = CliRunner().invoke(main, ["serve", "--host", "0.0.0.0"], prog_name="labeler")
    assert (refused.exit_code, "nobody is invited yet" in refused.stderr) == (1, True)
    ways = set(re.findall(r"labeler invite|--login|--allow-unauthenticated", refused.stderr))
    assert len(ways) == 3
    assert any(all(way in part for way in ways) for part in ALL.split("\n\n"))
    assert "asks nobody" not in ALL


def test_the_readme_is_one_screen() -> None:
    assert len(README.split()) <= 900


def test_every_link_of_the_documentation_leads_to_a_file() -> None:
    pages = {ROOT / "README.md": README, ROOT / "CONTRIBUTING.md": read("CONTRIBUTING.md")}
    pages |= {ROOT / "docs" / name: text for name, text in PAGES.items()}
    missing = [
        f"{path.name}: {link}"
        for path, text in pages.items()
        for link in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
        if not (path.parent / link).exists()
    ]
    assert missing == []


def test_every_page_is_in_the_index() -> None:
    link = r"\]\((\w[\w/-]*\.md)"
    listed = set(re.findall(link, PAGES["index.md"]))
    in_handbook = re.findall(link, PAGES["handbook/index.md"])
    listed |= {f"handbook/{page}" for page in in_handbook}
    assert listed == set(PAGES) - {"index.md"}


def test_the_index_calls_a_page_by_its_title() -> None:
    rows = re.findall(r"^\| \[([^\]]+)\]\((\w[\w/-]*\.md)", PAGES["index.md"], flags=re.MULTILINE)
    assert len(rows) > 20
    titles = {name: re.findall(r"^# (.+)$", PAGES[name], flags=re.MULTILINE) for _, name in rows}
    told = [(said, name) for said, name in rows if titles[name] and titles[name][0] != said]
    assert told == []


def test_the_contributors_map_is_short() -> None:
    assert len(read("CONTRIBUTING.md").splitlines()) <= 150
