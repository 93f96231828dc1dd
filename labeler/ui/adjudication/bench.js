// The bench: which pair is in focus, what a key does with it, and where one goes from there.

import { askJson, Forbidden, newId } from "../js/api.js";
import { keepConnectionDialogsClosed } from "../js/dialogs.js";
import { find, isEditable, wordsOf } from "../js/dom.js";
import { GRADE_KEYS, TOO_SOON_MS } from "../js/grade_keys.js";
import { pairKey } from "../js/pairs.js";
import { spokenIn } from "../js/words.js";
import { drawn, empty, finished, paintOpinions } from "./case.js";
import { settleCopies, targetOf } from "./copies.js";
import { Evidence } from "./evidence.js";
import { Kept } from "./kept.js";
import { Listing } from "./listing.js";
import { Position } from "./position.js";
import { drawRows } from "./rows.js";
import { Sender } from "./sender.js";

/** @import { BenchData, Case, Decision, Result, Step, Verdict } from "./shapes" */

const TOLD_MS = 6000; // how long what was just done is said

export class Bench {
  /**
   * @param {HTMLElement | ShadowRoot} place
   * @param {BenchData} data
   * @param {() => void} renew
   */
  constructor(place, data, renew) {
    this.root = find(place, ".bench");
    this.data = data;
    this.renew = renew;
    this.isSaved = false;
    this.isAtWork = false; // they have done something here
    this.taken = 0; // how often the server took something
    this.problem = ""; // why nothing can be read just now
    this.told = ""; // what was just done, for some seconds
    this.telling = 0;
    /** @type {Step[]} */
    this.trail = [];
    this.isSeeded = false;
    /** @type {string | null} */
    this.focus = null; // the name of the pair on screen
    this.only = ""; // the one chunk of several with its text that is decided; none is all of them
    this.shownAt = 0;
    this.kept = new Kept(data);
    this.evidence = new Evidence(this.root, this.kept, {
      standing: (name) => this.listing.find(name)?.adjudication?.evidence ?? [],
      tell: (words) => this.tell(words),
      say: spokenIn("en", data.sentences).say,
    });
    this.sender = new Sender(data, {
      changed: () => this.say(),
      renew: () => this.renew(),
      answered: (verdict, result) => this.answered(verdict, result),
    });
    this.listing = new Listing((from) => this.fetch(from));
    /** @type {(event: KeyboardEvent) => void} */
    this.onKey = (event) => this.pressed(event);
    document.addEventListener("keydown", this.onKey, true);
    this.dialogs = keepConnectionDialogsClosed();
    find(this.root, ".back-page").onclick = () => void this.turn(-1);
    find(this.root, ".next-page").onclick = () => void this.turn(1);
    this.position = new Position((pair) => this.goTo(pair));
    void this.sender.send();
    void this.kept.ready.then(() => this.focus !== null && this.look(this.focus, true));
    void this.open(this.position.pair() ?? {});
  }

  dispose() {
    clearTimeout(this.telling);
    this.sender.dispose();
    document.removeEventListener("keydown", this.onKey, true);
    this.dialogs.disconnect();
    this.evidence.dispose();
    this.kept.dispose();
    this.position.dispose();
  }

  /** @type {(data: BenchData, renew: () => void) => void} */
  update(data, renew) {
    const isNews = JSON.stringify(data.newest) !== JSON.stringify(this.data.newest);
    const isRule = data.rule !== this.data.rule;
    this.data = data;
    this.renew = renew;
    this.sender.useToken(data.token);
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
      const page = await askJson(this.data.token, `/api/disagreements?${asked}`);
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
    for (const verdict of this.sender.waiting.values()) this.apply(verdict);
    if (this.isSeeded) return;
    this.isSeeded = true;
    this.trail = this.listing.undoable.toReversed();
  }

  // What is on its way counts here already.
  /** @type {(verdict: Verdict) => void} */
  apply(verdict) {
    const item = this.listing.find(pairKey(verdict));
    if (!item) return;
    if (verdict.undoes === undefined) this.settle(item, verdict);
    else if (item.adjudication?.event_id === verdict.undoes) {
      this.listing.left += 1;
      item.adjudication = null;
    }
  }

  // What is decided counts; of several chunks with one text it may be that another still differs.
  /** @type {(item: Case, verdict: Verdict) => void} */
  settle(item, verdict) {
    const isDecided = settleCopies(item, verdict);
    this.listing.left += Number(Boolean(item.adjudication)) - Number(isDecided);
    item.adjudication = isDecided ? this.decisionOf(verdict) : null;
  }

  /** @type {(verdict: Verdict) => Decision} */
  decisionOf({ event_id, grade = 0, note = null, evidence = [] }) {
    return { event_id, grade, note, grader: this.data.grader, day: "", evidence };
  }

