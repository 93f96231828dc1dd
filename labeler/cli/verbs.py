"""The verbs that several nouns share, as ``rename run`` and ``rename grader`` do; does nothing."""

from __future__ import annotations

import click

from labeler.cli.group import LabelerGroup


@click.group(cls=LabelerGroup)
def rename() -> None:
    """Give a run or a grader another name."""


@click.group(cls=LabelerGroup)
def change() -> None:
    """Change a setting, a role, or what is said of a run."""
