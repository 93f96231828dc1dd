-- The golden grade of each pair, by the same rule, parts and names as in the view for SQLite.
-- labeler/store/schema/golden.sql explains them. Change both together.

CREATE VIEW golden AS
WITH chosen (golden_rule, transferred) AS (
    SELECT
        coalesce(value::json ->> 'golden_rule', 'lower median'),
        coalesce(value::json ->> 'transferred', 'count')
    FROM (SELECT (SELECT value FROM settings WHERE key = 'settings') AS value)
),
counted AS (
    SELECT
        query, chunk,
        max(id) FILTER (WHERE kind = 'adjudicate') AS adjudication,
        max(id) FILTER (WHERE kind = 'import') AS import,
        max(id) FILTER (WHERE kind = 'carry') AS transfer,
        count(*) FILTER (WHERE kind = 'grade') AS people,
        (sum(grade) FILTER (WHERE kind = 'grade'))::bigint AS total,
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
        (people + 1 + (golden_rule = 'upper median')::int) / 2 AS middle
    FROM counted, chosen
),
agreed_grades AS (
    SELECT
        query, chunk, golden_rule, transferred,
        adjudication, import, transfer, people, j0, j1, j2, j3,
        CASE
        WHEN adjudication IS NOT NULL OR people = 0 THEN NULL
        WHEN golden_rule = 'majority' THEN CASE
            WHEN n0 > greatest(n1, n2, n3) THEN 0
            WHEN n1 > greatest(n0, n2, n3) THEN 1
            WHEN n2 > greatest(n0, n1, n3) THEN 2
            WHEN n3 > greatest(n0, n1, n2) THEN 3
            END
        WHEN golden_rule = 'mean rounded half down' THEN (2 * total + people - 1) / (2 * people)
        ELSE (n0 < middle)::int + (n0 + n1 < middle)::int + (n0 + n1 + n2 < middle)::int
        END AS agreed
    FROM ruled
)
SELECT
    a.query,
    a.chunk,
    coalesce(a.agreed, judgments.grade) AS grade,
    judgments.kind,
    judgments.id AS judgment,
    judgments.text_hash IS NOT NULL AND judgments.text_hash IS DISTINCT FROM chunks.text_hash
        AS stale
FROM agreed_grades AS a
JOIN judgments ON judgments.id = CASE
    WHEN a.adjudication IS NOT NULL THEN a.adjudication
    WHEN a.people = 0 THEN coalesce(a.import, CASE WHEN a.transferred = 'count' AND NOT EXISTS (
        SELECT 1 FROM judgments AS own JOIN chunks AS its ON its.id = own.chunk
        WHERE own.id = a.transfer AND own.text_hash <> its.text_hash
    ) AND NOT EXISTS (
        SELECT 1 FROM judgments AS own
        CROSS JOIN LATERAL json_each(own.carried_from) AS said
        JOIN judgments AS base ON base.event_id = json_extract(said.value, '$.event_id')
        JOIN chunks AS of ON of.id = base.chunk
        WHERE own.id = a.transfer AND (
            coalesce(base.text_hash <> of.text_hash, false)
            OR json_number(said.value, 'golden') IS DISTINCT FROM (
                SELECT CASE
                WHEN NOT is_current THEN NULL
                WHEN adjudication IS NOT NULL OR people = 0 THEN (
                    SELECT deciding.grade FROM judgments AS deciding
                    WHERE deciding.id = coalesce(adjudication, import)
                )
                WHEN golden_rule = 'majority' THEN CASE
                    WHEN n0 > greatest(n1, n2, n3) THEN 0
                    WHEN n1 > greatest(n0, n2, n3) THEN 1
                    WHEN n2 > greatest(n0, n1, n3) THEN 2
                    WHEN n3 > greatest(n0, n1, n2) THEN 3
                    END
                WHEN golden_rule = 'mean rounded half down'
                    THEN (2 * total + people - 1) / (2 * people)
                ELSE (n0 < middle)::int + (n0 + n1 < middle)::int + (n0 + n1 + n2 < middle)::int
                END
                FROM (
                    SELECT *, (people + 1 + (a.golden_rule = 'upper median')::int) / 2 AS middle
                    FROM (
                        SELECT
                            bool_or(id = base.id) AS is_current,
                            max(id) FILTER (WHERE kind = 'adjudicate') AS adjudication,
                            max(id) FILTER (WHERE kind = 'import') AS import,
                            count(*) FILTER (WHERE kind = 'grade') AS people,
                            (sum(grade) FILTER (WHERE kind = 'grade'))::bigint AS total,
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
