// One row of a list of chunks: its pair, what stands for it, and how it looks, folded or open. What
// its buttons do comes from outside.

import { element, keyButton } from "../js/dom.js";
import { evidenceWords } from "../js/marker.js";
import { paintMarked, paintText } from "../js/text_paint.js";
import { briefOf } from "../js/text_shape.js";
import { noteWords } from "./drafts.js";
import { offerMore } from "./read_on.js";
import { givenWords } from "./status.js";

/** @import { Marks } from "../js/text_marks" */
/** @import { Item, ListDesk, Say, Standing } from "./shapes" */

const SNIPPET = 280; // characters: two lines of a row are never more

/**
 * What the buttons of a row do.
 * @typedef {{
 *   open: (row: ChunkRow) => void,
 *   grade: (event: MouseEvent, grade: number, row: ChunkRow) => void,
 *   gradeAsAbove: () => void,
 *   cannotTell: () => void,
 *   note: () => void,
 * }} RowActs
 */

export class ChunkRow {
  /**
   * @param {Item} item
   * @param {number} index
   * @param {{ desk: ListDesk, marks: Marks, acts: RowActs, asked?: string }} around
   */
  constructor(item, index, { desk, marks, acts, asked = "" }) {
    this.item = item;
    this.index = index;
    this.desk = desk;
    this.marks = marks;
    this.acts = acts;
    this.asked = element("span", asked, "asked");
    this.asked.dir = "auto";
    this.asked.hidden = !asked;
    const waiting = desk.latest(item);
    /** @type {Standing | null} */
    this.done = (waiting === undefined ? item.judged : waiting) ?? null;
    this.saved = !waiting;
    this.firstId = this.done?.event_id; // what stood when the list was fetched
    this.wasStale = item.stale;
    this.isTwin = item.group != null && item.group !== index;
    this.isBuilt = false; // the part that only the current row shows
    this.host = element("li", "", this.isTwin ? "row twin" : "row");
    this.badge = element("span");
    this.words = element("span", "", "words");
    this.name = element("span", "", "name");
    this.snippet = element("span", "", "snippet");
    this.text = element("div", "", "text");
    this.tools = toolbar(desk.terms.say);
    this.said = element("p", "", "said");
    for (const part of [this.name, this.snippet, this.text, this.said]) part.dir = "auto";
    this.open = keyButton("", "", () => acts.open(this), "open");
    this.grades = this.gradeButtons();
    this.asAbove = keyButton("=", desk.terms.say("row.as_above"), () => acts.gradeAsAbove());
    this.full = element("div", "", "full");
    this.build();
  }

  // Not graded yet, or graded with another text than it has now.
  get isOpen() {
    return !this.done || this.item.stale;
  }

  build() {
    const top = element("span", "", "top");
    top.append(this.name, this.words);
    this.open.replaceChildren(this.asked, top, this.snippet);
    this.host.append(this.badge, this.open, this.grades, this.full);
    this.paintBrief();
    this.paint(false);
  }

  gradeButtons() {
    const group = element("div", "", "marks");
    const { say } = this.desk.terms;
    const { title } = this.item;
    group.setAttribute("role", "group");
    const label = title === null ? say("row.grade_this") : say("row.grade", { title });
    group.setAttribute("aria-label", label);
    for (const [grade, word] of this.desk.terms.words.entries()) {
      const button = element("button", grade);
      button.type = "button";
      button.title = word;
      button.setAttribute("aria-label", `${grade}, ${word}`);
      button.style.setProperty("--grade", this.desk.terms.colours[grade]);
      button.addEventListener("click", (event) => this.acts.grade(event, grade, this));
      group.append(button);
    }
    return group;
  }

  // What stands for it now.
  /** @type {(done: Standing | null) => void} */
  put(done) {
    this.done = done;
    this.item.replaces = done?.event_id ?? null;
    this.item.stale = this.wasStale && (!done || done.event_id === this.firstId);
  }

  // --- painting -------------------------------------------------------------------------------

  // The words of the query are marked, or are not any more.
  repaint() {
    this.paintBrief();
    if (this.isBuilt) this.paintText();
  }

  paintBrief() {
    this.write(this.name, this.item.title ?? "");
    this.write(this.snippet, briefOf(this.item.text.slice(0, 4 * SNIPPET), SNIPPET));
  }

