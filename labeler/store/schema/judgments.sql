-- Judgments, the log of every grade, and remarks, the log of what people say of whole queries.
-- Both are append-only, see append_only.sql.

-- kind          'propose' is a grade that somebody proposes while grades are adjudicated; 'carry' is
--               a transferred grade
-- grader        null for imports, whose file says who gave the grade in graders, and for
--               transferred grades
-- blind         1 where the person had seen neither ranks nor the grades of others
-- undoes        the judgment that this one takes back; its columns say what holds again
-- text_hash     hash of the text that was graded
-- evidence      the passages that made the grade: [start, end] in the chunk's text, in Unicode code
--               points, end not included; sorted, without overlaps; null where none was marked
-- carried_from  the judgments a transferred grade rests on: objects with event_id, golden
--               (the golden grade of that pair then), chunk_id, grade, who and at. A withdrawal of a
--               transferred grade has an empty list.
-- seen_whole    whether all of the text was on the grader's screen; null where unknown
-- highlighted   whether the query's words were highlighted in it; null where unknown
CREATE TABLE judgments (
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
    undoes INTEGER UNIQUE REFERENCES judgments (id),
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
    seen_whole INTEGER CHECK (seen_whole IN (0, 1)),
    highlighted INTEGER CHECK (highlighted IN (0, 1)),
    CHECK ((kind IN ('cannot_tell', 'withdraw')) = (grade IS NULL)),
    CHECK ((kind = 'import' OR carried_from IS NOT NULL) = (grader IS NULL)),
    CHECK ((kind = 'import') = (graders IS NOT NULL)),
    CHECK (
        CASE kind WHEN 'carry' THEN carried_from IS NOT NULL
            AND json_array_length(carried_from) > 0
        WHEN 'withdraw' THEN carried_from IS NULL OR json_array_length(carried_from) = 0
        ELSE carried_from IS NULL END
    )
) STRICT;

CREATE INDEX judgments_pair ON judgments (query, chunk);
CREATE INDEX judgments_grader ON judgments (grader);
CREATE INDEX judgments_carried ON judgments (query, chunk) WHERE carried_from IS NOT NULL;
-- A partial index, so that a grade without evidence is written as fast as before.
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

CREATE TRIGGER transferred_grades_name_their_source BEFORE INSERT ON judgments
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

-- Judgments that were not taken back, each with its lane. A newer judgment replaces an older one
-- only in its lane: a person's adjudication does not replace their grade. The plus sign keeps
-- SQLite from reading all judgments that undo nothing, by their index, for every pair.
CREATE VIEW standing_judgments AS
SELECT
    j.*,
    CASE WHEN kind IN ('adjudicate', 'import', 'propose') THEN kind
    WHEN carried_from IS NOT NULL THEN 'carry'
    ELSE 'grade' END AS lane
FROM judgments AS j
WHERE +undoes IS NULL
    AND NOT EXISTS (SELECT 1 FROM judgments AS undo WHERE undo.undoes = j.id);

-- The newest judgment of each person (or file) in each lane of a pair, unless it withdraws.
CREATE VIEW current_judgments AS
SELECT
    id, event_id, query, chunk, grader, kind, grade, graders, reason, note, blind, source,
    elapsed_ms, text_hash, created_at, evidence, carried_from
FROM standing_judgments AS j
WHERE kind <> 'withdraw'
    AND NOT EXISTS (
        SELECT 1 FROM standing_judgments AS newer
        WHERE newer.query = j.query AND newer.chunk = j.chunk AND +newer.grader IS j.grader
            AND newer.lane = j.lane AND newer.id > j.id
    );

-- Pairs that a file added to the pool and nobody has graded.
CREATE TABLE ungraded (
    query INTEGER NOT NULL REFERENCES queries (id),
    chunk INTEGER NOT NULL REFERENCES chunks (id),
    PRIMARY KEY (query, chunk)
) STRICT, WITHOUT ROWID;

CREATE TABLE remarks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE CHECK (event_id <> ''),
    query INTEGER NOT NULL REFERENCES queries (id),
    grader INTEGER NOT NULL REFERENCES graders (id),
    kind TEXT NOT NULL CHECK (kind IN ('unanswered', 'unclear', 'withdraw')),
    note TEXT,
    created_at TEXT NOT NULL,
    undoes INTEGER UNIQUE REFERENCES remarks (id)
) STRICT;

CREATE INDEX remarks_query ON remarks (query, grader);

CREATE VIEW standing_remarks AS
SELECT * FROM remarks AS r
WHERE undoes IS NULL AND NOT EXISTS (SELECT 1 FROM remarks AS undo WHERE undo.undoes = r.id);

CREATE VIEW current_remarks AS
SELECT id, event_id, query, grader, kind, note, created_at
FROM remarks AS r
WHERE kind <> 'withdraw'
    AND NOT EXISTS (
        SELECT 1 FROM remarks AS newer
        WHERE newer.query = r.query AND newer.grader = r.grader AND newer.id > r.id
    );
