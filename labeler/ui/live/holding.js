// Where a reader is inside of a table while it is replaced by one with newer numbers: what has the
// focus, how far it is scrolled, which details are open. Streamlit keeps that of its own elements;
// our tables are HTML, which it replaces whole.

const STOPS = "a[href], button, summary, input, [tabindex]";
const AFTERWARDS_MS = 250; // in which the last of what a run has sent is drawn

/**
 * Where elements were scrolled to, which they do not know once they are taken out of the page.
 *
 * @type {WeakMap<Element, { left: number, top: number }>}
 */
const places = new WeakMap();
/** @type {Element | null} */
let focused = null; // what had the focus last, though it may be gone
/** @type {number | undefined} */
let ending;

const watching = new MutationObserver((changes) => {
  for (const { target, removedNodes } of changes) {
    if (target instanceof HTMLElement && target.dataset.testid === "stHtml") {
      takeOver(all(removedNodes), all(target.childNodes));
    }
  }
});

const anywhere = { capture: true, passive: true };
document.addEventListener("scroll", ({ target }) => note(target), anywhere);
document.addEventListener("focusin", ({ target }) => remember(target), anywhere);
document.addEventListener("pointerdown", () => remember(null), anywhere);
window.addEventListener("popstate", () => watching.disconnect());

/** Keep, from now on, what there is inside of every table that is replaced. */
export function hold() {
  clearTimeout(ending);
  watching.observe(document.body, { childList: true, subtree: true });
}

/** What was asked for has come: what a table is replaced by after that is another. */
export function release() {
  clearTimeout(ending);
  ending = setTimeout(() => watching.disconnect(), AFTERWARDS_MS);
}

/** @type {(target: EventTarget | null) => void} */
function note(target) {
  if (target instanceof Element) {
    places.set(target, { left: target.scrollLeft, top: target.scrollTop });
  }
}

/** @type {(target: EventTarget | null) => void} */
function remember(target) {
  focused = target instanceof Element ? target : null;
}

/** @type {(nodes: NodeList) => Element[]} */
function all(nodes) {
  const elements = [...nodes].filter((node) => node instanceof Element);
  return elements.flatMap((element) => [element, ...element.querySelectorAll("*")]);
}

/** @type {(before: Element[], now: Element[]) => void} */
function takeOver(before, now) {
  const details = now.filter((each) => each instanceof HTMLDetailsElement);
  for (const [at, old] of before.filter((each) => each instanceof HTMLDetailsElement).entries()) {
    if (details[at]) details[at].open = old.open;
  }
  for (const old of before) {
    const place = places.get(old);
    if (!place) continue;
    const { className, tagName } = old;
    const isAlike = (/** @type {Element} */ each) =>
      each.className === className && each.tagName === tagName;
    const same = counterpart(old, before, now, isAlike);
    if (!same) continue;
    same.scrollTo(place);
    places.set(same, place);
  }
  if (!focused || !before.includes(focused) || document.activeElement !== document.body) return;
  const to = focused.getAttribute("href");
  const sameLink = to === null ? null : now.find((each) => each.getAttribute("href") === to);
  const stop = sameLink ?? counterpart(focused, before, now, (each) => each.matches(STOPS));
  if (stop instanceof HTMLElement) stop.focus({ preventScroll: true });
}

/** @type {(old: Element, before: Element[], now: Element[], is: (each: Element) => boolean) => Element | undefined} */
function counterpart(old, before, now, is) {
  return now.filter(is)[before.filter(is).indexOf(old)];
}
