"""Ranked lists as rows, for people who open the file with another tool: plain SQL, as text."""

from __future__ import annotations

# Ranked lists as rows, in good time however long a list is: one is cut into pieces before it is cut
# into ranks, as each cut reads all that it is cut from. The empty halves of the two unions keep
# SQLite from working out the bytes of a rank anew wherever they are named; what is asked of one run
# or one query still reaches the lists, through the window.
_VIEW = """
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


RANKINGS = _VIEW.format(chunk_bits=_little_endian("c"), score_bits=_little_endian("s"))
