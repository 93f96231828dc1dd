// Where Streamlit meets a component: one for each element on the page, for as long as it is there and
// for the same person and part of the golden set, which `who` names.

/** @type {WeakMap<Node, { who: string, shown: { dispose(): void } }>} */
const mounts = new WeakMap();

/**
 * @template {{ dispose(): void }} Shown
 * @param {Node} place
 * @param {string} who
 * @param {() => Shown} make
 * @returns {Shown}
 */
export function mounted(place, who, make) {
  const known = mounts.get(place);
  if (known?.who === who) return /** @type {Shown} */ (known.shown);
  leave(place);
  const shown = make();
  mounts.set(place, { who, shown });
  return shown;
}

// Streamlit calls what a component returns at every change of data as well; only an element that has
// left the page is at its end.
/** @type {(place: Node) => () => void} */
export function disposeOnceGone(place) {
  return () => setTimeout(() => place.isConnected || leave(place));
}

/** @type {(place: Node) => void} */
function leave(place) {
  mounts.get(place)?.shown.dispose();
  mounts.delete(place);
}
