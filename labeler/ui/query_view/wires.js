// The lines between the places of equal chunks in two ranked lists: one picture, for the eye alone.

/** @import { WiresData } from "./shapes" */

const SVG = "http://www.w3.org/2000/svg";

/** @type {(component: { data: WiresData, parentElement: HTMLElement | ShadowRoot }) => void} */
export default function show({ data, parentElement }) {
  const picture = /** @type {SVGElement} */ (parentElement.querySelector(".wires"));
  picture.setAttribute("viewBox", `0 0 100 ${data.height}`);
  picture.style.height = `${data.height}px`;
  picture.replaceChildren(...data.wires.map(path));
}

/** @type {(wire: WiresData["wires"][number]) => SVGElement} */
function path({ y_a, y_b, classes, share }) {
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("class", classes);
  line.setAttribute("d", `M0 ${y_a} C42 ${y_a} 58 ${y_b} 100 ${y_b}`);
  line.style.setProperty("--share", String(share));
  return line;
}
