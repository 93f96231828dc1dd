// Reading on in a text that was too long to come whole: a piece at a time, as soon as its reader comes
// near its end.

import { element, keyButton } from "../js/dom.js";
import { reasonWords } from "../js/words.js";

/** @import { Item, Say } from "./shapes" */

/**
 * @typedef {{
 *   get: (path: string) => Promise<{ text: string, more: number | null }>,
 *   paint: (host: HTMLElement, text: string) => void,
 *   painted?: () => void,
 *   say: Say,
 * }} Means
 */

// Put the way on at the end of a text, if there is more of it.
/** @type {(host: HTMLElement, item: Item, means: Means) => void} */
export function offerMore(host, item, means) {
  if (item.more == null) return;
  const way = element("span", "… ", "more-text");
  const button = keyButton("", means.say("card.read_on"), () =>
    readFurther(host, way, item, means),
  );
  way.append(button);
  host.append(way);
  const near = new IntersectionObserver((seen) => {
    if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
    near.disconnect(); // what could not be fetched waits for the button
    button.click();
  });
  near.observe(way);
}

// The piece stands where the way to it stood, and stays with the item.
/** @type {(host: HTMLElement, way: HTMLElement, item: Item, means: Means) => Promise<void>} */
async function readFurther(host, way, item, means) {
  const from = item.more;
  try {
    const path = `/api/text?chunk=${encodeURIComponent(item.chunk)}&from=${from}`;
    const piece = await means.get(path);
    if (item.more !== from || !way.isConnected) return;
    item.text += piece.text;
    item.more = piece.more;
    if (goesOnWithin(way, item.text.length - piece.text.length, item)) means.paint(host, item.text);
    else {
      const part = element("span");
      means.paint(part, piece.text);
      way.replaceWith(...part.childNodes);
      if (part.classList.contains("columns")) host.classList.add("columns");
    }
    offerMore(host, item, means);
    means.painted?.();
    const read = host.closest(".chunk[data-to-end]");
    if (read) read.scrollTop = read.scrollHeight;
  } catch (problem) {
    const words = means.say("card.not_fetched", { reason: reasonWords(problem, means.say) });
    way.firstChild?.replaceWith(`${words} `);
  }
}

// Whether a text goes on within a line, or within a table or code: then it is painted as a whole.
/** @type {(way: HTMLElement, at: number, item: Item) => boolean} */
function goesOnWithin(way, at, { text }) {
  return text[at - 1] !== "\n" || Boolean(way.previousElementSibling?.matches(".lines, .table"));
}
