// The passages that made a decision: marked in the pair in focus as the pad marks them.

import { Marker } from "../js/marker.js";
import { pairKey } from "../js/pairs.js";
import { markedWords } from "../js/passages.js";

/** @import { Markable, Passage, Say } from "../js/shapes" */
/** @import { Marks } from "../js/pairs" */
/** @import { Case } from "./shapes" */

/** @typedef {{ query: string, chunk: string, text_hash?: string | null }} Pair */

export class Evidence {
  /**
   * `marks` are those that go with decisions still to come, `standing` gives what stands with the
   * decision on a pair, `tell` says what was just done.
   * @param {HTMLElement} root
   * @param {Marks} marks
   * @param {{ standing: (name: string) => Passage[], tell: (words: string) => void, say: Say }} hooks
   */
  constructor(root, marks, hooks) {
    this.root = root;
    this.marks = marks;
    this.hooks = hooks;
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
      say: hooks.say,
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
    return this.marks.stated(pair) ?? this.hooks.standing(pairKey(pair));
  }

  /** @type {(pair: Pair, passages: Passage[]) => void} */
  keep(pair, passages) {
    this.marks.state(pair, passages);
    this.paint();
  }

  // What a decision that is made now rests on.
  /** @type {() => { evidence?: Passage[] }} */
  given() {
    const evidence = (this.current && this.marker.given(this.current)) ?? [];
    return evidence.length ? { evidence } : {};
  }

  // Mark what is selected, or take its mark away; with nothing selected go through the sentences.
  toggle() {
    if (this.current) this.marker.toggle();
    else this.hooks.tell("There is no text to mark.");
  }

  // Something is selected that they may be about to mark: a text drawn anew would lose it.
  get isSelecting() {
    return this.marker.selected() !== null;
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
      if (current && pairKey(current.item) === pairKey(item)) current.item = item;
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
    const isNew = item && count && this.marks.stated(item) !== null;
    const marked = count
      ? [markedWords(count, this.hooks.say), isNew && "goes with your decision"]
      : [];
    this.find(".rests").textContent = words || marked.filter(Boolean).join(" · ");
  }
}
