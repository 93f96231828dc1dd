"""A Chromium with a profile of its own that can be killed without warning, as a crash would."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext, BrowserType

from tests.browser.profiles import HAS_READ_THE_WELCOME
from tests.browser.server import ARGUMENTS, CHROMIUM_NAMES, QUIET


class Killable:
    """A browser at a profile that outlives it."""

    def __init__(self, chromium: BrowserType, profile: Path) -> None:
        self.chromium, self.profile = chromium, profile
        self.process: subprocess.Popen[bytes] | None = None

    @contextmanager
    def opened(self) -> Iterator[BrowserContext]:
        """Start it; it ends with the block, or by `kill` before."""
        said = self.profile / "DevToolsActivePort"
        said.unlink(missing_ok=True)
        found = next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)
        program = os.environ.get("LABELER_CHROMIUM") or found or self.chromium.executable_path
        place = [f"--user-data-dir={self.profile}", "--remote-debugging-port=0", "--headless"]
        command = [program, *ARGUMENTS, *place, "about:blank"]
        self.process = subprocess.Popen(command, start_new_session=True, **QUIET)
        try:
            while not (said.exists() and said.read_text(encoding="utf-8").strip()):
                time.sleep(0.05)
            port = said.read_text(encoding="utf-8").split()[0]
            browser = self.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
            browser.contexts[0].add_init_script(HAS_READ_THE_WELCOME)
            yield browser.contexts[0]
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill the browser and all of its processes at once."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
