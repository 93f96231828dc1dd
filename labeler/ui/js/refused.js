// What the server refused: shown with its reason until somebody sends it again or lets it go.

import { newId } from "./api.js";
import { element, keyButton } from "./dom.js";

/** @import { Kept, PadEvent, Say, Standing } from "./shapes" */

/** @typedef {(key: string, record: Kept, how: "mine" | "again" | "let go") => void} Deal */

/**
 * `said` puts an event into words, `given` what stands.
 * @typedef {{ say: Say, said: (event: PadEvent) => string, given: (stands: Standing) => string }} Spoken
 */

// `refused` is [[key, record]]; `deal` hears what somebody does about one of them.
/** @type {(refused: [string, Kept][], spoken: Spoken, deal: Deal) => HTMLElement[]} */
export function refusedParts(refused, spoken, deal) {
  const { say } = spoken;
  if (!refused.length) return [element("p", say("refused.none"))];
  const list = element("ul", "", "refused");
  for (const [key, record] of refused) list.append(refusedRow(key, record, spoken, deal));
  return [element("p", say("refused.help")), list];
}

/** @type {(key: string, record: Kept, spoken: Spoken, deal: Deal) => HTMLElement} */
function refusedRow(key, record, { say, said, given }, deal) {
  const { event, shown, reason = "", instead } = record;
  const row = element("li");
  const about = element("p", shown?.query || event.query);
  if (event.chunk) about.append(" · ", shown?.title || say("refused.untitled"));
  about.dir = "auto";
  const ways = element("p", "", "ways");
  /** @type {(text: string, how: Parameters<Deal>[2]) => void} */
  const offer = (text, how) => {
    ways.append(keyButton("", text, () => deal(key, record, how), "choice"));
  };
  if (instead) offer(say("refused.mine"), "mine");
  else offer(say("refused.again"), "again");
  offer(say("refused.discard"), "let go");
  row.append(about, element("p", said(event)));
  row.append(element("p", say("refused.because", { reason })));
  if (instead) row.append(element("p", say("refused.stands", { grade: given(instead) })));
  row.append(ways);
  return row;
}

// The same wish again; "mine" is a new event that knows what stands instead.
/** @type {(record: Kept, how: string) => Kept} */
export function againOf({ reason: _, instead, ...record }, how) {
  if (how !== "mine" || !instead) return record;
  const { undoes } = record.event;
  const known = undoes ? { undoes: instead.event_id } : { replaces: instead.event_id };
  return {
    ...record,
    event: { ...record.event, event_id: newId(), ...known },
    counts: undoes ? -1 : 0,
  };
}
