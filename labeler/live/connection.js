// A socket to the server that comes back: says which numbers the page shows, and hears of newer
// ones. A page that nobody looks at asks for nothing until it is looked at again.

/** @import { Listener, Newest } from "./shapes" */

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
const SILENT_AFTER_MS = 5_000;
const PATIENCE_MS = 10_000; // for numbers that were asked for
const NOT_WELCOME = 1008; // a socket's code: trying again would not help

export class Connection {
  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
    /** @type {Newest | null} */
    this.shows = null;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.tries = 0;
    /** @type {number | undefined} */
    this.retry = undefined;
    /** @type {number | undefined} */
    this.silence = undefined;
    /** @type {number | undefined} */
    this.patience = undefined;
    this.ended = new AbortController();
    const { signal } = this.ended;
    document.addEventListener("visibilitychange", () => this.seen(), { signal });
    window.addEventListener("online", () => this.open(), { signal });
    window.addEventListener("offline", () => this.socket?.close(), { signal });
    this.open();
  }

  /** @param {Newest} shows */
  say(shows) {
    this.shows = shows;
    this.tell();
  }

  close() {
    this.ended.abort();
    this.socket?.close();
    this.socket = null;
    for (const timer of [this.retry, this.silence, this.patience]) clearTimeout(timer);
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
      this.tell();
    };
    socket.onmessage = () => this.news();
    socket.onclose = ({ code }) => {
      if (this.socket === socket) this.lose(code);
    };
  }

  /** @param {number} code */
  lose(code) {
    this.socket = null;
    clearTimeout(this.patience);
    this.silence ??= setTimeout(() => this.listener.onSilence(true), SILENT_AFTER_MS);
    if (code === NOT_WELCOME) return;
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.tries);
    this.tries += 1;
    // not all pages of a restarted server at the same moment
    this.retry = setTimeout(() => this.open(), wait * (0.5 + Math.random() / 2));
  }

  heard() {
    clearTimeout(this.silence);
    this.silence = undefined;
    this.listener.onSilence(false);
  }

  news() {
    this.listener.onNews();
    // a run that got lost on its way, as while Streamlit had no connection, is asked for again
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.tell(), PATIENCE_MS);
  }

  tell() {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    clearTimeout(this.patience);
    this.socket.send(JSON.stringify({ shows: document.hidden ? null : this.shows }));
  }

  seen() {
    if (document.visibilityState === "visible") this.open();
    this.tell();
  }
}
