"""The verbs that several nouns share, as ``rename run`` and ``rename grader`` do; does nothing."""

from __future__ import annotations

import click

from labeler.cli.group import LabelerGroup


class RestoreGroup(LabelerGroup):
    """Takes a file's name for ``restore backup NAME``, as people type it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words after ``restore``."""
        if args and args[0] not in self.commands and args[0] not in self.get_help_option_names(ctx):
            args = ["backup", *args]
        return super().parse_args(ctx, args)


@click.group(cls=LabelerGroup)
def rename() -> None:
    """Give a run or a grader another name."""


@click.group(cls=LabelerGroup)
def change() -> None:
    """Change a setting, a role, or what is said of a run."""


@click.group(cls=RestoreGroup)
def restore() -> None:
    """Put a backup in place, or take back what was set aside.

    'labeler restore PATH' is short for 'labeler restore backup PATH'.
    """
