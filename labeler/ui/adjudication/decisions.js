// What was decided: what stands of each pair on the page, and what can be taken back, newest last.

import { pairKey } from "../js/pairs.js";
import { settleCopies } from "./copies.js";

/** @import { Case, Decision, Kept, Step, Verdict } from "./shapes" */
/** @import { Listing } from "./listing" */

export class Decisions {
  /**
   * @param {Listing} listing
   * @param {string} grader
   */
  constructor(listing, grader) {
    this.listing = listing;
    this.grader = grader;
    /** @type {Step[]} */
    this.trail = [];
    this.isBegun = false;
  }

  // A page has come: what waits to be sent counts in it already.
  /** @type {(waiting: Kept[]) => void} */
  begin(waiting) {
    for (const record of waiting) this.apply(record);
    if (this.isBegun) return;
    this.isBegun = true;
    this.trail = this.listing.undoable.toReversed();
    for (const record of waiting) this.trace(record);
  }

  /** @type {(item: Case, verdict: Verdict, step: Pick<Step, "grade" | "before" | "counted">) => void} */
  give(item, verdict, step) {
    this.settle(item, verdict);
    this.trail.push({ ...verdict, ...step });
  }

  // What was done elsewhere, or is sent again, counts here and can be taken back here.
  /** @type {(record: Kept) => void} */
  hear(record) {
    this.apply(record);
    this.trace(record);
  }

  /** @type {(record: Kept) => void} */
  apply({ event, former }) {
    const item = this.listing.find(pairKey(event));
    if (!item) return;
    if (event.undoes === undefined) this.settle(item, /** @type {Verdict} */ (event));
    else if (item.adjudication?.event_id === event.undoes) this.stand(item, former);
  }

  /** @type {(record: Kept) => void} */
  trace({ event, former }) {
    const { event_id, undoes, query, chunk = "", grade } = event;
    this.forget(event_id);
    if (undoes !== undefined) this.forget(undoes);
    else this.trail.push({ ...event, query, chunk, grade: grade ?? 0, before: asDecision(former) });
  }

  // It can no longer be taken back.
  /** @type {(event_id: string) => void} */
  forget(event_id) {
    this.trail = this.trail.filter((step) => step.event_id !== event_id);
  }

  /** @type {(item: Case, stands: Kept["former"]) => void} */
  stand(item, stands) {
    this.listing.left += Number(Boolean(item.adjudication)) - Number(Boolean(stands));
    item.adjudication = asDecision(stands);
  }

  // What is decided counts; of several chunks with one text it may be that another still differs.
  /** @type {(item: Case, verdict: Verdict) => void} */
  settle(item, verdict) {
    const { event_id, grade, note = null, evidence = [] } = verdict;
    const { grader } = this;
    const decision = { event_id, grade: grade ?? 0, note, grader, day: "", evidence };
    this.stand(item, settleCopies(item, verdict) ? decision : null);
  }
}

// What stands of a pair, as it was kept with an event.
/** @type {(stands: Kept["former"]) => Decision | null} */
function asDecision(stands) {
  return /** @type {Decision | null} */ (stands ?? null);
}
