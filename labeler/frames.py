"""PyTerrier data frames read from a golden set and written to it, as `labeler.frames`."""

from __future__ import annotations

from labeler.api.pyterrier import load_qrels, load_results, qrels, results, topics

__all__ = ["load_qrels", "load_results", "qrels", "results", "topics"]
