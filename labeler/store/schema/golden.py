"""SQL text that defines the golden grade: the views, the evidence and the transferred grades.

`labeler.model.agreed_grade` says in Python how several people's grades become one, and
`labeler.store.golden_grades` does so with arrays: change all three together.

``evidence`` is a JSON array of ``[start, end]``, places in the chunk's stored text counted in
Unicode code points, half open; null where nothing was marked. They are places in the wording
that the judgment's ``text_hash`` names, are sorted, not empty and do not overlap; that they lie
inside the text can be checked only while that wording is the stored one. The column is
append-only like the others, and undo takes it back. An event without evidence is hashed as
before the column existed, so that earlier hashes remain valid.

A judgment of kind ``carry`` is a transferred grade. It has no grader: it follows from judgments of
other chunks, which it names in ``carried_from``, a JSON array of objects: ``event_id``,
``golden`` (the golden grade of that judgment's pair then), and what it said: ``chunk_id``,
``grade``, ``who`` (names) and ``at``. It counts where nobody has graded its pair and no file
has, and only while it follows:
- its own chunk has the text that it is of
- each judgment it rests on is current, of the present text, and its pair's golden grade is what
  it was; one that is not in this log cannot be looked up, and is taken at its word, as is what
  was said of a text that is not in this file

So undoing a judgment restores the grades that rest on it without another event. To take a
transferred grade back, ``withdraw`` with an empty ``carried_from`` is appended in the
lane ``carry``, or an undo of it. The migration that adds it copies the table row by row, because
a CHECK cannot be changed; the rows stay the same, so that hashes remain valid.
"""

from __future__ import annotations

RULE_SETTING = """
SELECT coalesce(
    (SELECT json_extract(value, '$.golden_rule') FROM settings WHERE key = 'settings'),
    'lower median'
)
"""

# What people, a file and whoever decided over them say of a pair, counted. ``also`` are further
# columns, ``kinds`` what else is counted, ``some`` which pairs.
COUNTED_JUDGMENTS = """
    SELECT
        query, chunk,
        max(id) FILTER (WHERE kind = 'adjudicate') AS adjudication,
        max(id) FILTER (WHERE kind = 'import') AS import,{also}
        count(*) FILTER (WHERE kind = 'grade') AS people,
        sum(grade) FILTER (WHERE kind = 'grade') AS total,
        count(*) FILTER (WHERE kind = 'grade' AND grade = 0) AS n0,
        count(*) FILTER (WHERE kind = 'grade' AND grade = 1) AS n1,
        count(*) FILTER (WHERE kind = 'grade' AND grade = 2) AS n2,
        count(*) FILTER (WHERE kind = 'grade' AND grade = 3) AS n3,
        max(id) FILTER (WHERE kind = 'grade' AND grade = 0) AS j0,
        max(id) FILTER (WHERE kind = 'grade' AND grade = 1) AS j1,
        max(id) FILTER (WHERE kind = 'grade' AND grade = 2) AS j2,
        max(id) FILTER (WHERE kind = 'grade' AND grade = 3) AS j3
    FROM current_judgments
    WHERE kind IN ('adjudicate', 'grade', 'import'{kinds}){some}
    GROUP BY query, chunk
"""
MIDDLE_GRADE = "(people + 1 + (rule = 'upper median')) / 2 AS middle"

# What several people's grades become by the team's rule, which may be nothing.
AGREED_GRADE = """
        CASE
        WHEN adjudication IS NOT NULL OR people = 0 THEN NULL
        WHEN rule = 'majority' THEN CASE
            WHEN n0 > max(n1, n2, n3) THEN 0
            WHEN n1 > max(n0, n2, n3) THEN 1
            WHEN n2 > max(n0, n1, n3) THEN 2
            WHEN n3 > max(n0, n1, n2) THEN 3
            END
        WHEN rule = 'mean rounded half down' THEN (2 * total + people - 1) / (2 * people)
        ELSE (n0 < middle) + (n0 + n1 < middle) + (n0 + n1 + n2 < middle)
        END
"""

# The newest adjudication; else what people's current grades become; else the newest import, or
# what ``else`` names. Rows are counted and not sorted: a group is a pair, in the order of the index
# of pairs, so that all is one pass and a question about one pair reads only it. `g` is the grade
# that counts; the newest judgment that gave it, or the nearest lower grade where a mean is
# nobody's, stands for it.
GOLDEN_VIEW = """
CREATE VIEW golden AS
WITH rule ({names}) AS (
{rule}
),
counted AS (
{counted}
),
ruled AS (
    SELECT counted.*, {names}, {middle}
    FROM counted, rule
),
agreed AS (
    SELECT
        *,
{agreed}
        AS g
    FROM ruled
)
SELECT
    agreed.query,
    agreed.chunk,
    coalesce(g, judgments.grade) AS grade,
    judgments.kind,
    judgments.id AS judgment,
    judgments.text_hash IS NOT NULL AND judgments.text_hash IS NOT chunks.text_hash AS stale
FROM agreed
JOIN judgments ON judgments.id = CASE
    WHEN adjudication IS NOT NULL THEN adjudication
    WHEN people = 0 THEN {otherwise}
    WHEN g = 0 THEN j0
    WHEN g = 1 THEN coalesce(j1, j0)
    WHEN g = 2 THEN coalesce(j2, j1, j0)
    WHEN g = 3 THEN coalesce(j3, j2, j1, j0)
    END
JOIN chunks ON chunks.id = agreed.chunk;
"""

