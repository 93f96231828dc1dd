// The grading pad itself: hears keys and clicks, asks the sitting to act on them and shows what is
// so. Text only ever enters the page as text nodes.

const ON_A_LIST = new Set(["guideline", "marks", "help", "find", "whole"]);
const MAY_REPEAT = new Set(["j", "k", "arrowleft", "arrowright", "arrowup", "arrowdown"]);

const RENEW_AGAIN_MS = 5000;

const pads = new WeakMap();

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  let pad = pads.get(parentElement);
  if (!pad) {
    pad = new Pad(parentElement);
    pads.set(parentElement, pad);
  }
  pad.update(data, () => setTriggerValue("renew", Date.now()));
  // Streamlit calls this function again for every change of data and the returned one both then
  // and at the end; only an element that has left the page is at its end.
  return () => setTimeout(() => parentElement.isConnected || pad.dispose());
}

class Pad {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.marking = remembered(MARKS_KEY, true);
    this.tray = new Tray(this.find(".tray"), () => this.paint());
    this.sheet = new Sheet(this.find(".sheet"), () => this.paint());
    this.listen();
    this.dialogs = new MutationObserver(closeConnectionDialog);
    this.dialogs.observe(document.body, { childList: true });
  }

  listen() {
    this.onKey = (event) => this.pressed(event);
    this.onLeave = (event) => this.warnOfWaiting(event);
    document.addEventListener("keydown", this.onKey, true);
    window.addEventListener("beforeunload", this.onLeave);
    const on = (selector, act) => this.find(selector).addEventListener("click", act);
    this.find(".who").addEventListener("submit", (event) => this.nameGiven(event));
    on(".change", () => this.askName());
    on(".stay", () => this.paintWho(false));
    on(".undo-last", () => this.act("undo"));
    on(".back-last", () => this.act("back"));
    on(".look", () => showRefused(this));
    on(".guideline", () => this.act("guideline"));
  }

  dispose() {
    this.disposed = true;
    clearTimeout(this.renewTimer);
    this.sitting?.dispose();
    this.dialogs.disconnect();
    document.removeEventListener("keydown", this.onKey, true);
    window.removeEventListener("beforeunload", this.onLeave);
    pads.delete(this.root);
  }

  // --- what the page says ---------------------------------------------------------------------

  update(data, renew) {
    this.data = data;
    this.renew = renew;
    this.paintWho(data.grader === null);
    if (data.grader === null) return;
    const who = JSON.stringify([data.golden_set, data.grader, data.confined, data.query]);
    const isNew = who !== this.who;
    if (isNew) this.sitDown(who);
    this.layCard();
    this.sitting.useToken(data.token);
    this.paint();
    if (isNew && data.query !== null) this.openList(this.whole, { query: data.query });
  }

  sitDown(who) {
    this.who = who;
    this.sitting?.dispose();
    this.tray.close();
    this.sheet.close();
    this.sitting = new Sitting(this.data, {
      changed: () => this.paint(),
      counted: () => this.paintStatus(),
      renew: () => this.renewLater(),
      said: (words) => this.announce(words),
      saved: (record) => this.sayItIsSaved(record),
      judged: (item, done) => this.lists().forEach((list) => list.judged(item, done)),
    });
    this.desk = makeDesk(this);
    this.whole = new WholeQuery(this.find("section.whole"), this.desk);
    this.finder = new Finder(this.find("section.finder"), this.desk);
  }

  // The buttons stay as they are where nothing on them changes: one of them may have the focus.
  layCard() {
    const { words, colours, guideline } = this.data;
    const shown = JSON.stringify([words, colours, guideline]);
    if (shown === this.shown) return;
    this.shown = shown;
    const does = { act: (name) => this.act(name), grade: (grade) => this.grade(grade) };
    this.card = new Card(this.root, { words, colours, guideline, ...does });
    this.find('.actions [data-act="marks"]').setAttribute("aria-pressed", String(this.marking));
  }

  renewLater() {
    // at once the first time, then slowly: a page that stays forbidden must not spin
    const wait = this.renewed && Date.now() - this.renewed < 30000 ? 5000 : 0;
    this.renewed = Date.now();
    clearTimeout(this.renewTimer);
    this.renewTimer = setTimeout(() => this.renewNow(), wait);
  }

  // A token made within the same second is the same one, and then Streamlit tells nobody of it.
  renewNow() {
    if (this.disposed) return;
    this.renew();
    const isStillOut = () => this.sitting.outbox.state === "forbidden";
    this.renewTimer = setTimeout(() => isStillOut() && this.renewNow(), RENEW_AGAIN_MS);
  }

  askName() {
    this.find("#who-name").value = this.data.grader;
    this.paintWho(true);
    this.find("#who-name").select();
  }

  paintWho(asking) {
    this.asking = asking;
    this.find(".who").hidden = !asking;
    this.find(".stay").hidden = this.data.grader === null;
    this.find(".desk").classList.toggle("covered", asking);
    if (asking) this.find("#who-name").focus({ preventScroll: true });
  }

  nameGiven(event) {
    event.preventDefault();
    const name = this.find("#who-name").value.trim();
    this.renaming = true; // what waits is kept under the old name
    if (name) rememberGrader(this.data.cookie, name);
  }

  warnOfWaiting(event) {
    const outbox = this.sitting?.outbox;
    const waits = this.renaming ? outbox?.unkept.size : outbox?.waiting().length;
    if (waits) event.preventDefault();
  }

  // --- keys -----------------------------------------------------------------------------------

  pressed(event) {
    const key = event.key.toLowerCase();
    if (event.repeat && !this.mayRepeat(key, event)) return;
    if (event.ctrlKey || event.altKey || event.metaKey || !this.root.isConnected) return;
    if (this.asking || !this.sitting || document.querySelector('[role="dialog"]')) return;
    if (!this.handles(key, event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  // A held-down Enter would press the focused button again and again.
  mayRepeat(key, event) {
    if (isEditable(event) || MAY_REPEAT.has(key)) return true;
    if (this.root.contains(event.composedPath()[0])) event.preventDefault();
    return false;
  }

  handles(key, event) {
    if (this.tray.isOpen) return this.tray.press(key, event);
    if (isEditable(event)) return false;
    if (this.sheet.isOpen) return this.pressedOnSheet(key);
    const list = this.list();
    if (list?.press(key, event)) return true;
    const name = actionOf(key);
    if (list) return ON_A_LIST.has(name) && this.act(name);
    if (Object.hasOwn(GRADE_KEYS, key)) return this.grade(GRADE_KEYS[key]);
    return name !== null && this.act(name);
  }

  // The chunk is covered, so no key may grade it.
  pressedOnSheet(key) {
    if (key === "escape" || actionOf(key) === this.sheet.name) this.sheet.close();
    return key.length === 1 && key !== " " ? true : key === "escape";
  }

  // Do what a key or a button asks for; one that is about a chunk needs one on screen.
  act(name) {
    const entry = this.sitting.deck.current;
    if (entry || ACTS[name].length < 2) ACTS[name](this, entry);
    else this.announce("no chunk is on screen");
    return true;
  }

  // --- grading --------------------------------------------------------------------------------

  grade(grade) {
    const entry = this.sitting.deck.current;
    if (!entry) return false;
    const { done } = entry;
    if (done?.kind === "grade" && done.grade === grade && entry.note === null) this.step(1);
    else this.give(entry, { kind: "grade", grade });
    return true;
  }

  // Answer the chunk on screen and go on: to the next open one, or one ahead if it was answered.
  give(entry, what) {
    const wasDone = entry.done !== null;
    this.sitting.give(entry.item, { note: noteOf(entry), ...what });
    entry.note = null;
    if (wasDone) this.sitting.deck.step(1);
    else this.sitting.deck.goToNextOpen();
    this.sitting.fetchMore();
    this.paint();
    this.sayItIsKept(what);
  }

  async step(by) {
    const { sitting } = this;
    const isFirst = by < 0 && sitting.deck.at === 0;
    if (isFirst ? await sitting.bringOlder() : sitting.deck.step(by)) sitting.shownAt = performance.now();
    else this.announce(by > 0 ? "this is the last chunk there is so far" : "this is the first");
    sitting.fetchMore();
    this.paint();
  }

  // --- lists ----------------------------------------------------------------------------------

  lists() {
    return [this.whole, this.finder];
  }

  list() {
    return this.lists().find((list) => list.isOpen) ?? null;
  }

  openList(list, item) {
    this.beforeList ??= this.root.activeElement ?? null;
    for (const other of this.lists()) if (other !== list) other.close();
    list.open(item.query, list === this.whole ? item : undefined);
    this.paint();
  }

  leaveLists() {
    for (const list of this.lists()) list.close();
    if (this.sitting.deck.current?.done) this.sitting.deck.goToNextOpen();
    this.sitting.shownAt = performance.now();
    this.sitting.fetchAfterSending();
    this.paint();
    if (this.beforeList?.isConnected) this.beforeList.focus({ preventScroll: true });
    this.beforeList = null;
  }

  // --- painting -------------------------------------------------------------------------------

  paint() {
    if (this.disposed || this.data.grader === null) return;
    const { tally, deck, outbox } = this.sitting;
    const [entry, list] = [deck.current, this.list()];
    if (this.tray.about && this.tray.about !== entry) this.tray.close();
    const isNothingKnown = tally.open === null && !entry;
    const isInTrouble = outbox.isShutOut || outbox.waiting().length || this.sitting.problem;
    this.find(".desk").hidden = isNothingKnown && !isInTrouble && !list;
    this.find(".views").hidden = this.sheet.isOpen;
    this.find(".one").hidden = Boolean(list) || !entry;
    this.find(".grades").hidden = this.tray.isOpen;
    this.find(list ? ".views" : ".slot").append(...this.trayIfElsewhere(list));
    this.find(".done").hidden = Boolean(entry || list || isNothingKnown || this.sheet.isOpen);
    this.paintStatus();
    if (entry && !list) this.card.show(entry, this.sitting.queryOf(entry.item.query), this.marking);
  }

  // Moving the tray would take the focus from it, so only where it has to.
  trayIfElsewhere(list) {
    const { host } = this.tray;
    return host.parentElement.matches(list ? ".views" : ".slot") ? [] : [host];
  }

  paintDone() {
    const { tally, saved, trail, deck } = this.sitting;
    this.write(".done h2", doneTitle(tally, saved, this.data.confined));
    this.write(".done p", doneHelp(tally, saved, this.data.confined));
    this.find(".undo-last").hidden = !trail.steps.length;
    this.find(".back-last").hidden = !deck.entries.length;
  }

  paintStatus() {
    if (!this.sitting || this.disposed) return;
    const { outbox, tally, deck, saved } = this.sitting;
    const [waiting, refused] = [outbox.waiting().length, outbox.refused()];
    const state = this.find(".state");
    this.sayTroubleOnce(waiting ? outbox.state : "idle");
    state.textContent = statusWords(outbox, saved, waiting, refused.length);
    state.dataset.state = waiting ? outbox.state : "idle";
    this.write(".progress", progressWords(tally, deck.current?.item.query));
    this.paintField();
    this.paintDone();
    const others = othersWaiting(this.data.golden_set, this.data.grader);
    this.write(".trouble-words", troubleWords(this.sitting, refused, others));
    this.find(".look").hidden = !refused.length;
    this.find(".trouble").hidden = !this.find(".trouble-words").textContent;
  }

  paintField() {
    const { confined, grader, can_change_name } = this.data;
    this.write(".grader", `grading as ${grader}`);
    this.find(".change").hidden = can_change_name === false;
    this.find(".confined").hidden = !confined;
    if (!confined) return;
    this.write(".only", `only ${confined.facet} = ${confined.bucket}`);
    const everything = new URL(location.href);
    for (const name of ["facet", "bucket", confined.facet]) everything.searchParams.delete(name);
    this.find(".everything").href = everything.href;
  }

  write(selector, text) {
    const host = this.find(selector);
    if (host.textContent !== text) host.textContent = text;
  }

  // --- saying ---------------------------------------------------------------------------------

  // The same words twice are said twice only if they differ.
  announce(words) {
    const same = this.find(".announce").textContent === words;
    this.write(".announce", same ? `${words}\u00a0` : words);
  }

  sayItIsSaved(record) {
    this.announce(spokenWords(record.event, this.data.words, "saved"));
    for (const list of this.lists()) list.saved(record.event.event_id);
  }

  sayItIsKept(what) {
    const isAway = ["offline", "stuck"].includes(this.sitting.outbox.state);
    if (isAway) this.announce(spokenWords(what, this.data.words, "kept until it can be saved"));
  }

  sayTroubleOnce(state) {
    const isTrouble = state === "offline" || state === "stuck";
    if (isTrouble && !this.inTrouble) this.announce(`${state}, what you give is kept`);
    this.inTrouble = isTrouble;
  }
}

// A note written before the grade goes with it, and one that is there stays.
function noteOf({ note, done }) {
  return (note ?? done?.note) || null;
}

// The pad says itself that it is offline; Streamlit's dialog would only cover the chunk.
function closeConnectionDialog() {
  for (const dialog of document.querySelectorAll('[role="dialog"]')) {
    if (!dialog.textContent.includes("Connection error")) continue;
    dialog.querySelector('button[aria-label="Close"]')?.click();
  }
}
