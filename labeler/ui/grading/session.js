// One grader at one golden set: takes chunks in ahead of time, sends what is given, and keeps what
// was given, so that it can be changed and taken back.

import { newId, Refusal } from "../js/api.js";
import { wordsOf } from "../js/dom.js";
import { Outbox } from "../js/outbox.js";
import { ByPair, Marks, namesOf, pairKey } from "../js/pairs.js";
import { heldIn } from "../js/passages.js";
import { keyOf, remember, rememberedOf } from "../js/storage.js";
import { tooLongBy } from "./drafts.js";
import { GradeHistory, isJudged } from "./history.js";
import { GradingProgress } from "./progress.js";
import { ChunkQueue } from "./queue.js";
import { Remarks } from "./remarks.js";
import { askedOf } from "./scope.js";

/**
 * @import {
 *   About, AnyStep, Item, Judged, Kept, NextAnswer, PadData, PadEvent, Pair, PairEvent, Passage,
 *   Said, Screen, Standing, Step
 * } from "./shapes"
 */

const FETCH_BELOW = 20;
const FETCH_COUNT = 40;
const FETCH_AGAIN_MS = 4000;
const LOOK_AGAIN_MS = 2000;
const OTHER_TAB_SETTLES_MS = 1000;
const TOLD = "labeler-told";
const NOTES = "labeler-notes";
const EVIDENCE = "labeler-evidence";
const ROUTE = { path: "/api/judgments", waiting: "labeler", refused: "labeler-refused" };
const STEPS_LOW = 5; // fewer steps to undo than this: fetch older ones

/**
 * Who hears of what: `changed` paints all, `counted` the numbers, `said` speaks the sentence of a key,
 * `renew` gets a token, `judged` tells the lists of a judgment.
 * @typedef {{
 *   changed: () => void,
 *   counted: () => void,
 *   renew: () => void,
 *   said: (key: string) => void,
 *   saved: (record: Kept, proposed: [string, number][], unmarked: string) => void,
 *   judged: (item: Pair, done: Standing | null) => void,
 * }} Hooks
 */

export class GradingSession {
  /**
   * @param {Pick<PadData, "golden_set" | "grader" | "key" | "confined">} who
   * @param {Hooks} hooks
   */
  constructor({ grader, confined, golden_set, key }, hooks) {
    this.who = { golden_set, key };
    this.grader = grader;
    this.hooks = hooks;
    this.field = askedOf(confined);
    this.isUntilDecided = confined?.until === "decided";
    this.queue = new ChunkQueue();
    this.history = new GradeHistory();
    this.progress = new GradingProgress();
    this.remarks = new Remarks(this);
    // what a server that has forgotten it, or never knew, is told
    this.told = new Set(rememberedOf(TOLD, this.who, /** @type {string[]} */ ([])));
    this.problem = ""; // why the server hands out no chunks, in its words
    this.savedBefore = 0;
    this.steps = 0; // what this page did itself: until then the server's order of steps holds
    this.shownAt = performance.now();
    this.disposed = false;
    this.fetching = false;
    this.fetchAnyway = false;
    /** @type {Promise<void> | null} */
    this.fetchingTrail = null;
    /** @type {number | undefined} */
    this.fetchTimer = undefined;
    /** @type {number | undefined} */
    this.settleTimer = undefined;
    this.outbox = new Outbox(ROUTE, this.who, grader, {
      changed: () => hooks.counted(),
      forbidden: () => hooks.renew(),
      refused: (record) => this.lose(record),
      saved: (record, { proposed = [], unmarked = "" }) => {
        if (unmarked && isOnPair(record.event)) this.unmark(record.event);
        hooks.saved(record, proposed, unmarked);
        if (this.isUntilDecided) this.fetchMore(true); // what decides is chosen again
      },
      other: (record) => this.heard(record),
      recalled: (record) => this.recall(record),
      unsure: () => this.fetchMore(true), // for the server's own count
    });
    /** @type {ByPair<string>} */
    this.drafts = new ByPair(NOTES, this.who, this.outbox.storage); // one is empty where it is to go
    this.marks = new Marks(EVIDENCE, this.who, this.outbox.storage);
  }

