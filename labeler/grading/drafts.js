// What was typed of a note and not yet sent, by pair: kept in the browser from the first letter on.

import { keyOf, pairOf, rememberedOf } from "./parts.js";

/** @import { Keeping } from "./keeping" */
/** @import { Owner, Pair, Standing } from "./shapes" */

const NOTES = "labeler-notes";

export const MOST_NOTE = 2000; // characters, as the server takes them

export class Drafts {
  /**
   * @param {Owner} who
   * @param {Keeping} keeping
   */
  constructor(who, keeping) {
    this.who = who;
    this.keeping = keeping;
    /** @type {Record<string, string>} */
    this.texts = this.found().texts;
    keeping.ready.then(() => {
      this.texts = this.found().texts; // a crash may have left more on the disk
    });
  }

  // What is kept, and how often it was changed; the version before kept the texts alone.
  /** @returns {{ revision: number, texts: Record<string, string> }} */
  found() {
    /** @type {any} */
    const kept = rememberedOf(NOTES, this.who, {});
    return "revision" in kept ? kept : { revision: 0, texts: kept };
  }

  // The draft for a pair: empty where a note that was there is to go, null where there is none.
  /** @type {(pair: Pair) => string | null} */
  of(pair) {
    return this.texts[pairOf(pair)] ?? null;
  }

  /** @type {(pair: Pair, text: string) => void} */
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
    this.keeping.hold(keyOf(NOTES, this.who), { revision, texts: this.texts });
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
