// Fits the pad into what the window leaves it, so that the row of grades stays at one place.

export class Frame {
  /** @param {HTMLElement} pad */
  constructor(pad) {
    this.pad = pad;
    this.onResize = () => this.fit();
    window.addEventListener("resize", this.onResize);
    // what stands above may come later or wrap
    this.sizes = new ResizeObserver(this.onResize);
    this.sizes.observe(document.body);
    for (const each of document.querySelectorAll(".stMainBlockContainer > *")) {
      this.sizes.observe(each);
    }
    this.fit();
  }

  fit() {
    const scrolled = document.querySelector('[data-testid="stMain"]')?.scrollTop ?? 0;
    const top = Math.round(this.pad.getBoundingClientRect().top + scrolled);
    this.pad.style.setProperty("--above", `${Math.max(0, top)}px`);
  }

  dispose() {
    window.removeEventListener("resize", this.onResize);
    this.sizes.disconnect();
  }
}