  /** @type {(act: () => Promise<void>) => Promise<void>} */
  async trying(act) {
    try {
      await act();
      this.problem = "";
    } catch (problem) {
      this.problem = wordsOf(problem);
      if (problem instanceof Forbidden) this.renew();
    }
    this.say();
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
    const isUndo = (event.ctrlKey || event.metaKey) && key === "z" && !event.shiftKey;
    if (!isUndo && hasModifier) return;
    const by = { k: -1, arrowleft: -1, j: 1, arrowright: 1 }[key];
    if (event.repeat && !by) return;
    if (key.startsWith("arrow") && this.isElsewhere(event)) return;
    if (Object.hasOwn(GRADE_KEYS, key)) this.decide(GRADE_KEYS[key]);
    else if (isUndo || key === "u") this.undo();
    else if (by) this.step(by);
    else if (key === "n") this.root.querySelector("input")?.focus();
    else if (key === "e") this.evidence.toggle();
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
      note: this.kept.note(item).trim() || null,
      elapsed_ms: Math.round(performance.now() - this.shownAt),
      ...this.evidence.given(),
    };
    this.settle(item, verdict);
    this.trail.push({ ...verdict, grade, before, counted });
    this.kept.drop(item);
    this.only = "";
    this.look(item.adjudication ? this.nextOpen(this.focus) : this.focus);
    this.sender.add(verdict);
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
    const step = this.trail.pop();
    if (!step) return this.tell("There is nothing to undo.");
    const item = this.listing.find(pairKey(step));
    if (step.note) this.kept.write(item ?? step, step.note); // both wait for the next decision
    if (step.evidence) this.evidence.keep(item ?? step, step.evidence);
    if (item) {
      const before = step.before ?? null;
      this.listing.left += Number(Boolean(item.adjudication)) - Number(Boolean(before));
      item.adjudication = before;
      if (step.counted) item.copies = step.counted;
      this.look(pairKey(step));
    }
    this.sender.add({ ...this.signed(step), undoes: step.event_id });
    if (!item) void this.open({ query: step.query, chunk: step.chunk });
    this.tell(`Undone (was ${step.grade}, ${this.data.words[step.grade]}).`);
  }

  /** @type {(verdict: Verdict, result: Result) => void} */
  answered(verdict, { refused, unmarked, instead }) {
    this.taken += 1;
    if (unmarked) this.tell(`The decision is saved, its evidence is not: ${unmarked}.`);
    const item = this.listing.find(pairKey(verdict));
    if (!refused) {
      this.isSaved = true;
      return;
    }
    this.trail = this.trail.filter((step) => step.event_id !== verdict.event_id);
    if (item && verdict.undoes === undefined) item.adjudication = instead ?? null;
    if (item && pairKey(item) === this.focus) this.look(this.focus, true);
    this.tell(`Refused: ${refused}.`);
    void this.follow();
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
      const note = this.kept.note(item);
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
      undo: () => this.undo(),
      step: (by) => this.step(by),
      readOn: (place) => void this.readOn(item, place),
      mark: () => this.evidence.toggle(),
      typed: (note) => this.kept.write(item, note),
      keepTo: (chunk) => {
        this.only = chunk;
      },
    };
  }

  /** @type {(item: Case, place: HTMLElement) => Promise<void>} */
  async readOn(item, place) {
    await this.trying(async () => {
      const asked = new URLSearchParams({ chunk: item.chunk, from: String(item.more) });
      const { text, more } = await askJson(this.data.token, `/api/text?${asked}`);
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
    this.say();
  }

  /** @type {(words: string) => void} */
  tell(words) {
    this.told = words;
    this.say();
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      this.told = "";
      this.say();
    }, TOLD_MS);
  }

  say() {
    const { listing, sender } = this;
    const total = listing.total.toLocaleString("en");
    const open = listing.left.toLocaleString("en");
    find(this.root, ".both").hidden = !listing.total;
    const counts = listing.total === 1 ? "1 disagreement" : `${total} disagreements`;
    find(this.root, ".counts").textContent = listing.total ? `${counts}, ${open} to decide` : "";
    const state = [sender.inWords(this.isSaved), this.told].filter(Boolean).join(" · ");
    const where = find(this.root, ".state");
    if (where.textContent !== state) where.textContent = state;
    where.dataset.state = sender.state;
    const isShut = ["stuck", "forbidden"].includes(sender.state);
    const trouble = isShut
      ? `Not saving: ${sender.reason}. What you decided is kept.`
      : this.problem;
    const place = find(this.root, ".trouble");
    place.hidden = !trouble;
    place.textContent = trouble;
    this.sayEmpty();
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
