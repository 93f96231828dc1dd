// One grader at one golden set: takes chunks in ahead of time, sends what is given, and keeps what
// was given, so that it can be changed and taken back. Knows no key, no colour and no element.

const FETCH_BELOW = 20;
const FETCH_COUNT = 40;
const FETCH_AGAIN_MS = 4000;
const OTHER_TAB_SETTLES_MS = 1000;
const STEPS_LOW = 5; // fewer steps to undo than this: fetch older ones

class Sitting {
  // `hooks`: changed() paints all, counted() the numbers, said(words) speaks, renew() gets a
  // token, judged(item, done) tells the lists of a judgment.
  constructor({ golden_set, grader, confined }, hooks) {
    this.names = { golden_set, grader };
    this.hooks = hooks;
    this.field = confined
      ? `&facet=${encodeURIComponent(confined.facet)}&bucket=${encodeURIComponent(confined.bucket)}`
      : "";
    this.deck = new Deck();
    this.trail = new Trail();
    this.tally = new Tally();
    this.toldKey = `labeler-told/${golden_set}/${encodeURIComponent(grader)}`;
    this.told = new Set(remembered(this.toldKey, []));
    this.draftsKey = `labeler-notes/${golden_set}/${encodeURIComponent(grader)}`;
    this.drafts = remembered(this.draftsKey, {}); // notes that wait for their grade, by pair
    this.problem = ""; // why the server hands out no chunks, in its words
    this.savedBefore = 0;
    this.steps = 0; // what this page did itself: until then the server's order of steps holds
    this.shownAt = performance.now();
    this.outbox = new Outbox(golden_set, grader, {
      onChange: () => hooks.counted(),
      onForbidden: () => hooks.renew(),
      onRefused: (record) => this.lose(record),
      onSaved: (record) => hooks.saved(record),
      onOther: (record) => this.heard(record),
    });
    for (const [, record] of this.outbox.waiting()) this.recall(record);
  }

  dispose() {
    this.disposed = true;
    clearTimeout(this.fetchTimer);
    clearTimeout(this.settleTimer);
    this.outbox.dispose();
  }

  useToken(token) {
    this.outbox.useToken(token);
    this.fetchMore();
  }

  get saved() {
    return Math.max(0, this.savedBefore + this.outbox.saved);
  }

  queryOf(id) {
    return this.tally.queries[id] ?? { text: "", keywords: [], total: 0, left: 0 };
  }

  // --- chunks in ------------------------------------------------------------------------------

  async get(path) {
    const response = await ask(this.outbox.token, path);
    if (!response.ok) {
      const reason = await reasonOf(response);
      if (response.status === 403) this.outbox.forbid(reason);
      throw Object.assign(new Error(reason), { status: response.status });
    }
    this.outbox.refusals = 0;
    const answer = await response.json();
    if (answer.queries && !path.startsWith("/api/next")) this.tally.know(answer.queries);
    return answer;
  }

  async fetchMore(anyway = false) {
    if (anyway) this.fetchAnyway = true;
    if (this.fetching || this.disposed) return;
    if (!this.fetchAnyway && !this.runsLow()) return;
    this.fetching = true;
    this.fetchAnyway = false;
    clearTimeout(this.fetchTimer);
    try {
      if (this.tally.open === null) await this.outbox.send();
      const moves = this.outbox.sending ? NaN : this.outbox.moves;
      const answer = await this.get(`/api/next?limit=${this.limit()}${this.field}`);
      this.problem = "";
      if (!this.disposed) this.take(answer, moves === this.outbox.moves);
    } catch (problem) {
      this.problem = problem.status === 400 ? problem.message : "";
      this.hooks.changed();
      this.fetchTimer = setTimeout(() => this.fetchMore(true), FETCH_AGAIN_MS);
    } finally {
      this.fetching = false;
    }
    if (this.fetchAnyway) this.fetchMore();
  }

  runsLow() {
    const { open } = this.tally;
    if (this.deck.countAhead() >= FETCH_BELOW) return false;
    return open === null || open > this.deck.count((entry) => entry.item.source !== "repeat");
  }

  // The server repeats what is on the table and what it has not heard of yet.
  limit() {
    return FETCH_COUNT + this.deck.count(() => true) + this.outbox.waiting().length;
  }

