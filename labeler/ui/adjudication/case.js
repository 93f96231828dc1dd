// Draws the pair in focus: the question, the passage, who said what, what counts, and the grades to
// decide by; or what the bench says where there is none.

import { keyButton, make } from "../js/dom.js";
import { ADJUDICATION, HOME_ROW } from "../js/keys.js";
import { chooserOf, copiesOf, isSplit } from "./copies.js";
import { mark } from "./mark.js";

/** @import { Acts, BenchData, Case, Opinion } from "./shapes" */

/** @typedef {{ start: number, end: number, said: string }} Marked */

/** @type {(shown: Case, place: string, note: string, data: BenchData, acts: Acts, only: string) => Node[]} */
export function drawn(shown, place, note, data, acts, only) {
  return [
    head(shown, place),
    passage(shown, acts),
    ...copiesOf(shown, data.colours),
    opinions(shown, data),
    counts(shown, data),
    deciding(shown, note, data, acts, only),
  ];
}

/** @type {(text: string, className: string) => HTMLElement} */
function said(text, className) {
  const made = make("p", className, text);
  made.dir = "auto";
  return made;
}

/** @type {(shown: Case, place: string) => HTMLElement} */
function head(shown, place) {
  const over = make("p", "over", [place, shown.query].filter(Boolean).join(" · "));
  const asked = make("h2", "asked", shown.asked);
  asked.dir = "auto";
  asked.tabIndex = 0; // it may have to be scrolled
  const made = make("header", "", over, asked);
  const helps = [
    ["Guideline", shown.guideline],
    ["Reference answer", shown.reference],
  ].filter(([, text]) => text);
  if (helps.length) {
    const names = helps.map(([name]) => name).join(", ");
    const fold = make("details", "help", make("summary", "", names));
    for (const [name, text] of helps) {
      const help = said(text ?? "", "help-text");
      help.tabIndex = 0;
      help.ariaLabel = name ?? "";
      fold.append(help);
    }
    made.append(fold);
  }
  return made;
}

/** @type {(shown: Case, acts: Acts) => HTMLElement} */
function passage(shown, acts) {
  const name = [shown.document, shown.chunk].filter(Boolean).join(" · ");
  const made = make("article", "passage");
  made.tabIndex = 0;
  made.ariaLabel = "The chunk";
  if (shown.title) made.append(said(shown.title, "title"));
  made.append(make("p", "over", name));
  const text = said("Its text has not been loaded: only its id is known.", "text");
  if (shown.text !== null) paintOpinions(text, shown.text, shown.opinions);
  made.append(text);
  if (shown.more !== null) {
    made.append(keyButton("", "Read on", () => acts.readOn(text)));
  }
  return made;
}

/** @type {(shown: Case, data: BenchData) => HTMLElement} */
function opinions(shown, data) {
  const rows = shown.opinions.map((opinion) => opinionRow(opinion, data, isSplit(shown)));
  return make("table", "opinions", make("tbody", "", ...rows));
}

/** @type {(opinion: Opinion, data: BenchData, isOfOne: boolean) => HTMLElement} */
function opinionRow(opinion, { words, colours }, isOfOne) {
  const { grade, kind, reason, blind, stale, day, note } = opinion;
  const given = grade === null ? judgmentWords(kind, reason) : words[grade];
  const worth = [day, blind ? "blind" : "not blind", stale && "of an earlier text"];
  if (isOfOne) worth.unshift(opinion.chunk);
  const about = make("small", "", worth.filter(Boolean).join(" · "));
  const name = make("th", "who", make("span", "name", opinion.grader), about);
  name.scope = "row";
  name.title = opinion.grader;
  const gave = make("td", "gave", mark(grade, colours), " ", make("span", "word", given));
  const wrote = make("td", "note", note ?? "");
  wrote.dir = "auto";
  return make("tr", "", name, gave, wrote);
}

/** @type {(kind: string, reason: string | null) => string} */
function judgmentWords(kind, reason) {
  return kind === "cannot_tell" ? `can’t tell${reason ? `: ${reason}` : ""}` : kind;
}

// Which grade counts now, and why.
/** @type {(shown: Case, data: BenchData) => HTMLElement} */
function counts(shown, { rule, rule_in_words, colours, words }) {
  const { adjudication, agreed, copies = [], opinions: said } = shown;
  const made = make("p", "counts-now");
  if (isSplit(shown)) {
    made.append("Current result: each chunk has its own grade, until you decide.");
  } else if (agreed === null && copies.length && !said.length && !adjudication) {
    made.append("Current result: ", mark(copies[0].grade, colours), ` ${words[copies[0].grade]}`);
  } else if (adjudication) {
    const by = [adjudication.grader, adjudication.day].filter(Boolean).join(", ");
    made.append("Decided: ", mark(adjudication.grade, colours));
    made.append(` ${words[adjudication.grade]}, by ${by}`);
    if (adjudication.note) made.append(make("span", "why", `“${adjudication.note}”`));
  } else if (agreed === null) {
    made.append(mark(null, colours), " A tie: unjudged until you decide or somebody grades again.");
  } else {
    made.append("Current result: ", mark(agreed, colours), ` ${words[agreed]} (${rule})`);
  }
  made.title = `When graders differ: ${rule}, ${rule_in_words}.`;
  return made;
}

