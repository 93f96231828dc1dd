"""What a page does wrong at a size: too wide, words cut off, text over text, exceptions."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import ConsoleMessage, Page

from tests.browser.still import STILL

SIZES = {
    "a large screen": (1440, 900),
    "a small one": (1024, 768),
    "a phone": (390, 844),
    "a phone on its side": (844, 390),
    "twice as large letters": (720, 450),
}
SCRIPT = (Path(__file__).parent / "sizes.js").read_text()
# Streamlit looks for its server below the page's address, too, and takes the first that answers.
ASKED_IN_VAIN = ("/_stcore/health", "/_stcore/host-config")


class Listener:
    """Notes what a page writes into the console as an error, and what it asks elsewhere."""

    def __init__(self, page: Page, url: str) -> None:
        self.url, self.found = url, []
        page.on("console", self.note)
        page.on("pageerror", lambda error: self.found.append(str(error)))
        page.on("request", lambda request: self.note_request(request.url))

    def note(self, message: ConsoleMessage) -> None:
        """Note a message that is an error."""
        if message.type == "error" and not message.location["url"].endswith(ASKED_IN_VAIN):
            self.found.append(message.text)

    def note_request(self, url: str) -> None:
        """Note a request to another server than ours."""
        if url.startswith("http") and not url.startswith(self.url):
            self.found.append(f"asks {url}")

    def take(self) -> list[str]:
        """Return what was noted since the last time."""
        found, self.found = self.found, []
        return found


def look(page: Page, *sizes: str) -> list[str]:
    """Return what is wrong with a page that stands still, at each of the sizes, or at all."""
    found: dict[str, str] = {}
    for name in sizes or SIZES:
        width, height = SIZES[name]
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(150)  # for what is drawn again when the window's size changes
        page.wait_for_function(STILL)
        for wrong in page.evaluate(SCRIPT):
            found.setdefault(wrong, name)
    return [f"{name}: {wrong}" for wrong, name in found.items()]
