"""What several attacks start from: a golden set that nobody has open, and commands on it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
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


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that is taken: a server that should have refused to start earlier does not stay."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]
