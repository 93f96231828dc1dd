"""Prewarming: after the start a thread imports the pages, opens the board, compresses files.

It works in small parts, each only while no request has come for a while, so that no visitor waits.
"""

from __future__ import annotations

import gc
import importlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labeler.errors import LabelerError
from labeler.web.app_files import compressed
from labeler.web.first_visit import streamlit_files

QUIET_SECONDS = 0.75
CHECK_SECONDS = 0.1
THREAD_NAME = "opens the board"

log = logging.getLogger(__name__)


class RequestActivity:
    """When the last request or answer was."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def note(self) -> None:
        """Note a request or an answer."""
        self._last = time.monotonic()

    def is_quiet(self) -> bool:
        """Say whether there was no request for a while."""
        return time.monotonic() - self._last >= QUIET_SECONDS


class ActivityMiddleware:
    """Notes every request and every message of a websocket."""

    def __init__(self, app: ASGIApp, traffic: RequestActivity) -> None:
        self.app = app
        self.traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, noting all that comes and goes."""

        async def noted_receive() -> Message:
            message = await receive()
            self.traffic.note()
            return message

        async def noted_send(message: Message) -> None:
            self.traffic.note()
            await send(message)

        self.traffic.note()
        await self.app(scope, noted_receive, noted_send)


@contextmanager
def warm_up(traffic: RequestActivity) -> Iterator[threading.Thread]:
    """Open the board in a thread while the server runs, whenever there are no requests."""
    over = threading.Event()
    thread = threading.Thread(
        target=_take_steps, args=(traffic, over), name=THREAD_NAME, daemon=True
    )
    thread.start()
    try:
        yield thread
    finally:
        over.set()


def _take_steps(traffic: RequestActivity, over: threading.Event) -> None:
    try:
        for _ in _before_each_part():
            while not traffic.is_quiet():
                if over.wait(CHECK_SECONDS):
                    return
    except LabelerError as error:  # whoever opens a page is told
        log.debug("the board is not open yet: %s", error)


def _before_each_part() -> Iterator[None]:
    for step in STEPS:
        yield
        yield from step()


def _import_pages() -> Iterator[None]:
    """Import what pages for leads are made from, which takes a second that the start has not."""
    for name in ("compare", "queries", "review", "scores", "slices"):
        importlib.import_module(f"labeler.ui.{name}.page")
    freeze_garbage()
    yield


def freeze_garbage() -> None:
    """Exclude all objects that exist now from garbage collection.

    Streamlit collects garbage after every run of a page; looking through all imported modules takes
    longer than most pages take to run.
    """
    gc.collect()
    gc.freeze()


def _open_board() -> Iterator[None]:
    importlib.import_module("labeler.ui.scoreboards").open_board()
    yield


def _open_ranges() -> Iterator[None]:
    yield from importlib.import_module("labeler.ui.scoreboards").open_ranges()


def _compress_files() -> Iterator[None]:
    """Compress the scripts that every first visit loads."""
    for path in chain(*streamlit_files()):
        compressed(path)
        yield


def _open_decision() -> Iterator[None]:
    yield from importlib.import_module("labeler.ui.assignment_cache").open_decision()


STEPS: tuple[Callable[[], Iterator[None]], ...] = (
    *(_import_pages, _open_board, _compress_files),
    *(_open_ranges, _open_decision),
)
