// What is said of a whole query: that nothing answers it, or that it is unclear. Its open chunks
// leave the table with it, and come back when it is taken back. Knows no key and no element.

/**
 * @import { Item, PadEvent, Remarked, RemarkStep } from "./shapes"
 * @import { Sitting } from "./sitting"
 */

export class Remarks {
  /** @param {Sitting} sitting */
  constructor(sitting) {
    this.sitting = sitting;
  }

  /** @type {(queryId: string, kind: string, note?: string | null) => void} */
  say(queryId, kind, note = null) {
    const { sitting } = this;
    const query = sitting.queryOf(queryId);
    const former = query.remark ? { remark: query.remark, note: query.remark_note ?? null } : null;
    const event = sitting.event({ query: queryId }, { kind, note });
    /** @type {RemarkStep} */
    const step = { event_id: event.event_id, query: queryId, remark: kind, note, former };
    sitting.trail.push(step);
    sitting.send(event, { query: queryId }, { counts: 0 });
    step.items = this.hold(queryId, kind === "withdraw" ? null : { remark: kind, note });
    if (kind === "withdraw") this.comeBackTo(queryId);
  }

  // Take back what was said: what held before holds again.
  /** @type {(step: RemarkStep) => Promise<void>} */
  async unsay({ event_id, query, former, items }) {
    const event = this.sitting.event({ query }, { undoes: event_id });
    this.sitting.send(event, { query }, { counts: 0, said: former });
    this.hold(query, former);
    if (!former) await this.comeBackTo(query, items);
  }

  // Another tab said it; where it took something back, `said` holds again.
  /** @type {(event: PadEvent, said: Remarked | null) => void} */
  heard({ query, kind, note, undoes }, said) {
    if (undoes) this.hold(query, said);
    else
      this.hold(query, kind && kind !== "withdraw" ? { remark: kind, note: note ?? null } : null);
  }

  // A remark holds for a query, or none does; returns the open chunks that leave with it.
  /** @type {(queryId: string, said: Remarked | null) => Item[]} */
  hold(queryId, said) {
    const query = this.sitting.queryOf(queryId);
    Object.assign(query, { remark: said?.remark ?? null, remark_note: said?.note ?? null });
    return said ? this.setAside(queryId) : [];
  }

  /** @type {(queryId: string) => Item[]} */
  setAside(queryId) {
    const { tally, deck } = this.sitting;
    tally.setAside(queryId);
    const dropped = deck.drop((entry) => entry.item.query === queryId);
    this.sitting.lookAnew();
    this.sitting.fetchMore();
    return dropped;
  }

  // Put a query's chunks on screen again: those that left the table, else what the server has.
  /** @type {(queryId: string, items?: Item[]) => Promise<void>} */
  async comeBackTo(queryId, items = []) {
    const { sitting } = this;
    if (items.length) this.bringBack(queryId, items, items.length);
    try {
      await sitting.outbox.send();
      const answer = await sitting.get(`/api/query?query=${encodeURIComponent(queryId)}`);
      if (!items.length) this.bringBack(queryId, answer.items, answer.queries[queryId]?.left ?? 0);
    } catch {
      // what is on the table stays there
    }
    sitting.fetchMore(true);
  }

  /** @type {(queryId: string, items: Item[], left: number) => void} */
  bringBack(queryId, items, left) {
    const { sitting } = this;
    sitting.deck.bringQuery(items);
    sitting.tally.comeBack(queryId, left);
    sitting.lookAnew();
    sitting.hooks.changed();
  }
}