GOLDEN = "DROP VIEW golden;\n" + GOLDEN_VIEW.format(
    names="rule",
    rule=RULE_SETTING,
    counted=COUNTED_JUDGMENTS.format(also="", kinds="", some=""),
    middle=MIDDLE_GRADE,
    agreed=AGREED_GRADE,
    otherwise="import",
)


EVIDENCE_COLUMN = """
ALTER TABLE judgments ADD COLUMN evidence TEXT CHECK (
    evidence IS NULL OR (
        json_type(evidence) = 'array' AND json_array_length(evidence) BETWEEN 1 AND 100
        AND grade IS NOT NULL AND text_hash IS NOT NULL
    )
);
"""

# The index is of what has evidence alone: a grade without it is written as fast as ever.
EVIDENCE_TRIGGERS = """
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
CURRENT_JUDGMENTS = """
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
    EVIDENCE_COLUMN
    + EVIDENCE_TRIGGERS
    + "\nDROP VIEW current_judgments;\n"
    + CURRENT_JUDGMENTS.format(later="evidence")
)


COLUMNS = """
    id, event_id, query, chunk, grader, kind, grade, graders, reason, note, blind, source, undoes,
    elapsed_ms, text_hash, created_at, evidence
"""

# A number that was given out and is not there any more stays given out: `labeler check` counts.
JUDGMENTS_WITH_TRANSFERS = f"""
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

TRANSFER_TRIGGERS = """
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

STANDING_JUDGMENTS = """
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

RULE_SETTINGS = """
SELECT
    coalesce(json_extract(chosen, '$.golden_rule'), 'lower median'),
    coalesce(json_extract(chosen, '$.carried'), 'count')
FROM (SELECT (SELECT value FROM settings WHERE key = 'settings') AS chosen)
"""

COUNTED_OF_BASE = COUNTED_JUDGMENTS.format(
    also="\n        max(id = base.id) AS stands,",
    kinds="",
    some=" AND query = base.query AND chunk = base.chunk",
)
# The golden grade of the pair of `base`, without what was transferred: nothing is carried twice.
# Null where `base` is not current itself.
GOLDEN_OF_BASE = f"""(
    SELECT CASE WHEN NOT stands THEN NULL WHEN adjudication IS NOT NULL OR people = 0 THEN (
        SELECT deciding.grade FROM judgments AS deciding
        WHERE deciding.id = coalesce(adjudication, import)
    ) ELSE
{AGREED_GRADE}
    END
    FROM (SELECT of_base.*, {MIDDLE_GRADE} FROM (
{COUNTED_OF_BASE}
    ) AS of_base)
)"""

# Asked of pairs alone of which nothing else is said.
VALID_TRANSFER = f"""
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

GOLDEN_WITH_TRANSFERS = GOLDEN_VIEW.format(
    names="rule, carried",
    rule=RULE_SETTINGS,
    counted=COUNTED_JUDGMENTS.format(
        also="\n        max(id) FILTER (WHERE kind = 'carry') AS carry,",
        kinds=", 'carry'",
        some="",
    ),
    middle=MIDDLE_GRADE,
    agreed=AGREED_GRADE,
    otherwise=f"coalesce(import, {VALID_TRANSFER})",
)


# What was on the grader's screen when a grade was given: all of the text, or not, and the query's
# words marked in it, or not. Null where nobody knows, as of what came from a file.
READING = """
ALTER TABLE judgments ADD COLUMN seen_whole INTEGER CHECK (seen_whole IN (0, 1));
ALTER TABLE judgments ADD COLUMN highlighted INTEGER CHECK (highlighted IN (0, 1));
"""


def transfer_script(triggers: str) -> str:
    """Return the script; ``triggers`` are those that keep the log append-only."""
    views = (
        STANDING_JUDGMENTS
        + CURRENT_JUDGMENTS.format(later="evidence, carried_from")
        + GOLDEN_WITH_TRANSFERS
    )
    return JUDGMENTS_WITH_TRANSFERS + triggers + EVIDENCE_TRIGGERS + TRANSFER_TRIGGERS + views
