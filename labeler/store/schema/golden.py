"""The definition of the golden grade, as SQL text; runs none of it.

``labeler.model.agreed_grade`` says in Python how several people's grades become one, and
``labeler.store.resolving`` with arrays what becomes of a whole log: whoever changes one, changes
all three. When a grade that was carried over counts, below all others, says
``labeler.store.schema.carries``, and the same arrays.
"""

from __future__ import annotations

RULE = """
SELECT coalesce(
    (SELECT json_extract(value, '$.golden_rule') FROM settings WHERE key = 'settings'),
    'lower median'
)
"""

# What people, a file and whoever decided over them say of a pair, counted. ``also`` are further
# columns, ``kinds`` what else is counted, ``some`` which pairs.
COUNTED = """
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
MIDDLE = "(people + 1 + (rule = 'upper median')) / 2 AS middle"

# What several people's grades become by the team's rule, which may be nothing.
AGREED = """
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
    rule=RULE,
    counted=COUNTED.format(also="", kinds="", some=""),
    middle=MIDDLE,
    agreed=AGREED,
    otherwise="import",
)
