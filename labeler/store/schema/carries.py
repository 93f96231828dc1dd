"""Grades that were carried over to another chunking, in the log of judgments: SQL text, runs none.

A judgment of kind ``carry`` is nobody's: it follows from judgments of other chunks, which it names
in ``carried_from``, a JSON array of objects: ``event_id``, ``golden`` (the golden grade of that
judgment's pair then), and what it said: ``chunk_id``, ``grade``, ``who`` (names) and ``at``. It
counts where nobody has graded its pair and no file has, and only while it follows:
- its own chunk has the text that it is of
- each judgment it rests on is current, of the present text, and its pair's golden grade is what it
  was; one that is not in this log cannot be looked up, and is taken at its word, as is what was
  said of a text that is not in this file

So an undo of a judgment brings back what rests on it, and nothing has to be written for it. To take
a carried grade back, ``withdraw`` with an empty ``carried_from`` is appended in the lane ``carry``,
or an undo of it.

The table is made anew, row by row, because a CHECK cannot be changed; nothing else in it is other
than it was, so that seals stay good. Its own triggers and indexes are made again with it.
"""

from __future__ import annotations

from labeler.store.schema.evidence import CURRENT, GUARDED_EVIDENCE
from labeler.store.schema.golden import AGREED, COUNTED, GOLDEN_VIEW, MIDDLE

COLUMNS = """
    id, event_id, query, chunk, grader, kind, grade, graders, reason, note, blind, source, undoes,
    elapsed_ms, text_hash, created_at, evidence
"""

# A number that was given out and is not there any more stays given out: `labeler check` counts.
TABLE = f"""
DROP VIEW golden;
DROP VIEW current_judgments;
DROP VIEW standing_judgments;

CREATE TABLE judgments_and_carries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE CHECK (event_id <> ''),
    query INTEGER NOT NULL REFERENCES queries (id),
    chunk INTEGER NOT NULL REFERENCES chunks (id),
    grader INTEGER REFERENCES graders (id),
    kind TEXT NOT NULL CHECK (
        kind IN ('grade', 'cannot_tell', 'withdraw', 'adjudicate', 'import', 'propose', 'carry')
    ),
    grade INTEGER CHECK (grade BETWEEN 0 AND 3),
    graders TEXT CHECK (json_type(graders) = 'array'),
    reason TEXT,
    note TEXT,
    blind INTEGER NOT NULL CHECK (blind IN (0, 1)),
    source TEXT,
    undoes INTEGER UNIQUE REFERENCES judgments_and_carries (id),
    elapsed_ms INTEGER,
    text_hash TEXT,
    created_at TEXT NOT NULL,
    evidence TEXT CHECK (
        evidence IS NULL OR (
            json_type(evidence) = 'array' AND json_array_length(evidence) BETWEEN 1 AND 100
            AND grade IS NOT NULL AND text_hash IS NOT NULL
        )
    ),
    carried_from TEXT CHECK (json_type(carried_from) = 'array'),
    CHECK ((kind IN ('cannot_tell', 'withdraw')) = (grade IS NULL)),
    CHECK ((kind = 'import' OR carried_from IS NOT NULL) = (grader IS NULL)),
    CHECK ((kind = 'import') = (graders IS NOT NULL)),
    CHECK (
        CASE kind WHEN 'carry' THEN json_array_length(carried_from) IS NOT 0
            AND carried_from IS NOT NULL
        WHEN 'withdraw' THEN carried_from IS NULL OR json_array_length(carried_from) = 0
        ELSE carried_from IS NULL END
    )
) STRICT;

INSERT INTO judgments_and_carries ({COLUMNS}) SELECT {COLUMNS} FROM judgments ORDER BY id;

DELETE FROM sqlite_sequence WHERE name = 'judgments_and_carries';
INSERT INTO sqlite_sequence (name, seq)
SELECT 'judgments_and_carries', seq FROM sqlite_sequence WHERE name = 'judgments';

DROP TABLE judgments;
ALTER TABLE judgments_and_carries RENAME TO judgments;

CREATE INDEX judgments_pair ON judgments (query, chunk);
CREATE INDEX judgments_grader ON judgments (grader);
CREATE INDEX judgments_carried ON judgments (query, chunk) WHERE carried_from IS NOT NULL;
"""

