// Who grades: asks for a name, and is the one place in the browser that remembers and changes it.

import { finderIn } from "../js/dom.js";

/** @import { PadData } from "./shapes" */

const A_YEAR_SECONDS = 365 * 24 * 3600;

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
   * @param {Pick<PadData, "cookie" | "grader">} data
   */
  constructor(root, data) {
    this.find = finderIn(root);
    this.data = data;
    this.isAsking = false;
    this.isLeaving = false; // the page is on its way to another name
    this.find(".who").onsubmit = (event) => this.given(event);
    this.find(".stay").onclick = () => this.show(false);
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
    this.isLeaving = true; // what waits is kept under the old name
    if (name) rememberGrader(this.data.cookie, name);
  }
}
