// Finds the words of a query in a text and paints the text with them marked and its long parts
// folded. Text only ever enters the page as text nodes.

import { reachWhileScrolled } from "./dom.js";

/**
 * What to mark for a query: whole phrases, codes such as E-104, and stems of words.
 * @typedef {{ keywords: RegExp | null, codes: RegExp | null, words: Set<string> }} Marks
 */
/** @typedef {{ start: number, end: number }} Part */
/** @typedef {Part & { kind: string }} Mark */
/**
 * Code between two fences of backticks or tildes: the fences with their lines, and what is inside.
 * @typedef {Part & { inside: Part }} Fenced
 */
/**
 * @typedef {{
 *   host: HTMLElement,
 *   text: string,
 *   found: Mark[],
 *   marking: boolean,
 *   fenced: Fenced[],
 * }} Painting
 */

const A_WORD = /[\p{L}\p{N}\p{M}]+/gu;
const A_TERM = /[\p{L}\p{N}\p{M}]+(?:[-‐‑_.:/][\p{L}\p{N}\p{M}]+)*/gu; // "E-104" is one term
const A_NUMBER = /\p{N}/u;
const BESIDE = "\\p{L}\\p{N}\\p{M}"; // what may not stand beside a whole word
// scripts without spaces: there a word ends nowhere, so nothing beside it tells
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const SHORTEST_WORD = 3;
const FUNCTION_WORDS = new Set(
  (
    "about after all also and any are been before being both but can could did does doing don " +
    "each for from get gets had has have her here him his how into its just may might more most " +
    "must nor not off once one only other our out over own same shall she should some such than " +
    "that the their them then there these they this those through too under until upon very was " +
    "were what when where whether which while who whom whose why will with without would you your"
  ).split(" "),
);

const FOLD_ABOVE = 1800; // characters
const SHOWN_AT_START = 900;
const SHOWN_AROUND = 160;
const LEAST_FOLDED = 240; // hiding less than this costs more than it saves
const MOST_MARKS = 1000; // painted at once: what lies beyond them is folded and counted
const MOST_UNFOLDED = 200_000; // characters: laying out more would hold up the browser
const UNFOLD = "unfold";
const TO_LINE_END = 80;
const TO_WORD_END = 40;
const INSIDE_CHARACTER = /^[\p{M}\p{EMod}\u200d]/u;

