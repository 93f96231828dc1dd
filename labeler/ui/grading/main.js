// Where Streamlit meets the pad: one pad for each element on the page, for as long as it is there
// and the same person grades the same field in one language.

import { disposeOnceGone, mounted } from "../js/mount.js";
import { fillIn, spokenIn } from "../js/words.js";
import { NameForm } from "./names.js";
import { Pad } from "./pad.js";

/** @import { Given, PadData } from "./shapes" */

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
  const { grader, token, key, sentences, ...others } = data;
  const spoken = spokenIn(data.language, sentences, data.terms);
  const known = { ...others, grader: grader ?? "", terms: { ...data.terms, ...spoken } };
  document.documentElement.lang = data.language;
  if (grader === null || token === null || key === null) askName(parentElement, known);
  else {
    const given = { ...known, token, key };
    padFor(parentElement, given).update(given, () => setTriggerValue("renew", Date.now()));
  }
  const dispose = disposeOnceGone(parentElement);
  return () => {
    document.documentElement.lang = "en"; // as the other pages are
    dispose();
  };
}

/** @type {(place: HTMLElement | ShadowRoot, data: Omit<PadData, "token" | "key">) => void} */
function askName(place, data) {
  fillIn(place, data.terms);
  const form = forms.get(place) ?? new NameForm(place, data);
  forms.set(place, form);
  form.show(true);
}

/** @type {(place: HTMLElement | ShadowRoot, data: PadData) => Pad} */
function padFor(place, data) {
  const { golden_set, grader, key, confined, query, language } = data;
  const who = JSON.stringify([golden_set, grader, key, confined, query, language]);
  return mounted(place, who, () => {
    fillIn(place, data.terms);
    return new Pad(place, { ...data });
  });
}
