// What Python hands the line that follows the golden set: types only.

/** The newest judgment, the newest remark and the data revision; each only ever rises. */
export type Newest = number[];

export interface LineData {
  /** What the numbers beside the line are made of. */
  newest: Newest;
  /** Which start of the server they came from. */
  start: string;
  /** How many rows would stand elsewhere if they were sorted now. */
  moved: number;
}

export interface Component {
  data: LineData;
  parentElement: HTMLElement | ShadowRoot;
  setTriggerValue(name: "news" | "again", value: number): void;
}

/** What the server says: first of all which start of it this is. */
export type Message = { start: string } | { newest: Newest };

/** What a connection says to the page that holds it. */
export interface Listener {
  /** There are newer numbers than the page shows. */
  onNews(): void;
  /** There has been no connection for long, or there is one again. */
  onSilence(isSilent: boolean): void;
  /** The server has been started anew and knows nothing of this page: all of it has to run. */
  onStranger(): void;
}