  dispose() {
    this.disposed = true;
    clearTimeout(this.fetchTimer);
    clearTimeout(this.settleTimer);
    this.outbox.dispose();
  }

  /** @type {(token: string) => void} */
  useToken(token) {
    this.outbox.useToken(token);
    this.fetchMore();
  }

  // The time somebody takes for a chunk begins when it comes on screen.
  lookAnew() {
    this.shownAt = performance.now();
  }

  get saved() {
    return Math.max(0, this.savedBefore + this.outbox.saved);
  }

  /** @type {(id: string) => About} */
  queryOf(id) {
    return this.progress.queries[id] ?? { text: "", keywords: [], total: 0, left: 0 };
  }

  // --- chunks in ------------------------------------------------------------------------------

  /** @type {(path: string) => Promise<any>} */
  async get(path) {
    const answer = await this.outbox.get(path);
    if (answer.queries && !path.startsWith("/api/next")) this.progress.know(answer.queries);
    return answer;
  }

  /** @type {(anyway?: boolean) => Promise<void>} */
  async fetchMore(anyway = false) {
    if (anyway) this.fetchAnyway = true;
    if (this.fetching || this.disposed) return;
    if (!this.fetchAnyway && !this.runsLow()) return;
    this.fetching = true;
    this.fetchAnyway = false;
    clearTimeout(this.fetchTimer);
    try {
      if (this.progress.open === null) await this.outbox.send();
      const moves = this.outbox.sending ? NaN : this.outbox.moves;
      const answer = await this.get(`/api/next?limit=${this.limit()}${this.field}`);
      this.problem = "";
      if (!this.disposed) this.take(answer, moves === this.outbox.moves);
    } catch (problem) {
      const isFinal = problem instanceof Refusal && problem.status === 400;
      this.problem = isFinal ? wordsOf(problem) : "";
      this.hooks.changed();
      this.fetchTimer = setTimeout(() => this.fetchMore(true), FETCH_AGAIN_MS);
    } finally {
      this.fetching = false;
    }
    if (this.fetchAnyway) this.fetchMore();
  }

  runsLow() {
    const { open } = this.progress;
    if (this.queue.countAhead() >= FETCH_BELOW) return false;
    return open === null || open > this.queue.count((entry) => entry.item.source !== "repeat");
  }

  // The server repeats what is in the queue and what it has not heard of yet.
  limit() {
    return FETCH_COUNT + this.queue.count(() => true) + this.outbox.waiting().length;
  }

  // The counts are the server's where nothing was under way meanwhile, else our own go on.
  /** @type {(answer: NextAnswer, calm: boolean) => void} */
  take(answer, calm) {
    const first = this.progress.open === null;
    if (calm || first) this.savedBefore = answer.saved - this.outbox.saved;
    const isKnownNow = this.progress.looked < 1 && answer.looked === 1;
    this.progress.take(answer, calm);
    if (first || (calm && !this.steps)) this.history.start(answer.undoable);
    const before = this.queue.current;
    // what came by its rank alone makes room for what is most useful
    if (isKnownNow) this.queue.drop((entry) => entry !== before);
    // what is chosen again takes the place of what was, but for what is being read
    if (answer.decision) {
      const { settled } = answer.decision;
      this.queue.drop((entry) => settled || (entry !== before && !entry.later));
    }
    this.queue.add(answer.items);
    // a changed note that a reload cut off is sent now, but none that was just taken back
    for (const { item } of this.history.judged()) {
      if (!this.history.wasUndone(item)) this.sendDraft(item);
    }
    if (before !== this.queue.current) this.lookAnew();
    if (answer.looked < 1) {
      this.fetchTimer = setTimeout(() => this.fetchMore(true), LOOK_AGAIN_MS);
    }
    this.hooks.changed();
  }

  // --- grades out -----------------------------------------------------------------------------

