"""The tables of the audit and of the seals, as SQL text, and what of an event a seal is made from.

Both are added to and never changed, as the log of judgments is.
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


LAST = 2**63 - 1
ALL = (0, LAST, -1)
ADD_SEAL = "INSERT INTO seals (log, event, seal) VALUES (?, ?, ?)"
