"""SQL text of the tables of a golden set: queries, chunks, runs, judgments, people, signals.

Integer keys are internal; ids given by users are TEXT, kept exactly. Ranked lists name their
query by id and not by key, so that a run may be loaded before, or know more queries than, the
golden set; signals name their system and answers their query in the same way. A signal of all
queries has an empty query id.

``chunks.chunk_id`` is unique, and it is what the logs name and their hashes are made from. In a
named chunking it is ``NAME:ID``, see `labeler.model.chunkings`, so that UNIQUE (chunk_id) is
UNIQUE (chunking, id), and nothing that reads chunks by it can mix two chunkings. NULL is the
default chunking.
"""

from __future__ import annotations

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


# start and "end" count characters of the document's text, the end not included.
CHUNKINGS = """
CREATE TABLE chunkings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> '' AND instr(name, ':') = 0),
    added_at TEXT NOT NULL
) STRICT;

CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    document_id TEXT NOT NULL UNIQUE CHECK (document_id <> ''),
    title TEXT,
    text TEXT NOT NULL CHECK (text <> ''),
    text_hash TEXT NOT NULL,
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_type(metadata) = 'object')
) STRICT;

ALTER TABLE chunks ADD COLUMN chunking INTEGER REFERENCES chunkings (id);
ALTER TABLE chunks ADD COLUMN start INTEGER CHECK (start >= 0);
ALTER TABLE chunks ADD COLUMN "end" INTEGER
    CHECK (("end" IS NULL) = (start IS NULL) AND ("end" IS NULL OR "end" >= start));
ALTER TABLE runs ADD COLUMN chunking INTEGER REFERENCES chunkings (id);

CREATE INDEX chunks_chunking ON chunks (chunking) WHERE chunking IS NOT NULL;

CREATE TRIGGER chunks_are_of_the_chunking_they_name AFTER INSERT ON chunks
WHEN NEW.chunking IS NULL AND instr(NEW.chunk_id, ':') > 1 AND EXISTS (SELECT 1 FROM chunkings)
BEGIN
    UPDATE chunks SET chunking = (
        SELECT id FROM chunkings WHERE name = substr(NEW.chunk_id, 1, instr(NEW.chunk_id, ':') - 1)
    ) WHERE id = NEW.id;
END;
"""


WORDINGS = """
CREATE INDEX chunks_wording ON chunks (text_hash) WHERE text_hash IS NOT NULL;
"""


# The index of words holds no text of its own: it must be told exactly what to take out again.
# A chunk known by id only is not in it, so that loading a large run stays cheap; the view says so
# to SQLite, whose integrity check would else miss such chunks.
SEARCH = """
CREATE VIEW readable_chunks AS SELECT id, title, text FROM chunks WHERE text IS NOT NULL;

CREATE VIRTUAL TABLE chunk_words USING fts5 (
    title, text, content='readable_chunks', content_rowid='id',
    tokenize='unicode61 remove_diacritics 2'
);

CREATE TRIGGER chunks_are_indexed AFTER INSERT ON chunks WHEN NEW.text IS NOT NULL
BEGIN
    INSERT INTO chunk_words (rowid, title, text) VALUES (NEW.id, NEW.title, NEW.text);
END;

CREATE TRIGGER chunks_are_indexed_anew AFTER UPDATE OF title, text ON chunks
BEGIN
    INSERT INTO chunk_words (chunk_words, rowid, title, text)
    SELECT 'delete', OLD.id, OLD.title, OLD.text WHERE OLD.text IS NOT NULL;
    INSERT INTO chunk_words (rowid, title, text)
    SELECT NEW.id, NEW.title, NEW.text WHERE NEW.text IS NOT NULL;
END;

CREATE TRIGGER chunks_are_not_indexed_any_more AFTER DELETE ON chunks WHEN OLD.text IS NOT NULL
BEGIN
    INSERT INTO chunk_words (chunk_words, rowid, title, text)
    VALUES ('delete', OLD.id, OLD.title, OLD.text);
END;

INSERT INTO chunk_words (rowid, title, text) SELECT id, title, text FROM readable_chunks;
"""


UNGRADED = """
CREATE TABLE ungraded (
    query INTEGER NOT NULL REFERENCES queries (id),
    chunk INTEGER NOT NULL REFERENCES chunks (id),
    PRIMARY KEY (query, chunk)
) STRICT, WITHOUT ROWID;
"""


