// Notes: how long one may be, and what is said of one.

/** @import { Spoken, Standing } from "./shapes" */

export const MOST_NOTE = 2000; // characters, as the server takes them

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
