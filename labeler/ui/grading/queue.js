// The fetched chunks, in order, and which one is on screen.

import { pairKey } from "../js/pairs.js";

/** @import { Entry, Item, Pair, Standing } from "./shapes" */

// A fetched chunk: `done` is what was given, `later` says that it was put off, `undone` what was
// just taken back.
/**
 * @param {Item} item
 * @param {Standing | null} [done]
 * @returns {Entry}
 */
function entryOf(item, done = null) {
  return { item, done, later: false, undone: null };
}

export class ChunkQueue {
  constructor() {
    /** @type {Entry[]} */
    this.entries = [];
    this.at = 0; // beyond the last entry: nothing is on screen
    /** @type {Map<string, Standing | null>} */
    this.standing = new Map(); // pair -> this grader's judgment of it as far as known, or null
  }

  /** @returns {Entry | null} */
  get current() {
    return this.entries[this.at] ?? null;
  }

  // What this grader's judgment of the pair is now; an event id alone where no more is known.
  /** @type {(item: Pair & Partial<Item>) => Standing | null} */
  standingOf(item) {
    const pair = pairKey(item);
    const known = this.standing.get(pair);
    if (known !== undefined) return known;
    if (item.judged) return item.judged;
    return item.replaces ? { event_id: item.replaces } : null;
  }

  /** @type {(item: Pair) => Entry[]} */
  entriesOf(item) {
    const pair = pairKey(item);
    return this.entries.filter((entry) => pairKey(entry.item) === pair);
  }

  // Take in what is new; what was judged here since the server chose it stays out.
  /** @type {(items: Item[]) => void} */
  add(items) {
    const asked = new Set(this.entries.filter((e) => !e.done).map((e) => pairKey(e.item)));
    for (const item of items) {
      const pair = pairKey(item);
      const stands = this.standing.get(pair);
      if (asked.has(pair)) this.tellMore(item);
      if (asked.has(pair) || (stands && stands.event_id !== item.replaces)) continue;
      asked.add(pair);
      this.entries.push(entryOf(item));
    }
    this.seek();
  }

  // What was given before is known by now of a chunk that is in the queue already.
  /** @type {(item: Item) => void} */
  tellMore(item) {
    if (!item.before) return;
    for (const entry of this.entriesOf(item)) {
      if (!entry.done && !entry.item.before) entry.item = item;
    }
  }

  // If nothing is on screen, show the first open chunk.
  seek() {
    if (!this.current) this.goTo(this.entries.findIndex((entry) => !entry.done));
  }

  /** @type {(index: number) => void} */
  goTo(index) {
    this.at = index < 0 ? this.entries.length : index;
  }

  // In order, but what was stepped over in a query comes before the next query, and what was put
  // off after all others.
  goToNextOpen() {
    const { at } = this;
    const query = this.current?.item.query;
    /** @type {(which: (entry: Entry, index: number) => boolean) => number} */
    const find = (which) => this.entries.findIndex((e, i) => !e.done && i !== at && which(e, i));
    /** @type {(entry: Entry) => boolean} */
    const isHere = (entry) => !entry.later && entry.item.query === query;
    const choices = [
      find((entry, i) => i > at && !entry.later),
      find((entry, i) => i < at && !entry.later),
      find(() => true),
    ];
    const skipped = find((entry, i) => i < at && isHere(entry));
    if (find((entry, i) => i > at && isHere(entry)) < 0) choices.unshift(skipped);
    this.goTo(choices.find((index) => index >= 0) ?? -1);
  }

  // Step over entries; says whether there was anywhere to go.
  /** @type {(by: number) => boolean} */
  step(by) {
    const to = this.at + by;
    const end = this.entries.length - (this.count(() => true) ? 1 : 0);
    if (to < 0 || to > end) return false;
    this.at = to;
    return true;
  }

  // Put the open chunk on screen behind all others; says whether there are others.
  putOff() {
    const entry = this.current;
    if (!entry || entry.done || this.count(() => true) < 2) return false;
    this.goToNextOpen();
    const next = this.entries[this.at];
    this.entries.splice(this.entries.indexOf(entry), 1);
    this.entries.push(entry);
    entry.later = true;
    this.at = next ? this.entries.indexOf(next) : this.entries.length;
    return true;
  }

