"""Analyses of runs and of the golden set: comparison, failures, trend, gate, agreement, health."""
