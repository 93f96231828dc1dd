// What can be done, by which keys and in which words: the keyboard, the buttons of the bar and the
// list of keys all read this one table.

import { bareKeyButton } from "../js/dom.js";
import { HOME_ROW } from "../js/grade_keys.js";

/** @import { Spoken, Terms } from "./shapes" */

/** @type {Record<string, string>} */
const KEY_NAMES = { arrowleft: "←", arrowright: "→", "shift+u": "⇧ U" };

// Each action: its name; its keys; the key of what stands on its button, empty where it has its place
// elsewhere; that of what it does; and where its button is: a "step" beside what was just given,
// "quick" below the grades, else in one of the groups of the bar. "list" is of use in a list, too, and
// "again" goes on with every press of its button.
/** @type {[name: string, keys: string, hint: string, help: string, where?: string][]} */
const TABLE = [
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

// One button for each action that has a hint and its place here.
/**
 * @param {Terms} terms
 * @param {string} where
 * @param {(name: string, event: MouseEvent, again: boolean) => void} act
 */
export function actionButtons(terms, where, act) {
  const shown = ACTIONS.filter(({ hint, places }) => hint && places.includes(where));
  return shown.map(({ name, keys, hint, help, again }) => {
    const button = bareKeyButton(keyName(keys[0]), terms.say(hint), "link");
    button.addEventListener("click", (event) => act(name, event, again));
    button.dataset.act = name;
    button.title = terms.say(help);
    return button;
  });
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
    ...ACTIONS.filter(isListed).map(({ keys, help }) => {
      return /** @type {[string[], string]} */ ([keys.map(keyName), say(help)]);
    }),
    [[say("keys.space"), say("keys.page_down"), "↓"], say("keys.scroll")],
    [[`${control} Z`, `${control} ⇧ Z`], say("keys.control_z")],
    [["Esc"], say("keys.escape")],
  ];
}
