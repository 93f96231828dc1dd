"""What a golden set remembers of whom it showed what, as SQL text; runs none of it."""

# Who has been shown a query's ranked lists: what they grade in it from then on is not blind.
LISTS_SEEN = """
CREATE TABLE lists_seen (
    query INTEGER NOT NULL REFERENCES queries (id),
    grader INTEGER NOT NULL REFERENCES graders (id),
    seen_at TEXT NOT NULL,
    PRIMARY KEY (query, grader)
) STRICT, WITHOUT ROWID;
"""

# Who has asked what others gave a pair: what they give it from then on is not blind.
#
# `known_as` is the name of everybody who was there before pairs were signed as they are handed out.
# Their browsers may hold grades of the version before, which carry no signature.
HANDING = """
CREATE TABLE told (
    query INTEGER NOT NULL REFERENCES queries (id),
    chunk INTEGER NOT NULL REFERENCES chunks (id),
    grader INTEGER NOT NULL REFERENCES graders (id),
    told_at TEXT NOT NULL,
    PRIMARY KEY (query, chunk, grader)
) STRICT, WITHOUT ROWID;

ALTER TABLE graders ADD COLUMN known_as TEXT;
UPDATE graders SET known_as = name;
INSERT INTO settings (key, value)
VALUES ('signs_since', json_quote(strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))
ON CONFLICT (key) DO UPDATE SET value = excluded.value;
"""

# Who is at which queries, where several servers hand out of one database: each reads what the
# others gave. A server of a file knows that by itself, and writes none of it down.
CLAIMS = """
CREATE TABLE claims (
    grader INTEGER PRIMARY KEY REFERENCES graders (id),
    queries TEXT NOT NULL CHECK (json_type(queries) = 'array'),
    pairs TEXT NOT NULL CHECK (json_type(pairs) = 'array'),
    seen_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""
