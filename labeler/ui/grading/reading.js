// Reading what is larger than its place: the keys that scroll it, the way there by Tab, and the mark
// that there is more.

import { isTooWide } from "../js/dom.js";

const LINES = 3; // lines that an arrow key moves
const NEARLY_A_PAGE = 0.85;
const NEAR_THE_END = 4; // pixels

/** @type {Record<string, (host: HTMLElement) => number>} */
const MOVES = {
  " ": (host) => NEARLY_A_PAGE * host.clientHeight,
  pagedown: (host) => NEARLY_A_PAGE * host.clientHeight,
  pageup: (host) => -NEARLY_A_PAGE * host.clientHeight,
  arrowdown: (host) => LINES * lineHeightOf(host),
  arrowup: (host) => -LINES * lineHeightOf(host),
  home: (host) => -host.scrollHeight,
  end: (host) => host.scrollHeight,
};

/** @type {(host: HTMLElement) => number} */
function lineHeightOf(host) {
  return Number.parseFloat(getComputedStyle(host).lineHeight) || 24;
}

/** @type {(key: string) => boolean} */
export function isReadingKey(key) {
  return Object.hasOwn(MOVES, key);
}

// Scroll what is being read as a key says; Shift turns the space bar round, as in a browser.
/** @type {(host: HTMLElement, key: string, event: KeyboardEvent) => void} */
export function readOn(host, key, { shiftKey }) {
  const by = MOVES[key](host);
  host.scrollTop += key === " " && shiftKey ? -by : by;
}

// Whether a key scrolls what has the focus sideways, as it does in every browser.
/** @type {(key: string, target: EventTarget | undefined) => boolean} */
export function readsSideways(key, target) {
  if (key !== "arrowleft" && key !== "arrowright") return false;
  if (!(target instanceof HTMLElement) || !isTooWide(target)) return false;
  return ["auto", "scroll"].includes(getComputedStyle(target).overflowX);
}

// Shows `mark` as long as there is more of `host` below what is in sight, and lets Tab lead to a host
// that can be scrolled at all.
export class MoreBelow {
  /**
   * @param {HTMLElement} host
   * @param {HTMLElement} mark
   */
  constructor(host, mark) {
    this.host = host;
    this.mark = mark;
    this.look = () => this.paint();
    host.addEventListener("scroll", this.look, { passive: true });
    mark.onclick = () => readOn(host, "pagedown", new KeyboardEvent("keydown"));
    this.sizes = new ResizeObserver(this.look);
    for (const each of [host, ...host.children]) this.sizes.observe(each);
  }

  paint() {
    const { scrollTop, scrollHeight, clientHeight } = this.host;
    this.host.tabIndex = scrollHeight > clientHeight ? 0 : -1;
    this.mark.hidden = scrollHeight - clientHeight - scrollTop <= NEAR_THE_END;
  }

  dispose() {
    this.host.removeEventListener("scroll", this.look);
    this.sizes.disconnect();
  }
}

// Says whether the focus was put where it is by the Tab key; after a press of the mouse the space
// bar reads on instead of pressing the button again.
export class FocusByTab {
  constructor() {
    this.isByTab = false;
    this.onKey = (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Tab") this.isByTab = true;
    };
    this.onPress = () => {
      this.isByTab = false;
    };
    window.addEventListener("keydown", this.onKey, true);
    window.addEventListener("pointerdown", this.onPress, true);
  }

  dispose() {
    window.removeEventListener("keydown", this.onKey, true);
    window.removeEventListener("pointerdown", this.onPress, true);
  }
}
