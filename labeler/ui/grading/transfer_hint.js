// What was given and marked before a document was cut anew: marked in the text in a way of its own,
// said in words beside it, and taken over with one key.

import { bareKeyButton, element } from "../js/dom.js";
import { joined, MOST_PASSAGES, unitsAt } from "../js/passages.js";
import { wrap } from "../js/text_places.js";
import { givenWords } from "./status.js";

/** @import { Before, Item, Passage, Spoken, Terms, ToldBefore } from "./shapes" */

const KIND = "before";
const SIGNS = "¹²³⁴⁵⁶⁷⁸⁹";

export class TransferHint {
  /**
   * @param {(selector: string) => HTMLElement} find
   * @param {Terms} terms
   * @param {(event: MouseEvent) => void} take
   */
  constructor(find, terms, take) {
    this.terms = terms;
    this.top = find(".chunk .take");
    this.list = find(".chunk .earlier");
    this.text = find(".chunk .text");
    this.chunk = find(".chunk");
    this.button = bareKeyButton("Y", "", "choice");
    this.button.addEventListener("click", take);
    this.likely = element("p", "", "likely");
    this.top.replaceChildren(this.button, this.likely);
  }

  // Say what is known of a chunk that is new on screen, and mark it.
  /** @type {(item: Item) => void} */
  show(item) {
    const { before } = item;
    for (const each of [this.top, this.list]) each.hidden = !before;
    if (!before) return;
    const words = takeWords(before, this.terms);
    this.button.hidden = !words;
    if (this.button.lastChild) this.button.lastChild.textContent = words;
    this.likely.textContent = likelyWords(before, this.terms);
    this.list.replaceChildren(
      ...before.told.map((told, i) => this.lineOf(told, signOf(before, i))),
    );
    if (before.more)
      this.list.append(element("li", this.terms.say("before.more", { n: before.more })));
    this.lookFor(item);
  }

  // Mark it and bring the first mark into sight; what was marked beyond what has come of a long text
  // is fetched, of which the card tells then.
  /** @type {(item: Item) => void} */
  lookFor(item) {
    const [first] = this.mark(item);
    if (first) this.bringIntoSight(first);
    const wanted = item.before ? passagesBefore(item.before) : [];
    const isAll = wanted.every(([, last]) => unitsAt(item.text, last) !== null);
    const way = isAll || item.more == null ? null : this.text.querySelector(".more-text button");
    if (way instanceof HTMLButtonElement) way.click();
  }

  /** @type {(told: ToldBefore, sign: string) => HTMLElement} */
  lineOf(told, sign) {
    const line = element("li");
    line.dir = "auto";
    if (sign) line.append(element("span", sign, "sign"), " ");
    line.append(toldWords(told, this.terms));
    return line;
  }

  // Mark it in the text, which was painted anew, or of which more has come.
  /** @type {(item: Item) => HTMLElement[]} */
  mark({ before, text }) {
    if (!before) return [];
    const parts = partsOf(before, text);
    const firsts = wrap(this.text, parts, KIND);
    if (firsts.length !== parts.length) return firsts; // nobody knows which is whose
    for (const [i, first] of firsts.entries()) {
      first.dataset.sign = parts[i].signs;
      const { signs } = parts[i];
      first.dataset.said = `${this.terms.say("before.marked", { signs })} `;
    }
    return firsts;
  }

  // A mark far down in a long text is what one has to read; what stands above it can be scrolled to.
  /** @type {(first: HTMLElement) => void} */
  bringIntoSight(first) {
    const [place, mark] = [this.chunk.getBoundingClientRect(), first.getBoundingClientRect()];
    const below = mark.bottom - place.bottom;
    if (below > 0) this.chunk.scrollTop += below + place.height / 2;
  }
}

// The passages that go with a grade that is taken over, in order; those that overlap are one.
/** @type {(before: Before) => Passage[]} */
export function passagesBefore(before) {
  const all = before.told.flatMap(({ passages }) => passages);
  const none = /** @type {Passage[]} */ ([]);
  return all.reduce((found, each) => joined(found, each), none).slice(0, MOST_PASSAGES);
}

// The stretches of a text that were marked before, each with the signs of those who did: where two
// marks overlap, both are at it.
/** @type {(before: Before, text: string) => { start: number, end: number, signs: string }[]} */
export function partsOf(before, text) {
  const marked = before.told.flatMap(({ passages }, i) =>
    passages.map(([first, last]) => ({ first, last, sign: signOf(before, i) })),
  );
  const edges = [...new Set(marked.flatMap(({ first, last }) => [first, last]))];
  edges.sort((a, b) => a - b);
  const found = [];
  for (const [i, edge] of edges.slice(0, -1).entries()) {
    const within = marked.filter(({ first, last }) => first <= edge && last >= edges[i + 1]);
    const [start, end] = [unitsAt(text, edge), unitsAt(text, edges[i + 1])];
    const signs = [...new Set(within.map(({ sign }) => sign))].join("");
    if (signs && start !== null && end !== null) found.push({ start, end, signs });
  }
  return found;
}

// What stands at the marks of one of those who gave something, if they marked anything.
/** @type {(before: Before, at: number) => string} */
function signOf({ told }, at) {
  if (!told[at].passages.length) return "";
  const number = told.slice(0, at).filter(({ passages }) => passages.length).length;
  return SIGNS[number] ?? "⁺";
}

/** @type {(before: Before, terms: Terms) => string} */
function takeWords(before, terms) {
  const isMarked = passagesBefore(before).length > 0;
  const { say } = terms;
  if (before.likely === null) return isMarked ? say("before.take_marks") : "";
  const grade = givenWords({ grade: before.likely }, terms);
  return say(before.likely && isMarked ? "before.take_marked" : "before.take", { grade });
}

// The server gives the reason in English.
/** @type {(before: Before, spoken: Spoken) => string} */
function likelyWords({ likely, why: reason }, { say, language }) {
  const why = language === "en" ? reason : say("before.why");
  return say(likely === null ? "before.not_likely" : "before.is_likely", { why });
}

// Whose it was, which grade, when, and what became of the words that made it.
/** @type {(told: ToldBefore, terms: Terms) => string} */
export function toldWords({ who, at, grade, passages, is_cut, elsewhere, lost }, terms) {
  const { say, day } = terms;
  const made = [];
  if (passages.length) made.push(say(is_cut ? "before.these_cut" : "before.these"));
  if (elsewhere) {
    made.push(say(made.length ? "before.others_elsewhere" : "before.words_elsewhere"));
  }
  if (lost) made.push(say(made.length ? "before.others_lost" : "before.words_lost"));
  const given = {
    who: who || say("before.file"),
    grade: givenWords({ grade }, terms),
    day: day(at),
  };
  if (!made.length) return say("before.told", given);
  const words = made.reduce((these, those) => say("before.and", { these, those }));
  return say("before.told_for", { ...given, words });
}
