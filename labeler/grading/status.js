// The words for what is saved, waiting, refused and done. Knows numbers and states only.

/** @import { Kept, PadEvent, Said, Step } from "./shapes" */
/** @import { Sitting } from "./sitting" */
/** @import { Tally } from "./tally" */

export const REASONS = [
  "needs more context",
  "outside my field",
  "the text is broken",
  "the query is unclear",
];
/** @type {Record<string, string>} */
export const REMARK_WORDS = {
  unanswered: "nothing here answers it",
  unclear: "the query is unclear",
  withdraw: "taken back",
};

/** @type {(outbox: { state: string, isShutOut: boolean }, saved: number, waiting: number, refused: number) => string} */
export function statusWords({ state, isShutOut }, saved, waiting, refused) {
  const parts = [`${saved.toLocaleString()} saved`];
  const kept = waiting.toLocaleString();
  if (waiting && state === "offline") parts.push(`offline, ${kept} kept`);
  else if (waiting && (state === "stuck" || isShutOut)) parts.push(`not saving, ${kept} kept`);
  else if (waiting) parts.push(`${kept} waiting`);
  if (refused) parts.push(`${refused.toLocaleString()} refused`);
  return parts.join(", ");
}

/** @type {(sitting: Sitting, refused: [string, Kept][], others: Map<string, number>) => string} */
export function troubleWords({ outbox, problem }, refused, others) {
  const { unkept, state, reason, isShutOut } = outbox;
  const words = [];
  if (problem) words.push(`The server hands out no chunks just now: ${problem}.`);
  if (state === "stuck") {
    words.push(`The server cannot save just now: ${reason}. It is tried again.`);
  }
  if (isShutOut) {
    words.push(`The server lets nothing in from here: ${reason}. What you gave is kept.`);
  }
  const last = refused.at(-1);
  if (last) words.push(`${refused.length} refused, the last because: ${last[1].reason}.`);
  if (unkept.size) {
    words.push(`${unkept.size} not kept: this browser has no room. Stay on this page until saved.`);
  }
  for (const [name, count] of others) {
    words.push(`${count} of ${name}’s wait in this browser until ${name} grades here again.`);
  }
  return words.join(" ");
}

// What was given, in words: "2 partially relevant", "can’t tell: outside my field".
/**
 * @param {Partial<Said>} done
 * @param {string[]} words
 * @param {string} [between]
 */
export function givenWords(done, words, between = " ") {
  if (done.kind === "cannot_tell") return ["can’t tell", done.reason].filter(Boolean).join(": ");
  if (done.grade == null) return "graded";
  return `${done.grade}${between}${words[done.grade]}`;
}

// What an event on its way says, in a sentence of the grader's.
/** @type {(event: PadEvent, words: string[]) => string} */
export function eventWords(event, words) {
  if (event.undoes) return "You took your grade back.";
  if (!event.chunk) return `You said: ${REMARK_WORDS[event.kind ?? ""]}.`;
  return `You gave: ${givenWords(event, words)}`;
}

// What a screen reader says of an event; `state` is "saved" or "kept".
/** @type {(event: Partial<PadEvent>, words: string[], state: string) => string} */
export function spokenWords(event, words, state) {
  if (event.undoes) return `undone, ${state}`;
  const said = REMARK_WORDS[event.kind ?? ""] ?? givenWords(event, words, ", ");
  return `${said}, ${state}`;
}

/** @type {(step: Step, words: string[]) => string} */
export function undoneWords(step, words) {
  if (step.kind === "cannot_tell" || step.grade != null) {
    return `undone, it was: ${givenWords(step, words)}`;
  }
  return "undone";
}

/** @type {(tally: Tally, saved: number, confined: object | null) => string} */
export function doneTitle({ open, withoutText }, saved, confined) {
  if (open) return "Fetching more chunks …";
  if (withoutText && !saved) return "No chunk here can be read yet";
  return confined ? "Everything in your field is graded" : "Everything in the pool is graded";
}

/** @type {(tally: Tally, saved: number, confined: object | null) => string} */
export function doneHelp({ open, withoutText, agreement }, saved, confined) {
  if (open) {
    return "The next chunks come as soon as the connection is back. Nothing you graded is lost.";
  }
  const lines = [];
  if (saved) lines.push(`You have graded ${counted(saved, "chunk")}: thank you.`);
  lines.push(agreement);
  if (withoutText) {
    lines.push(
      `${counted(withoutText, "pair")} of query and chunk wait for text: their chunks are known ` +
        "by id only. Load it with: labeler load chunks FILE",
    );
  } else if (confined) {
    lines.push("Other queries may still have open chunks: see all queries, above.");
  } else {
    lines.push("A deeper pool, more queries or another run will bring more.");
  }
  return lines.filter(Boolean).join(" ");
}

/** @type {(number: number, one: string) => string} */
export function counted(number, one) {
  return `${number.toLocaleString()} ${one}${number === 1 ? "" : "s"}`;
}
