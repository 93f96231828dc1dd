// Rows of chunks, one of them current and open, graded while moving up and down. Grades go out
// through the desk; knows nothing of where the chunks come from.

const ROW_KEYS = {
  j: (rows) => rows.step(1),
  arrowdown: (rows) => rows.step(1),
  k: (rows) => rows.step(-1),
  arrowup: (rows) => rows.step(-1),
  home: (rows) => rows.moveTo(0),
  end: (rows) => rows.moveTo(rows.entries.length - 1),
  "=": (rows) => rows.gradeAsAbove(),
  x: (rows) => rows.cannotTell(),
  n: (rows) => rows.note(),
  u: (rows) => rows.takeBack(),
};
const NOT_GRADED = "not graded";
const SNIPPET = 280; // characters: two lines of a row are never more

class Rows {
  constructor(list, desk, { onChange = () => {}, onTop = () => {}, onEnd = () => {} }) {
    this.list = list;
    this.desk = desk;
    this.onChange = onChange;
    this.onTop = onTop; // asked to go above the first row
    this.onEnd = onEnd; // every row is graded
    this.entries = [];
    this.trail = []; // what was given here and may be taken back: {entry, event_id}, newest last
    this.at = -1; // beyond the last row when everything is graded
  }

  get current() {
    return this.entries[this.at] ?? null;
  }

  get graded() {
    return this.entries.filter((entry) => !isOpen(entry)).length;
  }

  get left() {
    return this.entries.length - this.graded;
  }

  show(items, marks) {
    this.marks = marks;
    this.trail = [];
    this.at = -1;
    this.entries = items.map((item, index) => {
      const waiting = this.desk.latest(item);
      const done = waiting === undefined ? item.judged : waiting;
      const isTwin = item.group != null && item.group !== index;
      const firstId = done?.event_id; // what stood when the list was fetched
      return { item, index, done, firstId, wasStale: item.stale, isTwin, saved: !waiting };
    });
    this.known = new Set(this.entries.map((entry) => entry.done?.event_id));
    for (const entry of this.entries) this.build(entry);
    this.list.setAttribute("role", "list"); // without bullets some browsers forget that it is one
    this.list.replaceChildren(...this.entries.map((entry) => entry.row));
    this.onChange();
  }

  begin(first) {
    if (!this.entries.length) return;
    const asked = first ? this.entries.findIndex((e) => pairOf(e.item) === pairOf(first)) : -1;
    const open = this.entries.findIndex(isOpen);
    this.moveTo([asked, open, 0].find((index) => index >= 0));
  }

  press(name) {
    if (Object.hasOwn(GRADE_KEYS, name)) this.grade(GRADE_KEYS[name]);
    else if (Object.hasOwn(ROW_KEYS, name)) ROW_KEYS[name](this);
    else return false;
    return true;
  }

  // --- moving ---------------------------------------------------------------------------------

  step(by) {
    if (this.at + by < 0) this.onTop();
    else this.moveTo(Math.min(this.at + by, this.entries.length - 1));
  }

  moveTo(index) {
    const former = this.current;
    this.at = index;
    this.inDoubt = null;
    if (former) this.paint(former);
    const entry = this.current;
    if (!entry) return;
    this.paint(entry);
    entry.open.focus({ preventScroll: true });
    bringIntoView(entry.row);
  }

  // After a first grade the next open row; after another grade just the next row.
  goOn(wasGraded) {
    const next = this.at + 1;
    if (wasGraded) return this.moveTo(Math.min(next, this.entries.length - 1));
    const below = this.entries.findIndex((entry, index) => index >= next && isOpen(entry));
    const open = below < 0 ? this.entries.findIndex(isOpen) : below;
    if (open >= 0) return this.moveTo(open);
    this.moveTo(this.entries.length); // so that a key too many grades nothing
    this.onEnd();
    this.desk.announce(`all ${this.entries.length} graded`);
  }

  // --- grading --------------------------------------------------------------------------------

  grade(grade, entry = this.current) {
    this.give({ kind: "grade", grade, reason: null }, entry);
  }

