// Keeps every event in the browser's storage until the server has acknowledged it, and sends them
// in the order they happened. Knows nothing of what is on screen.

import { keyOf } from "./parts.js";

/** @import { Kept, PadEvent, Standing } from "./shapes" */

/**
 * What the server says of an event: saved, or refused for good.
 * @typedef {{ event_id: string, refused?: string, instead?: Standing | null }} Result
 */

/**
 * Who hears of what: `forbidden` that a new token is needed, `other` what another tab did.
 * @typedef {{
 *   changed: () => void,
 *   forbidden: () => void,
 *   refused: (record: Kept) => void,
 *   saved: (record: Kept) => void,
 *   other: (record: Kept) => void,
 * }} Hooks
 */

const SEND_AT_ONCE = 50;
const RETRY_MS = [500, 1000, 2000, 4000, 5000];
const OTHER_TAB_MS = 5000; // what another tab has not sent by then is sent from here
const ANSWER_WITHIN_MS = 20000;

/** @type {() => string} */
export function newId() {
  // crypto.randomUUID exists on https and localhost only
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// What the server sends to whom: one grader's token and the checks that go with it.
/**
 * @param {string | null} token
 * @param {string} path
 * @param {RequestInit} [options]
 */
export async function ask(token, path, options = {}) {
  return fetch(path, {
    ...options,
    headers: { "Content-Type": "application/json", "X-Labeler-Token": token ?? "" },
    credentials: "same-origin",
    cache: "no-store",
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
}

const STORED = "labeler";
const REFUSED = "labeler-refused";

// What is kept under a prefix, oldest first: [key, record].
/** @type {(prefix: string) => [string, Kept][]} */
function keptUnder(prefix) {
  /** @type {[string, Kept][]} */
  const found = [];
  for (const key of Object.keys(localStorage)) {
    if (!key.startsWith(prefix)) continue;
    const record = asRecord(localStorage.getItem(key));
    if (record) found.push([key, record]);
  }
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

// A record is {event, counts, former, shown}: what is sent, by how much it changes the number of
// pairs judged, what stood before it, and the words to show it by.
/** @type {(text: string | null) => Kept | null} */
function asRecord(text) {
  try {
    const kept = JSON.parse(text ?? "null");
    return kept?.event_id ? { event: kept, counts: kept.undoes ? -1 : 1 } : kept;
  } catch {
    return null; // another tab removed it meanwhile, or it is not ours to read
  }
}

// Who else has events waiting in this browser for this golden set, and how many.
/** @type {(goldenSet: string, grader: string) => Map<string, number>} */
export function othersWaiting(goldenSet, grader) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const key of Object.keys(localStorage)) {
    const [stored, set, name = ""] = key.split("/");
    if (stored !== STORED || set !== goldenSet) continue;
    const other = decodeURIComponent(name);
    if (other !== grader) counts.set(other, (counts.get(other) ?? 0) + 1);
  }
  return counts;
}

export class Outbox {
  // Events of one grader and one golden set have keys of their own: they are never sent under
  // another name, nor to another golden set.
  /**
   * @param {string} goldenSet
   * @param {string} grader
   * @param {Hooks} hooks
   */
  constructor(goldenSet, grader, hooks) {
    this.prefix = `${keyOf(STORED, goldenSet, grader)}/`;
    this.refusedPrefix = `${keyOf(REFUSED, goldenSet, grader)}/`;
    this.hooks = hooks;
    /** @type {string | null} */
    this.token = null;
    this.state = "idle"; // idle, sending, offline, stuck (the server cannot save), forbidden
    this.reason = ""; // why it is stuck or forbidden, in the server's words
    this.failures = 0;
    this.refusals = 0; // times in a row that a token was not taken
    this.saved = 0; // pairs judged in this browser, less those taken back
    /** @type {Set<string>} */
    this.counted = new Set(); // events that are in `saved`
    /** @type {Map<string, Kept>} */
    this.unkept = new Map(); // events the browser would not store, kept in memory only
    /** @type {Map<string, Kept>} */
    this.unkeptRefused = new Map();
    this.count = 0;
    this.moves = 0; // every event that came in or was acknowledged
    this.disposed = false;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** @type {number | undefined} */
    this.otherTimer = undefined;
    /** @type {Promise<void> | null} */
    this.sending = null;
    this.retryNow = () => this.send();
    /** @type {(event: StorageEvent) => void} */
    this.onStorage = (event) => this.heard(event);
    window.addEventListener("online", this.retryNow);
    window.addEventListener("storage", this.onStorage);
    document.addEventListener("visibilitychange", this.retryNow);
  }

  dispose() {
    clearTimeout(this.timer);
    clearTimeout(this.otherTimer);
    this.disposed = true;
    window.removeEventListener("online", this.retryNow);
    window.removeEventListener("storage", this.onStorage);
    document.removeEventListener("visibilitychange", this.retryNow);
  }

  /** @type {(record: Kept) => void} */
  add(record) {
    const [time, count] = [String(Date.now()), String(this.count++)];
    const order = `${time.padStart(15, "0")}-${count.padStart(6, "0")}`;
    this.keep(`${this.prefix}${order}-${record.event.event_id}`, record, this.unkept);
    this.moves += 1;
    this.send();
  }

  /** @type {(key: string, record: Kept, unkept: Map<string, Kept>) => void} */
  keep(key, record, unkept) {
    try {
      localStorage.setItem(key, JSON.stringify(record));
    } catch {
      unkept.set(key, record);
    }
  }

  /** @type {() => [string, Kept][]} */
  waiting() {
    return [...keptUnder(this.prefix), ...this.unkept].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  // Events the server will never take, until somebody has looked at them.
  /** @type {() => [string, Kept][]} */
  refused() {
    return [...keptUnder(this.refusedPrefix), ...this.unkeptRefused];
  }

  /** @type {(key: string) => void} */
  drop(key) {
    this.unkept.delete(key);
    this.unkeptRefused.delete(key);
    localStorage.removeItem(key);
  }

  // Something another tab of this grader kept or dropped.
  /** @type {(event: StorageEvent) => void} */
  heard({ key, newValue, oldValue }) {
    if (!key?.startsWith(this.prefix)) {
      if (key?.startsWith(this.refusedPrefix)) this.hooks.changed();
      return;
    }
    this.moves += 1;
    clearTimeout(this.otherTimer);
    this.otherTimer = setTimeout(() => this.send(), OTHER_TAB_MS);
    const record = asRecord(newValue ?? oldValue);
    if (record && newValue) this.hooks.other(record);
    else if (record && !this.isRefused(record.event)) this.countIn(record);
    this.hooks.changed();
  }

  /** @type {(event: PadEvent) => boolean} */
  isRefused({ event_id }) {
    return this.refused().some(([, record]) => record.event.event_id === event_id);
  }

  /** @type {(record: Kept) => void} */
  countIn({ event, counts }) {
    if (!this.counted.has(event.event_id)) this.saved += counts ?? 0;
    this.counted.add(event.event_id);
  }

  // Not let in with one token after the other: a person has to hear of it.
  get isShutOut() {
    return this.refusals > 2;
  }

  /** @type {(token: string) => void} */
  useToken(token) {
    this.token = token;
    if (this.state === "forbidden") this.state = "idle";
    this.send();
  }

  // Send what waits; done when nothing waits or a pause is needed. One sending at a time.
  /** @type {() => Promise<void>} */
  send() {
    if (this.disposed || !this.token || this.state === "forbidden") return Promise.resolve();
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null;
    });
    return this.sending;
  }

  /** @type {() => Promise<void>} */
  async sendAll() {
    clearTimeout(this.timer);
    try {
      for (;;) {
        const batch = this.waiting().slice(0, SEND_AT_ONCE);
        if (!batch.length) break;
        this.become("sending");
        await this.post(batch);
      }
      this.failures = 0;
      this.become("idle");
    } catch (problem) {
      this.pause(problem);
    }
  }

  /** @type {(batch: [string, Kept][]) => Promise<void>} */
  async post(batch) {
    const body = JSON.stringify({ events: batch.map(([, record]) => record.event) });
    const response = await ask(this.token, "/api/judgments", { method: "POST", body });
    if (response.status === 403) throw new Forbidden(await reasonOf(response));
    if (!response.ok) throw new Stuck(await reasonOf(response));
    /** @type {{ results: Result[] }} */
    const { results } = await response.json();
    const byId = new Map(results.map((result) => [result.event_id, result]));
    let answered = 0;
    for (const [key, record] of batch) {
      const result = byId.get(record.event.event_id);
      if (!result) continue;
      answered += 1;
      this.failures = this.refusals = 0;
      this.settle(key, record, result);
    }
    if (!answered) throw new Error("nothing was acknowledged");
    this.hooks.changed();
  }

  /** @type {(key: string, record: Kept, result: Result) => void} */
  settle(key, record, result) {
    this.moves += 1;
    if (result.refused) {
      const kept = { ...record, reason: result.refused, instead: result.instead ?? null };
      const order = key.slice(this.prefix.length);
      this.keep(this.refusedPrefix + order, kept, this.unkeptRefused);
      this.drop(key);
      this.hooks.refused(kept);
      return;
    }
    this.drop(key);
    this.countIn(record);
    this.hooks.saved(record);
  }

  /** @type {(problem: unknown) => void} */
  pause(problem) {
    this.reason = problem instanceof Forbidden || problem instanceof Stuck ? problem.message : "";
    if (problem instanceof Forbidden) return this.forbid(problem.message);
    this.become(this.reason ? "stuck" : "offline");
    const wait = RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)];
    this.timer = setTimeout(() => this.send(), wait);
  }

  // The token is not taken: nothing is sent until there is another.
  /** @type {(reason: string) => void} */
  forbid(reason) {
    this.reason = reason;
    this.refusals += 1;
    this.become("forbidden");
    this.hooks.forbidden();
  }

  /** @type {(state: string) => void} */
  become(state) {
    this.state = state;
    this.hooks.changed();
  }
}

class Forbidden extends Error {}

class Stuck extends Error {}

/** @type {(response: Response) => Promise<string>} */
export async function reasonOf(response) {
  try {
    return (await response.json()).error;
  } catch {
    return `the server answered with status ${response.status}`;
  }
}
