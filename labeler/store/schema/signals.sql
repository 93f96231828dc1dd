-- Signals: what users did with a system, and which answers of a run were correct.

-- query_id is empty for a signal of all queries. System and query are stored by id, so that signals
-- can be loaded before runs and queries.
CREATE TABLE signals (
    system TEXT NOT NULL CHECK (system <> ''),
    name TEXT NOT NULL CHECK (name <> ''),
    date TEXT NOT NULL CHECK (date <> ''),
    query_id TEXT NOT NULL DEFAULT '',
    value REAL NOT NULL,
    n INTEGER CHECK (n > 0),
    PRIMARY KEY (system, name, date, query_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE answers (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    query_id TEXT NOT NULL CHECK (query_id <> ''),
    answer TEXT,
    correct INTEGER NOT NULL CHECK (correct IN (0, 1)),
    UNIQUE (run, query_id)
) STRICT;