  // Give an item a grade or say "can't tell"; what stood before is replaced, never doubled. A note
  // that was written before or is there already stays, unless another (or none) is given.
  /** @type {(item: Item, what: Partial<Said> & { screen?: Screen }) => Standing} */
  give(item, { kind = "grade", grade = null, reason = null, note, evidence, screen = {} }) {
    const former = this.queue.standingOf(item);
    const draft = this.usableDraft(item);
    const kept = note === undefined ? (draft ?? former?.note) : note;
    const shown = this.queue.entriesOf(item).at(-1)?.done ?? null;
    // what comes back unmarked is graded without its passages; they stay if the grade does
    const isAgain = item.source === "repeat" && !shown;
    const held = isAgain && former?.grade !== grade ? [] : heldIn(item, former);
    const rests =
      kind === "grade" ? restingOn(isAgain ? evidence : (evidence ?? held), former) : {};
    const said = { kind, grade, reason, note: kept || null, ...rests };
    const event = this.event(item, {
      ...said,
      slip: item.slip,
      text_hash: item.text_hash,
      replaces: former?.event_id ?? null,
      source: item.source,
      blind: !this.told.has(pairKey(item)),
      ...screen,
    });
    const done = {
      event_id: event.event_id,
      ...said,
      ...(isAgain && { evidence: evidence ?? held }),
      item,
    };
    const answered = this.queue.settle(item, done);
    if (draft !== null) this.drafts.drop(item); // one that is too long waits for its writer
    if (kind === "grade") this.marks.drop(item);
    if (answered) this.progress.close(item.query);
    this.history.push({ ...done, former, shown, answered });
    this.send(event, item, { counts: former ? 0 : 1, former: bare(former) });
    return done;
  }

  // Say which passages made the grade that stands for an item: the same grade again, with these.
  /** @type {(item: Item, evidence: Passage[]) => Standing | null} */
  mark(item, evidence) {
    const stands = this.queue.standingOf(item);
    if (stands?.kind !== "grade") return null;
    const { kind, grade } = stands;
    this.shownAt = Number.NaN; // how long it took says nothing of the grade
    const done = this.give(item, { kind, grade, evidence });
    this.lookAnew();
    return done;
  }

  // Passages that wait for a grade.
  /** @type {(item: Item, passages: Passage[]) => void} */
  wait(item, passages) {
    if (passages.length) this.marks.state(item, passages);
    else this.marks.drop(item);
  }

  // The server kept a grade without the passages that came with it.
  /** @type {(event: PairEvent) => void} */
  unmark(event) {
    for (const entry of this.queue.entriesOf(event)) {
      if (entry.done?.event_id === event.event_id) entry.done = { ...entry.done, evidence: [] };
    }
    const stands = this.queue.standing.get(pairKey(event));
    if (stands?.event_id === event.event_id) {
      this.queue.standing.set(pairKey(event), { ...stands, evidence: [] });
    }
    this.hooks.changed();
  }

  /** @type {(item: Pair) => string | null} */
  usableDraft(item) {
    const text = this.drafts.of(item)?.trim() ?? null;
    return text !== null && !tooLongBy(text) ? text : null;
  }

  // A changed note on a graded chunk goes at once, with the grade it has.
  /** @type {(item: Item) => Standing | null} */
  sendDraft(item) {
    const done = this.queue.standingOf(item);
    const note = this.usableDraft(item);
    if (note === null || !done?.kind) return null;
    this.drafts.drop(item);
    if ((done.note ?? "") === note) return null;
    const { kind, grade, reason } = done;
    return this.give(item, { kind, grade, reason, note: note || null });
  }

  // Put the newest judgment that is not in the queue before all others; says whether there is one.
  /** @type {() => Promise<boolean>} */
  async bringOlder() {
    /** @type {(step: Step) => boolean} */
    const isElsewhere = ({ item }) => !this.queue.entriesOf(item).length;
    if (!this.history.judged().some(isElsewhere)) await this.fetchTrail();
    const step = this.history.judged().findLast(isElsewhere);
    if (step) this.queue.begin(step.item, { ...bare(step), item: step.item });
    return Boolean(step);
  }

