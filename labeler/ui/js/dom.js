// Elements made from text, careful clicks, and where the focus is. Text only ever enters the page as
// text.

const SAME_PLACE = 10; // pixels that a hand at rest may move a pointer by

/** @typedef {{ x: number, y: number }} Place */

// Say whether a pointer that nobody meant to move may have been at both places.
/** @type {(here: Place, there: Place) => boolean} */
export function isSamePlace(here, there) {
  return Math.hypot(here.x - there.x, here.y - there.y) <= SAME_PLACE;
}

// Make an element from a text.
/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {string | number} [text]
 * @param {string} [className]
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = String(text);
  if (className) made.className = className;
  return made;
}

// A button with the key that does the same; `key` may be empty.
/**
 * @param {string} key
 * @param {string} words
 * @param {() => void} act
 * @param {string} [className]
 */
export function keyButton(key, words, act, className = "link") {
  const button = bareKeyButton(key, words, className);
  onSingleClick(button, act);
  return button;
}

// The same without what it does.
/** @type {(key: string, words: string, className: string) => HTMLButtonElement} */
export function bareKeyButton(key, words, className) {
  const button = element("button", "", className);
  button.type = "button";
  if (key) button.append(element("kbd", key), " ");
  button.append(element("span", words));
  return button;
}

// Make an element from what is inside it.
/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {string} [className]
 * @param {(Node | string)[]} inside
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, className = "", ...inside) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...inside);
  return element;
}

// Find what is in a component's own HTML and therefore there.
/** @type {(root: ParentNode, selector: string) => HTMLElement} */
export function find(root, selector) {
  const found = root.querySelector(selector);
  if (!(found instanceof HTMLElement)) throw new Error(`this part has no ${selector}`);
  return found;
}

/** @type {(root: ParentNode) => (selector: string) => HTMLElement} */
export function finderIn(root) {
  return (selector) => find(root, selector);
}

// Who has the focus in the document or shadow tree that `host` is in.
/** @type {(host: Element) => Element | null} */
export function focusedBeside(host) {
  const root = host.getRootNode();
  return root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
}

/** @type {(before: Element | null) => void} */
export function giveFocusBack(before) {
  if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
}

// What went wrong, in words.
/** @type {(problem: unknown) => string} */
export function wordsOf(problem) {
  return problem instanceof Error ? problem.message : String(problem);
}

// The second click of a double click would hit a chunk that nobody has read.
/** @type {(button: HTMLElement, act: () => void) => void} */
export function onSingleClick(button, act) {
  button.addEventListener("click", (event) => {
    if (event.detail <= 1) act();
  });
}

/** @type {(event: Event) => boolean} */
export function isEditable(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

// Show words in a place, or hide the place where there are none.
/** @type {(host: HTMLElement, words: string | false | null | undefined) => void} */
export function showWords(host, words) {
  host.hidden = !words;
  if (host.textContent !== (words || "")) host.textContent = words || "";
}

/** @type {(host: Element) => boolean} */
export function isTooWide(host) {
  return host.scrollWidth > host.clientWidth;
}

// Let Tab lead to what is too long or too wide for its place, where keys can scroll it.
/** @type {(host: HTMLElement) => void} */
export function reachIfScrolled(host) {
  if (isTooWide(host) || host.scrollHeight > host.clientHeight) host.tabIndex = 0;
  else host.removeAttribute("tabindex");
}

// The same now and whenever its place gets wider or narrower.
/** @type {(host: HTMLElement) => void} */
export function reachWhileScrolled(host) {
  new ResizeObserver(() => reachIfScrolled(host)).observe(host);
}
