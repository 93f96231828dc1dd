// The bench: which pair is in focus, what a key does with it, and where one goes from there.

import { newId, Refusal } from "../js/api.js";
import { keepConnectionDialogsClosed } from "../js/dialogs.js";
import { find, isEditable, showWords } from "../js/dom.js";
import { ADJUDICATION, GRADE_KEYS, HELD_KEYS, TOO_SOON_MS } from "../js/keys.js";
import { Outbox } from "../js/outbox.js";
import { sendingWords, troubleWords } from "../js/outbox_words.js";
import { ByPair, Marks, pairKey } from "../js/pairs.js";
import { againOf, refusedParts } from "../js/refused.js";
import { TokenRenewal } from "../js/token_renewal.js";
import { reasonWords, spokenIn } from "../js/words.js";
import { drawn, empty, finished, paintOpinions } from "./case.js";
import { targetOf } from "./copies.js";
import { Decisions } from "./decisions.js";
import { Evidence } from "./evidence.js";
import { Listing } from "./listing.js";
import { Position } from "./position.js";
import { drawRows } from "./rows.js";

/** @import { Deal } from "../js/refused" */
/** @import { BenchData, Case, Decision, Kept, PadEvent, Verdict } from "./shapes" */

const TOLD_MS = 6000; // how long what was just done is said
const READ_AGAIN_MS = 4000;
const NAMES = { question: ["query", "queries"], passage: ["chunk", "chunks"] };
const NOTES = "labeler-decision-notes";
const EVIDENCE = "labeler-decision-evidence";
const ROUTE = {
  path: "/api/adjudications",
  waiting: "labeler-decided",
  refused: "labeler-decisions-refused",
};

/** @type {Record<string, (bench: Bench) => void>} */
const ACTS = {
  undo: (bench) => bench.undo(),
  back: (bench) => bench.step(-1),
  ahead: (bench) => bench.step(1),
  note: (bench) => bench.root.querySelector("input")?.focus(),
  evidence: (bench) => bench.evidence.toggle(),
};

export class Bench {
  /**
   * @param {HTMLElement | ShadowRoot} place
   * @param {BenchData} data
   */
  constructor(place, data) {
    this.root = find(place, ".bench");
    this.data = data;
    this.say = spokenIn("en", data.sentences, NAMES).say;
    this.isSaved = false;
    this.isAtWork = false; // they have done something here
    this.taken = 0; // how often the server took something
    this.problem = ""; // why nothing can be read just now
    this.told = ""; // what was just done, for some seconds
    this.telling = 0;
    this.reading = 0;
    /** @type {string | null} */
    this.focus = null; // the name of the pair on screen
    this.only = ""; // the one chunk of several with its text that is decided; none is all of them
    this.shownAt = 0;
    this.listing = new Listing((from) => this.fetch(from));
    this.decisions = new Decisions(this.listing, data.grader);
    const who = { golden_set: data.golden_set, key: data.key };
    this.outbox = this.layOutbox(who);
    this.renewal = new TokenRenewal(() => this.outbox.state === "forbidden");
    /** @type {ByPair<string>} */
    this.notes = new ByPair(NOTES, who, this.outbox.storage);
    this.marks = new Marks(EVIDENCE, who, this.outbox.storage);
    this.evidence = new Evidence(this.root, this.marks, {
      standing: (name) => this.listing.find(name)?.adjudication?.evidence ?? [],
      tell: (words) => this.tell(words),
      say: this.say,
    });
    /** @type {(event: KeyboardEvent) => void} */
    this.onKey = (event) => this.pressed(event);
    document.addEventListener("keydown", this.onKey, true);
    /** @type {(event: Event) => void} */
    this.onLeave = (event) => this.outbox.waiting().length && event.preventDefault();
    window.addEventListener("beforeunload", this.onLeave);
    this.dialogs = keepConnectionDialogsClosed();
    find(this.root, ".back-page").onclick = () => void this.turn(-1);
    find(this.root, ".next-page").onclick = () => void this.turn(1);
    this.position = new Position((pair) => this.goTo(pair));
    this.outbox.useToken(data.token);
    void this.outbox.storage.ready.then(() => this.focus !== null && this.look(this.focus, true));
    void this.open(this.position.pair() ?? {});
  }

