// Marking the passages that made a grade: what is selected with the mouse, the keyboard or a finger,
// or sentence by sentence with keys alone.

import { keyButton } from "./dom.js";
import { SENTENCE_KEYS } from "./keys.js";
import {
  heldIn,
  holds,
  joined,
  MOST_PASSAGES,
  markedWords,
  passageOf,
  sentencesOf,
  stretchesOf,
  toggled,
  wholeWords,
} from "./passages.js";
import { deselect, selectedIn, wrap } from "./text_places.js";

/** @import { Markable, Passage, Say, Standing } from "./shapes" */

const KIND = "evidence";

/**
 * Where a chunk is painted, and where buttons for its marks are.
 * @typedef {{ text: HTMLElement, tools: HTMLElement }} Place
 */
/**
 * `place` is where the `current` chunk is painted, `waiting` are the marks that go with a grade to
 * come. `keep` gets all passages of a chunk once they changed; `write` puts words on the line,
 * `announce` tells them to a screen reader. Marks are of a `kind`, told from others in the text.
 * @typedef {{
 *   current: () => Markable | null,
 *   place: () => Place,
 *   waiting: (item: Markable["item"]) => Passage[],
 *   keep: (entry: Markable, passages: Passage[]) => void,
 *   write: (words: string) => void,
 *   announce: (words: string) => void,
 *   say: Say,
 *   kind?: string,
 * }} Hooks
 */

/** @type {Record<string, (marker: Marker) => void>} */
const ACTS = {
  next: (marker) => marker.step(1),
  previous: (marker) => marker.step(-1),
  take: (marker) => marker.take(),
  leave: (marker) => marker.leave(),
};

export class Marker {
  /** @param {Hooks} hooks */
  constructor(hooks) {
    this.hooks = hooks;
    this.shown = ""; // what is painted of the marks, and of which chunk
    /** @type {HTMLElement | null} */
    this.shownIn = null;
    this.offered = ""; // what the buttons are for
    /** @type {HTMLElement | null} */
    this.offeredIn = null;
    /** @type {Passage | null} */
    this.held = null; // what was selected when a button was pressed, which may undo the selection
    /** @type {{ entry: Markable, text: HTMLElement, at: number, passages: Passage[], sentences: ReturnType<typeof sentencesOf> } | null} */
    this.choosing = null;
    this.onSelect = () => this.offer();
    this.onPress = () => {
      this.held = this.selected();
    };
    this.onKey = () => {
      this.held = null;
    };
    document.addEventListener("selectionchange", this.onSelect);
    window.addEventListener("pointerdown", this.onPress, true);
    window.addEventListener("keydown", this.onKey, true);
  }

  dispose() {
    document.removeEventListener("selectionchange", this.onSelect);
    window.removeEventListener("pointerdown", this.onPress, true);
    window.removeEventListener("keydown", this.onKey, true);
  }

  // --- what is marked ---------------------------------------------------------------------------

  /** @type {(entry: Markable) => Passage[]} */
  passagesOf(entry) {
    if (this.choosing?.entry === entry) return this.choosing.passages;
    return isGraded(entry) ? heldIn(entry.item, entry.done) : this.hooks.waiting(entry.item);
  }

  /** @returns {Passage | null} */
  selected() {
    const entry = this.hooks.current();
    const { text } = this.hooks.place();
    const dragged = entry && text.isConnected ? selectedIn(text) : null;
    if (!entry || !dragged) return null;
    const { start, end } = wholeWords(entry.item.text, dragged);
    return passageOf(entry.item.text, start, end);
  }

  // The passages that a grade is given with: those that are marked, and what is selected right now;
  // nothing where that is what stands already.
  /** @type {(entry: Markable) => Passage[] | undefined} */
  given(entry) {
    const present = this.passagesOf(entry);
    const isAtIt = entry === this.hooks.current();
    const selected = isAtIt ? (this.selected() ?? this.held) : null;
    this.leave();
    this.held = null;
    if (selected && present.length < MOST_PASSAGES) return joined(present, selected);
    return present.length && !isGraded(entry) ? present : undefined;
  }

