// What both pictures share. Text only ever enters the page as text nodes.

/** @import { Side } from "./shapes" */

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Partial<HTMLElementTagNameMap[Name]>} properties
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** @type {(sign: string | number | null, colours: string[]) => HTMLElement} */
export function cell(sign, colours) {
  if (sign === "·" || sign === null) {
    return make("span", { className: "cell unjudged", role: "img", ariaLabel: "unjudged" });
  }
  const element = make("span", { className: `cell g${sign}`, textContent: String(sign) });
  element.style.background = colours[Number(sign)];
  return element;
}

// A click of a key, or of a mouse that has not just marked text; what a key had marked is no matter.
/** @type {(event: MouseEvent) => boolean} */
export function isMeant(event) {
  return event.detail === 0 || !String(getSelection());
}

/** @type {(side: Side) => HTMLElement} */
export function sideName(side) {
  return make("span", { className: "name", title: side.whole }, signOf(side), side.name);
}

/** @type {(side: Side) => HTMLElement} */
export function signOf(side) {
  const sign = make("span", { className: "sign", textContent: side.sign, ariaHidden: "true" });
  sign.style.color = side.colour;
  return sign;
}
