"""The boxes in which a page is set, which are folded away."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.still import stand_still


def open_choices(page: Page) -> None:
    """Unfold the boxes unless they are in view."""
    folded = stand_still(page).locator(".st-key-folded details")
    expect(folded).to_be_visible()
    if folded.get_attribute("open") is None:
        folded.locator("summary").click()
    unfolded(page)


def unfolded(page: Page) -> None:
    """Wait until the boxes have come to rest; a list that opens while they move closes again."""
    expect(page.locator(".st-key-boxes")).to_be_visible()
    page.locator(".st-key-folded details").evaluate(
        "all => Promise.allSettled(all.getAnimations({ subtree: true }).map(each => each.finished))"
    )


def choose(page: Page, label: str, option: str) -> None:
    """Choose an option of the box with this label."""
    open_choices(page)
    page.get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()
    stand_still(page)
