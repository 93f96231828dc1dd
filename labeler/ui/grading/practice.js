// Examples to try on: three graded passages that a lead chose, else a question and four passages that
// come with the pad. Looks like grading and counts for nothing: nothing here is kept or sent.

import { givenWords } from "./status.js";

/** @import { Entry, Example, Item, Terms } from "./shapes" */

// The grades of the passages, in the order in which they come; the words are the catalogue's, of
// another example than the default guideline has, which stands beside it.
const PASSAGES = [
  { grade: 0, title: "practice.title_0", text: "practice.text_0", why: "practice.why_0" },
  { grade: 3, title: "practice.title_3", text: "practice.text_3", why: "practice.why_3" },
  { grade: 1, title: "practice.title_1", text: "practice.text_1", why: "practice.why_1" },
  { grade: 2, title: "practice.title_2", text: "practice.text_2", why: "practice.why_2" },
];

export class Practice {
  /**
   * @param {Terms} terms
   * @param {Example[]} chosen
   */
  constructor(terms, chosen = []) {
    this.terms = terms;
    this.examples = chosen.length ? chosen : builtIn(terms);
    this.at = 0;
    this.isOver = false;
    /** @type {Entry[]} */
    this.entries = this.examples.map((example) => ({
      item: itemOf(example),
      done: null,
      later: false,
      undone: null,
    }));
    this.abouts = this.examples.map(({ question, reference }) => ({
      text: question,
      reference,
      keywords: [],
      total: 0,
      left: 0,
    }));
  }

  get current() {
    return this.entries[this.at];
  }

  get about() {
    return this.abouts[this.at];
  }

  // Take a grade; returns what we would have given and why. The last passage stays on screen.
  /** @type {(grade: number) => string} */
  grade(grade) {
    const { say } = this.terms;
    if (this.isOver) return say("practice.ended");
    const { grade: ours, why = this.terms.meanings[ours] } = this.examples[this.at];
    const given = givenWords({ kind: "grade", grade }, this.terms);
    const key = grade === ours ? "practice.same" : "practice.other";
    const said = say(key, { grade: given, ours, why });
    this.isOver = this.at === this.examples.length - 1;
    if (this.isOver) return `${said} ${say("practice.ended")}`;
    this.at += 1;
    return said;
  }
}

/** @type {(terms: Terms) => Example[]} */
function builtIn({ say }) {
  return PASSAGES.map(({ grade, title, text, why }) => ({
    query: "",
    chunk: String(grade),
    question: say("practice.question"),
    reference: say("practice.answer"),
    grade,
    title: say(title),
    text: say(text),
    why: say(why),
  }));
}

/** @type {(example: Example) => Item} */
function itemOf({ query, chunk, title, text }) {
  const nothing = { text_hash: null, document: null, stale: false, replaces: null, slip: "" };
  return { query: `practice ${query}`, chunk, title, text, source: "practice", ...nothing };
}
