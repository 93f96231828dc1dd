// What each action does on the pad, under the names of the table of keys. Knows the pad's parts and
// how they are asked; keeps nothing itself.

import { toldWords } from "./card.js";
import { noteOf } from "./deck.js";
import { newId } from "./outbox.js";
import { remember, remembered, wordsOf } from "./parts.js";
import { guidelineParts, keysParts, refusedParts } from "./sheet.js";
import { bare, isOnPair } from "./sitting.js";
import { REASONS, REMARK_WORDS } from "./status.js";
import { isJudged } from "./trail.js";

/** @import { Entry, Item, Kept, ListDesk, PadEvent, Question, Said, Standing } from "./shapes" */
/** @import { Pad } from "./pad" */
/** @import { Deal } from "./sheet" */
/** @import { Sitting } from "./sitting" */

const MARKS_KEY = "labeler-marks";
const MOST_REASON = 200; // characters, as the server takes them
const MOST_NOTE = 2000;

/**
 * An act that is about the chunk on screen needs one there.
 * @typedef {{ chunk: true, act: (pad: Pad, entry: Entry) => unknown }} ChunkAct
 * @typedef {{ chunk: false, act: (pad: Pad, entry: Entry | null) => unknown }} FreeAct
 */

/** @type {(act: (pad: Pad, entry: Entry) => unknown) => ChunkAct} */
const onChunk = (act) => ({ chunk: true, act });
/** @type {(act: (pad: Pad, entry: Entry | null) => unknown) => FreeAct} */
const anyTime = (act) => ({ chunk: false, act });

/** @type {Record<string, ChunkAct | FreeAct>} */
export const ACTS = {
  back: anyTime((pad) => pad.step(-1)),
  ahead: anyTime((pad) => pad.step(1)),
  undo: anyTime((pad) => undoStep(pad)),
  cannotTell: onChunk((pad, entry) => askReason(pad, (what) => pad.give(entry, what), entry)),
  later: onChunk((pad, entry) => putOff(pad, entry)),
  note: onChunk((pad, entry) => {
    askNote(pad, noteOf(entry) ?? "", (note) => keepNote(pad, entry, note), entry);
  }),
  guideline: anyTime((pad, entry) => showGuideline(pad, entry)),
  whole: onChunk((pad, { item }) => pad.openList(pad.whole, item.query, item)),
  find: onChunk((pad, { item }) => pad.openList(pad.finder, item.query)),
  remark: onChunk((pad, { item }) => askRemark(pad, item.query)),
  around: onChunk((pad, entry) => showAround(pad, entry)),
  marks: anyTime((pad) => switchMarks(pad)),
  told: onChunk((pad, entry) => showTold(pad, entry)),
  help: anyTime((pad) => showKeys(pad)),
};

export function rememberedMarking() {
  return remembered(MARKS_KEY, true);
}

/** @type {(pad: Pad) => Promise<void>} */
async function undoStep(pad) {
  const step = await pad.sitting.undo();
  if (step) pad.announce(isJudged(step) ? "undone, grade it again" : "taken back");
  else if (pad.sitting.trail.exhausted) pad.announce("nothing to undo");
  else pad.announce("your earlier grades cannot be fetched just now");
  pad.paint();
}

/** @type {(pad: Pad, entry: Entry) => void} */
function putOff(pad, entry) {
  if (entry.done) pad.announce("this chunk is graded already");
  else if (!pad.sitting.deck.putOff()) pad.announce("this is the only chunk left");
  else pad.announce("put off until later");
  pad.sitting.lookAnew();
  pad.sitting.fetchMore();
  pad.paint();
}

/** @type {(pad: Pad, give: (what: Partial<Said>) => void, about?: Entry | null) => void} */
function askReason(pad, give, about = null) {
  const say = (/** @type {string} */ reason) =>
    give({ kind: "cannot_tell", reason: reason || null });
  /** @type {Question["choices"]} */
  const choices = REASONS.map((words, i) => ({ key: String(i + 1), words, act: () => say(words) }));
  choices.push({ key: "x", words: "no reason", act: say });
  const field = { label: "Another reason", help: "then Enter", max: MOST_REASON, act: say };
  pad.tray.ask({ title: "You can’t tell, because", choices, field, enter: say, about });
  pad.paint();
}

/** @type {(pad: Pad, value: string, keep: (note: string) => void, about?: Entry | null) => void} */
function askNote(pad, value, keep, about = null) {
  const field = { label: "Note", help: "Enter keeps it", max: MOST_NOTE, act: keep, value };
  pad.tray.ask({ title: "A note on this chunk", choices: [], field, about });
  pad.paint();
}

// A note on a graded chunk is sent at once, with the grade it has.
/** @type {(pad: Pad, entry: Entry, note: string) => void} */
function keepNote(pad, entry, note) {
  if (!entry.done) pad.sitting.draft(entry, note || null);
  else resendWithNote(pad, entry.item, entry.done, note);
  pad.announce(note ? "note kept" : "no note");
  pad.paint();
}

/** @type {(pad: Pad, item: Item, done: Standing, note: string) => Standing} */
function resendWithNote(pad, item, done, note) {
  if ((done.note ?? "") === note) return done;
  const { kind, grade, reason } = done;
  return pad.sitting.give(item, { kind, grade, reason, note: note || null });
}

