// The words for what is given, saved and done.

import { markedWords } from "../js/passages.js";

/**
 * @import {
 *   PadData, PadEvent, Said, SelfAgreement, Spoken, Step, Terms
 * } from "./shapes"
 */
/** @import { GradingProgress } from "./progress" */

/** @type {(terms: Terms) => string[]} */
export function reasonsOf({ say }) {
  return [say("reason.context"), say("reason.field"), say("reason.broken"), say("remark.unclear")];
}

/** @type {(kind: string, terms: Terms) => string} */
export function remarkWords(kind, { say }) {
  if (kind === "unanswered") return say("remark.unanswered");
  return say(kind === "unclear" ? "remark.unclear" : "remark.withdrawn");
}

// What was given, in words: "2 partly relevant", "can’t tell: outside my field".
/**
 * @param {Partial<Said>} done
 * @param {Terms} terms
 * @param {string} [between]
 */
export function givenWords(done, { words, say }, between = " ") {
  const { kind, reason } = done;
  if (kind === "cannot_tell") {
    return reason ? say("given.cannot_tell_because", { reason }) : say("given.cannot_tell");
  }
  if (done.grade == null) return say("given.graded");
  return `${done.grade}${between}${words[done.grade]}`;
}

// What an event on its way says, in a sentence of the grader's.
/** @type {(event: PadEvent, terms: Terms) => string} */
export function eventWords(event, terms) {
  const { say } = terms;
  if (event.undoes) return say(event.chunk ? "event.undone" : "event.remark_undone");
  if (!event.chunk) return say("event.remark", { remark: remarkWords(event.kind ?? "", terms) });
  const given = say("event.given", { grade: givenWords(event, terms) });
  return [given, event.evidence?.length && markedWords(event.evidence.length, say)]
    .filter(Boolean)
    .join(", ");
}

// What a screen reader says of an event, which is saved or kept until it can be.
/** @type {(event: Partial<PadEvent>, terms: Terms, isSaved: boolean) => string} */
export function spokenWords(event, terms, isSaved) {
  const { say } = terms;
  return say(isSaved ? "spoken.saved" : "spoken.kept", { said: saidIn(event, terms) });
}

/** @type {(event: Partial<PadEvent>, terms: Terms) => string} */
function saidIn(event, terms) {
  if (event.undoes) return terms.say("card.undone");
  const isRemark = ["unanswered", "unclear", "withdraw"].includes(event.kind ?? "");
  return isRemark ? remarkWords(event.kind ?? "", terms) : givenWords(event, terms, ", ");
}

// What sources had proposed for a chunk that is graded now: "2 proposed by clicks, 3 by chunks".
/** @type {(proposed: [string, number][], spoken: Spoken) => string} */
export function proposedWords(proposed, { say }) {
  const said = proposed.map(([source, grade], i) =>
    say(i ? "given.proposed_too" : "given.proposed", { grade, source }),
  );
  return said.join(", ");
}

/** @type {(step: Step, terms: Terms) => string} */
export function undoneWords(step, terms) {
  if (step.kind === "cannot_tell" || step.grade != null) {
    return terms.say("card.undone_was", { grade: givenWords(step, terms) });
  }
  return terms.say("card.undone");
}

/** @type {(progress: GradingProgress, saved: number, confined: object | null, terms: Terms, grader: string) => string} */
export function doneTitle({ open, withoutText, decision }, saved, confined, { say }, grader) {
  if (decision?.settled) return say("done.decided");
  if (open) return say("done.fetching");
  if (!saved) return say(withoutText ? "done.no_text" : "done.nothing");
  const name = grader.trim().split(/\s+/)[0] ?? grader;
  return say(confined ? "done.part" : "done.all", { name });
}

/** @type {(progress: GradingProgress, data: Pick<PadData, "confined" | "terms" | "contact" | "load_url">, saved: number, waiting: number) => string} */
export function doneHelp({ open, withoutText, agreement, decision }, data, saved, waiting) {
  const { confined, contact, load_url } = data;
  const { say } = data.terms;
  if (open && !decision?.settled) return say("done.offline");
  const lines = [];
  if (waiting) lines.push(say("done.keep_open", { n: waiting }));
  else if (saved) lines.push(say("done.saved"));
  lines.push(agreementWords(agreement, data.terms));
  if (decision?.settled) lines.push(say("done.no_more_needed"));
  else if (withoutText) {
    lines.push(say("done.without_texts", { n: withoutText }));
    if (!load_url) lines.push(say("done.tell", { whom: contact || say("done.inviter") }));
  } else if (confined) lines.push(say("done.others_open"));
  else lines.push(say("done.more_to_come"));
  return lines.filter(Boolean).join(" ");
}

// That a text stands in several places, and that it is read once for all of them.
/** @type {(copies: number | undefined, terms: Terms) => string} */
export function copiesWords(copies, { say }) {
  if (!copies) return "";
  return copies === 2 ? say("card.copies_two") : say("card.copies", { n: copies });
}

// How steady a grader is, who saw some passages again.
/** @type {(agreement: SelfAgreement | null, spoken: Spoken) => string} */
export function agreementWords(agreement, { say }) {
  if (!agreement) return "";
  const { again, same } = agreement;
  return say(same === again ? "again.same" : "again.differs", { n: again, same });
}
