// An example to try on: a question and four passages that come with the pad. Looks like grading and
// counts for nothing: nothing here is kept or sent.

import { givenWords } from "./status.js";

/** @import { About, Entry, Item, Terms } from "./shapes" */

const QUESTION = "practice";

// another example than the default guideline has, which stands beside it
/** @type {About} */
const ABOUT = {
  text: "Do I need a ticket for my dog on the train?",
  reference: "Dogs in a carrier travel free; any other dog needs a ticket at half price.",
  keywords: [],
  total: 0,
  left: 0,
};

const PASSAGES = [
  {
    title: "Bicycles",
    text: "A bicycle needs a ticket of its own, which costs 6 euros a day. In July and August you also reserve a place for it, at the latest on the evening before.",
    grade: 0,
    why: "it’s about tickets, but for bicycles",
  },
  {
    title: "Travelling with animals",
    text: "Dogs in a carrier travel free. Any other dog needs a ticket at half the price of yours, and stays on a lead. Guide dogs travel free, with or without a carrier.",
    grade: 3,
    why: "it answers the question, for small and large dogs",
  },
  {
    title: "In the dining car",
    text: "Dogs stay out of the dining car, except for guide dogs. If you travel alone with a dog, our staff bring your order to your seat.",
    grade: 1,
    why: "it’s about dogs on trains, but says nothing about tickets",
  },
  {
    title: "Small pets",
    text: "A pet that travels in a carrier needs no ticket. For larger animals see the conditions that came with your booking.",
    grade: 2,
    why: "it answers the question for small dogs only",
  },
];

const ENDED = "That was the last one; nothing here was saved.";

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
    const we = grade === ours ? "Same as ours" : `We’d give it ${ours}`;
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
