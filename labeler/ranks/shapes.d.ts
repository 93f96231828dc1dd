// What Python hands the two pictures: types only, nothing of it reaches a browser.

export type Side = "a" | "b";

/** The names of the two sides and the colours: one for each grade, one for each side. */
export interface Look {
  a: string;
  b: string;
  grades: string[];
  colour_a: string;
  colour_b: string;
}

export interface StripRow {
  query_id: string;
  text: string;
  bucket: string;
  /** A sign a rank: a grade, or a dot for a chunk nobody has graded. */
  cells_a: string;
  a: string;
  cells_b: string;
  b: string;
  delta: string;
}

export interface StripsData extends Look {
  depth: number;
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
}

export interface ListsData extends Look {
  lists: [Place[], Place[]];
  moves: MoveRow[];
  total: string;
  measure: string;
  chosen: string | null;
}

export interface Component<Data> {
  data: Data;
  parentElement: HTMLElement | ShadowRoot;
  setTriggerValue(name: "picked", value: string | undefined): void;
}
