// Streamlit's own dialog about its connection, over pages that say themselves that there is none.

/**
 * Close it whenever it opens, until what is returned is disconnected.
 *
 * @type {() => MutationObserver}
 */
export function keepConnectionDialogsClosed() {
  const watch = new MutationObserver(() => {
    for (const dialog of document.querySelectorAll('[role="dialog"]')) {
      if (!dialog.textContent?.includes("Connection error")) continue;
      const close = dialog.querySelector('button[aria-label="Close"]');
      if (close instanceof HTMLElement) close.click();
    }
  });
  watch.observe(document.body, { childList: true });
  return watch;
}
