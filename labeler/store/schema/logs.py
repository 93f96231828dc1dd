"""SQL text of the append-only tables: audit, hash chain, remarks, versions, leaks, history.

The tables of candidates and suggested grades are here as well, since the history of queries came
with them. Triggers refuse every UPDATE, DELETE and INSERT OR REPLACE of an append-only table.
"""

from collections.abc import Iterable


def append_only(table: str, stored: str, refusal: str) -> str:
    """Return the triggers that refuse every change of ``table`` but a new row.

    ``stored`` is true of a row that is already there, so that INSERT OR REPLACE is refused too.
    """
    are = "are" if table.endswith("s") else "is"
    return f"""
CREATE TRIGGER {table}_{are}_not_updated BEFORE UPDATE ON {table}
BEGIN
    SELECT RAISE(ABORT, '{refusal}');
END;

CREATE TRIGGER {table}_{are}_not_deleted BEFORE DELETE ON {table}
BEGIN
    SELECT RAISE(ABORT, '{refusal}');
END;

CREATE TRIGGER {table}_{are}_not_replaced BEFORE INSERT ON {table}
WHEN EXISTS (SELECT 1 FROM {table} WHERE {stored})
BEGIN
    SELECT RAISE(ABORT, '{refusal}');
END;
"""


AUDIT = """
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind <> ''),
    who TEXT,
    way TEXT NOT NULL CHECK (way <> ''),
    address TEXT,
    subject TEXT,
    detail TEXT NOT NULL DEFAULT '{}' CHECK (json_type(detail) = 'object'),
    count INTEGER NOT NULL DEFAULT 1 CHECK (count > 0)
) STRICT;
""" + append_only("audit", "id = NEW.id", "the audit is append-only: what was done stays in it")

# A seal is no column of its event: it is made after the event is on the disk, so that a grade is
# one INSERT and waits for no hash.
SEALS = """
CREATE TABLE seals (
    log TEXT NOT NULL CHECK (log IN ('judgments', 'remarks')),
    event INTEGER NOT NULL,
    seal BLOB NOT NULL CHECK (length(seal) = 32),
    PRIMARY KEY (log, event)
) STRICT, WITHOUT ROWID;
""" + append_only(
    "seals",
    "log = NEW.log AND event = NEW.event",
    "seals are append-only: an event keeps the one it has",
)

# What a seal is made from, oldest first, after a number and up to another, so many at most. Ids are
# as they were given, so that they cannot change places; a grader is a number, as names change.
FIRST_SEALED_EVENTS = {
    "judgments": """
        SELECT
            j.id, j.event_id, q.query_id, c.chunk_id, j.grader, j.kind, j.grade, j.graders,
            j.reason, j.note, j.blind, j.source, j.undoes, j.elapsed_ms, j.text_hash, j.created_at
        FROM judgments AS j NOT INDEXED
        LEFT JOIN queries AS q ON q.id = j.query
        LEFT JOIN chunks AS c ON c.id = j.chunk
        WHERE j.id > ? AND j.id <= ? ORDER BY j.id LIMIT ?
    """,
    "remarks": """
        SELECT r.id, r.event_id, q.query_id, r.grader, r.kind, r.note, r.undoes, r.created_at
        FROM remarks AS r NOT INDEXED
        LEFT JOIN queries AS q ON q.id = r.query
        WHERE r.id > ? AND r.id <= ? ORDER BY r.id LIMIT ?
    """,
}


def sealed_events(log: str, later: Iterable[str] = ()) -> str:
    """Return the statement, with the columns of judgments that came ``later``.

    They stand last, and whoever reads it leaves out the empty ones at the end: an event from before
    them keeps the seal it has.
    """
    columns = ", ".join(["j.created_at", *(f"j.{name}" for name in later)])
    return FIRST_SEALED_EVENTS[log].replace("j.created_at\n", f"{columns}\n")


LAST_ID = 2**63 - 1
ALL_EVENTS = (0, LAST_ID, -1)
INSERT_SEAL = "INSERT INTO seals (log, event, seal) VALUES (?, ?, ?)"


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


SPLIT_COLUMN = """
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


# The events of a load follow each other in the log, from the first to the last.
GOLDEN_LOADS = """
CREATE TABLE golden_loads (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    who TEXT,
    file TEXT NOT NULL,
    first_event INTEGER NOT NULL REFERENCES judgments (id),
    last_event INTEGER NOT NULL REFERENCES judgments (id),
    CHECK (first_event <= last_event)
) STRICT;
""" + append_only(
    "golden_loads",
    "id = NEW.id",
    "the list of loads is append-only: what was loaded stays in it",
)


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


# What is not known of queries from before these columns stays NULL.
QUERY_ORIGINS = """
ALTER TABLE queries ADD COLUMN source TEXT
    CHECK (source IN ('file', 'log', 'generated', 'thumbs', 'typed'));
