// All chunks of one query as a compact list, so that grades are given side by side. Draws the head
// and fetches; the rows do the rest.

import { element, keyButton, wordsOf } from "../js/dom.js";
import { marksOf } from "../js/text_marks.js";
import { ChunkRows, ChunkRowsView } from "./chunk_rows.js";

/** @import { About, Item, ListDesk, Pair } from "./shapes" */

/** @typedef {{ from: number, count: number, graded: number }} Rest */
/** @typedef {{ items: Item[], queries: Record<string, About>, rest: Rest }} Answer */

/** @type {Rest} */
const NOTHING = { from: 0, count: 0, graded: 0 };

export class QueryList extends ChunkRowsView {
  /**
   * @param {HTMLElement} host
   * @param {ListDesk} desk
   */
  constructor(host, desk) {
    super(host, desk, "whole");
    const { question, passage } = desk.terms;
    host.setAttribute("aria-label", `All ${passage[1]} of this ${question[0]}`);
    /** @type {Item[]} */
    this.items = [];
    this.rest = NOTHING; // what comes after those that are shown
    this.progress = element("span", "", "progress");
    this.message = element("p", "", "message");
    this.list = element("ol", "", "rows");
    this.back = keyButton("B", `one ${passage[0]} at a time`, () => desk.leave());
    this.next = keyButton("↵", `next ${question[0]}`, () => desk.nextQuestion(), "primary");
    this.more = element("p", "", "rest");
  }

  // Show the pool of a query, beginning at `first` (a pair) or at the first open chunk.
  /** @type {(queryId: string, first: Pair | null) => Promise<void>} */
  async open(queryId, first) {
    const asked = ++this.asked;
    this.queryId = queryId;
    this.items = [];
    this.rest = NOTHING;
    this.host.hidden = false;
    this.paintHead();
    this.message.textContent = `Fetching the ${this.desk.terms.passage[1]} …`;
    this.back.focus({ preventScroll: true });
    this.host.scrollTop = 0;
    try {
      const answer = await this.desk.get(this.path());
      if (asked === this.asked) this.take(answer, first);
    } catch (problem) {
      if (asked === this.asked) {
        sayTrouble(this.message, problem, () => this.open(queryId, first));
      }
    }
  }

  path() {
    const from = this.rest.from ? `&from=${this.rest.from}` : "";
    return `/api/query?query=${encodeURIComponent(this.queryId)}${from}`;
  }

  // A long list comes in parts: put the next one below.
  async goOn() {
    const { asked, rows } = this;
    this.more.textContent = `Fetching more ${this.desk.terms.passage[1]} …`;
    try {
      const answer = await this.desk.get(this.path());
      if (asked === this.asked && rows && rows === this.rows) this.takeMore(answer, rows);
    } catch (problem) {
      if (asked === this.asked) sayTrouble(this.more, problem, () => this.goOn());
    }
  }

  /** @type {(answer: Answer, rows: ChunkRows) => void} */
  takeMore(answer, rows) {
    this.rest = answer.rest;
    this.items.push(...answer.items);
    rows.add(
      answer.items,
      marksOf(answer.queries[this.queryId] ?? this.desk.queryOf(this.queryId)),
    );
    this.paintMore();
    if (!rows.current) rows.begin();
  }

  paintMore() {
    const { count } = this.rest;
    if (count)
      this.more.replaceChildren(keyButton("", `Show more: ${count} to come`, () => this.goOn()));
    else this.more.replaceChildren();
  }

  close() {
    this.asked += 1;
    super.close();
  }

  /** @type {(key: string, event: Event) => boolean} */
  press(key, event) {
    const name = key.toLowerCase();
    if (name === "escape" || name === "b") this.desk.leave();
    else if (!this.rows?.press(name)) return false;
    event.preventDefault();
    return true;
  }

  paintHead() {
    const head = element("header");
    this.progress.textContent = "";
    this.list.replaceChildren();
    const moves = element("span", "", "moves");
    moves.append(element("kbd", "J"), " ", element("kbd", "K"), " move");
    const line = element("div", "", "line");
    this.next.hidden = true;
    line.append(this.progress, this.next, moves, this.back);
    head.append(line);
    this.more.replaceChildren();
    this.host.replaceChildren(head, this.message, this.list, this.more);
  }

  /** @type {(answer: Answer, first: Pair | null) => void} */
  take(answer, first) {
    const query = answer.queries[this.queryId] ?? this.desk.queryOf(this.queryId);
    this.items = answer.items;
    this.rest = answer.rest;
    this.message.textContent = answer.items.length
      ? ""
      : `No ${this.desk.terms.passage[0]} of this ${this.desk.terms.question[0]} can be read yet.`;
    const rows = new ChunkRows(this.list, this.desk, {
      onChange: () => this.paintProgress(rows),
      onEnd: () => (this.rest.count ? this.goOn() : this.next.focus({ preventScroll: true })),
    });
    this.rows = rows;
    rows.show(answer.items, marksOf(query));
    this.paintMore();
    rows.begin(first);
  }

  /** @type {(rows: ChunkRows) => void} */
  paintProgress({ graded: here, entries }) {
    const all = entries.length + this.rest.count;
    const graded = here + this.rest.graded;
    const left = all - graded;
    this.progress.textContent = left
      ? `${graded} of ${all} graded by you · ${left} not yet`
      : `all ${all} graded by you`;
    this.next.hidden = !all || left > 0;
  }
}

// Say in `message` that something did not come, with a button to ask again.
/** @type {(message: HTMLElement, problem: unknown, again: () => void) => void} */
export function sayTrouble(message, problem, again) {
  const name = problem instanceof Error ? problem.name : "";
  const isAway = ["TypeError", "TimeoutError"].includes(name); // how fetch says it
  const reason = isAway ? "the server cannot be reached" : wordsOf(problem);
  const words = `This could not be fetched: ${reason}. Nothing you graded is lost. `;
  message.replaceChildren(words, keyButton("", "Try again", again));
}
