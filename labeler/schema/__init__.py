"""The shape of a golden set's file as SQL text, one migration after another; runs none of it.

The ``golden`` view defines the golden grade; `labeler.store.resolving` makes the same of a whole
log at once. Integer keys are internal; ids given by users are TEXT, kept exactly. Ranked lists name
their query by id and not by key, so that a run may be loaded before, or know more queries than,
the golden set.
"""

import json
import secrets
import uuid

from labeler.chain import LOGS, first_seal, sealed
from labeler.schema.books import ADD_SEAL, ALL, AUDIT, LAST, SEALS, sealed_events
from labeler.schema.carries import carrying_log
from labeler.schema.chunkings import CHUNKINGS
from labeler.schema.evidence import EVIDENCE
from labeler.schema.golden import GOLDEN
from labeler.schema.handing import CLAIMS, HANDING
from labeler.schema.leaks import LEAKS
from labeler.schema.light import Database, Migrations
from labeler.schema.online import ONLINE
from labeler.schema.people import INVITATIONS, SESSIONS
from labeler.schema.pool import UNGRADED
from labeler.schema.rankings import RANKINGS
from labeler.schema.running import run
from labeler.schema.tending import TENDING
from labeler.schema.versions import SPLIT, VERSIONS
from labeler.schema.words import SEARCH

__all__ = ["ADD_SEAL", "LAST", "migrations", "sealed_events"]

migrations = Migrations("labeler")

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

# `golden` is made anew by a later migration, see `labeler.schema.golden`.
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

# What a grader says of a whole query: a log of its own, kept as the log of judgments is.
REMARKS = """
CREATE TABLE remarks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE CHECK (event_id <> ''),
    query INTEGER NOT NULL REFERENCES queries (id),
    grader INTEGER NOT NULL REFERENCES graders (id),
    kind TEXT NOT NULL CHECK (kind IN ('unanswered', 'unclear', 'withdraw')),
    note TEXT,
    created_at TEXT NOT NULL
) STRICT;

CREATE INDEX remarks_query ON remarks (query, grader);

CREATE TRIGGER remarks_are_not_updated BEFORE UPDATE ON remarks
BEGIN
    SELECT RAISE(ABORT, 'remarks are append-only: add a new one instead of changing one');
END;

CREATE TRIGGER remarks_are_not_deleted BEFORE DELETE ON remarks
BEGIN
    SELECT RAISE(ABORT, 'remarks are append-only: add a withdrawal instead of deleting');
END;

CREATE TRIGGER remarks_are_not_replaced BEFORE INSERT ON remarks
WHEN EXISTS (SELECT 1 FROM remarks WHERE id = NEW.id OR event_id = NEW.event_id)
BEGIN
    SELECT RAISE(ABORT, 'remarks are append-only: this one is already in the log');
END;

CREATE VIEW current_remarks AS
SELECT id, event_id, query, grader, kind, note, created_at
FROM remarks AS r
WHERE kind <> 'withdraw'
    AND NOT EXISTS (
        SELECT 1 FROM remarks AS newer
        WHERE newer.query = r.query AND newer.grader = r.grader AND newer.id > r.id
    );
"""

# A date that nobody gave is not known. A column cannot be told to take NULL; a new one can, and
# unlike a new table it leaves the lists, which fall with their run, where they are.
UNKNOWN_DATES = """
ALTER TABLE runs ADD COLUMN given_at TEXT;
UPDATE runs SET given_at = created_at;
ALTER TABLE runs DROP COLUMN created_at;
ALTER TABLE runs RENAME COLUMN given_at TO created_at;
"""


