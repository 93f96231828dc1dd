// What Python hands the two pictures: types only, nothing of it reaches a browser.

export type AOrB = "a" | "b";

/** One run beside others: what it is called, and its whole name. */
export interface Side {
  letter: string;
  name: string;
  whole: string;
  colour: string;
}

/** The runs, A and B first, and a colour for each grade. */
export interface Look {
  sides: Side[];
  grades: string[];
}

export interface Lane {
  /** A sign a rank: a grade, or a dot for a chunk nobody has graded. */
  cells: string;
  value: string;
}

export interface StripRow {
  query_id: string;
  text: string;
  bucket: string;
  lanes: Lane[];
  delta: string;
}

export interface StripsData extends Look {
  depth: number;
  /** What the buckets of the rows are of. */
  facets: string;
  rows: StripRow[];
}

/** A chunk at its rank; `other` is its rank on the other side. */
export interface Place {
  chunk_id: string;
  rank: number;
  title: string;
  grade: number | null;
  other: number | null;
}

export interface MoveRow {
  chunk_id: string;
  title: string;
  grade: number | null;
  rank_a: number | null;
  rank_b: number | null;
  contribution: string;
  /** With which chunks of the other list it shares text, and how much. */
  shares: string;
}

/** What a line joins; `words` say how much text both have in common. */
export interface Line {
  chunk_a: string;
  chunk_b: string;
  rank_a: number;
  rank_b: number;
  share: number;
  words: string;
}

export interface ListsData extends Look {
  lists: [Place[], Place[]];
  moves: MoveRow[];
  total: string;
  measure: string;
  chosen: string | null;
  /** Down to which rank the lists are shown; what one has below it stands apart. */
  depth: number;
  /** The lines where A and B are of two chunkings, of which no chunk is in both lists. */
  joined: Line[] | null;
}

export interface Component<Data> {
  data: Data;
  parentElement: HTMLElement | ShadowRoot;
  setTriggerValue(name: "picked", value: string | undefined): void;
}
