-- Queries, their buckets, the history of their changes, and where their text was found elsewhere.

-- retired_at  when the query left the golden set; null while it is in it
-- source      where the query came from; null where unknown
CREATE TABLE queries (
    id INTEGER PRIMARY KEY,
    query_id TEXT NOT NULL UNIQUE CHECK (query_id <> ''),
    text TEXT NOT NULL CHECK (text <> ''),
    task TEXT CHECK (task <> ''),
    reference TEXT,
    guideline TEXT,
    keywords TEXT NOT NULL DEFAULT '[]' CHECK (json_type(keywords) = 'array'),
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_type(metadata) = 'object'),
    retired_at TEXT,
    split TEXT CHECK (split IN ('dev', 'test', 'held-out')),
    source TEXT CHECK (source IN ('file', 'log', 'generated', 'thumbs', 'typed')),
    source_file TEXT,
    added_at TEXT,
    added_by TEXT
) STRICT;

CREATE TABLE query_buckets (
    query INTEGER NOT NULL REFERENCES queries (id),
    facet TEXT NOT NULL CHECK (facet <> ''),
    bucket TEXT NOT NULL,
    PRIMARY KEY (query, facet)
) STRICT, WITHOUT ROWID;

-- Append-only. before and after hold the fields that changed.
CREATE TABLE query_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    query INTEGER NOT NULL REFERENCES queries (id),
    kind TEXT NOT NULL CHECK (kind IN ('add', 'edit', 'load', 'split', 'retire', 'restore')),
    at TEXT NOT NULL,
    who TEXT,
    file TEXT,
    before TEXT NOT NULL CHECK (json_type(before) = 'object'),
    after TEXT NOT NULL CHECK (json_type(after) = 'object')
) STRICT;

CREATE INDEX query_history_of ON query_history (query, id);

-- Append-only. A query is leaked while its newest row is a mark.
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

CREATE INDEX leaks_by_query ON leaks (query, id);

CREATE VIEW leaked_queries AS
SELECT query, file, line, part, score, words, who, at
FROM leaks AS l
WHERE kind = 'mark' AND NOT EXISTS (SELECT 1 FROM leaks WHERE query = l.query AND id > l.id);
