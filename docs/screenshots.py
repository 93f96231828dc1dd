"""Pictures of the pages for the documentation: `make screenshots` takes them of the demo.

Each page is taken in light and in dark, Label on a phone as well, as WebP into `docs/images`.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from labeler.cli.demo_data import build_demo
from labeler.ui.grading import COOKIE
from tests.browser.profiles import HAS_READ_THE_WELCOME
from tests.browser.server import Server, launch
from tests.browser.still import STILL

IMAGES = Path(__file__).parent / "images"
DESK, PHONE = (1440, 900), (390, 844)  # the window, in CSS pixels
SCENES = {
    "label": ("/label", DESK),
    "label-phone": ("/label", PHONE),
    "scores": ("/scores", DESK),
    "compare": ("/compare?a=bm25&b=hybrid", DESK),
    "slices": ("/slices?a=bm25&b=hybrid", DESK),
    "queries": ("/queries?a=bm25&b=hybrid", DESK),
    "review": ("/review", DESK),
    "data": ("/data", DESK),
}
SCHEMES = ("light", "dark")
QUALITY = 82  # of WebP: no letter of a page is blurred
LARGEST = 120_000  # bytes
GRADER = "Nadia"
PAINTED_MS = 1_500  # charts and fonts, once no script runs any more


def open_page(browser: Browser, url: str, size: tuple[int, int], scheme: str) -> Page:
    """Open a page as a grader who has read the welcome, and wait until it is still."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if scheme == "dark" else "light",
        device_scale_factor=1 if size == DESK else 2,
        reduced_motion="reduce",
    )
    context.add_init_script(HAS_READ_THE_WELCOME)
    context.add_cookies([{"name": COOKIE, "value": GRADER, "url": url}])
    page = context.new_page()
    page.goto(url)
    page.wait_for_function(STILL)
    page.wait_for_timeout(PAINTED_MS)
    return page


def save(picture: bytes, path: Path) -> None:
    """Write a picture as WebP; raises `ValueError` for one that is too large for a page."""
    Image.open(io.BytesIO(picture)).convert("RGB").save(path, quality=QUALITY, method=6)
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path}: has {path.stat().st_size:,} bytes, more than {LARGEST:,}")


def main() -> None:
    """Take all pictures of the demo."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        database = Path(folder) / "demo.db"
        build_demo(database)
        server = Server(database)
        browser = launch(playwright)
        server.start()
        try:
            for name, (address, size) in SCENES.items():
                for scheme in SCHEMES:
                    page = open_page(browser, f"{server.url}{address}", size, scheme)
                    path = IMAGES / f"{name}-{scheme}.webp"
                    save(page.screenshot(), path)
                    page.context.close()
                    print(f"{path.name}: {path.stat().st_size:,} bytes")
        finally:
            server.stop()
            browser.close()


if __name__ == "__main__":
    main()
