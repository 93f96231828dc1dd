// What can be done, by which keys and in which words: the keyboard, the buttons of the bar and the
// list of keys all read this one table.

import { bareKeyButton } from "../js/dom.js";
import { HOME_ROW } from "../js/grade_keys.js";

/** @import { Terms } from "./shapes" */

/** @type {Record<string, string>} */
const KEY_NAMES = { arrowleft: "←", arrowright: "→", "shift+u": "⇧ U" };

// Each action: its name; its keys; what stands on its button, empty where it has its place elsewhere;
// what it does; and where its button is: a "step" beside what was just given, "quick" below the
// grades, else in one of the groups of the bar. "list" is of use in a list, too, and "again" goes on
// with every press of its button.
// What stands in braces has the names that the team gives things.
/** @type {[name: string, keys: string, hint: string, help: string, where?: string][]} */
const TABLE = [
  ["undo", "u", "undo", "undo the last thing; press again for the one before", "step list again"],
  ["redo", "shift+u", "redo", "redo what you undid", "step list again"],
  ["cannotTell", "x", "can’t tell", "you can’t tell; say why", "quick list"],
  ["later", "l", "later", "save the {passage} for later", "quick"],
  ["back", "k arrowleft", "previous", "back through what you graded", "move again"],
  ["ahead", "j arrowright", "skip", "ahead, without grading", "move again"],
  ["around", "c", "show context", "what comes before and after the {passage}", "chunk"],
  [
    "evidence",
    "e",
    "mark evidence",
    "mark the words your grade rests on (select first, or step through sentences)",
    "chunk list",
  ],
  ["note", "n", "note", "write a note on the {passage}", "chunk list"],
  ["marks", "m", "highlight", "highlight the words of the {question}, or not", "chunk list"],
  ["whole", "b", "all {passages}", "all {passages} of this {question} in one list", "pool"],
  ["find", "/", "find", "find a {passage} that is not among these", "pool list"],
  [
    "remark",
    "q",
    "{question} problem",
    "none of these {passages} answers the {question}, or it is unclear",
    "pool",
  ],
  ["mine", "g", "my grades", "look through your grades and change them", "pool list"],
  ["guideline", "i", "how to grade", "the guideline and the scale", "pool list"],
  ["before", "y", "", "accept the suggested earlier grade and its marks"],
  ["told", "t", "", "what others gave a {passage} that you have graded"],
  ["name", "", "change name", "grade under another name", "help list"],
  ["help", "?", "all keys", "all keys and what they do", "help list"],
];

const ACTIONS = TABLE.map(([name, keys, hint, help, where = ""]) => {
  const places = where.split(" ");
  const [onList, again] = ["list", "again"].map((each) => places.includes(each));
  return { name, keys: keys.split(" "), hint, help, places, onList, again };
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

// One button for each action that has a hint and its place here.
/**
 * @param {Terms} terms
 * @param {string} where
 * @param {(name: string, event: MouseEvent, again: boolean) => void} act
 */
export function actionButtons(terms, where, act) {
  const shown = ACTIONS.filter(({ hint, places }) => hint && places.includes(where));
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
    ...ACTIONS.filter(({ keys }) => keys[0]).map(({ keys, help }) => {
      return /** @type {[string[], string]} */ ([keys.map(keyName), inTerms(help, terms)]);
    }),
    [["Space", "PgDn", "↓"], "scroll; PgUp, ↑, Home and End as everywhere"],
    [["Ctrl Z", "Ctrl ⇧ Z"], "also undo and redo"],
    [["Esc"], "leave a list, a sheet or a field"],
  ];
}
