// A small menu or field in place of the grade buttons: asks one thing, then goes away. Knows what
// it asks and whom it tells, not what becomes of the answer.

import { element, focusedBeside, giveFocusBack, isEditable, keyButton } from "./parts.js";

/** @import { Entry, Field, Question } from "./shapes" */

export class Tray {
  /**
   * @param {HTMLElement} host
   * @param {() => void} onClose
   */
  constructor(host, onClose) {
    this.host = host;
    this.onClose = onClose;
    /** @type {Question["choices"]} */
    this.choices = [];
    /** @type {Question["enter"]} */
    this.enter = null;
    /** @type {HTMLInputElement | null} */
    this.input = null;
    /** @type {Field["act"]} */
    this.onEnter = undefined;
    /** @type {Element | null} */
    this.before = null;
    /** @type {Entry | null} */
    this.about = null; // the entry it was opened for, if it is about the chunk on screen
  }

  get isOpen() {
    return !this.host.hidden;
  }

  // Offer `choices` {key, words, act}; `field` {label, help, max, act, value} adds a line to write.
  // `enter` is what the Enter key does. Every act gets what was written.
  /** @type {(question: Question) => void} */
  ask({ title, choices, field = null, enter = null, about = null }) {
    this.about = about;
    this.choices = choices;
    this.enter = enter;
    const heading = element("p", title, "tray-title");
    const row = element("div", "", "choices");
    for (const { key, words, act } of choices) {
      row.append(keyButton(key.toUpperCase(), words, () => this.answer(act), "choice"));
    }
    const esc = keyButton("Esc", "never mind", () => this.close());
    row.append(esc);
    this.host.replaceChildren(heading, row);
    if (field) this.host.append(this.fieldOf(field));
    this.open(title);
    if (!choices.length) this.input?.focus({ preventScroll: true });
  }

  /** @type {(field: Field) => HTMLElement} */
  fieldOf({ label, help = "", max, act, value = "" }) {
    const line = element("label", "", "line");
    const input = element("input");
    Object.assign(input, { value, maxLength: max, placeholder: help, autocomplete: "off" });
    input.dir = "auto";
    this.input = input;
    this.onEnter = act;
    line.append(element("span", label), input);
    return line;
  }

  /** @type {(title: string) => void} */
  open(title) {
    this.before ??= focusedBeside(this.host);
    this.host.setAttribute("aria-label", title);
    this.host.hidden = false;
    this.host.focus({ preventScroll: true });
    this.host.scrollIntoView({ block: "nearest" });
  }

  close() {
    if (!this.isOpen) return;
    this.host.hidden = true;
    this.host.replaceChildren();
    this.input = this.about = null;
    this.onEnter = undefined;
    const before = this.before;
    this.before = null;
    this.onClose();
    giveFocusBack(before);
  }

  /** @type {(act: (written: string) => void) => void} */
  answer(act) {
    const written = this.input?.value.trim() ?? "";
    this.close();
    act(written);
  }

  // Everything typed belongs to the tray while it is open; says whether the key did something.
  /** @type {(key: string, event: Event) => boolean} */
  press(key, event) {
    if (key === "escape") this.close();
    else if (isEditable(event)) return key === "enter" && this.entered();
    else if (key === "enter" && event.composedPath()[0] === this.host) return this.confirmed();
    else if (key === "tab" || key === "enter" || key === " ") return false;
    else this.chosen(key);
    return true;
  }

  entered() {
    if (this.onEnter) this.answer(this.onEnter);
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
