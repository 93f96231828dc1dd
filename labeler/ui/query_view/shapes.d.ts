// What Python hands the script: types only, nothing of it reaches a browser.

/** Lines between two lists; their ends are in pixels from the first row's top. */
export interface WiresData {
  height: number;
  wires: { y_a: number; y_b: number; classes: string; share: number }[];
}
