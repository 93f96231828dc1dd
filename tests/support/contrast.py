"""How far apart two colours are, as WCAG counts."""

from __future__ import annotations

import re


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, each as ``#1f77b4`` or as ``rgb(31, 119, 180)``."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def mixed(colour: str, ground: str, share: float) -> str:
    """Return what a share of a colour makes of the ground it is mixed into."""
    pairs = zip(_channels(colour), _channels(ground), strict=True)
    return f"rgb({', '.join(str(round(share * one + (1 - share) * two)) for one, two in pairs)})"


def _channels(colour: str) -> list[int]:
    if colour.startswith("#"):
        return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return [int(channel) for channel in re.findall(r"\d+", colour)[:3]]


def _luminance(colour: str) -> float:
    shares = [channel / 255 for channel in _channels(colour)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
