// What can be done, by which keys and in which words: the keyboard, the buttons of the bar and the
// list of keys all read this one table.

import { bareKeyButton } from "../js/dom.js";
import { HOME_ROW } from "../js/grade_keys.js";

/** @import { Terms } from "./shapes" */

/** @type {Record<string, string>} */
const KEY_NAMES = { arrowleft: "←", arrowright: "→", "shift+u": "⇧ U" };

// Each action: its name; its keys; what stands on its button, empty where it has its place elsewhere;
// what it does; and where: a "step" is beside what was just given, "list" is of use in a list, too,
// and "again" goes on with every press of its button.
// What stands in braces has the names that the team gives things.
/** @type {[name: string, keys: string, hint: string, help: string, where?: string][]} */
const TABLE = [
  ["undo", "u", "undo", "take back what you did last, again and again", "step list again"],
  ["redo", "shift+u", "redo", "do again what you took back", "step list again"],
  ["back", "k arrowleft", "back", "back through what you graded", "again"],
  ["ahead", "j arrowright", "ahead", "ahead, without grading", "again"],
  ["cannotTell", "x", "can’t tell", "you cannot tell; say why", "list"],
  ["later", "l", "later", "put the {passage} off until later"],
  ["note", "n", "note", "write a note on the {passage}", "list"],
  ["guideline", "i", "how to grade", "the guideline and the scale", "list"],
  ["whole", "b", "all {passages}", "all {passages} of this {question} in one list"],
  ["find", "/", "find another", "find a {passage} that is not among these", "list"],
  ["remark", "q", "about the {question}", "nothing answers the {question}, or it is unclear"],
  ["around", "c", "text around it", "what stands before and after the {passage}"],
  ["marks", "m", "mark words", "mark the words of the {question}, or not", "list"],
  [
    "evidence",
    "e",
    "",
    "mark the words that made the grade, or not: select them before, or go through the sentences",
    "list",
  ],
  [
    "before",
    "y",
    "",
    "take the likely grade of before, with its marks; where no grade is likely, the marks alone",
  ],
  ["told", "t", "", "what others gave a {passage} that you have graded"],
  ["help", "?", "all keys", "all keys and what they do", "list"],
];

const ACTIONS = TABLE.map(([name, keys, hint, help, where = ""]) => {
  const [isStep, onList, again] = ["step", "list", "again"].map((each) => where.includes(each));
  return { name, keys: keys.split(" "), hint, help, isStep, onList, again };
});
const ON_A_LIST = new Set(ACTIONS.filter((action) => action.onList).map((action) => action.name));

// Which action a key means; with Control (or Command) only those that every program has there.
/** @type {(event: KeyboardEvent) => string | null} */
export function actionOf({ key, ctrlKey, metaKey, shiftKey, altKey }) {
  const letter = key.toLowerCase();
  if (altKey) return null;
  if (ctrlKey || metaKey) {
    if (letter === "z") return shiftKey ? "redo" : "undo";
    return letter === "y" ? "redo" : null;
  }
  const pressed = shiftKey && letter === "u" ? "shift+u" : letter;
  return ACTIONS.find((action) => action.keys.includes(pressed))?.name ?? null;
}

/** @type {(name: string) => boolean} */
export function isOnAList(name) {
  return ON_A_LIST.has(name);
}

/** @type {(key: string) => string} */
function keyName(key) {
  return KEY_NAMES[key] ?? key.toUpperCase();
}

/** @type {(text: string, terms: Terms) => string} */
function inTerms(text, { question, passage }) {
  return text
    .replace("{question}", question[0])
    .replace("{questions}", question[1])
    .replace("{passage}", passage[0])
    .replace("{passages}", passage[1]);
}

// One button for each action that has a hint and is (or is not) a step back or forth.
/**
 * @param {Terms} terms
 * @param {boolean} areSteps
 * @param {(name: string, event: MouseEvent, again: boolean) => void} act
 */
export function actionButtons(terms, areSteps, act) {
  const shown = ACTIONS.filter(({ hint, isStep }) => hint && isStep === areSteps);
  return shown.map(({ name, keys, hint, help, again }) => {
    const button = bareKeyButton(keyName(keys[0]), inTerms(hint, terms), "link");
    button.addEventListener("click", (event) => act(name, event, again));
    button.dataset.act = name;
    button.title = inTerms(help, terms);
    return button;
  });
}

// The rows of the list of keys: the keys' names and what they do.
/** @type {(terms: Terms) => [string[], string][]} */
export function keyRows(terms) {
  return [
    [["0", "1", "2", "3"], inTerms("grade the {passage}", terms)],
    [HOME_ROW, inTerms("grade the {passage}, fingers on the home row", terms)],
    ...ACTIONS.map(({ keys, help }) => {
      return /** @type {[string[], string]} */ ([keys.map(keyName), inTerms(help, terms)]);
    }),
    [["Space", "PgDn", "↓"], "read on; PgUp, ↑, Home and End as everywhere"],
    [["Ctrl Z", "Ctrl ⇧ Z"], "undo and redo, too"],
    [["Esc"], "leave a list, a sheet or a field"],
  ];
}
