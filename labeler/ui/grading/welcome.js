// What somebody reads who has graded nothing yet: what is asked of them, the scale, and how much it
// is. The first passage comes once they have read it.

import { element, keyButton } from "../js/dom.js";
import { keyOf, remember, rememberedOf } from "../js/storage.js";
import { timeWords, USUAL_PACE } from "./progress.js";

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
    this.host.setAttribute("aria-label", data.terms.say("welcome.name"));
    this.size = element("p", "", "quiet");
    this.start = keyButton("↵", data.terms.say("welcome.start"), acts.start, "primary");
    this.isOpen = data.is_new && !rememberedOf(WELCOMED, data, false);
    this.host.hidden = true;
    if (!this.isOpen) return;
    this.host.append(...this.parts());
    place.append(this.host);
  }

  /** @type {() => HTMLElement[]} */
  parts() {
    const { grader, terms, contact, name, inviter } = this.data;
    const { say } = terms;
    const heading = element("h2", say("welcome.title", { name: grader }));
    const task = inviter
      ? say("welcome.invited", { inviter, golden_set: name })
      : say("welcome.task", { golden_set: name });
    const what = element("p", task, "lead");
    heading.dir = what.dir = "auto";
    const row = element("div", "", "row");
    row.append(
      this.start,
      keyButton("", say("welcome.practise"), this.acts.practise, "choice"),
      keyButton("", say("card.guideline"), this.acts.guideline, "choice"),
    );
    const parts = [
      heading,
      what,
      this.scale(),
      element("p", say("welcome.how"), "quiet"),
      this.size,
    ];
    if (contact) parts.push(element("p", say("welcome.contact", { contact }), "quiet"));
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
    if (!open) return;
    const { say } = this.data.terms;
    const passages_in_all = say("count.passages", { n: open });
    const questions_in_all = say("count.questions", { n: queriesTotal - queriesDone });
    const size = decision
      ? say("welcome.about", { passages_in_all })
      : say("welcome.both", { questions_in_all, passages_in_all });
    const words = say("welcome.size", { size, time: timeWords(open * USUAL_PACE, say) });
    if (this.size.textContent !== words) this.size.textContent = words;
  }

  close() {
    if (!this.isOpen) return;
    this.isOpen = false;
    remember(this.key, true);
    this.host.remove();
  }
}
