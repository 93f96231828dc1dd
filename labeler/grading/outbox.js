// Keeps every event in the browser's storage until the server has acknowledged it, and sends them
// in the order they happened. Knows nothing of chunks or of what is on screen.

const SEND_AT_ONCE = 50;
const RETRY_MS = [500, 1000, 2000, 4000, 5000];
const ANSWER_WITHIN_MS = 15000;

function newId() {
  // crypto.randomUUID exists on https and localhost only
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// What the server sends to whom: one grader's token and the checks that go with it.
async function ask(token, path, options = {}) {
  return fetch(path, {
    ...options,
    headers: { "Content-Type": "application/json", "X-Labeler-Token": token },
    credentials: "same-origin",
    cache: "no-store",
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
}

const STORED = "labeler";

function prefixOf(goldenSet, grader) {
  return `${STORED}/${goldenSet}/${encodeURIComponent(grader)}/`;
}

// Who else has events waiting in this browser for this golden set, and how many.
function othersWaiting(goldenSet, grader) {
  const counts = new Map();
  for (let i = 0; i < localStorage.length; i++) {
    const [stored, set, name] = localStorage.key(i).split("/");
    if (stored !== STORED || set !== goldenSet) continue;
    const other = decodeURIComponent(name);
    if (other !== grader) counts.set(other, (counts.get(other) ?? 0) + 1);
  }
  return counts;
}

class Outbox {
  // Events of one grader and one golden set have keys of their own: they are never sent under
  // another name, nor to another golden set.
  constructor(goldenSet, grader, { onChange, onForbidden, onRefused }) {
    this.prefix = prefixOf(goldenSet, grader);
    this.onChange = onChange;
    this.onForbidden = onForbidden;
    this.onRefused = onRefused;
    this.token = null;
    this.state = "idle"; // idle, sending, offline, stuck (the server cannot save), forbidden
    this.reason = ""; // why it is stuck, in the server's words
    this.failures = 0;
    this.saved = 0; // pairs judged through this outbox, less those taken back
    this.refused = [];
    this.unkept = new Map(); // events the browser would not store, kept in memory only
    this.count = 0;
    this.moves = 0; // every event that came in or was acknowledged
    this.retryNow = () => this.send();
    window.addEventListener("online", this.retryNow);
    document.addEventListener("visibilitychange", this.retryNow);
  }

  dispose() {
    clearTimeout(this.timer);
    this.disposed = true;
    window.removeEventListener("online", this.retryNow);
    document.removeEventListener("visibilitychange", this.retryNow);
  }

  add(event) {
    const order = `${String(Date.now()).padStart(15, "0")}-${String(this.count++).padStart(6, "0")}`;
    const key = `${this.prefix}${order}-${event.event_id}`;
    try {
      localStorage.setItem(key, JSON.stringify(event));
    } catch {
      this.unkept.set(key, event);
    }
    this.moves += 1;
    this.send();
  }

  waiting() {
    const found = Array.from(this.unkept);
    for (let i = 0; i < localStorage.length; i++) {
      const key = localStorage.key(i);
      if (!key.startsWith(this.prefix)) continue;
      try {
        found.push([key, JSON.parse(localStorage.getItem(key))]);
      } catch {
        // another tab removed it meanwhile, or it is not ours to read
      }
    }
    return found.filter(([, event]) => event).sort(([a], [b]) => (a < b ? -1 : 1));
  }

  drop(key) {
    this.unkept.delete(key);
    localStorage.removeItem(key);
  }

  useToken(token) {
    this.token = token;
    if (this.state === "forbidden") this.state = "idle";
    this.send();
  }

  // Send what waits; done when nothing waits or a pause is needed. One sending at a time.
  send() {
    if (this.disposed || !this.token || this.state === "forbidden") return Promise.resolve();
    this.sending ??= this.sendAll().finally(() => (this.sending = null));
    return this.sending;
  }

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

  async post(batch) {
    const body = JSON.stringify({ events: batch.map(([, event]) => event) });
    const response = await ask(this.token, "/api/judgments", { method: "POST", body });
    if (response.status === 403) throw new Forbidden((await response.json()).error);
    if (!response.ok) throw new Stuck(await reasonOf(response));
    const results = new Map((await response.json()).results.map((r) => [r.event_id, r]));
    let done = 0;
    for (const [key, event] of batch) {
      const result = results.get(event.event_id);
      if (!result) continue;
      this.drop(key);
      if (result.refused) {
        this.refused.push({ event, reason: result.refused });
        this.onRefused(event);
      } else {
        this.saved += event.undoes ? -1 : 1;
      }
      this.moves += 1;
      done += 1;
    }
    if (!done) throw new Error("nothing was acknowledged");
    this.failures = 0;
    this.onChange();
  }

  pause(problem) {
    if (problem instanceof Forbidden) {
      this.become("forbidden");
      this.onForbidden(problem.message);
      return;
    }
    this.reason = problem instanceof Stuck ? problem.message : "";
    this.become(this.reason ? "stuck" : "offline");
    const wait = RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)];
    this.timer = setTimeout(() => this.send(), wait);
  }

  become(state) {
    this.state = state;
    this.onChange();
  }
}

class Forbidden extends Error {}

class Stuck extends Error {}

async function reasonOf(response) {
  try {
    return (await response.json()).error;
  } catch {
    return `the server answered with status ${response.status}`;
  }
}
