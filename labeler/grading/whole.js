// All chunks of one query as a compact list, so that grades are given side by side. Draws the head
// and fetches; the rows do the rest. Knows nothing of tokens, storage and what is graded next.

import { marksOf } from "./marking.js";
import { element, keyButton, wordsOf } from "./parts.js";
import { Rows, RowsView } from "./rows.js";

/** @import { About, Item, ListDesk, Pair } from "./shapes" */

/** @typedef {{ items: Item[], queries: Record<string, About> }} Answer */

export class WholeQuery extends RowsView {
  /**
   * @param {HTMLElement} host
   * @param {ListDesk} desk
   */
  constructor(host, desk) {
    super(host, desk, "whole");
    this.title = element("h2");
    this.title.dir = "auto";
    this.progress = element("span", "", "progress");
    this.message = element("p", "", "message");
    this.list = element("ol", "", "rows");
    this.back = keyButton("B", "one chunk at a time", () => desk.leave());
  }

  // Show the pool of a query, beginning at `first` (a pair) or at the first open chunk.
  /** @type {(queryId: string, first: Pair | null) => Promise<void>} */
  async open(queryId, first) {
    const asked = ++this.asked;
    this.host.hidden = false;
    this.paintHead(this.desk.queryOf(queryId));
    this.message.textContent = "Fetching the chunks of this query …";
    this.back.focus({ preventScroll: true });
    this.host.scrollIntoView({ block: "nearest" });
    try {
      const answer = await this.desk.get(`/api/query?query=${encodeURIComponent(queryId)}`);
      if (asked === this.asked) this.take(answer, queryId, first);
    } catch (problem) {
      if (asked === this.asked) {
        sayTrouble(this.message, problem, () => this.open(queryId, first));
      }
    }
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

  /** @type {(query: About) => void} */
  paintHead(query) {
    const head = element("header");
    this.title.textContent = query.text;
    this.progress.textContent = "";
    this.list.replaceChildren();
    const moves = element("span");
    moves.append(element("kbd", "J"), " ", element("kbd", "K"), " move");
    const line = element("div", "", "line");
    line.append(
      this.progress,
      moves,
      keyButton("U", "undo", () => this.rows?.takeBack()),
    );
    line.append(this.back);
    head.append(this.title, line);
    this.host.replaceChildren(head, this.message, this.list);
  }

  /** @type {(answer: Answer, queryId: string, first: Pair | null) => void} */
  take(answer, queryId, first) {
    const query = answer.queries[queryId] ?? this.desk.queryOf(queryId);
    this.title.textContent = query.text; // an address may ask for a query nobody knows yet
    this.message.textContent = answer.items.length
      ? ""
      : "No chunk in this query’s pool has a text that can be read yet.";
    const rows = new Rows(this.list, this.desk, {
      onChange: () => this.paintProgress(rows),
      onEnd: () => this.back.focus({ preventScroll: true }),
    });
    this.rows = rows;
    rows.show(answer.items, marksOf(query));
    rows.begin(first);
  }

  /** @type {(rows: Rows) => void} */
  paintProgress({ graded, left, entries }) {
    const all = entries.length;
    this.progress.textContent = left
      ? `${graded} of ${all} graded by you · ${left} not yet`
      : `all ${all} graded by you`;
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
