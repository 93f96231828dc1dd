// Where Streamlit meets the pad: one pad for each element on the page, for as long as it is there
// and the same person grades the same field.

import { disposeOnceGone, mounted } from "../js/mount.js";
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
  return disposeOnceGone(parentElement);
}

/** @type {(place: HTMLElement | ShadowRoot, data: Given) => void} */
function askName(place, { cookie, known }) {
  const form = forms.get(place) ?? new NameForm(place, { cookie, grader: "", known });
  forms.set(place, form);
  form.show(true);
}

/** @type {(place: HTMLElement | ShadowRoot, data: PadData) => Pad} */
function padFor(place, data) {
  const who = JSON.stringify([data.golden_set, data.grader, data.key, data.confined, data.query]);
  return mounted(place, who, () => new Pad(place, { ...data }));
}
