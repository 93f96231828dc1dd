// Whether Streamlit runs the page. News ask for nothing meanwhile: what runs has the newest numbers
// itself, and until the browser has drawn it, it would tell the server of boxes as they were before.

const LOOK_AGAIN_MS = 10;
const TURN_MS = 1_000; // until the run for another address is seen, unless it was too short for that

let turned = -Infinity;
window.addEventListener("popstate", () => {
  turned = performance.now();
});

/**
 * Call `act` as soon as nothing runs, unless it is no longer `isWanted`.
 *
 * @type {(act: () => void, isWanted: () => boolean) => void}
 */
export function whenAtRest(act, isWanted) {
  if (!isWanted()) return;
  const runs = isRunning();
  if (runs) turned = -Infinity;
  if (!runs && performance.now() - turned > TURN_MS) act();
  else setTimeout(() => whenAtRest(act, isWanted), LOOK_AGAIN_MS);
}

function isRunning() {
  const app = document.querySelector('[data-testid="stApp"]');
  const state = app instanceof HTMLElement ? app.dataset.testScriptState : undefined;
  return state === "running" || state === "rerunRequested";
}
