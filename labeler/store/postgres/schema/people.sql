-- People: who grades and leads, how they sign in, and what they have been shown.

CREATE TABLE graders (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    role TEXT NOT NULL DEFAULT 'lead' CHECK (role IN ('grader', 'lead')),
    seed BIGINT NOT NULL
);

-- A person signs in by the secret in a link, stored as a hash, or by a login. The first login
-- sets the subject, and the issuer where none was named.
CREATE TABLE invitations (
    id BIGINT PRIMARY KEY,
    grader BIGINT NOT NULL REFERENCES graders (id),
    token_hash TEXT UNIQUE,
    address TEXT,
    issuer TEXT,
    subject TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    once BIGINT NOT NULL DEFAULT 0 CHECK (once IN (0, 1)),
    used_at TEXT,
    left_at TEXT,
    revoked_at TEXT,
    CHECK ((token_hash IS NULL) <> (address IS NULL))
);

CREATE UNIQUE INDEX invitations_address ON invitations (address) WHERE revoked_at IS NULL;

CREATE TABLE sessions (
    id BIGINT PRIMARY KEY,
    invitation BIGINT NOT NULL REFERENCES invitations (id),
    token_hash TEXT NOT NULL UNIQUE,
    login TEXT,
    created_at TEXT NOT NULL,
    ended_at TEXT
);

CREATE INDEX sessions_invitation ON sessions (invitation, id);
CREATE INDEX sessions_login ON sessions (login, id);

-- Who has seen a query's ranked lists: what they grade in it from then on is not blind.
CREATE TABLE lists_seen (
    query BIGINT NOT NULL REFERENCES queries (id),
    grader BIGINT NOT NULL REFERENCES graders (id),
    seen_at TEXT NOT NULL,
    PRIMARY KEY (query, grader)
);

-- Who has seen the grades that others gave a pair: their later grade of it is not blind.
CREATE TABLE told (
    query BIGINT NOT NULL REFERENCES queries (id),
    chunk BIGINT NOT NULL REFERENCES chunks (id),
    grader BIGINT NOT NULL REFERENCES graders (id),
    told_at TEXT NOT NULL,
    PRIMARY KEY (query, chunk, grader)
);

-- The queries and pairs that each grader is working on, for several servers of one database. The
-- server of a file keeps this in memory.
CREATE TABLE claims (
    grader BIGINT PRIMARY KEY REFERENCES graders (id),
    queries TEXT NOT NULL CHECK (queries IS JSON ARRAY),
    pairs TEXT NOT NULL CHECK (pairs IS JSON ARRAY),
    seen_at TEXT NOT NULL
);
