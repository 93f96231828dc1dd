// Finds a chunk that no system returned for a query, by its words, to grade it by hand.

import { element, keyButton } from "../js/dom.js";
import { marksOf } from "../js/text_marks.js";
import { ChunkRows, ChunkRowsView } from "./chunk_rows.js";
import { sayTrouble } from "./query_list.js";

/** @import { About, Item, ListDesk } from "./shapes" */

const SEARCH_AFTER_MS = 250; // a pause in typing

export class Finder extends ChunkRowsView {
  /**
   * @param {HTMLElement} host
   * @param {ListDesk} desk
   */
  constructor(host, desk) {
    super(host, desk, "finder");
    const { say } = desk.terms;
    this.help = say("find.help");
    host.setAttribute("aria-label", say("find.name"));
    /** @type {number | undefined} */
    this.timer = undefined;
    this.input = this.wordsField();
    this.message = element("p", "", "message");
    this.message.setAttribute("role", "status");
    this.list = element("ol", "", "rows");
    this.back = keyButton("Esc", say("find.back"), () => desk.leave());
  }

  // Show an input for words to find.
  /** @type {(queryId: string) => void} */
  open(queryId) {
    this.close();
    this.queryId = queryId;
    this.host.hidden = false;
    this.paintHead();
    this.input.value = "";
    this.search();
    this.input.focus({ preventScroll: true });
    this.host.scrollTop = 0;
  }

  close() {
    this.forgetSearch();
    super.close();
  }

  /** @type {(key: string, event: Event) => boolean} */
  press(key, event) {
    const name = key.toLowerCase();
    if (name === "escape" || name === "/") this.input.focus();
    else if (!this.rows?.press(name)) return false;
    event.preventDefault();
    return true;
  }

  paintHead() {
    const head = element("header");
    const line = element("div", "", "line");
    line.append(this.input, this.back);
    head.append(line, this.message);
    this.host.replaceChildren(head, this.list);
  }

  wordsField() {
    const input = element("input");
    input.type = "search";
    input.placeholder = this.desk.terms.say("find.words");
    input.maxLength = 200;
    input.setAttribute("aria-label", this.help);
    input.addEventListener("input", () => this.searchSoon());
    input.addEventListener("keydown", (event) => this.typed(event));
    return input;
  }

  /** @type {(event: KeyboardEvent) => void} */
  typed(event) {
    if (event.isComposing) return;
    if (event.key === "Escape") this.desk.leave();
    else if (event.key === "Enter") this.search();
    else if (event.key === "ArrowDown") this.rows?.moveTo(Math.max(0, this.rows.at));
    else return;
    event.preventDefault();
  }

  // --- searching ------------------------------------------------------------------------------

  searchSoon() {
    this.forgetSearch();
    this.timer = setTimeout(() => this.search(), SEARCH_AFTER_MS);
  }

  // An answer that is still under way is no longer wanted.
  forgetSearch() {
    clearTimeout(this.timer);
    this.asked += 1;
  }

  async search() {
    this.forgetSearch();
    const { asked } = this;
    const words = this.input.value.trim();
    if (!words) return this.show([], {}, this.help);
    try {
      const query = `query=${encodeURIComponent(this.queryId)}&words=${encodeURIComponent(words)}`;
      const { items, queries } = await this.desk.get(`/api/search?${query}`);
      if (asked === this.asked) this.show(items, queries, this.foundWords(items.length));
    } catch (problem) {
      if (asked === this.asked) {
        sayTrouble(this.message, problem, () => this.search(), this.desk.terms.say);
      }
    }
  }

  /** @type {(items: Item[], queries: Record<string, About>, words: string) => void} */
  show(items, queries, words) {
    this.message.textContent = words;
    this.rows = new ChunkRows(this.list, this.desk, {
      onTop: () => this.input.focus(),
      onEnd: () => this.back.focus({ preventScroll: true }),
    });
    const query = queries[this.queryId] ?? this.desk.queryOf(this.queryId);
    this.rows.show(items, marksOf({ ...query, text: `${query.text} ${this.input.value}` }));
  }

  /** @type {(count: number) => string} */
  foundWords(count) {
    const { say } = this.desk.terms;
    return count ? say("find.found", { n: count }) : say("find.nothing");
  }
}