  // The counts are the server's where nothing was under way meanwhile, else our own go on.
  take(answer, calm) {
    const first = this.tally.open === null;
    if (calm || first) this.savedBefore = answer.saved - this.outbox.saved;
    this.tally.take(answer, calm);
    if (first || (calm && !this.steps)) this.trail.start(answer.undoable);
    const before = this.deck.current;
    this.deck.add(answer.items);
    for (const entry of this.deck.entries) {
      if (!entry.done) entry.note ??= this.drafts[pairOf(entry.item)] ?? null;
    }
    if (before !== this.deck.current) this.shownAt = performance.now();
    this.hooks.changed();
  }

  // --- grades out -----------------------------------------------------------------------------

  // Give an item a grade or say "can't tell"; what stood before is replaced, never doubled.
  give(item, { kind, grade = null, reason = null, note = null, ...taken }) {
    const former = this.deck.standingOf(item);
    const said = { kind, grade, reason, note };
    const shown = this.deck.entriesOf(item).at(-1)?.done ?? null;
    const event = this.event(item, {
      ...said,
      text_hash: item.text_hash,
      replaces: former?.event_id ?? null,
      source: item.source,
      blind: !this.told.has(pairOf(item)),
      ...taken,
    });
    const done = { event_id: event.event_id, ...said, item };
    const answered = this.deck.settle(item, done);
    this.forgetDraft(item);
    if (answered) this.tally.close(item.query);
    this.trail.push({ ...done, former, shown, answered });
    this.send(event, item, { counts: former ? 0 : 1, former: bare(former) });
    return done;
  }

  // Keep a note on a chunk that is not graded yet; it goes with the grade, after a reload too.
  draft(entry, note) {
    entry.note = note;
    this.forgetDraft(entry.item);
    if (note) remember(this.draftsKey, Object.assign(this.drafts, { [pairOf(entry.item)]: note }));
  }

  forgetDraft(item) {
    if (delete this.drafts[pairOf(item)]) remember(this.draftsKey, this.drafts);
  }

  // Put the newest judgment that is not on the table before all others; says whether there is one.
  async bringOlder() {
    const isElsewhere = ({ item }) => item && !this.deck.entriesOf(item).length;
    if (!this.trail.steps.some(isElsewhere)) await this.fetchTrail();
    const step = this.trail.steps.findLast(isElsewhere);
    if (step) this.deck.begin(step.item, { ...bare(step), item: step.item });
    return Boolean(step);
  }

  // Take back this grader's newest step; returns what it was, or null where there is none.
  async undo() {
    if (!this.trail.steps.length) await this.fetchTrail();
    const step = this.trail.pop();
    if (this.trail.steps.length < STEPS_LOW) this.fetchTrail();
    if (!step) return null;
    if (step.remark) this.unsay(step);
    else this.takeStepBack(step, true);
    return step;
  }

  // Take back what stands for an item; returns what stands then, or null.
  takeBack(item) {
    const stands = this.deck.standingOf(item);
    if (!stands) return null;
    const step = this.trail.remove(stands.event_id) ?? { ...stands, item, former: null };
    this.takeStepBack({ ...step, item }, false);
    return step.former;
  }

  takeStepBack(step, show) {
    const { item, former } = step;
    const shown = step.shown === undefined ? former : step.shown;
    const event = this.event(item, { undoes: step.event_id });
    this.deck.restore(item, former, shown);
    if (show) this.deck.bring(item, shown).undone = step;
    if (step.answered ?? !former) this.tally.reopen(item.query);
    this.send(event, item, { counts: former ? 0 : -1, former: bare(former) });
    this.shownAt = performance.now();
    this.hooks.judged(item, former);
  }

  // Say of a whole query that nothing answers it or that it is unclear: its chunks go.
  remark(queryId, kind, note = null) {
    const query = this.queryOf(queryId);
    const before = { remark: query.remark ?? null, remark_note: query.remark_note ?? null };
    this.trail.push({ remark: kind, query: queryId, before });
    this.sayOf(queryId, kind, note);
  }

  sayOf(queryId, kind, note) {
    const gone = kind === "withdraw";
    Object.assign(this.queryOf(queryId), { remark: gone ? null : kind, remark_note: note });
    this.send(this.event({ query: queryId }, { kind, note }), { query: queryId }, { counts: 0 });
    if (gone) this.fetchAfterSending();
    else this.setAside(queryId);
  }

  setAside(queryId) {
    this.tally.setAside(queryId);
    this.deck.drop((entry) => entry.item.query === queryId);
    this.shownAt = performance.now();
    this.fetchMore();
  }

