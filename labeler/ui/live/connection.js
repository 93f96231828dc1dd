// A socket to the server that comes back: says which numbers the page shows, and hears of newer
// ones. A page that nobody looks at asks for nothing until it is looked at again.

/** @import { LineData, Listener, Message } from "./shapes" */

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
const SILENT_AFTER_MS = 5_000;
const PATIENCE_MS = 10_000; // for numbers that were asked for
const STRANGER_MS = 2_500; // for a whole page, which Streamlit cannot ask for before it is back, too
const NOT_WELCOME = 1008; // a socket's code: trying again at once would not help
const FOR_LEADS = "/media/"; // the server refuses it to others with 403

export class Connection {
  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
    /** @type {LineData | null} */
    this.data = null;
    /** @type {string | null} */
    this.start = null; // of the server at the other end
    /** @type {WebSocket | null} */
    this.socket = null;
    this.tries = 0;
    /** @type {number | undefined} */
    this.retry = undefined;
    /** @type {number | undefined} */
    this.silence = undefined;
    /** @type {number | undefined} */
    this.patience = undefined;
    /** @type {number | undefined} */
    this.stranger = undefined;
    this.ended = new AbortController();
    const { signal } = this.ended;
    document.addEventListener("visibilitychange", () => this.seen(), { signal });
    window.addEventListener("online", () => this.open(), { signal });
    window.addEventListener("offline", () => this.socket?.close(), { signal });
    this.open();
  }

  /** @param {LineData} data */
  say(data) {
    this.data = data;
    this.open(); // whoever sees numbers is welcome, whatever was said before
    this.tell();
  }

  close() {
    this.ended.abort();
    this.socket?.close();
    this.socket = null;
    for (const timer of [this.retry, this.silence, this.patience, this.stranger]) {
      clearTimeout(timer);
    }
  }

  open() {
    if (this.socket) return;
    clearTimeout(this.retry);
    this.silence ??= setTimeout(() => this.listener.onSilence(true), SILENT_AFTER_MS);
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/api/live`);
    this.socket = socket;
    socket.onopen = () => {
      this.tries = 0;
      this.heard();
    };
    socket.onmessage = ({ data }) => this.hear(JSON.parse(data));
    socket.onclose = ({ code }) => {
      if (this.socket === socket) this.lose(code);
    };
  }

  /** @param {Message} message */
  hear(message) {
    if ("newest" in message) this.news();
    else {
      this.start = message.start;
      this.tell();
    }
  }

  /** @param {number} code */
  lose(code) {
    this.socket = null;
    this.start = null;
    clearTimeout(this.patience);
    this.silence ??= setTimeout(() => this.listener.onSilence(true), SILENT_AFTER_MS);
    if (code === NOT_WELCOME) return this.turnAway();
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.tries);
    this.tries += 1;
    // not all pages of a restarted server at the same moment
    this.retry = setTimeout(() => this.open(), wait * (0.5 + Math.random() / 2));
    if (this.tries > 1) this.askWhoIsWelcome();
  }

  // A socket that never opened has no code: it may be that the server is gone, or who asks no lead.
  async askWhoIsWelcome() {
    const asked = { signal: this.ended.signal };
    const answer = await fetch(FOR_LEADS, asked).catch(() => null);
    if (answer?.status !== 403 || this.socket?.readyState === WebSocket.OPEN) return;
    clearTimeout(this.retry);
    this.turnAway();
  }

  // The run that says why may have got lost, and old numbers would stay: so the whole page runs,
  // until it has nothing more that follows.
  turnAway() {
    clearTimeout(this.stranger);
    this.stranger = setTimeout(() => {
      this.listener.onStranger();
      this.turnAway();
    }, STRANGER_MS);
  }

  heard() {
    clearTimeout(this.silence);
    this.silence = undefined;
    this.listener.onSilence(false);
  }

  news() {
    // a run that got lost on its way, as while Streamlit had no connection, is asked for again
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.tell(), PATIENCE_MS);
    this.listener.onNews();
  }

  tell() {
    if (this.socket?.readyState !== WebSocket.OPEN || !this.start || !this.data) return;
    clearTimeout(this.stranger);
    if (this.data.start !== this.start) {
      this.listener.onStranger();
      this.stranger = setTimeout(() => this.tell(), STRANGER_MS);
      return;
    }
    clearTimeout(this.patience);
    this.socket.send(JSON.stringify({ shows: document.hidden ? null : this.data.newest }));
  }

  seen() {
    if (document.visibilityState === "visible") this.open();
    this.tell();
  }
}