  /** @type {(who: import("../js/shapes").Owner) => Outbox} */
  layOutbox(who) {
    return new Outbox(ROUTE, who, this.data.grader, {
      changed: () => this.paint(),
      forbidden: () => this.renewal.begin(),
      saved: (_, { unmarked }) => this.saved(unmarked),
      refused: (record) => this.refused(record),
      other: (record) => this.heard(record),
      recalled: (record) => this.recall(record),
      unsure: () => void this.follow(),
    });
  }

  dispose() {
    clearTimeout(this.telling);
    clearTimeout(this.reading);
    this.renewal.dispose();
    this.outbox.dispose();
    document.removeEventListener("keydown", this.onKey, true);
    window.removeEventListener("beforeunload", this.onLeave);
    this.dialogs.disconnect();
    this.evidence.dispose();
    this.position.dispose();
  }

  /** @type {(data: BenchData, renew: () => void) => void} */
  update(data, renew) {
    const isNews = JSON.stringify(data.newest) !== JSON.stringify(this.data.newest);
    const isRule = data.rule !== this.data.rule;
    this.data = data;
    this.renewal.renew = renew;
    this.outbox.useToken(data.token);
    if (isNews || isRule || this.problem) void this.follow();
  }

  // --- what is there ---------------------------------------------------------------------------

  // A page that was on its way while something was acknowledged may know nothing of it: once more.
  /** @type {(from: number | Record<string, string>) => Promise<import("./shapes").Page>} */
  async fetch(from) {
    const asked = new URLSearchParams(this.data.asked);
    const more = typeof from === "number" ? { from: String(from) } : from;
    for (const [name, value] of Object.entries(more)) asked.set(name, value);
    for (;;) {
      const { taken } = this;
      const page = await this.outbox.get(`/api/disagreements?${asked}`);
      if (taken === this.taken) return page;
    }
  }

  // Show a page: that of a pair, or the one where the first is that nobody has decided.
  /** @type {(where: Record<string, string>) => Promise<void>} */
  async open(where) {
    await this.trying(async () => {
      this.listing.open(await this.fetch(where));
      this.arrived();
      const wanted = where.query === undefined ? null : JSON.stringify([where.query, where.chunk]);
      const isThere = wanted !== null && this.listing.has(wanted);
      this.look(isThere ? wanted : this.nextOpen(null));
      if (wanted !== null && !isThere) this.tell("The pair in this address is not among these.");
    });
  }

  // Read the page on screen anew: somebody graded, or decided. What one is at stays.
  async follow() {
    await this.trying(async () => {
      const { from } = this.listing;
      const page = await this.fetch(from);
      if (this.listing.from !== from) return; // they have turned the page meanwhile
      this.listing.open(page);
      this.arrived();
      const stays = this.focus !== null && this.listing.has(this.focus);
      this.look(stays || this.isTyping() ? this.focus : this.nextOpen(null), stays);
    });
  }

  isTyping() {
    return Boolean(this.root.querySelector(".note-field:focus"));
  }

  arrived() {
    this.decisions.begin(this.outbox.waiting().map(([, record]) => record));
  }

  // Read something, and again until it is there, unless the server will never have it.
  /** @type {(act: () => Promise<void>) => Promise<void>} */
  async trying(act) {
    clearTimeout(this.reading);
    try {
      await act();
      this.problem = "";
    } catch (problem) {
      this.problem = reasonWords(problem, this.say);
      const isFinal = problem instanceof Refusal && problem.status === 400;
      if (!isFinal && !this.outbox.disposed) {
        this.reading = setTimeout(() => this.trying(act), READ_AGAIN_MS);
      }
    }
    this.paint();
  }

  // --- what is done ----------------------------------------------------------------------------

  /** @type {(event: KeyboardEvent) => void} */
  pressed(event) {
    if (!this.root.isConnected || document.querySelector('[role="dialog"]')) return;
    if (isEditable(event)) {
      this.pressedInField(event);
      return;
    }
    const key = event.key.toLowerCase();
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    if (!hasModifier && this.evidence.press(key)) return stop(event);
    if (event.repeat && !HELD_KEYS.has(key)) return;
    if (key.startsWith("arrow") && this.isElsewhere(event)) return;
    const name = ADJUDICATION.actionOf(event) ?? "";
    if (!hasModifier && Object.hasOwn(GRADE_KEYS, key)) this.decide(GRADE_KEYS[key]);
    else if (Object.hasOwn(ACTS, name)) ACTS[name](this);
    else return;
    stop(event);
  }

