"""Public module for the evaluation of logs held by Spark."""

from __future__ import annotations

from labeler.api.spark import evaluate

__all__ = ["evaluate"]
