"""When a page of Streamlit's has come to rest, and what it shows then."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

# What a page says and what its widgets are set to.
SHOWN = r"""() => {
    const words = [];
    const read = node => {
        if (node.nodeType === Node.TEXT_NODE) words.push(node.textContent.trim());
        if (node instanceof HTMLInputElement) words.push(`[${node.value}]`);
        const isDrawn = node.dataset?.testid === "stDataFrame"; // its text comes late, for few
        if (node instanceof HTMLStyleElement || node.hidden || isDrawn) return;
        for (const child of (node.shadowRoot ?? node).childNodes) read(child);
    };
    read(document.querySelector('[data-testid="stMain"]'));
    return words.filter(Boolean).join("\n");
}"""
# A page stands still once no script runs and what it waits for has come.
STILL = """() => document.querySelector('[data-testid="stApp"]')
    ?.dataset.testScriptState === "notRunning"
    && !document.querySelector('[data-testid="stSkeleton"], [data-testid="stSpinner"]')"""

# Follows a link that is on no page, and notes on the window when the page has run since. Nothing
# here is awaited: Chromium may collect a promise that only the test waits for.
FOLLOW = """to => {
    const app = document.querySelector('[data-testid="stApp"]');
    let runs = false;
    const end = () => { watch.disconnect(); window.follows = false; };
    const watch = new MutationObserver(() => {
        if (app.dataset.testScriptState !== "notRunning") runs = true;
        else if (runs) end();
    });
    watch.observe(app, { attributeFilter: ["data-test-script-state"] });
    window.follows = true;
    setTimeout(end, 2_000); // a run may be so short that nobody sees it
    const link = Object.assign(document.createElement("a"), { href: to });
    document.body.append(link);
    link.click();
    link.remove();
}"""


def wait_for_links(page: Page) -> Page:
    """Wait until links are followed by our script: before that the browser loads them anew."""
    page.wait_for_function("() => !String(history.pushState).includes('[native code]')")
    return page


def follow(page: Page, address: str) -> Page:
    """Go on to an address as by a link, which costs a fifth of loading it.

    That a link shows what its address does is seen to in test_links.
    """
    wait_for_links(page).wait_for_function(STILL)
    page.evaluate(FOLLOW, address)
    page.wait_for_function("() => !window.follows")
    return stand_still(page)


def stand_still(page: Page) -> Page:
    """Wait until the page has shown the same for a while."""
    expect(page.get_by_test_id("stMain")).to_be_visible()
    if urlsplit(page.url).path == "/":
        expect(page.locator(".status .state, .stButton button").first).to_be_visible()
    before, same = "", 0
    while same < 3:
        page.wait_for_function(STILL)
        page.wait_for_timeout(60)
        now = shown(page)
        same = same + 1 if now == before else 0
        before = now
    return page


def shown(page: Page) -> str:
    """Return what the page says; which chunk the pad asks for first is its own business."""
    said = page.evaluate(SHOWN)
    return re.sub(r"(?s)\S+ saved.*", "pad", said) if urlsplit(page.url).path == "/" else said