  // Tabs and menus of the page go by arrows themselves.
  /** @type {(event: Event) => boolean} */
  isElsewhere(event) {
    const target = event.composedPath()[0];
    return target !== document.body && target instanceof Node && !this.root.contains(target);
  }

  // A field keeps its keys; these two leave it, and what was written stays.
  /** @type {(event: KeyboardEvent) => void} */
  pressedInField(event) {
    const field = event.composedPath()[0];
    if (!(field instanceof HTMLInputElement) || !field.classList.contains("note-field")) return;
    if (event.key !== "Escape" && event.key !== "Enter") return;
    field.blur();
    event.preventDefault();
  }

  get item() {
    return this.focus === null ? null : this.listing.find(this.focus);
  }

  // Give the pair on screen its grade, and go to the next that nobody has decided.
  /** @type {(grade: number) => void} */
  decide(grade) {
    const { item } = this;
    if (!item) return;
    this.isAtWork = true;
    const { adjudication: before, copies: counted } = item;
    /** @type {Verdict} */
    const verdict = {
      ...this.signed(item),
      ...targetOf(item, this.only),
      text_hash: item.text_hash,
      grade,
      note: this.notes.of(item)?.trim() || null,
      elapsed_ms: Math.round(performance.now() - this.shownAt),
      ...this.evidence.given(),
    };
    this.decisions.give(item, verdict, { grade, before, counted });
    this.notes.drop(item);
    this.marks.drop(item);
    this.only = "";
    this.look(item.adjudication ? this.nextOpen(this.focus) : this.focus);
    this.send(verdict, item, before);
  }

  /** @type {(event: Verdict, item: Case | null, former: Decision | null) => void} */
  send(event, item, former) {
    const shown = { query: item?.asked ?? event.query, title: item?.title ?? event.chunk };
    const counts = former ? 0 : event.undoes === undefined ? 1 : -1;
    this.outbox.add({ event, counts, former, shown });
  }

  /** @type {(pair: { query: string, chunk: string }) => Verdict} */
  signed({ query, chunk }) {
    const { golden_set, grader, key } = this.data;
    return { event_id: newId(), golden_set, grader, by: key, query, chunk };
  }

  // A click that comes right after a pair came up was meant for the one before.
  /** @type {(grade: number, event: MouseEvent) => void} */
  clicked(grade, event) {
    const isKey = event.detail === 0;
    if (!isKey && (event.detail > 1 || performance.now() - this.shownAt < TOO_SOON_MS)) {
      this.tell("That click came as the pair changed and was ignored.");
    } else this.decide(grade);
  }

  undo() {
    const step = this.decisions.trail.pop();
    if (!step) return this.tell("There is nothing to undo.");
    const item = this.listing.find(pairKey(step));
    if (step.note) this.notes.keep(item ?? step, step.note); // both wait for the next decision
    if (step.evidence) this.evidence.keep(item ?? step, step.evidence);
    const before = step.before ?? null;
    if (item) {
      this.decisions.stand(item, before);
      if (step.counted) item.copies = step.counted;
      this.look(pairKey(step));
    }
    this.send({ ...this.signed(step), undoes: step.event_id }, item, before);
    if (!item) void this.open({ query: step.query, chunk: step.chunk });
    this.tell(`Undone (was ${step.grade}, ${this.data.words[step.grade]}).`);
  }

  // --- what came back, from the server or another tab -------------------------------------------

  /** @type {(unmarked?: string) => void} */
  saved(unmarked) {
    this.taken += 1;
    this.isSaved = true;
    if (unmarked) this.tell(`The decision is saved, its evidence is not: ${unmarked}.`);
  }

  /** @type {(record: Kept) => void} */
  refused({ event, former, instead }) {
    this.taken += 1;
    this.decisions.forget(event.event_id);
    const item = this.listing.find(pairKey(event));
    if (item) this.decisions.stand(item, instead ?? former);
    if (item && pairKey(item) === this.focus) this.look(this.focus, true);
    void this.follow();
  }

