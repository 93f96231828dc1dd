// Reading what is larger than its place: the keys that scroll it, the way there by Tab, and the mark
// that there is more.

import { isTooWide } from "../js/dom.js";

/** @import { Say } from "./shapes" */

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

/** @type {(host: Element) => number} */
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
  host.toggleAttribute("data-to-end", key === "end"); // what comes of it later lengthens it
}

// Whether a key scrolls what has the focus sideways, as it does in every browser.
/** @type {(key: string, target: EventTarget | undefined) => boolean} */
export function readsSideways(key, target) {
  if (key !== "arrowleft" && key !== "arrowright") return false;
  if (!(target instanceof HTMLElement) || !isTooWide(target)) return false;
  return ["auto", "scroll"].includes(getComputedStyle(target).overflowX);
}

// Whether all of a text has been on screen: which stretches of it were in sight of what scrolls it.
export class SeenText {
  /**
   * @param {HTMLElement} host
   * @param {() => HTMLElement | null} text
   */
  constructor(host, text) {
    this.host = host;
    this.text = text;
    /** @type {[number, number][]} */
    this.stretches = []; // in pixels from the top of the text, in order, apart
    this.width = 0;
    this.isWhole = false;
    this.look = () => this.note();
    host.addEventListener("scroll", this.look, { passive: true });
  }

  dispose() {
    this.host.removeEventListener("scroll", this.look);
  }

  // Another text is on screen, or the same one was painted anew.
  begin() {
    this.stretches = [];
    this.isWhole = false;
  }

  // Note what is in sight now; says whether all of the text has been, by now.
  /** @type {() => boolean} */
  note() {
    const text = this.text();
    if (!text || this.isWhole) return this.isWhole;
    const [place, box] = [this.host.getBoundingClientRect(), text.getBoundingClientRect()];
    if (!box.height) return false;
    if (box.width !== this.width) this.stretches = []; // other lines, elsewhere
    this.width = box.width;
    const from = Math.max(0, place.top - box.top);
    const to = Math.min(box.height, place.bottom - box.top);
    if (from < to) this.add(from, to);
    const [first] = this.stretches;
    const isRead = first && first[0] < NEAR_THE_END && first[1] > box.height - NEAR_THE_END;
    this.isWhole = Boolean(isRead) && !text.querySelector(".more-text");
    return this.isWhole;
  }

  /** @type {(from: number, to: number) => void} */
  add(from, to) {
    const apart = this.stretches.filter(([start, end]) => end < from - 1 || start > to + 1);
    const met = this.stretches.filter((each) => !apart.includes(each)).flat();
    this.stretches = [...apart, [Math.min(from, ...met), Math.max(to, ...met)]];
    this.stretches.sort(([a], [b]) => a - b);
  }
}

// Shows `mark` as long as there is more of `host` below what is in sight, and lets Tab lead to a host
// that can be scrolled at all.
export class MoreBelow {
  /**
   * @param {HTMLElement} host
   * @param {HTMLElement} mark
   * @param {Say} say
   */
  constructor(host, mark, say) {
    this.host = host;
    this.say = say;
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
    const below = scrollHeight - clientHeight - scrollTop;
    this.mark.hidden = below <= NEAR_THE_END;
    if (this.mark.hidden) return;
    const lines = Math.max(1, Math.round(below / this.lineHeight()));
    const words = this.say("card.below", { n: lines });
    if (this.mark.textContent !== words) this.mark.textContent = words;
  }

  lineHeight() {
    return lineHeightOf(this.host.querySelector(".text") ?? this.host);
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
