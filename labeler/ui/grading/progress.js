// How far this grader is: the server's numbers, kept up between its answers, and their words.

/** @import { About, Decision, NextAnswer, Terms } from "./shapes" */

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
      const { left, remark, remark_note } = this.queries[id] ?? {};
      const here = left === undefined || calm ? {} : { left, remark, remark_note };
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

// How far this query is; where somebody keeps to what decides, how far that is.
/** @type {(progress: GradingProgress, queryId: string | undefined, terms: Terms) => string} */
export function progressWords(progress, queryId, { question }) {
  const query = progress.queries[queryId ?? ""];
  if (progress.decision?.settled) return "decided";
  if (progress.decision && progress.open) {
    const decide = progress.open === 1 ? "decides" : "decide";
    return `about ${progress.open.toLocaleString()} more ${decide} it`;
  }
  if (progress.open === null || !query?.total) return "";
  return query.left ? `${query.left} left in this ${question[0]}` : `this ${question[0]} is done`;
}

// How far all of it is, and how long the rest may take.
/** @type {(progress: GradingProgress, terms: Terms) => string} */
export function overallWords(progress, { question }) {
  if (progress.open === null || !progress.queriesTotal) return "";
  const counts = [progress.queriesMine, progress.queriesDone, progress.queriesTotal];
  const [mine, all, total] = counts.map((count) => count.toLocaleString());
  const done = `you ${mine}, team ${all} of ${total} ${question[1]}`;
  const parts = progress.decision ? [] : [done];
  if (progress.pace && progress.open)
    parts.push(timeWords((progress.open * progress.pace) / 60000));
  return parts.join(" · ");
}

/** @type {(minutes: number) => string} */
function timeWords(minutes) {
  if (minutes < 1.5) return "about a minute left at your pace";
  if (minutes < 100) return `about ${Math.round(minutes)} minutes left at your pace`;
  return `about ${Math.round(minutes / 60)} hours left at your pace`;
}
