"""A command as a whole process: how long it took, and the most memory it had."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from tests.conftest import ROOT

_BYTES = 1 if sys.platform == "darwin" else 1024  # what the system counts memory in


class Took(NamedTuple):
    """Seconds on the wall, seconds of a processor, and the most memory in MB (10^6 bytes)."""

    wall: float
    processor: float
    memory: float


def took(command: Sequence[str], allowed: Sequence[int] = (0,)) -> Took:
    """Run a command to its end, without its output; another exit code than allowed ends all."""
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in allowed:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Took(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * _BYTES / 1e6)


def print_middles(what: str, told: Sequence[Took]) -> None:
    """Print the median and the longest of each figure."""
    units = (("wall clock", "s"), ("processor time", "s"), ("memory", "MB"))
    for (name, unit), values in zip(units, zip(*told, strict=True), strict=True):
        middle, most = statistics.median(values), max(values)
        print(f"{what}, {name}: {middle:.2f} {unit} (longest {most:.2f})")
