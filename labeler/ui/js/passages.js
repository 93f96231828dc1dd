// Passages of a text by their places: counted as the server counts them, toggled, cut into sentences.

/** @import { Item, Passage, Standing } from "./shapes" */

export const MOST_PASSAGES = 100; // as the server takes them

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

// Where the sentences of a text are; lines where the browser cannot tell sentences.
/** @type {(text: string) => { start: number, end: number }[]} */
export function sentencesOf(text) {
  return rawSentencesOf(text).flatMap(({ start, end }) => {
    const stretch = text.slice(start, end);
    const from = start + stretch.length - stretch.trimStart().length;
    const to = end - (stretch.length - stretch.trimEnd().length);
    return from < to ? [{ start: from, end: to }] : [];
  });
}

/** @type {(text: string) => { start: number, end: number }[]} */
function rawSentencesOf(text) {
  if ("Segmenter" in Intl) {
    const cut = new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text);
    return Array.from(cut, ({ index, segment }) => ({ start: index, end: index + segment.length }));
  }
  return Array.from(text.matchAll(/[^\n]+/g), ({ 0: line, index }) => ({
    start: index,
    end: index + line.length,
  }));
}

/** @type {(count: number) => string} */
export function markedWords(count) {
  return count === 1 ? "evidence marked" : `evidence marked in ${count} places`;
}

// The passages of what stands for an item, as far as they are in the text that it has.
/** @type {(item: Pick<Item, "text_hash">, stands: Standing | null | undefined) => Passage[]} */
export function heldIn(item, stands) {
  const isOther = stands?.item && stands.item.text_hash !== item.text_hash;
  return isOther ? [] : (stands?.evidence ?? []);
}
