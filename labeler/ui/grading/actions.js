// What each action does on the pad, under the names of the table of keys.

import { joined, MOST_PASSAGES } from "../js/passages.js";
import { againOf, refusedParts } from "../js/refused.js";
import { remember, remembered } from "../js/storage.js";
import { reasonWords } from "../js/words.js";
import { toldWords } from "./card.js";
import { MOST_NOTE } from "./drafts.js";
import { isJudged } from "./history.js";
import { guidelineParts, keysParts } from "./overlay.js";
import { bare, isOnPair } from "./session.js";
import { eventWords, givenWords, reasonsOf, remarkWords } from "./status.js";
import { passagesBefore } from "./transfer_hint.js";

/** @import { Pad } from "./pad" */
/** @import { Deal } from "../js/refused" */
/**
 * @import {
 *   AnyStep, Entry, Item, Kept, ListDesk, PadEvent, Question, Said, Standing, Terms
 * } from "./shapes"
 */
/** @import { GradingSession } from "./session" */

const MARKS_KEY = "labeler-marks";
const MOST_REASON = 200; // characters, as the server takes them

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
  redo: anyTime((pad) => redoStep(pad)),
  cannotTell: onChunk((pad, entry) => askReason(pad, (what) => pad.give(entry, what), entry)),
  later: onChunk((pad, entry) => putOff(pad, entry)),
  note: onChunk((pad, entry) => askNote(pad, entry.item, entry)),
  guideline: anyTime((pad, entry) => showGuideline(pad, entry)),
  whole: onChunk((pad, { item }) => pad.openList(pad.whole, item.query, item)),
  find: onChunk((pad, { item }) => pad.openList(pad.finder, item.query)),
  mine: anyTime((pad) => pad.openList(pad.mine, "")),
  remark: onChunk((pad, { item }) => askRemark(pad, item.query)),
  around: onChunk((pad, entry) => showAround(pad, entry)),
  evidence: anyTime((pad) => markEvidence(pad)),
  before: onChunk((pad, entry) => takeBefore(pad, entry)),
  marks: anyTime((pad) => switchMarks(pad)),
  told: onChunk((pad, entry) => showTold(pad, entry)),
  help: anyTime((pad, entry) => showKeys(pad, entry)),
  name: anyTime((pad) => askName(pad)),
};

/** @type {(otherwise: boolean) => boolean} */
export function rememberedMarking(otherwise) {
  return remembered(MARKS_KEY, otherwise);
}

// --- back and forth -----------------------------------------------------------------------------

/** @type {(pad: Pad) => Promise<void>} */
async function undoStep(pad) {
  const { say } = pad.data.terms;
  const step = await pad.session.undo();
  if (step) {
    const key = isJudged(step) ? "did.undone" : "did.undone_remark";
    pad.say(say(key, { step: stepWords(step, pad.data.terms) }));
  } else if (pad.session.history.exhausted) pad.say(say("did.nothing_to_undo"));
  else pad.say(say("did.not_fetched"));
  pad.paint();
}

/** @type {(pad: Pad) => void} */
function redoStep(pad) {
  const { terms } = pad.data;
  const step = pad.session.redo();
  if (!step) return pad.say(terms.say("did.nothing_to_redo"));
  pad.say(terms.say("did.redone", { step: stepWords(step, terms) }));
  if (!pad.list()) pad.session.queue.goToNextOpen();
  pad.session.lookAnew();
  pad.session.fetchMore();
  return pad.paint();
}

/** @type {(step: AnyStep, terms: Terms) => string} */
function stepWords(step, terms) {
  return isJudged(step) ? givenWords(step, terms) : remarkWords(step.remark, terms);
}

/** @type {(pad: Pad, entry: Entry) => void} */
function putOff(pad, entry) {
  const { say } = pad.data.terms;
  if (entry.done) pad.say(say("did.graded_already"));
  else pad.say(say(pad.session.queue.putOff() ? "did.later" : "did.only_one"));
  pad.session.lookAnew();
  pad.session.fetchMore();
  pad.paint();
}

// --- what is asked in the panel ------------------------------------------------------------------

/** @type {(pad: Pad, give: (what: Partial<Said>) => void, about?: Entry | null) => void} */
function askReason(pad, give, about = null) {
  const { terms } = pad.data;
  const tell = (/** @type {string} */ reason) =>
    give({ kind: "cannot_tell", reason: reason || null });
  /** @type {Question["choices"]} */
  const choices = reasonsOf(terms).map((words, i) => {
    return { key: String(i + 1), words, act: () => tell(words) };
  });
  choices.push({ key: "x", words: terms.say("reason.none"), act: tell });
  const [label, help, ok] = ["reason.other", "reason.enter", "reason.ok"].map((key) =>
    terms.say(key),
  );
  const field = { label, help, ok, max: MOST_REASON, act: tell };
  pad.panel.ask({ title: terms.say("reason.title"), choices, field, enter: tell, about });
  pad.paint();
}

