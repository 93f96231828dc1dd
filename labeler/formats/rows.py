"""Rows of numbers as a JSON list: every digit, one row a line; knows nothing of what they count."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping


def as_json(rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as a JSON list; NaN is null.

    >>> print(as_json([{"value": 0.1 + 0.2}, {"value": math.nan}]), end="")
    [
    {"value": 0.30000000000000004},
    {"value": null}
    ]
    """
    lines = [json.dumps(_without_nan(row), allow_nan=False) for row in rows]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _without_nan(row: Mapping[str, object]) -> dict[str, object]:
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in row.items()
    }
