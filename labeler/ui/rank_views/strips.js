// Rank strips: a row for each query, a cell for each rank, two runs side by side, more stacked.

import { cell, isMeant, make, sideName, signOf } from "./shared.js";

/** @import { Component, Lane, StripRow, StripsData } from "./shapes" */

const BESIDE = 2; // more runs than this stand below each other

let top = 0; // how far down the rows one of them was opened

/** @type {(component: Component<StripsData>) => void} */
export default function show({ data, parentElement, setTriggerValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".strips"));
  root.style.setProperty("--depth", String(data.depth));
  root.classList.toggle("deep", data.depth > 10);
  root.classList.toggle("plain", !data.rows.some((row) => row.bucket));
  root.classList.toggle("stacked", isStacked(data));
  const table = make("table");
  table.append(columns(data), head(data), body(data));
  table.addEventListener("click", (event) => {
    const row = /** @type {Element} */ (event.target).closest("tbody tr");
    if (row instanceof HTMLElement && isMeant(event)) {
      top = root.scrollTop;
      setTriggerValue("picked", row.dataset.query);
      if (event.detail === 0) goOn(root);
    }
  });
  table.addEventListener("keydown", walk);
  const isNew = !root.firstElementChild;
  root.replaceChildren(table);
  if (!isNew) return;
  root.scrollTop = top; // who closes the query is where they opened it
  top = 0;
}

// Who opened a query by keys goes on in it, and not at the beginning of the page.
/** @type {(root: HTMLElement) => void} */
function goOn(root) {
  const watch = new MutationObserver(() => {
    const first = document.querySelector(".st-key-query-back button");
    if (root.isConnected || !(first instanceof HTMLElement)) return;
    watch.disconnect();
    if (document.activeElement === document.body) first.focus({ preventScroll: true });
  });
  watch.observe(document.body, { childList: true, subtree: true });
  window.addEventListener("pointerdown", () => watch.disconnect(), { capture: true, once: true });
}

/** @type {(data: StripsData) => boolean} */
function isStacked(data) {
  return data.sides.length > BESIDE;
}

/** @type {(data: StripsData) => HTMLElement} */
function columns(data) {
  const lanes = isStacked(data) ? 1 : data.sides.length;
  const pairs = Array.from({ length: lanes }, () => ["strip", "value"]).flat();
  const names = ["query", "bucket", ...pairs, "delta"];
  return make("colgroup", {}, ...names.map((className) => make("col", { className })));
}

/** @type {(data: StripsData) => HTMLElement} */
function head(data) {
  const row = make("tr");
  /** @type {(className: string, ...children: (Node | string)[]) => void} */
  const add = (className, ...children) =>
    row.append(make("th", { className, scope: "col" }, ...children));
  const names = data.sides.map(sideName);
  add(
    "query",
    "Query",
    ...(isStacked(data) ? [make("div", { className: "legend" }, ...names)] : []),
  );
  add("bucket", data.facets);
  if (isStacked(data)) {
    add("strip", ruler(data.depth));
    add("value", "value");
  } else {
    names.forEach((_, at) => {
      add(`strip at-${at}`, names[at], ruler(data.depth));
      row.lastElementChild?.setAttribute("colspan", "2"); // the name has the value's room, too
    });
  }
  add("value delta", "difference");
  return make("thead", {}, row);
}

/** @type {(depth: number) => HTMLElement} */
function ruler(depth) {
  const marks = Array.from({ length: depth }, (_, at) => {
    const shown = at === 0 || (at + 1) % 5 === 0;
    return make("span", { textContent: shown ? String(at + 1) : "" });
  });
  return make("div", { className: "ruler", ariaHidden: "true" }, ...marks);
}

/** @type {(data: StripsData) => HTMLElement} */
function body(data) {
  const rows = data.rows.map((row, at) => {
    const button = make("button", { type: "button", textContent: row.text, title: row.text });
    button.dir = "auto";
    button.tabIndex = at ? -1 : 0;
    const line = make(
      "tr",
      {},
      make("th", { className: "query", scope: "row" }, idOf(row), button),
      make("td", { className: "bucket", textContent: row.bucket, title: row.bucket }),
      ...(isStacked(data) ? stacked(row, data) : beside(row, data)),
      make("td", { className: "value delta", textContent: row.delta }),
    );
    line.dataset.query = row.query_id;
    return line;
  });
  return make("tbody", {}, ...rows);
}

/** @type {(row: StripRow) => HTMLElement} */
function idOf(row) {
  return make("bdi", { className: "id", textContent: row.query_id, title: row.query_id });
}

/** @type {(row: StripRow, data: StripsData) => HTMLElement[]} */
function beside(row, data) {
  return row.lanes.flatMap((lane, at) => [
    make("td", { className: `strip at-${at}` }, ...cells(lane, data.grades)),
    make("td", { className: `value at-${at}`, textContent: lane.value }),
  ]);
}

/** @type {(row: StripRow, data: StripsData) => HTMLElement[]} */
function stacked(row, data) {
  const lanes = row.lanes.map((lane, at) => {
    const { whole } = data.sides[at];
    const strip = cells(lane, data.grades);
    return make("div", { className: "lane", title: whole }, signOf(data.sides[at]), ...strip);
  });
  const values = row.lanes.map((lane) => make("div", { textContent: lane.value }));
  return [
    make("td", { className: "strip" }, ...lanes),
    make("td", { className: "value" }, ...values),
  ];
}

/** @type {(lane: Lane, colours: string[]) => HTMLElement[]} */
function cells(lane, colours) {
  return Array.from(lane.cells, (sign) => cell(sign, colours));
}

// One stop for the Tab key; arrows go from row to row.
/** @type {(event: KeyboardEvent) => void} */
function walk(event) {
  const table = /** @type {HTMLElement} */ (event.currentTarget);
  const buttons = [...table.querySelectorAll("button")];
  const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
  const ways = new Map([
    ["ArrowDown", at + 1],
    ["ArrowUp", at - 1],
    ["Home", 0],
    ["End", buttons.length - 1],
  ]);
  const to = ways.get(event.key) ?? -1;
  if (at < 0 || !buttons[to]) return;
  event.preventDefault();
  buttons[at].tabIndex = -1;
  buttons[to].tabIndex = 0;
  buttons[to].focus();
}