# Ranked lists as rows, in good time however long a list is: one is cut into pieces before it is cut
# into ranks, as each cut reads all that it is cut from. The empty halves of the two unions keep
# SQLite from working out the bytes of a rank anew wherever they are named; what is asked of one run
# or one query still reaches the lists, through the window.
_RANKINGS_VIEW = """
DROP VIEW IF EXISTS rankings;

CREATE VIEW rankings AS
WITH RECURSIVE
blocks (block) AS (
    SELECT 0
    UNION ALL
    SELECT block + 1 FROM blocks WHERE (block + 1) * 512 < (SELECT max(depth) FROM runs)
),
places (place) AS (
    SELECT 1
    UNION ALL
    SELECT place + 1 FROM places WHERE place < 512
),
powers (exponent, power) AS (
    SELECT 0, 1.0
    UNION ALL
    SELECT exponent + 1, power * 2 FROM powers WHERE exponent < 128
),
pieces AS (
    SELECT
        runs.name AS run, l.query_id, block,
        substr(l.chunks, block * 2048 + 1, 2048) AS chunks,
        substr(l.scores, block * 2048 + 1, 2048) AS scores,
        row_number() OVER (PARTITION BY runs.name, l.query_id) AS piece
    FROM ranked_lists AS l
    JOIN runs ON runs.id = l.run
    JOIN blocks ON block * 2048 < length(l.chunks)
),
words AS (
    SELECT
        run, query_id, block * 512 + place AS rank,
        hex(substr(chunks, place * 4 - 3, 4)) AS c,
        hex(substr(scores, place * 4 - 3, 4)) AS s
    FROM pieces
    JOIN places ON place * 4 <= length(chunks)
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, NULL WHERE 0
),
bits AS (
    SELECT
        run, query_id, rank, s,
        {chunk_bits} AS chunk,
        {score_bits} AS bits
    FROM words
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, NULL, NULL WHERE 0
)
SELECT
    bits.run,
    bits.query_id,
    bits.rank,
    chunks.chunk_id,
    CASE WHEN s = '' OR bits & 2147483647 > 2139095040 THEN NULL -- no score, or not a number
    WHEN bits & 2147483647 = 2139095040 THEN (1 - 2 * (bits >> 31)) * 9e999
    ELSE
        (1 - 2 * (bits >> 31))
        * ((bits & 8388607) + CASE WHEN bits >> 23 & 255 THEN 8388608 ELSE 0 END)
        / 8388608.0
        * CASE WHEN max(bits >> 23 & 255, 1) >= 127 THEN power ELSE 1.0 / power END
    END AS score
FROM bits
JOIN chunks ON chunks.id = bits.chunk
JOIN powers ON powers.exponent = abs(max(bits >> 23 & 255, 1) - 127);
"""


def _little_endian(column: str) -> str:
    """SQL that reads eight hex digits, lowest byte first, as an unsigned integer."""
    digits = [f"(instr('0123456789ABCDEF', substr({column}, {n}, 1)) - 1)" for n in range(1, 9)]
    shifts = [4, 0, 12, 8, 20, 16, 28, 24]
    return " | ".join(f"({digit} << {shift})" for digit, shift in zip(digits, shifts, strict=True))


RANKINGS = _RANKINGS_VIEW.format(chunk_bits=_little_endian("c"), score_bits=_little_endian("s"))


# A person comes in by the secret in a link, kept only as its hash, or by the address of a login.
INVITATIONS = """
CREATE TABLE invitations (
    id INTEGER PRIMARY KEY,
    grader INTEGER NOT NULL REFERENCES graders (id),
    token_hash TEXT UNIQUE,
    address TEXT,
    created_at TEXT NOT NULL,
    revoked_at TEXT,
    CHECK ((token_hash IS NULL) <> (address IS NULL))
) STRICT;

CREATE UNIQUE INDEX invitations_address ON invitations (address) WHERE revoked_at IS NULL;
"""

# A link opens sessions and is none; a login is who its issuer says, by subject. Until this shape
# a link's own secret lay in browsers as their cookie: such a one is exchanged for a session.
SESSIONS = """
ALTER TABLE invitations ADD COLUMN issuer TEXT;
ALTER TABLE invitations ADD COLUMN subject TEXT;
ALTER TABLE invitations ADD COLUMN expires_at TEXT;
ALTER TABLE invitations ADD COLUMN once INTEGER NOT NULL DEFAULT 0 CHECK (once IN (0, 1));
ALTER TABLE invitations ADD COLUMN used_at TEXT;
ALTER TABLE invitations ADD COLUMN left_at TEXT;
ALTER TABLE invitations ADD COLUMN is_cookie INTEGER NOT NULL DEFAULT 0;
UPDATE invitations SET is_cookie = token_hash IS NOT NULL;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    invitation INTEGER NOT NULL REFERENCES invitations (id),
    token_hash TEXT NOT NULL UNIQUE,
    login TEXT,
    created_at TEXT NOT NULL,
    ended_at TEXT
) STRICT;

CREATE INDEX sessions_invitation ON sessions (invitation);
CREATE INDEX sessions_login ON sessions (login);
"""


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
TOLD_GRADERS = """
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
LEASES = """
CREATE TABLE claims (
    grader INTEGER PRIMARY KEY REFERENCES graders (id),
    queries TEXT NOT NULL CHECK (json_type(queries) = 'array'),
    pairs TEXT NOT NULL CHECK (json_type(pairs) = 'array'),
    seen_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""


SIGNALS_AND_ANSWERS = """
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


# The records of ranked lists in the tools that wrote them, to which grades can go back. ``places``
# says where in its record each chunk of a list stands: pairs of a place and a rank, both from 0;
# NULL where they are the same.
LIST_SOURCES = """
CREATE TABLE list_sources (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    query_id TEXT NOT NULL CHECK (query_id <> ''),
    span TEXT,
    trace TEXT,
    places TEXT CHECK (json_type(places) = 'array'),
    PRIMARY KEY (run, query_id),
    CHECK (span IS NOT NULL OR trace IS NOT NULL)
) STRICT, WITHOUT ROWID;
"""


# How often the questions of a log that brought runs were asked. Unlike those of other logs they are
# queries, so that their buckets are looked up when they are counted.
ASKED_QUERIES = """
CREATE TABLE asked_queries (
    batch INTEGER NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
    query INTEGER NOT NULL REFERENCES queries (id),
    times INTEGER NOT NULL CHECK (times > 0),
    PRIMARY KEY (batch, query)
) STRICT, WITHOUT ROWID;
"""
