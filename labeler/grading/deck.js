// The chunks on the table, in order, and which one is on screen. Knows what stands for each pair,
// and nothing of keys, elements or the server.

// A chunk on the table: `done` is what was given, `note` one that waits for its grade, `later` says
// that it was put off, `undone` what was just taken back.
function entryOf(item, done = null) {
  return { item, done, note: null, later: false, undone: null };
}

class Deck {
  constructor() {
    this.entries = [];
    this.at = 0; // beyond the last entry: nothing is on screen
    this.standing = new Map(); // pair -> this grader's judgment of it as far as known, or null
  }

  get current() {
    return this.entries[this.at] ?? null;
  }

  // What this grader's judgment of the pair is now; an event id alone where no more is known.
  standingOf(item) {
    const pair = pairOf(item);
    if (this.standing.has(pair)) return this.standing.get(pair);
    if (item.judged) return item.judged;
    return item.replaces ? { event_id: item.replaces } : null;
  }

  entriesOf(item) {
    const pair = pairOf(item);
    return this.entries.filter((entry) => pairOf(entry.item) === pair);
  }

  // Take in what is new; what was judged here since the server chose it stays out.
  add(items) {
    const asked = new Set(this.entries.filter((e) => !e.done).map((e) => pairOf(e.item)));
    for (const item of items) {
      const pair = pairOf(item);
      const stands = this.standing.get(pair);
      if (asked.has(pair) || (stands && stands.event_id !== item.replaces)) continue;
      asked.add(pair);
      this.entries.push(entryOf(item));
    }
    this.seek();
  }

  // If nothing is on screen, show the first open chunk.
  seek() {
    if (!this.current) this.goTo(this.entries.findIndex((entry) => !entry.done));
  }

  goTo(index) {
    this.at = index < 0 ? this.entries.length : index;
  }

  // In order, but what was stepped over in a query comes before the next query, and what was put
  // off after all others.
  goToNextOpen() {
    const { at } = this;
    const query = this.current?.item.query;
    const find = (which) => this.entries.findIndex((e, i) => !e.done && i !== at && which(e, i));
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
    const next = this.current;
    this.entries.splice(this.entries.indexOf(entry), 1);
    this.entries.push(entry);
    entry.later = true;
    this.at = this.entries.indexOf(next);
    return true;
  }

  // A judgment stands for the pair; says whether it answered a chunk that counts as open.
  settle(item, done) {
    this.standing.set(pairOf(item), done);
    let answered = false;
    for (const entry of this.entriesOf(item)) {
      answered ||= !entry.done && entry.item.source !== "repeat";
      entry.done = done;
      entry.undone = null;
    }
    return answered;
  }

  // A judgment was taken back: `former` stands again, `shown` is what its entry said before.
  restore(item, former, shown) {
    this.standing.set(pairOf(item), former);
    for (const entry of this.entriesOf(item)) {
      const askedAgain = entry.item.source === "repeat" || entry.item.stale;
      entry.done = askedAgain ? shown : former && { ...former, item: entry.item };
    }
  }

  // Put the pair on screen, in its place if it has one, else before the present one.
  bring(item, done) {
    const entry = this.entriesOf(item).at(-1) ?? entryOf(item, done);
    if (!this.entries.includes(entry)) this.entries.splice(this.at, 0, entry);
    this.at = this.entries.indexOf(entry);
    return entry;
  }

  // Put a judged pair before all others, on screen.
  begin(item, done) {
    this.standing.set(pairOf(item), done);
    this.entries.unshift(entryOf(item, done));
    this.at = 0;
  }

  // Take the open chunks `which` picks off the table and return their items.
  drop(which) {
    const { at, current } = this;
    const goes = (entry) => !entry.done && which(entry);
    const stays = (entry, i) => i > at && !entry.done && !goes(entry);
    const next = current && goes(current) ? this.entries.find(stays) : current;
    const dropped = this.entries.filter(goes);
    this.entries = this.entries.filter((entry) => !goes(entry));
    this.goTo(this.entries.findIndex((entry) => (next ? entry === next : !entry.done)));
    return dropped.map((entry) => entry.item);
  }

  // How many open chunks are on the table.
  count(which) {
    return this.entries.filter((entry) => !entry.done && which(entry)).length;
  }

  // How many of them are still to come before those put off.
  countAhead() {
    return this.entries.filter((e, i) => i >= this.at && !e.done && !e.later).length;
  }
}
