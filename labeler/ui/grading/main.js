// Where Streamlit meets the pad: one pad for each element on the page, for as long as it is there
// and the same person grades the same field.

import { NameForm } from "./names.js";
import { Pad } from "./pad.js";

/** @import { PadData } from "./shapes" */

/**
 * @typedef {Omit<PadData, "grader" | "token" | "key">
 *   & { grader: string | null, token: string | null, key: string | null }} Given
 */

/**
 * @typedef {{
 *   data: Given,
 *   parentElement: HTMLElement | ShadowRoot,
 *   setTriggerValue: (name: string, value: unknown) => void,
 * }} Component
 */

/** @type {WeakMap<Node, { who: string, pad: Pad }>} */
const pads = new WeakMap();

/** @type {WeakMap<Node, NameForm>} */
const forms = new WeakMap();

/** @type {(component: Component) => () => void} */
export default function show({ data, parentElement, setTriggerValue }) {
  const { grader, token, key } = data;
  if (grader === null || token === null || key === null) askName(parentElement, data);
  else {
    const known = { ...data, grader, token, key };
    padFor(parentElement, known).update(known, () => setTriggerValue("renew", Date.now()));
  }
  // Streamlit calls this function again for every change of data and the returned one both then
  // and at the end; only an element that has left the page is at its end.
  return () => setTimeout(() => parentElement.isConnected || leave(parentElement));
}

/** @type {(place: HTMLElement | ShadowRoot, data: Given) => void} */
function askName(place, { cookie }) {
  const form = forms.get(place) ?? new NameForm(place, { cookie, grader: "" });
  forms.set(place, form);
  form.show(true);
}

/** @type {(place: HTMLElement | ShadowRoot, data: PadData) => Pad} */
function padFor(place, data) {
  const who = JSON.stringify([data.golden_set, data.grader, data.key, data.confined, data.query]);
  const known = pads.get(place);
  if (known?.who === who) return known.pad;
  leave(place);
  const pad = new Pad(place, { ...data });
  pads.set(place, { who, pad });
  return pad;
}

/** @type {(place: Node) => void} */
function leave(place) {
  pads.get(place)?.pad.dispose();
  pads.delete(place);
}