/** @type {(pad: Pad, queryId: string) => void} */
function askRemark(pad, queryId) {
  const query = pad.sitting.queryOf(queryId);
  /** @type {(kind: string) => (note: string) => void} */
  const say = (kind) => (note) => {
    pad.sitting.remark(queryId, kind, note || null);
    pad.announce(REMARK_WORDS[kind]);
    pad.paint();
  };
  const choices = ["unanswered", "unclear"].map((kind, i) => {
    return { key: String(i + 1), words: REMARK_WORDS[kind], act: say(kind) };
  });
  if (query.remark) choices.push({ key: "3", words: "take it back", act: say("withdraw") });
  const said = query.remark ? `You said: ${REMARK_WORDS[query.remark]}` : "Of the whole query";
  const value = query.remark_note ?? "";
  const field = { label: "Note first, if you like", max: MOST_NOTE, value };
  pad.tray.ask({ title: said, choices, field });
  pad.paint();
}

/** @type {(pad: Pad, entry: Entry | null) => void} */
function showGuideline(pad, entry) {
  const query = entry && pad.sitting.queryOf(entry.item.query);
  pad.sheet.show("guideline", "How to grade", guidelineParts(pad.data, query));
  pad.paint();
}

/** @type {(pad: Pad) => void} */
function showKeys(pad) {
  pad.sheet.show("help", "Keys", keysParts(pad.sitting.tally.agreement));
  pad.paint();
}

/** @type {(pad: Pad, entry: Entry) => Promise<void>} */
async function showAround(pad, { item }) {
  if (pad.card.around) return pad.card.paintAround(null);
  pad.card.paintAround("Fetching …");
  const path = `/api/neighbours?chunk=${encodeURIComponent(item.chunk)}`;
  const beside = await pad.sitting
    .get(path)
    .catch((problem) => `Not fetched: ${wordsOf(problem)}.`);
  if (pad.card.item === item && pad.card.around) pad.card.paintAround(beside);
}

/** @type {(pad: Pad) => void} */
function switchMarks(pad) {
  pad.marking = !pad.marking;
  remember(MARKS_KEY, pad.marking);
  pad.find('.actions [data-act="marks"]').setAttribute("aria-pressed", String(pad.marking));
  pad.announce(pad.marking ? "words are marked" : "words are not marked");
  for (const list of pad.lists()) list.repaint();
  pad.paint();
}

// What others gave is shown only after one's own grade, and makes later grades no longer blind.
/** @type {(pad: Pad, entry: Entry) => Promise<void>} */
async function showTold(pad, entry) {
  if (!entry.done) return pad.announce("grade it first: what others gave must not sway you");
  await pad.sitting.outbox.send();
  const { query, chunk } = entry.item;
  const pair = `query=${encodeURIComponent(query)}&chunk=${encodeURIComponent(chunk)}`;
  try {
    const told = await pad.sitting.get(`/api/told?${pair}`);
    pad.sitting.tell(entry.item);
    entry.told = told;
    pad.announce(toldWords(told, pad.data.words));
  } catch (problem) {
    pad.announce(`not fetched: ${wordsOf(problem)}`);
  }
  pad.paint();
}

// --- what the server refused --------------------------------------------------------------------

/** @type {(pad: Pad) => void} */
export function showRefused(pad) {
  const { sitting, data } = pad;
  /** @type {Deal} */
  const deal = (key, record, how) => {
    dealWith(sitting, key, record, how);
    if (sitting.outbox.refused().length) showRefused(pad);
    else pad.sheet.close();
    pad.paint();
  };
  const parts = refusedParts(sitting.outbox.refused(), data.words, deal);
  pad.sheet.show("refused", "What was refused", parts);
  pad.paint();
}

/** @type {(sitting: Sitting, key: string, record: Kept, how: string) => void} */
function dealWith(sitting, key, record, how) {
  sitting.outbox.drop(key);
  if (how === "let go") return;
  const { reason: _, instead, ...again } = record;
  if (how === "mine" && instead) {
    again.event = onTopOf(record.event, instead);
    again.counts = record.event.undoes ? -1 : 0;
  }
  const { event } = again;
  if (isOnPair(event)) sitting.stand(event, event.undoes ? null : bare(event));
  sitting.outbox.add(again);
  sitting.fetchAfterSending();
}

// The same wish again, as a new event that knows what stands.
/** @type {(event: PadEvent, instead: Standing) => PadEvent} */
function onTopOf(event, { event_id }) {
  const known = event.undoes ? { undoes: event_id } : { replaces: event_id };
  return { ...event, event_id: newId(), ...known };
}

// --- what the lists may ask of the pad ----------------------------------------------------------

/** @type {(pad: Pad) => ListDesk} */
export function makeDesk(pad) {
  const { sitting } = pad;
  const leaveRowInSight = () =>
    pad.root.querySelector(".row.current")?.scrollIntoView({ block: "center" });
  /** @type {(item: Item, done: Standing) => void} */
  const tellLists = (item, done) => {
    for (const list of pad.lists()) list.judged(item, done);
  };
  return {
    words: pad.data.words,
    colours: pad.data.colours,
    // what is on its way first: a list that was asked for too early would show it as open
    get: (path) => sitting.outbox.send().then(() => sitting.get(path)),
    queryOf: (id) => sitting.queryOf(id),
    latest: (item) => sitting.latest(item),
    marking: () => pad.marking,
    announce: (words) => pad.announce(words),
    leave: () => pad.leaveLists(),
    judge: (item, what) => sitting.give(item, what),
    takeBack: (item) => sitting.takeBack(item),
    cannotTell: (item) => {
      askReason(pad, (what) => tellLists(item, sitting.give(item, what)));
      leaveRowInSight();
    },
    note: (item) => {
      const done = sitting.deck.standingOf(item);
      if (!done?.kind) return pad.announce("grade it first, then write a note");
      askNote(pad, done.note ?? "", (note) => {
        tellLists(item, resendWithNote(pad, item, done, note));
      });
      return leaveRowInSight();
    },
  };
}
