// What this browser keeps for a grader: records, at once where a closed tab leaves them (localStorage)
// and then on the disk, where a crash leaves them (IndexedDB), and small things it may forget.

/** @import { Kept, Owner } from "./shapes" */

const DATABASE = "labeler";
const STORE = "kept";
const NO_FRAME_MS = 50;
const OPENS_WITHIN_MS = 3000; // a browser that does not open its database is worked without it

export class BrowserStorage {
  /**
   * What stands under these beginnings of keys is read and heard of; keys sort by age.
   * @param {string[]} prefixes
   * @param {() => void} changed
   */
  constructor(prefixes, changed) {
    this.prefixes = prefixes;
    this.changed = changed;
    /** @type {Map<string, Kept>} */
    this.records = new Map();
    /** @type {Set<string>} */
    this.homeless = new Set(); // keys that localStorage has no room for
    /** @type {Set<string>} */
    this.onDisk = new Set();
    /** @type {Map<string, string | null>} */
    this.unwritten = new Map(); // what the disk is to hold, null where it is to forget
    this.isBroken = false; // the disk takes nothing
    /** @type {Promise<void> | null} */
    this.writing = null;
    for (const key of Object.keys(localStorage)) {
      const text = localStorage.getItem(key);
      if (text !== null && this.learn(key, text)) this.unwritten.set(key, text);
    }
    this.database = opened();
    this.ready = this.recover(); // the records that only the disk still had
  }

  /** @type {(key: string) => boolean} */
  isMine(key) {
    return this.prefixes.some((prefix) => key.startsWith(prefix));
  }

  /** @type {(key: string, text: string) => Kept | null} */
  learn(key, text) {
    const record = this.isMine(key) ? asRecord(text) : null;
    if (record) this.records.set(key, record);
    return record;
  }

