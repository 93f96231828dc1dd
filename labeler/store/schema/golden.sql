-- The golden grade of each pair: the newest adjudication; else what people's current grades become
-- by the team's rule; else the newest import; else the newest transferred grade that still holds.
--
-- labeler.model.agreed_grade has the rules in Python. labeler.store.golden_grades computes the same
-- for a whole log with arrays, many times faster. Tests compare the three.

-- counted   the judgments of each pair, counted by grade and not sorted. The groups follow the index
--           of pairs, so that all pairs take one pass, and a query for one pair reads only that pair.
-- j0 - j3   the newest judgment that gave each grade
-- agreed    the grade that people's grades become by the rule; null without grades or a majority
-- judgment  the judgment behind the grade: for an agreed grade the newest that gave it, or that gave
--           the nearest lower grade where nobody gave the mean
-- stale     whether the chunk's text has changed since
--
-- A transferred grade holds while three things are true: its chunk has the text it was given for;
-- each judgment it rests on is current and of the present text; the golden grade of that judgment's
-- pair is unchanged. A judgment that is not in this log is not checked. So undoing a judgment removes
-- the grades that rest on it, and no transferred grade rests on another. The rule is written a second
-- time for the pair of such a judgment: SQLite would group the whole log for each, as it passes no
-- value of an outer row into a query with GROUP BY.
CREATE VIEW golden AS
WITH chosen (golden_rule, transferred) AS (
    SELECT
        coalesce(json_extract(value, '$.golden_rule'), 'lower median'),
        coalesce(json_extract(value, '$.transferred'), 'count')
    FROM (SELECT (SELECT value FROM settings WHERE key = 'settings') AS value)
),
counted AS (
    SELECT
        query, chunk,
        max(id) FILTER (WHERE kind = 'adjudicate') AS adjudication,
        max(id) FILTER (WHERE kind = 'import') AS import,
        max(id) FILTER (WHERE kind = 'carry') AS transfer,
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
    WHERE kind IN ('adjudicate', 'grade', 'import', 'carry')
    GROUP BY query, chunk
),
ruled AS (
    SELECT
        counted.*, golden_rule, transferred,
        (people + 1 + (golden_rule = 'upper median')) / 2 AS middle
    FROM counted, chosen
),
agreed_grades AS (
    SELECT
        query, chunk, golden_rule, transferred,
        adjudication, import, transfer, people, j0, j1, j2, j3,
        CASE
        WHEN adjudication IS NOT NULL OR people = 0 THEN NULL
        WHEN golden_rule = 'majority' THEN CASE
            WHEN n0 > max(n1, n2, n3) THEN 0
            WHEN n1 > max(n0, n2, n3) THEN 1
            WHEN n2 > max(n0, n1, n3) THEN 2
            WHEN n3 > max(n0, n1, n2) THEN 3
            END
        WHEN golden_rule = 'mean rounded half down' THEN (2 * total + people - 1) / (2 * people)
        ELSE (n0 < middle) + (n0 + n1 < middle) + (n0 + n1 + n2 < middle)
        END AS agreed
    FROM ruled
)
SELECT
    a.query,
    a.chunk,
    coalesce(a.agreed, judgments.grade) AS grade,
    judgments.kind,
    judgments.id AS judgment,
    judgments.text_hash IS NOT NULL AND judgments.text_hash IS NOT chunks.text_hash AS stale
FROM agreed_grades AS a
JOIN judgments ON judgments.id = CASE
    WHEN a.adjudication IS NOT NULL THEN a.adjudication
    WHEN a.people = 0 THEN coalesce(a.import, CASE WHEN a.transferred = 'count' AND NOT EXISTS (
        SELECT 1 FROM judgments AS own JOIN chunks AS its ON its.id = own.chunk
        WHERE own.id = a.transfer AND own.text_hash <> its.text_hash
    ) AND NOT EXISTS (
        SELECT 1 FROM judgments AS own
        JOIN json_each(own.carried_from) AS said
        JOIN judgments AS base ON base.event_id = json_extract(said.value, '$.event_id')
        JOIN chunks AS of ON of.id = base.chunk
        WHERE own.id = a.transfer AND (
            coalesce(base.text_hash <> of.text_hash, false)
            OR json_extract(said.value, '$.golden') IS NOT (
                SELECT CASE
                WHEN NOT is_current THEN NULL
                WHEN adjudication IS NOT NULL OR people = 0 THEN (
                    SELECT deciding.grade FROM judgments AS deciding
                    WHERE deciding.id = coalesce(adjudication, import)
                )
                WHEN golden_rule = 'majority' THEN CASE
                    WHEN n0 > max(n1, n2, n3) THEN 0
                    WHEN n1 > max(n0, n2, n3) THEN 1
                    WHEN n2 > max(n0, n1, n3) THEN 2
                    WHEN n3 > max(n0, n1, n2) THEN 3
                    END
                WHEN golden_rule = 'mean rounded half down'
                    THEN (2 * total + people - 1) / (2 * people)
                ELSE (n0 < middle) + (n0 + n1 < middle) + (n0 + n1 + n2 < middle)
                END
                FROM (
                    SELECT *, (people + 1 + (a.golden_rule = 'upper median')) / 2 AS middle
                    FROM (
                        SELECT
                            max(id = base.id) AS is_current,
                            max(id) FILTER (WHERE kind = 'adjudicate') AS adjudication,
                            max(id) FILTER (WHERE kind = 'import') AS import,
                            count(*) FILTER (WHERE kind = 'grade') AS people,
                            sum(grade) FILTER (WHERE kind = 'grade') AS total,
                            count(*) FILTER (WHERE kind = 'grade' AND grade = 0) AS n0,
                            count(*) FILTER (WHERE kind = 'grade' AND grade = 1) AS n1,
                            count(*) FILTER (WHERE kind = 'grade' AND grade = 2) AS n2,
                            count(*) FILTER (WHERE kind = 'grade' AND grade = 3) AS n3
                        FROM current_judgments
                        WHERE kind IN ('adjudicate', 'grade', 'import')
                            AND query = base.query AND chunk = base.chunk
                    )
                )
            )
        )
    ) THEN a.transfer END)
    WHEN a.agreed = 0 THEN a.j0
    WHEN a.agreed = 1 THEN coalesce(a.j1, a.j0)
    WHEN a.agreed = 2 THEN coalesce(a.j2, a.j1, a.j0)
    WHEN a.agreed = 3 THEN coalesce(a.j3, a.j2, a.j1, a.j0)
    END
JOIN chunks ON chunks.id = a.chunk;
