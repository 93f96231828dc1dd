// What travels between the pad and the server, and what the pad's files hand each other: types
// only, nothing of it reaches a browser.

import type {
  Item,
  Markable,
  Names,
  Pair,
  Passage,
  Remarked,
  Said,
  Sentence,
  Spoken,
  Standing,
} from "../js/shapes";

export type * from "../js/shapes";

/** A chunk in the queue. */
export interface Entry {
  item: Item;
  /** What was given. */
  done: Standing | null;
  /** It was put off. */
  later: boolean;
  /** What was just taken back. */
  undone: Step | null;
  told?: Told;
}

/** A judgment that can be taken back. */
export interface Step extends Standing {
  item: Item;
  /** What stands once it is taken back; unknown where an older step says it. */
  former?: Standing | null;
  /** What its entry said before. */
  shown?: Standing | null;
  /** Whether it answered a chunk that counted as open. */
  answered?: boolean;
}

/** A remark on a query that can be taken back. */
export interface RemarkStep extends Remarked {
  event_id: string;
  query: string;
  /** What holds once it is taken back. */
  former: Remarked | null;
  /** The open chunks that left the queue with it. */
  items?: Item[];
}

export type AnyStep = Step | RemarkStep;

export interface About {
  text: string;
  task?: string | null;
  guideline?: string | null;
  reference?: string | null;
  keywords: string[];
  /** How many of its chunks are graded by anybody or open, how many open for this grader, and how
   *  many they have graded. */
  total: number;
  left: number;
  mine?: number;
  remark?: string | null;
  remark_note?: string | null;
}

/** What is known of a pair beside one's own grade. */
export interface Told {
  chunk: string;
  document: string | null;
  found_by: number;
  others: { kind: string; grade: number | null; count: number }[];
}

/** How many passages a grader saw again, and how many of them got the same grade. */
export interface SelfAgreement {
  again: number;
  same: number;
}

export interface NextAnswer {
  items: Item[];
  undoable: AnyStep[];
  queries: Record<string, About>;
  saved: number;
  open: number;
  queries_mine: number;
  queries_done: number;
  queries_total: number;
  without_text: number;
  /** The share of the texts that was looked at for what was given before. */
  looked: number;
  pace_ms: number | null;
  self_agreement: SelfAgreement | null;
  /** How far what was asked for is decided, where somebody keeps to that. */
  decision?: Decision;
}

/** What a grader has graded: a part of it, and counts by kind of grade. */
export interface OwnAnswer {
  items: Item[];
  queries: Record<string, About>;
  rest: { from: number; count: number };
  counts: Record<string, number>;
  of_queries: number;
  spent_ms: number;
}

/** How far it is decided which of two systems is better, and nothing of the two. */
export interface Decision {
  graded: number;
  /** About how many more grades it takes. */
  likely: number;
  settled: boolean;
}

/** What the panel asks; every act gets what was written. */
export interface Question {
  title: string;
  choices: { key: string; words: string; act: (written: string) => void }[];
  field?: Field | null;
  /** What the Enter key does where there is nothing to write. */
  enter?: ((written: string) => void) | null;
  /** The entry it is about, if it is about the chunk on screen. */
  about?: Entry | null;
}

/** A line, or with `save` some lines, to write in the panel. */
export interface Field {
  label: string;
  help?: string;
  /** The same where there is no keyboard. */
  touchHelp?: string;
  max: number;
  act?: (written: string) => void;
  value?: string;
  /** What the button says that does what Enter does. */
  save?: string;
  /** The same of a button that is there only where there is no keyboard. */
  ok?: string;
  /** Hears of every letter. */
  typed?: (written: string) => void;
  /** Never mind: what was there before stays. */
  dropped?: () => void;
}

export interface Beside {
  title: string | null;
  text: string | null;
}

export interface Neighbours {
  before: Beside | null;
  after: Beside | null;
}

/** The scale, what the team calls things, and the language of it all. */
export interface Terms extends Scale, Spoken {}

/** The scale, and what the team calls things: one of them and several. */
export interface Scale extends Names {
  words: string[];
  meanings: string[];
  colours: string[];
}

/** What the Label page tells the pad; without a grader it asks for a name. */
export type Given = Omit<PadData, "terms" | "grader" | "token" | "key"> & {
  terms: Scale;
  sentences: Record<string, Sentence>;
  grader: string | null;
  token: string | null;
  key: string | null;
};

/** The same once it is known who grades, with the words of their language. */
export interface PadData {
  language: string;
  golden_set: string;
  grader: string;
  /** Whose grades wait in this browser, whatever they are called. */
  key: string;
  /** The name that those of the version before wait under. */
  token: string;
  terms: Terms;
  can_change_name: boolean;
  known: [string, number][];
  /** They have graded nothing yet. */
  is_new: boolean;
  /** What the golden set is called, and who invited this grader, if anybody did. */
  name: string;
  inviter: string | null;
  guideline: string;
  contact: string;
  /** Whether the question's words are highlighted until the grader chooses. */
  highlight: boolean;
  /** From which grade on it is asked which words made it, if from any. */
  evidence_from?: number | null;
  confined: Confined | null;
  /** The splits to choose from, where there is a choice. */
  splits: string[];
  /** The chunkings between which grades may be carried over, where there is a choice. */
  openings: [old: string, recut: string][];
  query: string | null;
  /** Whether what this grader has graded is opened first. */
  mine: boolean;
  /** Where a lead sees what was decided. */
  verdict_url: string | null;
  load_url: string | null;
  cookie: string;
}

/** The queries somebody keeps to: of a bucket, of a split, with or without those that leaked; and
 *  of these what grades of one chunking leave open in another. */
export interface Confined {
  facet: string | null;
  bucket: string | null;
  split: string | null;
  leaked: string;
  old: string | null;
  recut: string | null;
  /** "decided": what decides between two systems alone, until it does. */
  until: string | null;
}

/** A graded passage to practise on; `why` it has its grade, if not what the grade means. */
export interface Example extends Pair {
  question: string;
  reference: string | null;
  title: string | null;
  text: string;
  grade: number;
  why?: string;
}

/** A list that is open, by its place among all lists, and its question. */
export interface Listed {
  list: number;
  query: string;
}

/** What the lists may ask of the pad. */
export interface ListDesk {
  terms: Terms;
  // biome-ignore lint/suspicious/noExplicitAny: every route answers in a shape of its own
  get(path: string): Promise<any>;
  queryOf(id: string): About;
  /** What was saved for later and is not graded yet. */
  later(): Item[];
  latest(item: Pair): Standing | null | undefined;
  draftOf(item: Pair): string | null;
  marking(): boolean;
  announce(words: string): void;
  /** Act on a press, unless the rows moved under it. */
  aimed(event: MouseEvent, act: () => void): void;
  /** The rows are at another one, or the one they are at was graded. */
  moved(): void;
  leave(): void;
  nextQuestion(): void;
  /** What is marked in it, and what of it a grade is given with. */
  passagesOf(row: Markable): Passage[];
  givenWith(row: Markable): Passage[] | undefined;
  /** Mark what is selected in the row that one is at, or go through its sentences. */
  mark(): void;
  /** Its text is painted: paint the marks. */
  painted(row: Markable): void;
  judge(item: Item, what: Partial<Said>): Standing;
  takeBack(item: Item): Standing | null;
  cannotTell(item: Item): void;
  note(item: Item): void;
}
