// What Python hands the strips: types only, nothing of it reaches a browser.

/** One run beside others: its sign, what it is called, and its whole name. */
export interface Side {
  sign: string;
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

export interface Component<Data> {
  data: Data;
  parentElement: HTMLElement | ShadowRoot;
  setTriggerValue(name: "picked", value: string | undefined): void;
}
