"""The table of frozen golden sets, as SQL text, and to which split a query belongs."""

from labeler.store.schema.books import append_only

SPLIT = """
ALTER TABLE queries ADD COLUMN split TEXT CHECK (split IN ('dev', 'test', 'held-out'));
"""

# content: the lines of labeler.formats.versions, compressed by zlib; hash is of what they say.
VERSIONS = """
CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    hash TEXT NOT NULL CHECK (length(hash) = 64),
    frozen_at TEXT NOT NULL,
    frozen_by TEXT,
    note TEXT,
    revision INTEGER NOT NULL,
    queries INTEGER NOT NULL,
    grades INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;
""" + append_only(
    "versions",
    "id = NEW.id OR name = NEW.name",
    "a frozen version is never changed: freeze another one under another name",
)
