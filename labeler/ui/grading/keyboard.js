// The keyboard: which key goes to what is open, to the text that is read, or to the chunk. A field
// keeps all its keys; what a key then does is the pad's.

import { isEditable } from "../js/dom.js";
import { GRADE_KEYS, GRADING, HELD_KEYS } from "../js/keys.js";
import { FocusByTab, isReadingKey, readOn, readsSideways } from "./reading.js";

/** @import { Pad } from "./pad" */

export class Keyboard {
  /** @param {Pad} pad */
  constructor(pad) {
    this.pad = pad;
    this.focus = new FocusByTab();
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.pressed(event);
    document.addEventListener("keydown", this.onKey, true);
  }

  dispose() {
    this.focus.dispose();
    document.removeEventListener("keydown", this.onKey, true);
  }

  /** @type {(event: KeyboardEvent) => void} */
  pressed(event) {
    const key = event.key.toLowerCase();
    if (event.repeat && !this.mayRepeat(key, event)) return;
    if (!this.pad.find(".pad").isConnected) return;
    if (this.pad.names.isAsking || document.querySelector('[role="dialog"]')) return;
    if (!this.handles(key, event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  // A held-down Enter would press the focused button again and again.
  /** @type {(key: string, event: Event) => boolean} */
  mayRepeat(key, event) {
    if (isEditable(event) || HELD_KEYS.has(key) || isReadingKey(key)) return true;
    if (this.isInPad(event)) event.preventDefault();
    return false;
  }

  /** @type {(event: Event) => boolean} */
  isInPad(event) {
    const target = event.composedPath()[0];
    return target instanceof Node && this.pad.root.contains(target);
  }

  // What is open comes first, then the chunk.
  /** @type {(key: string, event: KeyboardEvent) => boolean} */
  handles(key, event) {
    const { pad } = this;
    const hasModifier = event.ctrlKey || event.altKey || event.metaKey;
    if (pad.panel.isOpen) return !hasModifier && pad.panel.press(key, event);
    if (isEditable(event)) return false;
    if (this.focus.isByTab && readsSideways(key, event.composedPath()[0])) return false;
    const name = GRADING.actionOf(event);
    if (hasModifier) return name !== null && !pad.overlay.isOpen && pad.act(name);
    if (pad.overlay.isOpen) return this.pressedOnOverlay(key, name, event);
    if (pad.marker.isChoosing && pad.marker.press(key)) return true;
    const list = pad.list();
    if (list?.press(key, event)) return true;
    if (this.reads(key, event)) return true;
    if (list) return name !== null && GRADING.isOnAList(name) && pad.act(name);
    if (Object.hasOwn(GRADE_KEYS, key)) return pad.grade(GRADE_KEYS[key]);
    return name !== null && pad.act(name);
  }

  // Scroll what is being read; where Tab put the focus on a button, the space bar presses it.
  /** @type {(key: string, event: KeyboardEvent) => boolean} */
  reads(key, event) {
    if (!isReadingKey(key)) return false;
    const target = event.composedPath()[0];
    if (key === " " && this.focus.isByTab && target instanceof HTMLButtonElement) return false;
    if (!this.isInPad(event) && target !== document.body) return false;
    readOn(this.pad.reading, key, event);
    return true;
  }

  // The chunk is covered, so no key may grade it.
  /** @type {(key: string, name: string | null, event: KeyboardEvent) => boolean} */
  pressedOnOverlay(key, name, event) {
    const { overlay } = this.pad;
    if (key === "escape" || name === overlay.name) overlay.close();
    else if (this.reads(key, event)) return true;
    return key.length === 1 && key !== " " ? true : key === "escape";
  }
}
