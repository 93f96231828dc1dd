"""Public module for PyTerrier data frames, read from a golden set or stored in it."""

from __future__ import annotations

from labeler.api.pyterrier import load_qrels, load_results, qrels, results, topics

__all__ = ["load_qrels", "load_results", "qrels", "results", "topics"]
