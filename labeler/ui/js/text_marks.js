// Finds the words of a query in a text.

/**
 * What to mark for a query: whole phrases, codes such as E-104, and stems of words.
 * @typedef {{ keywords: RegExp | null, codes: RegExp | null, words: Set<string> }} Marks
 */
/** @typedef {{ start: number, end: number }} Part */
/** @typedef {Part & { kind: string }} Mark */

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
