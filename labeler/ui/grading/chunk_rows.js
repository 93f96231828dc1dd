// Rows of chunks, one of them current and open, graded while moving up and down. Grades go out
// through the desk.

import { element, isSamePlace } from "../js/dom.js";
import { GRADE_KEYS, ROW_KEYS } from "../js/keys.js";
import { pairKey } from "../js/pairs.js";
import { ChunkRow } from "./chunk_row.js";
import { SeenText } from "./reading.js";

/** @import { Marks } from "../js/text_marks" */
/** @import { Item, ListDesk, Pair, Said, Standing } from "./shapes" */

/** @type {Record<string, (rows: ChunkRows) => void>} */
const ACTS = {
  next: (rows) => rows.step(1),
  previous: (rows) => rows.step(-1),
  first: (rows) => rows.moveTo(0),
  last: (rows) => rows.moveTo(rows.entries.length - 1),
  gradeAsAbove: (rows) => rows.gradeAsAbove(),
  cannotTell: (rows) => rows.cannotTell(),
  note: (rows) => rows.note(),
  takeBack: (rows) => rows.takeBack(),
};

export class ChunkRows {
  /**
   * @param {HTMLElement} list
   * @param {ListDesk} desk
   * @param {{
   *   onChange?: () => void,
   *   onJudged?: (former: Standing | null, done: Standing | null) => void,
   *   onTop?: () => void,
   *   onEnd?: () => void,
   *   stays?: (wasGraded: boolean) => boolean,
   * }} hooks
   */
  constructor(list, desk, hooks) {
    const { onChange = () => {}, onJudged = () => {}, onTop = () => {}, onEnd = () => {} } = hooks;
    this.list = list;
    this.desk = desk;
    this.stays = hooks.stays ?? (() => false); // whether a grade leaves one at its row
    this.onChange = onChange;
    this.onJudged = onJudged;
    this.onTop = onTop; // asked to go above the first row
    this.onEnd = onEnd; // every row is graded
    /** @type {ChunkRow[]} */
    this.entries = [];
    /** @type {{ entry: ChunkRow, event_id: string }[]} */
    this.history = []; // what was given here and may be taken back, newest last
    /** @type {Set<string | undefined>} */
    this.known = new Set(); // events that were seen to stand for a row
    /** @type {ChunkRow | null} */
    this.inDoubt = null; // the row of which "can't tell" is being said, until a reason is chosen
    this.at = -1; // beyond the last row when everything is graded
    const scroller = list.parentElement ?? list;
    this.seen = new SeenText(scroller, () => this.current?.text ?? null);
  }

  dispose() {
    this.seen.dispose();
  }

  /** @returns {ChunkRow | null} */
  get current() {
    return this.entries[this.at] ?? null;
  }

  get graded() {
    return this.entries.filter((entry) => !entry.isOpen).length;
  }

  get left() {
    return this.entries.length - this.graded;
  }

  /** @type {(items: Item[], marks: Marks) => void} */
  show(items, marks) {
    this.history = [];
    this.at = -1;
    this.entries = [];
    this.known = new Set();
    this.list.setAttribute("role", "list"); // without bullets some browsers forget that it is one
    this.list.replaceChildren();
    this.openPressed();
    this.add(items, marks);
  }

  // Wherever on a row a pointer goes down, that row opens, even if the list has moved by the time it
  // goes up: the key that comes next is meant for that row. A pointer that moves off takes it back.
  openPressed() {
    /** @type {{ row?: ChunkRow, x: number, y: number }} */
    let pressed = { x: 0, y: 0 };
    this.list.onpointerdown = ({ target, x, y }) => {
      const row = this.entries.find(({ host }) => target instanceof Node && host.contains(target));
      pressed = { row, x, y };
    };
    this.list.onclick = (event) => {
      const { row } = pressed;
      const isOnButton = event.target instanceof Element && event.target.closest("button");
      const isMeant = isSamePlace(event, pressed) && !isOnButton;
      if (row && row !== this.current && isMeant) this.moveTo(row.index);
    };
  }

