// Keeps every decision in the browser until the server has acknowledged it, and sends them in the
// order they were made.

import { askJson, Forbidden, RETRY_MS, Stuck } from "../js/api.js";
import { wordsOf } from "../js/dom.js";
import { keyOf } from "../js/storage.js";

/** @import { BenchData, Result, Verdict } from "./shapes" */

const STORED = "labeler-decided";
const AT_ONCE = 20;

export class Sender {
  /**
   * @param {BenchData} who
   * @param {{ changed: () => void, renew: () => void, answered: (verdict: Verdict, result: Result) => void }} hooks
   */
  constructor(who, hooks) {
    this.prefix = `${keyOf(STORED, who)}/`;
    this.token = who.token;
    this.hooks = hooks;
    /** @type {Map<string, Verdict>} */
    this.waiting = new Map();
    this.state = "idle"; // idle, sending, offline, stuck, forbidden
    this.reason = "";
    this.failures = 0;
    this.refusals = 0; // times in a row that a token was not taken
    /** @type {number | undefined} */
    this.timer = undefined;
    this.isSending = false;
    this.isDisposed = false;
    this.recall();
    this.retry = () => void this.send();
    window.addEventListener("online", this.retry);
    document.addEventListener("visibilitychange", this.retry);
  }

  // What an earlier page had not sent yet.
  recall() {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(this.prefix));
    for (const key of keys.sort()) {
      try {
        this.waiting.set(key, JSON.parse(localStorage.getItem(key) ?? ""));
      } catch {
        localStorage.removeItem(key); // nobody can read it
      }
    }
  }

  dispose() {
    this.isDisposed = true;
    clearTimeout(this.timer);
    window.removeEventListener("online", this.retry);
    document.removeEventListener("visibilitychange", this.retry);
  }

  /** @type {(verdict: Verdict) => void} */
  add(verdict) {
    const last = Array.from(this.waiting.keys()).at(-1)?.slice(this.prefix.length) ?? "0";
    const number = String(Number.parseInt(last, 10) + 1).padStart(12, "0");
    const key = `${this.prefix}${number}-${verdict.event_id}`;
    this.waiting.set(key, verdict);
    try {
      localStorage.setItem(key, JSON.stringify(verdict));
    } catch {
      // no room: it is sent from memory
    }
    this.hooks.changed();
    void this.send();
  }

  /** @type {(token: string) => void} */
  useToken(token) {
    if (token === this.token && this.state !== "forbidden") return;
    this.token = token;
    if (this.state === "forbidden") this.state = "idle";
    void this.send();
  }

  async send() {
    if (this.isSending || this.isDisposed || this.state === "forbidden") return;
    clearTimeout(this.timer);
    this.isSending = true;
    try {
      while (this.waiting.size && !this.isDisposed) {
        this.become("sending");
        await this.post(Array.from(this.waiting).slice(0, AT_ONCE));
      }
      this.failures = 0;
      this.become("idle");
    } catch (problem) {
      this.pause(problem);
    } finally {
      this.isSending = false;
    }
  }

  /** @type {(batch: [string, Verdict][]) => Promise<void>} */
  async post(batch) {
    const body = JSON.stringify({ events: batch.map(([, verdict]) => verdict) });
    /** @type {{ results: Result[] }} */
    const { results } = await askJson(this.token, "/api/adjudications", body);
    const byId = new Map(results.map((result) => [result.event_id, result]));
    let answered = 0;
    for (const [key, verdict] of batch) {
      const result = byId.get(verdict.event_id);
      if (!result) continue;
      answered += 1;
      this.waiting.delete(key);
      localStorage.removeItem(key);
      this.hooks.answered(verdict, result);
    }
    if (!answered) throw new Error("nothing was acknowledged");
    this.refusals = 0;
  }

  /** @type {(problem: unknown) => void} */
  pause(problem) {
    this.reason = wordsOf(problem);
    if (problem instanceof Forbidden) {
      this.refusals += 1;
      this.become("forbidden");
      if (this.refusals < 4) this.hooks.renew();
      return;
    }
    this.become(problem instanceof Stuck ? "stuck" : "offline");
    const wait = RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)];
    this.timer = setTimeout(this.retry, wait);
  }

  /** @type {(state: string) => void} */
  become(state) {
    this.state = state;
    this.hooks.changed();
  }

  // What is saved, in words, honestly.
  /** @type {(isSaved: boolean) => string} */
  inWords(isSaved) {
    const waiting = this.waiting.size;
    if (!waiting) return isSaved ? "saved" : "";
    const away = { offline: "offline", stuck: "not saving", forbidden: "not saving" };
    const isAway = this.state in away ? away[/** @type {keyof typeof away} */ (this.state)] : "";
    return isAway ? `${isAway}, ${waiting} kept` : `${waiting} waiting`;
  }
}
