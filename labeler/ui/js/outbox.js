// Keeps every event in the browser until the server has acknowledged it, and sends them in the order
// they happened.

import { ask, Forbidden, RETRY_MS, Refusal, reasonOf, Stuck } from "./api.js";
import { asRecord, BrowserStorage, keyOf } from "./storage.js";

/** @import { Kept, Other, Owner, PadEvent, Standing } from "./shapes" */

/**
 * Where events go, and under which names those that wait and those that were refused are kept.
 * @typedef {{ path: string, waiting: string, refused: string }} Route
 */

/**
 * What the server says of an event: saved, or refused for good.
 * `proposed` are the grades that sources propose for what was graded, told only from then on;
 * `unmarked` says why passages were not kept that came with a grade, which is.
 * @typedef {{
 *   event_id: string,
 *   refused?: string,
 *   instead?: Standing | null,
 *   proposed?: [string, number][],
 *   unmarked?: string,
 * }} Result
 */

/**
 * Who hears of what: `forbidden` that a new token is needed, `other` what another tab did,
 * `recalled` what an earlier page had not sent yet, `unsure` that all is saved, but that the server
 * may have counted some of it before its answer was lost.
 * @typedef {{
 *   changed: () => void,
 *   forbidden: () => void,
 *   refused: (record: Kept) => void,
 *   saved: (record: Kept, result: Result) => void,
 *   other: (record: Kept) => void,
 *   recalled: (record: Kept) => void,
 *   unsure: () => void,
 * }} Hooks
 */

const SEND_AT_ONCE = 50;
const SEND_BYTES = 200000; // far below what the server and most proxies take at once
const OTHER_TAB_MS = 5000; // what another tab has not sent by then is sent from here

/** @type {(key: string) => string | null} */
function nameIn(key) {
  return asRecord(localStorage.getItem(key))?.event.grader ?? null;
}

export class Outbox {
  // Events of one grader and one golden set have keys of their own: they are never sent for
  // anybody else, nor to another golden set.
  /**
   * @param {Route} route
   * @param {Owner} who
   * @param {string} name
   * @param {Hooks} hooks
   */
  constructor(route, who, name, hooks) {
    this.route = route;
    this.who = who;
    this.name = name;
    this.prefix = `${keyOf(route.waiting, who)}/`;
    this.refusedPrefix = `${keyOf(route.refused, who)}/`;
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
    this.atOnce = SEND_AT_ONCE;
    this.notBefore = 0; // when the server takes something again, by the page's own time
    this.moves = 0; // every event that came in or was acknowledged
    this.isUnsure = false; // the server may have saved what it could not say it had
    this.disposed = false;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** @type {number | undefined} */
    this.otherTimer = undefined;
    /** @type {Promise<void> | null} */
    this.sending = null;
    this.storage = new BrowserStorage([this.prefix, this.refusedPrefix], () => this.changed());
    this.recalled = this.recall();
    /** @type {Promise<void> | null} */
    this.inherited = null;
    this.retryNow = () => this.send();
    /** @type {(event: StorageEvent) => void} */
    this.onStorage = (event) => this.heard(event);
    window.addEventListener("online", this.retryNow);
    window.addEventListener("storage", this.onStorage);
    document.addEventListener("visibilitychange", this.retryNow);
  }

  // Who else has events waiting in this browser for this golden set, by what they are kept under: the
  // name the first was given under, and how many there are.
  /** @returns {Other[]} */
  others() {
    const { golden_set, key: mine } = this.who;
    /** @type {Map<string, { first: string, count: number }>} */
    const found = new Map();
    for (const key of Object.keys(localStorage)) {
      const [waiting, set, owner = ""] = key.split("/");
      if (waiting !== this.route.waiting || set !== golden_set || owner === `:${mine}`) continue;
      const theirs = found.get(owner);
      if (theirs) theirs.count += 1;
      else found.set(owner, { first: key, count: 1 });
    }
    return Array.from(found, ([owner, { first, count }]) => {
      return { owner, name: nameIn(first), count };
    });
  }

