"""The tables, the guards of the log and the views of the first release, and its runs' dates mended.

Integer keys are internal; ids given by users are TEXT, kept exactly. Ranked lists name their query
by id and not by key, so that a run may be loaded before, or know more queries than, the golden set.
"""

TABLES = """
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT;

CREATE TABLE queries (
    id INTEGER PRIMARY KEY,
    query_id TEXT NOT NULL UNIQUE CHECK (query_id <> ''),
    text TEXT NOT NULL CHECK (text <> ''),
    task TEXT CHECK (task IN ('single', 'research', 'compliance', 'longtail')),
    reference TEXT,
    guideline TEXT,
    keywords TEXT NOT NULL DEFAULT '[]' CHECK (json_type(keywords) = 'array'),
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_type(metadata) = 'object'),
    retired_at TEXT
) STRICT;

CREATE TABLE query_buckets (
    query INTEGER NOT NULL REFERENCES queries (id),
    facet TEXT NOT NULL CHECK (facet <> ''),
    bucket TEXT NOT NULL,
    PRIMARY KEY (query, facet)
) STRICT, WITHOUT ROWID;

CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    chunk_id TEXT NOT NULL UNIQUE CHECK (chunk_id <> ''),
    document_id TEXT,
    position INTEGER,
    title TEXT,
    text TEXT,
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_type(metadata) = 'object'),
    text_hash TEXT,
    CHECK ((text IS NULL) = (text_hash IS NULL))
) STRICT;

CREATE INDEX chunks_document ON chunks (document_id, position);

CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    system TEXT NOT NULL,
    created_at TEXT NOT NULL,
    depth INTEGER NOT NULL,
    params TEXT NOT NULL DEFAULT '{}' CHECK (json_type(params) = 'object'),
    source_hash TEXT NOT NULL
) STRICT;

-- chunks: internal chunk ids as little-endian int32, best first; scores: float32 in the same order
CREATE TABLE ranked_lists (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    query_id TEXT NOT NULL,
    chunks BLOB NOT NULL CHECK (length(chunks) % 4 = 0),
    scores BLOB CHECK (length(scores) = length(chunks)),
    PRIMARY KEY (run, query_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE graders (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    role TEXT NOT NULL DEFAULT 'lead' CHECK (role IN ('grader', 'lead')),
    seed INTEGER NOT NULL
) STRICT;

-- grader is null for imports only: a file says who stands behind a grade in graders, a JSON list
CREATE TABLE judgments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE CHECK (event_id <> ''),
    query INTEGER NOT NULL REFERENCES queries (id),
    chunk INTEGER NOT NULL REFERENCES chunks (id),
    grader INTEGER REFERENCES graders (id),
    kind TEXT NOT NULL CHECK (
        kind IN ('grade', 'cannot_tell', 'withdraw', 'adjudicate', 'import', 'propose')
    ),
    grade INTEGER CHECK (grade BETWEEN 0 AND 3),
    graders TEXT CHECK (json_type(graders) = 'array'),
    reason TEXT,
    note TEXT,
    blind INTEGER NOT NULL CHECK (blind IN (0, 1)),
    source TEXT,
    undoes INTEGER UNIQUE REFERENCES judgments (id),
    elapsed_ms INTEGER,
    text_hash TEXT,
    created_at TEXT NOT NULL,
    CHECK ((kind IN ('cannot_tell', 'withdraw')) = (grade IS NULL)),
    CHECK ((kind = 'import') = (grader IS NULL)),
    CHECK ((kind = 'import') = (graders IS NOT NULL))
) STRICT;

CREATE INDEX judgments_pair ON judgments (query, chunk);
CREATE INDEX judgments_grader ON judgments (grader);
"""

