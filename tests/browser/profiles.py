"""Browser profiles that are emptied and used again: a page comes up there in half the time.

What makes it so is that the files of the app are at hand, see `tests.browser.server.KnownServer`,
and that the process which draws the page has started.
"""

from __future__ import annotations

from playwright.sync_api import Browser

USUAL = {"viewport": {"width": 1280, "height": 800}}
# All pages of a profile share one process, which its first page keeps.
ONE_PROCESS = "--renderer-process-limit=1"
KEPT = 5  # profiles that nobody uses
# Whoever has graded nothing reads a welcome first, unless they have read it: so has everybody here
# who is not opened as a ``newcomer``.
HAS_READ_THE_WELCOME = """{
    const { getItem } = Storage.prototype;
    Storage.prototype.getItem = function (key) {
        return key.startsWith("labeler-welcomed") ? "true" : getItem.call(this, key);
    };
}"""


class Profile:
    """A profile that nobody has used, or that looks as if nobody had."""

    def __init__(self, browser: Browser, device: dict[str, object]) -> None:
        self.device = device
        known = {name: each for name, each in device.items() if name != "newcomer"}
        self.context = browser.new_context(**{**USUAL, **known})
        if not device.get("newcomer"):
            self.context.add_init_script(HAS_READ_THE_WELCOME)
        self.first = self.context.new_page()
        self.devtools = self.context.new_cdp_session(self.first)

    def empty(self) -> None:
        """Close its pages and forget what it has kept, but for files that never change."""
        for page in self.context.pages:
            if page is not self.first:
                page.close()
        self.context.set_offline(False)
        self.context.clear_cookies()
        everything = {"origin": "*", "storageTypes": "all"}
        self.devtools.send("Storage.clearDataForOrigin", everything)


class Profiles:
    """The profiles of one browser."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.free: list[Profile] = []

    def take(self, device: dict[str, object]) -> Profile:
        """Give a profile that nobody else has."""
        for profile in reversed(self.free):
            if profile.device == device:
                self.free.remove(profile)
                return profile
        return Profile(self.browser, device)

    def give_back(self, profile: Profile) -> None:
        """Take it for the next who wants one."""
        profile.empty()
        self.free.append(profile)
        if len(self.free) > KEPT:
            self.free.pop(0).context.close()
