// Links between pages, followed without a reload: the address becomes the link's, whole and at once,
// and Streamlit shows what an address says.

/**
 * @typedef {{
 *   data: { pages: string[], places: string[], missing: Record<string, string> } | { go: string },
 * }} Component
 */

/** @type {Set<string>} */
let pages = new Set(); // the paths Streamlit can show without a reload
/** @type {string[]} */
let places = []; // the parameters by which two addresses of one page are two places
/**
 * How far down a place was when it was left, and the link by which.
 *
 * @type {Map<string, { top: number, left: string | null }>}
 */
const seen = new Map();
let here = ""; // the place that is shown
let hasActed = true; // whether its reader has done something since it was come to
let topAtAct = 0; // how far down it was when they last did
/** @type {number | null} */
let aim = null; // how far down it will be once all of it has come, until its reader does something
/** @type {(() => void)[]} */
let coming = []; // ends what is still done to the place that was shown before

const push = history.pushState.bind(history);

const LONGEST_WAIT_MS = 10_000;
const IN_SIGHT = 0.8; // of the window's height: what begins further down is hardly seen
const ACTS = ["keydown", "pointerdown", "wheel"];
const SCROLLING = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "];

let isListening = false;

/** @type {(component: Component) => void} */
export default function show({ data }) {
  if ("go" in data) {
    const to = new URL(data.go, location.href);
    if (to.href !== location.href) go(to, null);
    return;
  }
  pages = new Set(data.pages);
  places = data.places;
  if (!isListening) listen();
  complete(data.missing);
}

function listen() {
  isListening = true;
  here = placeOf(new URL(location.href));
  // before anybody else's listeners: Streamlit's own links would merge other parameters in
  window.addEventListener("click", clicked, true);
  window.addEventListener("popstate", cameBack);
  for (const type of [...ACTS, "click"]) {
    window.addEventListener(type, noteAct, { capture: true, passive: true });
  }
  // Streamlit makes a step in the history of every change of the address; here only a new place is
  // one, so that Back leaves a page and not the last of ten choices made on it. And it goes back to
  // what a run was of that ends after its reader has gone on; only links and Back go from page to
  // page, and nothing but what a reader does opens a place.
  history.pushState = (state, unused, url) => {
    const to = new URL(url ?? "", location.href);
    if (to.pathname !== location.pathname && pages.has(location.pathname)) return;
    if (isSamePlace(to)) {
      history.replaceState(state, unused, url);
      return;
    }
    if (!hasActed) return;
    leave(topAtAct, null); // what stood there may be gone by now
    push(state, unused, url);
    here = placeOf(to);
    settle(seen.get(here) ?? { top: 0, left: null });
  };
}

/** @type {(to: URL) => string} */
function placeOf(to) {
  return JSON.stringify([to.pathname, ...places.map((name) => to.searchParams.get(name))]);
}

/** @type {(to: URL) => boolean} */
function isSamePlace(to) {
  return placeOf(to) === placeOf(new URL(location.href));
}

function top() {
  return main()?.scrollTop ?? 0;
}

/** @type {(event: Event) => void} */
function noteAct({ defaultPrevented }) {
  if (defaultPrevented) return; // a link that was followed
  hasActed = true;
  topAtAct = top();
  aim = null;
}

/** @type {(top: number, left: string | null) => void} */
function leave(top, left) {
  seen.set(here, { top, left });
}

// What a button opens is shown from its top; what was there before from where it was left.
/** @type {(place: { top: number, left: string | null }) => void} */
function settle({ top: to, left }) {
  const scroll = () => {
    if (top() !== to) main()?.scrollTo(0, to);
  };
  for (const stop of coming) stop();
  coming = [];
  aim = to;
  scroll();
  if (to) whileItComes(scroll);
  if (left) whileItComes(() => focusOn(left));
}

function main() {
  return document.querySelector('[data-testid="stMain"]');
}

/** @type {(event: MouseEvent) => void} */
function clicked(event) {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  const link = event.composedPath().find((each) => each instanceof HTMLAnchorElement);
  if (!(link instanceof HTMLAnchorElement) || link.hasAttribute("download")) return;
  const to = new URL(link.href, location.href);
  if (to.origin !== location.origin || !pages.has(to.pathname) || to.hash) return;
  event.preventDefault();
  event.stopPropagation();
  go(to, link);
}

