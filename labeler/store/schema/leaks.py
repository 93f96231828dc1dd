"""Which queries were found in other texts, as SQL text; runs none of it."""

from labeler.store.schema.books import append_only

# A query is leaked where its newest row is a mark: taking it back adds a row.
LEAKS = """
CREATE TABLE leaks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    query INTEGER NOT NULL REFERENCES queries (id),
    kind TEXT NOT NULL CHECK (kind IN ('mark', 'take back')),
    file TEXT,
    line INTEGER,
    part TEXT,
    score REAL,
    words TEXT,
    who TEXT,
    at TEXT NOT NULL
) STRICT;

CREATE VIEW leaked_queries AS
SELECT query, file, line, part, score, words, who, at
FROM leaks AS l
WHERE kind = 'mark' AND NOT EXISTS (SELECT 1 FROM leaks WHERE query = l.query AND id > l.id);

CREATE INDEX leaks_by_query ON leaks (query, id);
""" + append_only("leaks", "id = NEW.id", "what was found stays written: take it back instead")
