// What both pictures share. Text only ever enters the page as text nodes.

/** @import { Look, Side } from "./shapes" */

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
    return make("span", { className: "cell hole", textContent: "·" });
  }
  const element = make("span", { className: `cell g${sign}`, textContent: String(sign) });
  element.style.background = colours[Number(sign)];
  return element;
}

/** @type {(data: Look, side: Side) => HTMLElement} */
export function sideName(data, side) {
  const element = make("span", { className: `name side-${side}`, title: data[side] });
  element.textContent = `${side.toUpperCase()} ${data[side]}`;
  element.style.setProperty("--side", data[`colour_${side}`]);
  return element;
}
