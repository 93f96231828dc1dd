// Draws the query and the chunk on screen, with what was given and what was asked about it.

import {
  element,
  finderIn,
  focusedBeside,
  keyButton,
  reachIfScrolled,
  showWords,
} from "../js/dom.js";
import { marksOf } from "../js/text_marks.js";
import { paintMarked, paintText } from "../js/text_paint.js";
import { capital } from "../js/words.js";
import { noteWords } from "./drafts.js";
import { offerMore } from "./read_on.js";
import { MoreBelow, SeenText } from "./reading.js";
import { copiesWords, givenWords, remarkWords, undoneWords } from "./status.js";
import { TransferHint } from "./transfer_hint.js";

/** @import { About, Entry, Item, Neighbours, Say, Terms, Told } from "./shapes" */

const PHONE = 34 * 16; // pixels, as in the style

export class Card {
  /**
   * @param {ParentNode} root
   * @param {{
   *   terms: Terms,
   *   guideline: string,
   *   act: (name: string) => void,
   *   take: (event: MouseEvent) => void,
   *   get: (path: string) => Promise<any>,
   *   more: () => void,
   * }} what
   */
  constructor(root, { terms, guideline, act, take, get, more }) {
    this.get = get;
    this.more = more; // more of the text has come
    this.find = finderIn(root);
    this.terms = terms;
    this.guideline = guideline;
    this.around = false;
    this.marking = true;
    this.queryShown = "";
    /** @type {Item | null} */
    this.item = null;
    const [question, passage] = [terms.question[0], terms.passage[0]];
    this.find(".one .query").setAttribute("aria-label", capital(question));
    const { say } = terms;
    this.find(".chunk").setAttribute("aria-label", say("card.to_grade"));
    this.find(".query .label").textContent = question;
    this.find(".chunk .label").textContent = passage;
    this.tell = keyButton("T", say("card.tell"), () => act("told"));
    const evidence = keyButton("E", say("keys.evidence"), () => act("evidence"));
    this.find(".tell").replaceChildren(this.tell, " ", evidence);
    this.find(".more-help").onclick = () => act("guideline");
    this.find(".helps").onclick = () => act("guideline");
    this.find(".more-query").onclick = () => this.openQuery(true);
    this.questions = 0; // how many were shown: the guideline is beside the first
    this.earlier = new TransferHint(this.find, terms, take);
    this.below = new MoreBelow(this.find(".chunk"), this.find(".below"), say);
    this.seen = new SeenText(this.find(".chunk"), () => this.find(".chunk .text"));
    this.sizes = new ResizeObserver(() => this.paintWhatFits());
    for (const each of [".one", ".query-text", ".helps"]) this.sizes.observe(this.find(each));
  }

  dispose() {
    this.below.dispose();
    this.seen.dispose();
    this.sizes.disconnect();
  }

  // Show a chunk; one that is new on screen starts at its top, with nothing around it. Returns
  // whether it is new, whether its text was painted anew, and whether its query is new.
  /** @type {(entry: Entry, query: About, draft: string | null, marking: boolean) => { isNew: boolean, isAnew: boolean, isNewQuery: boolean }} */
  show(entry, query, draft, marking) {
    const isNew = entry.item !== this.item;
    const isNewQuery = entry.item.query !== this.item?.query;
    this.showQuery(query);
    const isAnew = isNew || marking !== this.marking;
    if (isAnew) this.paintText(entry.item, query, marking);
    if (isNew) this.seen.begin();
    if (isNew) this.paintAround(null);
    if (isNew) this.paintNews(isNewQuery, query);
    this.item = entry.item;
    this.marking = marking;
    this.paintGiven(entry, draft);
    this.paintTold(entry);
    if (isNew) this.find(".chunk").scrollTop = 0;
    if (isNew) this.find(".chunk").removeAttribute("data-to-end");
    if (isNew) this.earlier.show(entry.item);
    else if (isAnew) this.earlier.mark(entry.item);
    return { isNew, isAnew, isNewQuery };
  }

  // Show a query alone, beside a list of its chunks, or with the chunk on screen.
  /** @type {(query: About) => void} */
  showQuery(query) {
    const { text, guideline, reference, remark } = query;
    const shown = JSON.stringify([text, guideline, reference, remark]);
    if (shown === this.queryShown) return;
    if (this.find(".query-text").textContent !== text) this.questions += 1;
    this.queryShown = shown;
    this.find(".query-text").textContent = text;
    this.openQuery(false);
    this.help(".about", guideline);
    this.help(".reference", reference);
    this.help(".guideline", this.questions > 1 ? "" : this.guideline);
    const said = remark && remarkWords(remark, this.terms);
    showWords(
      this.find(".query .remark"),
      said && this.terms.say("event.remark", { remark: said }),
    );
    this.paintWhatFits();
  }

  /** @type {(selector: string, words: string | null | undefined) => void} */
  help(selector, words) {
    this.find(selector).hidden = !words;
    this.find(`${selector} dd`).textContent = words ?? "";
  }

  /** @type {(isOpen: boolean) => void} */
  openQuery(isOpen) {
    this.find(".query-text").classList.toggle("open", isOpen);
    this.paintWhatFits();
  }

