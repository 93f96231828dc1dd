// What was typed of a note and not yet sent, by pair: kept in the browser from the first letter on.

import { keyOf, pairOf, remember, rememberedOf } from "./parts.js";

/** @import { Owner, Pair, Standing } from "./shapes" */

const NOTES = "labeler-notes";

export const MOST_NOTE = 2000; // characters, as the server takes them

export class Drafts {
  /** @param {Owner} who */
  constructor(who) {
    this.key = keyOf(NOTES, who);
    /** @type {Record<string, string>} */
    this.texts = rememberedOf(NOTES, who, {});
  }

  // The draft for a pair: empty where a note that was there is to go, null where there is none.
  /** @type {(pair: Pair) => string | null} */
  of(pair) {
    return this.texts[pairOf(pair)] ?? null;
  }

  /** @type {(pair: Pair, text: string) => void} */
  keep(pair, text) {
    this.texts[pairOf(pair)] = text;
    remember(this.key, this.texts);
  }

  /** @type {(pair: Pair) => void} */
  drop(pair) {
    if (this.of(pair) === null) return;
    delete this.texts[pairOf(pair)];
    remember(this.key, this.texts);
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
