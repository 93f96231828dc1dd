// @ts-check
/** Draws the charts of a report, without evaluating a text as a script; loads nothing. */

/** @type {{charts: any[], data: Record<string, unknown[]>}} */
const { charts, data } = JSON.parse(document.getElementById("charts")?.textContent ?? "{}");
const dark = matchMedia("(prefers-color-scheme: dark)");
const INK = "currentColor";
const LOOK = {
  background: null,
  view: { stroke: null },
  axis: {
    gridColor: INK,
    gridOpacity: 0.14,
    domainColor: INK,
    domainOpacity: 0.4,
    tickColor: INK,
    tickOpacity: 0.4,
  },
};

/**
 * Draw one chart where it belongs; a click on what stands for a query leads to its row.
 * @param {HTMLElement} place
 */
async function draw(place) {
  const spec = { ...charts[Number(place.dataset.chart)], datasets: data };
  const { view } = await /** @type {any} */ (window).vegaEmbed(place, spec, {
    mode: "vega-lite",
    renderer: "svg",
    ast: true,
    actions: false,
    config: LOOK,
    tooltip: { theme: dark.matches ? "dark" : "light" },
  });
  view.addEventListener("click", (/** @type {unknown} */ _, /** @type {any} */ item) => {
    if (item?.datum?.place && place.closest("[data-opens]")) {
      showRow(`place-${item.datum.place}`);
    }
  });
  place.dataset.drawn = "";
}

/**
 * Show a row of a table, also where it is folded away.
 * @param {string} name
 */
function showRow(name) {
  const folded = document.getElementById(name)?.closest("details");
  if (folded) {
    folded.open = true;
  }
  location.hash = name;
}

for (const place of document.querySelectorAll("[data-chart]")) {
  draw(/** @type {HTMLElement} */ (place)).catch((problem) => {
    console.error(problem);
    place.textContent = "This chart could not be drawn; its numbers stand in the tables.";
  });
}

document.addEventListener("click", (event) => {
  const link = /** @type {Element} */ (event.target).closest("a[href^='#']");
  const name = link?.getAttribute("href")?.slice(1);
  if (name) {
    showRow(name);
  }
});

export {};
