// The line above the chunk: what is saved, how far it is, who grades, and what went wrong.

import { finderIn } from "../js/dom.js";
import { sendingWords, troubleWords } from "../js/outbox_words.js";
import { overallWords, placeIn, progressWords, teamWords, timeInQuestion } from "./progress.js";
import { fieldWords, ofAll, ofOpening, ofSplit, openingWords } from "./scope.js";

/** @import { PadData } from "./shapes" */
/** @import { GradingSession } from "./session" */

const MOST_CELLS = 24;

export class StatusLine {
  /**
   * @param {ParentNode} root
   * @param {PadData} data
   */
  constructor(root, data) {
    this.find = finderIn(root);
    this.data = data;
    /** @type {string | null} */
    this.listed = null; // the query whose list is open
  }

  /** @type {(session: GradingSession) => void} */
  paint(session) {
    const { outbox, progress, queue, saved } = session;
    const { terms } = this.data;
    const { say } = terms;
    const state = this.find(".state");
    const savedWords = say("status.saved", { n: saved });
    state.textContent = [savedWords, ...sendingWords(outbox, say)].join(", ");
    state.dataset.saved = String(saved);
    state.dataset.state = outbox.waiting().length ? outbox.state : "idle";
    const here = this.queryHere(session);
    const place = placeIn(progress, here, this.listed === null ? queue.skipped() : 0);
    this.write(".progress", progressWords(progress, place, terms, queue.current?.done ?? null));
    const left = timeInQuestion(progress, here, terms);
    this.write(".time .left", left);
    this.write(
      ".time .in-question",
      left && !progress.decision ? terms.say("progress.in_question") : "",
    );
    this.write(".overall", overallWords(progress, here, terms));
    const team = teamWords(progress, terms);
    if (this.find(".overall").title !== team) this.find(".overall").title = team;
    this.paintCells(place);
    this.paintField(progress.looked);
    this.paintSplits();
    this.paintOpenings();
    const { problem } = session;
    const unread = problem ? [say("trouble.no_passages", { reason: problem })] : [];
    this.write(".trouble-words", [...unread, ...troubleWords(outbox, say)].join(" "));
    this.find(".look").hidden = !outbox.refused().length;
    this.find(".trouble").hidden = !this.find(".trouble-words").textContent;
  }

  /** @type {(session: GradingSession) => string | undefined} */
  queryHere({ queue }) {
    return this.listed ?? queue.current?.item.query;
  }

  // One cell for each chunk of the question; where they are very many, a share of them each.
  /** @type {(place: ReturnType<typeof placeIn>) => void} */
  paintCells(place) {
    const host = this.find(".cells");
    const count = Math.min(place?.all ?? 0, MOST_CELLS);
    if (host.children.length !== count) {
      host.replaceChildren(...Array.from({ length: count }, () => document.createElement("i")));
    }
    const all = place?.all ?? 1;
    const done = Math.floor(((place?.done ?? 0) / all) * count);
    const isDone = place === null || place.done === all;
    const at = isDone ? count : Math.floor(((place.at - 1) / all) * count);
    for (const [i, cell] of [...host.children].entries()) {
      const look = i === at ? "now" : i < done ? "full" : "";
      if (cell.className !== look) cell.className = look;
    }
  }

  /** @type {(looked: number) => void} */
  paintField(looked) {
    const { confined, grader, can_change_name, splits, openings, terms } = this.data;
    const { say } = terms;
    this.write(".grader", say("form.grading_as", { name: grader }));
    this.find(".change").hidden = can_change_name === false;
    this.find(".pad").classList.toggle("named", can_change_name === false);
    const boxes = { splits: splits.length > 0, openings: openings.length > 0 };
    const percent = Math.round(100 * looked);
    const looking = looked < 1 ? say("scope.looking", { percent }) : "";
    const only = [fieldWords(confined, boxes, say), looking].filter(Boolean).join(" · ");
    // that somebody keeps to what decides is said by how far it is
    this.find(".confined").hidden = !only && !confined?.until;
    if (!confined) return;
    this.write(".only", only);
    this.find(".only").hidden = !only;
    this.write(".everything", say("scope.all_questions"));
    this.find(".everything").setAttribute("href", ofAll(location.href, confined));
  }

  // What waits stays in the browser's storage, and is sent from the page that comes.
  paintSplits() {
    const { confined, splits, terms } = this.data;
    const box = /** @type {HTMLSelectElement} */ (this.find(".splits"));
    box.hidden = !splits.length;
    if (box.options.length !== splits.length + 1) {
      const offered = splits.map((split) => new Option(split, split));
      box.replaceChildren(new Option(terms.say("scope.all_splits"), ""), ...offered);
      box.onchange = () => location.assign(ofSplit(location.href, box.value));
    }
    box.value = confined?.split ?? "";
  }

  paintOpenings() {
    const { confined, openings, terms } = this.data;
    const { say } = terms;
    /** @type {(opening: [old: string, recut: string]) => string} */
    const named = (opening) => openingWords(opening, say);
    const box = /** @type {HTMLSelectElement} */ (this.find(".openings"));
    box.hidden = !openings.length;
    if (box.options.length !== openings.length + 1) {
      const offered = openings.map(
        (each) => new Option(say("scope.only_opening", { opening: named(each) }), named(each)),
      );
      box.replaceChildren(new Option(say("scope.all_passages"), ""), ...offered);
      box.onchange = () => {
        const chosen = openings.find((each) => named(each) === box.value) ?? null;
        location.assign(ofOpening(location.href, chosen));
      };
    }
    const { old, recut } = confined ?? { old: null, recut: null };
    box.value = old === null || recut === null ? "" : named([old, recut]);
  }

  /** @type {(selector: string, text: string) => void} */
  write(selector, text) {
    const host = this.find(selector);
    if (host.textContent !== text) host.textContent = text;
  }
}
