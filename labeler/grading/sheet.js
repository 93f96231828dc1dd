// Sheets that stand in for the chunk while they are read: guideline, keys, what was refused. Knows
// how to show rows of words, not where they come from.

import { keyRows } from "./keys.js";
import { element, focusedBeside, giveFocusBack, keyButton } from "./parts.js";
import { eventWords, givenWords } from "./status.js";

/** @import { About, Kept, PadData } from "./shapes" */

/** @typedef {(key: string, record: Kept, how: string) => void} Deal */

export class Sheet {
  /**
   * @param {HTMLElement} host
   * @param {() => void} onClose
   */
  constructor(host, onClose) {
    this.host = host;
    this.onClose = onClose;
    /** @type {string | null} */
    this.name = null;
    /** @type {Element | null} */
    this.before = null;
  }

  get isOpen() {
    return this.name !== null;
  }

  /** @type {(name: string, title: string, parts: Node[]) => void} */
  show(name, title, parts) {
    this.before ??= focusedBeside(this.host);
    this.name = name;
    const head = element("header");
    head.append(
      element("h2", title),
      keyButton("Esc", "close", () => this.close(), "close"),
    );
    this.host.setAttribute("aria-label", title);
    this.host.replaceChildren(head, ...parts);
    this.host.hidden = false;
    this.host.focus({ preventScroll: true });
    this.host.scrollIntoView({ block: "nearest" });
  }

  close() {
    if (!this.isOpen) return;
    this.name = null;
    this.host.hidden = true;
    this.host.replaceChildren();
    this.onClose();
    giveFocusBack(this.before);
    this.before = null;
  }
}

/** @type {(data: PadData, query: About | null) => HTMLElement[]} */
export function guidelineParts({ guideline, words, colours }, query) {
  /** @type {HTMLElement[]} */
  const parts = [];
  if (query?.guideline) parts.push(passage("For this query", query.guideline));
  if (guideline) parts.push(passage("For every query", guideline));
  if (!parts.length) parts.push(element("p", "Nobody has written a guideline yet."));
  const scale = element("dl", "", "scale");
  for (const [grade, word] of words.entries()) {
    const name = element("dt", String(grade), "swatch");
    name.style.setProperty("--grade", colours[grade] ?? "");
    scale.append(name, element("dd", word));
  }
  return [...parts, element("h3", "The scale"), scale];
}

/** @type {(title: string, text: string) => HTMLElement} */
function passage(title, text) {
  const made = element("div");
  const body = element("p", text, "passage");
  body.dir = "auto";
  made.append(element("h3", title), body);
  return made;
}

/** @type {(agreement: string) => HTMLElement[]} */
export function keysParts(agreement) {
  const table = element("dl", "", "keys-table");
  for (const [keys, help] of keyRows()) {
    const names = element("dt");
    for (const key of keys) names.append(element("kbd", key), " ");
    table.append(names, element("dd", help));
  }
  /** @type {HTMLElement[]} */
  const parts = [table];
  const why = "A few chunks come twice, to see how steady grades are.";
  if (agreement) parts.push(element("p", `${agreement} ${why}`));
  return parts;
}

// `refused` is [[key, record]]; `deal(key, record, how)` gets "mine", "again" or "let go".
/** @type {(refused: [string, Kept][], words: string[], deal: Deal) => HTMLElement[]} */
export function refusedParts(refused, words, deal) {
  if (!refused.length) return [element("p", "Nothing is refused any more.")];
  const list = element("ul", "", "refused");
  for (const [key, record] of refused) list.append(refusedRow(key, record, words, deal));
  return [
    element("p", "The server did not take these. They stay here until you have dealt with them."),
    list,
  ];
}

/** @type {(key: string, record: Kept, words: string[], deal: Deal) => HTMLElement} */
function refusedRow(key, record, words, deal) {
  const { event, shown, reason, instead } = record;
  const row = element("li");
  const about = element("p", shown?.query || event.query);
  if (event.chunk) about.append(" · ", shown?.title || "a chunk without a title");
  about.dir = "auto";
  const ways = element("p", "", "ways");
  /** @type {(text: string, how: string) => void} */
  const offer = (text, how) => {
    ways.append(keyButton("", text, () => deal(key, record, how), "choice"));
  };
  if (instead) offer("Use mine instead", "mine");
  else offer("Try again", "again");
  offer("Let it go", "let go");
  row.append(about, element("p", eventWords(event, words)));
  row.append(element("p", `Refused because: ${reason}`));
  if (instead) row.append(element("p", `What stands: ${givenWords(instead, words)}`));
  row.append(ways);
  return row;
}
