// How far this grader is: the server's numbers, kept up between its answers, and their words.
// Knows no chunk.

/** @import { About, NextAnswer } from "./shapes" */

export class Tally {
  constructor() {
    /** @type {number | null} */
    this.open = null; // chunks open for this grader; null until the server has said it
    /** @type {Record<string, About>} */
    this.queries = {};
    this.queriesDone = 0;
    this.queriesTotal = 0;
    /** @type {number | null} */
    this.pace = null;
    this.withoutText = 0;
    this.agreement = ""; // how steady this grader is, in the server's kind words
  }

  // `calm`: nothing was under way meanwhile, so that the server's numbers hold.
  /** @type {(answer: NextAnswer, calm: boolean) => void} */
  take(answer, calm) {
    this.withoutText = answer.without_text;
    this.pace = answer.pace_ms ?? null;
    this.agreement = answer.self_agreement ?? "";
    this.know(answer.queries, calm);
    if (!calm && this.open !== null) return;
    this.open = answer.open;
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
    if (before && !query.left) this.queriesDone += 1;
    if (!before && query.left) this.queriesDone -= 1;
  }

  // All that is left of a query is not asked any more; returns how much that was.
  /** @type {(queryId: string) => number} */
  setAside(queryId) {
    const left = this.queries[queryId]?.left ?? 0;
    if (left) this.move(queryId, -left);
    return left;
  }
}

/** @type {(tally: Tally, queryId: string | undefined) => string} */
export function progressWords(tally, queryId) {
  if (tally.open === null) return "";
  const query = tally.queries[queryId ?? ""];
  const parts = [];
  if (query?.total) parts.push(`${query.total - query.left} of ${query.total} in this query`);
  if (tally.queriesTotal) {
    const done = tally.queriesDone.toLocaleString();
    parts.push(`${done} of ${tally.queriesTotal.toLocaleString()} queries`);
  }
  if (tally.pace && tally.open) parts.push(timeWords((tally.open * tally.pace) / 60000));
  return parts.join(" · ");
}

/** @type {(minutes: number) => string} */
function timeWords(minutes) {
  if (minutes < 1.5) return "about a minute left at your pace";
  if (minutes < 100) return `about ${Math.round(minutes)} minutes left at your pace`;
  return `about ${Math.round(minutes / 60)} hours left at your pace`;
}