  gradeAsAbove() {
    const above = this.entries[this.at - 1]?.done;
    if (!this.current?.isTwin) this.desk.announce("this chunk differs from the one above");
    else if (!above) this.desk.announce("the one above is not graded yet");
    else this.give({ kind: above.kind, grade: above.grade, reason: above.reason ?? null });
  }

  give(what, entry = this.current) {
    if (!entry) return;
    const wasGraded = !isOpen(entry);
    if (!wasGraded || entry.done.kind !== what.kind || entry.done.grade !== what.grade) {
      const note = entry.done?.note ?? undefined; // another grade keeps the note
      const done = this.desk.judge(entry.item, { ...what, note });
      entry.saved = false;
      this.put(entry, done);
    }
    if (entry === this.current) this.goOn(wasGraded);
  }

  cannotTell() {
    if (!this.current) return;
    this.inDoubt = this.current; // until a reason is chosen, which may never be
    this.desk.cannotTell(this.current.item);
  }

  note() {
    this.inDoubt = null;
    if (this.current) this.desk.note(this.current.item);
  }

  takeBack() {
    const stands = (step) => step.entry.done?.event_id === step.event_id;
    const at = this.trail.findLastIndex(stands);
    const entry = at < 0 ? this.current : this.trail[at].entry;
    this.trail.length = Math.max(at, 0);
    if (!entry?.done) return this.desk.announce("nothing to undo here");
    this.desk.takeBack(entry.item);
    this.moveTo(entry.index);
  }

  judged(item, done) {
    const entry = this.entries.find((each) => pairOf(each.item) === pairOf(item));
    if (!entry) return;
    const wasGraded = !isOpen(entry);
    this.put(entry, done);
    if (entry !== this.inDoubt || !done) return;
    this.inDoubt = null;
    if (entry === this.current) this.goOn(wasGraded);
  }

  // What stands for a row now.
  put(entry, done) {
    if (done && !this.known.has(done.event_id)) {
      this.known.add(done.event_id);
      this.trail.push({ entry, event_id: done.event_id });
    }
    entry.done = done;
    entry.item.replaces = done?.event_id ?? null;
    entry.item.stale = entry.wasStale && (!done || done.event_id === entry.firstId);
    this.paint(entry);
    this.onChange();
  }

  saved(eventId) {
    const entry = this.entries.find((each) => each.done?.event_id === eventId);
    if (!entry) return;
    entry.saved = true;
    this.paint(entry);
  }

  // --- painting -------------------------------------------------------------------------------

  build(entry) {
    const { item } = entry;
    const row = element("li", "", entry.isTwin ? "row twin" : "row");
    entry.badge = element("span");
    entry.words = element("span", "", "words");
    entry.name = element("span", "", "name");
    entry.snippet = element("span", "", "snippet");
    for (const part of [entry.name, entry.snippet]) part.dir = "auto";
    entry.open = keyButton("", "", () => this.moveTo(entry.index), "open");
    const top = element("span", "", "top");
    top.append(entry.name, entry.words);
    entry.open.replaceChildren(top, entry.snippet);
    entry.full = element("div", "", "full");
    entry.grades = this.gradeButtons(entry);
    row.append(entry.badge, entry.open, entry.grades, entry.full);
    entry.row = row;
    this.paintBrief(entry);
    this.paint(entry);
  }

  gradeButtons(entry) {
    const group = element("div", "", "marks");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", `Grade ${entry.item.title ?? "this chunk"}`);
    for (const [grade, word] of this.desk.words.entries()) {
      const button = element("button", grade);
      button.type = "button";
      button.title = word;
      button.setAttribute("aria-label", `${grade}, ${word}`);
      button.style.setProperty("--grade", this.desk.colours[grade]);
      onSingleClick(button, () => this.grade(grade, entry));
      group.append(button);
    }
    return group;
  }

  paintBrief({ item, name, snippet }) {
    this.write(name, item.title ?? "");
    this.write(snippet, item.text.slice(0, SNIPPET));
  }

  write(host, text) {
    if (this.desk.marking()) paintMarked(host, text, this.marks);
    else host.textContent = text;
  }

