// Where Streamlit meets the bench: one for each element on the page, for as long as it is there and
// the same person decides of the same pairs.

import { disposeOnceGone, mounted } from "../js/mount.js";
import { Bench } from "./bench.js";

/** @import { Component } from "./shapes" */

/** @type {(component: Component) => () => void} */
export default function show({ data, parentElement, setTriggerValue }) {
  const who = JSON.stringify([data.golden_set, data.grader, data.key, data.asked]);
  const renew = () => setTriggerValue("renew", Date.now());
  const bench = mounted(parentElement, who, () => new Bench(parentElement, data));
  bench.update(data, renew);
  return disposeOnceGone(parentElement);
}
