// An example to try on: a question and four passages that come with the pad. Looks like grading and
// counts for nothing: nothing here is kept or sent.

import { givenWords } from "./status.js";

/** @import { About, Entry, Item, Terms } from "./shapes" */

const QUESTION = "practice";

// The grades of the passages, in the order in which they come; the words are the catalogue's, of
// another example than the default guideline has, which stands beside it.
const PASSAGES = [
  { grade: 0, title: "practice.title_0", text: "practice.text_0", why: "practice.why_0" },
  { grade: 3, title: "practice.title_3", text: "practice.text_3", why: "practice.why_3" },
  { grade: 1, title: "practice.title_1", text: "practice.text_1", why: "practice.why_1" },
  { grade: 2, title: "practice.title_2", text: "practice.text_2", why: "practice.why_2" },
];

export class Practice {
  /** @param {Terms} terms */
  constructor(terms) {
    this.terms = terms;
    /** @type {About} */
    this.about = {
      text: terms.say("practice.question"),
      reference: terms.say("practice.answer"),
      keywords: [],
      total: 0,
      left: 0,
    };
    this.at = 0;
    this.isOver = false;
    /** @type {Entry[]} */
    this.entries = PASSAGES.map(({ title, text }, number) => ({
      item: itemOf(number, terms.say(title), terms.say(text)),
      done: null,
      later: false,
      undone: null,
    }));
  }

  get current() {
    return this.entries[this.at];
  }

  // Take a grade; returns what we would have given and why. The last passage stays on screen.
  /** @type {(grade: number) => string} */
  grade(grade) {
    const { say } = this.terms;
    if (this.isOver) return say("practice.ended");
    const { grade: ours, why } = PASSAGES[this.at];
    const given = givenWords({ kind: "grade", grade }, this.terms);
    const key = grade === ours ? "practice.same" : "practice.other";
    const said = say(key, { grade: given, ours, why: say(why) });
    this.isOver = this.at === PASSAGES.length - 1;
    if (this.isOver) return `${said} ${say("practice.ended")}`;
    this.at += 1;
    return said;
  }
}

/** @type {(number: number, title: string, text: string) => Item} */
function itemOf(number, title, text) {
  const nothing = { text_hash: null, document: null, stale: false, replaces: null, slip: "" };
  return { query: QUESTION, chunk: String(number), title, text, source: "practice", ...nothing };
}
