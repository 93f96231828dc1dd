// Two ranked lists with lines between equal chunks, or those of two chunkings that share text, and
// under them what each chunk contributes.

import { cell, isMeant, make, sideName } from "./shared.js";

/** @import { AOrB, Component, Line, ListsData, MoveRow, Place } from "./shapes" */

const SVG = "http://www.w3.org/2000/svg";

const IN_SIGHT = 0.8; // of the window's height: what begins further down is hardly seen

const SIDES = /** @type {const} */ (["a", "b"]);

/** @type {(component: Component<ListsData>) => void} */
export default function show({ data, parentElement, setTriggerValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".ranks"));
  const active = root.querySelector(":focus")?.getAttribute("data-stop");
  for (const [at, side] of SIDES.entries()) {
    root.style.setProperty(`--${side}`, data.sides[at].colour);
  }
  root.style.setProperty("--rows", String(rowsOf(data)));
  const two = twoLists(data);
  two.addEventListener("focusin", (event) => meet(root, closest(event, ".place"), data));
  root.replaceChildren(two, key(data), movesTable(data));
  root.onclick = (event) => {
    const found = closest(event, "[data-chunk]");
    if (!found || !isMeant(event)) return;
    setTriggerValue("picked", found.dataset.chunk);
    showPanel();
  };
  root.onmouseover = (event) => meet(root, closest(event, ".place"), data);
  // a rerun draws everything again: the key stays where it was
  const again = active ? root.querySelector(`[data-stop="${active}"]`) : null;
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
}

// On a phone the chunk stands below the lists, out of sight.
function showPanel() {
  const panel = document.querySelector(".st-key-chunk-panel");
  if (panel && panel.getBoundingClientRect().top > window.innerHeight * IN_SIGHT) {
    panel.scrollIntoView({ block: "start" });
  }
}

/** @type {(event: Event, selector: string) => HTMLElement | null} */
function closest(event, selector) {
  const found = event.target instanceof Element ? event.target.closest(selector) : null;
  return found instanceof HTMLElement ? found : null;
}

/** @type {(data: ListsData) => number} */
function rowsOf({ lists, depth }) {
  const rows = lists.map((list) => list.length + Number(list.some(({ rank }) => rank > depth)));
  return Math.max(...rows, 1);
}

// The middle of a chunk's row, in rows; what is not listed is as far down as its rank.
/** @type {(data: ListsData, side: number, chunk: string, rank: number) => number} */
function middle({ lists, depth }, side, chunk, rank) {
  const at = lists[side].findIndex((place) => place.chunk_id === chunk);
  return at < 0 ? rank - 0.5 : at + 0.5 + Number(rank > depth);
}

// What is pointed at, the lines that lead from it, and what they lead to.
/** @type {(root: HTMLElement, place: HTMLElement | null, data: ListsData) => void} */
function meet(root, place, data) {
  for (const element of root.querySelectorAll(".met")) element.classList.remove("met");
  const name = place?.dataset.chunk;
  if (!name) return;
  const ends = new Set([name]);
  joined(data).forEach((line, at) => {
    if (line.chunk_a !== name && line.chunk_b !== name) return;
    ends.add(line.chunk_a).add(line.chunk_b);
    root.querySelector(`path[data-line="${at}"]`)?.classList.add("met");
  });
  for (const element of root.querySelectorAll(".place")) {
    const { chunk } = /** @type {HTMLElement} */ (element).dataset;
    element.classList.toggle("met", ends.has(chunk ?? ""));
  }
}

// Of one chunking each chunk in both lists that either shows; of two what shares text.
/** @type {(data: ListsData) => Line[]} */
function joined({ joined, lists }) {
  if (joined) return joined;
  const found = new Map();
  lists.forEach((list, at) => {
    for (const { chunk_id, rank, other } of list) {
      if (other === null) continue;
      const [rank_a, rank_b] = at ? [other, rank] : [rank, other];
      const ends = { chunk_a: chunk_id, chunk_b: chunk_id, rank_a, rank_b };
      found.set(chunk_id, { ...ends, share: 1, words: "" });
    }
  });
  return [...found.values()];
}

/** @type {(data: ListsData) => HTMLElement} */
function twoLists(data) {
  const two = make("div", { className: "two" });
  SIDES.forEach((side, at) => {
    const column = String(at * 2 + 1);
    const heading = make("h4", {}, sideName(data.sides[at]));
    const list = make(
      "ol",
      { className: `list-${side}`, ariaLabel: `${side.toUpperCase()}: ${data.sides[at].whole}` },
      ...data.lists[at].map((place) => item(place, side, data)),
    );
    const below = data.lists[at].findIndex(({ rank }) => rank > data.depth);
    if (below >= 0) {
      const cut = make("li", { className: "cut", textContent: `below the top ${data.depth}` });
      list.insertBefore(cut, list.children[below]);
    }
    heading.style.gridColumn = column;
    list.style.gridColumn = column;
    two.append(heading, list);
    if (!data.lists[at].length) list.append(make("li", { textContent: "no results" }));
  });
  two.append(lines(data));
  return two;
}

/** @type {(place: Place, side: AOrB, data: ListsData) => HTMLElement} */
function item(place, side, data) {
  const button = make(
    "button",
    { type: "button", className: "place", title: told(place, data) },
    make("span", { className: "rank", textContent: String(place.rank) }),
    cell(place.grade, data.grades),
    make("span", { className: "title", textContent: place.title, dir: "auto" }),
    movement(place, side),
  );
  button.dataset.chunk = place.chunk_id;
  button.dataset.stop = `${side}${place.rank}`;
  const line = make("li", {}, button);
  line.classList.toggle("alone", place.other === null);
  line.classList.toggle("below", place.rank > data.depth);
  line.classList.toggle("chosen", place.chunk_id === data.chosen);
  return line;
}

