// The grading pad itself: asks the session to do what keys and buttons mean and shows what is so.
// Text only ever enters the page as text nodes.

import { keepConnectionDialogsClosed } from "../js/dialogs.js";
import { finderIn, focusedBeside, giveFocusBack, showWords } from "../js/dom.js";
import { askWords, evidenceWords, Marker } from "../js/marker.js";
import { markedWords } from "../js/passages.js";
import { TokenRenewal } from "../js/token_renewal.js";
import { capital } from "../js/words.js";
import { ACTS, makeDesk, rememberedMarking, showRefused } from "./actions.js";
import { Bar } from "./bar.js";
import { Card } from "./card.js";
import { ChoicePanel } from "./choice_panel.js";
import { Done } from "./done.js";
import { Finder } from "./finder.js";
import { Frame } from "./frame.js";
import { Keyboard } from "./keyboard.js";
import { forgetMine, Layers } from "./layers.js";
import { MyGrades } from "./my_grades.js";
import { NameForm } from "./names.js";
import { Overlay } from "./overlay.js";
import { Practice } from "./practice.js";
import { QueryList } from "./query_list.js";
import { GradingSession } from "./session.js";
import { givenWords, proposedWords, spokenWords } from "./status.js";
import { StatusLine } from "./status_line.js";
import { Welcome } from "./welcome.js";

/** @import { About, Entry, Item, Kept, PadData, Pair, Passage, Said, Screen, Standing } from "./shapes" */

