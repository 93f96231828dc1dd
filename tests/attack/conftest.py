"""What several attacks start from: a golden set that nobody has open, and commands on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.store import Store


@pytest.fixture
def path(filled: Store) -> Path:
    """A golden set with three golden grades that nobody has open."""
    filled.close()
    return filled.path


@pytest.fixture
def run(path: Path) -> Callable[..., Result]:
    """Run a command on the golden set."""
    return lambda *arguments: CliRunner().invoke(main, ["--db", str(path), *map(str, arguments)])
