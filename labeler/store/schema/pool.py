"""Pairs that a file puts into the pool and of which it says that nobody graded them."""

from __future__ import annotations

UNGRADED = """
CREATE TABLE ungraded (
    query INTEGER NOT NULL REFERENCES queries (id),
    chunk INTEGER NOT NULL REFERENCES chunks (id),
    PRIMARY KEY (query, chunk)
) STRICT, WITHOUT ROWID;
"""
