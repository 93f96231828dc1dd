// All chunks of one query as a compact list, so that grades are given side by side. Draws the head
// and fetches; the rows do the rest. Knows nothing of tokens, storage and what is graded next.

class WholeQuery extends RowsView {
  constructor(host, desk) {
    super(host, desk, "whole");
  }

  // Show the pool of a query, beginning at `first` (a pair) or at the first open chunk.
  async open(queryId, first = null) {
    const asked = ++this.asked;
    this.host.hidden = false;
    this.paintHead(this.desk.queryOf(queryId));
    this.message.textContent = "Fetching the chunks of this query …";
    this.back.focus({ preventScroll: true });
    this.host.scrollIntoView({ block: "nearest" });
    try {
      const answer = await this.desk.get(`/api/query?query=${encodeURIComponent(queryId)}`);
      if (asked === this.asked) this.take(answer, queryId, first);
    } catch (problem) {
      if (asked === this.asked) {
        sayTrouble(this.message, problem, () => this.open(queryId, first));
      }
    }
  }

  close() {
    this.asked += 1;
    super.close();
  }

  press(key, event) {
    const name = key.toLowerCase();
    if (name === "escape" || name === "b") this.desk.leave();
    else if (!this.rows?.press(name)) return false;
    event.preventDefault();
    return true;
  }

  paintHead(query) {
    const head = document.createElement("header");
    this.title = element("h2", query.text);
    this.title.dir = "auto";
    this.progress = element("span", "", "progress");
    this.message = element("p", "", "message");
    this.list = element("ol", "", "rows");
    this.back = keyButton("B", "one chunk at a time", () => this.desk.leave());
    const moves = element("span");
    moves.append(element("kbd", "J"), " ", element("kbd", "K"), " move");
    const line = element("div", "", "line");
    line.append(this.progress, moves, keyButton("U", "undo", () => this.rows?.takeBack()));
    line.append(this.back);
    head.append(this.title, line);
    this.host.replaceChildren(head, this.message, this.list);
  }

  take(answer, queryId, first) {
    const query = answer.queries[queryId] ?? this.desk.queryOf(queryId);
    this.title.textContent = query.text; // an address may ask for a query nobody knows yet
    this.message.textContent = answer.items.length
      ? ""
      : "No chunk in this query’s pool has a text that can be read yet.";
    this.rows = new Rows(this.list, this.desk, {
      onChange: () => this.paintProgress(),
      onEnd: () => this.back.focus({ preventScroll: true }),
    });
    this.rows.show(answer.items, marksOf(query));
    this.rows.begin(first);
  }

  paintProgress() {
    const { graded, left, entries } = this.rows;
    const all = entries.length;
    this.progress.textContent = left
      ? `${graded} of ${all} graded by you · ${left} not yet`
      : `all ${all} graded by you`;
  }
}

// Say in `message` that something did not come, with a button to ask again.
function sayTrouble(message, problem, again) {
  const isAway = ["TypeError", "TimeoutError"].includes(problem.name); // how fetch says it
  const reason = isAway ? "the server cannot be reached" : problem.message;
  const words = `This could not be fetched: ${reason}. Nothing you graded is lost. `;
  message.replaceChildren(words, keyButton("", "Try again", again));
}
