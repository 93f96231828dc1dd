// Where things are in a text that is painted: what is selected of it, and marks around stretches of
// it. What is painted is the text itself, in order, but for small print.

/** @typedef {{ start: number, end: number }} Stretch */
/** @typedef {Stretch & { node: Text }} Piece */

// The pieces of a painted text, each with where it is in the text.
/** @type {(host: HTMLElement) => Piece[]} */
function piecesOf(host) {
  /** @type {Piece[]} */
  const found = [];
  let at = 0;
  /** @type {(node: Node) => void} */
  const read = (node) => {
    if (node instanceof Text) {
      if (node.length) found.push({ node, start: at, end: at + node.length });
      at += node.length;
    } else if (!(node instanceof HTMLElement && node.matches(".more-text, small"))) {
      for (const child of node.childNodes) read(child);
    }
  };
  read(host);
  return found;
}

// What is selected of a painted text; null where nothing is, or where the selection only goes
// across it, as that of the whole page does.
/** @type {(host: HTMLElement) => Stretch | null} */
export function selectedIn(host) {
  const range = selectedRange(host.getRootNode());
  if (!range || range.collapsed || !range.intersectsNode(host)) return null;
  if (!host.contains(range.startContainer) && !host.contains(range.endContainer)) return null;
  let start = Number.POSITIVE_INFINITY;
  let end = -1;
  for (const { node, start: begins } of piecesOf(host)) {
    if (!range.intersectsNode(node)) continue;
    const from = node === range.startContainer ? range.startOffset : 0;
    const to = node === range.endContainer ? range.endOffset : node.length;
    if (from >= to) continue;
    start = Math.min(start, begins + from);
    end = Math.max(end, begins + to);
  }
  return start < end ? { start, end } : null;
}

// Browsers differ in how they tell what is selected inside of a shadow tree.
/** @type {(root: Node) => Range | null} */
function selectedRange(root) {
  const own = /** @type {{ getSelection?: () => Selection | null }} */ (root).getSelection?.();
  const selection = own ?? document.getSelection();
  if (!selection?.rangeCount) return null;
  const composed = /** @type {{ getComposedRanges?: (of: object) => StaticRange[] }} */ (
    /** @type {unknown} */ (selection)
  );
  const isAsked = !own && root instanceof ShadowRoot && composed.getComposedRanges;
  const [found] = isAsked ? (composed.getComposedRanges?.({ shadowRoots: [root] }) ?? []) : [];
  if (!found) return selection.getRangeAt(0);
  const range = document.createRange();
  range.setStart(found.startContainer, found.startOffset);
  range.setEnd(found.endContainer, found.endOffset);
  return range;
}

/** @type {(host: HTMLElement) => void} */
export function deselect(host) {
  const root = /** @type {{ getSelection?: () => Selection | null }} */ (host.getRootNode());
  (root.getSelection?.() ?? document.getSelection())?.removeAllRanges();
}

// Put marks of one kind around stretches of a painted text, in place of those that are there. Returns
// the first element of each.
/** @type {(host: HTMLElement, stretches: Stretch[], kind: string) => HTMLElement[]} */
export function wrap(host, stretches, kind) {
  const former = host.querySelectorAll(`mark.${kind}`);
  for (const mark of former) mark.replaceWith(...mark.childNodes);
  if (former.length) host.normalize();
  if (!stretches.length) return [];
  const pieces = piecesOf(host);
  const firsts = stretches.map((stretch) => {
    const within = pieces.filter(({ start, end }) => start < stretch.end && end > stretch.start);
    return { stretch, within };
  });
  // the last first: what is cut off stays behind the places that are still to come
  return firsts
    .reverse()
    .map(({ stretch, within }) => around(stretch, within, kind))
    .reverse()
    .flatMap((first) => (first ? [first] : []));
}

/** @type {(stretch: Stretch, within: Piece[], kind: string) => HTMLElement | undefined} */
function around(stretch, within, kind) {
  const made = within.toReversed().map(({ node, start, end }) => {
    const to = Math.min(stretch.end, end) - start;
    if (to < node.length) node.splitText(to);
    const from = Math.max(stretch.start, start) - start;
    const middle = from > 0 ? node.splitText(from) : node;
    const mark = document.createElement("mark");
    mark.className = kind;
    middle.replaceWith(mark);
    mark.append(middle);
    return mark;
  });
  made.at(-1)?.classList.add("begins");
  made[0]?.classList.add("ends");
  return made.at(-1);
}
