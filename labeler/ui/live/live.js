// The line over what follows the golden set: when there is news, it asks for the part of the page
// that it stands in to run again, and for nothing else.

import { keepConnectionDialogsClosed } from "../js/dialogs.js";
import { disposeOnceGone, mounted } from "../js/mount.js";
import { Connection } from "./connection.js";
import { hold, release } from "./holding.js";
import { whenAtRest } from "./rest.js";

/** @import { Component, LineData } from "./shapes" */

const LIVE = "live";
const SILENT = "no connection to the server: these numbers may be old";

/** @type {(component: Component) => () => void} */
export default function show(component) {
  const { parentElement } = component;
  mounted(parentElement, "", () => new Line(parentElement)).update(component);
  return disposeOnceGone(parentElement);
}

class Line {
  /** @param {HTMLElement | ShadowRoot} place */
  constructor(place) {
    this.state = /** @type {HTMLElement} */ (place.querySelector(".state"));
    this.again = /** @type {HTMLButtonElement} */ (place.querySelector(".again"));
    this.say(false);
    /** @type {Component["setTriggerValue"]} */
    this.ask = () => {};
    this.again.onclick = () => this.ask("again", Date.now());
    this.isBehind = false;
    this.dialogs = keepConnectionDialogsClosed();
    this.connection = new Connection({
      onNews: () => this.follow(),
      onSilence: (isSilent) => this.say(isSilent),
      // Streamlit reads the address anew, as after Back
      onStranger: () => window.dispatchEvent(new PopStateEvent("popstate")),
    });
  }

  /** @param {Component} component */
  update({ data, setTriggerValue }) {
    this.ask = setTriggerValue;
    this.isBehind = false; // or the server says so again
    release();
    this.offer(data);
    this.connection.say(data);
  }

  follow() {
    if (this.isBehind) return;
    this.isBehind = true;
    whenAtRest(
      () => {
        this.isBehind = false;
        hold();
        this.ask("news", Date.now());
      },
      () => this.isBehind,
    );
  }

  /** @param {LineData} data */
  offer({ moved }) {
    if (!moved && this.again.matches(":focus")) this.state.focus(); // a hidden button has none
    this.again.hidden = !moved;
    this.again.textContent = `${moved.toLocaleString("en")} moved: sort again`;
  }

  /** @param {boolean} isSilent */
  say(isSilent) {
    this.state.textContent = isSilent ? SILENT : LIVE;
    this.state.classList.toggle("silent", isSilent);
    document.documentElement.dataset.live = isSilent ? "silent" : LIVE; // the header says so, too
  }

  dispose() {
    this.isBehind = false;
    this.dialogs.disconnect();
    this.connection.close();
  }
}
