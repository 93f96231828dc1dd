// What somebody reads who has graded nothing yet: what is asked of them, the scale, and how much it
// is. The first passage comes once they have read it.

import { element, keyButton } from "../js/dom.js";
import { keyOf, remember, rememberedOf } from "../js/storage.js";
import { timeWords, USUAL_PACE } from "./progress.js";
import { counted } from "./status.js";

/** @import { PadData } from "./shapes" */
/** @import { GradingProgress } from "./progress" */

const WELCOMED = "labeler-welcomed";

export class Welcome {
  /**
   * @param {HTMLElement} place
   * @param {PadData} data
   * @param {{ start: () => void, practise: () => void, guideline: () => void }} acts
   */
  constructor(place, data, acts) {
    this.key = keyOf(WELCOMED, data);
    this.data = data;
    this.acts = acts;
    this.host = element("section", "", "welcome");
    this.host.setAttribute("aria-label", "Welcome");
    this.size = element("p", "", "quiet");
    this.start = keyButton("↵", "Start grading", acts.start, "primary");
    this.isOpen = data.is_new && !rememberedOf(WELCOMED, data, false);
    this.host.hidden = true;
    if (!this.isOpen) return;
    this.host.append(...this.parts());
    place.append(this.host);
  }

  /** @type {() => HTMLElement[]} */
  parts() {
    const { grader, terms, contact, name, inviter } = this.data;
    const [question, passage] = [terms.question[0], terms.passage[0]];
    const heading = element("h2", `Welcome, ${grader}`);
    const asks = inviter ? `${inviter} invites you to grade` : "Here you grade";
    const what = element(
      "p",
      `${asks} ${terms.passage[1]} for ${name}. You read a ${question} and a ${passage}, ` +
        `then press one key: how relevant is the ${passage}?`,
      "lead",
    );
    heading.dir = what.dir = "auto";
    const how =
      "If you can’t decide between two grades, give the lower one. Every grade is saved " +
      "automatically, and you can undo any of them.";
    const row = element("div", "", "row");
    row.append(
      this.start,
      keyButton("", "Practise on an example", this.acts.practise, "choice"),
      keyButton("", "How to grade", this.acts.guideline, "choice"),
    );
    const parts = [heading, what, this.scale(), element("p", how, "quiet"), this.size];
    if (contact) parts.push(element("p", `Questions? Ask ${contact}`, "quiet"));
    return [...parts, row];
  }

  scale() {
    const { words, meanings, colours } = this.data.terms;
    const list = element("ul", "", "given-all");
    const rows = words.map((word, grade) => {
      const row = element("li");
      row.style.setProperty("--grade", `var(--grade-${grade}, ${colours[grade]})`);
      row.style.setProperty("--on-grade", `var(--on-grade-${grade}, #10202e)`);
      const meaning = element("span", meanings[grade], "meaning");
      row.append(element("span", grade, "digit"), element("span", word, "word"), meaning);
      return row;
    });
    list.append(...rows.reverse());
    return list;
  }

  // Say how much there is to do, once that is known.
  /** @type {(progress: GradingProgress, isShown: boolean) => void} */
  paint({ open, queriesTotal, queriesDone, decision }, isShown) {
    if (!this.isOpen) return;
    const wasHidden = this.host.hidden;
    this.host.hidden = !isShown;
    if (wasHidden && isShown) this.start.focus({ preventScroll: true });
    const { question, passage } = this.data.terms;
    if (!open) return;
    const passages = counted(open, passage);
    const questions = counted(queriesTotal - queriesDone, question);
    const size = decision ? `about ${passages}` : `${questions} and ${passages}`;
    const words = `In all ${size}: ${timeWords(open * USUAL_PACE)}, in as many sittings as you like.`;
    if (this.size.textContent !== words) this.size.textContent = words;
  }

  close() {
    if (!this.isOpen) return;
    this.isOpen = false;
    remember(this.key, true);
    this.host.remove();
  }
}
