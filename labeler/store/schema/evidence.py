"""The passages that made a grade, as a column of the log of judgments: SQL text, runs none of it.

``evidence`` is a JSON array of ``[start, end]``, places in the chunk's stored text counted in
Unicode code points, half open; null where nothing was marked. The wording they are places in is
the judgment's ``text_hash``. They are sorted, hold something and do not overlap; that they lie
inside the text can be held only while that wording is the stored one.

What follows from a column in this log:
- it is append-only like the others: their triggers refuse every UPDATE and DELETE of a row
- marking passages after the grade is one more judgment, with the same grade; undo takes it back
- a seal covers it where there is any: an event without evidence keeps the bytes it always had, so
  that seals kept before stay good (`labeler.store.schema.books.sealed_events`)
- so does the hash of a golden set (`labeler.model.versions.canonical`)
- copies and backups are of whole files, and a grader's name is not in it: nothing to do for them
"""

from __future__ import annotations

COLUMN = """
ALTER TABLE judgments ADD COLUMN evidence TEXT CHECK (
    evidence IS NULL OR (
        json_type(evidence) = 'array' AND json_array_length(evidence) BETWEEN 1 AND 100
        AND grade IS NOT NULL AND text_hash IS NOT NULL
    )
);
"""

# The index is of what has evidence alone: a grade without it is written as fast as ever.
GUARDED_EVIDENCE = """
CREATE INDEX judgments_evidence ON judgments (query, chunk) WHERE evidence IS NOT NULL;

CREATE TRIGGER evidence_is_in_its_text BEFORE INSERT ON judgments
WHEN NEW.evidence IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'evidence is a sorted list of [start, end], none empty or overlapping')
    WHERE EXISTS (
        SELECT 1 FROM (
            SELECT
                type, json_array_length(value) AS places,
                json_type(value, '$[0]') AS starts_as, json_type(value, '$[1]') AS ends_as,
                json_extract(value, '$[0]') AS start, json_extract(value, '$[1]') AS "end",
                lag(json_extract(value, '$[1]'), 1, 0) OVER (ORDER BY key) AS before
            FROM json_each(NEW.evidence)
        )
        WHERE type <> 'array' OR places <> 2 OR starts_as <> 'integer' OR ends_as <> 'integer'
            OR start < before OR "end" <= start
    );
    SELECT RAISE(ABORT, 'evidence lies outside the text of its chunk')
    FROM chunks AS c
    WHERE c.id = NEW.chunk AND c.text_hash IS NEW.text_hash AND EXISTS (
        SELECT 1 FROM json_each(NEW.evidence)
        WHERE json_extract(value, '$[1]') > length(c.text)
    );
END;
"""

# What came to the log later is named, so that a view over a shorter log is the same statement.
CURRENT = """
CREATE VIEW current_judgments AS
SELECT
    id, event_id, query, chunk, grader, kind, grade, graders, reason, note, blind, source,
    elapsed_ms, text_hash, created_at, {later}
FROM standing_judgments AS j
WHERE kind <> 'withdraw'
    AND NOT EXISTS (
        SELECT 1 FROM standing_judgments AS newer
        WHERE newer.query = j.query AND newer.chunk = j.chunk AND +newer.grader IS j.grader
            AND newer.lane = j.lane AND newer.id > j.id
    );
"""

EVIDENCE = (
    COLUMN
    + GUARDED_EVIDENCE
    + "\nDROP VIEW current_judgments;\n"
    + CURRENT.format(later="evidence")
)
