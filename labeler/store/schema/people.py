"""How people come in and stay in: the SQL text of invitations and sessions; runs none of it."""

# A person comes in by the secret in a link, kept only as its hash, or by the address of a login.
INVITATIONS = """
CREATE TABLE invitations (
    id INTEGER PRIMARY KEY,
    grader INTEGER NOT NULL REFERENCES graders (id),
    token_hash TEXT UNIQUE,
    address TEXT,
    created_at TEXT NOT NULL,
    revoked_at TEXT,
    CHECK ((token_hash IS NULL) <> (address IS NULL))
) STRICT;

CREATE UNIQUE INDEX invitations_address ON invitations (address) WHERE revoked_at IS NULL;
"""

# A link opens sessions and is none; a login is who its issuer says, by subject. Until this shape
# a link's own secret lay in browsers as their cookie: such a one is exchanged for a session.
SESSIONS = """
ALTER TABLE invitations ADD COLUMN issuer TEXT;
ALTER TABLE invitations ADD COLUMN subject TEXT;
ALTER TABLE invitations ADD COLUMN expires_at TEXT;
ALTER TABLE invitations ADD COLUMN once INTEGER NOT NULL DEFAULT 0 CHECK (once IN (0, 1));
ALTER TABLE invitations ADD COLUMN used_at TEXT;
ALTER TABLE invitations ADD COLUMN left_at TEXT;
ALTER TABLE invitations ADD COLUMN is_cookie INTEGER NOT NULL DEFAULT 0;
UPDATE invitations SET is_cookie = token_hash IS NOT NULL;

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
"""
