// Small hands the whole pad uses: elements made from text, the names of a pair, careful clicks.
// Keeps no state.

function element(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

// A button with the key that does the same; `key` may be empty.
function keyButton(key, words, act, className = "link") {
  const button = element("button", "", className);
  button.type = "button";
  if (key) button.append(element("kbd", key), " ");
  button.append(element("span", words));
  onSingleClick(button, act);
  return button;
}

function namesOf(item) {
  return { query: item.query, chunk: item.chunk };
}

function pairOf(item) {
  return JSON.stringify([item.query, item.chunk]);
}

// The second click of a double click would hit a chunk that nobody has read.
function onSingleClick(button, act) {
  button.addEventListener("click", (event) => event.detail > 1 || act());
}

function isEditable(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

// What the browser remembers beside the grades; a browser without room just forgets it.
function remembered(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function remember(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // no room: it is a convenience, the grades have keys of their own
  }
}
