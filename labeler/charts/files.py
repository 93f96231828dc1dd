"""Rows as files that people download."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from labeler.evaluation import Conventions
from labeler.formats import spreadsheet


def as_csv(rows: Iterable[Mapping[Any, object]], conventions: Conventions) -> bytes:
    """Return rows as a CSV file, as `spreadsheet.as_csv` writes it, each with its conventions.

    >>> print(as_csv([{"value": 0.5}], Conventions()).decode())  # doctest: +ELLIPSIS
    value,conventions
    0.5,"graded: gain 2^grade−1 ...
    """
    described = f"{conventions.preset}: {conventions.describe()}"
    return spreadsheet.as_csv({**row, "conventions": described} for row in rows).encode()