  // Put more rows below; those that are alike are named by their place among these. `asked` is their
  // question, where a list has several.
  /** @type {(items: Item[], marks: Marks, asked?: string) => void} */
  add(items, marks, asked = "") {
    const acts = {
      open: (/** @type {ChunkRow} */ row) => this.moveTo(row.index),
      grade: (
        /** @type {MouseEvent} */ event,
        /** @type {number} */ grade,
        /** @type {ChunkRow} */ row,
      ) => this.desk.aimed(event, () => this.grade(grade, row)),
      gradeAsAbove: () => this.gradeAsAbove(),
      cannotTell: () => this.cannotTell(),
      note: () => this.note(),
    };
    const around = { desk: this.desk, marks, acts, asked };
    const before = this.entries.length;
    for (const [place, item] of items.entries()) {
      if (item.group != null) item.group += before;
      this.rule(item);
      const row = new ChunkRow(item, before + place, around);
      this.entries.push(row);
      this.known.add(row.done?.event_id);
      this.list.append(row.host);
    }
    this.onChange();
  }

  // Say where what this grader is not asked for begins, and where it ends in a later part.
  /** @type {(item: Item) => void} */
  rule({ asked = true }) {
    const above = this.entries.at(-1)?.item.asked ?? true;
    if (above === asked) return;
    const words = this.desk.terms.say(asked ? "list.asked" : "list.not_asked");
    this.list.append(element("li", words, "rule"));
  }

  /** @type {(first?: Pair | null) => void} */
  begin(first) {
    if (!this.entries.length) return;
    const asked = first ? this.entries.findIndex((e) => pairKey(e.item) === pairKey(first)) : -1;
    const open = this.entries.findIndex((entry) => entry.isOpen);
    this.moveTo([asked, open].find((index) => index >= 0) ?? 0);
  }

  /** @type {(name: string) => boolean} */
  press(name) {
    if (Object.hasOwn(GRADE_KEYS, name)) this.grade(GRADE_KEYS[name]);
    else if (Object.hasOwn(ROW_KEYS, name)) ACTS[ROW_KEYS[name]](this);
    else return false;
    return true;
  }

  // --- moving ---------------------------------------------------------------------------------

  /** @type {(by: number) => void} */
  step(by) {
    if (this.at + by < 0) this.onTop();
    else this.moveTo(Math.min(this.at + by, this.entries.length - 1));
  }

  /** @type {(index: number) => void} */
  moveTo(index) {
    const former = this.current;
    this.at = index;
    this.seen.begin();
    this.inDoubt = null;
    if (former) this.paint(former);
    const entry = this.current;
    if (entry) {
      this.paint(entry);
      entry.open.focus({ preventScroll: true });
      bringIntoView(entry.host);
    }
    this.desk.moved();
  }

  // After a first grade the next open row; after another grade just the next row.
  /** @type {(wasGraded: boolean) => void} */
  goOn(wasGraded) {
    if (this.stays(wasGraded)) return;
    const next = this.at + 1;
    if (wasGraded) return this.moveTo(Math.min(next, this.entries.length - 1));
    const below = this.entries.findIndex((entry, index) => index >= next && entry.isOpen);
    const open = below < 0 ? this.entries.findIndex((entry) => entry.isOpen) : below;
    if (open >= 0) return this.moveTo(open);
    this.moveTo(this.entries.length); // so that a key too many grades nothing
    this.onEnd();
    this.desk.announce(this.desk.terms.say("list.all_graded", { n: this.entries.length }));
  }

  // --- grading --------------------------------------------------------------------------------

  /** @type {(grade: number, entry?: ChunkRow | null) => void} */
  grade(grade, entry) {
    this.give({ kind: "grade", grade, reason: null }, entry);
  }

  gradeAsAbove() {
    const above = this.entries[this.at - 1]?.done;
    const { say } = this.desk.terms;
    if (!this.current?.isTwin) this.desk.announce(say("list.differs"));
    else if (!above) this.desk.announce(say("list.above_open"));
    else this.give({ kind: above.kind, grade: above.grade, reason: above.reason ?? null });
  }

