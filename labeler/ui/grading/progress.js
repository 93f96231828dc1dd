// How far this grader is: the server's numbers, kept up between its answers, and their words.

import { counted } from "./status.js";

/** @import { About, Decision, NextAnswer, Standing, Terms } from "./shapes" */

export const USUAL_PACE = 6900; // milliseconds a chunk takes, until somebody's own pace is known

export class GradingProgress {
  constructor() {
    /** @type {number | null} */
    this.open = null; // chunks open for this grader; null until the server has said it
    /** @type {Record<string, About>} */
    this.queries = {};
    this.queriesMine = 0;
    this.queriesDone = 0;
    this.queriesTotal = 0;
    /** @type {number | null} */
    this.pace = null;
    this.withoutText = 0;
    this.looked = 1; // the share of the texts that was looked at for what was given before
    this.agreement = ""; // how steady this grader is, in the server's kind words
    /** @type {Decision | null} */
    this.decision = null;
  }

  // `calm`: nothing was under way meanwhile, so that the server's numbers hold.
  /** @type {(answer: NextAnswer, calm: boolean) => void} */
  take(answer, calm) {
    this.withoutText = answer.without_text;
    this.looked = answer.looked;
    this.decision = answer.decision ?? null;
    this.pace = answer.pace_ms ?? null;
    this.agreement = answer.self_agreement ?? "";
    this.know(answer.queries, calm);
    if (!calm && this.open !== null && !this.decision) return;
    this.open = answer.open;
    this.queriesMine = answer.queries_mine;
    this.queriesDone = answer.queries_done;
    this.queriesTotal = answer.queries_total;
  }

  /**
   * @param {Record<string, About> | undefined} queries
   * @param {boolean} [calm]
   */
  know(queries, calm = false) {
    for (const [id, query] of Object.entries(queries ?? {})) {
      const { left, mine, remark, remark_note } = this.queries[id] ?? {};
      const here = left === undefined || calm ? {} : { left, mine, remark, remark_note };
      this.queries[id] = { ...query, ...here };
    }
  }

  /** @type {(queryId: string) => void} */
  close(queryId) {
    this.move(queryId, -1);
  }

  /** @type {(queryId: string) => void} */
  reopen(queryId) {
    this.move(queryId, 1);
  }

  /** @type {(queryId: string, by: number) => void} */
  move(queryId, by) {
    this.open = Math.max(0, (this.open ?? 0) + by);
    const query = this.queries[queryId];
    if (!query) return;
    const before = query.left;
    query.left = Math.max(0, before + by);
    query.mine = Math.max(0, (query.mine ?? 0) - by);
    if (Boolean(before) === Boolean(query.left)) return;
    this.queriesDone += query.left ? -1 : 1;
    this.queriesMine = Math.max(0, this.queriesMine + (query.left ? -1 : 1));
  }

  // So many chunks of a query are asked again.
  /** @type {(queryId: string, count: number) => void} */
  comeBack(queryId, count) {
    if (!this.queries[queryId]?.left) this.move(queryId, count);
  }

  // All that is left of a query is not asked any more; returns how much that was.
  /** @type {(queryId: string) => number} */
  setAside(queryId) {
    const left = this.queries[queryId]?.left ?? 0;
    if (left) this.move(queryId, -left);
    return left;
  }
}

// How far a query is for this grader: how many are graded, of how many.
/** @type {(progress: GradingProgress, queryId: string | undefined) => { done: number, all: number } | null} */
export function placeIn(progress, queryId) {
  const query = progress.queries[queryId ?? ""];
  if (progress.open === null || progress.decision || !query?.total) return null;
  const done = query.mine ?? 0;
  return { done, all: done + query.left };
}

// How far this query is; where somebody keeps to what decides, how far that is.
/** @type {(progress: GradingProgress, queryId: string | undefined, terms: Terms, done: Standing | null) => string} */
export function progressWords(progress, queryId, { question, passage }, done) {
  if (progress.decision?.settled) return "decided";
  if (progress.decision && progress.open) {
    const decide = progress.open === 1 ? "decides" : "decide";
    return `about ${progress.open.toLocaleString()} more ${decide} it`;
  }
  const place = placeIn(progress, queryId);
  if (!place) return "";
  if (place.done === place.all) return `All ${counted(place.all, passage)} of this ${question[0]}`;
  const [at, all] = [place.done + 1, place.all].map((count) => count.toLocaleString());
  const name = passage[0].charAt(0).toLocaleUpperCase() + passage[0].slice(1);
  return done ? `${place.done} of ${all} graded` : `${name} ${at} of ${all}`;
}

// How long the rest of this query may take; where somebody keeps to what decides, all of that.
/** @type {(progress: GradingProgress, queryId: string | undefined) => string} */
export function timeInQuestion(progress, queryId) {
  if (progress.decision) {
    if (!progress.pace || !progress.open || progress.decision.settled) return "";
    return `${timeWords(progress.open * progress.pace)} left at your pace`;
  }
  const left = progress.queries[queryId ?? ""]?.left;
  if (!left || progress.open === null) return "";
  return `${timeWords(left * (progress.pace ?? USUAL_PACE))} left`;
}

// Which question of all of them this is.
/** @type {(progress: GradingProgress, queryId: string | undefined, terms: Terms) => string} */
export function overallWords(progress, queryId, { question }) {
  if (!queryId || progress.open === null || !progress.queriesTotal || progress.decision) return "";
  const isOpen = Boolean(progress.queries[queryId ?? ""]?.left);
  const at = Math.min(progress.queriesTotal, progress.queriesDone + (isOpen ? 1 : 0));
  const [here, all] = [at, progress.queriesTotal].map((count) => count.toLocaleString());
  return `${question[0]} ${here} of ${all}`;
}

// The same of the whole team, and how long all of it may take.
/** @type {(progress: GradingProgress, terms: Terms) => string} */
export function teamWords(progress, { question }) {
  const { queriesTotal, queriesDone, queriesMine, open } = progress;
  if (open === null || !queriesTotal) return "";
  const done = `${counted(queriesTotal, question)}: ${queriesDone.toLocaleString()} done`;
  const mine = `${queriesMine.toLocaleString()} by you`;
  const time = open ? `; ${timeWords(open * (progress.pace ?? USUAL_PACE))} left at your pace` : "";
  return `${done}, ${mine}${time}`;
}

// How long something takes, in words.
/** @type {(milliseconds: number) => string} */
export function timeWords(milliseconds) {
  const minutes = Math.round(milliseconds / 60000);
  if (minutes < 2) return "about 1 min";
  if (minutes < 100) return `about ${minutes} min`;
  return `about ${Math.round(minutes / 60)} hours`;
}