  // What does not fit above the chunk can be scrolled, or has a button that shows it whole.
  paintWhatFits() {
    const text = this.find(".query-text");
    const isOpen = text.classList.contains("open");
    this.find(".more-query").hidden = isOpen || text.scrollHeight <= text.clientHeight + 2;
    if (isOpen) reachIfScrolled(text);
    else text.removeAttribute("tabindex");
    this.placeHelps();
    const helps = this.find(".helps");
    const isCut = helps.scrollHeight > helps.clientHeight + 2;
    const isFolded = !isCut && this.questions > 1 && Boolean(this.guideline);
    const more = this.find(".more-help");
    more.hidden = !isCut && !isFolded;
    more.classList.toggle("folded", isFolded);
    more.textContent = this.terms.say(isFolded ? "card.guideline" : "card.more");
  }

  // On a phone what helps is read in one go with the chunk.
  placeHelps() {
    const { clientWidth } = this.find(".pad");
    if (!clientWidth) return;
    const helps = this.find(".helps");
    const isNarrow = clientWidth <= PHONE && !this.find(".one").classList.contains("listing");
    const place = this.find(isNarrow ? ".chunk" : ".query");
    if (helps.parentElement === place) return;
    if (isNarrow) place.prepend(helps);
    else place.insertBefore(helps, this.find(".more-help"));
  }

  // A query that is new is announced where the eyes are: at the chunk, and at the query.
  /** @type {(isNewQuery: boolean, query: About) => void} */
  paintNews(isNewQuery, { left }) {
    const isNews = isNewQuery && left > 0;
    showWords(this.find(".chunk .news"), isNews && this.terms.say("card.news", { n: left }));
    this.find(".one").classList.toggle("fresh", isNewQuery);
  }

  /** @type {(item: Item, query: About, marking: boolean) => void} */
  paintText(item, query, marking) {
    const marks = marksOf(query);
    const title = this.find(".title");
    title.hidden = !item.title;
    if (marking) paintMarked(title, item.title ?? "", marks);
    else title.textContent = item.title ?? "";
    const { document } = item;
    const { say } = this.terms;
    showWords(this.find(".from"), document && say("card.from", { document }));
    this.find(".stale").hidden = !item.stale;
    showWords(this.find(".copies"), copiesWords(item.copies, this.terms));
    const host = this.find(".chunk .text");
    /** @type {(place: HTMLElement, text: string) => void} */
    const paint = (place, text) => paintText(place, text, marks, { marking, say });
    const hadFocus = host.contains(focusedBeside(host));
    paint(host, item.text);
    offerMore(host, item, { get: this.get, paint, say, painted: () => this.readFurther(item) });
    if (hadFocus) this.find(".chunk").focus({ preventScroll: true }); // what had it is gone
  }

  /** @type {(item: Item) => void} */
  readFurther(item) {
    this.earlier.lookFor(item);
    this.more();
  }

  // `beside` is {before, after}, words that say why there is nothing to show, or null.
  /** @type {(beside: Neighbours | string | null) => void} */
  paintAround(beside) {
    this.around = beside !== null;
    for (const place of /** @type {const} */ (["before", "after"])) {
      const host = this.find(`.beside.${place}`);
      host.hidden = beside === null;
      host.replaceChildren();
      if (beside !== null) fillBeside(host, beside, place, this.terms.say);
    }
  }

  /** @type {(entry: Entry, draft: string | null) => void} */
  paintGiven({ done, undone, later }, draft) {
    const { say } = this.terms;
    showWords(this.find(".again"), undone && undoneWords(undone, this.terms));
    showWords(
      this.find(".given"),
      done && say("card.you_gave", { grade: givenWords(done, this.terms, " · ") }),
    );
    showWords(this.find(".put-off"), later && !done && say("card.later"));
    showWords(this.find(".chunk .note"), noteWords(draft, done, this.terms));
  }

  /** @type {(entry: Entry) => void} */
  paintTold({ done, told }) {
    this.find(".tell").hidden = !done;
    this.tell.hidden = Boolean(told);
    showWords(this.find(".told"), done && told && toldWords(told, this.terms));
  }
}

/** @type {(host: HTMLElement, beside: Neighbours | string, place: "before" | "after", say: Say) => void} */
function fillBeside(host, beside, place, say) {
  const chunk = typeof beside === "string" ? null : beside[place];
  if (!chunk) {
    const nothing = say(place === "before" ? "card.beginning" : "card.end");
    host.append(element("p", typeof beside === "string" ? beside : nothing, "quiet"));
    return;
  }
  if (chunk.title) host.append(element("p", chunk.title, "beside-title"));
  const text = element("div", "", "beside-text");
  text.dir = "auto";
  const unmarked = { marking: false, say };
  paintText(text, chunk.text ?? say("card.no_text"), marksOf({ text: "" }), unmarked);
  host.append(text);
}

// What the others gave and who found it, for somebody who has judged the pair already.
/** @type {(told: Told, terms: Terms) => string} */
export function toldWords(told, terms) {
  const { say } = terms;
  const others = told.others.map((each) =>
    say("given.by_others", {
      n: each.count,
      grade: givenWords({ reason: null, ...each }, terms),
    }),
  );
  const { chunk, document, found_by } = told;
  return [
    document ? say("given.where_of", { chunk, document }) : say("given.where", { chunk }),
    found_by ? say("count.runs", { n: found_by }) : say("given.by_no_run"),
    others.length ? others.join(", ") : say("given.nobody_else"),
  ].join(" · ");
}
