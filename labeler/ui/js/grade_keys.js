// The keys that give a grade, and how soon a press cannot have been meant for what is shown.

/** @type {Record<string, number>} */
export const GRADE_KEYS = { 0: 0, 1: 1, 2: 2, 3: 3, a: 0, s: 1, d: 2, f: 3 };
export const HOME_ROW = ["A", "S", "D", "F"];
// A press sooner than this after its chunk was painted was meant for the one before.
export const TOO_SOON_MS = 200;
