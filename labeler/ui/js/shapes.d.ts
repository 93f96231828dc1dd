// What travels between the server and the components that several of them share: types only.

/** A template, or one for each form of a plural, which `n` chooses. */
export type Sentence = string | Record<string, string>;

/** A sentence by its key, with what fills its placeholders. */
export type Say = (key: string, values?: Record<string, string | number>) => string;

/** What the team calls things: one of them and several. */
export interface Names {
  question: string[];
  passage: string[];
}

/** The language a page speaks: its sentences, its numbers, and its days from ISO dates. */
export interface Spoken {
  language: string;
  say: Say;
  number: (value: number) => string;
  day: (date: string) => string;
}

export interface Pair {
  query: string;
  chunk: string;
}

/** Where a passage begins and ends in the whole text, in Unicode code points, half open. */
export type Passage = [start: number, end: number];

/** What a grader said of a pair. */
export interface Said {
  kind: string | null;
  grade: number | null;
  reason: string | null;
  note: string | null;
  /** The passages that made the grade. */
  evidence?: Passage[];
}

export interface Judged extends Said {
  event_id: string;
  lost?: number;
}

/** A pair as the server hands it out, with what the pad shows of it. */
export interface Item extends Pair {
  text: string;
  /** Where the text goes on, if it was too long to come whole. */
  more?: number | null;
  text_hash: string | null;
  title: string | null;
  document: string | null;
  stale: boolean;
  /** The event a new judgment replaces. */
  replaces: string | null;
  /** Why it was handed out: pool, repeat, list or search. */
  source: string;
  /** The server's signature that it handed this pair to this grader, to be sent back with a grade. */
  slip: string;
  /** How many chunks of the query have this text, where it is more than one. */
  copies?: number;
  /** What was given before its document was cut anew, where that is told beforehand. */
  before?: Before;
  /** In lists: what this grader said of it. */
  judged?: Judged | null;
  /** In lists: the place of the first of those that are nearly the same. */
  group?: number | null;
  /** In the list of a question: whether this grader is asked for it. */
  asked?: boolean;
  /** In what was found: whether a run has it near its top. */
  pooled?: boolean;
}

/** What grades of other texts say of a pair: not enough to decide it. */
export interface Before {
  /** The grade that is proposed, if one is. */
  likely: number | null;
  why: string;
  told: ToldBefore[];
  /** How many more gave something. */
  more: number;
}

/** What somebody gave to a text that this one has a part of. */
export interface ToldBefore {
  who: string;
  at: string;
  grade: number;
  /** What they marked of this text. */
  passages: Passage[];
  /** A part of these stands outside of this text. */
  is_cut: boolean;
  /** How many of their passages stand outside of it, and how many were not found. */
  elsewhere: number;
  lost: number;
}

/** What stands for a pair; where only an event id is known, that alone. */
export type Standing = Partial<Said> & {
  event_id: string;
  item?: Item | null;
  /** How many passages were marked in a text that has changed since. */
  lost?: number;
};

/** A chunk that may be marked, in the queue or in a list, or on the bench. */
export interface Markable {
  item: Pick<Item, "query" | "chunk" | "text" | "text_hash">;
  done: Standing | null;
}

/** What a grader said of a whole query, if anything. */
export interface Remarked {
  remark: string;
  note: string | null;
}

/** What is sent to the server: a judgment, an undo, or a remark on a query. */
export interface PadEvent {
  event_id: string;
  golden_set: string;
  grader: string;
  /** The grader's key, which stays when they are renamed; the version before had none. */
  by?: string;
  slip?: string;
  query: string;
  chunk?: string;
  /** Nothing where the time says nothing of a grade: passages marked later. */
  elapsed_ms?: number | null;
  kind?: string | null;
  grade?: number | null;
  reason?: string | null;
  note?: string | null;
  undoes?: string;
  replaces?: string | null;
  text_hash?: string | null;
  source?: string;
  blind?: boolean;
  evidence?: Passage[];
  seen_whole?: boolean;
  highlighted?: boolean;
}

/** An event that is about a pair. */
export type PairEvent = PadEvent & Pair;

/** What was on screen when something was given: all of the text, and the query's words marked. */
export interface Screen {
  seen_whole?: boolean;
  highlighted?: boolean;
}

/** Whose things are kept in this browser. */
export interface Owner {
  golden_set: string;
  key: string;
}

/** An event as the browser keeps it until the server has answered. */
export interface Kept {
  event: PadEvent;
  /** By how much it changes the number of pairs judged. */
  counts?: number;
  /** What stood before it. */
  former?: Standing | null;
  /** What was said of the query before a remark that is taken back. */
  said?: Remarked | null;
  /** The words to show it by. */
  shown?: { query: string; title: string };
  /** Why it was refused. */
  reason?: string;
  /** What stands instead, where a second tab or device was faster. */
  instead?: Standing | null;
}

/** Somebody else whose events wait in this browser. */
export interface Other {
  owner: string;
  /** Nothing where it is no longer known. */
  name: string | null;
  count: number;
}