  /** @type {(what: Partial<Said>, entry?: ChunkRow | null) => void} */
  give(what, entry = this.current) {
    if (!entry) return;
    const evidence = what.kind === "grade" ? this.desk.givenWith(entry) : undefined;
    const { done, isOpen } = entry;
    if (isOpen || evidence || done?.kind !== what.kind || done?.grade !== what.grade) {
      entry.saved = false;
      this.put(entry, this.desk.judge(entry.item, { ...what, ...(evidence && { evidence }) }));
    }
    if (entry === this.current) this.goOn(!isOpen);
  }

  cannotTell() {
    if (!this.current) return;
    this.inDoubt = this.current;
    this.desk.cannotTell(this.current.item);
  }

  note() {
    this.inDoubt = null;
    if (this.current) this.desk.note(this.current.item);
  }

  takeBack() {
    const at = this.history.findLastIndex(
      ({ entry, event_id }) => entry.done?.event_id === event_id,
    );
    const entry = at < 0 ? this.current : this.history[at].entry;
    this.history.length = Math.max(at, 0);
    if (!entry?.done) return this.desk.announce(this.desk.terms.say("list.nothing_to_undo"));
    this.desk.takeBack(entry.item);
    this.moveTo(entry.index);
  }

  /** @type {(item: Pair, done: Standing | null) => void} */
  judged(item, done) {
    const entry = this.entries.find((each) => pairKey(each.item) === pairKey(item));
    if (!entry) return;
    const wasGraded = !entry.isOpen;
    this.put(entry, done);
    if (entry !== this.inDoubt || !done) return;
    this.inDoubt = null;
    if (entry === this.current) this.goOn(wasGraded);
  }

  /** @type {(entry: ChunkRow, done: Standing | null) => void} */
  put(entry, done) {
    if (done && !this.known.has(done.event_id)) {
      this.known.add(done.event_id);
      this.history.push({ entry, event_id: done.event_id });
    }
    this.onJudged(entry.done, done);
    entry.put(done);
    this.paint(entry);
    this.onChange();
    if (entry === this.current) this.desk.moved();
  }

  /** @type {(eventId: string) => void} */
  saved(eventId) {
    const entry = this.entries.find((each) => each.done?.event_id === eventId);
    if (!entry) return;
    entry.saved = true;
    this.paint(entry);
  }

  // --- painting -------------------------------------------------------------------------------

  /** @type {(entry: ChunkRow) => void} */
  paint(entry) {
    entry.paint(entry === this.current);
    entry.asAbove.disabled = !this.entries[entry.index - 1]?.done;
  }

  repaint() {
    for (const entry of this.entries) entry.repaint();
  }
}

// The whole row if it fits beside what stays on top, else its beginning.
/** @type {(row: HTMLElement) => void} */
function bringIntoView(row) {
  const fits = row.offsetHeight < 0.5 * window.innerHeight;
  row.scrollIntoView({ block: fits ? "nearest" : "start" });
}

// A view of rows that takes the chunk's place: what the list of a query and the finder share.
export class ChunkRowsView {
  /**
   * @param {HTMLElement} host
   * @param {ListDesk} desk
   * @param {string} name
   */
  constructor(host, desk, name) {
    this.host = host;
    this.desk = desk;
    this.queryId = "";
    /** @type {ChunkRows | null} */
    this.rows = null;
    this.asked = 0; // how often something was fetched: an older answer is not shown
    host.classList.add(name);
    host.hidden = true;
  }

  get isOpen() {
    return !this.host.hidden;
  }

  // The question that stands above the list.
  get asks() {
    return this.queryId;
  }

  close() {
    this.rows?.dispose();
    this.rows = null;
    this.host.hidden = true;
    this.host.replaceChildren();
  }

  /** @type {(item: Pair, done: Standing | null) => void} */
  judged(item, done) {
    this.rows?.judged(item, done);
  }

  /** @type {(eventId: string) => void} */
  saved(eventId) {
    this.rows?.saved(eventId);
  }

  repaint() {
    this.rows?.repaint();
  }
}