GUARDED_CARRIES = """
CREATE TRIGGER carries_say_what_they_rest_on BEFORE INSERT ON judgments
WHEN NEW.carried_from IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'carried_from is a list of objects with event_id and golden, a grade')
    WHERE EXISTS (
        SELECT 1 FROM json_each(NEW.carried_from)
        WHERE type <> 'object' OR json_type(value, '$.event_id') IS NOT 'text'
            OR json_type(value, '$.golden') IS NOT 'integer'
            OR json_extract(value, '$.golden') NOT BETWEEN 0 AND 3
    );
    SELECT RAISE(ABORT, 'a carried grade rests on grades of the same query')
    FROM json_each(NEW.carried_from) AS said
    JOIN judgments AS base ON base.event_id = json_extract(said.value, '$.event_id')
    WHERE base.query <> NEW.query OR base.kind NOT IN ('grade', 'adjudicate', 'import');
END;
"""

STANDING = """
-- Judgments that nobody has taken back, with the lane they count in. An undo is none of them: it
-- says in its columns what holds again, for whoever reads the log.
CREATE VIEW standing_judgments AS
SELECT
    j.*,
    CASE WHEN kind IN ('adjudicate', 'import', 'propose') THEN kind
    WHEN carried_from IS NOT NULL THEN 'carry'
    ELSE 'grade' END AS lane
FROM judgments AS j
WHERE +undoes IS NULL
    AND NOT EXISTS (SELECT 1 FROM judgments AS undo WHERE undo.undoes = j.id);
"""

RULES = """
SELECT
    coalesce(json_extract(chosen, '$.golden_rule'), 'lower median'),
    coalesce(json_extract(chosen, '$.carried'), 'count')
FROM (SELECT (SELECT value FROM settings WHERE key = 'settings') AS chosen)
"""

OF_BASE = COUNTED.format(
    also="\n        max(id = base.id) AS stands,",
    kinds="",
    some=" AND query = base.query AND chunk = base.chunk",
)
# The golden grade of the pair of `base`, without what was carried over: nothing is carried twice.
# Null where `base` is not current itself.
GOLDEN_OF_BASE = f"""(
    SELECT CASE WHEN NOT stands THEN NULL WHEN adjudication IS NOT NULL OR people = 0 THEN (
        SELECT deciding.grade FROM judgments AS deciding
        WHERE deciding.id = coalesce(adjudication, import)
    ) ELSE
{AGREED}
    END
    FROM (SELECT of_base.*, {MIDDLE} FROM (
{OF_BASE}
    ) AS of_base)
)"""

# Asked of pairs alone of which nothing else is said.
STILL_FOLLOWS = f"""
CASE WHEN agreed.carried = 'count' AND NOT EXISTS (
    SELECT 1 FROM judgments AS own JOIN chunks AS its ON its.id = own.chunk
    WHERE own.id = carry AND own.text_hash <> its.text_hash
) AND NOT EXISTS (
    SELECT 1 FROM judgments AS own
    JOIN json_each(own.carried_from) AS said
    JOIN judgments AS base ON base.event_id = json_extract(said.value, '$.event_id')
    JOIN chunks AS of ON of.id = base.chunk
    WHERE own.id = carry AND (
        coalesce(base.text_hash <> of.text_hash, false)
        OR json_extract(said.value, '$.golden') IS NOT {GOLDEN_OF_BASE}
    )
) THEN carry END
"""

GOLDEN = GOLDEN_VIEW.format(
    names="rule, carried",
    rule=RULES,
    counted=COUNTED.format(
        also="\n        max(id) FILTER (WHERE kind = 'carry') AS carry,",
        kinds=", 'carry'",
        some="",
    ),
    middle=MIDDLE,
    agreed=AGREED,
    otherwise=f"coalesce(import, {STILL_FOLLOWS})",
)


def carrying_log(triggers: str) -> str:
    """Return the script; ``triggers`` are those that keep the log append-only."""
    views = STANDING + CURRENT.format(later="evidence, carried_from") + GOLDEN
    return TABLE + triggers + GUARDED_EVIDENCE + GUARDED_CARRIES + views