ALTER TABLE queries ADD COLUMN source_file TEXT;
ALTER TABLE queries ADD COLUMN added_at TEXT;
ALTER TABLE queries ADD COLUMN added_by TEXT;
"""

# A batch is one file of candidates, or what somebody typed: the same content comes in once.
# normal: the words of a text as they are compared. Of a log only some questions are kept, as many
# as were asked for, and those that queries ask already; batch_buckets counts all it holds.
CANDIDATES = """
CREATE TABLE batches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL CHECK (source IN ('log', 'generated', 'thumbs', 'typed')),
    file TEXT,
    hash TEXT NOT NULL UNIQUE,
    at TEXT NOT NULL,
    who TEXT,
    times INTEGER NOT NULL,
    texts INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    evenly TEXT NOT NULL DEFAULT '[]' CHECK (json_type(evenly) = 'array'),
    seed INTEGER,
    first_asked TEXT,
    last_asked TEXT
) STRICT;

CREATE TABLE batch_buckets (
    batch INTEGER NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
    facet TEXT NOT NULL CHECK (facet <> ''),
    bucket TEXT NOT NULL,
    times INTEGER NOT NULL CHECK (times > 0),
    texts INTEGER NOT NULL CHECK (texts > 0),
    PRIMARY KEY (batch, facet, bucket)
) STRICT, WITHOUT ROWID;

CREATE TABLE candidates (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL CHECK (source IN ('log', 'generated', 'thumbs', 'typed')),
    text TEXT NOT NULL CHECK (text <> ''),
    normal TEXT NOT NULL CHECK (normal <> ''),
    times INTEGER NOT NULL CHECK (times > 0),
    asked_at TEXT,
    reference TEXT,
    guideline TEXT,
    keywords TEXT NOT NULL DEFAULT '[]' CHECK (json_type(keywords) = 'array'),
    batch INTEGER NOT NULL REFERENCES batches (id),
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'taken', 'dropped')),
    query INTEGER REFERENCES queries (id),
    settled_at TEXT,
    settled_by TEXT,
    UNIQUE (source, normal),
    CHECK ((state = 'taken') = (query IS NOT NULL))
) STRICT;

CREATE INDEX candidates_state ON candidates (state, source);
CREATE INDEX candidates_query ON candidates (query);
CREATE INDEX candidates_normal ON candidates (normal);

CREATE TABLE candidate_buckets (
    candidate INTEGER NOT NULL REFERENCES candidates (id) ON DELETE CASCADE,
    facet TEXT NOT NULL CHECK (facet <> ''),
    bucket TEXT NOT NULL,
    times INTEGER NOT NULL CHECK (times > 0),
    PRIMARY KEY (candidate, facet, bucket)
) STRICT, WITHOUT ROWID;
"""

# Of a candidate until it is taken, of its query from then on: `proposed` says it by query. Votes
# for several grades of one pair from one source are weighed there: the grade with most of them is
# proposed, and none where two have as many. No golden grade is ever made of these.
SUGGESTIONS = """
CREATE TABLE proposals (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    query INTEGER REFERENCES queries (id),
    candidate INTEGER REFERENCES candidates (id) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunks (id),
    source TEXT NOT NULL CHECK (source <> ''),
    grade INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 3),
    times INTEGER NOT NULL CHECK (times > 0),
    at TEXT NOT NULL,
    who TEXT,
    CHECK ((query IS NULL) <> (candidate IS NULL))
) STRICT;

CREATE UNIQUE INDEX proposals_of_queries ON proposals (query, chunk, source, grade)
    WHERE query IS NOT NULL;
CREATE UNIQUE INDEX proposals_of_candidates ON proposals (candidate, chunk, source, grade)
    WHERE candidate IS NOT NULL;

CREATE VIEW proposed AS
WITH votes AS (
    SELECT coalesce(p.query, c.query) AS query, p.chunk, p.source, p.grade,
        sum(p.times) AS times, min(p.at) AS at
    FROM proposals AS p LEFT JOIN candidates AS c ON c.id = p.candidate
    GROUP BY 1, 2, 3, 4
),
weighed AS (
    SELECT query, chunk, source, grade, times, at,
        sum(times) OVER (PARTITION BY query, chunk, source) - times AS against,
        rank() OVER (PARTITION BY query, chunk, source ORDER BY times DESC) AS place,
        count(*) OVER (PARTITION BY query, chunk, source, times) AS as_many
    FROM votes WHERE query IS NOT NULL
)
SELECT query, chunk, source, grade, times, against, at
FROM weighed WHERE place = 1 AND as_many = 1;
"""

# before and after hold the fields that a change was of, as JSON.
QUERY_HISTORY = """
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
""" + append_only(
    "query_history",
    "id = NEW.id",
    "the history of queries is append-only: change the query anew instead",
)

CANDIDATES_AND_HISTORY = QUERY_ORIGINS + CANDIDATES + SUGGESTIONS + QUERY_HISTORY
