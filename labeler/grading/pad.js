// The grading pad itself: hears keys and clicks, asks the sitting to act on them and shows what is
// so. Text only ever enters the page as text nodes.

import { ACTS, makeDesk, rememberedMarking, showRefused } from "./acts.js";
import { Card } from "./card.js";
import { noteOf } from "./deck.js";
import { Finder } from "./finder.js";
import { actionOf, GRADE_KEYS } from "./keys.js";
import { StatusLine } from "./line.js";
import { NameForm } from "./names.js";
import { finderIn, focusedBeside, giveFocusBack, isEditable } from "./parts.js";
import { Sheet } from "./sheet.js";
import { Sitting } from "./sitting.js";
import { doneHelp, doneTitle, spokenWords } from "./status.js";
import { Tray } from "./tray.js";
import { WholeQuery } from "./whole.js";

/** @import { Entry, Kept, PadData, Pair, Said } from "./shapes" */

const ON_A_LIST = new Set(["guideline", "marks", "help", "find", "whole"]);
const MAY_REPEAT = new Set(["j", "k", "arrowleft", "arrowright", "arrowup", "arrowdown"]);

const RENEW_AGAIN_MS = 5000;

export class Pad {
  /**
   * One grader at one golden set, in one field of it.
   * @param {HTMLElement | ShadowRoot} root
   * @param {PadData} data
   */
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.find = finderIn(root);
    this.marking = rememberedMarking();
    this.renew = () => {};
    this.renewed = 0;
    this.disposed = false;
    this.inTrouble = false;
    /** @type {Element | null} */
    this.beforeList = null;
    /** @type {number | undefined} */
    this.renewTimer = undefined;
    this.names = new NameForm(root, data);
    this.line = new StatusLine(root, data);
    this.tray = new Tray(this.find(".tray"), () => this.paint());
    this.sheet = new Sheet(this.find(".sheet"), () => this.paint());
    this.sitting = this.sitDown();
    const desk = makeDesk(this);
    this.whole = new WholeQuery(this.find("section.whole"), desk);
    this.finder = new Finder(this.find("section.finder"), desk);
    this.card = this.layCard();
    this.listen();
    this.dialogs = new MutationObserver(closeConnectionDialog);
    this.dialogs.observe(document.body, { childList: true });
    this.names.show(false);
    this.paint();
    if (data.query !== null) this.openList(this.whole, data.query);
  }

  sitDown() {
    return new Sitting(this.data, {
      changed: () => this.paint(),
      counted: () => this.paintStatus(),
      renew: () => this.renewLater(),
      said: (words) => this.announce(words),
      saved: (record) => this.sayItIsSaved(record),
      judged: (item, done) => {
        for (const list of this.lists()) list.judged(item, done);
      },
    });
  }

  listen() {
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.pressed(event);
    this.onLeave = (/** @type {Event} */ event) => this.warnOfWaiting(event);
    document.addEventListener("keydown", this.onKey, true);
    window.addEventListener("beforeunload", this.onLeave);
    this.find(".change").onclick = () => this.names.show(true);
    this.find(".undo-last").onclick = () => this.act("undo");
    this.find(".back-last").onclick = () => this.act("back");
    this.find(".look").onclick = () => showRefused(this);
    this.find(".guideline").onclick = () => this.act("guideline");
  }

  dispose() {
    this.disposed = true;
    clearTimeout(this.renewTimer);
    this.sitting.dispose();
    this.dialogs.disconnect();
    this.tray.close();
    this.sheet.close();
    for (const list of this.lists()) list.close();
    if (this.onKey) document.removeEventListener("keydown", this.onKey, true);
    if (this.onLeave) window.removeEventListener("beforeunload", this.onLeave);
  }

  // --- what the page says ---------------------------------------------------------------------

  /** @type {(data: PadData, renew: () => void) => void} */
  update(data, renew) {
    this.renew = renew;
    const isRelaid = cardOf(data) !== cardOf(this.data);
    Object.assign(this.data, data);
    if (isRelaid) this.card = this.layCard();
    this.sitting.useToken(data.token);
    this.paint();
  }

  // The buttons stay as they are where nothing on them changes: one of them may have the focus.
  layCard() {
    const { words, colours, guideline } = this.data;
    const card = new Card(this.root, {
      ...{ words, colours, guideline },
      act: (name) => this.act(name),
      grade: (grade) => this.grade(grade),
    });
    this.find('.actions [data-act="marks"]').setAttribute("aria-pressed", String(this.marking));
    return card;
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

  /** @type {(event: Event) => void} */
  warnOfWaiting(event) {
    const { outbox } = this.sitting;
    const waits = this.names.isLeaving ? outbox.unkept.size : outbox.waiting().length;
    if (waits) event.preventDefault();
  }

  // --- keys -----------------------------------------------------------------------------------

  /** @type {(event: KeyboardEvent) => void} */
  pressed(event) {
    const key = event.key.toLowerCase();
    if (event.repeat && !this.mayRepeat(key, event)) return;
    if (event.ctrlKey || event.altKey || event.metaKey || !this.find(".pad").isConnected) return;
    if (this.names.isAsking || document.querySelector('[role="dialog"]')) return;
    if (!this.handles(key, event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  // A held-down Enter would press the focused button again and again.
  /** @type {(key: string, event: Event) => boolean} */
  mayRepeat(key, event) {
    if (isEditable(event) || MAY_REPEAT.has(key)) return true;
    const target = event.composedPath()[0];
    if (target instanceof Node && this.root.contains(target)) event.preventDefault();
    return false;
  }

  /** @type {(key: string, event: KeyboardEvent) => boolean} */
  handles(key, event) {
    if (this.tray.isOpen) return this.tray.press(key, event);
    if (isEditable(event)) return false;
    if (this.sheet.isOpen) return this.pressedOnSheet(key);
    const list = this.list();
    if (list?.press(key, event)) return true;
    const name = actionOf(key);
    if (list) return name !== null && ON_A_LIST.has(name) && this.act(name);
    if (Object.hasOwn(GRADE_KEYS, key)) return this.grade(GRADE_KEYS[key]);
    return name !== null && this.act(name);
  }

  // The chunk is covered, so no key may grade it.
  /** @type {(key: string) => boolean} */
  pressedOnSheet(key) {
    if (key === "escape" || actionOf(key) === this.sheet.name) this.sheet.close();
    return key.length === 1 && key !== " " ? true : key === "escape";
  }

  // Do what a key or a button asks for; one that is about a chunk needs one on screen.
  /** @type {(name: string) => boolean} */
  act(name) {
    const { act, chunk } = ACTS[name];
    const entry = this.sitting.deck.current;
    if (entry) act(this, entry);
    else if (chunk) this.announce("no chunk is on screen");
    else act(this, null);
    return true;
  }

  // --- grading --------------------------------------------------------------------------------

  /** @type {(grade: number) => boolean} */
  grade(grade) {
    const entry = this.sitting.deck.current;
    if (!entry) return false;
    const { done } = entry;
    if (done?.kind === "grade" && done.grade === grade && entry.note === null) this.step(1);
    else this.give(entry, { kind: "grade", grade });
    return true;
  }

  // Answer the chunk on screen and go on: to the next open one, or one ahead if it was answered.
  /** @type {(entry: Entry, what: Partial<Said>) => void} */
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

  /** @type {(by: number) => Promise<void>} */
  async step(by) {
    const { sitting } = this;
    const isFirst = by < 0 && sitting.deck.at === 0;
    if (isFirst ? await sitting.bringOlder() : sitting.deck.step(by)) sitting.lookAnew();
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

  /** @type {(list: WholeQuery | Finder, queryId: string, first?: Pair | null) => void} */
  openList(list, queryId, first = null) {
    this.beforeList ??= focusedBeside(this.find(".pad"));
    for (const other of this.lists()) if (other !== list) other.close();
    if (list instanceof WholeQuery) list.open(queryId, first);
    else list.open(queryId);
    this.paint();
  }

  leaveLists() {
    for (const list of this.lists()) list.close();
    if (this.sitting.deck.current?.done) this.sitting.deck.goToNextOpen();
    this.sitting.lookAnew();
    this.sitting.fetchAfterSending();
    this.paint();
    giveFocusBack(this.beforeList);
    this.beforeList = null;
  }

  // --- painting -------------------------------------------------------------------------------

  paint() {
    if (this.disposed) return;
    const { tally, deck, outbox } = this.sitting;
    const [entry, list] = [deck.current, this.list()];
    if (this.tray.about && this.tray.about !== entry) this.tray.close();
    const isNothingKnown = tally.open === null && !entry;
    const isInTrouble = outbox.isShutOut || outbox.waiting().length || this.sitting.problem;
    this.find(".desk").hidden = isNothingKnown && !isInTrouble && !list;
    this.find(".views").hidden = this.sheet.isOpen;
    this.find(".one").hidden = Boolean(list) || !entry;
    this.find(".grades").hidden = this.tray.isOpen;
    this.placeTray(list ? ".views" : ".slot");
    this.find(".done").hidden = Boolean(entry || list || isNothingKnown || this.sheet.isOpen);
    this.paintStatus();
    if (entry && !list) this.card.show(entry, this.sitting.queryOf(entry.item.query), this.marking);
  }

  // Moving the tray would take the focus from it, so only where it has to.
  /** @type {(place: string) => void} */
  placeTray(place) {
    const { host } = this.tray;
    if (!host.parentElement?.matches(place)) this.find(place).append(host);
  }

  paintStatus() {
    if (this.disposed) return;
    const { outbox, tally, saved, trail, deck } = this.sitting;
    this.sayTroubleOnce(outbox.waiting().length ? outbox.state : "idle");
    this.line.paint(this.sitting);
    this.line.write(".done h2", doneTitle(tally, saved, this.data.confined));
    this.line.write(".done p", doneHelp(tally, saved, this.data.confined));
    this.find(".undo-last").hidden = !trail.steps.length;
    this.find(".back-last").hidden = !deck.entries.length;
  }

  // --- saying ---------------------------------------------------------------------------------

  // The same words twice are said twice only if they differ.
  /** @type {(words: string) => void} */
  announce(words) {
    const same = this.find(".announce").textContent === words;
    this.line.write(".announce", same ? `${words}\u00a0` : words);
  }

  /** @type {(record: Kept) => void} */
  sayItIsSaved(record) {
    this.announce(spokenWords(record.event, this.data.words, "saved"));
    for (const list of this.lists()) list.saved(record.event.event_id);
  }

  /** @type {(what: Partial<Said>) => void} */
  sayItIsKept(what) {
    const isAway = ["offline", "stuck"].includes(this.sitting.outbox.state);
    if (isAway) this.announce(spokenWords(what, this.data.words, "kept until it can be saved"));
  }

  /** @type {(state: string) => void} */
  sayTroubleOnce(state) {
    const isTrouble = state === "offline" || state === "stuck";
    if (isTrouble && !this.inTrouble) this.announce(`${state}, what you give is kept`);
    this.inTrouble = isTrouble;
  }
}

/** @type {(data: PadData) => string} */
function cardOf({ words, colours, guideline }) {
  return JSON.stringify([words, colours, guideline]);
}

// The pad says itself that it is offline; Streamlit's dialog would only cover the chunk.
function closeConnectionDialog() {
  for (const dialog of document.querySelectorAll('[role="dialog"]')) {
    if (!dialog.textContent?.includes("Connection error")) continue;
    const close = dialog.querySelector('button[aria-label="Close"]');
    if (close instanceof HTMLElement) close.click();
  }
}
