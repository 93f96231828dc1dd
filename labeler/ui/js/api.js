// Asking the server: with one grader's token, with an end to waiting, and with its words for a no.

export const RETRY_MS = [500, 1000, 2000, 4000, 5000];
const ANSWER_WITHIN_MS = 20000;

/** The token is not taken: a new one is needed. */
export class Forbidden extends Error {}

/** The server takes nothing just now, or only `after` some seconds. */
export class Stuck extends Error {
  /**
   * @param {string} reason
   * @param {number} [after]
   */
  constructor(reason, after = 0) {
    super(reason);
    this.after = after || 0;
  }
}

/** The server's "no": with status 400 asking again changes nothing. */
export class Refusal extends Error {
  /**
   * @param {string} reason
   * @param {number} status
   */
  constructor(reason, status) {
    super(reason);
    this.status = status;
  }
}

// An id of an event, made where it happens.
/** @type {() => string} */
export function newId() {
  // crypto.randomUUID exists on https and localhost only
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * @param {string | null} token
 * @param {string} path
 * @param {RequestInit} [options]
 */
export async function ask(token, path, options = {}) {
  return fetch(path, {
    ...options,
    headers: { "Content-Type": "application/json", "X-Labeler-Token": token ?? "" },
    credentials: "same-origin",
    cache: "no-store",
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
}

/** @type {(response: Response) => Promise<string>} */
export async function reasonOf(response) {
  const said = await response.json().catch(() => null);
  return said?.error ?? `HTTP ${response.status}`;
}
