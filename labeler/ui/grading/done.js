// What somebody sees who has nothing left to grade: what they did, and that they may go.

import { element, finderIn } from "../js/dom.js";
import { timeWords } from "./progress.js";
import { doneHelp, doneTitle } from "./status.js";

/** @import { OwnAnswer, PadData } from "./shapes" */
/** @import { GradingSession } from "./session" */

export class Done {
  /**
   * @param {ParentNode} root
   * @param {PadData} data
   */
  constructor(root, data) {
    this.find = finderIn(root);
    this.data = data;
    /** @type {OwnAnswer | null} */
    this.work = null;
    this.workOf = -1; // how many events this browser had sent when it was asked for
  }

  // Say it; what was done is asked for once it is to be seen.
  /** @type {(session: GradingSession, isShown: boolean) => void} */
  paint(session, isShown) {
    const { progress, saved, history, outbox } = session;
    const { confined, terms, verdict_url, load_url, grader } = this.data;
    const verdict = this.find(".verdict");
    verdict.hidden = !verdict_url;
    if (verdict_url) verdict.setAttribute("href", verdict_url);
    const load = this.find(".load-texts");
    load.hidden = !load_url || Boolean(progress.open) || !progress.withoutText;
    if (load_url) load.setAttribute("href", load_url);
    const waiting = outbox.waiting().length;
    this.write("h2", doneTitle(progress, saved, confined, terms, grader));
    this.write(".more-to-come", doneHelp(progress, this.data, saved, waiting));
    this.find(".undo-last").hidden = !history.steps.length;
    this.find(".look-through").hidden = !saved;
    const isFetching = Boolean(progress.open) && !progress.decision?.settled;
    this.find(".done .did").hidden = this.find(".given-all").hidden = isFetching || !this.work;
    const sent = outbox.counted.size; // a grade that was changed counts, too
    if (isShown && saved && !waiting && this.workOf !== sent) this.ask(session, sent);
  }

  /** @type {(session: GradingSession, sent: number) => Promise<void>} */
  async ask(session, sent) {
    this.workOf = sent;
    try {
      const work = await session.get("/api/own?kind=all");
      if (this.workOf !== sent) return; // more was sent meanwhile, and asked for
      this.work = work;
    } catch {
      this.workOf = -1; // it is said without
      return;
    }
    if (this.work) this.paintWork(this.work);
    session.hooks.counted();
  }

  /** @type {(work: OwnAnswer) => void} */
  paintWork({ counts, of_queries, spent_ms }) {
    const { words, say, number } = this.data.terms;
    const also = [
      counts.cannot_tell && say("done.cannot_tell", { n: counts.cannot_tell }),
      counts.note && say("count.notes", { n: counts.note }),
    ].filter(Boolean);
    const what = {
      passages_in_all: say("count.passages", { n: counts.all - counts.cannot_tell }),
      questions_in_all: say("count.questions", { n: of_queries }),
    };
    const isTimed = spent_ms >= 30000;
    const did = isTimed
      ? say("done.did_in", { ...what, time: timeWords(spent_ms, say) })
      : say("done.did", what);
    this.write(".did", `${[did, ...also].join("; ")}.`);
    const most = Math.max(1, ...words.map((_, grade) => counts[String(grade)]));
    const rows = words.map((word, grade) => {
      const row = element("li");
      const bar = element("span", "", "share");
      bar.style.setProperty("--share", String(counts[String(grade)] / most));
      const badge = element("span", grade, "digit");
      const name = element("span", word, "word");
      const count = element("span", number(counts[String(grade)]), "count");
      row.style.setProperty("--grade", `var(--grade-${grade}, ${this.data.terms.colours[grade]})`);
      row.style.setProperty("--on-grade", `var(--on-grade-${grade}, #10202e)`);
      row.append(badge, name, bar, count);
      return row;
    });
    this.find(".given-all").replaceChildren(...rows.reverse());
  }

  /** @type {(selector: string, text: string) => void} */
  write(selector, text) {
    const host = this.find(`.done ${selector}`);
    if (host.textContent !== text) host.textContent = text;
  }
}
