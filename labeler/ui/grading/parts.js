// Small hands the whole pad uses: elements made from text, the names of a pair, careful clicks.
// Keeps no state.

/** @import { Owner } from "./shapes" */

const SAME_PLACE = 10; // pixels that a hand at rest may move a pointer by

/** @typedef {{ x: number, y: number }} Place */

// Say whether a pointer that nobody meant to move may have been at both places.
/** @type {(here: Place, there: Place) => boolean} */
export function isSamePlace(here, there) {
  return Math.hypot(here.x - there.x, here.y - there.y) <= SAME_PLACE;
}

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

/**
 * @template {{ query: string, chunk?: string }} P
 * @param {P} item
 * @returns {Pick<P, "query" | "chunk">}
 */
export function namesOf(item) {
  return { query: item.query, chunk: item.chunk };
}

/** @type {(pair: { query: string, chunk?: string }) => string} */
export function pairOf(item) {
  return JSON.stringify([item.query, item.chunk]);
}

// Finds what is in the pad's own HTML and therefore there.
/** @type {(root: ParentNode) => (selector: string) => HTMLElement} */
export function finderIn(root) {
  return (selector) => {
    const found = root.querySelector(selector);
    if (!(found instanceof HTMLElement)) throw new Error(`the pad has no ${selector}`);
    return found;
  };
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

// The name under which something of one grader is kept for one golden set, whatever they are called.
/** @type {(what: string, who: Owner) => string} */
export function keyOf(what, { golden_set, key }) {
  return `${what}/${golden_set}/:${key}`;
}

// The same as the version before named it, by what the grader was called; no key looks like that.
/** @type {(what: string, who: Owner) => string | null} */
export function formerKeyOf(what, { golden_set, known_as }) {
  return known_as === null ? null : `${what}/${golden_set}/${encodeURIComponent(known_as)}`;
}

// What the browser remembers beside the grades; a browser without room just forgets it.
/**
 * @template T
 * @param {string} key
 * @param {T} otherwise
 * @returns {T}
 */
export function remembered(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

// The same of one grader, also where the version before remembered it.
/**
 * @template T
 * @param {string} what
 * @param {Owner} who
 * @param {T} otherwise
 * @returns {T}
 */
export function rememberedOf(what, who, otherwise) {
  const former = formerKeyOf(what, who);
  const before = former === null ? otherwise : remembered(former, otherwise);
  return remembered(keyOf(what, who), before);
}

/** @type {(key: string, value: unknown) => void} */
export function remember(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // no room: it is a convenience, the grades have keys of their own
  }
}