// Every letter is kept at once, so that neither another action nor a reload loses any.
/** @type {(pad: Pad, item: Item, about: Entry | null, then?: () => void) => void} */
function askNote(pad, item, about, then = () => {}) {
  const { drafts, queue } = pad.session;
  const { say } = pad.data.terms;
  const draft = drafts.of(item);
  const before = queue.standingOf(item)?.note ?? "";
  const field = {
    label: say("note.label"),
    help: say("note.help"),
    touchHelp: say("note.write"),
    max: MOST_NOTE,
    value: draft ?? before,
    save: say("note.save"),
    act: (/** @type {string} */ note) => {
      if (note || before) drafts.keep(item, note);
      else drafts.drop(item);
      pad.session.sendDraft(item);
      then();
      pad.sayOnceKept(say(note ? "note.kept" : "note.none"));
      pad.paint();
    },
    typed: (/** @type {string} */ text) => drafts.keep(item, text),
    dropped: () => {
      if (draft === null) drafts.drop(item);
      else drafts.keep(item, draft);
    },
  };
  pad.panel.ask({
    title: say("note.title"),
    choices: [],
    field,
    about,
  });
  pad.paint();
}

/** @type {(pad: Pad, queryId: string) => void} */
function askRemark(pad, queryId) {
  const { terms } = pad.data;
  const { say } = terms;
  const query = pad.session.queryOf(queryId);
  /** @type {(kind: string) => (note: string) => void} */
  const tell = (kind) => (note) => {
    pad.session.remarks.say(queryId, kind, note || null);
    pad.say(say("remark.said", { remark: remarkWords(kind, terms) }));
    pad.paint();
  };
  const choices = ["unanswered", "unclear"].map((kind, i) => {
    return { key: String(i + 1), words: remarkWords(kind, terms), act: tell(kind) };
  });
  if (query.remark) {
    choices.push({ key: "3", words: say("remark.withdraw"), act: tell("withdraw") });
  }
  const said = query.remark
    ? say("remark.said", { remark: remarkWords(query.remark, terms) })
    : say("remark.about");
  const value = query.remark_note ?? "";
  const field = { label: say("remark.note"), max: MOST_NOTE, value };
  pad.panel.ask({ title: said, choices, field });
  pad.paint();
}

// --- what is shown ------------------------------------------------------------------------------

/** @type {(pad: Pad, entry: Entry | null) => void} */
function showGuideline(pad, entry) {
  const query = entry && pad.queryOf(entry.item.query);
  const parts = guidelineParts(pad.data, query, () => pad.practise());
  pad.overlay.show("guideline", pad.data.terms.say("card.guideline"), parts);
  pad.paint();
}

/** @type {(pad: Pad, entry: Entry | null) => void} */
function showKeys(pad, entry) {
  const { terms } = pad.data;
  const parts = keysParts(terms, pad.session.progress.agreement, Boolean(entry?.item.before));
  pad.overlay.show("help", terms.say("keys.title"), parts);
  pad.paint();
}

/** @type {(pad: Pad, entry: Entry) => Promise<void>} */
async function showAround(pad, { item }) {
  const { say } = pad.data.terms;
  const isShown = pad.card.around;
  pad.bar.press("around", !isShown);
  if (isShown) return pad.card.paintAround(null);
  pad.card.paintAround(say("trouble.fetching"));
  pad.layers.sync();
  const path = `/api/neighbours?chunk=${encodeURIComponent(item.chunk)}`;
  const beside = await pad.session
    .get(path)
    .catch((problem) => say("trouble.not_fetched", { reason: reasonWords(problem, say) }));
  if (pad.card.item === item && pad.card.around) pad.card.paintAround(beside);
}

/** @type {(pad: Pad) => void} */
function askName(pad) {
  pad.names.show(true);
  pad.layers.sync();
}

/** @type {(pad: Pad) => void} */
function markEvidence(pad) {
  if (pad.markable) pad.marker.toggle();
  else pad.say(pad.data.terms.say("did.no_passage"));
  pad.layers.sync();
}

