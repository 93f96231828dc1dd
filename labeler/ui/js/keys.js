// Which key does what where people grade and where leads decide: the keyboard, the buttons and the
// list of keys all read these tables.

import { bareKeyButton } from "./dom.js";

/** @import { Say, Spoken } from "./shapes" */

// The keys that give a grade.
/** @type {Record<string, number>} */
export const GRADE_KEYS = { 0: 0, 1: 1, 2: 2, 3: 3, a: 0, s: 1, d: 2, f: 3 };
export const HOME_ROW = ["A", "S", "D", "F"];
// A press sooner than this after its chunk was painted was meant for the one before.
export const TOO_SOON_MS = 200;
// A key that is held down goes on from chunk to chunk, and does nothing else again.
export const HELD_KEYS = new Set(["j", "k", "arrowleft", "arrowright"]);

/** @type {Record<string, string>} */
const KEY_NAMES = { arrowleft: "←", arrowright: "→", "shift+u": "⇧ U" };

// What the keys do within a list of chunks.
/** @type {Record<string, string>} */
export const ROW_KEYS = {
  j: "next",
  arrowdown: "next",
  k: "previous",
  arrowup: "previous",
  home: "first",
  end: "last",
  "=": "gradeAsAbove",
  x: "cannotTell",
  n: "note",
  u: "takeBack",
};

// And while evidence is marked sentence by sentence.
/** @type {Record<string, string>} */
export const SENTENCE_KEYS = {
  j: "next",
  arrowdown: "next",
  arrowright: "next",
  k: "previous",
  arrowup: "previous",
  arrowleft: "previous",
  " ": "take",
  enter: "take",
  e: "leave",
  escape: "leave",
};

/**
 * Each action: its name; its keys; the key of what stands on its button, empty where it has its place
 * elsewhere; that of what it does; and where its button is. "list" is of use in a list, too, and
 * "again" goes on with every press of its button.
 * @typedef {[name: string, keys: string, hint: string, help: string, where?: string]} Row
 */

class KeyMap {
  /** @param {Row[]} table */
  constructor(table) {
    this.actions = table.map(([name, keys, hint, help, where = ""]) => {
      return { name, keys: keys.split(" "), hint, help, places: where.split(" ") };
    });
  }

  // Which action a key means; with Control (or Command) only those that every program has there.
  /** @type {(event: KeyboardEvent) => string | null} */
  actionOf({ key, ctrlKey, metaKey, shiftKey, altKey }) {
    const letter = key.toLowerCase();
    if (altKey) return null;
    if (ctrlKey || metaKey) {
      if (letter === "z") return shiftKey ? "redo" : "undo";
      return letter === "y" ? "redo" : null;
    }
    /** @type {(pressed: string) => string | undefined} */
    const by = (pressed) => this.actions.find(({ keys }) => keys.includes(pressed))?.name;
    return (shiftKey ? by(`shift+${letter}`) : undefined) ?? by(letter) ?? null;
  }

  /** @type {(name: string) => boolean} */
  isOnAList(name) {
    return this.actions.some((action) => action.name === name && action.places.includes("list"));
  }

  // One button for each action that has a hint and its place here.
  /**
   * @param {Say} say
   * @param {string} where
   * @param {(name: string, event: MouseEvent, again: boolean) => void} act
   */
  buttons(say, where, act) {
    const shown = this.actions.filter(({ hint, places }) => hint && places.includes(where));
    return shown.map(({ name, keys, hint, help, places }) => {
      const button = bareKeyButton(keyName(keys[0]), say(hint), "link");
      button.addEventListener("click", (event) => act(name, event, places.includes("again")));
      button.dataset.act = name;
      button.title = say(help);
      return button;
    });
  }
}

// Buttons stand as a "step" beside what was just given, "quick" below the grades, else in one of the
// groups of the bar.
export const GRADING = new KeyMap([
  ["undo", "u", "keys.undo", "keys.undo_help", "step list again"],
  ["redo", "shift+u", "keys.redo", "keys.redo_help", "step list again"],
  ["cannotTell", "x", "keys.cannot_tell", "keys.cannot_tell_help", "quick list"],
  ["later", "l", "keys.later", "keys.later_help", "quick"],
  ["back", "k arrowleft", "keys.back", "keys.back_help", "move again"],
  ["ahead", "j arrowright", "keys.ahead", "keys.ahead_help", "move again"],
  ["around", "c", "keys.around", "keys.around_help", "chunk"],
  ["evidence", "e", "keys.evidence", "keys.evidence_help", "chunk list"],
  ["note", "n", "keys.note", "keys.note_help", "chunk list"],
  ["marks", "m", "keys.marks", "keys.marks_help", "chunk list"],
  ["whole", "b", "keys.whole", "keys.whole_help", "pool"],
  ["find", "/", "keys.find", "keys.find_help", "pool list"],
  ["remark", "q", "keys.remark", "keys.remark_help", "pool"],
  ["mine", "g", "keys.mine", "keys.mine_help", "pool list"],
  ["guideline", "i", "keys.guideline", "keys.guideline_help", "pool list"],
  ["before", "y", "", "keys.before_help"],
  ["told", "t", "", "keys.told_help"],
  ["name", "", "keys.name", "keys.name_help", "help list"],
  ["help", "?", "keys.help", "keys.help_help", "help list"],
]);

// Buttons stand in one row below the grades.
export const ADJUDICATION = new KeyMap([
  ["undo", "u", "keys.undo", "keys.undo_help", "row"],
  ["back", "k arrowleft", "keys.back", "keys.back_help", "row"],
  ["ahead", "j arrowright", "keys.ahead", "keys.ahead_help", "row"],
  ["note", "n", "keys.note", "keys.note_help", "row"],
  ["evidence", "e", "keys.evidence", "keys.evidence_help", "row"],
]);

/** @type {(key: string) => string} */
function keyName(key) {
  return KEY_NAMES[key] ?? key.toUpperCase();
}

// The rows of the list of keys: the keys' names and what they do. A suggested grade is accepted only
// where there is one.
/** @type {(spoken: Spoken, isBefore: boolean) => [string[], string][]} */
export function keyRows({ say }, isBefore) {
  const control = /Mac|iP/.test(navigator.platform) ? "⌘" : say("keys.control");
  /** @type {(action: { name: string, keys: string[] }) => boolean} */
  const isListed = ({ name, keys }) => Boolean(keys[0]) && (name !== "before" || isBefore);
  return [
    [["0", "1", "2", "3"], say("keys.grade")],
    [HOME_ROW, say("keys.home_row")],
    ...GRADING.actions.filter(isListed).map(({ keys, help }) => {
      return /** @type {[string[], string]} */ ([keys.map(keyName), say(help)]);
    }),
    [[say("keys.space"), say("keys.page_down"), "↓"], say("keys.scroll")],
    [[`${control} Z`, `${control} ⇧ Z`], say("keys.control_z")],
    [["Esc"], say("keys.escape")],
  ];
}
