// The shape of a text: headings, list items, tables, code and columns, by their places in it. Every
// character of the text is in exactly one block, and every character of a block in one of its parts.

/** @typedef {{ start: number, end: number }} Part */
/**
 * A part of a block: what is read, or what only gives it its shape, such as a bullet or a fence.
 * @typedef {Part & { role: "read" | "number" | "shape" | "inline" }} ShapedPart
 */
/**
 * `level` is how deep a heading or an item is. The parts of a row are its cells.
 * @typedef {Part & {
 *   kind: "paragraph" | "gap" | "heading" | "item" | "row" | "columns" | "code" | "fence",
 *   level: number,
 *   isHead: boolean,
 *   parts: ShapedPart[],
 *   cells: ShapedPart[][],
 * }} Block
 */
/** @typedef {Part & { text: string }} Line */
/** @typedef {Line & { fence: string, info: string }} Fence */
/** @typedef {Part & { inside: Part }} Fenced */

const A_FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\n]*?)[ \t\r]*$/;
const A_HEADING = /^( {0,3}(#{1,6})[ \t]+)\S/;
const A_BULLET = /^([ \t]*)([-*+•‣◦▪–][ \t]+)\S/;
const A_NUMBERED = /^([ \t]*)((?:\d{1,3}[.)]|[a-z]\))[ \t]+)\S/;
const UNDER_HEADS = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const A_ROW = /^\s*\|.*\|\s*$/;
// Backticks in pairs, not those that stand for quotes or apostrophes: `like this', l`eau.
const INLINE_CODE = /(?<![`\\\p{L}\p{N}])(`{1,2})(?![`\s])([^`]{0,199}[^`\s])\1(?![`\p{L}\p{N}])/gu;
const A_SENTENCE = /\p{L}{2,} [\p{L}'’]+ [\p{L}'’]+ [^;{}=]*[.?!:]\s*$/u;
const LONGEST_CODE_LINE = 100; // a longer line is rather prose
const LONGEST_MARK = 500; // characters of a line that only gives shape; patterns are slow on more
const MOST_COLUMNS = 40;

const MIGHT_BE_COLUMNS = /[\t|]| {3}/;
const LONGEST_INDENTED = 120; // a longer line is a paragraph with an indent
const INDENTED = /^(?: {4}|\t)\s*\S/;
const GAPPED = /\S(?: {3,}|\t+)\S/;
const PIPED = /^\s*\|.*\||\|[^|]+\|/;

// The blocks of a text, in order.
/** @type {(text: string) => Block[]} */
export function blocksOf(text) {
  /** @type {Block[]} */
  const blocks = [];
  const lines = linesOf(text);
  let at = 0;
  for (const fenced of fencedIn(text, lines)) {
    addProse(blocks, lines, at, fenced.start);
    addWhole(blocks, "fence", "shape", { start: fenced.start, end: fenced.inside.start });
    addWhole(blocks, "code", "read", fenced.inside);
    addWhole(blocks, "fence", "shape", { start: fenced.inside.end, end: fenced.end });
    at = fenced.end;
  }
  addProse(blocks, lines, at, text.length);
  return blocks;
}

// The parts of a stretch that is read: code within a line, and the backticks around it.
/** @type {(text: string, stretch: Part) => ShapedPart[]} */
export function inlineIn(text, { start, end }) {
  /** @type {ShapedPart[]} */
  const parts = [];
  let at = start;
  for (const { 0: all, 1: tick, index } of text.slice(start, end).matchAll(INLINE_CODE)) {
    const from = start + index;
    const [opened, closes, to] = [tick.length, all.length - tick.length, all.length];
    parts.push({ start: at, end: from, role: "read" });
    parts.push({ start: from, end: from + opened, role: "shape" });
    parts.push({ start: from + opened, end: from + closes, role: "inline" });
    parts.push({ start: from + closes, end: from + to, role: "shape" });
    at = from + to;
  }
  parts.push({ start: at, end, role: "read" });
  return parts.filter((part) => part.start < part.end);
}

// A text in one line, without what only gives it its shape.
/** @type {(text: string, most: number) => string} */
export function briefOf(text, most) {
  const words = [];
  let length = 0;
  for (const { parts, cells } of blocksOf(text)) {
    const inRow = cells.length ? cells.map((cell) => wordsIn(text, cell)).join(" · ") : "";
    const said = inRow || wordsIn(text, parts);
    if (!said) continue;
    words.push(said);
    length += said.length + 1;
    if (length > most) break;
  }
  return words.join(" ").slice(0, most);
}

/** @type {(text: string, parts: ShapedPart[]) => string} */
function wordsIn(text, parts) {
  const read = parts.filter(({ role }) => role !== "shape");
  return read
    .map(({ start, end }) => text.slice(start, end).replace(INLINE_CODE, "$2"))
    .join("")
    .trim();
}

/** @type {(text: string) => Line[]} */
function linesOf(text) {
  return Array.from(text.matchAll(/[^\n]*\n|[^\n]+$/g), ({ 0: line, index }) => {
    return { start: index, end: index + line.length, text: line.replace(/\r?\n$/, "") };
  });
}

/** @type {(blocks: Block[], kind: Block["kind"], role: ShapedPart["role"], part: Part) => void} */
function addWhole(blocks, kind, role, { start, end }) {
  if (start < end) blocks.push(blockOf(kind, [{ start, end, role }]));
}

/** @type {(kind: Block["kind"], parts: ShapedPart[], more?: Partial<Block>) => Block} */
function blockOf(kind, parts, more = {}) {
  const [start, end] = [parts[0].start, parts[parts.length - 1].end];
  return { kind, start, end, level: 1, isHead: false, parts, cells: [], ...more };
}

// --- code -------------------------------------------------------------------------------------

// The fences come in pairs, but for a text that was cut out of a longer one: it begins inside of code
// where its first fence only closes, and ends inside of it where its last one only opens.
/** @type {(text: string, lines: Line[]) => Fenced[]} */
function fencedIn(text, lines) {
  const fences = fencesIn(lines);
  const fromStart = pairsOf(text, fences, true);
  const toEnd = pairsOf(text, fences, false);
  const isWhole = toEnd.every(({ inside, isClosed }) => isClosed && !opensWithin(fences, inside));
  if (isWhole || fences[0]?.info) return toEnd;
  if (toEnd.some(({ inside }) => opensWithin(fences, inside))) return fromStart;
  return oddness(text, fromStart) < oddness(text, toEnd) ? fromStart : toEnd;
}

/** @type {(lines: Line[]) => Fence[]} */
function fencesIn(lines) {
  return lines.flatMap((line) => {
    if (line.text.length > LONGEST_MARK) return [];
    const [, fence, info] = A_FENCE.exec(line.text) ?? [];
    return fence && !info.includes("`") ? [{ ...line, fence, info }] : [];
  });
}

// `isWithin`: the text begins inside of code.
/** @type {(text: string, fences: Fence[], isWithin: boolean) => (Fenced & { isClosed: boolean })[]} */
function pairsOf(text, fences, isWithin) {
  const found = [];
  /** @type {Pick<Fence, "start" | "end" | "fence"> | null} */
  let opened = isWithin ? { start: 0, end: 0, fence: "" } : null;
  for (const fence of fences) {
    if (opened === null) opened = fence;
    else if (!fence.info && fence.fence.startsWith(opened.fence)) {
      const inside = { start: opened.end, end: fence.start };
      found.push({ start: opened.start, end: fence.end, inside, isClosed: true });
      opened = null;
    }
  }
  if (opened) {
    const inside = { start: opened.end, end: text.length };
    found.push({ start: opened.start, end: text.length, inside, isClosed: false });
  }
  return found;
}

// A fence that names a language only ever opens.
/** @type {(fences: Fence[], inside: Part) => boolean} */
function opensWithin(fences, { start, end }) {
  return fences.some((fence) => fence.info && fence.start >= start && fence.end <= end);
}

// How much of what would be code looks like prose; a fence that ends a text has nothing to open.
/** @type {(text: string, fenced: (Fenced & { isClosed: boolean })[]) => number} */
function oddness(text, fenced) {
  let odd = 0;
  for (const { inside, isClosed } of fenced) {
    const lines = text.slice(inside.start, inside.end).split("\n");
    for (const line of lines) {
      if (line.length > LONGEST_CODE_LINE || A_SENTENCE.test(line)) odd += line.length;
    }
    if (!isClosed && !lines.join("").trim()) odd += 1000;
  }
  return odd;
}

// --- what is no code ----------------------------------------------------------------------------

/** @type {(blocks: Block[], lines: Line[], start: number, end: number) => void} */
function addProse(blocks, lines, start, end) {
  const within = lines.filter((line) => line.start >= start && line.end <= end);
  for (let at = 0; at < within.length; ) at += addNext(blocks, within, at);
}

// Add what begins with a line; says how many lines it takes.
/** @type {(blocks: Block[], lines: Line[], at: number) => number} */
function addNext(blocks, lines, at) {
  const line = lines[at];
  if (!line.text.trim()) return addGap(blocks, lines, at);
  const rows = countRows(lines, at);
  if (rows) return addTable(blocks, lines.slice(at, at + rows));
  const heading = A_HEADING.exec(line.text);
  if (heading) {
    blocks.push(headed(line, heading[1].length, { kind: "heading", level: heading[2].length }));
    return 1;
  }
  const item = itemOf(line);
  return item ? addItem(blocks, lines, at, item) : addParagraph(blocks, lines, at);
}

/** @type {(blocks: Block[], lines: Line[], at: number) => number} */
function addGap(blocks, lines, at) {
  let to = at;
  while (to < lines.length && !lines[to].text.trim()) to += 1;
  addWhole(blocks, "gap", "read", { start: lines[at].start, end: lines[to - 1].end });
  return to - at;
}

/** @type {(line: Part, shape: number, more: Partial<Block> & { kind: Block["kind"] }) => Block} */
function headed({ start, end }, shape, { kind, ...more }) {
  /** @type {ShapedPart[]} */
  const parts = [
    { start, end: start + shape, role: "shape" },
    { start: start + shape, end, role: "read" },
  ];
  return blockOf(kind, parts, more);
}

/** @type {(line: Line) => { indent: string, mark: string, isNumbered: boolean } | null} */
function itemOf({ text }) {
  const bullet = A_BULLET.exec(text);
  if (bullet && !/^[-*_\s]{3,}$/.test(text)) {
    return { indent: bullet[1], mark: bullet[2], isNumbered: false };
  }
  const numbered = A_NUMBERED.exec(text);
  return numbered && { indent: numbered[1], mark: numbered[2], isNumbered: true };
}

// An item goes on in lines that are indented.
/** @type {(blocks: Block[], lines: Line[], at: number, item: NonNullable<ReturnType<typeof itemOf>>) => number} */
function addItem(blocks, lines, at, { indent, mark, isNumbered }) {
  let to = at + 1;
  while (to < lines.length && /^\s+\S/.test(lines[to].text) && !itemOf(lines[to])) to += 1;
  const { start } = lines[at];
  const level = 1 + Math.min(5, Math.floor(indent.replace(/\t/g, "    ").length / 2));
  const [shape, text] = [start + indent.length, start + indent.length + mark.length];
  /** @type {ShapedPart[]} */
  const parts = [
    { start, end: isNumbered ? shape : text, role: "shape" },
    { start: isNumbered ? shape : text, end: text, role: "number" },
    { start: text, end: lines[at].end, role: "read" },
  ];
  for (const line of lines.slice(at + 1, to)) {
    const inner = line.start + line.text.length - line.text.trimStart().length;
    parts.push({ start: line.start, end: inner, role: "shape" });
    parts.push({ start: inner, end: line.end, role: "read" });
  }
  const filled = parts.filter((part) => part.start < part.end);
  blocks.push(blockOf("item", filled, { level }));
  return to - at;
}

// How many lines from this one on are a table: rows between bars, or whatever has bars above and
// below a line of dashes.
/** @type {(lines: Line[], at: number) => number} */
function countRows(lines, at) {
  const isHeaded = lines[at].text.includes("|") && isUnderHeads(lines[at + 1]);
  const isRow = (/** @type {Line | undefined} */ line) =>
    line &&
    (A_ROW.test(line.text) || (isHeaded && line.text.includes("|"))) &&
    line.text.split("|", MOST_COLUMNS + 2).length <= MOST_COLUMNS + 1;
  let to = at;
  while (isRow(lines[to])) to += 1;
  return to - at > 1 ? to - at : 0;
}

/** @type {(line: Line | undefined) => boolean} */
function isUnderHeads(line) {
  if (!line?.text.includes("-") || line.text.length > LONGEST_MARK) return false;
  return UNDER_HEADS.test(line.text);
}

// The line of dashes belongs to the row of heads above it.
/** @type {(blocks: Block[], lines: Line[]) => number} */
function addTable(blocks, lines) {
  for (const [i, line] of lines.entries()) {
    const isDashes = isUnderHeads(line) && line.text.includes("|");
    const last = blocks.at(-1);
    if (isDashes && i > 0 && last) {
      last.cells.at(-1)?.push({ start: line.start, end: line.end, role: "shape" });
      last.parts.push({ start: line.start, end: line.end, role: "shape" });
      last.end = line.end;
      last.isHead = i === 1;
    } else if (isDashes) addWhole(blocks, "fence", "shape", line);
    else blocks.push(rowOf(line));
  }
  return lines.length;
}

/** @type {(line: Line) => Block} */
function rowOf({ start, end, text }) {
  const inner = text.trimEnd().replace(/\|$/, "").length;
  const opens = /^\s*\|/.exec(text)?.[0].length ?? 0;
  /** @type {ShapedPart[][]} */
  const cells = [];
  let at = 0;
  let from = opens;
  for (let i = opens; i <= inner; i += 1) {
    if (i < inner && (text[i] !== "|" || text[i - 1] === "\\")) continue;
    cells.push(cellOf(text, start, at, from, i));
    [at, from] = [i, i + 1];
  }
  cells.at(-1)?.push({ start: start + inner, end, role: "shape" });
  return blockOf("row", cells.flat(), { cells });
}

// From the bar before it to the bar after it: the bar and the blanks give it its shape.
/** @type {(text: string, start: number, bar: number, from: number, to: number) => ShapedPart[]} */
function cellOf(text, start, bar, from, to) {
  const inside = text.slice(from, to);
  const first = from + inside.length - inside.trimStart().length;
  const last = Math.max(first, to - (inside.length - inside.trimEnd().length));
  /** @type {ShapedPart[]} */
  const parts = [
    { start: start + bar, end: start + first, role: "shape" },
    { start: start + first, end: start + last, role: "read" },
    { start: start + last, end: start + to, role: "shape" },
  ];
  return parts.filter((part, i) => part.start < part.end || i === 1);
}

// A paragraph ends at a gap, or where something of another shape begins.
/** @type {(blocks: Block[], lines: Line[], at: number) => number} */
function addParagraph(blocks, lines, at) {
  let to = at + 1;
  while (to < lines.length && isProse(lines, to)) to += 1;
  const part = { start: lines[at].start, end: lines[to - 1].end };
  const kind = isInColumns(lines.slice(at, to)) ? "columns" : "paragraph";
  const last = blocks.at(-1);
  const [former, gap] = [blocks.at(-2), last];
  if (kind === "columns" && former?.kind === "columns" && gap?.kind === "gap") {
    blocks.splice(-2);
    addWhole(blocks, kind, "read", { start: former.start, end: part.end });
  } else addWhole(blocks, kind, "read", part);
  return to - at;
}

/** @type {(lines: Line[], at: number) => boolean} */
function isProse(lines, at) {
  const line = lines[at];
  if (!line.text.trim() || A_HEADING.test(line.text) || itemOf(line)) return false;
  return countRows(lines, at) === 0;
}

/** @type {(lines: Line[]) => boolean} */
function isInColumns(lines) {
  if (!lines.some(({ text }) => MIGHT_BE_COLUMNS.test(text))) return false;
  const lined = lines.filter(
    ({ text }) =>
      (INDENTED.test(text) && text.length <= LONGEST_INDENTED) ||
      (lines.length > 1 && (GAPPED.test(text) || PIPED.test(text))),
  );
  return lined.length > 0 && lined.length * 2 >= lines.length;
}