  paint(entry) {
    const { done, row } = entry;
    const isCurrent = entry === this.current;
    row.classList.toggle("current", isCurrent);
    entry.open.setAttribute("aria-expanded", isCurrent);
    if (isCurrent) entry.open.setAttribute("aria-current", "true");
    else entry.open.removeAttribute("aria-current");
    this.paintBadge(entry);
    entry.words.textContent = stateWords(entry, this.desk.words);
    entry.words.classList.toggle("plain", entry.words.textContent === NOT_GRADED);
    for (const [grade, button] of [...entry.grades.children].entries()) {
      button.setAttribute("aria-pressed", done?.kind === "grade" && done.grade === grade);
      button.tabIndex = isCurrent ? 0 : -1;
    }
    entry.open.tabIndex = isCurrent ? 0 : -1;
    entry.full.hidden = !isCurrent;
    if (isCurrent) this.paintFull(entry);
  }

  paintBadge({ badge, done }) {
    const grade = done?.kind === "grade" ? done.grade : null;
    badge.className = `badge ${grade === null ? "hollow" : `g${grade}`}`;
    badge.style.setProperty("--grade", grade === null ? "" : this.desk.colours[grade]);
    badge.textContent = grade ?? (done ? "?" : "");
    badge.ariaHidden = "true"; // the words beside it say the same
  }

  // What only the current row shows: the whole text, its note, and what else can be done.
  paintFull(entry) {
    const { full, item, done } = entry;
    if (!entry.text) {
      entry.text = element("div", "", "text");
      entry.said = element("p", "", "said");
      for (const part of [entry.text, entry.said]) part.dir = "auto";
      const from = element("p", item.document ? `from ${item.document}` : "", "from");
      full.append(from, entry.text, entry.said, this.actions(entry));
      this.paintWholeText(entry);
    }
    entry.said.textContent = done?.note ? `Note: ${done.note}` : "";
    if (entry.asAbove) entry.asAbove.disabled = !this.entries[entry.index - 1].done;
  }

  paintWholeText({ text, item }) {
    paintText(text, item.text, this.marks, { marking: this.desk.marking(), folding: true });
  }

  actions(entry) {
    const line = element("div", "", "line");
    if (entry.isTwin) {
      entry.asAbove = keyButton("=", "same grade as the one above", () => this.gradeAsAbove());
      line.append(entry.asAbove);
    }
    line.append(keyButton("X", "can’t tell", () => this.cannotTell()));
    line.append(keyButton("N", "note", () => this.note()));
    return line;
  }

  repaint() {
    for (const entry of this.entries) {
      this.paintBrief(entry);
      if (entry.text) this.paintWholeText(entry);
    }
  }
}

// Not graded yet, or graded with another text than it has now.
function isOpen({ item, done }) {
  return !done || item.stale;
}

function stateWords({ item, done, isTwin, saved }, words) {
  const said = [];
  if (done?.kind === "grade") said.push(words[done.grade]);
  else if (done) said.push(done.reason ? `can’t tell: ${done.reason}` : "can’t tell");
  else said.push(NOT_GRADED);
  if (item.pooled) said.push("in the pool");
  else if (item.pooled === false && done) said.push(`found by hand${saved ? ", saved" : ""}`);
  if (item.stale) said.push("the text changed since it was graded");
  if (isTwin) said.push("nearly the same as the one above");
  return said.join(" · ");
}

// The whole row if it fits beside what stays on top, else its beginning.
function bringIntoView(row) {
  const fits = row.offsetHeight < 0.5 * window.innerHeight;
  row.scrollIntoView({ block: fits ? "nearest" : "start" });
}

// A view of rows that takes the chunk's place: what the list of a query and the finder share.
class RowsView {
  constructor(host, desk, name) {
    this.host = host;
    this.desk = desk;
    this.rows = null;
    this.asked = 0; // how often something was fetched: an older answer is not shown
    host.classList.add(name);
    host.hidden = true;
  }

  get isOpen() {
    return !this.host.hidden;
  }

  close() {
    this.rows = null;
    this.host.hidden = true;
    this.host.replaceChildren();
  }

  judged(item, done) {
    this.rows?.judged(item, done);
  }

  saved(eventId) {
    this.rows?.saved(eventId);
  }

  repaint() {
    this.rows?.repaint();
  }
}
