// Chunks of one query with the same text: what counts for each, and for which of them one decides.

import { make } from "../js/dom.js";
import { mark } from "./mark.js";

/** @import { Case, Verdict } from "./shapes" */

/** @type {Record<string, string>} */
const FROM = {
  grade: "from graders",
  adjudicate: "decided",
  import: "from a file",
  carry: "transferred",
};

// Whether the golden grades of one text differ.
/** @type {(shown: Case) => boolean} */
export function isSplit({ copies = [] }) {
  return copies.some(({ grade }) => grade !== copies[0].grade);
}

// The chunks with the text, each with its grade; nothing where there is one only.
/** @type {(shown: Case, colours: string[]) => HTMLElement[]} */
export function copiesOf(shown, colours) {
  const { copies = [] } = shown;
  if (!copies.length) return [];
  const words = isSplit(shown)
    ? `${copies.length} chunks have this text, and their golden grades differ:`
    : `${copies.length} chunks have this text:`;
  const rows = copies.map((copy) => {
    const name = make("span", "name", copy.chunk);
    const about = [copy.document, FROM[copy.kind] ?? copy.kind].filter(Boolean).join(" · ");
    return make("li", "", mark(copy.grade, colours), " ", name, " ", make("small", "", about));
  });
  return [make("div", "copies", make("p", "", words), make("ul", "", ...rows))];
}

// For which of them the next decision is.
/** @type {(shown: Case, only: string, keepTo: (chunk: string) => void) => HTMLElement[]} */
export function chooserOf({ copies = [] }, only, keepTo) {
  if (!copies.length) return [];
  const field = make("select", "for-which");
  const all =
    copies.length === 2 ? "Decide for both chunks" : `Decide for all ${copies.length} chunks`;
  for (const [value, words] of [
    ["", all],
    ...copies.map(({ chunk }) => [chunk, `Decide for ${chunk} alone`]),
  ]) {
    const option = make("option", "", words);
    option.value = value;
    option.selected = value === only;
    field.append(option);
  }
  field.ariaLabel = "For which chunks you decide";
  field.addEventListener("change", () => {
    keepTo(field.value);
    field.blur(); // keys decide again
  });
  return [field];
}

// What a decision for a pair, or for `only` one of the chunks with its text, is about.
/** @type {(item: Case, only: string) => Pick<Verdict, "chunk" | "slip" | "replaces" | "copies">} */
export function targetOf({ chunk, slip, adjudication, copies }, only) {
  if (!copies) return { chunk, slip, replaces: adjudication?.event_id ?? null };
  const copy = copies.find((each) => each.chunk === only);
  const { chunk: name, slip: own, replaces } = copy ?? copies[0];
  const others = copies.slice(1).map((each) => each.chunk);
  return { chunk: name, slip: own, replaces, copies: copy ? [] : others };
}

// What counts for each chunk once something is decided; says whether one grade counts for all.
/** @type {(item: Case, verdict: Verdict) => boolean} */
export function settleCopies(item, { event_id, chunk, grade, copies = [] }) {
  item.copies = item.copies?.map((copy) => {
    const at = copies.indexOf(copy.chunk);
    if (copy.chunk !== chunk && at < 0) return copy;
    const replaces = at < 0 ? event_id : `${event_id}:twin:${at + 1}`;
    return { ...copy, grade: grade ?? 0, kind: "adjudicate", replaces };
  });
  return !isSplit(item);
}
