// Where a reader is inside of a table while it is replaced by one with newer numbers: what has the
// focus, how far it is scrolled, which details are open. Streamlit keeps that of its own elements;
// our tables are HTML, which it replaces whole.

const STOPS = "a[href], button, summary, input, [tabindex]";

/** @type {MutationObserver | undefined} */
let watching;

/**
 * Keep what there is inside of every table under `root` until the next time this is called.
 *
 * @param {HTMLElement} root
 */
export function hold(root) {
  watching?.disconnect();
  const kept = new Map();
  for (const table of root.querySelectorAll('[data-testid="stHtml"]')) {
    const place = placeIn(table);
    if (place) kept.set(table, place);
  }
  watching = new MutationObserver((changes) => {
    const changed = new Set(changes.map(({ target }) => target));
    for (const table of changed) kept.get(table)?.();
  });
  for (const table of kept.keys()) watching.observe(table, { childList: true });
}

/**
 * Return what puts a reader back to where they are in a table, or nothing where that is its start.
 *
 * @type {(table: Element) => (() => void) | null}
 */
function placeIn(table) {
  const all = () => [...table.querySelectorAll("*")];
  const scrolled = all().flatMap(({ scrollLeft, scrollTop }, at) =>
    scrollLeft || scrollTop ? [{ at, left: scrollLeft, top: scrollTop }] : [],
  );
  const details = () => [...table.querySelectorAll("details")];
  const open = details().flatMap((each, at) => (each.open ? [at] : []));
  const stops = () => [...table.querySelectorAll(STOPS)];
  const focused = stops().indexOf(document.activeElement ?? document.body);
  if (!scrolled.length && !open.length && focused < 0) return null;
  return () => {
    for (const at of open) details()[at]?.setAttribute("open", "");
    const elements = all();
    for (const { at, left, top } of scrolled) elements[at]?.scrollTo(left, top);
    const stop = stops()[focused];
    if (stop instanceof HTMLElement && document.activeElement === document.body) {
      stop.focus({ preventScroll: true });
    }
  };
}
