// What travels between the bench and the server, and what its files hand each other: types only.

import type { PairEvent, Say, Sentence } from "../js/shapes";

export type { Kept, PadEvent, Passage } from "../js/shapes";

/** What one person says of a pair. */
export interface Opinion {
  /** Of which chunk, where several have the text. */
  chunk: string;
  grader: string;
  kind: string;
  grade: number | null;
  reason: string | null;
  note: string | null;
  blind: boolean;
  stale: boolean;
  day: string;
  /** Where the words begin and end that made the grade, in code points; none of an earlier text. */
  evidence?: [number, number][];
}

/** What somebody decided over them; what was decided here just now has no day yet. */
export interface Decision {
  event_id: string;
  grade: number;
  grader: string;
  note: string | null;
  day: string;
  /** As in an opinion. */
  evidence?: [number, number][];
}

/** One of several chunks of the query with the same text, and its golden grade. */
export interface Copy {
  chunk: string;
  document: string | null;
  grade: number;
  /** Who it is from: grade, adjudicate, import or carry. */
  kind: string;
  /** The decision that a new one replaces. */
  replaces: string | null;
  slip: string;
}

/** A pair that graders disagree on, as the server hands it out. */
export interface Case {
  query: string;
  chunk: string;
  text_hash: string | null;
  /** The server's signature that it showed this pair to this lead. */
  slip: string;
  asked: string;
  task: string | null;
  guideline: string | null;
  reference: string | null;
  title: string | null;
  document: string | null;
  /** None where only the chunk's id is known. */
  text: string | null;
  /** Where the text goes on, if it was too long to come whole. */
  more: number | null;
  spread: number;
  /** What the grades become by the team's rule; none is a tie. */
  agreed: number | null;
  opinions: Opinion[];
  adjudication: Decision | null;
  /** All chunks with this text, the one above first. */
  copies?: Copy[];
}

export interface Undoable {
  event_id: string;
  query: string;
  chunk: string;
  grade: number;
}

/** A page of disagreements. */
export interface Page {
  items: Case[];
  from: number;
  /** How many there are in all, and how many nobody has decided. */
  total: number;
  open: number;
  /** The place of the next that nobody has decided, after this page and then from the start. */
  next_open: number | null;
  undoable: Undoable[];
}

/** A decision, or the undo of one; `copies` are other chunks with the text, decided alike. */
export type Verdict = PairEvent & { copies?: string[] };

/** What was decided in this session, or can be taken back from an earlier one. */
export interface Step {
  event_id: string;
  query: string;
  chunk: string;
  grade: number;
  /** What stood before; not known of an earlier session. */
  before?: Decision | null;
  text_hash?: string | null;
  note?: string | null;
  evidence?: [number, number][];
  /** What counted for each of the chunks with the same text before. */
  counted?: Copy[];
}

export interface BenchData {
  golden_set: string;
  grader: string;
  key: string;
  token: string;
  words: string[];
  meanings: string[];
  colours: string[];
  rule: string;
  rule_in_words: string;
  asked: string;
  newest: number[];
  sentences: Record<string, Sentence>;
}

export interface Component {
  data: BenchData;
  parentElement: HTMLElement | ShadowRoot;
  setTriggerValue(name: "renew", value: number): void;
}

/** What the drawn case lets somebody do. */
export interface Acts {
  decide(grade: number, event: MouseEvent): void;
  act(name: string): void;
  say: Say;
  readOn(place: HTMLElement): void;
  typed(note: string): void;
  /** Decide for one of the chunks with the same text alone, or for all of them (""). */
  keepTo(chunk: string): void;
}
