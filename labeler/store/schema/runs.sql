-- Runs: their ranked lists, where these came from, and a view that shows them as rows.

-- created_at  null where the date of the run is not known
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    system TEXT NOT NULL,
    depth INTEGER NOT NULL,
    params TEXT NOT NULL DEFAULT '{}' CHECK (json_type(params) = 'object'),
    source_hash TEXT NOT NULL,
    created_at TEXT,
    chunking INTEGER REFERENCES chunkings (id)
) STRICT;

-- One row for each run and query. The query is stored by id and not by key, so that a run can be
-- loaded before its queries, and have queries that the golden set does not have.
-- chunks: chunks.id as little-endian int32, best first; scores: float32 in the same order
CREATE TABLE ranked_lists (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    query_id TEXT NOT NULL,
    chunks BLOB NOT NULL CHECK (length(chunks) % 4 = 0),
    scores BLOB CHECK (length(scores) = length(chunks)),
    PRIMARY KEY (run, query_id)
) STRICT, WITHOUT ROWID;

-- The record of a ranked list in the tool that made it, to which grades can be sent back.
-- places: pairs of a position in the record and a rank, both from 0; null where they are equal
CREATE TABLE list_sources (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    query_id TEXT NOT NULL CHECK (query_id <> ''),
    span TEXT,
    trace TEXT,
    places TEXT CHECK (json_type(places) = 'array'),
    PRIMARY KEY (run, query_id),
    CHECK (span IS NOT NULL OR trace IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- Ranked lists as rows, for other tools. A list is cut into blocks of 512 ranks and these into
-- ranks, since each cut reads the whole blob that it cuts. The empty halves of the unions keep SQLite
-- from computing the bytes of a rank again at each use. A little-endian number is read from its hex
-- digits, as SQLite has no function for it.
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
        ((instr('0123456789ABCDEF', substr(c, 1, 1)) - 1) << 4)
        | ((instr('0123456789ABCDEF', substr(c, 2, 1)) - 1) << 0)
        | ((instr('0123456789ABCDEF', substr(c, 3, 1)) - 1) << 12)
        | ((instr('0123456789ABCDEF', substr(c, 4, 1)) - 1) << 8)
        | ((instr('0123456789ABCDEF', substr(c, 5, 1)) - 1) << 20)
        | ((instr('0123456789ABCDEF', substr(c, 6, 1)) - 1) << 16)
        | ((instr('0123456789ABCDEF', substr(c, 7, 1)) - 1) << 28)
        | ((instr('0123456789ABCDEF', substr(c, 8, 1)) - 1) << 24) AS chunk,
        ((instr('0123456789ABCDEF', substr(s, 1, 1)) - 1) << 4)
        | ((instr('0123456789ABCDEF', substr(s, 2, 1)) - 1) << 0)
        | ((instr('0123456789ABCDEF', substr(s, 3, 1)) - 1) << 12)
        | ((instr('0123456789ABCDEF', substr(s, 4, 1)) - 1) << 8)
        | ((instr('0123456789ABCDEF', substr(s, 5, 1)) - 1) << 20)
        | ((instr('0123456789ABCDEF', substr(s, 6, 1)) - 1) << 16)
        | ((instr('0123456789ABCDEF', substr(s, 7, 1)) - 1) << 28)
        | ((instr('0123456789ABCDEF', substr(s, 8, 1)) - 1) << 24) AS bits
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