# A remark can be taken back as a judgment can: by an event that names it and says what holds again.
# The trigger is made anew because a second undo of a remark would replace the first.
REMARK_UNDO = """
ALTER TABLE remarks ADD COLUMN undoes INTEGER REFERENCES remarks (id);

CREATE UNIQUE INDEX remarks_undoes ON remarks (undoes);

DROP TRIGGER remarks_are_not_replaced;

CREATE TRIGGER remarks_are_not_replaced BEFORE INSERT ON remarks
WHEN EXISTS (
    SELECT 1 FROM remarks WHERE id = NEW.id OR event_id = NEW.event_id OR undoes = NEW.undoes
)
BEGIN
    SELECT RAISE(ABORT, 'remarks are append-only: this one is already in the log');
END;

CREATE VIEW standing_remarks AS
SELECT * FROM remarks AS r
WHERE undoes IS NULL AND NOT EXISTS (SELECT 1 FROM remarks AS undo WHERE undo.undoes = r.id);
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


@migrations()
def m001_first_shape(db: Database) -> None:
    """Create every table, trigger and view of the first release."""
    run(db, TABLES)
    run(db, TRIGGERS)
    run(db, VIEWS)
    born_with = {
        "golden_set": str(uuid.uuid4()),
        "signing_key": secrets.token_hex(32),
        "data_revision": 0,
    }
    for key, value in born_with.items():
        db.execute("INSERT INTO settings (key, value) VALUES (?, ?)", [key, json.dumps(value)])


@migrations()
def m002_people_remarks_and_search(db: Database) -> None:
    """Add invitations, what graders say of whole queries, and the index of the chunks' words."""
    run(db, REMARKS)
    run(db, INVITATIONS)
    run(db, SEARCH)


@migrations()
def m003_runs_of_unknown_date(db: Database) -> None:
    """Let a run be without a date; those that have one keep it."""
    run(db, UNKNOWN_DATES)


@migrations()
def m004_remarks_undone_and_lists_seen(db: Database) -> None:
    """Let remarks be taken back as judgments are; remember who was shown a query's lists."""
    run(db, REMARK_UNDO)
    run(db, LISTS_SEEN)


@migrations()
def m005_sessions(db: Database) -> None:
    """Let a link open sessions instead of being one, and a login be an issuer's subject."""
    run(db, SESSIONS)


@migrations()
def m006_audit_and_seals(db: Database) -> None:
    """Add what is kept of who did what, and the seals of the logs: old events get theirs now."""
    run(db, AUDIT)
    run(db, SEALS)
    [(stored,)] = db.execute("SELECT value FROM settings WHERE key = 'golden_set'").fetchall()
    for log in LOGS:
        events = db.execute(sealed_events(log), ALL)
        seals = sealed(first_seal(json.loads(stored), log), events)
        db.conn.executemany(ADD_SEAL, ((log, *seal) for seal in seals))


@migrations()
def m007_pairs_signed_as_they_are_handed_out(db: Database) -> None:
    """Remember who was told what others gave, and who was there before pairs were signed."""
    run(db, HANDING)


@migrations()
def m008_rankings_of_long_lists(db: Database) -> None:
    """Show ranked lists as rows in good time, however long they are."""
    run(db, RANKINGS)


@migrations()
def m009_the_rule_of_golden_grades(db: Database) -> None:
    """Let the team's rule decide what several people's grades of a pair become."""
    run(db, GOLDEN)


@migrations()
def m010_frozen_versions_and_splits(db: Database) -> None:
    """Add frozen versions of the golden set, and let queries belong to dev, test or held-out."""
    run(db, SPLIT)
    run(db, VERSIONS)


@migrations()
def m011_queries_found_elsewhere(db: Database) -> None:
    """Remember which queries were found in other texts, where, and who said so."""
    run(db, LEAKS)


@migrations()
def m012_signals_and_answers(db: Database) -> None:
    """Add what users did, system by system, and what was answered by which run."""
    run(db, ONLINE)


@migrations()
def m013_candidates_and_the_history_of_queries(db: Database) -> None:
    """Add questions that may become queries, proposed grades, and how queries came to be."""
    run(db, TENDING)


@migrations()
def m014_pairs_without_a_grade(db: Database) -> None:
    """Remember which pairs a file put into the pool and nobody has graded."""
    run(db, UNGRADED)


@migrations()
def m015_evidence(db: Database) -> None:
    """Let a judgment say which passages of the text made the grade."""
    run(db, EVIDENCE)


@migrations()
def m016_chunkings_and_documents(db: Database) -> None:
    """Let chunks and runs belong to chunkings, and know where chunks stand in their documents."""
    run(db, CHUNKINGS)


@migrations()
def m017_grades_carried_over(db: Database) -> None:
    """Let the log say which grades follow from others, and count these below all others."""
    run(db, carrying_log(TRIGGERS))


@migrations()
def m018_claims_of_several_servers(db: Database) -> None:
    """Let the servers of one database know of each other whom they handed which queries."""
    run(db, CLAIMS)