  // Mark what is selected, or take its mark away; with nothing selected go through the sentences.
  toggle() {
    const entry = this.hooks.current();
    if (!entry) return;
    const selected = this.selected() ?? this.held;
    this.held = null;
    if (!selected) return this.begin(entry);
    deselect(this.hooks.place().text);
    this.keep(entry, toggled(this.passagesOf(entry), selected));
  }

  /** @type {(entry: Markable, passages: Passage[]) => void} */
  keep(entry, passages) {
    if (passages.length > MOST_PASSAGES) {
      this.say(this.hooks.say("marks.room", { n: MOST_PASSAGES }));
    } else this.hooks.keep(entry, passages);
  }

  /** @type {(words: string) => void} */
  say(words) {
    this.hooks.write(words);
    this.hooks.announce(words);
  }

  // --- sentence by sentence ---------------------------------------------------------------------

  /** @type {(entry: Markable) => void} */
  begin(entry) {
    const sentences = sentencesOf(entry.item.text);
    if (!sentences.length) return this.say(this.hooks.say("marks.nothing"));
    const passages = [...this.passagesOf(entry)];
    const [first] = stretchesOf(entry.item.text, passages.slice(0, 1));
    const at = first ? sentences.findIndex(({ end }) => end > first.start) : 0;
    const { text } = this.hooks.place();
    this.choosing = { entry, text, at: Math.max(0, at), passages, sentences };
    this.aim(`${this.hooks.say("marks.keys")} `);
  }

  get isChoosing() {
    return this.choosing !== null;
  }

  /** @type {(key: string) => boolean} */
  press(key) {
    if (!this.choosing || !Object.hasOwn(SENTENCE_KEYS, key)) return false;
    ACTS[SENTENCE_KEYS[key]](this);
    return true;
  }

  /** @type {(by: number) => void} */
  step(by) {
    if (!this.choosing) return;
    const { at, sentences } = this.choosing;
    this.choosing.at = Math.min(Math.max(at + by, 0), sentences.length - 1);
    this.aim();
  }

  // The sentence that the keys are at, as a passage.
  /** @returns {Passage | null} */
  aimedAt() {
    if (!this.choosing) return null;
    const { entry, at, sentences } = this.choosing;
    const { start, end } = sentences[at];
    return passageOf(entry.item.text, start, end);
  }

  take() {
    const passage = this.aimedAt();
    if (!this.choosing || !passage) return;
    const passages = toggled(this.choosing.passages, passage);
    if (passages.length > MOST_PASSAGES) return this.keep(this.choosing.entry, passages);
    this.choosing.passages = passages;
    this.aim();
  }

  // Show where the keys are, and say it.
  aim(before = "") {
    if (!this.choosing) return;
    const { entry, text, at, passages, sentences } = this.choosing;
    this.show(entry, text, passages, "choosing");
    const [first] = wrap(text, [sentences[at]], "aimed");
    first?.scrollIntoView({ block: "nearest" });
    const words = entry.item.text.slice(sentences[at].start, sentences[at].end);
    const { say } = this.hooks;
    const place = { at: at + 1, all: sentences.length };
    this.hooks.write(say(this.isTaken ? "marks.sentence_marked" : "marks.sentence", place));
    const aimed = say(this.isTaken ? "marks.aimed_marked" : "marks.aimed", { words });
    this.hooks.announce(`${before}${aimed}`);
    this.offer();
  }

  get isTaken() {
    const passage = this.aimedAt();
    const passages = this.choosing?.passages ?? [];
    return passage !== null && passages.some((each) => holds(each, passage));
  }

