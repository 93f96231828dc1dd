// What both pictures share. Text only ever enters the page as text nodes.

function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function cell(sign, colours) {
  if (sign === "·" || sign === null) {
    return make("span", { className: "cell hole", textContent: "·" });
  }
  const element = make("span", { className: `cell g${sign}`, textContent: String(sign) });
  element.style.background = colours[Number(sign)];
  return element;
}

function sideName(data, side) {
  const element = make("span", { className: `name side-${side}`, title: data[side] });
  element.textContent = `${side.toUpperCase()} ${data[side]}`;
  element.style.setProperty("--side", data[`colour_${side}`]);
  return element;
}
