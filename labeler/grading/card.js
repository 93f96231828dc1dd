// Draws the query and the chunk on screen, with what was given and what was asked about it. Knows
// elements; what it shows and what its buttons do comes from outside.

import { HOME_ROW, hintButtons } from "./keys.js";
import { marksOf, paintMarked, paintText } from "./marking.js";
import { element, finderIn, keyButton } from "./parts.js";
import { counted, givenWords, REMARK_WORDS, undoneWords } from "./status.js";

/** @import { About, Entry, Item, Neighbours, Told } from "./shapes" */

/** @type {Record<string, string>} */
const TASKS = {
  single: "single answer",
  research: "research",
  compliance: "compliance lookup",
  longtail: "long tail",
};

export class Card {
  /**
   * @param {ParentNode} root
   * @param {{ words: string[], colours: string[], guideline: string,
   *   act: (name: string) => void, grade: (grade: number) => void }} what
   */
  constructor(root, { words, colours, guideline, act, grade }) {
    this.find = finderIn(root);
    this.words = words;
    this.guideline = guideline;
    this.around = false;
    this.marking = true;
    /** @type {About | null} */
    this.query = null;
    /** @type {Item | null} */
    this.item = null;
    this.find(".grades").replaceChildren(
      ...words.map((word, i) => gradeButton(i, word, colours[i], () => grade(i))),
    );
    this.find(".actions").replaceChildren(...hintButtons(act));
    this.find(".tell").replaceChildren(keyButton("E", "what is known of it", () => act("told")));
  }

  // A chunk that is new on screen starts at its top, with nothing around it.
  /** @type {(entry: Entry, query: About, marking: boolean) => void} */
  show(entry, query, marking) {
    const isNew = entry.item !== this.item;
    if (isNew || query !== this.query) this.paintQuery(query);
    if (isNew || marking !== this.marking) this.paintText(entry.item, query, marking);
    if (isNew) this.paintAround(null);
    this.item = entry.item;
    this.query = query;
    this.marking = marking;
    this.paintGiven(entry);
    this.paintTold(entry);
    const pad = this.find(".pad");
    if (isNew && pad.getBoundingClientRect().top < 0) pad.scrollIntoView();
  }

  /** @type {(query: About) => void} */
  paintQuery(query) {
    this.write(".query-text", query.text);
    reachIfScrolled(this.find(".query-text"));
    this.write(".task", TASKS[query.task ?? ""] ?? query.task ?? "");
    const guideline = [query.guideline, this.guideline].filter(Boolean).join("\n");
    this.part(".guideline", guideline, ".guideline dd");
    this.part(".reference", query.reference, ".reference dd");
    this.part(".remark", query.remark && `You said: ${REMARK_WORDS[query.remark]}.`);
  }

  /** @type {(item: Item, query: About, marking: boolean) => void} */
  paintText(item, query, marking) {
    const marks = marksOf(query);
    const title = this.find(".title");
    title.hidden = !item.title;
    if (marking) paintMarked(title, item.title ?? "", marks);
    else title.textContent = item.title ?? "";
    reachIfScrolled(title);
    this.part(".from", item.document && `from ${item.document}`);
    this.find(".stale").hidden = !item.stale;
    paintText(this.find(".chunk .text"), item.text, marks, { marking, folding: true });
  }

  // `beside` is {before, after}, words that say why there is nothing to show, or null.
  /** @type {(beside: Neighbours | string | null) => void} */
  paintAround(beside) {
    this.around = beside !== null;
    const pressed = this.find('.actions [data-act="around"]');
    pressed.setAttribute("aria-pressed", String(this.around));
    for (const place of /** @type {const} */ (["before", "after"])) {
      const host = this.find(`.beside.${place}`);
      host.hidden = beside === null;
      host.replaceChildren();
      if (beside !== null) fillBeside(host, beside, place);
    }
  }

  /** @type {(entry: Entry) => void} */
  paintGiven({ done, undone, note, later }) {
    const buttons = this.find(".grades").children;
    for (const [grade, button] of Array.from(buttons).entries()) {
      const chosen = done?.kind === "grade" && done.grade === grade;
      button.setAttribute("aria-pressed", String(chosen));
    }
    this.part(".again", undone && undoneWords(undone, this.words));
    this.part(".given", done && `you gave ${givenWords(done, this.words, " · ")}`);
    this.part(".put-off", later && !done && "put off until now");
    const kept = note ?? done?.note;
    const when = note && !done ? " (goes with your grade)" : "";
    this.part(".note", kept && `Note: ${kept}${when}`);
    this.find('.actions [data-act="cannotTell"]').setAttribute(
      "aria-pressed",
      String(done?.kind === "cannot_tell"),
    );
  }

  /** @type {(entry: Entry) => void} */
  paintTold({ done, told }) {
    this.find(".tell").hidden = !done || Boolean(told);
    this.part(".told", done && told && toldWords(told, this.words));
  }

  // Show words in a place, or hide the place where there are none.
  /** @type {(selector: string, words: string | false | null | undefined, inner?: string) => void} */
  part(selector, words, inner = selector) {
    this.find(selector).hidden = !words;
    this.write(inner, words || "");
  }

  /** @type {(selector: string, text: string) => void} */
  write(selector, text) {
    this.find(selector).textContent = text;
  }
}

/** @type {(grade: number, word: string, colour: string, act: () => void) => HTMLButtonElement} */
function gradeButton(grade, word, colour, act) {
  const button = keyButton(String(grade), word, act, "grade");
  const home = element("kbd", HOME_ROW[grade], "home");
  home.ariaHidden = "true";
  button.append(home);
  button.style.setProperty("--grade", colour);
  return button;
}

// What is too long for its place can be scrolled by keys as well.
/** @type {(host: HTMLElement) => void} */
function reachIfScrolled(host) {
  const mayBeLong = host.textContent.length > 150;
  if (mayBeLong && host.scrollHeight > host.clientHeight) host.tabIndex = 0;
  else host.removeAttribute("tabindex");
}

/** @type {(host: HTMLElement, beside: Neighbours | string, place: "before" | "after") => void} */
function fillBeside(host, beside, place) {
  const chunk = typeof beside === "string" ? null : beside[place];
  if (!chunk) {
    const nothing = place === "before" ? "Nothing stands before it." : "Nothing stands after it.";
    host.append(element("p", typeof beside === "string" ? beside : nothing, "quiet"));
    return;
  }
  if (chunk.title) host.append(element("p", chunk.title, "beside-title"));
  const text = element("div", "", "beside-text");
  text.dir = "auto";
  const unmarked = { marking: false, folding: true };
  paintText(text, chunk.text ?? "Its text is not known.", marksOf({ text: "" }), unmarked);
  host.append(text);
}

// What the others gave and who found it, for somebody who has judged the pair already.
/** @type {(told: Told, words: string[]) => string} */
export function toldWords(told, words) {
  const others = told.others.map(
    (each) => `${each.count} gave ${givenWords({ reason: null, ...each }, words)}`,
  );
  const from = told.document ? ` of document ${told.document}` : "";
  return [
    `Chunk ${told.chunk}${from}`,
    told.found_by ? `found by ${counted(told.found_by, "run")}` : "found by no run",
    others.length ? others.join(", ") : "nobody else has graded it",
  ].join(" · ");
}
