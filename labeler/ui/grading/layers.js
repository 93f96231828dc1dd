// What is open over the passage (a list, the finder, a sheet) as entries of the browser's history, so
// that Back closes it instead of leaving the page.

/** @import { Listed } from "./shapes" */

const NAME = "labelerLayers"; // how many were open, in the state of an entry
const LISTED = "labelerList"; // which list was open

// the page's own make it another address of the app
const { pushState: push, replaceState: replace } = History.prototype;

export class Layers {
  /**
   * @param {{ count: () => number, listed: () => Listed | null, close: () => void }} open How many
   *   are open, which of them is a list, and close the last
   */
  constructor(open) {
    this.open = open;
    this.home = location.href;
    // entries that are there; one whose layer was closed by a key serves the next layer
    this.depth = layersOf(history.state);
    /** @type {(event: PopStateEvent) => void} */
    this.onBack = (event) => this.gone(event);
    window.addEventListener("popstate", this.onBack, true);
  }

  dispose() {
    window.removeEventListener("popstate", this.onBack, true);
  }

  // The list that was open when this page was loaded anew.
  /** @returns {Listed | null} */
  get kept() {
    return (this.depth && history.state?.[LISTED]) || null;
  }

  // As many entries as there are layers open; the last one names the list, which a reload opens again.
  sync() {
    const listed = this.open.listed();
    if (this.open.count() > this.depth) this.home = location.href;
    while (this.depth < this.open.count()) {
      this.depth += 1;
      const state = { ...history.state, [NAME]: this.depth, [LISTED]: listed };
      push.call(history, state, "", location.href);
    }
    const { state } = history;
    if (!layersOf(state) || JSON.stringify(state[LISTED] ?? null) === JSON.stringify(listed)) return;
    replace.call(history, { ...state, [LISTED]: listed }, "", location.href);
  }

  // Within the entries of this page nothing is loaded, so that Streamlit need not hear of it.
  /** @type {(event: PopStateEvent) => void} */
  gone(event) {
    const to = layersOf(event.state);
    if (location.href !== this.home || to === this.depth) return;
    event.stopImmediatePropagation();
    const isBack = to < this.depth;
    const wasOpen = this.open.count();
    this.depth = to;
    while (this.open.count() > to) this.open.close();
    if (isBack && this.open.count() === wasOpen) history.back(); // its layer was closed before
  }
}

/** @type {(state: unknown) => number} */
function layersOf(state) {
  const known = /** @type {Record<string, unknown> | null} */ (state)?.[NAME];
  return typeof known === "number" ? known : 0;
}
