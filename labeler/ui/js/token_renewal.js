// Asks the page for a new token while the server refuses the one that is there.

const AGAIN_MS = 5000;
const RECENTLY_MS = 30000;

export class TokenRenewal {
  /** @param {() => boolean} isRefused Whether the server still refuses the token */
  constructor(isRefused) {
    this.isRefused = isRefused;
    this.renew = () => {};
    this.begun = 0;
    this.disposed = false;
    /** @type {number | undefined} */
    this.timer = undefined;
  }

  begin() {
    // at once the first time, then slowly: a page that stays forbidden must not spin
    const wait = this.begun && Date.now() - this.begun < RECENTLY_MS ? AGAIN_MS : 0;
    this.begun = Date.now();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), wait);
  }

  // A token made within the same second is the same one, and then Streamlit tells nobody of it.
  ask() {
    if (this.disposed) return;
    this.renew();
    this.timer = setTimeout(() => this.isRefused() && this.ask(), AGAIN_MS);
  }

  dispose() {
    this.disposed = true;
    clearTimeout(this.timer);
  }
}
