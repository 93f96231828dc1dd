-- Settings, and the records of what was done: audit, loads, frozen versions, hash chain.

-- settings        the settings of the team, as one object
-- golden_set      uuid of this golden set, carried by each event from a browser
-- signing_key     signs what is handed out to browsers
-- data_revision   counts the changes to anything but judgments
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT;

-- Append-only. who did it, by which way (link, login, name, terminal), from which address.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind <> ''),
    who TEXT,
    way TEXT NOT NULL CHECK (way <> ''),
    address TEXT,
    subject TEXT,
    detail TEXT NOT NULL DEFAULT '{}' CHECK (json_type(detail) = 'object'),
    count INTEGER NOT NULL DEFAULT 1 CHECK (count > 0)
) STRICT;

-- Append-only. The judgments of a load are consecutive in the log, from the first to the last.
CREATE TABLE golden_loads (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    who TEXT,
    file TEXT NOT NULL,
    first_event INTEGER NOT NULL REFERENCES judgments (id),
    last_event INTEGER NOT NULL REFERENCES judgments (id),
    CHECK (first_event <= last_event)
) STRICT;

-- Append-only. content: the hashed lines, compressed by zlib.
CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    hash TEXT NOT NULL CHECK (length(hash) = 64),
    frozen_at TEXT NOT NULL,
    frozen_by TEXT,
    note TEXT,
    revision INTEGER NOT NULL,
    queries INTEGER NOT NULL,
    grades INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;

-- Append-only. The hash chain: each row holds the SHA-256 of the row before and of its event. The
-- hash is not a column of the event, so that a grade is one INSERT and waits for no hash.
CREATE TABLE seals (
    log TEXT NOT NULL CHECK (log IN ('judgments', 'remarks')),
    event INTEGER NOT NULL,
    seal BLOB NOT NULL CHECK (length(seal) = 32),
    PRIMARY KEY (log, event)
) STRICT, WITHOUT ROWID;
