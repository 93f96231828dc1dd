// Which pair is in focus stands in the page's address, so that a link, Back and a reload lead to it.

const PAIR = ["query", "chunk"];
const SECTION = "review"; // which part of the page is shown

const push = History.prototype.pushState; // the page's own makes no step of another chunk

export class Position {
  /** @param {(pair: { query: string, chunk: string }) => void} show */
  constructor(show) {
    this.home = this.part();
    this.back = () => {
      const pair = this.pair();
      if (pair !== null && this.isHere()) show(pair);
    };
    window.addEventListener("popstate", this.back);
  }

  dispose() {
    window.removeEventListener("popstate", this.back);
    const isOnPage = location.pathname === this.home.split("?")[0];
    if (isOnPage && !this.isHere()) this.put(null, false); // another part of the page has no pair
  }

  /** @type {() => string} */
  part() {
    return `${location.pathname}?${new URLSearchParams(location.search).get(SECTION)}`;
  }

  isHere() {
    return this.part() === this.home;
  }

  // The pair that the address names.
  /** @type {() => { query: string, chunk: string } | null} */
  pair() {
    const asked = new URLSearchParams(location.search);
    const [query, chunk] = PAIR.map((name) => asked.get(name));
    return query == null || chunk == null ? null : { query, chunk };
  }

  // Back leads to the pair before where somebody chose another one; keys go on from pair to pair,
  // and Back then leaves them.
  /** @type {(pair: { query: string, chunk: string } | null, isChosen: boolean) => void} */
  write(pair, isChosen) {
    if (this.isHere()) this.put(pair, isChosen);
  }

  /** @type {(pair: { query: string, chunk: string } | null, isStep: boolean) => void} */
  put(pair, isStep) {
    const to = new URL(location.href);
    for (const name of PAIR) to.searchParams.delete(name);
    if (pair !== null) {
      to.searchParams.set("query", pair.query);
      to.searchParams.set("chunk", pair.chunk);
    }
    if (to.href === location.href) return;
    if (isStep) push.call(history, {}, "", to);
    else history.replaceState(history.state, "", to);
  }
}
