// What somebody reads who comes by an invitation for the first time: beside the first chunk, until
// they have understood it or given a first grade.

import { element, keyButton } from "../js/dom.js";
import { keyOf, remember, rememberedOf } from "../js/storage.js";
import { scaleOf } from "./overlay.js";

/** @import { PadData } from "./shapes" */

const WELCOMED = "labeler-welcomed";

export class Welcome {
  /**
   * @param {HTMLElement} place
   * @param {PadData} data
   * @param {{ practise: () => void, guideline: () => void }} acts
   */
  constructor(place, data, acts) {
    this.key = keyOf(WELCOMED, data);
    this.host = element("section", "", "welcome");
    this.host.setAttribute("aria-label", "Welcome");
    if (data.is_new && !rememberedOf(WELCOMED, data, false)) {
      this.host.append(...this.parts(data, acts));
      place.prepend(this.host);
    }
  }

  /** @type {(data: PadData, acts: { practise: () => void, guideline: () => void }) => HTMLElement[]} */
  parts({ grader, terms, contact }, acts) {
    const [question, passage] = [terms.question[0], terms.passage[0]];
    const what =
      `Read the ${question}, then the ${passage}, and say how well the ${passage} answers it: ` +
      "press a number on the keyboard, or its button below. The next one comes at once.";
    const how =
      "Every grade is saved by itself. You can take back as many as you like, stop when you " +
      "like, and come back to this page to go on.";
    const row = element("div", "", "row");
    row.append(
      keyButton("", "I see", () => this.close(), "primary"),
      keyButton("", "Try it on an example", acts.practise, "choice"),
      keyButton("", "How to grade", acts.guideline, "choice"),
    );
    const heading = element("h2", `Welcome, ${grader}`);
    heading.dir = "auto";
    const parts = [heading, element("p", what), scaleOf(terms), element("p", how)];
    if (contact) parts.push(element("p", `Whom to ask: ${contact}`));
    return [...parts, row];
  }

  close() {
    if (!this.host.isConnected) return;
    remember(this.key, true);
    this.host.remove();
  }
}
