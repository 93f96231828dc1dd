// Who grades: asks for a name, and is the one place in the browser that remembers and changes it.

import { finderIn } from "../js/dom.js";

/** @import { PadData } from "./shapes" */

const A_YEAR_SECONDS = 365 * 24 * 3600;

// What two names share that differ only in case, blanks or how letters are composed.
/** @type {(name: string) => string} */
export function nameKey(name) {
  return name.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean).join(" ");
}

/** @type {(cookie: string, name: string) => void} */
function rememberGrader(cookie, name) {
  const age = name ? A_YEAR_SECONDS : 0;
  // biome-ignore lint/suspicious/noDocumentCookie: the server reads it when a page connects
  document.cookie = `${cookie}=${encodeURIComponent(name)}; Path=/; Max-Age=${age}; SameSite=Strict`;
  location.reload();
}

export class NameForm {
  /**
   * @param {ParentNode} root
   * @param {Pick<PadData, "cookie" | "grader" | "known" | "terms">} data
   */
  constructor(root, data) {
    this.find = finderIn(root);
    this.data = data;
    this.isAsking = false;
    this.isLeaving = false; // the page is on its way to another name
    this.find(".who").onsubmit = (event) => this.given(event);
    this.find(".stay").onclick = () => this.show(false);
    this.input.oninput = () => this.askWhetherSame(null);
  }

  get input() {
    return /** @type {HTMLInputElement} */ (this.find("#who-name"));
  }

  // Ask for a name, or go on under the one that is known.
  /** @type {(asking: boolean) => void} */
  show(asking) {
    const wasAsking = this.isAsking;
    this.isAsking = asking;
    this.find(".who").hidden = !asking;
    this.find(".stay").hidden = !this.data.grader;
    this.askWhetherSame(null);
    this.find(".desk").classList.toggle("covered", asking);
    if (!asking || wasAsking) return;
    this.input.value = this.data.grader;
    this.input.focus({ preventScroll: true });
    this.input.select();
  }

  /** @type {(event: Event) => void} */
  given(event) {
    event.preventDefault();
    const name = this.input.value.trim();
    const alike = this.data.known.filter(([known]) => nameKey(known) === nameKey(name));
    const same = alike.find(([known]) => known === name) ?? alike[0];
    if (same && same[0] !== this.data.grader) this.askWhetherSame(same);
    else this.leave(name);
  }

  /** @type {(name: string) => void} */
  leave(name) {
    this.isLeaving = true; // what waits is kept under the old name
    if (name) rememberGrader(this.data.cookie, name);
  }

  // Somebody of that name, or nearly, has graded here: ask, so that nobody becomes two people or
  // a colleague without noticing. Null asks nothing.
  /** @type {(same: [string, number] | null) => void} */
  askWhetherSame(same) {
    this.find(".same").hidden = same === null;
    if (same === null) return;
    const [known, grades] = same;
    const { say } = this.data.terms;
    this.find(".same p").textContent = say("form.same", { name: known, n: grades });
    this.find(".same .yes").onclick = () => this.leave(known);
    this.find(".same .no").onclick = () => this.isSomeoneElse(known);
    this.find(".same .yes").focus({ preventScroll: true });
  }

  // Somebody else may have nearly the same name, but not the same.
  /** @type {(known: string) => void} */
  isSomeoneElse(known) {
    const name = this.input.value.trim();
    if (name !== known) return this.leave(name);
    this.find(".same .yes").blur();
    this.find(".same p").textContent = this.data.terms.say("form.tell_apart");
    this.input.focus({ preventScroll: true });
  }
}