// A link to another place shows it from its top; one that only changes what this place shows, such
// as the order of a table, moves nothing else and keeps the focus, though the table is drawn anew.
/** @type {(to: URL, link: HTMLAnchorElement | null) => void} */
function go(to, link) {
  const stays = isSamePlace(to);
  const left = !stays && link?.closest("table") ? link.getAttribute("href") : null;
  if (left) history.replaceState({ ...history.state, left }, "");
  if (!stays) leave(top(), left);
  hasActed = false;
  // a choice within what is shown is no step: Back leaves it whole
  const inPlace = stays ? link?.dataset.inPlace : undefined;
  if (inPlace !== undefined) history.replaceState({}, "", to);
  else if (to.href !== location.href) push({}, "", to);
  here = placeOf(to);
  obey();
  if (!stays) settle({ top: 0, left: null });
  else if (link?.id) keepFocus(link);
  if (inPlace) bringIntoSight(inPlace);
}

// What a link opens below itself, where that is too far down to be seen.
/** @type {(key: string) => void} */
function bringIntoSight(key) {
  const panel = document.querySelector(`.st-key-${CSS.escape(key)}`);
  if (panel && panel.getBoundingClientRect().top > window.innerHeight * IN_SIGHT) {
    panel.scrollIntoView({ block: "center" });
  }
}

// The focus goes to the link drawn anew, or where its row is gone to the same one of the next row.
/** @type {(link: HTMLAnchorElement) => void} */
function keepFocus(link) {
  const [kind] = link.id.split(" ");
  const around = link.closest("table, ol");
  const every = [...(around?.querySelectorAll("a[id]") ?? [])];
  const alike = every.filter(({ id }) => id.startsWith(`${kind} `));
  const at = alike.indexOf(link);
  const others = [...alike.slice(at + 1), ...alike.slice(0, Math.max(at, 0)).reverse()];
  const ids = [link.id, ...others.map((other) => other.id)];
  untilTheNextAct(() => {
    if (link.isConnected || document.activeElement !== document.body) return;
    const there = ids.find((id) => document.getElementById(id));
    if (there) document.getElementById(there)?.focus({ preventScroll: true });
  });
}

/** @type {(event: PopStateEvent) => void} */
function cameBack({ state }) {
  const to = placeOf(new URL(location.href));
  if (to === here) return;
  leave(aim ?? top(), null);
  hasActed = false;
  here = to;
  settle({ top: seen.get(here)?.top ?? top(), left: state?.left ?? null });
}

// The row of a table by which one left it, and not the table's start.
/** @type {(left: string) => void} */
function focusOn(left) {
  if (document.activeElement !== document.body) return;
  const rows = [...document.querySelectorAll("table a")];
  const row = rows.find((each) => each.getAttribute("href") === left);
  if (row instanceof HTMLElement) row.focus();
}

/** @type {(look: () => void) => void} */
function whileItComes(look) {
  const stop = untilTheNextAct(look);
  coming.push(stop);
  setTimeout(stop, LONGEST_WAIT_MS); // it may be gone
}

// However late a table is drawn: until its reader does the next thing. A key that is pressed while
// nothing has the focus does none, unless it scrolls.
/** @type {(look: () => void) => () => void} */
function untilTheNextAct(look) {
  const sizes = new ResizeObserver(look); // what a component draws inside itself is seen by it alone
  const watch = new MutationObserver(() => {
    const page = main()?.firstElementChild;
    if (page) sizes.observe(page);
    look();
  });
  watch.observe(document.body, { childList: true, subtree: true });
  const ended = new AbortController();
  const stop = () => {
    watch.disconnect();
    sizes.disconnect();
    ended.abort();
  };
  const act = (/** @type {Event} */ event) => {
    const isKey = event instanceof KeyboardEvent && !SCROLLING.includes(event.key);
    if (!isKey || document.activeElement !== document.body) stop();
  };
  for (const type of ACTS) {
    window.addEventListener(type, act, { capture: true, signal: ended.signal });
  }
  return stop;
}

// Streamlit reads the address anew, as after Back.
function obey() {
  window.dispatchEvent(new PopStateEvent("popstate"));
}

// An address that leaves out what the page shows is made whole, so that whoever gets it sees the same.
/** @type {(missing: Record<string, string>) => void} */
function complete(missing) {
  const whole = new URL(location.href);
  for (const [name, value] of Object.entries(missing)) {
    if (!whole.searchParams.has(name)) whole.searchParams.set(name, value);
  }
  if (whole.href === location.href) return;
  history.replaceState({}, "", whole);
  obey();
}
