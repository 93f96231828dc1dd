// The queries somebody keeps to: as the server is asked for them, in words, and in the address.

/** @import { Confined, Say } from "./shapes" */

const IN_WORDS = new Map([
  ["without", "scope.without_leaked"],
  ["only", "scope.only_leaked"],
]);

// What an address for the next chunks ends with.
/** @type {(confined: Confined | null) => string} */
export function askedOf(confined) {
  if (!confined) return "";
  const { facet, bucket, split, leaked, old: from, recut: to, until } = confined;
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries({ facet, bucket, split, from, to, until })) {
    if (value !== null) said.set(name, value);
  }
  if (leaked !== "with") said.set("leaked", leaked);
  return `&${said}`;
}

// Nothing where all of it is chosen in a box beside, which says it.
/** @type {(confined: Confined | null, boxes: { splits: boolean, openings: boolean }, say: Say) => string} */
export function fieldWords(confined, boxes, say) {
  if (!confined) return "";
  const { facet, bucket, split, leaked, old, recut } = confined;
  const said = [
    recut === null || boxes.openings ? "" : openingWords([old ?? "", recut], say),
    split === null || boxes.splits ? "" : say("scope.split", { split }),
    say(IN_WORDS.get(leaked) ?? ""),
    facet === null ? "" : `${facet} = ${bucket}`,
  ].filter(Boolean);
  return said.length ? say("scope.only_opening", { opening: said.join(", ") }) : "";
}

// The address of the same page about all queries.
/** @type {(here: string, confined: Confined) => string} */
export function ofAll(here, { facet }) {
  const all = new URL(here);
  const names = [
    "facet",
    "bucket",
    "split",
    "leaked",
    "from",
    "to",
    "until",
    ...(facet === null ? [] : [facet]),
  ];
  for (const name of names) all.searchParams.delete(name);
  return all.href;
}

// The address of the same page about one split, or about all of them ("").
/** @type {(here: string, split: string) => string} */
export function ofSplit(here, split) {
  const there = new URL(here);
  if (split) there.searchParams.set("split", split);
  else there.searchParams.delete("split");
  return there.href;
}

const UNNAMED = "default"; // what addresses call the chunking without a name

// What the grades of one chunking leave open in another, in words.
/** @type {(opening: [old: string, recut: string], say: Say) => string} */
export function openingWords([old, to], say) {
  const recut = to || say("scope.unnamed");
  return old ? say("scope.opening_of", { old, recut }) : say("scope.opening", { recut });
}

// The address of the same page about what is left open between two chunkings, or about all (null).
/** @type {(here: string, opening: [old: string, recut: string] | null) => string} */
export function ofOpening(here, opening) {
  const there = new URL(here);
  for (const [at, name] of ["from", "to"].entries()) {
    if (opening) there.searchParams.set(name, opening[at] || UNNAMED);
    else there.searchParams.delete(name);
  }
  return there.href;
}