  /** @type {(host: HTMLElement, text: string) => void} */
  write(host, text) {
    if (this.desk.marking()) paintMarked(host, text, this.marks);
    else host.textContent = text;
  }

  /** @type {(isCurrent: boolean) => void} */
  paint(isCurrent) {
    this.host.classList.toggle("current", isCurrent);
    this.open.setAttribute("aria-expanded", String(isCurrent));
    if (isCurrent) this.open.setAttribute("aria-current", "true");
    else this.open.removeAttribute("aria-current");
    this.paintBadge();
    this.words.textContent = this.stateWords();
    const isPlain = this.words.textContent === this.desk.terms.say("row.not_graded");
    this.words.classList.toggle("plain", isPlain);
    for (const [grade, button] of [...this.grades.querySelectorAll("button")].entries()) {
      const given = this.done?.kind === "grade" && this.done.grade === grade;
      button.setAttribute("aria-pressed", String(given));
      button.tabIndex = isCurrent ? 0 : -1;
    }
    this.open.tabIndex = isCurrent ? 0 : -1;
    this.full.hidden = !isCurrent;
    if (isCurrent) this.paintFull();
  }

  paintBadge() {
    const grade = this.done?.kind === "grade" ? (this.done.grade ?? null) : null;
    this.badge.className = `badge ${grade === null ? "hollow" : `g${grade}`}`;
    this.badge.style.setProperty("--grade", grade === null ? "" : this.desk.terms.colours[grade]);
    this.badge.textContent = grade === null ? (this.done ? "?" : "") : String(grade);
    this.badge.ariaHidden = "true"; // the words beside it say the same
  }

  // What only the current row shows: the whole text, its note, and what else can be done.
  paintFull() {
    if (!this.isBuilt) this.buildFull();
    this.said.textContent = noteWords(this.desk.draftOf(this.item), this.done, this.desk.terms);
    this.desk.painted(this);
  }

  buildFull() {
    this.isBuilt = true;
    const { document } = this.item;
    const from = element(
      "p",
      document ? this.desk.terms.say("card.from", { document }) : "",
      "from",
    );
    this.full.append(from, this.text, this.tools, this.said, this.actions());
    this.paintText();
  }

  paintText() {
    const { say } = this.desk.terms;
    /** @type {(host: HTMLElement, text: string) => void} */
    const paint = (host, text) =>
      paintText(host, text, this.marks, { marking: this.desk.marking(), say });
    paint(this.text, this.item.text);
    const get = (/** @type {string} */ path) => this.desk.get(path);
    const painted = () => !this.full.hidden && this.desk.painted(this);
    offerMore(this.text, this.item, { get, paint, painted, say });
    painted();
  }

  actions() {
    const line = element("div", "", "line");
    const { say } = this.desk.terms;
    if (this.isTwin) line.append(this.asAbove);
    line.append(keyButton("X", say("keys.cannot_tell"), () => this.acts.cannotTell()));
    line.append(keyButton("N", say("keys.note"), () => this.acts.note()));
    line.append(keyButton("E", say("keys.evidence"), () => this.desk.mark()));
    return line;
  }

  stateWords() {
    const { item, done, isTwin, saved } = this;
    const { terms } = this.desk;
    const { say } = terms;
    const said = [];
    if (done?.kind === "grade") said.push(terms.words[done.grade ?? 0]);
    else
      said.push(done ? givenWords({ ...done, kind: "cannot_tell" }, terms) : say("row.not_graded"));
    said.push(evidenceWords(done, this.desk.passagesOf(this), say));
    if (item.pooled) said.push(say("row.pooled"));
    else if (item.pooled === false && done)
      said.push(say(saved ? "row.by_hand_saved" : "row.by_hand"));
    if (item.copies) said.push(say("row.copies", { n: item.copies }));
    if (item.stale) said.push(say("row.stale"));
    if (isTwin) said.push(say("row.twin"));
    return said.filter(Boolean).join(" · ");
  }
}

// Where the buttons for marks are, while there are any.
/** @type {(say: Say) => HTMLElement} */
function toolbar(say) {
  const tools = element("div", "", "marker");
  tools.role = "toolbar";
  tools.ariaLabel = say("marks.name");
  tools.hidden = true;
  return tools;
}
