// Fills in the sentences that come with a page, in the language its reader has: plurals, numbers and
// days as that language has them, and the names that the team gives things.

import { wordsOf } from "./dom.js";

/** @import { Names, Say, Sentence, Spoken } from "./shapes" */

/** @type {(language: string, sentences: Record<string, Sentence>, names?: Names) => Spoken} */
export function spokenIn(language, sentences, names = { question: [], passage: [] }) {
  const forms = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  const days = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" });
  /** @type {Record<string, string>} */
  const named = {};
  for (const [thing, [one = thing, several = one]] of Object.entries(names)) {
    for (const [key, name] of [
      [thing, one],
      [`${thing}s`, several],
    ]) {
      named[key] = name;
      named[capital(key)] = capital(name);
    }
  }
  /** @type {Say} */
  const say = (key, values = {}) => {
    const sentence = sentences[key] ?? key;
    const template =
      typeof sentence === "string"
        ? sentence
        : (sentence[forms.select(Number(values.n))] ?? sentence.other);
    return template.replace(/\{(\w+)\}/g, (whole, name) => {
      const value = values[name] ?? named[name] ?? whole;
      return typeof value === "number" ? numbers.format(value) : value;
    });
  };
  return {
    language,
    say,
    number: (value) => numbers.format(value),
    day: (date) => days.format(new Date(`${date}T00:00Z`)),
  };
}

/** @type {(word: string) => string} */
export function capital(word) {
  return word.charAt(0).toLocaleUpperCase() + word.slice(1);
}

// Why something could not be fetched.
/** @type {(problem: unknown, say: Say) => string} */
export function reasonWords(problem, say) {
  const name = problem instanceof Error ? problem.name : "";
  const isAway = ["TypeError", "TimeoutError"].includes(name); // how fetch says it
  return isAway ? say("trouble.away") : wordsOf(problem);
}

// Put the words into a component's own HTML, where it names them.
/** @type {(root: ParentNode, spoken: Spoken) => void} */
export function fillIn(root, { language, say }) {
  for (const host of root.querySelectorAll("[data-say]")) {
    host.textContent = say(host.getAttribute("data-say") ?? "");
  }
  for (const [kept, name] of [
    ["data-say-label", "aria-label"],
    ["data-say-hint", "placeholder"],
  ]) {
    for (const host of root.querySelectorAll(`[${kept}]`)) {
      host.setAttribute(name, say(host.getAttribute(kept) ?? ""));
    }
  }
  root.querySelector("[data-language]")?.setAttribute("lang", language);
}