  // A judgment stands for the pair; says whether it answered a chunk that counts as open.
  /** @type {(item: Pair, done: Standing) => boolean} */
  settle(item, done) {
    this.standing.set(pairKey(item), done);
    let answered = false;
    for (const entry of this.entriesOf(item)) {
      answered ||= !entry.done && entry.item.source !== "repeat";
      entry.done = done;
      entry.undone = null;
    }
    return answered;
  }

  // A judgment was taken back: `former` stands again, `shown` is what its entry said before.
  /** @type {(item: Pair, former: Standing | null, shown: Standing | null) => void} */
  restore(item, former, shown) {
    this.standing.set(pairKey(item), former);
    for (const entry of this.entriesOf(item)) {
      const askedAgain = entry.item.source === "repeat" || entry.item.stale;
      entry.done = askedAgain ? shown : former && { ...former, item: entry.item };
    }
  }

  // Put the pair on screen, in its place if it has one, else before the present one.
  /** @type {(item: Item, done: Standing | null) => Entry} */
  bring(item, done) {
    const entry = this.entriesOf(item).at(-1) ?? entryOf(item, done);
    if (!this.entries.includes(entry)) this.entries.splice(this.at, 0, entry);
    this.at = this.entries.indexOf(entry);
    return entry;
  }

  // Put the chunks of one query where the present one is, and show `first` of them or an open one.
  /** @type {(items: Item[], first?: Pair | null) => void} */
  bringQuery(items, first) {
    const entries = items.map((item) => this.entriesOf(item).at(-1) ?? this.entryFor(item));
    const others = this.entries.filter((entry) => !entries.includes(entry));
    const at = this.entries.slice(0, this.at).filter((entry) => others.includes(entry)).length;
    this.entries = others.toSpliced(at, 0, ...entries);
    const wanted = first ? entries.find((entry) => pairKey(entry.item) === pairKey(first)) : null;
    const shown = wanted ?? entries.find((entry) => !entry.done) ?? entries[0];
    if (shown) this.goTo(this.entries.indexOf(shown));
    else this.seek();
  }

  /** @type {(item: Item) => Entry} */
  entryFor(item) {
    const stands = this.standingOf(item);
    return entryOf(item, item.stale || !stands?.kind ? null : { ...stands, item });
  }

  // Put a judged pair before all others, on screen.
  /** @type {(item: Item, done: Standing) => void} */
  begin(item, done) {
    this.standing.set(pairKey(item), done);
    this.entries.unshift(entryOf(item, done));
    this.at = 0;
  }

  // Take the open chunks `which` picks out of the queue and return their items.
  /** @type {(which: (entry: Entry) => boolean) => Item[]} */
  drop(which) {
    const { at, current } = this;
    /** @type {(entry: Entry) => boolean} */
    const goes = (entry) => !entry.done && which(entry);
    /** @type {(entry: Entry, index: number) => boolean} */
    const stays = (entry, i) => i > at && !entry.done && !goes(entry);
    const next = current && goes(current) ? this.entries.find(stays) : current;
    const dropped = this.entries.filter(goes);
    this.entries = this.entries.filter((entry) => !goes(entry));
    this.goTo(next ? this.entries.indexOf(next) : this.entries.findIndex((entry) => !entry.done));
    return dropped.map((entry) => entry.item);
  }

  // How many open chunks of its query come before the one on screen: they were stepped over.
  skipped() {
    const { at, current } = this;
    if (!current || current.done || current.later) return 0;
    const { query } = current.item;
    return this.entries.slice(0, at).filter((e) => !e.done && e.item.query === query).length;
  }

  // What was put off and is still open.
  later() {
    return this.entries.filter((each) => each.later && !each.done).map(({ item }) => item);
  }

  // How many open chunks are in the queue.
  /** @type {(which: (entry: Entry) => boolean) => number} */
  count(which) {
    return this.entries.filter((entry) => !entry.done && which(entry)).length;
  }

  // How many of them are still to come before those put off.
  countAhead() {
    return this.entries.filter((e, i) => i >= this.at && !e.done && !e.later).length;
  }
}
