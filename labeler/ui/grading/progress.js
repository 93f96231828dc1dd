// How far this grader is: the server's numbers, kept up between its answers, and their words.

/**
 * @import {
 *   About, Decision, NextAnswer, Say, SelfAgreement, Spoken, Standing, Terms
 * } from "./shapes"
 */

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
    /** @type {SelfAgreement | null} */
    this.agreement = null; // how steady this grader is
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
    this.agreement = answer.self_agreement ?? null;
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
// `skipped` are open ones before the one on screen.
/** @type {(progress: GradingProgress, queryId: string | undefined, skipped?: number) => { done: number, all: number, at: number } | null} */
export function placeIn(progress, queryId, skipped = 0) {
  const query = progress.queries[queryId ?? ""];
  if (progress.open === null || progress.decision || !query?.total) return null;
  const done = query.mine ?? 0;
  const all = done + query.left;
  return { done, all, at: Math.min(all, done + skipped + 1) };
}

// How far this query is; where somebody keeps to what decides, how far that is.
/** @type {(progress: GradingProgress, place: ReturnType<typeof placeIn>, spoken: Spoken, done: Standing | null) => string} */
export function progressWords(progress, place, { say }, done) {
  if (progress.decision?.settled) return say("progress.decided");
  if (progress.decision && progress.open) return say("progress.decides", { n: progress.open });
  if (!place) return "";
  if (place.done === place.all) return say("progress.all", { n: place.all });
  return say(done ? "progress.graded" : "progress.at", place);
}

// How long the rest of this query may take; where somebody keeps to what decides, all of that.
/** @type {(progress: GradingProgress, queryId: string | undefined, spoken: Spoken) => string} */
export function timeInQuestion(progress, queryId, { say }) {
  if (progress.decision) {
    if (!progress.pace || !progress.open || progress.decision.settled) return "";
    return say("progress.left_at_pace", { time: timeWords(progress.open * progress.pace, say) });
  }
  const left = progress.queries[queryId ?? ""]?.left;
  if (!left || progress.open === null) return "";
  return say("progress.left", { time: timeWords(left * (progress.pace ?? USUAL_PACE), say) });
}

// Which question this is of those that this grader has done or still has to do.
/** @type {(progress: GradingProgress, queryId: string | undefined, terms: Terms) => string} */
export function overallWords(progress, queryId, { say }) {
  if (!queryId || progress.open === null || !progress.queriesTotal || progress.decision) return "";
  const { queriesTotal, queriesDone, queriesMine } = progress;
  const isOpen = Boolean(progress.queries[queryId ?? ""]?.left);
  const all = queriesTotal - queriesDone + queriesMine;
  const at = Math.min(all, queriesMine + (isOpen ? 1 : 0));
  return say("progress.question_at", { at, all });
}

// The same of the whole team, and how long all of it may take.
/** @type {(progress: GradingProgress, terms: Terms) => string} */
export function teamWords(progress, { say }) {
  const { queriesTotal, queriesDone, queriesMine, open } = progress;
  if (open === null || !queriesTotal) return "";
  const questions_in_all = say("count.questions", { n: queriesTotal });
  const said = { questions_in_all, done: queriesDone, mine: queriesMine };
  if (!open) return say("progress.team", said);
  const time = timeWords(open * (progress.pace ?? USUAL_PACE), say);
  return say("progress.team_left", { ...said, time });
}

// How long something takes, in words.
/** @type {(milliseconds: number, say: Say) => string} */
export function timeWords(milliseconds, say) {
  const minutes = Math.max(1, Math.round(milliseconds / 60000));
  if (minutes < 60) return say("time.minutes", { n: minutes });
  const tens = Math.round(minutes / 10);
  const [hours, rest] = [Math.floor(tens / 6), 10 * (tens % 6)];
  if (rest && hours < 10) return say("time.hours_minutes", { n: hours, minutes: rest });
  return say("time.hours", { n: Math.round(minutes / 60) });
}
