// The grader's own steps by time, for undo; older ones come from the server when they run out.
// Knows nothing of what is on screen.

class Trail {
  constructor() {
    this.steps = []; // oldest first
    this.oldest = null; // the oldest event the server has told of
    this.exhausted = false;
  }

  // Begin with the newest steps the server knows, newest first.
  start(undoable) {
    this.steps = [];
    this.exhausted = false;
    this.extend(undoable);
  }

  // Older steps, newest first.
  extend(older) {
    if (!older.length) this.exhausted = true;
    else this.oldest = older.at(-1).event_id;
    this.steps.unshift(...older.filter((done) => done.item).reverse());
  }

  push(step) {
    this.steps.push(step);
  }

  pop() {
    const step = this.steps.pop();
    return step && this.complete(step);
  }

  // Take one step out, wherever it is.
  remove(eventId) {
    const index = this.steps.findIndex((step) => step.event_id === eventId);
    return index < 0 ? null : this.complete(this.steps.splice(index, 1)[0]);
  }

  holds(item) {
    const pair = pairOf(item);
    return this.steps.some((step) => step.item && pairOf(step.item) === pair);
  }

  // What undoing leaves: the server says it, or an older step of the same pair does.
  complete(step) {
    if (!step.item || step.former !== undefined) return step;
    const pair = pairOf(step.item);
    const former = this.steps.findLast((older) => older.item && pairOf(older.item) === pair);
    return { ...step, former: former ?? null };
  }
}
