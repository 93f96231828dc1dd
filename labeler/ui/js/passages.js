// Passages of a text by their places: counted as the server counts them, toggled, cut into sentences.

import { blocksOf } from "./text_shape.js";

/** @import { Item, Passage, Say, Standing } from "./shapes" */

/** @typedef {{ start: number, end: number }} Stretch */

export const MOST_PASSAGES = 100; // as the server takes them

// letters and what stands within words, but of scripts without blanks
const IN_WORD =
  /(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}\p{M}_'’-]/u;
const HIGH = /[\ud800-\udbff]/;
const LOW = /[\udc00-\udfff]/;

// The server counts characters (Unicode code points), a browser counts halves of some of them (UTF-16
// units): an emoji is one here and two there.
/** @type {(text: string, units: number) => number} */
export function pointsAt(text, units) {
  let points = 0;
  for (let at = 0; at < units && at < text.length; points += 1) at += widthAt(text, at);
  return points;
}

// The same the other way round; null where the text is not there as far as that.
/** @type {(text: string, points: number) => number | null} */
export function unitsAt(text, points) {
  let at = 0;
  for (let left = points; left > 0; left -= 1) {
    if (at >= text.length) return null;
    at += widthAt(text, at);
  }
  return at;
}

/** @type {(text: string, at: number) => number} */
function widthAt(text, at) {
  return HIGH.test(text[at]) && LOW.test(text[at + 1] ?? "") ? 2 : 1;
}

// A stretch of the text as a passage: without blanks around it, never half of a character; null where
// nothing is left.
/** @type {(text: string, start: number, end: number) => Passage | null} */
export function passageOf(text, start, end) {
  let [from, to] = [Math.max(0, start), Math.min(end, text.length)];
  if (LOW.test(text[from] ?? "") && HIGH.test(text[from - 1] ?? "")) from -= 1;
  if (LOW.test(text[to] ?? "") && HIGH.test(text[to - 1] ?? "")) to += 1;
  const stretch = text.slice(from, to);
  from += stretch.length - stretch.trimStart().length;
  to -= stretch.length - stretch.trimEnd().length;
  if (from >= to) return null;
  const first = pointsAt(text, from);
  return [first, first + pointsAt(text.slice(from, to), to - from)];
}

// A stretch that was dragged over, out to the ends of its words. Where words have no blanks between
// them it stays as it is.
/** @type {(text: string, stretch: Stretch) => Stretch} */
export function wholeWords(text, { start, end }) {
  let [from, to] = [start, end];
  while (from > 0 && IN_WORD.test(text[from] ?? "") && IN_WORD.test(text[from - 1])) from -= 1;
  while (to < text.length && IN_WORD.test(text[to - 1] ?? "") && IN_WORD.test(text[to])) to += 1;
  return { start: from, end: to };
}

// Passages as stretches of the text, without those that the text is not there for.
/** @type {(text: string, passages: readonly Passage[]) => { start: number, end: number }[]} */
export function stretchesOf(text, passages) {
  const found = [];
  for (const [first, last] of passages) {
    const [start, end] = [unitsAt(text, first), unitsAt(text, last)];
    if (start !== null && end !== null) found.push({ start, end });
  }
  return found;
}

// With one more: what it overlaps becomes one with it.
/** @type {(passages: readonly Passage[], more: Passage) => Passage[]} */
export function joined(passages, [start, end]) {
  const apart = passages.filter(([first, last]) => last <= start || first >= end);
  const met = passages.filter((each) => !apart.includes(each));
  /** @type {Passage} */
  const whole = [
    Math.min(start, ...met.map(([first]) => first)),
    Math.max(end, ...met.map(([, last]) => last)),
  ];
  return [...apart, whole].sort(([a], [b]) => a - b);
}

// The same, but what lies inside of one that is marked takes that one away again.
/** @type {(passages: readonly Passage[], one: Passage) => Passage[]} */
export function toggled(passages, one) {
  const holder = passages.find((each) => holds(each, one));
  return holder ? passages.filter((each) => each !== holder) : joined(passages, one);
}

/** @type {(passage: Passage, other: Passage) => boolean} */
export function holds([first, last], [start, end]) {
  return first <= start && end <= last;
}

// Where the sentences of a text are; a heading, a row of a table and a line of code are one each.
/** @type {(text: string) => Stretch[]} */
export function sentencesOf(text) {
  const found = blocksOf(text).flatMap(({ kind, parts }) => {
    const read = parts.filter(({ role }) => role === "read");
    if (!read.length) return [];
    const whole = { start: read[0].start, end: read[read.length - 1].end };
    if (kind === "row" || kind === "heading") return [whole];
    return kind === "code" || kind === "columns" ? linesOf(text, whole) : inProse(text, whole);
  });
  return found.flatMap(({ start, end }) => {
    const stretch = text.slice(start, end);
    const from = start + stretch.length - stretch.trimStart().length;
    const to = end - (stretch.length - stretch.trimEnd().length);
    return from < to ? [{ start: from, end: to }] : [];
  });
}

// Lines where the browser cannot tell sentences.
/** @type {(text: string, stretch: Stretch) => Stretch[]} */
function inProse(text, { start, end }) {
  if (!("Segmenter" in Intl)) return linesOf(text, { start, end });
  const cut = new Intl.Segmenter(undefined, { granularity: "sentence" });
  return Array.from(cut.segment(text.slice(start, end)), ({ index, segment }) => {
    return { start: start + index, end: start + index + segment.length };
  });
}

/** @type {(text: string, stretch: Stretch) => Stretch[]} */
function linesOf(text, { start, end }) {
  return Array.from(text.slice(start, end).matchAll(/[^\n]+/g), ({ 0: line, index }) => {
    return { start: start + index, end: start + index + line.length };
  });
}

/** @type {(count: number, say: Say) => string} */
export function markedWords(count, say) {
  return say("marks.marked", { n: count });
}

// The passages of what stands for an item, as far as they are in the text that it has.
/** @type {(item: Pick<Item, "text_hash">, stands: Standing | null | undefined) => Passage[]} */
export function heldIn(item, stands) {
  const isOther = stands?.item && stands.item.text_hash !== item.text_hash;
  return isOther ? [] : (stands?.evidence ?? []);
}
