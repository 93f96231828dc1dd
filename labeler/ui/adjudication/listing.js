// The page of disagreements at hand: in the server's order, which nothing that is decided changes.

import { pairKey } from "../js/pairs.js";

/** @import { Case, Page, Undoable } from "./shapes" */

const NEAR_END = 3; // so few open ones before the end of a page the next one is fetched

export class Listing {
  /** @param {(from: number) => Promise<Page>} fetch */
  constructor(fetch) {
    this.fetch = fetch;
    /** @type {Case[]} */
    this.items = [];
    /** @type {Undoable[]} */
    this.undoable = [];
    this.from = 0;
    this.total = 0;
    this.left = 0; // how many nobody has decided
    /** @type {number | null} */
    this.nextOpenPlace = null;
    this.isRead = false;
    /** @type {Promise<Page> | null} */
    this.ahead = null;
  }

  /** @type {(page: Page) => void} */
  open(page) {
    this.items = page.items;
    this.undoable = page.undoable;
    this.from = page.from;
    this.total = page.total;
    this.left = page.open;
    this.nextOpenPlace = page.next_open;
    this.isRead = true;
    this.ahead = null;
  }

  names() {
    return this.items.map(pairKey);
  }

  /** @type {(name: string) => boolean} */
  has(name) {
    return this.find(name) !== null;
  }

  // The one about a pair, or about a text that is also that of the pair's chunk.
  /** @type {(name: string) => Case | null} */
  find(name) {
    /** @type {(item: Case) => boolean} */
    const isNamed = ({ query, chunk, copies = [] }) =>
      [{ chunk }, ...copies].some((each) => pairKey({ query, chunk: each.chunk }) === name);
    return this.items.find(isNamed) ?? null;
  }

  // From 1, among all there are.
  /** @type {(name: string) => number} */
  placeOf(name) {
    return this.from + this.names().indexOf(name) + 1;
  }

  /** @type {(name: string | null, by: number) => string | null} */
  beside(name, by) {
    const names = this.names();
    if (name === null) return names.at(by < 0 ? -1 : 0) ?? null;
    const at = names.indexOf(name) + by;
    return at >= 0 && at < names.length ? names[at] : null;
  }

  // The next that nobody has decided on this page, from one on and then around.
  /** @type {(after: string | null) => string | null} */
  nextOpen(after) {
    const at = after === null ? 0 : this.names().indexOf(after) + 1;
    const rest = this.items.slice(at).find((item) => !item.adjudication);
    if (rest) return pairKey(rest);
    if (this.nextOpenPlace !== null && this.nextOpenPlace >= this.from + this.items.length) {
      return null; // further on comes before what was passed over
    }
    const passed = this.items.slice(0, at).find((item) => !item.adjudication);
    return passed ? pairKey(passed) : null;
  }

  /** @type {(name: string) => boolean} */
  isNearEnd(name) {
    const left = this.items.slice(this.names().indexOf(name)).filter((item) => !item.adjudication);
    return left.length <= NEAR_END;
  }

  // Have the next page at hand before it is wanted.
  fetchAhead() {
    const place = this.nextOpenPlace;
    const isHere = place !== null && place >= this.from && place < this.from + this.items.length;
    if (place === null || isHere || this.ahead) return;
    this.ahead = this.fetch(place);
    this.ahead.catch(() => {
      this.ahead = null; // asked for again once it is wanted
    });
  }

  // Go to the page of the next that nobody has decided; says whether there is one.
  async turnToOpen() {
    if (this.nextOpenPlace === null) return false;
    const page = await (this.ahead ?? this.fetch(this.nextOpenPlace));
    this.open(page);
    return true;
  }

  // Go a page on or back; says whether there is one.
  /** @type {(by: number) => Promise<boolean>} */
  async turn(by) {
    const from = by > 0 ? this.from + this.items.length : this.from - 1;
    if (from < 0 || from >= this.total) return false;
    this.open(await this.fetch(from));
    return true;
  }
}
