"""A file under fire: ``python -m tests.benchmarks.keeping [SECONDS]``.

Writers in processes of their own grade without a pause, two of what a server does for its file
fold its log all the time, backups are made one after another, and all of them are killed at
random moments and begun anew. Prints whether the log holds every acknowledged grade exactly once,
whether the file and each backup are whole, and how long a grade waited for a fold.
"""

from __future__ import annotations

import math
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from labeler.store import Store
from labeler.store.backup import file_check
from tests.browser.server import small_golden_set

SECONDS, WRITERS, KEEPERS = 60, 4, 2
LIFE_SECONDS = (0.5, 4.0)

WRITER = """
import sys, time
from labeler.errors import Busy
from labeler.model import Judgment
from labeler.store import Store
path, name = sys.argv[1:]
for n in range(10**9):
    with Store(path) as store:
        began = time.perf_counter()
        try:
            pair = f"q{n % 4}", f"c{n % 30}"
            store.judgments.add(Judgment(f"{name}/{n}", *pair, "Ann", grade=n % 4))
        except Busy:
            continue
        print(f"{name}/{n} {time.perf_counter() - began}", flush=True)
"""
KEEPER = """
import sys, time
from labeler.errors import Busy
from labeler.store import Store
from labeler.store.backup.maintenance import checkpoint
with Store(sys.argv[1]):
    while True:
        try:
            print("whole" if fold(sys.argv[1]) else "part", flush=True)
        except Busy:
            print("busy", flush=True)
        time.sleep(0.002)
"""
BACKUP = """
import sys
from datetime import timedelta
from pathlib import Path
from labeler.store.backup.backups import Schedule, back_up_in_series
path, folder = map(Path, sys.argv[1:])
while True:
    print(back_up_in_series(path, Schedule(timedelta(0), folder, 5)).path, flush=True)
"""


@dataclass
class Mortal:
    """A process that is killed soon after its first words, again and again; they are kept."""

    script: str
    arguments: tuple[str, ...]
    output: Path
    said: list[str] = field(default_factory=list)
    deaths: int = 0

    def begin(self) -> None:
        """Start it, under another name each time."""
        name = [f"{self.output.stem}.{self.deaths}"] if self.script is WRITER else []
        command = [sys.executable, "-c", self.script, *self.arguments, *name]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE)
        self.dies_at = math.inf

    def is_due(self) -> bool:
        """Say whether it is time to kill it."""
        if self.dies_at == math.inf and self.output.stat().st_size:
            self.dies_at = time.monotonic() + random.uniform(*LIFE_SECONDS)
        return time.monotonic() >= self.dies_at

    def kill(self) -> None:
        """Kill it, and keep the lines it has finished."""
        ended = self.process.poll()
        self.process.send_signal(signal.SIGKILL)
        _, errors = self.process.communicate()
        assert ended is None, errors.decode()
        lines = self.output.read_text().splitlines(keepends=True)
        self.said += [line.strip() for line in lines if line.endswith("\n")]
        self.deaths += 1


def main(seconds: int = SECONDS) -> None:
    """Let all work and die, then look at what is there."""
    with tempfile.TemporaryDirectory() as name:
        path, folder = small_golden_set(Path(name) / "golden.db"), Path(name) / "backups"
        folder.mkdir()
        with Store(path) as store:
            store.people.add("Ann")
        at, into = (str(path),), (str(path), str(folder))
        writers = [Mortal(WRITER, at, Path(name) / f"writer{n}") for n in range(WRITERS)]
        keepers = [Mortal(KEEPER, at, Path(name) / f"keeper{n}") for n in range(KEEPERS)]
        makers = [Mortal(BACKUP, into, Path(name) / "maker")]
        live_and_die([*writers, *keepers, *makers], time.monotonic() + seconds)
        report(path, folder, writers, keepers, makers)


def live_and_die(all_of_them: list[Mortal], until: float) -> None:
    """Start all, and kill each when its time has come."""
    for each in all_of_them:
        each.begin()
    while time.monotonic() < until:
        time.sleep(0.05)
        for each in all_of_them:
            if each.is_due():
                each.kill()
                each.begin()
    for each in all_of_them:
        each.kill()


def report(
    path: Path, folder: Path, writers: list[Mortal], keepers: list[Mortal], makers: list[Mortal]
) -> None:
    """Print what was acknowledged, what is there, and what is wrong."""
    lines = [line.split() for writer in writers for line in writer.said]
    acknowledged = {event for event, _ in lines}
    with Store(path) as store:
        events = [event.event_id for event in store.judgments.log()]
    lost, doubled = len(acknowledged - set(events)), len(events) - len(set(events))
    folds = [word for keeper in keepers for word in keeper.said]
    took = np.array([float(seconds) for _, seconds in lines]) * 1e3
    deaths = sum(each.deaths for each in (*writers, *keepers, *makers))
    print(f"{len(acknowledged):,} grades acknowledged, {lost} lost, {doubled} doubled")
    print(
        f"{deaths} kills; folds: {', '.join(f'{folds.count(w):,} {w}' for w in sorted({*folds}))}"
    )
    print(f"{len(makers[0].said)} backups made, {len(list(folder.glob('*.db')))} kept")
    print(
        f"grade to durable: median {np.median(took):.1f} ms, p95 {np.percentile(took, 95):.1f} ms"
    )
    for file in (path, *sorted(folder.glob("*.db"))):
        wrong = [each.says for each in file_check.check_file(file) if each.is_wrong]
        print(f"{file.name}: {'; '.join(wrong) or 'whole'}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
