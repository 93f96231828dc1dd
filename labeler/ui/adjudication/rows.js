// Draws the list of pairs beside the one in focus.

import { find, make } from "../js/dom.js";
import { pairKey } from "../js/pairs.js";
import { isSplit } from "./copies.js";
import { mark } from "./mark.js";

/** @import { Case } from "./shapes" */
/** @import { Listing } from "./listing" */

/**
 * @param {HTMLElement} host
 * @param {Listing} listing
 * @param {string | null} focus
 * @param {string[]} colours
 * @param {(name: string) => void} look
 */
export function drawRows(host, listing, focus, colours, look) {
  const list = find(host, "ol");
  list.replaceChildren(
    ...listing.items.flatMap((item, at) => [
      ...(listing.items[at - 1]?.query === item.query ? [] : [question(item)]),
      row(item, pairKey(item) === focus, colours, look),
    ]),
  );
  const last = listing.from + listing.items.length;
  const all = listing.total.toLocaleString("en");
  find(host, ".place").textContent = `${listing.from + 1}–${last} of ${all}`;
  find(host, ".back-page").toggleAttribute("disabled", listing.from === 0);
  find(host, ".next-page").toggleAttribute("disabled", last >= listing.total);
  find(host, ".pages").hidden = listing.total <= listing.items.length;
  const here = list.querySelector("[aria-current]")?.parentElement;
  if (here && list.scrollHeight > list.clientHeight) {
    list.scrollTop = here.offsetTop - list.clientHeight / 2;
  }
}

// What the pairs below it are of.
/** @type {(item: Case) => HTMLElement} */
function question(item) {
  const asked = make("span", "asked", item.asked);
  asked.dir = "auto";
  return make("li", "question", make("small", "", item.query), " ", asked);
}

/** @type {(item: Case, isHere: boolean, colours: string[], look: (name: string) => void) => HTMLElement} */
function row(item, isHere, colours, look) {
  const marks = make("span", "marks");
  const said = item.opinions.map(({ grade, grader }) => ({ grade, name: grader }));
  const counted = (item.copies ?? []).map(({ grade, chunk }) => ({ grade, name: chunk }));
  for (const { grade, name } of isSplit(item) || !said.length ? counted : said) {
    if (grade === null) continue;
    const given = mark(grade, colours);
    given.title = `${name}: ${grade}`;
    marks.append(given);
  }
  const agreed = isSplit(item) ? null : (item.agreed ?? (said.length ? null : counted[0]?.grade));
  const now = item.adjudication ? item.adjudication.grade : (agreed ?? null);
  const name = make("span", "chunk", item.title ?? item.chunk);
  name.dir = "auto";
  const verdict = make("span", "now", item.adjudication ? "✓ " : "→ ", mark(now, colours));
  const press = make("button", "row", make("span", "of", marks, name, verdict));
  press.type = "button";
  press.title = `${item.query} · ${item.chunk}`;
  press.onclick = () => look(pairKey(item));
  if (isHere) press.setAttribute("aria-current", "true");
  return make("li", item.adjudication ? "decided" : "", press);
}