// The grade that is likely, with what was marked before as its evidence; without one the marks alone.
/** @type {(pad: Pad, entry: Entry) => unknown} */
function takeBefore(pad, entry) {
  const { before } = entry.item;
  const { say } = pad.data.terms;
  if (!before) return pad.say(say("before.nothing"));
  const held = pad.marker.passagesOf(entry);
  const all = passagesBefore(before).reduce((found, each) => joined(found, each), held);
  const marked = all.length > MOST_PASSAGES ? held : all;
  const { likely: grade } = before;
  if (grade !== null) {
    const evidence = grade ? marked : held;
    return pad.give(entry, { kind: "grade", grade, ...(evidence.length && { evidence }) });
  }
  if (marked.length > held.length) return pad.keepMarked(entry, marked);
  return pad.say(say("before.no_grade"));
}

/** @type {(pad: Pad) => void} */
function switchMarks(pad) {
  pad.marking = !pad.marking;
  remember(MARKS_KEY, pad.marking);
  pad.bar.press("marks", pad.marking);
  pad.say(pad.data.terms.say(pad.marking ? "did.highlighted" : "did.not_highlighted"));
  for (const list of pad.lists()) list.repaint();
  pad.paint();
}

// What others gave is shown only after one's own grade, and makes later grades no longer blind.
/** @type {(pad: Pad, entry: Entry) => Promise<void>} */
async function showTold(pad, entry) {
  const { say } = pad.data.terms;
  if (!entry.done) return pad.say(say("did.grade_first"));
  await pad.session.outbox.send();
  const { query, chunk } = entry.item;
  const pair = `query=${encodeURIComponent(query)}&chunk=${encodeURIComponent(chunk)}`;
  try {
    const told = await pad.session.get(`/api/told?${pair}`);
    pad.session.tell(entry.item);
    entry.told = told;
    pad.announce(toldWords(told, pad.data.terms));
  } catch (problem) {
    pad.say(say("trouble.not_fetched", { reason: reasonWords(problem, say) }));
  }
  pad.paint();
}

// --- what the server refused --------------------------------------------------------------------

/** @type {(pad: Pad) => void} */
export function showRefused(pad) {
  const { session, data } = pad;
  /** @type {Deal} */
  const deal = (key, record, how) => {
    dealWith(session, key, record, how);
    if (session.outbox.refused().length) showRefused(pad);
    else pad.overlay.close();
    pad.paint();
  };
  const { terms } = data;
  /** @type {(event: PadEvent) => string} */
  const said = (event) => eventWords(event, terms);
  /** @type {(stands: Standing) => string} */
  const given = (stands) => givenWords(stands, terms);
  const parts = refusedParts(session.outbox.refused(), { say: terms.say, said, given }, deal);
  pad.overlay.show("refused", terms.say("refused.title"), parts);
  pad.paint();
}

/** @type {(session: GradingSession, key: string, record: Kept, how: string) => void} */
function dealWith(session, key, record, how) {
  session.outbox.drop(key);
  if (how === "let go") return;
  const again = againOf(record, how);
  const { event } = again;
  if (isOnPair(event)) session.stand(event, event.undoes ? null : bare(event));
  session.outbox.add(again);
  session.fetchAfterSending();
}

// --- what the lists may ask of the pad ----------------------------------------------------------

/** @type {(pad: Pad) => ListDesk} */
export function makeDesk(pad) {
  const { session } = pad;
  const leaveRowInSight = () =>
    pad.root.querySelector(".row.current")?.scrollIntoView({ block: "center" });
  return {
    terms: pad.data.terms,
    // what is on its way first: a list that was asked for too early would show it as open
    get: (path) => session.outbox.send().then(() => session.get(path)),
    queryOf: (id) => session.queryOf(id),
    later: () => session.queue.later(),
    latest: (item) => session.latest(item),
    draftOf: (item) => session.drafts.of(item),
    marking: () => pad.marking,
    announce: (words) => pad.say(words),
    aimed: (event, act) => pad.bar.aimedAmong(event, act),
    moved: () => pad.listMoved(),
    leave: () => pad.leaveLists(),
    nextQuestion: () => pad.nextQuestion(),
    passagesOf: (row) => pad.marker.passagesOf(row),
    givenWith: (row) => pad.marker.given(row),
    mark: () => pad.act("evidence"),
    painted: (row) => pad.marker.paint(row, true),
    judge: (item, what) => {
      pad.say(pad.gave(what));
      pad.bar.lookAnew(); // the rows move
      return session.give(item, { ...what, screen: pad.screen(item) });
    },
    takeBack: (item) => session.takeBack(item),
    cannotTell: (item) => {
      askReason(pad, (what) => {
        pad.tellLists(item, session.give(item, { ...what, screen: pad.screen(item) }));
      });
      leaveRowInSight();
    },
    note: (item) => {
      askNote(pad, item, null, () => pad.tellLists(item, session.queue.standingOf(item)));
      leaveRowInSight();
    },
  };
}
