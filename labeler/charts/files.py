"""Rows as files that people download."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from labeler.evaluation import Conventions
from labeler.formats.spreadsheet import neutralised


def as_csv(rows: Iterable[Mapping[Any, object]], conventions: Conventions) -> bytes:
    """Return rows as a CSV file: full precision, no cell that a spreadsheet runs, conventions.

    >>> rows = [{"run": "=1+1", "value": 0.1 + 0.2}]
    >>> as_csv(rows, Conventions()).decode().splitlines()[1][:25]
    "'=1+1,0.30000000000000004"
    """
    described = f"{conventions.preset}: {conventions.describe()}"
    frame = pd.DataFrame(
        [
            {key: neutralised(v) if isinstance(v, str) else v for key, v in row.items()}
            | {"conventions": described}
            for row in rows
        ]
    )
    return frame.to_csv(index=False).encode()