  // Take back this grader's newest step; returns what it was, or null where there is none.
  /** @type {() => Promise<AnyStep | null>} */
  async undo() {
    if (!this.history.steps.length) await this.fetchTrail();
    const step = this.history.pop();
    if (this.history.steps.length < STEPS_LOW) this.fetchTrail();
    if (!step) return null;
    if (isJudged(step)) this.takeStepBack(step, true);
    else await this.remarks.unsay(step);
    return step;
  }

  // Do again what was taken back last; returns what it is, or null where there is nothing.
  redo() {
    return this.history.redo((step) => {
      if (isJudged(step)) {
        const { kind, grade, reason, evidence = [] } = step;
        const note = this.usableDraft(step.item) ?? step.note; // what was typed since is newer
        const done = this.give(step.item, { kind, grade, reason, note, evidence });
        this.hooks.judged(step.item, done);
      } else this.remarks.say(step.query, step.remark, step.note);
      return step;
    });
  }

  // Take back what stands for an item; returns what stands then, or null.
  /** @type {(item: Item) => Standing | null} */
  takeBack(item) {
    const stands = this.queue.standingOf(item);
    if (!stands) return null;
    const known = this.history.remove(stands.event_id) ?? { ...stands, former: null };
    const step = { ...known, item };
    this.history.undone.push(step);
    this.takeStepBack(step, false);
    return step.former ?? null;
  }

  /** @type {(step: Step, show: boolean) => void} */
  takeStepBack(step, show) {
    const { item, former = null } = step;
    const shown = step.shown === undefined ? former : step.shown;
    const event = this.event(item, { undoes: step.event_id });
    this.queue.restore(item, former, shown);
    const isNoteLost = step.note && step.note !== former?.note && this.drafts.of(item) === null;
    if (isNoteLost) this.drafts.keep(item, step.note ?? ""); // it waits for the next grade
    if (show) this.queue.bring(item, shown).undone = step;
    // they wait for the next grade, as a note does
    if (former?.kind !== "grade") this.wait(item, step.evidence ?? []);
    if (step.answered ?? !former) this.progress.reopen(item.query);
    this.send(event, item, { counts: former ? 0 : -1, former: bare(former) });
    this.lookAnew();
    this.hooks.judged(item, former);
  }

  async fetchAfterSending() {
    await this.outbox.send();
    this.fetchMore(true);
  }

  /** @type {(item: { query: string, chunk?: string }, what: Partial<PadEvent>) => PadEvent} */
  event(item, what) {
    const now = performance.now();
    const elapsed_ms = Number.isNaN(this.shownAt) ? null : Math.round(now - this.shownAt);
    this.shownAt = now;
    const { grader } = this;
    const { golden_set, key: by } = this.who;
    return { event_id: newId(), golden_set, grader, by, ...namesOf(item), elapsed_ms, ...what };
  }

  /** @type {(event: PadEvent, item: { query: string, title?: string | null }, extra: Partial<Kept>) => void} */
  send(event, item, extra) {
    this.steps += 1;
    const shown = { query: this.queryOf(item.query).text, title: item.title ?? "" };
    this.outbox.add({ event, shown, ...extra });
  }

  // --- what came back, from the server or another tab -------------------------------------------

  fetchTrail() {
    if (this.history.exhausted) return null;
    this.fetchingTrail ??= this.extendTrail().finally(() => {
      this.fetchingTrail = null;
    });
    return this.fetchingTrail;
  }

  async extendTrail() {
    try {
      const { oldest, oldestRemark } = this.history;
      const asked = new URLSearchParams();
      if (oldest) asked.set("before", oldest);
      if (oldestRemark) asked.set("unsaid", oldestRemark);
      this.history.extend((await this.get(`/api/history?${asked}`)).done);
    } catch {
      // the next undo asks again
    }
  }

  // The other judgments given for a pair are known now: what follows is not blind.
  /** @type {(item: Pair) => void} */
  tell(item) {
    this.told.add(pairKey(item));
    remember(keyOf(TOLD, this.who), Array.from(this.told));
  }

