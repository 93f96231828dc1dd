// What is open over the passage or beside it (a list, a sheet, a note, the menu) as entries of the
// browser's history, so that Back closes it instead of leaving the page.

/** @import { Pad } from "./pad" */
/** @import { Listed } from "./shapes" */

const NAME = "labelerLayers"; // how many were open, in the state of an entry
const LISTED = "labelerList"; // which list was open

// the page's own make it another address of the app
const { pushState: push, replaceState: replace } = History.prototype;

/** @typedef {[isOpen: unknown, close: () => void]} Layer */

export class Layers {
  /** @param {Pad} pad */
  constructor(pad) {
    this.pad = pad;
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

  // What is open, the last first; closing keeps what was written, as Esc does.
  open() {
    const { pad } = this;
    const { names, bar, panel, marker, overlay, card } = pad;
    /** @type {Layer[]} */
    const layers = [
      [names.isAsking && pad.data.grader, () => names.show(false)],
      [bar.isMoreShown, () => bar.showMore(false)],
      [panel.isOpen, () => panel.escape()],
      [marker.isChoosing, () => marker.leave()],
      [overlay.isOpen, () => overlay.close()],
      [card.around, () => pad.act("around")],
      [pad.practice, () => pad.leavePractice()],
      [pad.list() && !pad.isAddressed, () => pad.leaveLists()],
    ];
    return layers.filter(([isOpen]) => isOpen);
  }

  // The list that is open, if a reload is to open it again.
  /** @returns {Listed | null} */
  get listed() {
    const { pad } = this;
    const list = pad.list();
    if (!list || pad.isAddressed) return null;
    return { list: pad.lists().indexOf(list), query: list.queryId };
  }

  // The list that was open before this page was reloaded.
  /** @returns {Listed | null} */
  get kept() {
    return (this.depth && history.state?.[LISTED]) || null;
  }

  // As many entries as there are layers open; the last one names the list, which a reload opens again.
  sync() {
    const { listed } = this;
    const count = this.open().length;
    if (count > this.depth) this.home = location.href;
    while (this.depth < count) {
      this.depth += 1;
      const state = { ...history.state, [NAME]: this.depth, [LISTED]: listed };
      push.call(history, state, "", location.href);
    }
    const { state } = history;
    if (!layersOf(state) || JSON.stringify(state[LISTED] ?? null) === JSON.stringify(listed))
      return;
    replace.call(history, { ...state, [LISTED]: listed }, "", location.href);
  }

  // Within the entries of this page nothing is loaded, so that Streamlit need not hear of it.
  /** @type {(event: PopStateEvent) => void} */
  gone(event) {
    const to = layersOf(event.state);
    if (location.href !== this.home || to === this.depth) return;
    event.stopImmediatePropagation();
    const isBack = to < this.depth;
    const closed = this.open().slice(0, Math.max(0, this.open().length - to));
    this.depth = to;
    for (const [, close] of closed) close();
    if (isBack && !closed.length) history.back(); // its layer was closed before
  }
}

/** @type {(state: unknown) => number} */
function layersOf(state) {
  const known = /** @type {Record<string, unknown> | null} */ (state)?.[NAME];
  return typeof known === "number" ? known : 0;
}

// A reload goes on with grading, and not with one's own grades, which the address asked for.
export function forgetMine() {
  const here = new URL(location.href);
  if (!here.searchParams.has("mine")) return;
  here.searchParams.delete("mine");
  replace.call(history, history.state, "", here.href);
}