  // What is kept under a prefix, oldest first: [key, record].
  /** @type {(prefix: string) => [string, Kept][]} */
  under(prefix) {
    const found = Array.from(this.records).filter(([key]) => key.startsWith(prefix));
    return found.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** @type {(key: string, record: Kept) => void} */
  put(key, record) {
    const text = JSON.stringify(record);
    this.records.set(key, record);
    if (!storeAtOnce(key, text)) this.homeless.add(key);
    this.write(key, text);
  }

  // Keep something else, of which the highest revision counts.
  /** @type {(key: string, what: { revision: number, texts: unknown }) => void} */
  hold(key, what) {
    const text = JSON.stringify(what);
    storeAtOnce(key, text);
    this.write(key, text);
  }

  /** @type {(key: string) => void} */
  drop(key) {
    this.records.delete(key);
    this.homeless.delete(key);
    this.onDisk.delete(key);
    localStorage.removeItem(key);
    this.write(key, null);
  }

  // Another tab kept or dropped something; returns its record if that is one of ours.
  /** @type {(event: StorageEvent) => Kept | null} */
  heard({ key, newValue, oldValue }) {
    if (key === null || !this.isMine(key)) return null;
    this.write(key, newValue);
    if (newValue !== null) return this.learn(key, newValue);
    this.records.delete(key);
    this.onDisk.delete(key);
    return asRecord(oldValue);
  }

  // What a crash of this browser would lose now.
  /** @type {(prefix: string) => number} */
  notOnDisk(prefix) {
    return this.under(prefix).filter(([key]) => !this.onDisk.has(key)).length;
  }

  // What leaving the page would lose now.
  /** @type {(prefix: string) => number} */
  notStored(prefix) {
    const keys = this.under(prefix).map(([key]) => key);
    return keys.filter((key) => this.homeless.has(key) && !this.onDisk.has(key)).length;
  }

  // --- the disk -------------------------------------------------------------------------------

  // The disk is written to once what a key did is painted.
  /** @type {(key: string, text: string | null) => void} */
  write(key, text) {
    this.unwritten.set(key, text);
    this.writing ??= this.writeAll().finally(() => {
      this.writing = null;
      const [next] = this.isBroken ? [] : this.unwritten;
      if (next) this.write(...next);
      else this.changed();
    });
  }

  // Done when everything so far is on the disk, or it does not take it.
  /** @type {() => Promise<void>} */
  async written() {
    await this.ready;
    await this.writing;
  }

  /** @type {() => Promise<void>} */
  async writeAll() {
    const database = await this.database;
    await painted();
    while (this.unwritten.size) {
      const changes = this.unwritten;
      this.unwritten = new Map();
      try {
        if (!database) throw new Error("this browser opens no database");
        await writeTo(database, changes);
        this.isBroken = false;
        for (const [key, text] of changes) if (text !== null) this.note(key);
      } catch {
        this.isBroken = true; // what comes next tries it all again
        if (database) this.unwritten = new Map([...changes, ...this.unwritten]);
        return;
      }
    }
  }

  /** @type {(key: string) => void} */
  note(key) {
    if (this.records.has(key)) this.onDisk.add(key);
  }

  // Take back what a crash left on the disk alone, whoever's it is; returns what is ours of it.
  /** @type {() => Promise<Kept[]>} */
  async recover() {
    const database = await this.database;
    /** @type {Kept[]} */
    const found = [];
    for (const [key, text] of database ? await allOf(database).catch(() => []) : []) {
      if (isNewer(text, localStorage.getItem(key))) {
        const isStored = storeAtOnce(key, text);
        const record = this.records.has(key) ? null : this.learn(key, text);
        if (record && !isStored) this.homeless.add(key);
        if (record) found.push(record);
      }
      this.note(key);
    }
    for (const key of this.onDisk) if (this.unwritten.get(key)) this.unwritten.delete(key);
    const [first] = this.unwritten;
    if (first) this.write(...first);
    this.changed();
    return found;
  }

  dispose() {
    this.written().then(async () => (await this.database)?.close());
  }
}

// A record is {event, counts, former, shown}: what is sent, by how much it changes the number of
// pairs judged, what stood before it, and the words to show it by.
/** @type {(text: string | null) => Kept | null} */
export function asRecord(text) {
  try {
    const kept = JSON.parse(text ?? "null");
    return kept?.event_id ? { event: kept, counts: kept.undoes ? -1 : 1 } : kept;
  } catch {
    return null; // not ours to read
  }
}

// Whether the disk holds more than is stored; what has no revision never changes.
/** @type {(text: string, stored: string | null) => boolean} */
function isNewer(text, stored) {
  if (stored === null) return true;
  /** @type {any} */
  const [there, here] = [asRecord(text), asRecord(stored)];
  return (there?.revision ?? 0) > (here?.revision ?? 0);
}

/** @type {(key: string, text: string) => boolean} */
function storeAtOnce(key, text) {
  try {
    localStorage.setItem(key, text);
    return true;
  } catch {
    return false; // no room
  }
}

// Done after the next frame; a page that nobody sees has none.
/** @type {() => Promise<void>} */
function painted() {
  return new Promise((done) => {
    setTimeout(done, NO_FRAME_MS);
    requestAnimationFrame(() => setTimeout(done));
  });
}

/** @type {() => Promise<IDBDatabase | null>} */
function opened() {
  return new Promise((resolve) => {
    setTimeout(() => resolve(null), OPENS_WITHIN_MS);
    try {
      const request = indexedDB.open(DATABASE, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(null);
    } catch {
      resolve(null); // some browsers have none in a private window
    }
  });
}

// Resolves once the changes are on the disk, not only on their way there.
/** @type {(database: IDBDatabase, changes: Map<string, string | null>) => Promise<void>} */
function writeTo(database, changes) {
  return new Promise((resolve, reject) => {
    const isKeeping = Array.from(changes.values()).some((text) => text !== null);
    const durability = isKeeping ? "strict" : "relaxed"; // what is sent twice does no harm
    const transaction = database.transaction(STORE, "readwrite", { durability });
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
    const store = transaction.objectStore(STORE);
    for (const [key, text] of changes) {
      if (text === null) store.delete(key);
      else store.put(text, key);
    }
  });
}

/** @type {(database: IDBDatabase) => Promise<[string, string][]>} */
function allOf(database) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, "readonly");
    const store = transaction.objectStore(STORE);
    const [keys, texts] = [store.getAllKeys(), store.getAll()];
    transaction.oncomplete = () =>
      resolve(keys.result.map((key, at) => [String(key), String(texts.result[at])]));
    transaction.onabort = () => reject(transaction.error);
  });
}

// The name under which something of one grader is kept for one golden set, whatever they are called.
/** @type {(what: string, who: Owner) => string} */
export function keyOf(what, { golden_set, key }) {
  return `${what}/${golden_set}/:${key}`;
}

// What the browser remembers beside the grades; a browser without room just forgets it.
/**
 * @template T
 * @param {string} key
 * @param {T} otherwise
 * @returns {T}
 */
export function remembered(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

// The same of one grader.
/**
 * @template T
 * @param {string} what
 * @param {Owner} who
 * @param {T} otherwise
 * @returns {T}
 */
export function rememberedOf(what, who, otherwise) {
  return remembered(keyOf(what, who), otherwise);
}

/** @type {(key: string, value: unknown) => void} */
export function remember(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // no room: it is a convenience, the grades have keys of their own
  }
}
