// What each action does on the pad, under the names of the table of keys. Knows the pad's parts and
// how they are asked; keeps nothing itself.

const MARKS_KEY = "labeler-marks";
const MOST_REASON = 200; // characters, as the server takes them
const MOST_NOTE = 2000;

// An act that takes an entry is about the chunk on screen.
const ACTS = {
  back: (pad) => pad.step(-1),
  ahead: (pad) => pad.step(1),
  undo: (pad) => undoStep(pad),
  cannotTell: (pad, entry) => askReason(pad, (what) => pad.give(entry, what), entry),
  later: (pad, entry) => putOff(pad, entry),
  note: (pad, entry) => {
    askNote(pad, noteOf(entry) ?? "", (note) => keepNote(pad, entry, note), entry);
  },
  guideline: (pad) => showGuideline(pad),
  whole: (pad, entry) => pad.openList(pad.whole, entry.item),
  find: (pad, entry) => pad.openList(pad.finder, entry.item),
  remark: (pad, entry) => askRemark(pad, entry.item.query),
  around: (pad, entry) => showAround(pad, entry),
  marks: (pad) => switchMarks(pad),
  told: (pad, entry) => showTold(pad, entry),
  help: (pad) => showKeys(pad),
};

async function undoStep(pad) {
  const step = await pad.sitting.undo();
  if (step) pad.announce(step.remark ? "taken back" : "undone, grade it again");
  else if (pad.sitting.trail.exhausted) pad.announce("nothing to undo");
  else pad.announce("your earlier grades cannot be fetched just now");
  pad.paint();
}

function putOff(pad, entry) {
  if (entry.done) pad.announce("this chunk is graded already");
  else if (!pad.sitting.deck.putOff()) pad.announce("this is the only chunk left");
  else pad.announce("put off until later");
  pad.sitting.shownAt = performance.now();
  pad.sitting.fetchMore();
  pad.paint();
}

function askReason(pad, give, about = null) {
  const say = (reason) => give({ kind: "cannot_tell", reason: reason || null });
  const choices = REASONS.map((words, i) => ({ key: String(i + 1), words, act: () => say(words) }));
  choices.push({ key: "x", words: "no reason", act: say });
  const field = { label: "Another reason", help: "then Enter", max: MOST_REASON, act: say };
  pad.tray.ask({ title: "You can’t tell, because", choices, field, enter: say, about });
  pad.paint();
}

function askNote(pad, value, keep, about = null) {
  const field = { label: "Note", help: "Enter keeps it", max: MOST_NOTE, act: keep, value };
  pad.tray.ask({ title: "A note on this chunk", choices: [], field, about });
  pad.paint();
}

// A note on a graded chunk is sent at once, with the grade it has.
function keepNote(pad, entry, note) {
  if (!entry.done) pad.sitting.draft(entry, note || null);
  else resendWithNote(pad, entry.item, entry.done, note);
  pad.announce(note ? "note kept" : "no note");
  pad.paint();
}

function resendWithNote(pad, item, done, note) {
  if ((done.note ?? "") === note) return done;
  const { kind, grade, reason } = done;
  return pad.sitting.give(item, { kind, grade, reason, note: note || null });
}

function askRemark(pad, queryId) {
  const query = pad.sitting.queryOf(queryId);
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

function showGuideline(pad) {
  const item = pad.sitting.deck.current?.item;
  const query = item && pad.sitting.queryOf(item.query);
  pad.sheet.show("guideline", "How to grade", guidelineParts(pad.data, query));
  pad.paint();
}

function showKeys(pad) {
  pad.sheet.show("help", "Keys", keysParts(pad.sitting.tally.agreement));
  pad.paint();
}

async function showAround(pad, { item }) {
  if (pad.card.around) return pad.card.paintAround(null);
  pad.card.paintAround("Fetching …");
  const path = `/api/neighbours?chunk=${encodeURIComponent(item.chunk)}`;
  const beside = await pad.sitting.get(path).catch((problem) => `Not fetched: ${problem.message}.`);
  if (pad.card.item === item && pad.card.around) pad.card.paintAround(beside);
}

function switchMarks(pad) {
  pad.marking = !pad.marking;
  remember(MARKS_KEY, pad.marking);
  pad.find('.actions [data-act="marks"]').setAttribute("aria-pressed", String(pad.marking));
  pad.announce(pad.marking ? "words are marked" : "words are not marked");
  for (const list of pad.lists()) list.repaint();
  pad.paint();
}

// What others gave is shown only after one's own grade, and makes later grades no longer blind.
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
    pad.announce(`not fetched: ${problem.message}`);
  }
  pad.paint();
}

// --- what the server refused --------------------------------------------------------------------

function showRefused(pad) {
  const { sitting, data } = pad;
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

function dealWith(sitting, key, record, how) {
  sitting.outbox.drop(key);
  if (how === "let go") return;
  const { reason, instead, ...again } = record;
  if (how === "mine") {
    again.event = onTopOf(record.event, instead);
    again.counts = record.event.undoes ? -1 : 0;
  }
  const { event } = again;
  if (event.chunk) sitting.stand(event, event.undoes ? null : bare(event));
  sitting.outbox.add(again);
  sitting.fetchAfterSending();
}

// The same wish again, as a new event that knows what stands.
function onTopOf(event, { event_id }) {
  const known = event.undoes ? { undoes: event_id } : { replaces: event_id };
  return { ...event, event_id: newId(), ...known };
}

// --- what the lists may ask of the pad ----------------------------------------------------------

function makeDesk(pad) {
  const { sitting } = pad;
  const leaveRowInSight = () => pad.find(".row.current")?.scrollIntoView({ block: "center" });
  const tellLists = (item, done) => pad.lists().forEach((list) => list.judged(item, done));
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
      const keep = (note) => tellLists(item, resendWithNote(pad, item, done, note));
      askNote(pad, done.note ?? "", keep);
      return leaveRowInSight();
    },
  };
}