/** @type {(place: Place, data: ListsData) => string} */
function told(place, { joined, moves }) {
  const shares = joined && moves.find((move) => move.chunk_id === place.chunk_id)?.shares;
  return shares ? `${place.title}\nText in common with ${shares}` : place.title;
}

/** @type {(rankA: number, rankB: number) => "same" | "up" | "down"} */
function direction(rankA, rankB) {
  return rankA === rankB ? "same" : rankB < rankA ? "up" : "down";
}

/** @type {(place: Place, side: AOrB) => HTMLElement} */
function movement({ rank, other }, side) {
  if (other === null) {
    return make("span", { className: "move", textContent: `only ${side.toUpperCase()}` });
  }
  const [rankA, rankB] = side === "a" ? [rank, other] : [other, rank];
  const way = direction(rankA, rankB);
  const words =
    side === "a"
      ? { up: `→ ${rankB} ▲`, down: `→ ${rankB} ▼`, same: "=" }
      : { up: `▲ ${rankA - rankB}`, down: `▼ ${rankB - rankA}`, same: "=" };
  return make("span", { className: `move ${way}`, textContent: words[way] });
}

/**
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string>} attributes
 * @returns {SVGElementTagNameMap[Name]}
 */
function draw(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// A unit a rank, stretched to the lists' height; the more text is in common, the thicker a line.
/** @type {(data: ListsData) => SVGElement} */
function lines(data) {
  const picture = draw("svg", {
    class: "lines",
    viewBox: `0 0 100 ${rowsOf(data)}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  joined(data).forEach((line, at) => {
    const from = middle(data, 0, line.chunk_a, line.rank_a);
    const to = middle(data, 1, line.chunk_b, line.rank_b);
    const way = direction(line.rank_a, line.rank_b);
    const isChosen = data.chosen !== null && [line.chunk_a, line.chunk_b].includes(data.chosen);
    const grade = data.joined ? "" : ` ${gradeOf(line.chunk_a, data)}`;
    const path = draw("path", {
      class: way + grade + (isChosen ? " chosen" : ""),
      d: `M0 ${from} C45 ${from} 55 ${to} 100 ${to}`,
    });
    path.dataset.line = String(at);
    if (data.joined) path.style.setProperty("--share", String(line.share));
    if (line.words) {
      const title = draw("title", {});
      title.textContent = line.words;
      path.append(title);
    }
    picture.append(path);
  });
  return picture;
}

// How relevant the chunk of a line is, as a class.
/** @type {(chunk: string, data: ListsData) => string} */
function gradeOf(chunk, { lists }) {
  const grade = lists.flat().find((place) => place.chunk_id === chunk)?.grade ?? null;
  return grade === null ? "unjudged" : `grade-${grade}`;
}

/** @type {(data: ListsData) => HTMLElement} */
function key({ joined }) {
  /** @type {(way: string, words: string) => HTMLElement} */
  const sample = (way, words) => {
    const picture = draw("svg", { viewBox: "0 0 36 8", "aria-hidden": "true" });
    picture.append(draw("path", { class: way, d: "M0 4 H36" }));
    return make("span", {}, picture, ` ${words}`);
  };
  return make(
    "p",
    { className: "key" },
    ...(joined
      ? [sample("up", "▲ up in B"), sample("down", "▼ down in B"), sample("same", "= same rank")]
      : [sample("grade-3", "relevant"), sample("grade-0", "not"), sample("unjudged", "unjudged")]),
    make("span", {
      textContent: joined
        ? "a line: text in common, the thicker the more · dotted: no text in common with any"
        : "a line joins a chunk to itself · dotted: only one side found it",
    }),
    make("span", { textContent: "hollow: unjudged" }),
  );
}

/** @type {(data: ListsData) => HTMLElement} */
function movesTable(data) {
  const columns = ["Chunk", "Grade", "Rank A", "Rank B"];
  if (data.joined) columns.push("Text in common with");
  columns.push(`${data.measure}, B − A`);
  const head = make("tr");
  columns.forEach((name, at) => {
    head.append(make("th", { scope: "col", className: at ? "value" : "", textContent: name }));
  });
  const total = make(
    "tr",
    {},
    make("th", {
      scope: "row",
      colSpan: columns.length - 1,
      textContent: "Sum: B − A for this query",
    }),
    make("td", { className: "value", textContent: data.total }),
  );
  const table = make(
    "table",
    {},
    make("caption", { textContent: "What each chunk contributed" }),
    make("thead", {}, head),
    make("tbody", {}, ...data.moves.map((move, at) => moveRow(move, at, data))),
    make("tfoot", {}, total),
  );
  return make("div", { className: "moves" }, table);
}

/** @type {(move: MoveRow, at: number, data: ListsData) => HTMLElement} */
function moveRow(move, at, data) {
  const button = make("button", { type: "button", title: move.title }, move.title);
  button.dir = "auto";
  button.dataset.stop = `m${at}`;
  if (move.title !== move.chunk_id) {
    button.append(" ", make("small", { textContent: move.chunk_id }));
  }
  /** @type {(text: string | number) => HTMLElement} */
  const value = (text) => make("td", { className: "value", textContent: String(text) });
  const row = make(
    "tr",
    {},
    make("th", { scope: "row", className: "chunk" }, button),
    make("td", { className: "value" }, cell(move.grade, data.grades)),
    value(move.rank_a ?? "–"),
    value(move.rank_b ?? "–"),
  );
  if (data.joined) row.append(make("td", { className: "shares", textContent: move.shares || "–" }));
  row.append(value(move.contribution));
  row.dataset.chunk = move.chunk_id;
  row.classList.toggle("chosen", move.chunk_id === data.chosen);
  return row;
}