  // What was taken is kept; says nothing where nothing changed.
  leave() {
    const left = this.choosing;
    if (!left) return;
    this.choosing = null;
    wrap(left.text, [], "aimed");
    const isSame = JSON.stringify(this.passagesOf(left.entry)) === JSON.stringify(left.passages);
    if (isSame) this.hooks.write("");
    else this.keep(left.entry, left.passages);
    this.offer();
  }

  // --- painting -----------------------------------------------------------------------------------

  // Mark the passages of a chunk in its text, which may have been painted anew.
  /** @type {(entry: Markable, isAnew: boolean) => void} */
  paint(entry, isAnew) {
    if (this.choosing && this.choosing.entry !== entry) this.leave();
    if (isAnew) this.shown = "";
    if (this.choosing) this.choosing.text = this.hooks.place().text;
    if (this.choosing && isAnew) this.aim();
    else if (!this.choosing) this.show(entry, this.hooks.place().text, this.passagesOf(entry));
    this.offer();
  }

  /** @type {(entry: Markable, host: HTMLElement, passages: Passage[], how?: string) => void} */
  show(entry, host, passages, how = "") {
    const { query, chunk, text } = entry.item;
    const shown = passages.length ? JSON.stringify([query, chunk, text.length, passages, how]) : "";
    if (shown === this.shown && host === this.shownIn) return;
    [this.shown, this.shownIn] = [shown, host];
    wrap(host, stretchesOf(text, passages), this.hooks.kind ?? KIND);
  }

  // The buttons for whoever has no key at hand: while something is selected, and from sentence to
  // sentence.
  offer() {
    const entry = this.hooks.current();
    const selected = entry && !this.choosing ? this.selected() : null;
    const isMarked =
      entry && selected && this.passagesOf(entry).some((each) => holds(each, selected));
    const offered = this.choosing
      ? `choosing ${this.isTaken}`
      : selected
        ? `selected ${isMarked}`
        : "";
    const { tools } = this.hooks.place();
    if (offered === this.offered && tools === this.offeredIn) return;
    if (this.offeredIn) emptied(this.offeredIn);
    [this.offered, this.offeredIn] = [offered, tools];
    tools.hidden = !offered;
    const words = this.hooks.say(isMarked ? "marks.drop" : "marks.take");
    if (this.choosing) tools.replaceChildren(...this.choosingButtons());
    else if (selected) {
      tools.replaceChildren(keyButton("E", words, () => this.toggle(), "choice"));
    } else emptied(tools);
  }

  choosingButtons() {
    const { say } = this.hooks;
    const thisOne = say(this.isTaken ? "marks.not_this" : "marks.this");
    const buttons = [
      keyButton("K", say("marks.previous"), () => this.step(-1), "choice"),
      keyButton("J", say("marks.next"), () => this.step(1), "choice"),
      keyButton(say("keys.space"), thisOne, () => this.take(), "choice"),
      keyButton("E", say("marks.done"), () => this.leave(), "choice"),
    ];
    for (const button of buttons) button.tabIndex = -1; // each has a key
    return buttons;
  }
}

/** @type {(entry: Markable) => boolean} */
function isGraded({ done }) {
  return done?.kind === "grade";
}

/** @type {(tools: HTMLElement) => void} */
function emptied(tools) {
  tools.hidden = true;
  tools.replaceChildren();
}

// What is marked, in words, or that it cannot be found any more.
/** @type {(done: Standing | null, passages: Passage[], say: Say) => string} */
export function evidenceWords(done, passages, say) {
  const words = passages.length ? [markedWords(passages.length, say)] : [];
  if (passages.length && done?.kind !== "grade") words.push(say("marks.wait"));
  if (done?.lost) words.push(say("marks.lost"));
  return words.join(" · ");
}

// The question which words made a grade, where it is to be asked.
/** @type {(grade: number, from: number | null | undefined, marked: boolean, say: Say) => string} */
export function askWords(grade, from, marked, say) {
  return from != null && grade >= from && !marked ? say("marks.ask") : "";
}
