"""What users of a product did, and what it answered them, as SQL text; runs none of it.

Neither is a grade: both can be replaced, and the golden set's hash knows nothing of them. A signal
names its system, an answer its query, by id and not by key, so that they may come before, or be of
more than, what is loaded. A signal without a query is of all of them, and has an empty one here.
"""

ONLINE = """
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
"""
