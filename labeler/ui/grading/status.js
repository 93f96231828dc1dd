// The words for what is saved, waiting, refused and done.

import { markedWords } from "../js/passages.js";

/** @import { Kept, Other, PadData, PadEvent, Said, Step, Terms } from "./shapes" */
/** @import { GradingSession } from "./session" */
/** @import { GradingProgress } from "./progress" */

/** @type {(terms: Terms) => string[]} */
export function reasonsOf({ question }) {
  return [
    "needs more context",
    "outside my field",
    "the text is broken",
    `the ${question[0]} is unclear`,
  ];
}

/** @type {(kind: string, terms: Terms) => string} */
export function remarkWords(kind, { question, passage }) {
  if (kind === "unanswered") return `none of these ${passage[1]} answers it`;
  return kind === "unclear" ? `the ${question[0]} is unclear` : "taken back";
}

/** @type {(outbox: { state: string, isShutOut: boolean, kept: number }, saved: number, waiting: number, refused: number) => string} */
export function statusWords({ state, isShutOut, kept }, saved, waiting, refused) {
  const parts = [`${saved.toLocaleString()} saved`];
  const isAway = state === "offline" ? "offline" : (state === "stuck" || isShutOut) && "not saving";
  if (waiting && isAway) {
    parts.push(`${isAway}, ${kept.toLocaleString()} kept`);
    if (waiting > kept) parts.push(`${(waiting - kept).toLocaleString()} not yet`);
  } else if (waiting) parts.push(`${waiting.toLocaleString()} waiting`);
  if (refused) parts.push(`${refused.toLocaleString()} refused`);
  return parts.join(", ");
}

/** @type {(session: GradingSession, refused: [string, Kept][], others: Other[], terms: Terms) => string} */
export function troubleWords({ outbox, problem, grader }, refused, others, { passage }) {
  const { state, reason, isShutOut } = outbox;
  const words = [];
  if (problem) words.push(`The server hands out no ${passage[1]} just now: ${problem}.`);
  if (state === "stuck") {
    words.push(`The server cannot save just now: ${reason}. It is tried again.`);
  }
  if (isShutOut) {
    words.push(`The server lets nothing in from here: ${reason}. What you gave is kept.`);
  }
  const last = refused.at(-1);
  if (last) words.push(`${refused.length} refused, the last because: ${last[1].reason}.`);
  if (outbox.atRisk) {
    words.push(
      `${outbox.atRisk} not kept: this browser has no room. Stay on this page until saved.`,
    );
  } else if (outbox.isUnsafe) {
    words.push("This browser’s disk takes nothing: what waits would not survive a crash of it.");
  }
  for (const { name, count } of others) {
    words.push(
      name === grader
        ? `${count} wait in this browser of somebody who was called ${name} until they grade here.`
        : `${count} of ${name}’s wait in this browser until ${name} grades here again.`,
    );
  }
  return words.join(" ");
}

// What was given, in words: "2 partly relevant", "can’t tell: outside my field".
/**
 * @param {Partial<Said>} done
 * @param {Terms} terms
 * @param {string} [between]
 */
export function givenWords(done, { words }, between = " ") {
  if (done.kind === "cannot_tell") return ["can’t tell", done.reason].filter(Boolean).join(": ");
  if (done.grade == null) return "graded";
  return `${done.grade}${between}${words[done.grade]}`;
}

// What an event on its way says, in a sentence of the grader's.
/** @type {(event: PadEvent, terms: Terms) => string} */
export function eventWords(event, terms) {
  if (event.undoes) return event.chunk ? "You took your grade back." : "You took a remark back.";
  if (!event.chunk) return `You said: ${remarkWords(event.kind ?? "", terms)}.`;
  const marked = event.evidence?.length ? `, ${markedWords(event.evidence.length)}` : "";
  return `You gave: ${givenWords(event, terms)}${marked}`;
}

// What a screen reader says of an event; `state` is "saved" or "kept".
/** @type {(event: Partial<PadEvent>, terms: Terms, state: string) => string} */
export function spokenWords(event, terms, state) {
  if (event.undoes) return `undone, ${state}`;
  const isRemark = ["unanswered", "unclear", "withdraw"].includes(event.kind ?? "");
  const said = isRemark ? remarkWords(event.kind ?? "", terms) : givenWords(event, terms, ", ");
  return `${said}, ${state}`;
}

// What sources had proposed for a chunk that is graded now: "2 proposed by clicks, 3 by chunks".
/** @type {(proposed: [string, number][]) => string} */
export function proposedWords(proposed) {
  const said = proposed.map(
    ([source, grade], i) => `${grade} ${i ? "by" : "proposed by"} ${source}`,
  );
  return said.join(", ");
}

/** @type {(step: Step, terms: Terms) => string} */
export function undoneWords(step, terms) {
  if (step.kind === "cannot_tell" || step.grade != null) {
    return `undone (was ${givenWords(step, terms)})`;
  }
  return "undone";
}

/** @type {(progress: GradingProgress, saved: number, confined: object | null, terms: Terms, grader: string) => string} */
export function doneTitle({ open, withoutText, decision }, saved, confined, { passage }, grader) {
  if (decision?.settled) return "It is decided";
  if (open) return `Fetching more ${passage[1]} …`;
  if (!saved) return withoutText ? `No ${passage[0]} can be read yet` : "Nothing to grade just now";
  const first = grader.trim().split(/\s+/)[0] ?? grader;
  return confined ? `Done with this part. Thank you, ${first}.` : `Done. Thank you, ${first}.`;
}

/** @type {(progress: GradingProgress, data: Pick<PadData, "confined" | "terms" | "contact">, saved: number, waiting: number) => string} */
export function doneHelp({ open, withoutText, agreement, decision }, data, saved, waiting) {
  const { confined, contact } = data;
  const { question, passage } = data.terms;
  if (open && !decision?.settled) {
    return `The next ${passage[1]} come as soon as the connection is back. Nothing you graded is lost.`;
  }
  const lines = [];
  if (waiting) lines.push(`Keep this page open: ${counted(waiting, ["grade", "grades"])} to send.`);
  else if (saved) lines.push("Everything is saved. You can close this page.");
  lines.push(agreement);
  if (decision?.settled) {
    lines.push("What was asked for is decided and needs no further grade.");
  } else if (withoutText) {
    const whom = contact || "the person who invited you";
    const texts = withoutText === 1 ? "The text" : "The texts";
    const have = withoutText === 1 ? "hasn’t" : "haven’t";
    lines.push(
      `${texts} of ${counted(withoutText, passage)} ${have} been added yet. Please tell ${whom}.`,
    );
  } else if (confined) {
    lines.push(`Other ${question[1]} may still be open: see all ${question[1]}, above.`);
  } else {
    lines.push(`You’ll see more here when new ${question[1]} are added.`);
  }
  return lines.filter(Boolean).join(" ");
}

// That a text stands in several places, and that it is read once for all of them.
/** @type {(copies: number | undefined, terms: Terms) => string} */
export function copiesWords(copies, { passage }) {
  if (!copies) return "";
  const [often, all] = copies === 2 ? ["twice", "both"] : [`${copies} times`, `all ${copies}`];
  return `This ${passage[0]} appears ${often}; your grade counts for ${all}.`;
}

/** @type {(number: number, names: readonly string[]) => string} */
export function counted(number, [one, several]) {
  return `${number.toLocaleString()} ${number === 1 ? one : several}`;
}
