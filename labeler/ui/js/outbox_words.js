// The words for what waits, what is kept and what is not saved.

/** @import { Outbox } from "./outbox" */
/** @import { Say } from "./shapes" */

// What is under way: nothing where all is saved.
/** @type {(outbox: Outbox, say: Say) => string[]} */
export function sendingWords(outbox, say) {
  const { state, isShutOut, kept } = outbox;
  const [waiting, refused] = [outbox.waiting().length, outbox.refused().length];
  const parts = [];
  const isOffline = state === "offline";
  if (waiting && (isOffline || state === "stuck" || isShutOut)) {
    parts.push(say(isOffline ? "status.kept_offline" : "status.kept_stuck", { n: kept }));
    if (waiting > kept) parts.push(say("status.not_yet", { n: waiting - kept }));
  } else if (waiting) parts.push(say("status.waiting", { n: waiting }));
  if (refused) parts.push(say("status.refused", { n: refused }));
  return parts;
}

// What went wrong; nothing where all is well.
/** @type {(outbox: Outbox, say: Say) => string[]} */
export function troubleWords(outbox, say) {
  const { state, reason, isShutOut } = outbox;
  const words = [];
  if (state === "stuck") words.push(say("trouble.stuck", { reason }));
  if (isShutOut) words.push(say("trouble.shut_out", { reason }));
  const refused = outbox.refused();
  const last = refused.at(-1);
  if (last) {
    words.push(say("trouble.refused", { n: refused.length, reason: last[1].reason ?? "" }));
  }
  if (outbox.atRisk) words.push(say("trouble.at_risk", { n: outbox.atRisk }));
  else if (outbox.isUnsafe) words.push(say("trouble.unsafe"));
  for (const { name, count } of outbox.others()) {
    const known = { n: count, name: name ?? say("trouble.somebody") };
    words.push(say(name === outbox.name ? "trouble.renamed" : "trouble.others", known));
  }
  return words;
}
