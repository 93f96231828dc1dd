"""Evaluation of logs held by Spark, as `labeler.spark`."""

from __future__ import annotations

from labeler.api.spark import evaluate

__all__ = ["evaluate"]