  // What an earlier page had not sent yet.
  /** @type {(record: Kept) => void} */
  recall(record) {
    if (!this.decisions.isBegun) return; // the page that comes counts it
    this.decisions.hear(record);
    this.look(this.focus, true);
  }

  // Another tab of this lead did this.
  /** @type {(record: Kept) => void} */
  heard(record) {
    const { item } = this;
    const wasOpen = item && !item.adjudication;
    this.decisions.hear(record);
    if (wasOpen && item.adjudication && !this.isTyping()) {
      this.look(this.nextOpen(this.focus));
      this.tell("Decided in your other tab.");
    } else this.look(this.focus, true);
  }

  /** @type {Deal} */
  deal(key, record, how) {
    this.outbox.drop(key);
    if (how !== "let go") {
      const again = againOf(record, how);
      this.decisions.hear(again);
      this.outbox.add(again);
    }
    this.look(this.focus, true);
  }

  // --- where one goes --------------------------------------------------------------------------

  // To the pair of an address, as after Back.
  /** @type {(pair: { query: string, chunk: string }) => void} */
  goTo(pair) {
    const name = pairKey(pair);
    if (this.listing.has(name)) this.look(name);
    else void this.open(pair);
  }

  /** @type {(by: number) => void} */
  step(by) {
    this.isAtWork = true;
    const name = this.listing.beside(this.focus, by);
    if (name !== null) this.look(name);
    else void this.turn(by);
  }

  /** @type {(by: number) => Promise<void>} */
  async turn(by) {
    await this.trying(async () => {
      if (!(await this.listing.turn(by))) return;
      this.arrived();
      this.look(this.listing.names().at(by < 0 ? -1 : 0) ?? null);
    });
  }

  // The next pair that nobody has decided; where there is none here, another page is fetched.
  /** @type {(after: string | null) => string | null} */
  nextOpen(after) {
    const here = this.listing.nextOpen(after);
    if (here === null) void this.elsewhere();
    else if (this.listing.isNearEnd(here)) void this.listing.fetchAhead();
    return here;
  }

  // Other pages, one after another, until one has a pair that nobody has decided.
  async elsewhere() {
    await this.trying(async () => {
      const seen = new Set();
      while (this.focus === null && !seen.has(this.listing.from)) {
        seen.add(this.listing.from);
        if (!(await this.listing.turnToOpen())) break;
        this.arrived();
        this.look(this.listing.nextOpen(null));
      }
    });
  }

  // --- what is on screen -----------------------------------------------------------------------

  /** @type {(wanted: string | null, isSame?: boolean, isChosen?: boolean) => void} */
  look(wanted, isSame = false, isChosen = false) {
    const known = wanted === null ? null : this.listing.find(wanted);
    const name = known ? pairKey(known) : wanted;
    if (isSame && (this.isTyping() || this.evidence.isSelecting)) return this.drawList();
    const isOther = name !== this.focus;
    if (isOther) this.evidence.leave();
    if (isOther) this.only = "";
    this.focus = name;
    if (isOther) this.shownAt = performance.now();
    const { item } = this;
    this.position.write(item, isChosen);
    const host = find(this.root, ".case");
    const scrolled = host.querySelector(".passage")?.scrollTop ?? 0;
    const focused = host.querySelector("[data-grade]:focus")?.getAttribute("data-grade");
    if (!item) host.replaceChildren(...finished(this.listing.left));
    else {
      const place = `${this.listing.placeOf(pairKey(item))} of ${this.listing.total.toLocaleString("en")}`;
      const apart = `Grades differ by ${item.spread}`;
      const note = this.notes.of(item) ?? "";
      const acts = this.acts(item);
      host.replaceChildren(...drawn(item, `${apart} · ${place}`, note, this.data, acts, this.only));
      const passage = host.querySelector(".passage");
      if (passage && !isOther) passage.scrollTop = scrolled;
      const again = focused && host.querySelector(`[data-grade="${focused}"]`);
      if (again instanceof HTMLElement) again.focus({ preventScroll: true });
    }
    this.evidence.drawn(item);
    if (isOther && this.isAtWork) bringUp(this.root, host);
    this.drawList();
  }

