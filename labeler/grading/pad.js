// The grading pad: paints the next chunk the moment a key is pressed and leaves the sending to the
// outbox. Text only ever enters the page as text nodes.

const KEYS = { 0: 0, 1: 1, 2: 2, 3: 3, a: 0, s: 1, d: 2, f: 3 };
const FETCH_BELOW = 20;
const FETCH_COUNT = 40;
const FETCH_AGAIN_MS = 4000;
const FOLD_ABOVE = 6000; // characters of a chunk shown before "show all"
// text that lines up in columns: code, or a table drawn with spaces
const COLUMNS = /^```|^ {4}\S|\S {3,}\S/m;
const TASKS = {
  single: "single answer",
  research: "research",
  compliance: "compliance lookup",
  longtail: "long tail",
};

const pads = new WeakMap();

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  let pad = pads.get(parentElement);
  if (!pad) {
    pad = new Pad(parentElement);
    pads.set(parentElement, pad);
  }
  pad.update(data, () => setTriggerValue("renew", Date.now()));
  // Streamlit calls this function again for every change of data and the returned one both then
  // and at the end; only an element that has left the page is at its end.
  return () => setTimeout(() => parentElement.isConnected || pad.dispose());
}

class Pad {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.onKey = (event) => this.pressed(event);
    this.onLeave = (event) => this.warnOfWaiting(event);
    document.addEventListener("keydown", this.onKey, true);
    window.addEventListener("beforeunload", this.onLeave);
    this.dialogs = new MutationObserver(closeConnectionDialog);
    this.dialogs.observe(document.body, { childList: true });
    this.find(".who").addEventListener("submit", (event) => this.nameGiven(event));
    this.find(".change").addEventListener("click", () => this.askName());
    this.find(".stay").addEventListener("click", () => this.paintWho(false));
    this.find(".undo").addEventListener("click", () => this.undo());
    this.find(".undo-last").addEventListener("click", () => this.undo());
    onSingleClick(this.find(".cannot-tell"), () => this.judge("cannot_tell", null));
    this.find(".more").addEventListener("click", () => this.showAll());
  }

  dispose() {
    this.disposed = true;
    clearTimeout(this.fetchTimer);
    this.outbox?.dispose();
    this.dialogs.disconnect();
    document.removeEventListener("keydown", this.onKey, true);
    window.removeEventListener("beforeunload", this.onLeave);
    pads.delete(this.root);
  }

  // --- what the page says ---------------------------------------------------------------------

  update(data, renew) {
    const who = `${data.golden_set}/${data.grader}`;
    this.data = data;
    this.renew = renew;
    this.paintWho(data.grader === null);
    if (data.grader === null) return;
    if (who !== this.who) this.sitDown(who);
    this.outbox.useToken(data.token);
    this.fetchMore();
    this.paint();
  }

  sitDown(who) {
    this.who = who;
    this.outbox?.dispose();
    this.outbox = new Outbox(this.data.golden_set, this.data.grader, {
      onChange: () => this.paintStatus(),
      onForbidden: () => this.renewLater(),
      onRefused: (event) => this.forget(event),
    });
    this.current = null;
    this.queue = [];
    this.history = [];
    this.open = null;
    this.savedBefore = 0;
    this.withoutText = 0;
    this.seen = new Set();
    for (const [, event] of this.outbox.waiting()) {
      if (event.undoes) this.seen.delete(pairOf(event));
      else this.seen.add(pairOf(event));
    }
    this.paintGrades();
  }

  renewLater() {
    // at once the first time, then slowly: a page that stays forbidden must not spin
    const wait = this.renewed && Date.now() - this.renewed < 30000 ? 5000 : 0;
    this.renewed = Date.now();
    clearTimeout(this.renewTimer);
    this.renewTimer = setTimeout(() => this.disposed || this.renew(), wait);
  }

  askName() {
    this.find("#who-name").value = this.data.grader;
    this.paintWho(true);
    this.find("#who-name").select();
  }

  paintWho(asking) {
    this.asking = asking;
    this.find(".who").hidden = !asking;
    this.find(".stay").hidden = this.data.grader === null;
    this.find(".desk").classList.toggle("covered", asking);
    if (asking) this.find("#who-name").focus({ preventScroll: true });
  }

  nameGiven(event) {
    event.preventDefault();
    const name = this.find("#who-name").value.trim();
    if (name) rememberGrader(this.data.cookie, name);
  }

  warnOfWaiting(event) {
    if (this.outbox?.unkept.size) event.preventDefault();
  }

  // --- chunks in ------------------------------------------------------------------------------

  async fetchMore(anyway = false) {
    if (this.fetching || this.queue.length >= FETCH_BELOW) return;
    if (this.nothingMore() && !anyway) return;
    this.fetching = true;
    clearTimeout(this.fetchTimer);
    const who = this.who;
    try {
      if (this.open === null) await this.outbox.send();
      const moves = this.outbox.sending ? NaN : this.outbox.moves;
      const response = await ask(this.data.token, `/api/next?limit=${FETCH_COUNT}`);
      if (response.status === 403) this.renewLater();
      if (!response.ok) throw new Error(`status ${response.status}`);
      const answer = await response.json();
      if (who === this.who && !this.disposed) this.take(answer, moves === this.outbox.moves);
    } catch {
      this.fetchTimer = setTimeout(() => this.fetchMore(), FETCH_AGAIN_MS);
    } finally {
      this.fetching = false;
    }
  }

  nothingMore() {
    return this.open !== null && this.open <= this.queue.length + (this.current ? 1 : 0);
  }

  // The counts are the server's where nothing was under way meanwhile, else our own go on.
  take(answer, calm) {
    const known = new Set(this.queue.map(pairOf));
    if (this.current) known.add(pairOf(this.current));
    for (const item of answer.items) {
      const pair = pairOf(item);
      if (!known.has(pair) && !this.seen.has(pair)) this.queue.push(item);
    }
    if (calm || this.open === null) {
      this.open = answer.open;
      this.savedBefore = answer.saved - this.outbox.saved;
    }
    this.withoutText = answer.without_text;
    if (!this.history.length) {
      this.history = answer.undoable.filter((done) => done.item).reverse();
    }
    if (!this.current) this.next();
    this.paint();
  }

  // The server takes no grade for this pair: what else it handed out may be out of date too.
  forget(event) {
    this.queue = [];
    if (this.current?.query === event.query) this.current = null;
    this.fetchMore(true);
    this.paint();
  }

  next() {
    this.current = this.queue.shift() ?? null;
    this.again = null;
    this.shownAt = performance.now();
    this.unfolded = false;
    this.fetchMore();
  }

  // --- grades out -----------------------------------------------------------------------------

  pressed(event) {
    // a held-down Enter would press the focused button again and again
    if (event.repeat && this.root.contains(event.composedPath()[0])) event.preventDefault();
    if (this.asking || document.querySelector('[role="dialog"]')) return;
    if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    if (!this.root.isConnected || isEditable(event)) return;
    const key = event.key.toLowerCase();
    if (key === "u") this.undo();
    else if (!this.current) return;
    else if (key === "x") this.judge("cannot_tell", null);
    else if (Object.hasOwn(KEYS, key)) this.judge("grade", KEYS[key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  judge(kind, grade) {
    const item = this.current;
    if (!item) return;
    const event = this.event({ ...namesOf(item), kind, grade, text_hash: item.text_hash });
    this.history.push({ event_id: event.event_id, item, grade, kind });
    this.seen.add(pairOf(item));
    this.open = Math.max(0, (this.open ?? 1) - 1);
    this.next();
    this.paint();
    this.outbox.add(event);
    this.announce(kind === "grade" ? `${grade}, ${this.data.words[grade]}` : "can’t tell");
  }

  undo() {
    const last = this.history.pop();
    if (!last) {
      this.announce("nothing to undo");
      return;
    }
    const event = this.event({ ...namesOf(last.item), undoes: last.event_id });
    if (this.current) this.queue.unshift(this.current);
    this.current = last.item;
    this.again = last;
    this.shownAt = performance.now();
    this.unfolded = false;
    this.seen.delete(pairOf(last.item));
    this.open = (this.open ?? 0) + 1;
    this.paint();
    this.outbox.add(event);
    this.announce("undone, grade it again");
  }

  event(what) {
    return {
      event_id: newId(),
      golden_set: this.data.golden_set,
      grader: this.data.grader,
      elapsed_ms: Math.round(performance.now() - this.shownAt),
      ...what,
    };
  }

  // --- painting -------------------------------------------------------------------------------

  paint() {
    if (this.disposed || this.data.grader === null) return;
    this.find(".desk").hidden = this.open === null && !this.current;
    for (const part of this.root.querySelectorAll(".query, .chunk, .grades, .keys")) {
      part.hidden = !this.current;
    }
    this.paintDone();
    this.paintStatus();
    if (this.current) this.paintItem(this.current);
  }

  // a new item starts at its top, wherever the last one was scrolled to
  paintItem(item) {
    this.write(".query-text", item.query_text);
    this.write(".task", TASKS[item.task] ?? "");
    for (const part of ["reference", "guideline"]) {
      this.find(`.${part}`).hidden = !item[part];
      this.write(`.${part} dd`, item[part] ?? "");
    }
    this.find(".title").hidden = !item.title;
    this.write(".title", item.title ?? "");
    this.paintText(item.text);
    const again = this.find(".again");
    again.hidden = !this.again;
    again.textContent = this.again ? `undone${wasWords(this.again, this.data.words)}` : "";
    this.find(".undo").disabled = !this.history.length;
    const pad = this.find(".pad");
    if (pad.getBoundingClientRect().top < 0) pad.scrollIntoView();
  }

  paintText(text) {
    const folded = text.length > FOLD_ABOVE && !this.unfolded;
    this.find(".text").classList.toggle("columns", COLUMNS.test(text));
    this.write(".text", folded ? text.slice(0, FOLD_ABOVE) + " …" : text);
    this.find(".more").hidden = !folded;
    this.write(".more", `Show all ${text.length.toLocaleString()} characters`);
  }

  showAll() {
    this.unfolded = true;
    this.paintText(this.current.text);
  }

  paintGrades() {
    const buttons = this.data.words.map((word, grade) => {
      const button = document.createElement("button");
      button.type = "button";
      button.style.setProperty("--grade", this.data.colours[grade]);
      button.append(element("kbd", String(grade)), element("span", word));
      onSingleClick(button, () => this.judge("grade", grade));
      return button;
    });
    this.find(".grades").replaceChildren(...buttons);
  }

  paintDone() {
    const done = this.find(".done");
    done.hidden = Boolean(this.current) || this.open === null;
    if (done.hidden) return;
    const stuck = this.open > 0;
    this.find(".done h2").textContent = stuck ? "Fetching more chunks …" : this.doneTitle();
    this.find(".done p").textContent = stuck
      ? "The next chunks come as soon as the connection is back. Nothing you graded is lost."
      : this.doneHelp();
    this.find(".undo-last").hidden = !this.history.length;
  }

  doneTitle() {
    if (this.withoutText && !this.seen.size) return "No chunk here can be read yet";
    return "Everything in the pool is graded";
  }

  doneHelp() {
    if (!this.withoutText) return "A deeper pool, more queries or another run will bring more.";
    return (
      `${this.withoutText.toLocaleString()} pairs of query and chunk wait for text: ` +
      "their chunks are known by id only. Load it with: labeler load chunks FILE"
    );
  }

  paintStatus() {
    if (!this.outbox || this.disposed) return;
    const { state } = this.outbox;
    const waiting = this.outbox.waiting().length;
    const saved = Math.max(0, this.savedBefore + this.outbox.saved);
    this.find(".state").textContent = statusWords(state, saved, waiting);
    this.find(".state").dataset.state = waiting ? state : "idle";
    this.find(".left").textContent =
      this.open === null ? "" : `${this.open.toLocaleString()} left in the pool`;
    this.find(".grader").textContent = `grading as ${this.data.grader}`;
    const others = othersWaiting(this.data.golden_set, this.data.grader);
    const trouble = this.find(".trouble");
    trouble.textContent = troubleWords(this.outbox, others);
    trouble.hidden = !trouble.textContent;
  }

  write(selector, text) {
    this.find(selector).textContent = text;
  }

  announce(words) {
    this.write(".announce", words);
  }
}

function statusWords(state, saved, waiting) {
  const known = `${saved.toLocaleString()} saved`;
  if (!waiting) return known;
  if (state === "offline") return `${known}, offline, ${waiting} kept`;
  if (state === "stuck") return `${known}, not saving, ${waiting} kept`;
  return `${known}, ${waiting} waiting`;
}

function troubleWords({ refused, unkept, state, reason }, others) {
  const words = [];
  if (state === "stuck") words.push(`The server cannot save just now: ${reason}. It is tried again.`);
  if (refused.length) {
    const last = refused[refused.length - 1].reason;
    words.push(`${refused.length} refused, the last because: ${last}.`);
  }
  if (unkept.size) {
    words.push(`${unkept.size} not kept: this browser has no room. Stay on this page until saved.`);
  }
  for (const [name, count] of others) {
    words.push(`${count} of ${name}’s wait in this browser until ${name} grades here again.`);
  }
  return words.join(" ");
}

function wasWords(done, words) {
  if (done.kind === "cannot_tell") return ", it was: can’t tell";
  return done.grade == null ? "" : `, it was: ${done.grade} ${words[done.grade]}`;
}

function namesOf(item) {
  return { query: item.query, chunk: item.chunk };
}

function pairOf(item) {
  return JSON.stringify([item.query, item.chunk]);
}

// The second click of a double click would hit a chunk that nobody has read.
function onSingleClick(button, act) {
  button.addEventListener("click", (event) => event.detail > 1 || act());
}

// The pad says itself that it is offline; Streamlit's dialog would only cover the chunk.
function closeConnectionDialog() {
  for (const dialog of document.querySelectorAll('[role="dialog"]')) {
    if (!dialog.textContent.includes("Connection error")) continue;
    dialog.querySelector('button[aria-label="Close"]')?.click();
  }
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function isEditable(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
