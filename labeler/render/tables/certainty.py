"""How sure a verdict is, as a sentence over a bar: words and a share in, no run and no measure."""

from __future__ import annotations

import htpy

from labeler.render.markup import style

LOOK = style("""
.certainty { display: grid; gap: 0.3rem; font-size: 0.95rem; line-height: 1.35; }
.certainty p { margin: 0; overflow-wrap: anywhere; }
.certainty .aside { font-size: 0.82rem;
    color: color-mix(in srgb, currentColor 72%, transparent); }
.certainty .meter { position: relative; height: 0.5rem; max-width: 36rem; box-sizing: border-box;
    border: 1px solid color-mix(in srgb, currentColor 45%, transparent); border-radius: 0.15rem; }
.certainty .meter > * { position: absolute; top: 0; bottom: 0; }
.certainty .meter .so-far { left: 0; width: var(--so-far);
    background: color-mix(in srgb, currentColor 55%, transparent); }
.certainty .meter .enough { left: var(--enough); width: 2px; margin: -0.25rem -1px;
    background: currentColor; }
.st-key-settling > :first-child { flex: 1 1 20rem; }
""")


def certainty(line: str, share: float, enough: float, asides: list[str]) -> htpy.Fragment:
    """Return how sure something is in words and as a bar.

    On the bar ``enough`` is marked, from which it is settled; both are from 0 to 1.
    """
    notes = [htpy.p(".aside")[aside] for aside in asides]
    return htpy.fragment[LOOK, htpy.div(".certainty")[htpy.p[line], bar(share, enough), notes]]


def bar(share: float, enough: float) -> htpy.Element:
    """Return a bar that is full where something is certain."""
    look = f"--so-far: {share:.2%}; --enough: {enough:.2%}"
    label = "How sure it is which run is better, once all holes are graded"
    told = {"aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": f"{share * 100:.0f}"}
    meter = htpy.div(".meter", role="meter", aria_label=label, style=look, **told)
    return meter[htpy.span(".so-far"), htpy.span(".enough")]
