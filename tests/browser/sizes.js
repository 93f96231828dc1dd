() => {
  const { documentElement: root, body } = document;
  const main = document.querySelector('[data-testid="stMain"]');
  const found = [...document.querySelectorAll('[data-testid="stException"]')].map(
    each => `exception: ${each.textContent.slice(0, 200)}`,
  );
  if (Math.max(root.scrollWidth, body.scrollWidth) > innerWidth) found.push(`page of ${root.scrollWidth} pixels`);
  if (main && main.scrollWidth > main.clientWidth) found.push(`main part of ${main.scrollWidth} pixels`);
  if (window.ran !== undefined) found.push(`a script of the data ran: ${window.ran}`);

  const above = each => each.parentElement ?? each.getRootNode().host ?? null;
  const line = each => { const all = []; for (let at = each; at; at = above(at)) all.push(at); return all; };
  const called = each => line(each).slice(0, 3)
    .map(at => [at.localName, ...at.classList].slice(0, 3).join(".")).join(" < ");
  const words = text => text.trim().slice(0, 40);
  const all = [];
  const collect = inside => {
    for (const each of inside.querySelectorAll("*")) {
      all.push(each);
      if (each.shadowRoot) collect(each.shadowRoot);
    }
  };
  collect(document);

  // What is only for screen readers, is drawn on a canvas as well, or is half a pixel too large.
  const isSeen = each => each.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && !line(each).some(at => at.dataset?.testid === "stDataFrame" || at.localName === "canvas"
      || getComputedStyle(at).clipPath === "inset(50%)" || getComputedStyle(at).clip === "rect(0px, 0px, 0px, 0px)"
      || (at.offsetWidth <= 1 && at.offsetHeight <= 1 && getComputedStyle(at).overflow === "hidden"));
  const frame = each => {
    const box = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
    for (const at of line(each)) {
      const { overflowX, overflowY, position } = getComputedStyle(at);
      const { left, top, right, bottom } = at.getBoundingClientRect();
      if (at === root || at === body) continue;
      if (overflowX !== "visible") { box.left = Math.max(box.left, left); box.right = Math.min(box.right, right); }
      if (overflowY !== "visible") { box.top = Math.max(box.top, top); box.bottom = Math.min(box.bottom, bottom); }
      if (position === "fixed") break;
    }
    return box;
  };
  // What lies over the rest for a while, on a ground of its own.
  const floats = each => line(each).some(at => {
    const { position, backgroundColor } = getComputedStyle(at);
    return ["fixed", "sticky"].includes(position) || (position === "absolute" && backgroundColor !== "rgba(0, 0, 0, 0)");
  });
  const lines = [];
  for (const each of all) {
    if (/^(script|style|noscript|title|option|textarea)$/.test(each.localName) || !isSeen(each)) continue;
    const style = getComputedStyle(each);
    const isCut = ["hidden", "clip"].includes(style.overflowX) && each.scrollWidth > each.clientWidth + 2;
    if (isCut && style.textOverflow !== "ellipsis" && style.display !== "inline" && words(each.textContent)) {
      found.push(`cut off: ${called(each)} «${words(each.textContent)}»`);
    }
    for (const node of each.childNodes) {
      if (node.nodeType !== Node.TEXT_NODE || !words(node.textContent)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const edges = frame(each);
      for (const rect of [...range.getClientRects()].slice(0, 40)) {
        const box = {
          left: Math.max(rect.left, edges.left), right: Math.min(rect.right, edges.right),
          top: Math.max(rect.top, edges.top), bottom: Math.min(rect.bottom, edges.bottom),
        };
        if (box.right - box.left < 4 || box.bottom - box.top < 4) continue;
        if (box.left < -3 || box.right > innerWidth + 3) found.push(`beside the page: ${called(each)} «${words(node.textContent)}»`);
        if (!floats(each)) lines.push({ box, each, node });
      }
    }
  }
  lines.sort((one, other) => one.box.top - other.box.top);
  for (const [at, one] of lines.entries()) {
    for (const other of lines.slice(at + 1)) {
      if (other.box.top > one.box.bottom - 4) break;
      const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      if (one.node !== other.node && across > 3 && down > 4) {
        found.push(`text over text: ${called(one.each)} «${words(one.node.textContent)}», ${called(other.each)} «${words(other.node.textContent)}»`);
      }
    }
  }
  return [...new Set(found)].slice(0, 20);
}
