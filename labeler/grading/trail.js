// The grader's own steps by time, for undo; older ones come from the server when they run out.
// Knows nothing of what is on screen.

import { pairOf } from "./parts.js";

/** @import { AnyStep, Step } from "./shapes" */

/** @type {(step: AnyStep) => step is Step} */
export function isJudged(step) {
  return "item" in step;
}

export class Trail {
  constructor() {
    /** @type {AnyStep[]} */
    this.steps = []; // oldest first
    /** @type {string | null} */
    this.oldest = null; // the oldest event the server has told of
    this.exhausted = false;
  }

  // Begin with the newest steps the server knows, newest first.
  /** @type {(undoable: Step[]) => void} */
  start(undoable) {
    this.steps = [];
    this.exhausted = false;
    this.extend(undoable);
  }

  // Older steps, newest first.
  /** @type {(older: Step[]) => void} */
  extend(older) {
    const oldest = older.at(-1);
    if (oldest) this.oldest = oldest.event_id;
    else this.exhausted = true;
    this.steps.unshift(...older.filter((done) => done.item).reverse());
  }

  /** @type {(step: AnyStep) => void} */
  push(step) {
    this.steps.push(step);
  }

  /** @type {() => AnyStep | undefined} */
  pop() {
    const step = this.steps.pop();
    return step && this.complete(step);
  }

  // Take one step out, wherever it is.
  /** @type {(eventId: string) => Step | null} */
  remove(eventId) {
    const step = this.judged().find(({ event_id }) => event_id === eventId);
    if (!step) return null;
    this.steps.splice(this.steps.indexOf(step), 1);
    return this.complete(step);
  }

  // What undoing leaves: the server says it, or an older step of the same pair does.
  /**
   * @template {AnyStep} S
   * @param {S} step
   * @returns {S}
   */
  complete(step) {
    if (!isJudged(step) || step.former !== undefined) return step;
    const pair = pairOf(step.item);
    const former = this.judged().findLast((older) => pairOf(older.item) === pair);
    return { ...step, former: former ?? null };
  }

  judged() {
    return this.steps.filter(isJudged);
  }
}
