// Finds a chunk that no system returned for a query, by its words, to grade it by hand. Knows how
// to ask and to list; the rows do the grading, and nothing here says which system found what.

const SEARCH_AFTER_MS = 250; // a pause in typing
const FINDER_HELP = "Find a chunk that no system returned for this query.";

class Finder extends RowsView {
  constructor(host, desk) {
    super(host, desk, "finder");
  }

  // Show an input for words to find, and search at once for those given.
  open(queryId, words = "") {
    this.close();
    this.queryId = queryId;
    this.host.hidden = false;
    this.paintHead(this.desk.queryOf(queryId));
    this.input.value = words;
    this.search();
    this.input.focus({ preventScroll: true });
    this.host.scrollIntoView({ block: "nearest" });
  }

  close() {
    this.forgetSearch();
    super.close();
  }

  press(key, event) {
    const name = key.toLowerCase();
    if (name === "escape" || name === "/") this.input.focus();
    else if (!this.rows?.press(name)) return false;
    event.preventDefault();
    return true;
  }

  paintHead(query) {
    const head = document.createElement("header");
    const title = element("h2", query.text);
    title.dir = "auto";
    this.message = element("p", "", "message");
    this.message.setAttribute("role", "status");
    this.list = element("ol", "", "rows");
    this.back = keyButton("Esc", "back", () => this.desk.leave());
    const line = element("div", "", "line");
    const undo = keyButton("U", "undo", () => this.rows?.takeBack());
    line.append(this.wordsField(), undo, this.back);
    head.append(title, line, this.message);
    this.host.replaceChildren(head, this.list);
  }

  wordsField() {
    this.input = document.createElement("input");
    this.input.type = "search";
    this.input.placeholder = "Words of the chunk or its title";
    this.input.maxLength = 200;
    this.input.setAttribute("aria-label", FINDER_HELP);
    this.input.addEventListener("input", () => this.searchSoon());
    this.input.addEventListener("keydown", (event) => this.typed(event));
    return this.input;
  }

  typed(event) {
    if (event.isComposing) return;
    if (event.key === "Escape") this.desk.leave();
    else if (event.key === "Enter") this.search();
    else if (event.key === "ArrowDown") this.rows?.moveTo(Math.max(0, this.rows.at));
    else return;
    event.preventDefault();
  }

  // --- searching ------------------------------------------------------------------------------

  searchSoon() {
    this.forgetSearch();
    this.timer = setTimeout(() => this.search(), SEARCH_AFTER_MS);
  }

  // An answer that is still under way is no longer wanted.
  forgetSearch() {
    clearTimeout(this.timer);
    this.asked += 1;
  }

  async search() {
    this.forgetSearch();
    const { asked } = this;
    const words = this.input.value.trim();
    if (!words) return this.show([], {}, FINDER_HELP);
    try {
      const query = `query=${encodeURIComponent(this.queryId)}&words=${encodeURIComponent(words)}`;
      const { items, queries } = await this.desk.get(`/api/search?${query}`);
      if (asked === this.asked) this.show(items, queries, foundWords(items.length));
    } catch (problem) {
      if (asked === this.asked) sayTrouble(this.message, problem, () => this.search());
    }
  }

  show(items, queries, words) {
    this.message.textContent = words;
    this.rows = new Rows(this.list, this.desk, {
      onTop: () => this.input.focus(),
      onEnd: () => this.back.focus({ preventScroll: true }),
    });
    const query = queries[this.queryId] ?? this.desk.queryOf(this.queryId);
    this.rows.show(items, marksOf({ ...query, text: `${query.text} ${this.input.value}` }));
  }
}

function foundWords(count) {
  if (!count) return "No chunk has these words. Try fewer of them, or others.";
  return `${count} found, the best first. Go down with ↓ and grade what is relevant.`;
}
