"""What a grader says of a whole query: a log of its own, kept as the log of judgments is."""

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
