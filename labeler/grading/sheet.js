// Sheets that stand in for the chunk while they are read: guideline, keys, what was refused. Knows
// how to show rows of words, not where they come from.

class Sheet {
  constructor(host, onClose) {
    this.host = host;
    this.onClose = onClose;
    this.name = null;
  }

  get isOpen() {
    return this.name !== null;
  }

  show(name, title, parts) {
    this.before ??= this.host.getRootNode().activeElement ?? null;
    this.name = name;
    const head = element("header");
    head.append(element("h2", title), keyButton("Esc", "close", () => this.close(), "close"));
    this.host.setAttribute("aria-label", title);
    this.host.replaceChildren(head, ...parts);
    this.host.hidden = false;
    this.host.focus({ preventScroll: true });
    this.host.scrollIntoView({ block: "nearest" });
  }

  close() {
    if (!this.isOpen) return;
    this.name = null;
    this.host.hidden = true;
    this.host.replaceChildren();
    this.onClose();
    if (this.before?.isConnected) this.before.focus({ preventScroll: true });
    this.before = null;
  }
}

function guidelineParts({ guideline, words, colours }, query) {
  const parts = [];
  if (query?.guideline) parts.push(passage("For this query", query.guideline));
  if (guideline) parts.push(passage("For every query", guideline));
  if (!parts.length) parts.push(element("p", "Nobody has written a guideline yet."));
  const scale = element("dl", "", "scale");
  for (const [grade, word] of words.entries()) {
    const name = element("dt", String(grade), "swatch");
    name.style.setProperty("--grade", colours[grade]);
    scale.append(name, element("dd", word));
  }
  return [...parts, element("h3", "The scale"), scale];
}

function passage(title, text) {
  const made = element("div");
  const body = element("p", text, "passage");
  body.dir = "auto";
  made.append(element("h3", title), body);
  return made;
}

function keysParts(agreement) {
  const table = element("dl", "", "keys-table");
  for (const [keys, help] of keyRows()) {
    const names = element("dt");
    for (const key of keys) names.append(element("kbd", key), " ");
    table.append(names, element("dd", help));
  }
  const parts = [table];
  const why = "A few chunks come twice, to see how steady grades are.";
  if (agreement) parts.push(element("p", `${agreement} ${why}`));
  return parts;
}

// `refused` is [[key, record]]; `deal(key, record, how)` gets "mine", "again" or "let go".
function refusedParts(refused, words, deal) {
  if (!refused.length) return [element("p", "Nothing is refused any more.")];
  const list = element("ul", "", "refused");
  for (const [key, record] of refused) list.append(refusedRow(key, record, words, deal));
  return [
    element("p", "The server did not take these. They stay here until you have dealt with them."),
    list,
  ];
}

function refusedRow(key, record, words, deal) {
  const { event, shown, reason, instead } = record;
  const row = element("li");
  const about = element("p", shown?.query || event.query);
  if (event.chunk) about.append(" · ", shown?.title || "a chunk without a title");
  about.dir = "auto";
  const ways = element("p", "", "ways");
  const offer = (text, how) => {
    ways.append(keyButton("", text, () => deal(key, record, how), "choice"));
  };
  if (instead) offer("Use mine instead", "mine");
  else offer("Try again", "again");
  offer("Let it go", "let go");
  row.append(about, element("p", eventWords(event, words)));
  row.append(element("p", `Refused because: ${reason}`));
  if (instead) row.append(element("p", `What stands: ${givenWords(instead, words)}`));
  row.append(ways);
  return row;
}
