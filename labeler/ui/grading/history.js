// The grader's own steps by time, for undo and redo; older ones come from the server when they run
// out.

import { pairKey } from "../js/pairs.js";

/** @import { AnyStep, Pair, Step } from "./shapes" */

/** @type {(step: AnyStep) => step is Step} */
export function isJudged(step) {
  return "item" in step;
}

export class GradeHistory {
  constructor() {
    /** @type {AnyStep[]} */
    this.steps = []; // oldest first
    /** @type {AnyStep[]} */
    this.undone = []; // what redo does again, the last first to go
    /** @type {string | null} */
    this.oldest = null; // the oldest judgment the server has told of
    /** @type {string | null} */
    this.oldestRemark = null;
    this.exhausted = false;
  }

  // Begin with the newest steps the server knows, newest first.
  /** @type {(undoable: AnyStep[]) => void} */
  start(undoable) {
    this.steps = [];
    this.exhausted = false;
    this.extend(undoable);
  }

  // Older steps, newest first.
  /** @type {(older: AnyStep[]) => void} */
  extend(older) {
    if (!older.length) this.exhausted = true;
    for (const step of older) {
      if (isJudged(step)) this.oldest = step.event_id;
      else this.oldestRemark = step.event_id;
    }
    this.steps.unshift(...older.toReversed());
  }

  // Something new was done: what was taken back before is not done again any more.
  /** @type {(step: AnyStep) => void} */
  push(step) {
    this.steps.push(step);
    this.undone = [];
  }

  // Take the newest step out, for redo to do again.
  /** @type {() => AnyStep | null} */
  pop() {
    const step = this.steps.pop();
    if (!step) return null;
    const whole = this.complete(step);
    this.undone.push(whole);
    return whole;
  }

  // Take one step out, wherever it is.
  /** @type {(eventId: string) => Step | null} */
  remove(eventId) {
    const step = this.judged().find(({ event_id }) => event_id === eventId);
    if (!step) return null;
    this.steps.splice(this.steps.indexOf(step), 1);
    return this.complete(step);
  }

  // Do something that redo asked for: what else was taken back can still be done again.
  /**
   * @template Done
   * @param {(step: AnyStep) => Done} act
   * @returns {Done | null}
   */
  redo(act) {
    const step = this.undone.pop();
    const others = this.undone;
    if (!step) return null;
    const done = act(step);
    this.undone = others;
    return done;
  }

  // What undoing leaves: the server says it, or an older step of the same pair does.
  /**
   * @template {AnyStep} S
   * @param {S} step
   * @returns {S}
   */
  complete(step) {
    if (!isJudged(step) || step.former !== undefined) return step;
    const pair = pairKey(step.item);
    const former = this.judged().findLast((older) => pairKey(older.item) === pair);
    return { ...step, former: former ?? null };
  }

  // Whether a judgment of the pair was taken back and may still be done again.
  /** @type {(pair: Pair) => boolean} */
  wasUndone(pair) {
    return this.undone.some((step) => isJudged(step) && pairKey(step.item) === pairKey(pair));
  }

  judged() {
    return this.steps.filter(isJudged);
  }
}
