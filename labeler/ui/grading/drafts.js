// What was said of a pair and not yet sent: notes from the first letter on, and marks that wait for
// their grade. Kept in the browser.

import { ByPair } from "../js/pairs.js";

/** @import { BrowserStorage } from "../js/storage" */
/** @import { Markable, Owner, Passage, Spoken, Standing } from "./shapes" */

const NOTES = "labeler-notes";
const EVIDENCE = "labeler-evidence";

export const MOST_NOTE = 2000; // characters, as the server takes them

// Notes; one is empty where a note that was there is to go.
/** @extends {ByPair<string>} */
export class Drafts extends ByPair {
  /**
   * @param {Owner} who
   * @param {BrowserStorage} storage
   */
  constructor(who, storage) {
    super(NOTES, who, storage);
  }
}

// The passages that go with a grade that is still to come; those of another text are nowhere.
export class Marks {
  /**
   * @param {Owner} who
   * @param {BrowserStorage} storage
   */
  constructor(who, storage) {
    /** @type {ByPair<{ text_hash: string | null, passages: Passage[] }>} */
    this.kept = new ByPair(EVIDENCE, who, storage);
  }

  /** @type {(item: Markable["item"]) => Passage[]} */
  of(item) {
    const found = this.kept.of(item);
    return found?.text_hash === item.text_hash ? found.passages : [];
  }

  /** @type {(item: Markable["item"], passages: Passage[]) => void} */
  keep(item, passages) {
    if (passages.length) this.kept.keep(item, { text_hash: item.text_hash, passages });
    else this.kept.drop(item);
  }
}

// How many characters a note is too long; the server counts characters, not UTF-16 units.
/** @type {(text: string) => number} */
export function tooLongBy(text) {
  return text.length <= MOST_NOTE ? 0 : Math.max(0, Array.from(text).length - MOST_NOTE);
}

// A note as it stands, or as it waits to be sent.
/** @type {(draft: string | null, done: Standing | null, spoken: Spoken) => string} */
export function noteWords(draft, done, { say }) {
  if (draft === null) return done?.note ? say("note.said", { note: done.note }) : "";
  const over = tooLongBy(draft.trim());
  if (over) return say("note.too_long", { n: over });
  if (done) return say("note.not_saved");
  return draft.trim() && say("note.waits", { note: draft.trim() });
}
