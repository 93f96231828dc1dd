-- Triggers that keep the logs append-only: every UPDATE, DELETE and TRUNCATE is refused.
-- PostgreSQL replaces a row only by an UPDATE, so a second row with the same key needs no trigger.

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_ARGV[0];
END $$;

CREATE TRIGGER judgments_are_not_updated BEFORE UPDATE ON judgments
FOR EACH ROW EXECUTE FUNCTION refuse('judgments are append-only: add a new event instead of changing one');
CREATE TRIGGER judgments_are_not_deleted BEFORE DELETE ON judgments
FOR EACH ROW EXECUTE FUNCTION refuse('judgments are append-only: add a withdrawal instead of deleting');
CREATE TRIGGER judgments_are_not_emptied BEFORE TRUNCATE ON judgments
FOR EACH STATEMENT EXECUTE FUNCTION refuse('judgments are append-only: add a withdrawal instead of deleting');

CREATE TRIGGER remarks_are_not_updated BEFORE UPDATE ON remarks
FOR EACH ROW EXECUTE FUNCTION refuse('remarks are append-only: add a new one instead of changing one');
CREATE TRIGGER remarks_are_not_deleted BEFORE DELETE ON remarks
FOR EACH ROW EXECUTE FUNCTION refuse('remarks are append-only: add a withdrawal instead of deleting');
CREATE TRIGGER remarks_are_not_emptied BEFORE TRUNCATE ON remarks
FOR EACH STATEMENT EXECUTE FUNCTION refuse('remarks are append-only: add a withdrawal instead of deleting');

CREATE TRIGGER audit_is_not_updated BEFORE UPDATE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse('the audit is append-only: what was done stays in it');
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse('the audit is append-only: what was done stays in it');
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION refuse('the audit is append-only: what was done stays in it');

CREATE TRIGGER seals_are_not_updated BEFORE UPDATE ON seals
FOR EACH ROW EXECUTE FUNCTION refuse('seals are append-only: an event keeps the one it has');
CREATE TRIGGER seals_are_not_deleted BEFORE DELETE ON seals
FOR EACH ROW EXECUTE FUNCTION refuse('seals are append-only: an event keeps the one it has');
CREATE TRIGGER seals_are_not_emptied BEFORE TRUNCATE ON seals
FOR EACH STATEMENT EXECUTE FUNCTION refuse('seals are append-only: an event keeps the one it has');

CREATE TRIGGER versions_are_not_updated BEFORE UPDATE ON versions
FOR EACH ROW EXECUTE FUNCTION refuse('a frozen version is never changed: freeze another one under another name');
CREATE TRIGGER versions_are_not_deleted BEFORE DELETE ON versions
FOR EACH ROW EXECUTE FUNCTION refuse('a frozen version is never changed: freeze another one under another name');
CREATE TRIGGER versions_are_not_emptied BEFORE TRUNCATE ON versions
FOR EACH STATEMENT EXECUTE FUNCTION refuse('a frozen version is never changed: freeze another one under another name');

CREATE TRIGGER golden_loads_are_not_updated BEFORE UPDATE ON golden_loads
FOR EACH ROW EXECUTE FUNCTION refuse('the list of loads is append-only: what was loaded stays in it');
CREATE TRIGGER golden_loads_are_not_deleted BEFORE DELETE ON golden_loads
FOR EACH ROW EXECUTE FUNCTION refuse('the list of loads is append-only: what was loaded stays in it');
CREATE TRIGGER golden_loads_are_not_emptied BEFORE TRUNCATE ON golden_loads
FOR EACH STATEMENT EXECUTE FUNCTION refuse('the list of loads is append-only: what was loaded stays in it');

CREATE TRIGGER leaks_are_not_updated BEFORE UPDATE ON leaks
FOR EACH ROW EXECUTE FUNCTION refuse('leaks are append-only: take the mark back instead');
CREATE TRIGGER leaks_are_not_deleted BEFORE DELETE ON leaks
FOR EACH ROW EXECUTE FUNCTION refuse('leaks are append-only: take the mark back instead');
CREATE TRIGGER leaks_are_not_emptied BEFORE TRUNCATE ON leaks
FOR EACH STATEMENT EXECUTE FUNCTION refuse('leaks are append-only: take the mark back instead');

CREATE TRIGGER query_history_is_not_updated BEFORE UPDATE ON query_history
FOR EACH ROW EXECUTE FUNCTION refuse('the history of queries is append-only: change the query again instead');
CREATE TRIGGER query_history_is_not_deleted BEFORE DELETE ON query_history
FOR EACH ROW EXECUTE FUNCTION refuse('the history of queries is append-only: change the query again instead');
CREATE TRIGGER query_history_is_not_emptied BEFORE TRUNCATE ON query_history
FOR EACH STATEMENT EXECUTE FUNCTION refuse('the history of queries is append-only: change the query again instead');
