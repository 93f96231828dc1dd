-- Row ids without gaps, as in SQLite, so that a chunk's id fits the int32 of the ranked lists. An
-- INSERT takes the writer lock, so that ids are in the order of commits, even where another tool
-- writes. The number of the lock is WRITER_LOCK.
DO $do$
DECLARE
    numbered TEXT;
BEGIN
    FOREACH numbered IN ARRAY ARRAY[
        'documents', 'chunks', 'queries', 'query_history', 'leaks', 'graders', 'invitations',
        'sessions', 'judgments', 'remarks', 'audit', 'golden_loads', 'versions', 'answers'
    ]
    LOOP
        -- one function for each table, so that its plan is kept
        EXECUTE format($made$
            CREATE FUNCTION number_%1$s() RETURNS trigger LANGUAGE plpgsql
            SET search_path = labeler, pg_catalog SET enable_seqscan = off AS $$
            BEGIN
                PERFORM pg_advisory_xact_lock(7261201);
                IF NEW.id IS NULL THEN
                    NEW.id := (SELECT coalesce(max(id), 0) + 1 FROM %1$s);
                END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER "0_numbered" BEFORE INSERT ON %1$s
            FOR EACH ROW EXECUTE FUNCTION number_%1$s();
        $made$, numbered);
    END LOOP;
END $do$;

-- The last id of each log, under the name of SQLite's own table.
CREATE VIEW sqlite_sequence AS
SELECT 'audit' AS name, coalesce(max(id), 0) AS seq FROM audit
UNION ALL SELECT 'golden_loads', coalesce(max(id), 0) FROM golden_loads
UNION ALL SELECT 'judgments', coalesce(max(id), 0) FROM judgments
UNION ALL SELECT 'leaks', coalesce(max(id), 0) FROM leaks
UNION ALL SELECT 'query_history', coalesce(max(id), 0) FROM query_history
UNION ALL SELECT 'remarks', coalesce(max(id), 0) FROM remarks
UNION ALL SELECT 'versions', coalesce(max(id), 0) FROM versions;
