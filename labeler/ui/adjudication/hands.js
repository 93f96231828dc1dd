// Small hands the bench uses. Text only ever enters the page as text.

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

/** @type {(root: ParentNode, selector: string) => HTMLElement} */
export function find(root, selector) {
  const found = root.querySelector(selector);
  if (!(found instanceof HTMLElement)) throw new Error(`the bench has no ${selector}`);
  return found;
}

/** @type {(className: string, words: string, act: (event: MouseEvent) => void, key?: string) => HTMLButtonElement} */
export function button(className, words, act, key = "") {
  const made = make("button", className);
  made.type = "button";
  if (key) made.append(make("kbd", "", key), " ");
  made.append(words);
  made.addEventListener("click", act);
  return made;
}

// A grade in its colour; none is hollow.
/** @type {(grade: number | null, colours: string[]) => HTMLElement} */
export function mark(grade, colours) {
  if (grade === null) return make("span", "mark hole", "·");
  const made = make("span", `mark g${grade}`, String(grade));
  made.style.background = colours[grade];
  return made;
}

/** @type {(pair: { query: string, chunk: string }) => string} */
export function nameOf({ query, chunk }) {
  return JSON.stringify([query, chunk]);
}

/** @type {() => string} */
export function newId() {
  // crypto.randomUUID exists on https and localhost only
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** @type {(event: Event) => boolean} */
export function isEditable(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

// Whoever is at work needs the whole of a pair, not what stands over it on the page.
/** @type {(root: HTMLElement, pair: HTMLElement) => void} */
export function bringUp(root, pair) {
  const { top } = root.getBoundingClientRect();
  const { bottom } = pair.getBoundingClientRect();
  if (top < 0 || bottom > window.innerHeight) root.scrollIntoView({ block: "start" });
}
