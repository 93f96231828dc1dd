-- Triggers that keep the logs append-only: every UPDATE, DELETE and replacing INSERT is refused.
--
-- INSERT OR REPLACE deletes a row without firing DELETE triggers unless recursive_triggers is on,
-- which other tools leave off. So an INSERT with the key of an existing row is refused before it
-- begins.

CREATE TRIGGER judgments_are_not_updated BEFORE UPDATE ON judgments
BEGIN
    SELECT RAISE(ABORT, 'judgments are append-only: add a new event instead of changing one');
END;

CREATE TRIGGER judgments_are_not_deleted BEFORE DELETE ON judgments
BEGIN
    SELECT RAISE(ABORT, 'judgments are append-only: add a withdrawal instead of deleting');
END;

CREATE TRIGGER judgments_are_not_replaced BEFORE INSERT ON judgments
WHEN EXISTS (SELECT 1 FROM judgments WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM judgments WHERE event_id = NEW.event_id)
    OR EXISTS (SELECT 1 FROM judgments WHERE undoes = NEW.undoes)
BEGIN
    SELECT RAISE(ABORT, 'judgments are append-only: this event is already in the log');
END;

CREATE TRIGGER remarks_are_not_updated BEFORE UPDATE ON remarks
BEGIN
    SELECT RAISE(ABORT, 'remarks are append-only: add a new one instead of changing one');
END;

CREATE TRIGGER remarks_are_not_deleted BEFORE DELETE ON remarks
BEGIN
    SELECT RAISE(ABORT, 'remarks are append-only: add a withdrawal instead of deleting');
END;

CREATE TRIGGER remarks_are_not_replaced BEFORE INSERT ON remarks
WHEN EXISTS (
    SELECT 1 FROM remarks WHERE id = NEW.id OR event_id = NEW.event_id OR undoes = NEW.undoes
)
BEGIN
    SELECT RAISE(ABORT, 'remarks are append-only: this one is already in the log');
END;

CREATE TRIGGER audit_is_not_updated BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only: what was done stays in it');
END;

CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only: what was done stays in it');
END;

CREATE TRIGGER audit_is_not_replaced BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only: what was done stays in it');
END;

CREATE TRIGGER seals_are_not_updated BEFORE UPDATE ON seals
BEGIN
    SELECT RAISE(ABORT, 'seals are append-only: an event keeps the one it has');
END;

CREATE TRIGGER seals_are_not_deleted BEFORE DELETE ON seals
BEGIN
    SELECT RAISE(ABORT, 'seals are append-only: an event keeps the one it has');
END;

CREATE TRIGGER seals_are_not_replaced BEFORE INSERT ON seals
WHEN EXISTS (SELECT 1 FROM seals WHERE log = NEW.log AND event = NEW.event)
BEGIN
    SELECT RAISE(ABORT, 'seals are append-only: an event keeps the one it has');
END;

CREATE TRIGGER versions_are_not_updated BEFORE UPDATE ON versions
BEGIN
    SELECT RAISE(ABORT, 'a frozen version is never changed: freeze another one under another name');
END;

CREATE TRIGGER versions_are_not_deleted BEFORE DELETE ON versions
BEGIN
    SELECT RAISE(ABORT, 'a frozen version is never changed: freeze another one under another name');
END;

CREATE TRIGGER versions_are_not_replaced BEFORE INSERT ON versions
WHEN EXISTS (SELECT 1 FROM versions WHERE id = NEW.id OR name = NEW.name)
BEGIN
    SELECT RAISE(ABORT, 'a frozen version is never changed: freeze another one under another name');
END;

CREATE TRIGGER golden_loads_are_not_updated BEFORE UPDATE ON golden_loads
BEGIN
    SELECT RAISE(ABORT, 'the list of loads is append-only: what was loaded stays in it');
END;

CREATE TRIGGER golden_loads_are_not_deleted BEFORE DELETE ON golden_loads
BEGIN
    SELECT RAISE(ABORT, 'the list of loads is append-only: what was loaded stays in it');
END;

CREATE TRIGGER golden_loads_are_not_replaced BEFORE INSERT ON golden_loads
WHEN EXISTS (SELECT 1 FROM golden_loads WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'the list of loads is append-only: what was loaded stays in it');
END;

CREATE TRIGGER leaks_are_not_updated BEFORE UPDATE ON leaks
BEGIN
    SELECT RAISE(ABORT, 'leaks are append-only: take the mark back instead');
END;

CREATE TRIGGER leaks_are_not_deleted BEFORE DELETE ON leaks
BEGIN
    SELECT RAISE(ABORT, 'leaks are append-only: take the mark back instead');
END;

CREATE TRIGGER leaks_are_not_replaced BEFORE INSERT ON leaks
WHEN EXISTS (SELECT 1 FROM leaks WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'leaks are append-only: take the mark back instead');
END;

CREATE TRIGGER query_history_is_not_updated BEFORE UPDATE ON query_history
BEGIN
    SELECT RAISE(ABORT, 'the history of queries is append-only: change the query again instead');
END;

CREATE TRIGGER query_history_is_not_deleted BEFORE DELETE ON query_history
BEGIN
    SELECT RAISE(ABORT, 'the history of queries is append-only: change the query again instead');
END;

CREATE TRIGGER query_history_is_not_replaced BEFORE INSERT ON query_history
WHEN EXISTS (SELECT 1 FROM query_history WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'the history of queries is append-only: change the query again instead');
END;
