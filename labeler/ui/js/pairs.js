// A query and a chunk: their key, and what a browser keeps by pair.

import { keyOf, rememberedOf } from "./storage.js";

/** @import { Owner, Pair, Passage } from "./shapes" */
/** @import { BrowserStorage } from "./storage" */

/**
 * @template {{ query: string, chunk?: string }} P
 * @param {P} item
 * @returns {Pick<P, "query" | "chunk">}
 */
export function namesOf(item) {
  return { query: item.query, chunk: item.chunk };
}

// What a pair is kept under; stored keys hold it, so it never changes.
/** @type {(pair: { query: string, chunk?: string }) => string} */
export function pairKey(item) {
  return JSON.stringify([item.query, item.chunk]);
}

// What is kept of pairs until it is sent.
/** @template T */
export class ByPair {
  /**
   * @param {string} what
   * @param {Owner} who
   * @param {BrowserStorage} storage
   */
  constructor(what, who, storage) {
    this.what = what;
    this.who = who;
    this.storage = storage;
    /** @type {Record<string, T>} */
    this.texts = this.found().texts;
    storage.ready.then(() => {
      this.texts = this.found().texts; // a crash may have left more on the disk
    });
  }

  // What is kept, and how often it was changed; the version before kept the texts alone.
  /** @returns {{ revision: number, texts: Record<string, T> }} */
  found() {
    /** @type {any} */
    const kept = rememberedOf(this.what, this.who, {});
    return "revision" in kept ? kept : { revision: 0, texts: kept };
  }

  // What is kept of a pair, null where nothing is.
  /** @type {(pair: Pair) => T | null} */
  of(pair) {
    return this.texts[pairKey(pair)] ?? null;
  }

  /** @type {(pair: Pair, text: T) => void} */
  keep(pair, text) {
    this.texts[pairKey(pair)] = text;
    this.save();
  }

  /** @type {(pair: Pair) => void} */
  drop(pair) {
    if (this.of(pair) === null) return;
    delete this.texts[pairKey(pair)];
    this.save();
  }

  save() {
    const revision = this.found().revision + 1;
    this.storage.hold(keyOf(this.what, this.who), { revision, texts: this.texts });
  }
}

// The passages that go with what is still to be given; those of another text are nowhere.
export class Marks {
  /**
   * @param {string} what
   * @param {Owner} who
   * @param {BrowserStorage} storage
   */
  constructor(what, who, storage) {
    /** @type {ByPair<{ text_hash: string | null, passages: Passage[] }>} */
    this.kept = new ByPair(what, who, storage);
  }

  // None at all may be what somebody said; null is where nobody said anything.
  /** @type {(pair: Pair & { text_hash?: string | null }) => Passage[] | null} */
  stated(pair) {
    const found = this.kept.of(pair);
    return found && found.text_hash === (pair.text_hash ?? null) ? found.passages : null;
  }

  /** @type {(pair: Pair & { text_hash?: string | null }, passages: Passage[]) => void} */
  state(pair, passages) {
    this.kept.keep(pair, { text_hash: pair.text_hash ?? null, passages });
  }

  /** @type {(pair: Pair) => void} */
  drop(pair) {
    this.kept.drop(pair);
  }
}