/** @type {(shown: Case, note: string, data: BenchData, acts: Acts, only: string) => HTMLElement} */
function deciding(shown, note, data, acts, only) {
  const field = make("input", "note-field");
  field.type = "text";
  field.maxLength = 2000;
  field.placeholder = "Reason (optional)";
  field.ariaLabel = "Reason for your decision (optional)";
  field.value = note;
  field.addEventListener("input", () => acts.typed(field.value));
  const rests = make("p", "rests");
  rests.role = "status";
  const tools = make("div", "marker"); // here, where nothing lies over it
  tools.role = "toolbar";
  tools.ariaLabel = "Evidence";
  tools.hidden = true;
  const row = make("div", "grades");
  row.role = "group";
  row.ariaLabel = "Your decision";
  for (const [grade, word] of data.words.entries()) row.append(gradeButton(grade, word, shown));
  row.addEventListener("click", (event) => {
    const at = event.target instanceof Element ? event.target.closest("button") : null;
    if (at) acts.decide(Number(at.dataset.grade), event);
  });
  const actions = make("div", "actions", ...ADJUDICATION.buttons(acts.say, "row", acts.act));
  for (const [at, colour] of data.colours.entries()) {
    row.style.setProperty(`--g${at}`, colour);
  }
  const chooser = chooserOf(shown, only, acts.keepTo);
  return make("footer", "deciding", rests, tools, field, ...chooser, row, actions);
}

/** @type {(grade: number, word: string, shown: Case) => HTMLElement} */
function gradeButton(grade, word, { adjudication }) {
  const made = make("button", `grade g${grade}`, make("kbd", "", String(grade)), " ");
  made.type = "button";
  made.dataset.grade = String(grade);
  made.title = `${grade} or ${HOME_ROW[grade]}`;
  made.style.setProperty("--grade", `var(--g${grade})`);
  made.ariaPressed = String(adjudication?.grade === grade);
  made.append(make("span", "word", word));
  return made;
}

// Paint the text with the words marked that graders say made their grades, and whose they are.
// Places are counted in characters (Unicode code points), and so is the text here.
/** @type {(host: HTMLElement, text: string, opinions: Opinion[]) => void} */
export function paintOpinions(host, text, opinions) {
  const marks = opinions.flatMap(marksOf);
  if (!marks.length) {
    host.textContent = text;
    return;
  }
  const letters = Array.from(text);
  const within = marks.filter(({ start }) => start < letters.length);
  const places = new Set([0, letters.length]);
  for (const { start, end } of within) places.add(start).add(Math.min(end, letters.length));
  const sorted = [...places].sort((a, b) => a - b);
  host.replaceChildren();
  for (const [at, start] of sorted.slice(0, -1).entries()) {
    const end = sorted[at + 1];
    host.append(part(letters.slice(start, end).join(""), start, end, within));
  }
}

/** @type {(opinion: Opinion) => Marked[]} */
function marksOf({ grader, grade, evidence }) {
  return (evidence ?? []).map(([start, end]) => ({ start, end, said: `${grade} ${grader}` }));
}

/** @type {(text: string, start: number, end: number, marks: Marked[]) => Node | string} */
function part(text, start, end, marks) {
  const held = marks.filter((mark) => mark.start <= start && mark.end >= end);
  if (!held.length) return text;
  const begun = held.filter((mark) => mark.start === start);
  return make("mark", "evidence", ...begun.map(({ said }) => make("small", "", said)), text);
}

// Nothing is in focus, though there are pairs; `left` of them are open.
/** @type {(left: number) => Node[]} */
export function finished(left) {
  if (left) return [make("p", "done", "Fetching the next …")];
  const words = "All are decided. K goes back through them, U undoes your last decision.";
  return [make("h2", "done", "Everything is decided"), make("p", "done", words)];
}

// There is no pair at all, or none among those that are asked for.
/** @type {(isPart: boolean) => [string, string]} */
export function empty(isPart) {
  return isPart
    ? ["No disagreement here", "For these queries and graders, no grades differ."]
    : ["Nobody disagrees", "If two people give a chunk different grades, you decide here."];
}