# INSERT OR REPLACE deletes without firing DELETE triggers unless recursive_triggers is on, which
# other tools leave off; so an INSERT that meets an existing event is refused before it begins.
TRIGGERS = """
CREATE TRIGGER judgments_are_not_updated BEFORE UPDATE ON judgments
BEGIN
    SELECT RAISE(ABORT, 'judgments are append-only: add a new event instead of changing one');
END;

CREATE TRIGGER judgments_are_not_deleted BEFORE DELETE ON judgments
BEGIN
    SELECT RAISE(ABORT, 'judgments are append-only: add a withdrawal instead of deleting');
END;

CREATE TRIGGER judgments_are_not_replaced BEFORE INSERT ON judgments
WHEN EXISTS (SELECT 1 FROM judgments WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM judgments WHERE event_id = NEW.event_id)
    OR EXISTS (SELECT 1 FROM judgments WHERE undoes = NEW.undoes)
BEGIN
    SELECT RAISE(ABORT, 'judgments are append-only: this event is already in the log');
END;
"""

# `golden` is made anew by a later migration, see `labeler.store.schema.golden`.
#
# A grade and an adjudication by the same person do not hide each other, so "newest" is asked per
# lane. The plus signs keep SQLite from searching the log by "not an undo" or by grader alone,
# which would read much of it for every pair.
VIEWS = """
-- Judgments that nobody has taken back, with the lane they count in. An undo is none of them: it
-- says in its columns what holds again, for whoever reads the log.
CREATE VIEW standing_judgments AS
SELECT
    j.*,
    CASE WHEN kind IN ('adjudicate', 'import', 'propose') THEN kind ELSE 'grade' END AS lane
FROM judgments AS j
WHERE +undoes IS NULL
    AND NOT EXISTS (SELECT 1 FROM judgments AS undo WHERE undo.undoes = j.id);

CREATE VIEW current_judgments AS
SELECT
    id, event_id, query, chunk, grader, kind, grade, graders, reason, note, blind, source,
    elapsed_ms, text_hash, created_at
FROM standing_judgments AS j
WHERE kind <> 'withdraw'
    AND NOT EXISTS (
        SELECT 1 FROM standing_judgments AS newer
        WHERE newer.query = j.query AND newer.chunk = j.chunk AND +newer.grader IS j.grader
            AND newer.lane = j.lane AND newer.id > j.id
    );

-- The newest adjudication; else the lower median of people's current grades; else the newest
-- import. Every window has the same partition, so that a question about one pair reads only it.
CREATE VIEW golden AS
WITH weighed AS (
    SELECT
        *,
        CASE kind WHEN 'adjudicate' THEN 1 WHEN 'grade' THEN 2 ELSE 3 END AS authority
    FROM current_judgments
    WHERE kind IN ('adjudicate', 'grade', 'import')
),
placed AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY query, chunk
            ORDER BY authority, CASE kind WHEN 'grade' THEN grade ELSE -id END, id
        ) AS place,
        max(kind = 'adjudicate') OVER (PARTITION BY query, chunk) AS adjudicated,
        sum(kind = 'grade') OVER (PARTITION BY query, chunk) AS people
    FROM weighed
)
SELECT
    placed.query,
    placed.chunk,
    placed.grade,
    placed.kind,
    placed.id AS judgment,
    placed.text_hash IS NOT NULL AND placed.text_hash IS NOT chunks.text_hash AS stale
FROM placed
JOIN chunks ON chunks.id = placed.chunk
WHERE place = CASE WHEN adjudicated OR people = 0 THEN 1 ELSE (people + 1) / 2 END;
"""

# A date that nobody gave is not known. A column cannot be told to take NULL; a new one can, and
# unlike a new table it leaves the lists, which fall with their run, where they are.
UNKNOWN_DATES = """
ALTER TABLE runs ADD COLUMN given_at TEXT;
UPDATE runs SET given_at = created_at;
ALTER TABLE runs DROP COLUMN created_at;
ALTER TABLE runs RENAME COLUMN given_at TO created_at;
"""
