// All chunks of one query as a compact list, so that grades are given side by side. Draws the head
// and fetches; the rows do the rest.

import { element, keyButton } from "../js/dom.js";
import { marksOf } from "../js/text_marks.js";
import { reasonWords } from "../js/words.js";
import { ChunkRows, ChunkRowsView } from "./chunk_rows.js";

/** @import { About, Item, ListDesk, Pair, Say } from "./shapes" */

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
    const { say } = desk.terms;
    host.setAttribute("aria-label", say("list.name"));
    /** @type {Item[]} */
    this.items = [];
    this.rest = NOTHING; // what comes after those that are shown
    this.progress = element("span", "", "progress");
    this.message = element("p", "", "message");
    this.list = element("ol", "", "rows");
    this.back = keyButton("B", say("list.one"), () => desk.leave());
    this.next = keyButton("↵", say("list.next"), () => desk.nextQuestion(), "primary");
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
    this.message.textContent = this.desk.terms.say("list.fetching");
    this.back.focus({ preventScroll: true });
    this.host.scrollTop = 0;
    try {
      const answer = await this.desk.get(this.path());
      if (asked === this.asked) this.take(answer, first);
    } catch (problem) {
      if (asked === this.asked) {
        sayTrouble(this.message, problem, () => this.open(queryId, first), this.desk.terms.say);
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
    this.more.textContent = this.desk.terms.say("list.fetching_more");
    try {
      const answer = await this.desk.get(this.path());
      if (asked === this.asked && rows && rows === this.rows) this.takeMore(answer, rows);
    } catch (problem) {
      if (asked === this.asked) {
        sayTrouble(this.more, problem, () => this.goOn(), this.desk.terms.say);
      }
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
    this.more.replaceChildren();
    if (!count) return;
    const words = this.desk.terms.say("list.more", { n: count });
    this.more.append(keyButton("", words, () => this.goOn()));
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
    moves.append(
      element("kbd", "J"),
      " ",
      element("kbd", "K"),
      ` ${this.desk.terms.say("list.move")}`,
    );
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
    this.message.textContent = answer.items.length ? "" : this.desk.terms.say("list.nothing");
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
    const { say } = this.desk.terms;
    const all = entries.length + this.rest.count;
    const graded = here + this.rest.graded;
    const left = all - graded;
    this.progress.textContent = left
      ? say("list.progress", { graded, all, left })
      : say("list.all", { n: all });
    const { count, graded: gradedBelow } = this.rest;
    const isAsked = entries.some(({ isOpen, item }) => isOpen && item.asked);
    this.next.hidden = !all || isAsked || count > gradedBelow;
  }
}

// Say in `message` that something did not come, with a button to ask again.
/** @type {(message: HTMLElement, problem: unknown, again: () => void, say: Say) => void} */
export function sayTrouble(message, problem, again, say) {
  const words = say("trouble.fetch", { reason: reasonWords(problem, say) });
  message.replaceChildren(`${words} `, keyButton("", say("trouble.again"), again));
}
