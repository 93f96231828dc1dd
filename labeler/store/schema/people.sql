-- People: who grades and leads, how they sign in, and what they have been shown.

CREATE TABLE graders (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    role TEXT NOT NULL DEFAULT 'lead' CHECK (role IN ('grader', 'lead')),
    seed INTEGER NOT NULL
) STRICT;

-- A person signs in by the secret in a link, stored as a hash, or by a login. The first login
-- sets the subject, and the issuer where none was named.
CREATE TABLE invitations (
    id INTEGER PRIMARY KEY,
    grader INTEGER NOT NULL REFERENCES graders (id),
    token_hash TEXT UNIQUE,
    address TEXT,
    issuer TEXT,
    subject TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    once INTEGER NOT NULL DEFAULT 0 CHECK (once IN (0, 1)),
    used_at TEXT,
    left_at TEXT,
    revoked_at TEXT,
    CHECK ((token_hash IS NULL) <> (address IS NULL))
) STRICT;

CREATE UNIQUE INDEX invitations_address ON invitations (address) WHERE revoked_at IS NULL;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    invitation INTEGER NOT NULL REFERENCES invitations (id),
    token_hash TEXT NOT NULL UNIQUE,
    login TEXT,
    created_at TEXT NOT NULL,
    ended_at TEXT
) STRICT;

CREATE INDEX sessions_invitation ON sessions (invitation);
CREATE INDEX sessions_login ON sessions (login);

-- Who has seen a query's ranked lists: what they grade in it from then on is not blind.
CREATE TABLE lists_seen (
    query INTEGER NOT NULL REFERENCES queries (id),
    grader INTEGER NOT NULL REFERENCES graders (id),
    seen_at TEXT NOT NULL,
    PRIMARY KEY (query, grader)
) STRICT, WITHOUT ROWID;

-- Who has seen the grades that others gave a pair: their later grade of it is not blind.
CREATE TABLE told (
    query INTEGER NOT NULL REFERENCES queries (id),
    chunk INTEGER NOT NULL REFERENCES chunks (id),
    grader INTEGER NOT NULL REFERENCES graders (id),
    told_at TEXT NOT NULL,
    PRIMARY KEY (query, chunk, grader)
) STRICT, WITHOUT ROWID;

-- The queries and pairs that each grader is working on, for several servers of one database. The
-- server of a file keeps this in memory.
CREATE TABLE claims (
    grader INTEGER PRIMARY KEY REFERENCES graders (id),
    queries TEXT NOT NULL CHECK (json_type(queries) = 'array'),
    pairs TEXT NOT NULL CHECK (json_type(pairs) = 'array'),
    seen_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
