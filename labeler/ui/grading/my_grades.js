// What the grader has graded, the newest first, to look through and to change; and what they saved for
// later. Each row names its question.

import { element, keyButton } from "../js/dom.js";
import { marksOf } from "../js/text_marks.js";
import { ChunkRows, ChunkRowsView } from "./chunk_rows.js";
import { sayTrouble } from "./query_list.js";

/** @import { Item, ListDesk, OwnAnswer, Standing } from "./shapes" */

export class MyGrades extends ChunkRowsView {
  /**
   * @param {HTMLElement} host
   * @param {ListDesk} desk
   */
  constructor(host, desk) {
    super(host, desk, "mine");
    const { say } = desk.terms;
    host.setAttribute("aria-label", say("mine.title"));
    this.kind = "all";
    this.next = 0; // where the next part begins
    /** @type {Record<string, number>} */
    this.counts = {};
    this.title = element("h2", say("mine.title"));
    this.filters = element("div", "", "filters");
    this.filters.role = "group";
    this.filters.ariaLabel = say("mine.which");
    this.message = element("p", "", "message");
    this.message.role = "status";
    this.list = element("ol", "", "rows");
    this.rest = element("p", "", "rest");
    this.back = keyButton("Esc", say("mine.back"), () => desk.leave());
  }

  // The question of the row that one is at.
  get asks() {
    return this.rows?.current?.item.query ?? "";
  }

  open() {
    this.host.hidden = false;
    const head = element("header");
    const line = element("div", "", "line");
    line.append(this.title, this.filters, this.back);
    head.append(line, this.message);
    this.host.replaceChildren(head, this.list, this.rest);
    this.host.scrollTop = 0;
    this.back.focus({ preventScroll: true });
    this.show("all");
  }

  forget() {
    this.rows?.dispose();
  }

  close() {
    this.asked += 1;
    super.close();
  }

  /** @type {(key: string, event: Event) => boolean} */
  press(key, event) {
    const name = key.toLowerCase();
    if (name === "escape" || name === "g") this.desk.leave();
    else if (!this.rows?.press(name)) return false;
    event.preventDefault();
    return true;
  }

  /** @type {(kind: string) => void} */
  show(kind) {
    this.kind = kind;
    this.next = 0;
    this.forget();
    this.rows = new ChunkRows(this.list, this.desk, {
      onChange: () => this.paintFilters(),
      onJudged: (former, done) => this.recount(former, done),
      // what was graded before is corrected: the next key is for the same passage
      stays: (wasGraded) => wasGraded || kind !== "later",
      onEnd: () => this.back.focus({ preventScroll: true }),
    });
    this.rows.show([], marksOf({ text: "" }));
    this.rest.replaceChildren();
    this.message.textContent = this.desk.terms.say("mine.fetching");
    this.fetch();
  }

  async fetch() {
    const asked = ++this.asked;
    const { kind, rows } = this;
    try {
      const asksFor = kind === "later" ? "all" : kind;
      const answer = await this.desk.get(`/api/own?kind=${asksFor}&from=${this.next}`);
      if (asked === this.asked && rows && rows === this.rows) this.take(answer, rows);
    } catch (problem) {
      if (asked === this.asked) {
        sayTrouble(this.message, problem, () => this.fetch(), this.desk.terms.say);
      }
    }
  }

  /** @type {(answer: OwnAnswer, rows: ChunkRows) => void} */
  take(answer, rows) {
    this.counts = { ...answer.counts, later: this.desk.later().length };
    const isLater = this.kind === "later";
    const items = isLater ? this.desk.later() : answer.items;
    for (const item of items) this.add(item, rows, answer);
    this.next = answer.rest.from;
    this.message.textContent = rows.entries.length ? "" : this.nothing();
    this.rest.replaceChildren();
    if (answer.rest.count && !isLater) {
      const words = this.desk.terms.say("mine.more", { n: answer.rest.count });
      this.rest.append(keyButton("", words, () => this.fetch()));
    }
    if (!rows.current && rows.entries.length) rows.moveTo(0);
    this.paintFilters();
  }

  // One judgment takes the place of another.
  /** @type {(former: Standing | null, done: Standing | null) => void} */
  recount(former, done) {
    for (const kind of kindsOf(former)) this.counts[kind] = (this.counts[kind] ?? 1) - 1;
    for (const kind of kindsOf(done)) this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    this.counts.later = this.desk.later().length;
  }

  /** @type {(item: Item, rows: ChunkRows, answer: OwnAnswer) => void} */
  add(item, rows, { queries }) {
    const query = queries[item.query] ?? this.desk.queryOf(item.query);
    rows.add([item], marksOf(query), query.text);
  }

  nothing() {
    return this.desk.terms.say(this.counts.all ? "mine.none_so" : "mine.none");
  }

  // The four grades, and what one may want to look at again.
  paintFilters() {
    const { words, say, number } = this.desk.terms;
    const grades = words.map((word, grade) => ({ kind: String(grade), said: `${grade} ${word}` }));
    const offered = [
      { kind: "all", said: say("mine.all") },
      ...grades.reverse(),
      { kind: "cannot_tell", said: say("given.cannot_tell") },
      { kind: "note", said: say("mine.note") },
      { kind: "later", said: say("mine.later") },
    ];
    const buttons = offered.map(({ kind, said }) => {
      const count = this.counts[kind] ?? 0;
      const button = keyButton("", `${said} ${number(count)}`, () => this.show(kind), "");
      button.ariaPressed = String(kind === this.kind);
      button.title = `${say("count.passages", { n: count })}: ${said}`;
      return button;
    });
    const held = [...this.filters.children].indexOf(
      /** @type {Element} */ (/** @type {ShadowRoot} */ (this.host.getRootNode()).activeElement),
    );
    this.filters.replaceChildren(...buttons);
    buttons[held]?.focus({ preventScroll: true });
  }
}

// Under which choices a judgment is listed.
/** @type {(done: Standing | null) => string[]} */
function kindsOf(done) {
  if (!done) return [];
  const kind = done.kind === "grade" ? String(done.grade) : "cannot_tell";
  return ["all", kind, ...(done.note ? ["note"] : [])];
}
