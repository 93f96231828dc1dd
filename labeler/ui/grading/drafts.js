// What was said of a pair and not yet sent: notes from the first letter on, and marks that wait for
// their grade. Kept in the browser.

import { keyOf, pairOf, rememberedOf } from "./parts.js";

/** @import { Keeping } from "./keeping" */
/** @import { Markable, Owner, Pair, Passage, Standing } from "./shapes" */

const NOTES = "labeler-notes";
const EVIDENCE = "labeler-evidence";

export const MOST_NOTE = 2000; // characters, as the server takes them

/** @template T */
export class ByPair {
  /**
   * @param {string} what
   * @param {Owner} who
   * @param {Keeping} keeping
   */
  constructor(what, who, keeping) {
    this.what = what;
    this.who = who;
    this.keeping = keeping;
    /** @type {Record<string, T>} */
    this.texts = this.found().texts;
    keeping.ready.then(() => {
      this.texts = this.found().texts; // a crash may have left more on the disk
    });
  }

  // What is kept, and how often it was changed; the version before kept the texts alone.
  /** @returns {{ revision: number, texts: Record<string, T> }} */
  found() {
    /** @type {any} */
    const kept = rememberedOf(this.what, this.who, {});
    return "revision" in kept ? kept : { revision: 0, texts: kept };
  }

  // What is kept of a pair, null where nothing is.
  /** @type {(pair: Pair) => T | null} */
  of(pair) {
    return this.texts[pairOf(pair)] ?? null;
  }

  /** @type {(pair: Pair, text: T) => void} */
  keep(pair, text) {
    this.texts[pairOf(pair)] = text;
    this.save();
  }

  /** @type {(pair: Pair) => void} */
  drop(pair) {
    if (this.of(pair) === null) return;
    delete this.texts[pairOf(pair)];
    this.save();
  }

  save() {
    const revision = this.found().revision + 1;
    this.keeping.hold(keyOf(this.what, this.who), { revision, texts: this.texts });
  }
}

// Notes; one is empty where a note that was there is to go.
/** @extends {ByPair<string>} */
export class Drafts extends ByPair {
  /**
   * @param {Owner} who
   * @param {Keeping} keeping
   */
  constructor(who, keeping) {
    super(NOTES, who, keeping);
  }
}

// The passages that go with a grade that is still to come; those of another text are nowhere.
export class Marks {
  /**
   * @param {Owner} who
   * @param {Keeping} keeping
   */
  constructor(who, keeping) {
    /** @type {ByPair<{ text_hash: string | null, passages: Passage[] }>} */
    this.kept = new ByPair(EVIDENCE, who, keeping);
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
/** @type {(draft: string | null, done: Standing | null) => string} */
export function noteWords(draft, done) {
  if (draft === null) return done?.note ? `Note: ${done.note}` : "";
  const over = tooLongBy(draft.trim());
  if (over) return `Note not saved: it is ${over.toLocaleString()} characters too long`;
  if (done) return "Note not saved yet";
  return draft.trim() && `Note: ${draft.trim()} (goes with your grade)`;
}
