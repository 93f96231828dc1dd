// The passages that made a decision: marked in the pair in focus as the pad marks them, and kept until
// the decision takes them along. Knows nothing of what is sent.

import { Marker } from "../grading/marker.js";
import { markedWords } from "../grading/passages.js";
import { nameOf } from "./hands.js";

/** @import { Markable, Passage } from "../grading/shapes" */
/** @import { Case } from "./shapes" */

/** @typedef {{ query: string, chunk: string }} Pair */

export class Evidence {
  /**
   * `standing` gives what stands with the decision on a pair, `tell` says what was just done.
   * @param {HTMLElement} root
   * @param {{ standing: (name: string) => Passage[], tell: (words: string) => void }} hooks
   */
  constructor(root, hooks) {
    this.root = root;
    this.hooks = hooks;
    /** @type {Map<string, Passage[]>} */
    this.marked = new Map(); // what goes with a decision that is still to come
    /** @type {Markable | null} */
    this.current = null; // the pair in focus, if it has a text
    this.nowhere = document.createElement("div");
    this.marker = new Marker({
      kind: "own",
      current: () => this.current,
      place: () => ({ text: this.find(".text"), tools: this.find(".marker") }),
      waiting: (item) => this.of(item),
      keep: ({ item }, passages) => this.keep(item, passages),
      write: (words) => this.say(words),
      announce: () => {}, // the line that is written to is read out
    });
  }

  dispose() {
    this.marker.dispose();
  }

  /** @type {(selector: string) => HTMLElement} */
  find(selector) {
    return this.root.querySelector(`.case ${selector}`) ?? this.nowhere;
  }

  // The passages that go with the decision on a pair: marked just now, or those that stand with it.
  /** @type {(pair: Pair) => Passage[]} */
  of(pair) {
    const name = nameOf(pair);
    return this.marked.get(name) ?? this.hooks.standing(name);
  }

  /** @type {(pair: Pair, passages: Passage[]) => void} */
  keep(pair, passages) {
    this.marked.set(nameOf(pair), passages);
    this.paint();
  }

  // What a decision that is made now rests on; it is not kept here any more.
  /** @type {(pair: Pair) => { evidence?: Passage[] }} */
  take(pair) {
    const evidence = (this.current && this.marker.given(this.current)) ?? [];
    this.marked.delete(nameOf(pair));
    return evidence.length ? { evidence } : {};
  }

  // Mark what is selected, or take its mark away; with nothing selected go through the sentences.
  toggle() {
    if (this.current) this.marker.toggle();
    else this.hooks.tell("There is no text to mark.");
  }

  /** @type {(key: string) => boolean} */
  press(key) {
    return this.marker.press(key);
  }

  // Another pair comes into focus.
  leave() {
    this.marker.leave();
  }

  // The pair in focus has been drawn anew.
  /** @type {(shown: Case | null) => void} */
  drawn(shown) {
    const { current } = this;
    if (shown?.text == null) this.current = null;
    else {
      const item = { ...shown, text: shown.text };
      if (current && nameOf(current.item) === nameOf(item)) current.item = item;
      else this.current = { item, done: null };
    }
    this.paint(true);
  }

  paint(isAnew = false) {
    if (!this.current) return;
    this.marker.paint(this.current, isAnew);
    if (!this.marker.isChoosing) this.say("");
  }

  // What the keys are at, or else what is marked.
  /** @type {(words: string) => void} */
  say(words) {
    const item = this.current?.item;
    const count = item ? this.of(item).length : 0;
    const isNew = item && count && this.marked.has(nameOf(item));
    const marked = count ? [markedWords(count), isNew && "goes with your decision"] : [];
    this.find(".rests").textContent = words || marked.filter(Boolean).join(" · ");
  }
}