  // An event from before this page was loaded, still waiting.
  /** @type {(record: Kept) => void} */
  recall({ event, former }) {
    if (!isOnPair(event)) return;
    const done = event.undoes ? (former ?? null) : { ...bare(event), item: null };
    this.queue.standing.set(pairKey(event), done);
  }

  // The server never takes this event: what else it handed out may be out of date too.
  /** @type {(record: Kept) => void} */
  lose({ event, former, instead }) {
    this.history.remove(event.event_id);
    const stands = instead ?? former ?? null;
    if (isOnPair(event)) this.stand(event, stands);
    if (!instead) {
      const { current } = this.queue;
      this.queue.drop((entry) => entry !== current || entry.item.query === event.query);
    }
    this.fetchAfterSending();
    this.hooks.changed();
  }

  /** @type {(event: Pair, done: Standing | null) => void} */
  stand(event, done) {
    const item = this.queue.entriesOf(event).at(-1)?.item ?? event;
    if (done) this.queue.settle(item, done);
    else this.queue.restore(item, null, null);
    this.hooks.judged(item, done);
  }

  // What is waiting to be sent for an item: a judgment, null for one taken back, or undefined.
  /** @type {(item: Pair) => Standing | null | undefined} */
  latest(item) {
    const pair = pairKey(item);
    const waits = this.outbox.waiting().some(([, { event }]) => pairKey(event) === pair);
    return waits ? (this.queue.standing.get(pair) ?? null) : undefined;
  }

  // Another tab of this grader did this.
  /** @type {(record: Kept) => void} */
  heard({ event, former, said }) {
    const present = this.queue.current;
    const wasOpen = present && !present.done;
    if (!isOnPair(event)) this.remarks.heard(event, said ?? null);
    else if (event.undoes) this.heardUndo(event, event.undoes, former ?? null);
    else this.heardJudgment(event);
    this.hooks.changed();
    const about = isOnPair(event) && present && pairKey(present.item) === pairKey(event);
    if (about && wasOpen && !event.undoes) {
      this.queue.goToNextOpen();
      this.lookAnew();
      this.hooks.changed();
      this.hooks.said("did.other_tab");
    }
    clearTimeout(this.settleTimer);
    this.settleTimer = setTimeout(() => this.fetchAfterSending(), OTHER_TAB_SETTLES_MS);
  }

  /** @type {(event: PairEvent) => void} */
  heardJudgment(event) {
    const item = this.queue.entriesOf(event).at(-1)?.item;
    const done = { ...bare(event), item };
    const former = this.queue.standingOf(event);
    if (this.queue.settle(event, done)) this.progress.close(event.query);
    // a step of this tab on the same pair cannot be undone before this one
    const mine = this.history.judged().findLast((step) => pairKey(step.item) === pairKey(event));
    if (mine) this.history.push({ ...done, item: item ?? mine.item, former });
    this.hooks.judged(event, done);
  }

  /** @type {(event: PairEvent, undone: string, former: Standing | null) => void} */
  heardUndo(event, undone, former) {
    this.history.remove(undone);
    this.queue.restore(event, former, null);
    if (!former) this.progress.reopen(event.query);
    this.hooks.judged(event, former);
  }
}

// A judgment without its item, as it is kept and sent.
/**
 * @template {Standing | PadEvent | null | undefined} D
 * @param {D} done
 * @returns {D extends null | undefined ? null : Judged}
 */
export function bare(done) {
  if (!done) return /** @type {any} */ (null);
  const { event_id, kind = null, grade = null, reason = null, note = null, evidence } = done;
  return /** @type {any} */ ({
    event_id,
    kind,
    grade,
    reason,
    note,
    ...(evidence && { evidence }),
  });
}

// What an event says of its passages: nothing where nobody marks anything.
/** @type {(evidence: Passage[] | undefined, former: Standing | null) => { evidence?: Passage[] }} */
function restingOn(evidence, former) {
  return evidence && (evidence.length || former?.evidence?.length) ? { evidence } : {};
}

/** @type {(event: PadEvent) => event is PairEvent} */
export function isOnPair(event) {
  return Boolean(event.chunk);
}
