// Rank strips: a row for each query, a cell for each rank, A beside B.

import { cell, make, sideName } from "./shared.js";

/** @import { Component, StripsData } from "./shapes" */

const SIDES = /** @type {const} */ (["a", "b"]);

/** @type {(component: Component<StripsData>) => void} */
export default function show({ data, parentElement, setTriggerValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".strips"));
  root.style.setProperty("--depth", String(data.depth));
  root.classList.toggle("deep", data.depth > 10);
  root.classList.toggle("plain", !data.rows.some((row) => row.bucket));
  const table = make("table");
  table.append(head(data), body(data));
  table.addEventListener("click", (event) => {
    const row = /** @type {Element} */ (event.target).closest("tbody tr");
    if (row instanceof HTMLElement && !String(getSelection())) {
      setTriggerValue("picked", row.dataset.query);
    }
  });
  table.addEventListener("keydown", walk);
  root.replaceChildren(table);
}

/** @type {(data: StripsData) => HTMLElement} */
function head(data) {
  const row = make("tr");
  /** @type {(className: string, ...children: (Node | string)[]) => void} */
  const add = (className, ...children) =>
    row.append(make("th", { className, scope: "col" }, ...children));
  add("query", "Query");
  add("bucket", "Bucket");
  for (const side of SIDES) {
    add("strip", sideName(data, side), ruler(data.depth));
    add("value", side.toUpperCase());
  }
  add("value delta", "B − A");
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
      make("th", { className: "query", scope: "row" }, button),
      make("td", { className: "bucket", textContent: row.bucket, title: row.bucket }),
      strip(row.cells_a, data.grades),
      make("td", { className: "value", textContent: row.a }),
      strip(row.cells_b, data.grades),
      make("td", { className: "value", textContent: row.b }),
      make("td", { className: "value delta", textContent: row.delta }),
    );
    line.dataset.query = row.query_id;
    return line;
  });
  return make("tbody", {}, ...rows);
}

/** @type {(signs: string, colours: string[]) => HTMLElement} */
function strip(signs, colours) {
  const cells = Array.from(signs, (sign) => cell(sign, colours));
  return make("td", { className: "strip" }, ...cells);
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
