// What Python hands the line that follows the golden set: types only.

/** The newest judgment, the newest remark and the data revision; each only ever rises. */
export type Newest = number[];

export interface LineData {
  /** What the numbers beside the line are made of. */
  newest: Newest;
  /** How many rows would stand elsewhere if they were sorted now. */
  moved: number;
}

export interface Component {
  data: LineData;
  parentElement: HTMLElement | ShadowRoot;
  setTriggerValue(name: "news" | "again", value: number): void;
}

/** What a connection says to the page that holds it. */
export interface Listener {
  /** There are newer numbers than the page shows. */
  onNews(): void;
  /** There has been no connection for long, or there is one again. */
  onSilence(isSilent: boolean): void;
}
