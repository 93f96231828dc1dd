// The queries somebody keeps to: as the server is asked for them, in words, and in the address. Knows
// no chunk.

/** @import { Confined } from "./shapes" */

const IN_WORDS = new Map([
  ["without", "those that did not leak"],
  ["only", "those that leaked"],
]);

// What an address for the next chunks ends with.
/** @type {(confined: Confined | null) => string} */
export function askedOf(confined) {
  if (!confined) return "";
  const { facet, bucket, split, leaked } = confined;
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries({ facet, bucket, split })) {
    if (value !== null) said.set(name, value);
  }
  if (leaked !== "with") said.set("leaked", leaked);
  return `&${said}`;
}

// Nothing where all of it is the split, and a box beside says that one.
/** @type {(confined: Confined | null, hasBox: boolean) => string} */
export function fieldWords(confined, hasBox) {
  if (!confined) return "";
  const { facet, bucket, split, leaked } = confined;
  const said = [
    split === null || hasBox ? "" : `split = ${split}`,
    IN_WORDS.get(leaked) ?? "",
    facet === null ? "" : `${facet} = ${bucket}`,
  ].filter(Boolean);
  return said.length ? `only ${said.join(", ")}` : "";
}

// The address of the same page about all queries.
/** @type {(here: string, confined: Confined) => string} */
export function ofAll(here, { facet }) {
  const all = new URL(here);
  const names = ["facet", "bucket", "split", "leaked", ...(facet === null ? [] : [facet])];
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
