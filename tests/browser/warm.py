"""Servers in a third of the time: forked from a process that has imported most of it already.

All of labeler runs as ``python -m labeler`` runs it, from its command line on, in a process of its
own. What is saved is the second and a half that the libraries and the domain take to be imported.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import runpy
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import NoReturn

LIBRARIES = [
    "altair",
    "anyio._backends._asyncio",
    "filelock",
    "itsdangerous",
    "pandas",
    "sqlite_utils",
    "starlette.applications",
    "starlette.middleware.sessions",
    "starlette.staticfiles",
    "streamlit.emojis",
    "streamlit.web.bootstrap",
    "streamlit.web.cli",
    "streamlit.web.server.starlette.starlette_agent_routes",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.http.h11_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
]
# What reads the environment while it is imported finds this process's, see `WarmServer`. Not those
# that are imported for a golden set, nor those of Streamlit's script.
ROOMS = [
    "labeler.api",
    "labeler.render.charts",
    "labeler.cli",
    "labeler.services.assignment.assigner",
    "labeler.web.auth",
    "labeler.render.csv_exports",
    "labeler.analysis.keywords",
    "labeler.services.assignment.pooling",
    "labeler.web.grading_api",
    "labeler.store.backup.maintenance",
    "labeler.store",
    "labeler.render.tables",
    "labeler.services.import_export",
]
CAN_FORK = sys.platform.startswith("linux")  # libraries of macOS do not survive it, Windows cannot
if CAN_FORK:
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload([*LIBRARIES, "tests.support.component_scan", *ROOMS])


class Forked:
    """``python -m labeler ARGUMENT...`` as `subprocess.Popen` would run it, but forked."""

    def __init__(self, arguments: Sequence[str], environment: dict[str, str]) -> None:
        given = (arguments, environment)
        self.process = forks.Process(target=become_labeler, args=given, daemon=True)
        with bare_main():
            self.process.start()
        self.pid = self.process.pid

    def send_signal(self, how: signal.Signals) -> None:
        """Send the process a signal."""
        os.kill(self.pid, how)

    def wait(self, timeout: float) -> None:
        """Wait until the process is gone."""
        self.process.join(timeout)
        if self.process.is_alive():
            raise TimeoutError(f"process {self.pid} goes on")


@contextmanager
def bare_main() -> Iterator[None]:
    """Keep the main module from being run in the fork: Streamlit's AppTest leaves a page there."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def become_labeler(arguments: Sequence[str], environment: dict[str, str]) -> None:
    """Run the command, quietly; where it replaces its process, go on in this one."""
    gc.freeze()  # what was imported before the fork is never garbage: not to be looked at again
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.environ.clear()
    os.environ.update(environment)
    os.execve = partial(run_script, labeler_modules())  # type: ignore[assignment]
    sys.argv = ["labeler", *arguments]
    runpy.run_module("labeler", run_name="__main__")


def labeler_modules() -> set[str]:
    """Return what of labeler is imported."""
    return {name for name in sys.modules if name.partition(".")[0] == "labeler"}


def run_script(
    ready: set[str], python: str, command: Sequence[str], environment: dict[str, str]
) -> NoReturn:
    """Do what ``python -P SCRIPT ARGUMENT...`` does, where some of labeler is imported already."""
    assert command[:2] == [python, "-P"]
    for name in labeler_modules() - ready:
        del sys.modules[name]
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = list(command[2:])
    runpy.run_path(command[2], run_name="__main__")
    sys.exit()
