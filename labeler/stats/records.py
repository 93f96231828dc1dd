"""Bands as programs get them: columns beside those of means and deltas; knows no file format."""

from __future__ import annotations

import math
from collections.abc import Iterable

from labeler.evaluation import Record
from labeler.stats.bands import Band, DeltaBands, MeanBands

NONE = Band(math.nan, math.nan, True, math.nan, math.nan, 0)


def with_bands(
    records: Iterable[Record], means: MeanBands, deltas: DeltaBands | None = None
) -> list[Record]:
    """Return rows of means, or of deltas, with what their holes could make of them.

    ``holes_lowest`` and ``holes_highest``: over all ways of grading the holes, reached by one where
    ``holes_exact``; ``sampled_low`` and ``sampled_high``: in 90 of 100 fillings. Rows of two runs
    have them for the delta, and with ``_a`` and ``_b`` for the means. NaN where a measure has no
    band.
    """
    by_mean = {(run, str(measure), bucket): band for (run, measure, bucket), band in means.items()}
    by_delta = {(str(measure), bucket): band for (measure, bucket), band in (deltas or {}).items()}
    rows = []
    for record in records:
        name, bucket = record["full_name"], record.get("bucket")
        more: Record = {}
        if "run" in record:
            more |= _columns(by_mean.get((record["run"], name, bucket), NONE))
        else:
            more |= _columns(by_delta.get((name, bucket), NONE))
            for side in ("a", "b"):
                band = by_mean.get((record[f"run_{side}"], name, bucket), NONE)
                more |= _columns(band, f"_{side}")
        rows.append({**record, **more})
    return rows


def _columns(band: Band, side: str = "") -> Record:
    return {
        f"holes_lowest{side}": band.lowest,
        f"holes_highest{side}": band.highest,
        f"holes_exact{side}": None if math.isnan(band.lowest) else band.exact,
        f"sampled_low{side}": band.low,
        f"sampled_high{side}": band.high,
    }