// What the keys of an action are to a list, which acts on its current row.
/** @type {Record<string, string>} */
const KEYS_ON_A_LIST = { cannotTell: "x", note: "n", undo: "u" };
const WHILE_WELCOMED = new Set(["guideline", "help", "name"]);
const IN_PRACTICE = new Set(["guideline", "help", "marks"]);

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
    this.marking = rememberedMarking(data.highlight);
    this.disposed = false;
    this.inTrouble = false;
    /** @type {Element | null} */
    this.beforeList = null;
    /** @type {Practice | null} */
    this.practice = null;
    this.names = new NameForm(root, data);
    this.line = new StatusLine(root, data);
    this.frame = new Frame(this.find(".pad"));
    this.panel = new ChoicePanel(this.find(".tray"), () => this.paint(), data.terms);
    this.overlay = new Overlay(this.find(".sheet"), () => this.paint(), data.terms);
    this.session = this.sitDown();
    this.renewal = new TokenRenewal(() => this.session.outbox.state === "forbidden");
    const desk = makeDesk(this);
    this.whole = new QueryList(this.find("section.whole"), desk);
    this.finder = new Finder(this.find("section.finder"), desk);
    this.mine = new MyGrades(this.find("section.mine"), desk);
    this.done = new Done(root, data);
    this.marker = this.layMarker();
    this.card = this.layCard();
    this.bar = this.layBar();
    this.welcome = new Welcome(this.find(".views"), data, {
      start: () => this.startGrading(),
      practise: () => this.practise(),
      guideline: () => this.act("guideline"),
    });
    this.isAddressed = false; // the list that is open is what the address asks for
    this.layers = new Layers(this);
    this.listen();
    this.dialogs = keepConnectionDialogsClosed();
    this.names.show(false);
    const { kept } = this.layers;
    this.paint();
    this.isAddressed = data.query !== null || data.mine;
    if (data.query !== null) this.openList(this.whole, data.query);
    else if (data.mine) this.openList(this.mine, "");
    else if (kept) this.openList(this.lists()[kept.list] ?? this.whole, kept.query);
  }

  sitDown() {
    return new GradingSession(this.data, {
      changed: () => this.paint(),
      counted: () => this.paintStatus(),
      renew: () => this.renewal.begin(),
      said: (key) => this.announce(this.data.terms.say(key)),
      saved: (record, ...told) => this.sayItIsSaved(record, ...told),
      judged: (item, done) => this.tellLists(item, done),
    });
  }

  listen() {
    this.keyboard = new Keyboard(this);
    this.onLeave = (/** @type {Event} */ event) => this.warnOfWaiting(event);
    window.addEventListener("beforeunload", this.onLeave);
    this.onLink = (/** @type {MouseEvent} */ event) => this.followed(event);
    window.addEventListener("click", this.onLink, true); // before the script of links
    this.find(".change").onclick = () => this.act("name");
    this.find(".undo-last").onclick = () => this.act("undo");
    this.find(".look-through").onclick = () => this.act("mine");
    this.find(".look").onclick = () => showRefused(this);
    this.find(".stop").onclick = () => this.stopPractising();
  }

  dispose() {
    this.renewal.dispose();
    this.panel.leave();
    this.overlay.close();
    this.session.dispose();
    this.dialogs.disconnect();
    for (const each of [this.card, this.frame, this.marker]) each.dispose();
    this.welcome.host.remove();
    this.closeLists();
    this.layers.dispose();
    this.disposed = true;
    this.keyboard?.dispose();
    if (this.onLeave) window.removeEventListener("beforeunload", this.onLeave);
    if (this.onLink) window.removeEventListener("click", this.onLink, true);
  }

  // --- what the page says ---------------------------------------------------------------------

  /** @type {(data: PadData, renew: () => void) => void} */
  update(data, renew) {
    this.renewal.renew = renew;
    const isRelaid = lookOf(data) !== lookOf(this.data);
    Object.assign(this.data, data);
    if (isRelaid) this.relay();
    this.session.useToken(data.token);
    this.paint();
  }

  // The buttons stay as they are where nothing on them changes: one of them may have the focus.
  relay() {
    this.card.dispose();
    this.card = this.layCard();
    this.bar = this.layBar();
  }

  layCard() {
    const { terms, guideline } = this.data;
    return new Card(this.root, {
      terms,
      guideline,
      act: (name) => this.act(name),
      take: (event) => this.bar.aimed(event, () => this.act("before")),
      get: (path) => this.session.get(path),
      more: () => this.current && !this.list() && this.marker.paint(this.current, true),
    });
  }

  layMarker() {
    const chunk = { text: this.find(".chunk .text"), tools: this.find(".work .marker") };
    return new Marker({
      current: () => this.markable,
      place: () => this.list()?.rows?.current ?? chunk,
      waiting: (item) => this.session.marks.stated(item) ?? [],
      keep: (entry, passages) => this.keepMarked(/** @type {Entry} */ (entry), passages),
      write: (words) => this.bar.say(words),
      announce: (words) => this.announce(words),
      say: this.data.terms.say,
    });
  }

  layBar() {
    const bar = new Bar(this.root, this.data.terms, {
      act: (name) => this.act(name),
      grade: (grade) => this.grade(grade),
      tooSoon: () => this.say(this.data.terms.say("bar.too_soon")),
      opened: () => this.layers.sync(),
    });
    bar.press("marks", this.marking);
    return bar;
  }

  /** @type {(event: Event) => void} */
  warnOfWaiting(event) {
    const { outbox } = this.session;
    const waits = this.names.isLeaving ? outbox.atRisk : outbox.waiting().length;
    if (waits) event.preventDefault();
  }

  // --- what a key or a button asks for ------------------------------------------------------------

  // Do what a key or a button asks for; one that is about a chunk needs one on screen.
  /** @type {(name: string) => boolean} */
  act(name) {
    const list = this.list();
    this.panel.leave();
    if (name !== "evidence") this.marker.leave();
    if (this.welcome.isOpen && !this.practice && !WHILE_WELCOMED.has(name)) return true;
    if (this.practice && !IN_PRACTICE.has(name))
      this.say(this.data.terms.say("did.not_in_practice"));
    else if (list && Object.hasOwn(KEYS_ON_A_LIST, name)) list.rows?.press(KEYS_ON_A_LIST[name]);
    else this.actOnChunk(name);
    return true;
  }

  /** @type {(name: string) => void} */
  actOnChunk(name) {
    const { act, chunk } = ACTS[name];
    const entry = this.current;
    if (entry) act(this, entry);
    else if (chunk) this.say(this.data.terms.say("did.no_passage"));
    else act(this, null);
  }

  // --- grading --------------------------------------------------------------------------------

  // What is being read, to be scrolled.
  get reading() {
    return this.overlay.isOpen ? this.overlay.host : (this.list()?.host ?? this.find(".chunk"));
  }

  get current() {
    return this.practice ? this.practice.current : this.session.queue.current;
  }

  // What may be marked: the row that one is at, or the chunk on screen.
  get markable() {
    if (this.practice || this.overlay.isOpen) return null;
    const list = this.list();
    return list ? (list.rows?.current ?? null) : this.current;
  }

  /** @type {(id: string) => About} */
  queryOf(id) {
    return this.practice ? this.practice.about : this.session.queryOf(id);
  }

  /** @type {(grade: number) => boolean} */
  grade(grade) {
    const list = this.list();
    if (list) return list.rows?.grade(grade) ?? true;
    if (this.practice) return this.practiseGrade(this.practice, grade);
    if (this.welcome.isOpen) return true; // nothing was read yet
    const entry = this.session.queue.current;
    if (!entry) return false;
    const { done, item } = entry;
    const isSame = done?.kind === "grade" && done.grade === grade;
    const evidence = this.marker.given(entry);
    if (isSame && !evidence && this.session.usableDraft(item) === null) this.step(1);
    else this.give(entry, { kind: "grade", grade, ...(evidence && { evidence }) });
    return true;
  }

  // The passages that made a grade go with it, or once it is given as the same grade again.
  /** @type {(entry: Pick<Entry, "item" | "done">, passages: Passage[]) => void} */
  keepMarked({ done, item }, passages) {
    const { say } = this.data.terms;
    const count = passages.length;
    const words = count ? capital(markedWords(count, say)) : say("marks.none");
    const isGraded = done?.kind === "grade";
    if (!isGraded) this.session.wait(item, passages);
    this.tellLists(item, isGraded ? this.session.mark(item, passages) : done);
    this.say(!isGraded && count ? `${words}: ${say("marks.wait")}` : words);
    this.paint();
  }

  // Answer the chunk on screen and go on: to the next open one, or one ahead if it was answered.
  /** @type {(entry: Entry, what: Partial<Said>) => void} */
  give(entry, what) {
    const wasDone = entry.done !== null;
    this.session.give(entry.item, { ...what, screen: this.screen(entry.item) });
    if (wasDone) this.session.queue.step(1);
    else this.session.queue.goToNextOpen();
    this.session.fetchMore();
    this.bar.say(this.gave(what));
    this.paint();
    this.sayItIsKept(what);
  }

  // What is on screen of the text of an item that is being graded; of a folded row nearly nothing is.
  /** @type {(item: Item) => Screen} */
  screen(item) {
    const list = this.list();
    const isCurrent = !list || list.rows?.current?.item === item;
    const seen = list ? list.rows?.seen : this.card.seen;
    return { seen_whole: Boolean(isCurrent && seen?.note()), highlighted: this.marking };
  }

  // What was given, and where it is wanted the question which passage made it.
  /** @type {(what: Partial<Said>) => string} */
  gave(what) {
    const { terms, evidence_from } = this.data;
    const { say } = terms;
    const marked = what.evidence?.length ?? 0;
    const isGrade = what.kind === "grade" && what.grade != null;
    const asked = isGrade && askWords(what.grade ?? 0, evidence_from, marked > 0, say);
    const given = say("given.you", { grade: givenWords(what, terms) });
    return [given, marked && markedWords(marked, say), asked].filter(Boolean).join(" · ");
  }

  // --- the example ----------------------------------------------------------------------------

  startGrading() {
    this.welcome.close();
    this.session.lookAnew();
    this.bar.lookAnew();
    this.paint();
    this.find(".chunk").focus({ preventScroll: true });
  }

  // What is on screen stays until it is known whether a lead chose passages for this.
  async practise() {
    const nothing = { examples: [] };
    const { examples } = await this.session.get("/api/practice").catch(() => nothing);
    this.overlay.close();
    this.closeLists();
    this.practice = new Practice(this.data.terms, examples);
    this.sayInPractice(this.data.terms.say("practice.nothing_saved"));
    this.paint();
  }

  /** @type {(practice: Practice, grade: number) => boolean} */
  practiseGrade(practice, grade) {
    this.sayInPractice(practice.grade(grade));
    this.paint();
    if (practice.isOver) this.find(".stop").focus();
    return true;
  }

  // What is said of the example stands where there is room for it.
  /** @type {(words: string) => void} */
  sayInPractice(words) {
    this.line.write(".practice-words", words);
    this.announce(words);
  }

  stopPractising() {
    this.welcome.close();
    this.leavePractice();
  }

  leavePractice() {
    this.practice = null;
    this.bar.say("");
    this.session.lookAnew();
    this.paint();
  }

  /** @type {(by: number) => Promise<void>} */
  async step(by) {
    const { session } = this;
    const isFirst = by < 0 && session.queue.at === 0;
    if (isFirst ? await session.bringOlder() : session.queue.step(by)) session.lookAnew();
    else this.say(this.data.terms.say(by > 0 ? "did.last" : "did.first"));
    session.fetchMore();
    this.paint();
  }

  // --- lists ----------------------------------------------------------------------------------

  lists() {
    return [this.whole, this.finder, this.mine];
  }

  list() {
    return this.lists().find((list) => list.isOpen) ?? null;
  }

  // Show in the lists what was given elsewhere.
  /** @type {(item: Pair, done: Standing | null) => void} */
  tellLists(item, done) {
    for (const list of this.lists()) list.judged(item, done);
  }

  /** @type {(but?: QueryList | Finder | MyGrades) => void} */
  closeLists(but) {
    for (const list of this.lists()) if (list !== but) list.close();
    if (!but) this.isAddressed = false;
  }

  /** @type {(list: QueryList | Finder | MyGrades, queryId: string, first?: Pair | null) => void} */
  openList(list, queryId, first = null) {
    this.beforeList ??= focusedBeside(this.find(".pad"));
    this.closeLists(list);
    if (list instanceof QueryList) list.open(queryId, first);
    else list.open(queryId);
    this.paint();
  }

  // The link in the header opens one's own grades in place.
  /** @type {(event: MouseEvent) => void} */
  followed(event) {
    const isNew = event.button || event.ctrlKey || event.metaKey || event.shiftKey;
    if (isNew || !(event.target instanceof Element) || !event.target.closest("a.mine")) return;
    event.preventDefault();
    event.stopPropagation();
    this.practice = null;
    this.overlay.close();
    if (!this.mine.isOpen) this.openList(this.mine, "");
  }

  // Leave for the chunk the list was at, so that one stays with its query.
  leaveLists() {
    forgetMine();
    this.panel.leave();
    this.marker.leave();
    const { items, queryId } = this.whole;
    const isWhole = this.whole.isOpen;
    const row = this.whole.rows?.current?.item;
    this.closeLists();
    const isHere = this.session.queue.current?.item.query === queryId;
    if (isWhole && items.length && (row || !isHere)) this.session.queue.bringQuery(items, row);
    if (this.session.queue.current?.done) this.session.queue.goToNextOpen();
    this.session.lookAnew();
    this.session.fetchAfterSending();
    this.paint();
    giveFocusBack(this.beforeList);
    this.beforeList = null;
  }

  // From a list that is graded to the list of the next query, if there is one.
  nextQuestion() {
    const { queue } = this.session;
    if (!queue.current || queue.current.done) queue.goToNextOpen();
    const next = queue.current;
    if (next && !next.done) this.openList(this.whole, next.item.query, next.item);
    else this.leaveLists();
  }

  // The rows of a list are at another one: from then on the bar grades that.
  listMoved() {
    const list = this.list();
    if (!list) return;
    this.find(".one .query").hidden = !list.asks;
    this.card.showQuery(this.session.queryOf(list.asks));
    this.paintStatus();
    this.paintBar();
  }

  // --- painting -------------------------------------------------------------------------------

  paint() {
    if (this.disposed || !this.bar) return;
    const { progress, outbox } = this.session;
    const [entry, list] = [this.current, this.list()];
    if (this.panel.about && this.panel.about !== entry) this.panel.leave();
    const isNothingKnown = progress.open === null && !entry;
    const isInTrouble = outbox.isShutOut || outbox.waiting().length || this.session.problem;
    const isCovered = this.overlay.isOpen;
    const isFetching = isNothingKnown && !isInTrouble && !list;
    this.find(".desk").hidden = isFetching;
    this.find(".fetching").hidden = !isFetching;
    const hasWork = Boolean(entry || progress.open);
    const isWelcomed = this.welcome.isOpen && hasWork && !this.practice && !list;
    this.welcome.paint(progress, isWelcomed && !isCovered);
    this.find(".desk").classList.toggle("welcoming", isWelcomed);
    this.find(".desk").classList.toggle("practising", this.practice !== null);
    this.find(".one").hidden = (!entry && !list) || isCovered || isWelcomed;
    const wasListing = this.find(".one").classList.contains("listing");
    this.find(".one").classList.toggle("listing", list !== null);
    if (wasListing !== (list !== null)) this.card.paintWhatFits();
    this.find(".work").hidden = list !== null;
    this.find(".done").hidden = Boolean(entry || list || isNothingKnown || isCovered || isWelcomed);
    this.find(".practice").hidden = !this.practice;
    const stop = this.practice?.isOver ? "welcome.start" : "practice.stop";
    this.line.write(".stop", this.data.terms.say(stop));
    this.layers.sync();
    this.paintStatus();
    this.find(".one .query").hidden = list !== null && !list.asks;
    if (list) this.card.showQuery(this.session.queryOf(list.asks));
    else if (entry) this.paintCard(entry);
    this.paintBar();
  }

  /** @type {(entry: Entry) => void} */
  paintCard(entry) {
    const { say } = this.data.terms;
    const query = this.queryOf(entry.item.query);
    const draft = this.session.drafts.of(entry.item);
    const isFirst = this.card.item === null;
    const { isNew, isAnew, isNewQuery } = this.card.show(entry, query, draft, this.marking);
    this.marker.paint(entry, isAnew);
    const marked = evidenceWords(entry.done, this.marker.passagesOf(entry), say);
    showWords(this.find(".chunk .rests"), marked);
    if (!isNew) return;
    if (!isFirst) this.bar.lookAnew();
    this.bar.press("around", false);
    if (isNewQuery) this.announce(say("card.new_question", { text: query.text }));
  }

  paintBar() {
    const list = this.list();
    const shown = list ? list.rows?.current : this.current;
    this.bar.paint(shown?.done ?? null, list !== null);
    this.find(".grades").toggleAttribute("inert", !shown || this.overlay.isOpen);
    const { history } = this.session;
    this.bar.paintSteps(history.steps.length > 0 || !history.exhausted, history.undone.length > 0);
  }

  paintStatus() {
    if (this.disposed) return;
    const { outbox } = this.session;
    this.sayTroubleOnce(outbox.waiting().length ? outbox.state : "idle");
    // one's own grades are of many questions: none of them has a place to say
    this.line.listed = this.mine.isOpen ? "" : (this.list()?.asks ?? null);
    this.line.paint(this.session);
    this.done.paint(this.session, !this.find(".done").hidden);
  }

  // --- saying ---------------------------------------------------------------------------------

  // Say what was just done: beside the buttons, and to a screen reader.
  /** @type {(words: string) => void} */
  say(words) {
    this.bar.say(words);
    this.announce(words);
  }

  // The same once it is on the disk, unless something else was said meanwhile.
  /** @type {(words: string) => Promise<void>} */
  async sayOnceKept(words) {
    const { bar } = this;
    bar.say("");
    const { sayings } = bar;
    const { storage } = this.session.outbox;
    await storage.written();
    if (bar.sayings !== sayings || this.disposed) return;
    this.say(storage.isBroken ? this.data.terms.say("trouble.note") : words);
  }

  // The same words twice are said twice only if they differ.
  /** @type {(words: string) => void} */
  announce(words) {
    const same = this.find(".announce").textContent === words;
    this.line.write(".announce", same ? `${words}\u00a0` : words);
  }

  /** @type {(record: Kept, proposed: [string, number][], unmarked: string) => void} */
  sayItIsSaved({ event }, proposed, unmarked) {
    const { terms } = this.data;
    if (unmarked) this.say(terms.say("marks.unmarked", { reason: unmarked }));
    const words = proposedWords(proposed, terms);
    this.announce([spokenWords(event, terms, true), words].filter(Boolean).join(", "));
    // beside what was said of this very grade, unless something else was done meanwhile
    const gave = this.gave(event);
    const isLast = this.session.history.steps.at(-1)?.event_id === event.event_id;
    if (words && isLast && this.bar.saying === gave) this.bar.say(`${gave} · ${words}`);
    for (const list of this.lists()) list.saved(event.event_id);
  }

  /** @type {(what: Partial<Said>) => Promise<void>} */
  async sayItIsKept(what) {
    if (!this.isAway) return;
    const { storage } = this.session.outbox;
    await storage.written();
    if (this.isAway && !storage.isBroken) {
      this.announce(spokenWords(what, this.data.terms, false));
    }
  }

  get isAway() {
    return ["offline", "stuck"].includes(this.session.outbox.state);
  }

  /** @type {(state: string) => void} */
  sayTroubleOnce(state) {
    const isTrouble = state === "offline" || state === "stuck";
    const key = state === "offline" ? "trouble.offline" : "trouble.stuck_now";
    if (isTrouble && !this.inTrouble) this.announce(this.data.terms.say(key));
    this.inTrouble = isTrouble;
  }
}

/** @type {(data: PadData) => string} */
function lookOf({ terms, guideline }) {
  return JSON.stringify([terms, guideline]);
}
