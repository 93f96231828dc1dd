"""Commands by name, imported when they are called, and the help that lists them under headings.

The table in `labeler.cli` holds each command's place and help line, so that ``--help`` imports
none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from importlib import import_module

import click

from labeler.cli.groups import LabelerGroup


@dataclass(frozen=True, slots=True)
class CommandPlace:
    """Where a command is, as ``module.name`` in `labeler.cli`, and its help in one line.

    A group names the other modules that add commands to it as ``parts``.
    """

    place: str
    help: str
    parts: tuple[str, ...] = ()


class LazyCommands(MutableMapping[str, click.Command]):
    """Commands by name, each imported from its module when it is first read."""

    def __init__(self, places: Mapping[str, CommandPlace]) -> None:
        """Remember where each command is."""
        self._places = dict(places)
        self._found: dict[str, click.Command | None] = dict.fromkeys(places)

    def __getitem__(self, name: str) -> click.Command:
        """Return a command; a group includes what other modules add to it."""
        found = self._found[name]
        if found is None:
            where = self._places[name]
            module, _, attribute = where.place.partition(".")
            self._found[name] = found = getattr(import_module(f"labeler.cli.{module}"), attribute)
            for part in where.parts:
                import_module(f"labeler.cli.{part}")
        return found

    def __setitem__(self, name: str, command: click.Command) -> None:
        """Add a command."""
        self._found[name] = command

    def __delitem__(self, name: str) -> None:
        """Remove a command."""
        del self._found[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._found)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._found)


class GroupedHelp(LabelerGroup):
    """Lists its commands under headings, without importing any.

    Commands by ``older`` names work and are not listed.
    """

    def __init__(
        self,
        *args: object,
        headings: Mapping[str, Mapping[str, CommandPlace]],
        older: Mapping[str, CommandPlace],
        **others: object,
    ) -> None:
        """Make a group of all commands under these headings."""
        listed = {name: place for under in headings.values() for name, place in under.items()}
        others["commands"] = LazyCommands({**listed, **older})
        super().__init__(*args, **others)  # type: ignore[arg-type]  # click's own arguments
        self.headings = headings

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings."""
        widest = max(len(name) for under in self.headings.values() for name in under)
        for heading, under in self.headings.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(name.ljust(widest), each.help) for name, each in under.items()]
                )
