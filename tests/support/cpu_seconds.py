"""CPU seconds of each test file and of what it starts: `make test CPU_SECONDS=1` prints them."""

from __future__ import annotations

import os
import resource
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def cpu_seconds() -> float:
    """Return what this process, those it waited for and its living descendants have used so far.

    Descendants are found on Linux only; elsewhere they count as soon as they are waited for.
    """
    own = resource.getrusage(resource.RUSAGE_SELF)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime
    return used + sum(_of_living(os.getpid()))


def _of_living(parent: int) -> Generator[float, None, None]:
    children: dict[int, list[tuple[int, float]]] = {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # ended meanwhile
            continue
        ticks = sum(map(int, fields[11:15]))
        children.setdefault(int(fields[1]), []).append((int(each.parent.name), ticks / TICK))
    waiting = [parent]
    while waiting:
        for process, seconds in children.get(waiting.pop(), ()):
            waiting.append(process)
            yield seconds


class CpuSeconds:
    """Adds the seconds up: in a worker it measures, in the process that reports it prints."""

    def __init__(self) -> None:
        self.of_test = Counter[str]()
        self.collection = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure a test from its first fixture to what closes after it."""
        before = cpu_seconds()
        self.collection = self.collection or before
        done = yield
        # less than before where a process has ended that another one than its parent waited for
        self.of_test[item.nodeid] += max(0.0, cpu_seconds() - before)
        return done

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand a worker's sums to the process that reports."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["cpu"] = (dict(self.of_test), self.collection)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Take over the sums of a worker."""
        of_test, collection = getattr(node, "workeroutput", {}).get("cpu", ({}, 0.0))
        self.of_test.update(of_test)
        self.collection += collection

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the files, and the tests of three seconds or more."""
        files, tests = Counter[str](), Counter[str]()
        for name, seconds in self.of_test.items():
            files[name.partition("::")[0]] += seconds
            tests[name.partition("::")[0]] += 1
        terminalreporter.section("CPU seconds, processes started included")
        for name, seconds in files.most_common():
            terminalreporter.write_line(f"{seconds:8.1f} {tests[name]:5} tests  {name}")
        terminalreporter.write_line(f"{self.collection:8.1f} collection, in all workers")
        terminalreporter.write_line(f"{self.of_test.total() + self.collection:8.1f} together")
        terminalreporter.section("tests of three CPU seconds or more")
        for name, seconds in self.of_test.most_common():
            if seconds >= 3:
                terminalreporter.write_line(f"{seconds:8.1f} {name}")
