// Paints a text in its shape, whole, with the words of a query marked if that is asked for. Text only
// ever enters the page as text nodes, all of it and in its order: places in it stay those of the
// source.

import { reachWhileScrolled } from "./dom.js";
import { findMarks } from "./text_marks.js";
import { blocksOf, inlineIn } from "./text_shape.js";

/** @import { Say } from "./shapes" */
/** @import { Mark, Marks } from "./text_marks" */
/** @import { Block, Part, ShapedPart } from "./text_shape" */

/** @typedef {{ host: HTMLElement, text: string, found: Mark[] }} Painting */

const MOST_MARKS = 1000; // painted in one text; what lies beyond them is not marked

// Fill `host` with a short text in one line.
/** @type {(host: HTMLElement, text: string, marks: Marks) => void} */
export function paintMarked(host, text, marks) {
  host.replaceChildren();
  appendMarked(host, { host, text, found: findMarks(text, marks) }, { start: 0, end: text.length });
}

// Fill `host` with a text.
/** @type {(host: HTMLElement, text: string, marks: Marks, how: { marking: boolean, say: Say }) => void} */
export function paintText(host, text, marks, { marking, say }) {
  const found = marking ? findMarks(text, marks).slice(0, MOST_MARKS) : [];
  const painting = { host, text, found };
  const made = document.createDocumentFragment();
  /** @type {{ kind: string, place: HTMLElement } | null} */
  let group = null; // the list or the table that is being filled
  for (const block of blocksOf(text)) {
    if (group?.kind !== block.kind) group = groupOf(block, say);
    const painted = paintBlock(painting, block, say);
    if (!group) made.append(painted);
    else {
      if (!group.place.isConnected && !group.place.parentNode) made.append(group.place);
      group.place.append(painted);
    }
  }
  host.classList.remove("columns");
  host.replaceChildren(made);
  for (const wide of host.querySelectorAll(".wide")) {
    if (wide instanceof HTMLElement) reachWhileScrolled(wide);
  }
  host.classList.toggle("columns", host.querySelector(".wide") !== null);
}

/** @type {(block: Block, say: Say) => { kind: string, place: HTMLElement } | null} */
function groupOf({ kind }, say) {
  if (kind === "item") return { kind, place: span("list", "list") };
  if (kind !== "row") return null;
  const place = span("table wide", "table");
  place.ariaLabel = say("card.table");
  return { kind, place };
}

/** @type {(className: string, role?: string) => HTMLSpanElement} */
function span(className, role = "") {
  const made = document.createElement("span");
  made.className = className;
  if (role) made.role = role;
  return made;
}

/** @type {(painting: Painting, block: Block, say: Say) => HTMLElement} */
function paintBlock(painting, block, say) {
  const { kind, level, isHead, parts, cells } = block;
  if (kind === "row") {
    const row = span(isHead ? "tr head" : "tr", "row");
    for (const cell of cells) row.append(paintCell(painting, cell, isHead));
    return row;
  }
  const place = placeOf(kind, level, say);
  const isWhole = kind === "code" || kind === "columns"; // as it is, to the last sign
  for (const part of parts) {
    if (isWhole) appendMarked(place, painting, part);
    else paintPart(place, painting, part);
  }
  const isNumbered = parts.some(({ role }) => role === "number");
  if (kind === "item" && !isNumbered) place.classList.add("bullet");
  return place;
}

/** @type {(kind: Block["kind"], level: number, say: Say) => HTMLElement} */
function placeOf(kind, level, say) {
  if (kind === "code" || kind === "columns") {
    const place = span(kind === "code" ? "lines code" : "lines wide", "group");
    place.ariaLabel = say(kind === "code" ? "card.code" : "card.columns");
    return place;
  }
  if (kind === "heading") {
    const place = span("heading", "heading");
    place.ariaLevel = String(Math.min(6, level + 3)); // below the heading of the passage itself
    return place;
  }
  if (kind === "fence") return span("fence");
  const place = span(kind, kind === "item" ? "listitem" : "");
  if (kind === "item") place.style.setProperty("--level", String(level));
  return place;
}

/** @type {(painting: Painting, cell: ShapedPart[], isHead: boolean) => HTMLElement} */
function paintCell(painting, cell, isHead) {
  const place = span("td", isHead ? "columnheader" : "cell");
  for (const part of cell) paintPart(place, painting, part);
  return place;
}

/** @type {(place: HTMLElement, painting: Painting, part: ShapedPart) => void} */
function paintPart(place, painting, part) {
  if (part.role === "read") {
    for (const each of inlineIn(painting.text, part)) {
      if (each.role === "read") appendMarked(place, painting, each);
      else paintPart(place, painting, each);
    }
    return;
  }
  const inner = span(part.role);
  if (part.role === "shape") inner.ariaHidden = "true";
  appendMarked(inner, painting, part);
  place.append(inner);
}

/** @type {(parent: ParentNode, painting: Painting, part: Part) => void} */
function appendMarked(parent, { text, found }, { start, end }) {
  let at = start;
  for (let i = firstFrom(found, start); i < found.length && found[i].end <= end; i += 1) {
    const mark = document.createElement("mark");
    mark.className = found[i].kind;
    mark.textContent = text.slice(found[i].start, found[i].end);
    if (at < found[i].start) parent.append(text.slice(at, found[i].start));
    parent.append(mark);
    at = found[i].end;
  }
  if (at < end) parent.append(text.slice(at, end));
}

// The index of the first mark that starts at `position` or later.
/** @type {(found: Mark[], position: number) => number} */
function firstFrom(found, position) {
  let low = 0;
  let high = found.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (found[middle].start < position) low = middle + 1;
    else high = middle;
  }
  return low;
}
