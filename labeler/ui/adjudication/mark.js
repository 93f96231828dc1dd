// Draws a grade as a small square in its colour.

import { make } from "../js/dom.js";

// A grade in its colour; none is hollow.
/** @type {(grade: number | null, colours: string[]) => HTMLElement} */
export function mark(grade, colours) {
  if (grade === null) return make("span", "mark unjudged", "·");
  const made = make("span", `mark g${grade}`, String(grade));
  made.style.background = colours[grade];
  return made;
}
