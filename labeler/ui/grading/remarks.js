// What is said of a whole query: that nothing answers it, or that it is unclear. Its open chunks
// leave the queue with it, and come back when it is taken back.

/**
 * @import { Item, PadEvent, Remarked, RemarkStep } from "./shapes"
 * @import { GradingSession } from "./session"
 */

export class Remarks {
  /** @param {GradingSession} session */
  constructor(session) {
    this.session = session;
  }

  /** @type {(queryId: string, kind: string, note?: string | null) => void} */
  say(queryId, kind, note = null) {
    const { session } = this;
    const query = session.queryOf(queryId);
    const former = query.remark ? { remark: query.remark, note: query.remark_note ?? null } : null;
    const event = session.event({ query: queryId }, { kind, note });
    /** @type {RemarkStep} */
    const step = { event_id: event.event_id, query: queryId, remark: kind, note, former };
    session.history.push(step);
    session.send(event, { query: queryId }, { counts: 0 });
    step.items = this.hold(queryId, kind === "withdraw" ? null : { remark: kind, note });
    if (kind === "withdraw") this.comeBackTo(queryId);
  }

  // Take back what was said: what held before holds again.
  /** @type {(step: RemarkStep) => Promise<void>} */
  async unsay({ event_id, query, former, items }) {
    const event = this.session.event({ query }, { undoes: event_id });
    this.session.send(event, { query }, { counts: 0, said: former });
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
    const query = this.session.queryOf(queryId);
    Object.assign(query, { remark: said?.remark ?? null, remark_note: said?.note ?? null });
    return said ? this.setAside(queryId) : [];
  }

  /** @type {(queryId: string) => Item[]} */
  setAside(queryId) {
    const { progress, queue } = this.session;
    progress.setAside(queryId);
    const dropped = queue.drop((entry) => entry.item.query === queryId);
    this.session.lookAnew();
    this.session.fetchMore();
    return dropped;
  }

  // Put a query's chunks on screen again: those that left the queue, else what the server has.
  /** @type {(queryId: string, items?: Item[]) => Promise<void>} */
  async comeBackTo(queryId, items = []) {
    const { session } = this;
    if (items.length) this.bringBack(queryId, items, items.length);
    try {
      await session.outbox.send();
      const answer = await session.get(`/api/query?query=${encodeURIComponent(queryId)}`);
      if (!items.length) this.bringBack(queryId, answer.items, answer.queries[queryId]?.left ?? 0);
    } catch {
      // what is in the queue stays there
    }
    session.fetchMore(true);
  }

  /** @type {(queryId: string, items: Item[], left: number) => void} */
  bringBack(queryId, items, left) {
    const { session } = this;
    session.queue.bringQuery(items);
    session.progress.comeBack(queryId, left);
    session.lookAnew();
    session.hooks.changed();
  }
}