  // What waits under a key that nobody has is of whoever has its name: their row was made anew, as
  // where a backup was restored that did not know them yet.
  async inherit() {
    const before = this.waiting().length;
    const { golden_set } = this.who;
    for (const { owner, name } of this.others()) {
      if (name !== this.name || !owner.startsWith(":")) continue;
      const response = await ask(this.token, `/api/whose?key=${owner.slice(1)}`);
      if (!response.ok || !(await response.json()).nobodys) continue;
      this.moveHere(`${this.route.waiting}/${golden_set}/${owner}/`, this.prefix);
      this.moveHere(`${this.route.refused}/${golden_set}/${owner}/`, this.refusedPrefix);
    }
    if (this.waiting().length === before) return;
    for (const [, record] of this.waiting()) this.hooks.recalled(record);
  }

  /** @type {(other: string, prefix: string) => void} */
  moveHere(other, prefix) {
    for (const key of Object.keys(localStorage)) {
      const record = key.startsWith(other) ? asRecord(localStorage.getItem(key)) : null;
      if (!record) continue;
      this.storage.drop(key); // first: there may not be room for both
      this.storage.put(prefix + key.slice(other.length), record);
    }
  }

  // What an earlier page left, and then what only the disk had of it: nothing is sent before.
  async recall() {
    for (const [, record] of this.waiting()) this.hooks.recalled(record);
    const found = await this.storage.ready;
    for (const record of found) if (!record.reason) this.hooks.recalled(record);
    if (found.length) this.hooks.changed();
  }

  // What is on the disk is said while nothing can be sent.
  changed() {
    const isSaid = !["idle", "sending"].includes(this.state) || this.storage.isBroken;
    if (isSaid && !this.disposed) this.hooks.changed();
  }

  dispose() {
    clearTimeout(this.timer);
    clearTimeout(this.otherTimer);
    this.disposed = true;
    this.storage.dispose();
    window.removeEventListener("online", this.retryNow);
    window.removeEventListener("storage", this.onStorage);
    document.removeEventListener("visibilitychange", this.retryNow);
  }

  /** @type {(record: Kept) => void} */
  add(record) {
    this.storage.put(`${this.prefix}${this.next()}-${record.event.event_id}`, record);
    this.moves += 1;
    this.send();
  }

  // The number of what happens now: after all that waits, whatever the clock says.
  next() {
    const last = this.waiting().at(-1)?.[0].slice(this.prefix.length) ?? "0";
    return String(Number.parseInt(last, 10) + 1).padStart(15, "0");
  }

  /** @type {() => [string, Kept][]} */
  waiting() {
    return this.storage.under(this.prefix);
  }

  // How many of those that wait would survive a crash of the browser.
  get kept() {
    return this.waiting().length - this.storage.notOnDisk(this.prefix);
  }

  // How many of them would not survive leaving the page.
  get atRisk() {
    return this.storage.notStored(this.prefix);
  }

  // The browser's disk does not take what waits.
  get isUnsafe() {
    return this.storage.isBroken && this.waiting().length > 0;
  }

  // Events the server will never take, until somebody has looked at them.
  /** @type {() => [string, Kept][]} */
  refused() {
    return this.storage.under(this.refusedPrefix);
  }

  /** @type {(key: string) => void} */
  drop(key) {
    this.storage.drop(key);
  }

