// What the bench says where there is no pair to show. Knows nothing of what is sent.

import { make } from "./hands.js";

// Nothing is in focus, though there are pairs; `left` of them are open.
/** @type {(left: number) => Node[]} */
export function finished(left) {
  if (left) return [make("p", "done", "Fetching the next …")];
  const words = "All of them are decided. K goes back through them, U takes back your last.";
  return [make("h3", "done", "Nothing is left open"), make("p", "done", words)];
}

// There is no pair at all, or none among those that are asked for.
/** @type {(isPart: boolean) => [string, string]} */
export function empty(isPart) {
  return isPart
    ? ["No disagreement here", "Of these queries and graders no grades differ."]
    : [
        "Nobody disagrees",
        "Where two people have given a chunk different grades, it stands here to be decided.",
      ];
}
