"""Retrieval records of any tool: one reader, field maps, and what it makes of a file."""
