"""The gate file on the disk: read anew at each look, since people change it; judges nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from labeler.analysis.gate.passing import Passing, read_passing
from labeler.analysis.gate.reading import read_gate
from labeler.analysis.gate.records import Gate
from labeler.errors import BadInput, LabelerError, NotFound

SERVED = "LABELER_GATE"
"""The variable of the environment in which a server is told of its gate file."""

MOST = 10_000_000  # bytes; what runs that passed may come to


def gate_at(path: Path) -> Gate:
    """Read a gate file; raises `NotFound` or `BadInput`."""
    return read_gate(bytes_of(path, "a gate file"), path.name)


def served_gate(environment: Mapping[str, str]) -> tuple[Gate | None, str]:
    """Return the gate file a server was told of as it is now, and what is wrong with it.

    None where it was told of none, or where that cannot be read: then the sentence says why.
    """
    path = environment.get(SERVED)
    if not path:
        return None, ""
    try:
        return gate_at(Path(path)), ""
    except LabelerError as error:
        return None, str(error).replace(path, Path(path).name)


def served_passing(environment: Mapping[str, str], gate: Gate) -> tuple[Passing | None, str]:
    """Return the runs that passed the gate file a server was told of, and why there are none.

    Both are nothing where the file names no last passing run.
    """
    if gate.last_passing is None:
        return None, ""
    path = Path(environment[SERVED]).parent / gate.last_passing
    if not path.exists():
        return None, f"{gate.name}: no run has passed yet, so no drop from one is shown"
    try:
        return read_passing(bytes_of(path, "a file of runs that passed"), path.name), ""
    except LabelerError as error:
        return None, f"{str(error).replace(str(path), path.name)}; no drop from one is shown"


def bytes_of(path: Path, what: str) -> bytes:
    """Return the bytes of a file; raises `NotFound` or `BadInput` where they cannot be had."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST + 1)
    except FileNotFoundError:
        raise NotFound(f"{path}: is not there; name {what}") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > MOST:
        raise BadInput(f"{path}: has more than {MOST:,} bytes; that is not {what}")
    return data
