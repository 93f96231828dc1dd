"""PyTerrier frames from a golden set and into it, as `labeler.frames`."""

from __future__ import annotations

from labeler.api.pyterrier import load_qrels, load_results, qrels, results, topics

__all__ = ["load_qrels", "load_results", "qrels", "results", "topics"]
