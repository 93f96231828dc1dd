// Paints a chunk's text with the words marked that graders say made their grades, and whose they are.
// Knows nothing of what is decided. Text only ever enters the page as text nodes.

import { make } from "./hands.js";

/** @import { Opinion } from "./shapes" */

/** @typedef {{ start: number, end: number, said: string }} Marked */

// Places are counted in characters (Unicode code points), and so is the text here.
/** @type {(host: HTMLElement, text: string, opinions: Opinion[]) => void} */
export function paintMarked(host, text, opinions) {
  const marks = opinions.flatMap(marksOf);
  if (!marks.length) {
    host.textContent = text;
    return;
  }
  const letters = Array.from(text);
  const within = marks.filter(({ start }) => start < letters.length);
  const places = new Set([0, letters.length]);
  for (const { start, end } of within) places.add(start).add(Math.min(end, letters.length));
  const sorted = [...places].sort((a, b) => a - b);
  host.replaceChildren();
  for (const [at, start] of sorted.slice(0, -1).entries()) {
    const end = sorted[at + 1];
    host.append(part(letters.slice(start, end).join(""), start, end, within));
  }
}

/** @type {(opinion: Opinion) => Marked[]} */
function marksOf({ grader, grade, evidence }) {
  return (evidence ?? []).map(([start, end]) => ({ start, end, said: `${grade} ${grader}` }));
}

/** @type {(text: string, start: number, end: number, marks: Marked[]) => Node | string} */
function part(text, start, end, marks) {
  const held = marks.filter((mark) => mark.start <= start && mark.end >= end);
  if (!held.length) return text;
  const begun = held.filter((mark) => mark.start === start);
  return make("mark", "evidence", ...begun.map(({ said }) => make("small", "", said)), text);
}
