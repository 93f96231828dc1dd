"""Candidate queries: what may be added to a golden set, and into which split a query goes."""
