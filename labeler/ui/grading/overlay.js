// Overlays that stand in for the chunk while they are read: guideline, keys and others.

import { element, focusedBeside, giveFocusBack, keyButton } from "../js/dom.js";
import { keyRows } from "../js/keys.js";
import { agreementWords } from "./status.js";

/** @import { About, PadData, SelfAgreement, Spoken, Terms } from "./shapes" */

export class Overlay {
  /**
   * @param {HTMLElement} host
   * @param {() => void} onClose
   * @param {Spoken} spoken
   */
  constructor(host, onClose, spoken) {
    this.host = host;
    this.spoken = spoken;
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
      keyButton("Esc", this.spoken.say("sheet.close"), () => this.close(), "close"),
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

/** @type {(data: PadData, query: About | null, practise: () => void) => HTMLElement[]} */
export function guidelineParts({ guideline, contact, terms }, query, practise) {
  const { say } = terms;
  /** @type {HTMLElement[]} */
  const parts = [];
  if (query?.guideline) parts.push(passage(say("card.about"), query.guideline));
  if (query?.reference) parts.push(passage(say("card.answer"), query.reference));
  parts.push(passage(say("card.every"), guideline));
  parts.push(element("h3", say("sheet.scale")), scaleOf(terms));
  const more = element("p", contact ? `${say("welcome.contact", { contact })} ` : "", "ways");
  more.append(keyButton("", say("welcome.practise"), practise, "choice"));
  return [...parts, more];
}

// The four grades, each with its word and what it means.
/** @type {(terms: Terms) => HTMLElement} */
export function scaleOf({ words, meanings, colours }) {
  const scale = element("dl", "", "scale");
  for (const [grade, word] of words.entries()) {
    const name = element("dt", String(grade), "swatch");
    name.style.setProperty("--grade", colours[grade] ?? "");
    scale.append(name, element("dd", `${word}: ${meanings[grade]}`));
  }
  return scale;
}

/** @type {(title: string, text: string) => HTMLElement} */
function passage(title, text) {
  const made = element("div");
  const body = element("p", text, "passage");
  body.dir = "auto";
  made.append(element("h3", title), body);
  return made;
}

/** @type {(terms: Terms, agreement: SelfAgreement | null, isBefore: boolean) => HTMLElement[]} */
export function keysParts(terms, agreement, isBefore) {
  const table = element("dl", "", "keys-table");
  for (const [keys, help] of keyRows(terms, isBefore)) {
    const names = element("dt");
    for (const key of keys) names.append(element("kbd", key), " ");
    table.append(names, element("dd", help));
  }
  /** @type {HTMLElement[]} */
  const parts = [table];
  const steady = agreementWords(agreement, terms);
  if (steady) parts.push(element("p", `${steady} ${terms.say("keys.again")}`));
  return parts;
}
