// What was said of pairs before they are decided: notes from the first letter on, and marks. Kept in
// the browser, apart from what the pad keeps, until the decision takes them along.

import { ByPair } from "../js/pairs.js";
import { BrowserStorage } from "../js/storage.js";

/** @import { Passage } from "../js/shapes" */
/** @import { BenchData } from "./shapes" */

/** @typedef {{ query: string, chunk: string, text_hash?: string | null }} Pair */

const NOTES = "labeler-decision-notes";
const EVIDENCE = "labeler-decision-evidence";

export class Kept {
  /** @param {BenchData} who */
  constructor({ golden_set, key }) {
    this.storage = new BrowserStorage([], () => {});
    const owner = { golden_set, key };
    /** @type {ByPair<string>} */
    this.notes = new ByPair(NOTES, owner, this.storage);
    /** @type {ByPair<{ text_hash: string | null, passages: Passage[] }>} */
    this.marked = new ByPair(EVIDENCE, owner, this.storage);
  }

  dispose() {
    this.storage.dispose();
  }

  // Done when what only a crash left behind is there, too.
  get ready() {
    return this.storage.ready;
  }

  /** @type {(pair: Pair) => string} */
  note(pair) {
    return this.notes.of(pair) ?? "";
  }

  /** @type {(pair: Pair, words: string) => void} */
  write(pair, words) {
    if (words) this.notes.keep(pair, words);
    else this.notes.drop(pair);
  }

  // The marks that wait for a decision, which may be none at all; null where nobody said anything,
  // or only of another text.
  /** @type {(pair: Pair) => Passage[] | null} */
  marks(pair) {
    const found = this.marked.of(pair);
    return found && found.text_hash === pair.text_hash ? found.passages : null;
  }

  /** @type {(pair: Pair, passages: Passage[]) => void} */
  mark(pair, passages) {
    this.marked.keep(pair, { text_hash: pair.text_hash ?? null, passages });
  }

  // The decision took both along.
  /** @type {(pair: Pair) => void} */
  drop(pair) {
    this.notes.drop(pair);
    this.marked.drop(pair);
  }
}
