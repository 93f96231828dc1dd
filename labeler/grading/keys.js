// What can be done, by which keys and in which words: the keyboard, the hints under the chunk and
// the sheet of keys all read this one table. Knows no chunk and no grade given.

import { keyButton } from "./parts.js";

/** @type {Record<string, number>} */
export const GRADE_KEYS = { 0: 0, 1: 1, 2: 2, 3: 3, a: 0, s: 1, d: 2, f: 3 };
export const HOME_ROW = ["A", "S", "D", "F"];
/** @type {Record<string, string>} */
const KEY_NAMES = { arrowleft: "←", arrowright: "→" };

// `hint` stands on the button under the chunk; an action without one has its place elsewhere.
/** @type {{ name: string, keys: string[], hint: string, help: string }[]} */
const ACTIONS = [
  { name: "back", keys: ["k", "arrowleft"], hint: "back", help: "back through what you graded" },
  { name: "ahead", keys: ["j", "arrowright"], hint: "ahead", help: "ahead, without grading" },
  { name: "undo", keys: ["u"], hint: "undo", help: "take back your last grade, again and again" },
  { name: "cannotTell", keys: ["x"], hint: "can’t tell", help: "you cannot tell; say why" },
  { name: "later", keys: ["l"], hint: "later", help: "put the chunk off until later" },
  { name: "note", keys: ["n"], hint: "note", help: "write a note on the chunk" },
  { name: "guideline", keys: ["i"], hint: "guideline", help: "the guideline and the scale" },
  { name: "whole", keys: ["b"], hint: "whole query", help: "all chunks of this query in one list" },
  { name: "find", keys: ["/"], hint: "find", help: "find a chunk that no system returned" },
  { name: "remark", keys: ["q"], hint: "the query", help: "nothing answers it, or unclear" },
  { name: "around", keys: ["c"], hint: "around", help: "what stands before and after" },
  { name: "marks", keys: ["m"], hint: "marks", help: "mark the query’s words, or not" },
  { name: "told", keys: ["e"], hint: "", help: "what is known of a chunk you have graded" },
  { name: "help", keys: ["?"], hint: "keys", help: "this sheet" },
];

/** @type {(key: string) => string | null} */
export function actionOf(key) {
  return ACTIONS.find((action) => action.keys.includes(key))?.name ?? null;
}

/** @type {(key: string) => string} */
function keyName(key) {
  return KEY_NAMES[key] ?? key.toUpperCase();
}

// One button for each action that has a hint; `act` is called with the action's name.
/** @type {(act: (name: string) => void) => HTMLButtonElement[]} */
export function hintButtons(act) {
  return ACTIONS.filter((action) => action.hint).map((action) => {
    const button = keyButton(keyName(action.keys[0]), action.hint, () => act(action.name));
    button.dataset.act = action.name;
    button.title = action.help;
    return button;
  });
}

// The rows of the sheet of keys: the keys' names and what they do.
/** @type {() => [string[], string][]} */
export function keyRows() {
  return [
    [["0", "1", "2", "3"], "grade the chunk"],
    [HOME_ROW, "grade the chunk, fingers on the home row"],
    ...ACTIONS.map(
      ({ keys, help }) => /** @type {[string[], string]} */ ([keys.map(keyName), help]),
    ),
    [["Esc"], "leave a list, a sheet or a field"],
  ];
}
