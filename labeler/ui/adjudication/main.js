// Where Streamlit meets the bench: one for each element on the page, for as long as it is there and
// the same person decides of the same pairs.

import { Bench } from "./bench.js";

/** @import { Component } from "./shapes" */

/** @type {WeakMap<Node, { who: string, bench: Bench }>} */
const benches = new WeakMap();

/** @type {(component: Component) => () => void} */
export default function show({ data, parentElement, setTriggerValue }) {
  const who = JSON.stringify([data.golden_set, data.grader, data.key, data.asked]);
  const known = benches.get(parentElement);
  const renew = () => setTriggerValue("renew", Date.now());
  if (known?.who === who) known.bench.update(data, renew);
  else {
    leave(parentElement);
    benches.set(parentElement, { who, bench: new Bench(parentElement, data, renew) });
  }
  // Streamlit calls the returned function at every change of data as well; only an element that has
  // left the page is at its end.
  return () => setTimeout(() => parentElement.isConnected || leave(parentElement));
}

/** @type {(place: Node) => void} */
function leave(place) {
  benches.get(place)?.bench.dispose();
  benches.delete(place);
}