  unsay({ query, before }) {
    this.sayOf(query, before.remark ?? "withdraw", before.remark_note);
  }

  async fetchAfterSending() {
    await this.outbox.send();
    this.fetchMore(true);
  }

  event(item, what) {
    const now = performance.now();
    const elapsed_ms = Math.round(now - this.shownAt);
    this.shownAt = now;
    return { event_id: newId(), ...this.names, ...namesOf(item), elapsed_ms, ...what };
  }

  send(event, item, extra) {
    this.steps += 1;
    const shown = { query: this.queryOf(item.query).text, title: item.title ?? "" };
    this.outbox.add({ event, shown, ...extra });
  }

  // --- what came back, from the server or another tab -------------------------------------------

  fetchTrail() {
    if (this.trail.exhausted) return null;
    this.fetchingTrail ??= this.extendTrail().finally(() => (this.fetchingTrail = null));
    return this.fetchingTrail;
  }

  async extendTrail() {
    try {
      const before = this.trail.oldest;
      const asked = before ? `?before=${encodeURIComponent(before)}` : "";
      this.trail.extend((await this.get(`/api/history${asked}`)).done);
    } catch {
      // the next undo asks again
    }
  }

  // The other judgments given for a pair are known now: what follows is not blind.
  tell(item) {
    this.told.add(pairOf(item));
    remember(this.toldKey, Array.from(this.told));
  }

  // An event from before this page was loaded, still waiting.
  recall({ event, former }) {
    if (!event.chunk) return;
    const done = event.undoes ? (former ?? null) : { ...bare(event), item: null };
    this.deck.standing.set(pairOf(event), done);
  }

  // The server never takes this event: what else it handed out may be out of date too.
  lose({ event, former, instead }) {
    this.trail.remove(event.event_id);
    const stands = instead ?? former ?? null;
    if (event.chunk) this.stand(event, stands);
    if (!instead) {
      const { current } = this.deck;
      this.deck.drop((entry) => entry !== current || entry.item.query === event.query);
    }
    this.fetchAfterSending();
    this.hooks.changed();
  }

  stand(event, done) {
    const item = this.deck.entriesOf(event).at(-1)?.item ?? event;
    if (done) this.deck.settle(item, { ...done, item });
    else this.deck.restore(item, null, null);
    this.hooks.judged(item, done);
  }

  // What is waiting to be sent for an item: a judgment, null for one taken back, or undefined.
  latest(item) {
    const pair = pairOf(item);
    const waits = this.outbox.waiting().some(([, { event }]) => pairOf(event) === pair);
    return waits ? (this.deck.standing.get(pair) ?? null) : undefined;
  }

  // Another tab of this grader did this.
  heard({ event, former }) {
    const present = this.deck.current;
    const wasOpen = present && !present.done;
    if (!event.chunk) this.heardRemark(event);
    else if (event.undoes) this.heardUndo(event, former ?? null);
    else this.heardJudgment(event);
    this.hooks.changed();
    const about = event.chunk ? present && pairOf(present.item) === pairOf(event) : false;
    if (about && wasOpen && !event.undoes) {
      this.deck.goToNextOpen();
      this.shownAt = performance.now();
      this.hooks.changed();
      this.hooks.said("graded in your other tab");
    }
    clearTimeout(this.settleTimer);
    this.settleTimer = setTimeout(() => this.fetchAfterSending(), OTHER_TAB_SETTLES_MS);
  }

  heardJudgment(event) {
    const item = this.deck.entriesOf(event).at(-1)?.item ?? event;
    const done = { ...bare(event), item };
    const former = this.deck.standingOf(item);
    if (this.deck.settle(item, done)) this.tally.close(event.query);
    // a step of this tab on the same pair cannot be undone before this one
    if (this.trail.holds(event)) this.trail.push({ ...done, former });
    this.hooks.judged(item, done);
  }

  heardUndo(event, former) {
    this.trail.remove(event.undoes);
    this.deck.restore(event, former, null);
    if (!former) this.tally.reopen(event.query);
    this.hooks.judged(event, former);
  }

  heardRemark({ query, kind, note }) {
    const gone = kind === "withdraw";
    Object.assign(this.queryOf(query), { remark: gone ? null : kind, remark_note: note });
    if (!gone) this.setAside(query);
  }
}

// A judgment without its item, as it is kept and sent.
function bare(done) {
  if (!done) return null;
  const { event_id, kind = null, grade = null, reason = null, note = null } = done;
  return { event_id, kind, grade, reason, note };
}
