// The bar at the bottom: four grades, what was just given with its undo, and what else can be done.
// Always at one place, whatever is above it.

import { element, finderIn, isSamePlace } from "../js/dom.js";
import { GRADING, HOME_ROW, TOO_SOON_MS } from "../js/keys.js";

/** @import { Standing, Terms } from "./shapes" */

/**
 * @typedef {{
 *   grade: (grade: number) => void,
 *   act: (name: string) => void,
 *   tooSoon: () => void,
 *   opened: () => void,
 * }} Acts
 */

export class Bar {
  /**
   * @param {ParentNode} root
   * @param {Terms} terms
   * @param {Acts} acts
   */
  constructor(root, terms, acts) {
    this.find = finderIn(root);
    this.terms = terms;
    this.acts = acts;
    this.sayings = 0;
    this.paintedAt = 0; // when what the grades are about came on screen
    /** @type {(name: string, event: MouseEvent, mayRepeat: boolean) => void} */
    const act = (name, event, mayRepeat) => {
      this.showMore(false);
      if (mayRepeat) this.aimedAmong(event, () => acts.act(name));
      else if (event.detail <= 1) acts.act(name);
    };
    this.pressedAt = { x: -1, y: -1 }; // where the last press among many buttons was
    this.buttons = terms.words.map((_, grade) => this.gradeButton(grade));
    this.find(".grades").replaceChildren(...this.buttons);
    this.find(".steps").replaceChildren(...GRADING.buttons(terms.say, "step", act));
    this.find(".quick").replaceChildren(...GRADING.buttons(terms.say, "quick", act));
    const groups = ["move", "chunk", "pool", "help"].map((where) => {
      const group = element("div", "", "group");
      group.append(...GRADING.buttons(terms.say, where, act));
      return group;
    });
    this.find(".actions").replaceChildren(...groups);
    this.find(".more").onclick = () => this.showMore(!this.isMoreShown);
  }

  /** @type {(grade: number) => HTMLButtonElement} */
  gradeButton(grade) {
    const { words, meanings, colours, say } = this.terms;
    const button = element("button", "", "grade");
    button.type = "button";
    const meaning = element("small", meanings[grade], "meaning");
    meaning.id = `meaning-${grade}`;
    const said = element("span", "", "word");
    said.append(words[grade]);
    button.append(element("kbd", grade, "digit"), " ", said, meaning);
    button.title = say("bar.or", { digit: grade, letter: HOME_ROW[grade] });
    button.setAttribute("aria-label", `${grade} ${words[grade]}`);
    button.setAttribute("aria-describedby", meaning.id);
    button.style.setProperty("--grade", `var(--grade-${grade}, ${colours[grade]})`);
    button.style.setProperty("--on-grade", `var(--on-grade-${grade}, #10202e)`);
    button.style.setProperty("--place", String(grade));
    button.addEventListener("click", (event) => {
      this.showMore(false);
      this.aimed(event, () => this.acts.grade(grade));
    });
    return button;
  }

  // Act on a press, unless it was meant for what was there before. A key has no wait, nor has a
  // button pressed by one: then nothing was aimed at.
  /** @type {(event: MouseEvent, act: () => void) => void} */
  aimed(event, act) {
    const isByPointer = event.detail > 0;
    if (isByPointer && event.timeStamp - this.paintedAt < TOO_SOON_MS) this.acts.tooSoon();
    else act();
  }

  // The same among many buttons, which move: a press at another place than the last was aimed.
  /** @type {(event: MouseEvent, act: () => void) => void} */
  aimedAmong(event, act) {
    const wasHere = isSamePlace(event, this.pressedAt);
    this.pressedAt = { x: event.x, y: event.y };
    if (wasHere) this.aimed(event, act);
    else act();
  }

  // Something else is on screen from the next frame on.
  lookAnew() {
    this.paintedAt = Number.POSITIVE_INFINITY;
    requestAnimationFrame(() => {
      this.paintedAt = performance.now();
    });
  }

  /** @type {(done: Standing | null, isList: boolean) => void} */
  paint(done, isList) {
    for (const [grade, button] of this.buttons.entries()) {
      const given = done?.kind === "grade" && done.grade === grade;
      button.setAttribute("aria-pressed", String(given));
    }
    this.press("cannotTell", done?.kind === "cannot_tell");
    const all = this.find(".bar").querySelectorAll("button[data-act]");
    // out of use, but in its place: the grades must not move
    for (const button of all) {
      if (!(button instanceof HTMLButtonElement) || button.closest(".steps")) continue;
      button.disabled = isList && !GRADING.isOnAList(button.dataset.act ?? "");
    }
  }

  // Show an action as on or off.
  /** @type {(name: string, isOn: boolean) => void} */
  press(name, isOn) {
    this.find(`.bar [data-act="${name}"]`).setAttribute("aria-pressed", String(isOn));
  }

  /** @type {(canUndo: boolean, canRedo: boolean) => void} */
  paintSteps(canUndo, canRedo) {
    this.find('.steps [data-act="undo"]').toggleAttribute("disabled", !canUndo);
    this.find('.steps [data-act="redo"]').toggleAttribute("disabled", !canRedo);
  }

  // Say beside the buttons what was just done.
  /** @type {(words: string) => void} */
  say(words) {
    this.sayings += 1;
    this.find(".said-line .said").textContent = words;
  }

  get saying() {
    return this.find(".said-line .said").textContent;
  }

  get isMoreShown() {
    return this.find(".more").getAttribute("aria-expanded") === "true";
  }

  // On a phone everything but the grades waits behind one button.
  /** @type {(isShown: boolean) => void} */
  showMore(isShown) {
    this.find(".more").setAttribute("aria-expanded", String(isShown));
    this.find(".actions").classList.toggle("open", isShown);
    if (isShown) this.acts.opened();
  }
}