const MIGHT_BE_COLUMNS = /[\t|]| {3}/;
const A_FENCE = /^ {0,3}(`{3,}|~{3,}).*(?:\n|$)/gm;
const LONGEST_INDENTED = 120; // a longer line is a paragraph with an indent
const INDENTED = /^(?: {4}|\t)\s*(?![-*•‣]\s|\d+[.)]\s)\S/; // code, but no list in a list
const GAPPED = /\S(?: {3,}|\t+)\S/;
const PIPED = /^\s*\|.*\||\|[^|]+\|/;

// What to mark for a query: its keywords and the telling words of its text.
/** @type {(query: { text: string, keywords?: string[] }) => Marks} */
export function marksOf(query) {
  const words = /** @type {Set<string>} */ (new Set());
  const codes = [];
  for (const [term] of query.text.matchAll(A_TERM)) {
    const parts = term.match(A_WORD) ?? [];
    const isCode = parts.length > 1 && A_NUMBER.test(term);
    if (isCode) codes.push(term);
    for (const part of parts) {
      if (isTelling(part) && !(isCode && A_NUMBER.test(part))) words.add(stemOf(part));
    }
  }
  return { keywords: patternOf(query.keywords ?? []), codes: patternOf(codes), words };
}

/** @type {(word: string) => boolean} */
function isTelling(word) {
  if (A_NUMBER.test(word)) return true;
  return Array.from(word).length >= SHORTEST_WORD && !FUNCTION_WORDS.has(word.toLowerCase());
}

// The same for "Refund", "refunds" and "REFUND".
/** @type {(word: string) => string} */
function stemOf(word) {
  const lower = word.toLowerCase().normalize("NFC");
  return lower.length > 3 && lower.endsWith("s") && !lower.endsWith("ss")
    ? lower.slice(0, -1)
    : lower;
}

/** @type {(phrases: string[]) => RegExp | null} */
function patternOf(phrases) {
  const forms = phrases
    .map((phrase) => phrase.trim())
    .filter(Boolean)
    .flatMap((phrase) => [phrase.normalize("NFC"), phrase.normalize("NFD")]);
  if (!forms.length) return null;
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map(wholePhrase).join("|"), "giu");
}

/** @type {(phrase: string) => string} */
function wholePhrase(phrase) {
  const characters = Array.from(phrase);
  const before = hasAnEdge(characters[0] ?? "") ? `(?<![${BESIDE}])` : "";
  const after = hasAnEdge(characters.at(-1) ?? "") ? `(?![${BESIDE}])` : "";
  const body = phrase
    .replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
    .replace(/['’]/g, "['’]")
    .replace(/[-‐‑]/g, "[-‐‑]")
    .replace(/\s+/g, "\\s+");
  return before + body + after;
}

/** @type {(character: string) => boolean} */
function hasAnEdge(character) {
  return /[\p{L}\p{N}\p{M}]/u.test(character) && !UNSPACED.test(character);
}

// All places to mark, in order and without overlap: a keyword wins over a word.
/** @type {(text: string, marks: Marks) => Mark[]} */
export function findMarks(text, { keywords, codes, words }) {
  const found = keywords ? matchesOf(text, keywords, "keyword") : [];
  const weaker = codes ? matchesOf(text, codes, "word") : [];
  return addBetween(addBetween(found, weaker), words.size ? wordsIn(text, words) : []);
}

/** @type {(text: string, pattern: RegExp, kind: string) => Mark[]} */
function matchesOf(text, pattern, kind) {
  return Array.from(text.matchAll(pattern), ({ 0: { length }, index }) => ({
    start: index,
    end: index + length,
    kind,
  }));
}

/** @type {(text: string, words: Set<string>) => Mark[]} */
function wordsIn(text, words) {
  const found = [];
  for (const { 0: word, index } of text.matchAll(A_WORD)) {
    if (words.has(stemOf(word))) {
      found.push({ start: index, end: index + word.length, kind: "word" });
    }
  }
  return found;
}

// Both lists in one, without those of the second that overlap one of the first.
/** @type {(first: Mark[], second: Mark[]) => Mark[]} */
function addBetween(first, second) {
  const both = [];
  let at = 0;
  for (const mark of second) {
    let stronger = first[at];
    while (stronger && stronger.end <= mark.start) {
      both.push(stronger);
      stronger = first[++at];
    }
    if (!stronger || stronger.start >= mark.end) both.push(mark);
  }
  return both.concat(first.slice(at));
}

// --- painting ---------------------------------------------------------------------------------

// Fill `host` with a short text in one go; nothing is folded.
/** @type {(host: HTMLElement, text: string, marks: Marks) => void} */
export function paintMarked(host, text, marks) {
  host.replaceChildren();
  const painting = { text, found: findMarks(text, marks), marking: true };
  appendMarked(host, painting, 0, text.length);
}

// Fill `host` with a text. Long parts without a mark fold into buttons that unfold in place.
/** @type {(host: HTMLElement, text: string, marks: Marks, how: { marking: boolean, folding: boolean }) => void} */
export function paintText(host, text, marks, { marking, folding }) {
  const found = marking || text.length > FOLD_ABOVE ? findMarks(text, marks) : [];
  const painting = { host, text, found, marking, fenced: fencedIn(text) };
  const folds = (folding && text.length > FOLD_ABOVE) || found.length > MOST_MARKS;
  host.classList.remove("columns");
  host.replaceChildren(folds ? folded(painting, 0, text.length) : plain(painting, 0, text.length));
}

/** @type {(painting: Painting, start: number, end: number) => DocumentFragment} */
function plain(painting, start, end) {
  const made = document.createDocumentFragment();
  const to = cutAfter(painting.text, start + MOST_UNFOLDED, end);
  appendBlocks(made, painting, start, to);
  if (to < end) made.append(foldButton(painting, to, end));
  return made;
}

/** @type {(painting: Painting, start: number, end: number) => DocumentFragment} */
function folded(painting, start, end) {
  const made = document.createDocumentFragment();
  let at = start;
  for (const part of openParts(painting, start, end)) {
    if (part.start > at) made.append(foldButton(painting, at, part.start));
    appendBlocks(made, painting, part.start, part.end);
    at = part.end;
  }
  if (end > at) made.append(foldButton(painting, at, end));
  return made;
}

// The start and what surrounds each mark, in order; parts with little between them are one.
/** @type {(painting: Painting, start: number, end: number) => Part[]} */
function openParts({ text, found }, start, end) {
  let last = { start, end: cutAfter(text, start + SHOWN_AT_START, end) };
  const parts = [last];
  for (const mark of marksWithin(found, start, end).slice(0, MOST_MARKS)) {
    const from = cutBefore(text, mark.start - SHOWN_AROUND, start);
    const to = cutAfter(text, mark.end + SHOWN_AROUND, end);
    if (from - last.end < LEAST_FOLDED) last.end = Math.max(last.end, to);
    else {
      last = { start: from, end: to };
      parts.push(last);
    }
  }
  if (end - last.end < LEAST_FOLDED) last.end = end;
  return parts;
}

/** @type {(found: Mark[], start: number, end: number) => Mark[]} */
function marksWithin(found, start, end) {
  const first = firstFrom(found, start);
  return found.slice(first, firstFrom(found, end, first));
}

// The index of the first mark that starts at `position` or later.
/** @type {(found: Mark[], position: number, from?: number) => number} */
function firstFrom(found, position, from) {
  let low = from ?? 0;
  let high = found.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((found[middle]?.start ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Where to end a part near `at`: after a line or a word, and never inside a character.
/** @type {(text: string, at: number, end: number) => number} */
function cutAfter(text, at, end) {
  if (at >= end) return end;
  const ahead = text.slice(at, at + TO_LINE_END);
  let gap = ahead.indexOf("\n");
  if (gap < 0) gap = ahead.slice(0, TO_WORD_END).search(/\s/);
  if (gap >= 0) return Math.min(end, at + gap + 1);
  while (at < end && isInside(text, at)) at += 1;
  return at;
}

/** @type {(text: string, at: number, start: number) => number} */
function cutBefore(text, at, start) {
  if (at <= start) return start;
  const from = Math.max(start, at - TO_LINE_END);
  const behind = text.slice(from, at);
  const line = behind.lastIndexOf("\n");
  if (line >= 0) return from + line + 1;
  const word = behind.slice(-TO_WORD_END).search(/\s\S*$/);
  if (word >= 0) return at - Math.min(TO_WORD_END, behind.length) + word + 1;
  while (at > start && isInside(text, at)) at -= 1;
  return at;
}

/** @type {(text: string, at: number) => boolean} */
function isInside(text, at) {
  const unit = text.charCodeAt(at);
  if (unit >= 0xdc00 && unit < 0xe000) return true;
  if (text[at - 1] === "\u200d") return true; // joins two emoji into one
  return INSIDE_CHARACTER.test(String.fromCodePoint(text.codePointAt(at) ?? 0));
}

/** @type {(painting: Painting, start: number, end: number) => HTMLButtonElement} */
function foldButton(painting, start, end) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "fold";
  const hidden = marksWithin(painting.found, start, end).length;
  const among = hidden && painting.marking ? `, ${hidden.toLocaleString()} marked words` : "";
  button.textContent = `… ${(end - start).toLocaleString()} more characters${among}`;
  button.dataset.hides = String(end - start);
  button.addEventListener(UNFOLD, () => {
    button.replaceWith((hidden ? folded : plain)(painting, start, end));
  });
  button.addEventListener("click", () => {
    unfold(button);
    painting.host.tabIndex = -1;
    painting.host.focus({ preventScroll: true }); // the button that had it is gone
  });
  return button;
}

// Show what a button has folded away, and leave the focus where it is.
/** @type {(button: HTMLButtonElement) => void} */
export function unfold(button) {
  button.dispatchEvent(new Event(UNFOLD));
}

// Prose wraps; code and tables keep their lines and scroll sideways.
/** @type {(parent: ParentNode, painting: Painting, start: number, end: number) => void} */
function appendBlocks(parent, painting, start, end) {
  let at = start;
  for (const { inside, ...fenced } of painting.fenced) {
    if (fenced.end <= at || fenced.start >= end) continue;
    const within = (/** @type {number} */ place) => Math.min(Math.max(place, at), end);
    appendProse(parent, painting, at, within(fenced.start));
    appendSpan(parent, painting, "fence", within(fenced.start), within(inside.start));
    appendSpan(parent, painting, "lines code", within(inside.start), within(inside.end));
    appendSpan(parent, painting, "fence", within(inside.end), within(fenced.end));
    at = within(fenced.end);
  }
  appendProse(parent, painting, at, end);
}

/** @type {(parent: ParentNode, painting: Painting, className: string, start: number, end: number) => void} */
function appendSpan(parent, painting, className, start, end) {
  if (start >= end) return;
  const span = document.createElement("span");
  span.className = className;
  appendMarked(span, painting, start, end);
  parent.append(span);
  if (className === "fence") return;
  painting.host.classList.add("columns");
  span.role = "group";
  span.ariaLabel = className === "lines" ? "Lines that stay whole" : "Code";
  reachWhileScrolled(span);
}

/** @type {(parent: ParentNode, painting: Painting, start: number, end: number) => void} */
function appendProse(parent, painting, start, end) {
  let at = start;
  for (const { text, columns } of blocksOf(painting.text.slice(start, end))) {
    if (columns) appendSpan(parent, painting, "lines", at, at + text.length);
    else appendMarked(parent, painting, at, at + text.length);
    at += text.length;
  }
}

// A fence that is never closed holds to the end of the text.
/** @type {(text: string) => Fenced[]} */
function fencedIn(text) {
  const found = [];
  let opened = null;
  for (const { 0: line, 1: fence, index } of text.matchAll(A_FENCE)) {
    if (opened === null) opened = { start: index, inside: index + line.length, fence };
    else if (fence.startsWith(opened.fence)) {
      const { start, inside } = opened;
      found.push({ start, end: index + line.length, inside: { start: inside, end: index } });
      opened = null;
    }
  }
  if (opened) {
    const [start, end] = [opened.start, text.length];
    found.push({ start, end, inside: { start: opened.inside, end } });
  }
  return found;
}

/** @type {(text: string) => { text: string, columns: boolean }[]} */
function blocksOf(text) {
  if (!MIGHT_BE_COLUMNS.test(text)) return [{ text, columns: false }];
  /** @type {{ text: string, columns: boolean }[]} */
  const blocks = [];
  for (const paragraph of text.split(/(?<=\n[ \t\r]*\n)(?![ \t\r]*\n)/)) {
    const columns = isInColumns(paragraph.split("\n").filter((line) => line.trim()));
    const last = blocks.at(-1);
    if (last?.columns === columns) last.text += paragraph;
    else blocks.push({ text: paragraph, columns });
  }
  return blocks;
}

/** @type {(lines: string[]) => boolean} */
function isInColumns(lines) {
  const lined = lines.filter(
    (line) =>
      (INDENTED.test(line) && line.length <= LONGEST_INDENTED) ||
      (lines.length > 1 && (GAPPED.test(line) || PIPED.test(line))),
  );
  return lined.length > 0 && lined.length * 2 >= lines.length;
}

/** @type {(parent: ParentNode, painting: Omit<Painting, "host" | "fenced">, start: number, end: number) => void} */
function appendMarked(parent, { text, found, marking }, start, end) {
  let at = start;
  for (const mark of marking ? marksWithin(found, start, end) : []) {
    if (mark.end > end) break;
    parent.append(text.slice(at, mark.start), markElement(text, mark));
    at = mark.end;
  }
  parent.append(text.slice(at, end));
}

/** @type {(text: string, mark: Mark) => HTMLElement} */
function markElement(text, { start, end, kind }) {
  const made = document.createElement("mark");
  made.className = kind;
  made.textContent = text.slice(start, end);
  return made;
}