  // Something another tab of this grader kept or dropped.
  /** @type {(event: StorageEvent) => void} */
  heard(event) {
    const record = this.storage.heard(event);
    if (!record || !event.key?.startsWith(this.prefix)) {
      if (record) this.hooks.changed();
      return;
    }
    this.moves += 1;
    clearTimeout(this.otherTimer);
    this.otherTimer = setTimeout(() => this.send(), OTHER_TAB_MS);
    const isNew = event.newValue !== null && !this.counted.has(record.event.event_id);
    if (isNew) this.hooks.other(record);
    else if (!this.isRefused(record.event)) this.countIn(record);
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

  // Read something; a token that is not taken here is taken nowhere.
  /** @type {(path: string) => Promise<any>} */
  async get(path) {
    const response = await ask(this.token, path);
    if (!response.ok) {
      const reason = await reasonOf(response);
      if (response.status === 403) this.forbid(reason);
      throw new Refusal(reason, response.status);
    }
    this.refusals = 0;
    return response.json();
  }

  // Send what waits; done when nothing waits or a pause is needed. One sending at a time.
  /** @type {() => Promise<void>} */
  send() {
    if (this.disposed || !this.token || this.state === "forbidden") return Promise.resolve();
    if (performance.now() < this.notBefore) return Promise.resolve();
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null;
      if (!this.isUnsure || this.waiting().length) return;
      this.isUnsure = false;
      this.hooks.unsure();
    });
    return this.sending;
  }

  /** @type {() => Promise<void>} */
  async sendAll() {
    clearTimeout(this.timer);
    await this.recalled;
    try {
      this.inherited ??= this.inherit();
      await this.inherited;
      for (;;) {
        const batch = batchOf(this.waiting().slice(0, this.atOnce));
        if (!batch.length) break;
        this.become("sending");
        await this.post(batch);
      }
      this.failures = 0;
      this.atOnce = SEND_AT_ONCE;
      this.become("idle");
    } catch (problem) {
      this.inherited = null;
      this.pause(problem);
    }
  }

  /** @type {(batch: [string, Kept][]) => Promise<void>} */
  async post(batch) {
    const body = JSON.stringify({ events: batch.map(([, record]) => record.event) });
    const response = await ask(this.token, this.route.path, { method: "POST", body });
    if (response.status === 413) return this.sendLess(batch, await reasonOf(response));
    if (response.status === 403) throw new Forbidden(await reasonOf(response));
    if (!response.ok) {
      const after = Number(response.headers.get("Retry-After") ?? 0);
      throw new Stuck(await reasonOf(response), after);
    }
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

  // What is too much at once is sent in smaller parts; what is too much alone holds up no other.
  /** @type {(batch: [string, Kept][], refused: string) => void} */
  sendLess(batch, refused) {
    this.atOnce = Math.max(1, Math.floor(batch.length / 2));
    if (batch.length > 1) return;
    for (const [key, record] of batch) {
      this.settle(key, record, { event_id: record.event.event_id, refused });
    }
  }

  /** @type {(key: string, record: Kept, result: Result) => void} */
  settle(key, record, result) {
    this.moves += 1;
    if (result.refused) {
      const kept = { ...record, reason: result.refused, instead: result.instead ?? null };
      const order = key.slice(this.prefix.length);
      this.storage.put(this.refusedPrefix + order, kept);
      this.drop(key);
      this.hooks.refused(kept);
      return;
    }
    this.drop(key);
    this.countIn(record);
    this.hooks.saved(record, result);
  }

  /** @type {(problem: unknown) => void} */
  pause(problem) {
    this.reason = problem instanceof Forbidden || problem instanceof Stuck ? problem.message : "";
    if (problem instanceof Forbidden) return this.forbid(problem.message);
    this.isUnsure = true;
    this.become(this.reason ? "stuck" : "offline");
    const after = problem instanceof Stuck ? 1000 * problem.after : 0;
    this.notBefore = performance.now() + after;
    const wait = Math.max(after, RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)]);
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

// The first of what waits that are not too much to be sent at once; one is never too much.
/** @type {(waiting: [string, Kept][]) => [string, Kept][]} */
function batchOf(waiting) {
  const encoder = new TextEncoder();
  let bytes = 0;
  const end = waiting.findIndex(([, { event }]) => {
    bytes += encoder.encode(JSON.stringify(event)).length;
    return bytes > SEND_BYTES;
  });
  return end < 0 ? waiting : waiting.slice(0, Math.max(1, end));
}
