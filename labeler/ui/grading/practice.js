// An example to try on: a question and four passages that come with the pad. Looks like grading and
// counts for nothing: nothing here is kept or sent.

import { givenWords } from "./status.js";

/** @import { About, Entry, Item, Terms } from "./shapes" */

const QUESTION = "practice";

/** @type {About} */
const ABOUT = {
  text: "How long do I have to send a parcel back?",
  reference: "30 days from its delivery; 14 days for sale items.",
  keywords: [],
  total: 0,
  left: 0,
};

const PASSAGES = [
  {
    title: "Delivery",
    text: "We deliver parcels from Monday to Friday between 8 and 18 h. You get a message on the day before, with a time that you can change once.",
    grade: 0,
    why: "it is about parcels, but about another matter",
  },
  {
    title: "Returns and refunds",
    text: "You can send a parcel back within 30 days of its delivery. Sale items go back within 14 days. We pay the postage, and the money is back on your card within a week.",
    grade: 3,
    why: "it answers the question by itself, the special case included",
  },
  {
    title: "Our warehouse",
    text: "Parcels that come back are opened and checked in our warehouse in Leeds. If something is missing we write to you before we pay anything back.",
    grade: 1,
    why: "it is about parcels that come back, but says nothing of how long one has",
  },
  {
    title: "Sale items",
    text: "Items from the sale can go back within 14 days, unworn and with their label. For all other items see the terms that came with your order.",
    grade: 2,
    why: "it answers the question for sale items only",
  },
];

const ENDED = "That was the example; none of it counts.";

export class Practice {
  /** @param {Terms} terms */
  constructor(terms) {
    this.terms = terms;
    this.at = 0;
    this.isOver = false;
    /** @type {Entry[]} */
    this.entries = PASSAGES.map(({ title, text }, number) => ({
      item: itemOf(number, title, text),
      done: null,
      later: false,
      undone: null,
    }));
  }

  get current() {
    return this.entries[this.at];
  }

  get about() {
    return ABOUT;
  }

  // Take a grade; returns what we would have given and why. The last passage stays on screen.
  /** @type {(grade: number) => string} */
  grade(grade) {
    if (this.isOver) return ENDED;
    const { grade: ours, why } = PASSAGES[this.at];
    const we = grade === ours ? "We, too" : `We gave ${ours}`;
    const given = givenWords({ kind: "grade", grade }, this.terms);
    const said = `You gave ${given}. ${we}: ${why}.`;
    this.isOver = this.at === PASSAGES.length - 1;
    if (this.isOver) return `${said} ${ENDED}`;
    this.at += 1;
    return said;
  }
}

/** @type {(number: number, title: string, text: string) => Item} */
function itemOf(number, title, text) {
  const nothing = { text_hash: null, document: null, stale: false, replaces: null, slip: "" };
  return { query: QUESTION, chunk: String(number), title, text, source: "practice", ...nothing };
}