  /** @type {(item: Case) => import("./shapes").Acts} */
  acts(item) {
    return {
      decide: (grade, event) => this.clicked(grade, event),
      act: (name) => ACTS[name](this),
      say: this.say,
      readOn: (place) => void this.readOn(item, place),
      typed: (note) => (note ? this.notes.keep(item, note) : this.notes.drop(item)),
      keepTo: (chunk) => {
        this.only = chunk;
      },
    };
  }

  /** @type {(item: Case, place: HTMLElement) => Promise<void>} */
  async readOn(item, place) {
    await this.trying(async () => {
      const asked = new URLSearchParams({ chunk: item.chunk, from: String(item.more) });
      const { text, more } = await this.outbox.get(`/api/text?${asked}`);
      item.text = `${item.text ?? ""}${text}`;
      item.more = more;
      paintOpinions(place, item.text, item.opinions);
      this.evidence.drawn(item);
      if (more === null) place.parentElement?.querySelector("button")?.remove();
    });
  }

  drawList() {
    const host = find(this.root, ".list");
    const choose = (/** @type {string} */ name) => this.look(name, false, true);
    drawRows(host, this.listing, this.focus, this.data.colours, choose);
    this.paint();
  }

  /** @type {(words: string) => void} */
  tell(words) {
    this.told = words;
    this.paint();
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      this.told = "";
      this.paint();
    }, TOLD_MS);
  }

  // What is saved and what is not, honestly, and how many there are.
  paint() {
    const { listing, outbox } = this;
    const total = listing.total.toLocaleString("en");
    const open = listing.left.toLocaleString("en");
    find(this.root, ".both").hidden = !listing.total;
    const counts = listing.total === 1 ? "1 disagreement" : `${total} disagreements`;
    find(this.root, ".counts").textContent = listing.total ? `${counts}, ${open} to decide` : "";
    const sending = sendingWords(outbox, this.say).join(", ") || (this.isSaved && "saved");
    const state = [sending, this.told].filter(Boolean).join(" · ");
    const where = find(this.root, ".state");
    if (where.textContent !== state) where.textContent = state;
    where.dataset.state = outbox.waiting().length ? outbox.state : "idle";
    const trouble = [this.problem, ...troubleWords(outbox, this.say)].filter(Boolean).join(" ");
    showWords(find(this.root, ".trouble"), trouble);
    this.paintRefused();
    this.sayEmpty();
  }

  // Each stays until somebody deals with it; the same ones are not drawn anew.
  paintRefused() {
    const refused = this.outbox.refused();
    const shown = refused.map(([key]) => key).join(" ");
    const place = find(this.root, ".refusals");
    if (place.dataset.shown === shown) return;
    place.dataset.shown = shown;
    place.hidden = !refused.length;
    /** @type {(grade: number | null | undefined) => string} */
    const words = (grade) => `${grade} ${this.data.words[grade ?? 0]}`;
    /** @type {(event: PadEvent) => string} */
    const said = ({ undoes, grade }) =>
      undoes ? this.say("event.undone") : this.say("event.given", { grade: words(grade) });
    const spoken = {
      say: this.say,
      said,
      given: (/** @type {{ grade?: number | null }} */ stands) => words(stands.grade),
    };
    const deal = /** @type {Deal} */ ((...dealt) => this.deal(...dealt));
    place.replaceChildren(...refusedParts(refused, spoken, deal));
  }

  sayEmpty() {
    const isEmpty = this.listing.isRead && !this.listing.total;
    const place = find(this.root, ".empty");
    place.hidden = !isEmpty;
    if (!isEmpty) return;
    const [title, words] = empty(this.data.asked !== "");
    find(place, "h2").textContent = title;
    find(place, "p").textContent = words;
  }
}

/** @type {(event: Event) => void} */
function stop(event) {
  event.preventDefault();
  event.stopPropagation();
}

// Whoever is at work needs the whole of a pair, not what stands over it on the page.
/** @type {(root: HTMLElement, pair: HTMLElement) => void} */
function bringUp(root, pair) {
  const { top } = root.getBoundingClientRect();
  const { bottom } = pair.getBoundingClientRect();
  if (top < 0 || bottom > window.innerHeight) root.scrollIntoView({ block: "start" });
}
