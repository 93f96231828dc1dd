// A small menu or field over the bar: asks one thing, then goes away.

import { element, focusedBeside, giveFocusBack, isEditable, keyButton, make } from "../js/dom.js";

/** @import { Entry, Field, Question, Spoken } from "./shapes" */

export class ChoicePanel {
  /**
   * @param {HTMLElement} host
   * @param {() => void} onClose
   * @param {Spoken} spoken
   */
  constructor(host, onClose, spoken) {
    this.host = host;
    this.spoken = spoken;
    this.onClose = onClose;
    /** @type {Question["choices"]} */
    this.choices = [];
    /** @type {Question["enter"]} */
    this.enter = null;
    /** @type {HTMLInputElement | HTMLTextAreaElement | null} */
    this.input = null;
    /** @type {Field | null} */
    this.field = null;
    this.problem = element("p", "", "problem");
    this.problem.setAttribute("role", "alert");
    /** @type {Element | null} */
    this.before = null;
    /** @type {Entry | null} */
    this.about = null; // the entry it was opened for, if it is about the chunk on screen
  }

  get isOpen() {
    return !this.host.hidden;
  }

  // Offer `choices` and, with a field, something to write.
  /** @type {(question: Question) => void} */
  ask({ title, choices, field = null, enter = null, about = null }) {
    this.leave();
    this.about = about;
    this.choices = choices;
    this.enter = enter;
    this.field = field;
    const { say } = this.spoken;
    const row = element("div", "", "choices");
    for (const { key, words, act } of choices) {
      row.append(keyButton(key.toUpperCase(), words, () => this.answer(act), "choice"));
    }
    if (field?.save) row.append(keyButton("↵", field.save, () => this.entered(), "choice"));
    row.append(
      keyButton("Esc", say(field?.save ? "panel.close" : "panel.cancel"), () => this.escape()),
    );
    if (field?.save) row.append(keyButton("", say("panel.discard"), () => this.dismiss()));
    this.host.replaceChildren(element("p", title, "tray-title"));
    if (field?.save) this.host.append(this.fieldOf(field), this.problem, row);
    else this.host.append(row, ...(field ? [this.fieldOf(field), this.problem] : []));
    this.open(title);
    if (!choices.length) this.input?.focus({ preventScroll: true });
  }

  /** @type {(field: Field) => HTMLElement} */
  fieldOf({ label, help = "", touchHelp = "", value = "", save, ok, typed = () => {} }) {
    const line = element("label", "", "line");
    const isTouch = matchMedia("(pointer: coarse)").matches;
    const input = save ? element("textarea") : element("input");
    input.value = value;
    input.placeholder = isTouch ? touchHelp : help;
    input.autocomplete = "off";
    input.dir = "auto";
    input.addEventListener("input", () => {
      this.problem.textContent = "";
      typed(input.value);
    });
    this.problem.textContent = "";
    this.input = input;
    line.append(element("span", label), input);
    if (!isTouch || !ok) return line;
    return make(
      "div",
      "line",
      line,
      keyButton("", ok, () => this.entered(), "choice"),
    );
  }

  /** @type {(title: string) => void} */
  open(title) {
    this.before ??= focusedBeside(this.host);
    this.host.setAttribute("aria-label", title);
    this.host.hidden = false;
    this.host.focus({ preventScroll: true });
  }

  close() {
    if (!this.isOpen) return;
    this.host.hidden = true;
    this.host.replaceChildren();
    this.input = this.about = this.field = null;
    const before = this.before;
    this.before = null;
    this.onClose();
    giveFocusBack(before);
  }

  // Never mind: what was asked is as it was before.
  dismiss() {
    this.field?.dropped?.();
    this.close();
  }

  // What was written into a field that keeps it stays; anything else is as it was before.
  escape() {
    const { field, input } = this;
    if (!field?.save || input?.value === (field.value ?? "")) this.dismiss();
    else if (this.tooLong()) this.close();
    else this.answer(field.act ?? (() => {}));
  }

  // Something else comes instead: what was written is kept as if it had been entered.
  leave() {
    if (this.isOpen && this.field?.save && !this.tooLong())
      this.answer(this.field.act ?? (() => {}));
    else this.close();
  }

  /** @type {(act: (written: string) => void) => void} */
  answer(act) {
    if (this.refuses()) return;
    const written = this.input?.value.trim() ?? "";
    this.close();
    act(written);
  }

  tooLong() {
    const { field, input } = this;
    if (!field || !input || input.value.length <= field.max) return 0;
    return Math.max(0, Array.from(input.value.trim()).length - field.max);
  }

  // What is too long stays where it is, with a word: nothing that was typed is cut.
  refuses() {
    const over = this.tooLong();
    if (!over || !this.field) return false;
    const { max: most } = this.field;
    this.problem.textContent = this.spoken.say("panel.too_long", { over, most });
    this.input?.focus({ preventScroll: true });
    return true;
  }

  // Everything typed belongs to the panel while it is open; says whether the key did something.
  /** @type {(key: string, event: KeyboardEvent) => boolean} */
  press(key, event) {
    const isWriting = isEditable(event);
    if (key === "escape") this.escape();
    else if (isWriting) return key === "enter" && !event.shiftKey && this.entered();
    else if (key === "enter" && event.composedPath()[0] === this.host) return this.confirmed();
    else if (key === "tab" || key === "enter" || key === " ") return false;
    else this.chosen(key);
    return true;
  }

  entered() {
    if (this.field?.act) this.answer(this.field.act);
    else this.host.focus({ preventScroll: true });
    return true;
  }

  confirmed() {
    if (this.enter) this.answer(this.enter);
    return true;
  }

  /** @type {(key: string) => void} */
  chosen(key) {
    const choice = this.choices.find((each) => each.key === key);
    if (choice) this.answer(choice.act);
  }
}
