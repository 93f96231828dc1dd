CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT;
CREATE TABLE queries (
    id INTEGER PRIMARY KEY,
    query_id TEXT NOT NULL UNIQUE CHECK (query_id <> ''),
    text TEXT NOT NULL CHECK (text <> ''),
    task TEXT CHECK (task IN ('single', 'research', 'compliance', 'longtail')),
    reference TEXT,
    guideline TEXT,
    keywords TEXT NOT NULL DEFAULT '[]' CHECK (json_type(keywords) = 'array'),
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_type(metadata) = 'object'),
    retired_at TEXT
, split TEXT CHECK (split IN ('dev', 'test', 'held-out')), source TEXT
    CHECK (source IN ('file', 'log', 'generated', 'thumbs', 'typed')), source_file TEXT, added_at TEXT, added_by TEXT) STRICT;
CREATE TABLE query_buckets (
    query INTEGER NOT NULL REFERENCES queries (id),
    facet TEXT NOT NULL CHECK (facet <> ''),
    bucket TEXT NOT NULL,
    PRIMARY KEY (query, facet)
) STRICT, WITHOUT ROWID;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    chunk_id TEXT NOT NULL UNIQUE CHECK (chunk_id <> ''),
    document_id TEXT,
    position INTEGER,
    title TEXT,
    text TEXT,
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_type(metadata) = 'object'),
    text_hash TEXT, chunking INTEGER REFERENCES chunkings (id), start INTEGER CHECK (start >= 0), "end" INTEGER
    CHECK (("end" IS NULL) = (start IS NULL) AND ("end" IS NULL OR "end" >= start)),
    CHECK ((text IS NULL) = (text_hash IS NULL))
) STRICT;
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    system TEXT NOT NULL,
    depth INTEGER NOT NULL,
    params TEXT NOT NULL DEFAULT '{}' CHECK (json_type(params) = 'object'),
    source_hash TEXT NOT NULL
, created_at TEXT, chunking INTEGER REFERENCES chunkings (id)) STRICT;
CREATE TABLE ranked_lists (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    query_id TEXT NOT NULL,
    chunks BLOB NOT NULL CHECK (length(chunks) % 4 = 0),
    scores BLOB CHECK (length(scores) = length(chunks)),
    PRIMARY KEY (run, query_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE graders (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    role TEXT NOT NULL DEFAULT 'lead' CHECK (role IN ('grader', 'lead')),
    seed INTEGER NOT NULL
, known_as TEXT) STRICT;
CREATE TABLE remarks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE CHECK (event_id <> ''),
    query INTEGER NOT NULL REFERENCES queries (id),
    grader INTEGER NOT NULL REFERENCES graders (id),
    kind TEXT NOT NULL CHECK (kind IN ('unanswered', 'unclear', 'withdraw')),
    note TEXT,
    created_at TEXT NOT NULL
, undoes INTEGER REFERENCES remarks (id)) STRICT;
CREATE TABLE invitations (
    id INTEGER PRIMARY KEY,
    grader INTEGER NOT NULL REFERENCES graders (id),
    token_hash TEXT UNIQUE,
    address TEXT,
    created_at TEXT NOT NULL,
    revoked_at TEXT, issuer TEXT, subject TEXT, expires_at TEXT, once INTEGER NOT NULL DEFAULT 0 CHECK (once IN (0, 1)), used_at TEXT, left_at TEXT, is_cookie INTEGER NOT NULL DEFAULT 0,
    CHECK ((token_hash IS NULL) <> (address IS NULL))
) STRICT;
CREATE TABLE lists_seen (
    query INTEGER NOT NULL REFERENCES queries (id),
    grader INTEGER NOT NULL REFERENCES graders (id),
    seen_at TEXT NOT NULL,
    PRIMARY KEY (query, grader)
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    invitation INTEGER NOT NULL REFERENCES invitations (id),
    token_hash TEXT NOT NULL UNIQUE,
    login TEXT,
    created_at TEXT NOT NULL,
    ended_at TEXT
) STRICT;
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
CREATE TABLE seals (
    log TEXT NOT NULL CHECK (log IN ('judgments', 'remarks')),
    event INTEGER NOT NULL,
    seal BLOB NOT NULL CHECK (length(seal) = 32),
    PRIMARY KEY (log, event)
) STRICT, WITHOUT ROWID;
CREATE TABLE told (
    query INTEGER NOT NULL REFERENCES queries (id),
    chunk INTEGER NOT NULL REFERENCES chunks (id),
    grader INTEGER NOT NULL REFERENCES graders (id),
    told_at TEXT NOT NULL,
    PRIMARY KEY (query, chunk, grader)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE leaks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    query INTEGER NOT NULL REFERENCES queries (id),
    kind TEXT NOT NULL CHECK (kind IN ('mark', 'take back')),
    file TEXT,
    line INTEGER,
    part TEXT,
    score REAL,
    words TEXT,
    who TEXT,
    at TEXT NOT NULL
) STRICT;
CREATE TABLE signals (
    system TEXT NOT NULL CHECK (system <> ''),
    name TEXT NOT NULL CHECK (name <> ''),
    date TEXT NOT NULL CHECK (date <> ''),
    query_id TEXT NOT NULL DEFAULT '',
    value REAL NOT NULL,
    n INTEGER CHECK (n > 0),
    PRIMARY KEY (system, name, date, query_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE answers (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    query_id TEXT NOT NULL CHECK (query_id <> ''),
    answer TEXT,
    correct INTEGER NOT NULL CHECK (correct IN (0, 1)),
    UNIQUE (run, query_id)
) STRICT;
CREATE TABLE batches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL CHECK (source IN ('log', 'generated', 'thumbs', 'typed')),
    file TEXT,
    hash TEXT NOT NULL UNIQUE,
    at TEXT NOT NULL,
    who TEXT,
    times INTEGER NOT NULL,
    texts INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    evenly TEXT NOT NULL DEFAULT '[]' CHECK (json_type(evenly) = 'array'),
    seed INTEGER,
    first_asked TEXT,
    last_asked TEXT
) STRICT;
CREATE TABLE batch_buckets (
    batch INTEGER NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
    facet TEXT NOT NULL CHECK (facet <> ''),
    bucket TEXT NOT NULL,
    times INTEGER NOT NULL CHECK (times > 0),
    texts INTEGER NOT NULL CHECK (texts > 0),
    PRIMARY KEY (batch, facet, bucket)
) STRICT, WITHOUT ROWID;
CREATE TABLE candidates (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL CHECK (source IN ('log', 'generated', 'thumbs', 'typed')),
    text TEXT NOT NULL CHECK (text <> ''),
    normal TEXT NOT NULL CHECK (normal <> ''),
    times INTEGER NOT NULL CHECK (times > 0),
    asked_at TEXT,
    reference TEXT,
    guideline TEXT,
    keywords TEXT NOT NULL DEFAULT '[]' CHECK (json_type(keywords) = 'array'),
    batch INTEGER NOT NULL REFERENCES batches (id),
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'taken', 'dropped')),
    query INTEGER REFERENCES queries (id),
    settled_at TEXT,
    settled_by TEXT,
    UNIQUE (source, normal),
    CHECK ((state = 'taken') = (query IS NOT NULL))
) STRICT;
CREATE TABLE candidate_buckets (
    candidate INTEGER NOT NULL REFERENCES candidates (id) ON DELETE CASCADE,
    facet TEXT NOT NULL CHECK (facet <> ''),
    bucket TEXT NOT NULL,
    times INTEGER NOT NULL CHECK (times > 0),
    PRIMARY KEY (candidate, facet, bucket)
) STRICT, WITHOUT ROWID;
CREATE TABLE proposals (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    query INTEGER REFERENCES queries (id),
    candidate INTEGER REFERENCES candidates (id) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunks (id),
    source TEXT NOT NULL CHECK (source <> ''),
    grade INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 3),
    times INTEGER NOT NULL CHECK (times > 0),
    at TEXT NOT NULL,
    who TEXT,
    CHECK ((query IS NULL) <> (candidate IS NULL))
) STRICT;
CREATE TABLE query_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    query INTEGER NOT NULL REFERENCES queries (id),
    kind TEXT NOT NULL CHECK (kind IN ('add', 'edit', 'load', 'split', 'retire', 'restore')),
    at TEXT NOT NULL,
    who TEXT,
    file TEXT,
    before TEXT NOT NULL CHECK (json_type(before) = 'object'),
    after TEXT NOT NULL CHECK (json_type(after) = 'object')
) STRICT;
CREATE TABLE ungraded (
    query INTEGER NOT NULL REFERENCES queries (id),
    chunk INTEGER NOT NULL REFERENCES chunks (id),
    PRIMARY KEY (query, chunk)
) STRICT, WITHOUT ROWID;
CREATE TABLE chunkings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> '' AND instr(name, ':') = 0),
    added_at TEXT NOT NULL
) STRICT;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    document_id TEXT NOT NULL UNIQUE CHECK (document_id <> ''),
    title TEXT,
    text TEXT NOT NULL CHECK (text <> ''),
    text_hash TEXT NOT NULL,
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_type(metadata) = 'object')
) STRICT;
CREATE TABLE "judgments" (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE CHECK (event_id <> ''),
    query INTEGER NOT NULL REFERENCES queries (id),
    chunk INTEGER NOT NULL REFERENCES chunks (id),
    grader INTEGER REFERENCES graders (id),
    kind TEXT NOT NULL CHECK (
        kind IN ('grade', 'cannot_tell', 'withdraw', 'adjudicate', 'import', 'propose', 'carry')
    ),
    grade INTEGER CHECK (grade BETWEEN 0 AND 3),
    graders TEXT CHECK (json_type(graders) = 'array'),
    reason TEXT,
    note TEXT,
    blind INTEGER NOT NULL CHECK (blind IN (0, 1)),
    source TEXT,
    undoes INTEGER UNIQUE REFERENCES "judgments" (id),
    elapsed_ms INTEGER,
    text_hash TEXT,
    created_at TEXT NOT NULL,
    evidence TEXT CHECK (
        evidence IS NULL OR (
            json_type(evidence) = 'array' AND json_array_length(evidence) BETWEEN 1 AND 100
            AND grade IS NOT NULL AND text_hash IS NOT NULL
        )
    ),
    carried_from TEXT CHECK (json_type(carried_from) = 'array'), seen_whole INTEGER CHECK (seen_whole IN (0, 1)), highlighted INTEGER CHECK (highlighted IN (0, 1)),
    CHECK ((kind IN ('cannot_tell', 'withdraw')) = (grade IS NULL)),
    CHECK ((kind = 'import' OR carried_from IS NOT NULL) = (grader IS NULL)),
    CHECK ((kind = 'import') = (graders IS NOT NULL)),
    CHECK (
        CASE kind WHEN 'carry' THEN json_array_length(carried_from) IS NOT 0
            AND carried_from IS NOT NULL
        WHEN 'withdraw' THEN carried_from IS NULL OR json_array_length(carried_from) = 0
        ELSE carried_from IS NULL END
    )
) STRICT;
CREATE TABLE claims (
    grader INTEGER PRIMARY KEY REFERENCES graders (id),
    queries TEXT NOT NULL CHECK (json_type(queries) = 'array'),
    pairs TEXT NOT NULL CHECK (json_type(pairs) = 'array'),
    seen_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE golden_loads (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    who TEXT,
    file TEXT NOT NULL,
    first_event INTEGER NOT NULL REFERENCES judgments (id),
    last_event INTEGER NOT NULL REFERENCES judgments (id),
    CHECK (first_event <= last_event)
) STRICT;
CREATE TABLE list_sources (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    query_id TEXT NOT NULL CHECK (query_id <> ''),
    span TEXT,
    trace TEXT,
    places TEXT CHECK (json_type(places) = 'array'),
    PRIMARY KEY (run, query_id),
    CHECK (span IS NOT NULL OR trace IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE TABLE asked_queries (
    batch INTEGER NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
    query INTEGER NOT NULL REFERENCES queries (id),
    times INTEGER NOT NULL CHECK (times > 0),
    PRIMARY KEY (batch, query)
) STRICT, WITHOUT ROWID;
INSERT INTO "_sqlite_migrations" VALUES (1, 'labeler', 'm001_first_shape', '2026-11-28 01:24:57.159382+00:00');
INSERT INTO "_sqlite_migrations" VALUES (2, 'labeler', 'm002_people_remarks_and_search', '2026-11-28 01:24:57.160208+00:00');
INSERT INTO "_sqlite_migrations" VALUES (3, 'labeler', 'm003_runs_of_unknown_date', '2026-11-28 01:24:57.173400+00:00');
INSERT INTO "_sqlite_migrations" VALUES (4, 'labeler', 'm004_remarks_undone_and_lists_seen', '2026-11-28 01:24:57.174220+00:00');
INSERT INTO "_sqlite_migrations" VALUES (5, 'labeler', 'm005_sessions', '2026-11-28 01:24:57.176178+00:00');
INSERT INTO "_sqlite_migrations" VALUES (6, 'labeler', 'm006_audit_and_seals', '2026-11-28 01:24:57.176672+00:00');
INSERT INTO "_sqlite_migrations" VALUES (7, 'labeler', 'm007_pairs_signed_as_they_are_handed_out', '2026-11-28 01:24:57.177153+00:00');
INSERT INTO "_sqlite_migrations" VALUES (8, 'labeler', 'm008_rankings_of_long_lists', '2026-11-28 01:24:57.181639+00:00');
INSERT INTO "_sqlite_migrations" VALUES (9, 'labeler', 'm009_the_rule_of_golden_grades', '2026-11-28 01:24:57.181966+00:00');
INSERT INTO "_sqlite_migrations" VALUES (10, 'labeler', 'm010_frozen_versions_and_splits', '2026-11-28 01:24:57.182743+00:00');
INSERT INTO "_sqlite_migrations" VALUES (11, 'labeler', 'm011_queries_found_elsewhere', '2026-11-28 01:24:57.183019+00:00');
INSERT INTO "_sqlite_migrations" VALUES (12, 'labeler', 'm012_signals_and_answers', '2026-11-28 01:24:57.183183+00:00');
INSERT INTO "_sqlite_migrations" VALUES (13, 'labeler', 'm013_candidates_and_the_history_of_queries', '2026-11-28 01:24:57.190329+00:00');
INSERT INTO "_sqlite_migrations" VALUES (14, 'labeler', 'm014_pairs_without_a_grade', '2026-11-28 01:24:57.190512+00:00');
INSERT INTO "_sqlite_migrations" VALUES (15, 'labeler', 'm015_evidence', '2026-11-28 01:24:57.191595+00:00');
INSERT INTO "_sqlite_migrations" VALUES (16, 'labeler', 'm016_chunkings_and_documents', '2026-11-28 01:24:57.198930+00:00');
INSERT INTO "_sqlite_migrations" VALUES (17, 'labeler', 'm017_grades_carried_over', '2026-11-28 01:24:57.205024+00:00');
INSERT INTO "_sqlite_migrations" VALUES (18, 'labeler', 'm018_claims_of_several_servers', '2026-11-28 01:24:57.205230+00:00');
INSERT INTO "_sqlite_migrations" VALUES (19, 'labeler', 'm019_numbers_of_golden_loads', '2026-11-28 01:24:57.209538+00:00');
INSERT INTO "_sqlite_migrations" VALUES (20, 'labeler', 'm020_copies_found_by_their_text', '2026-11-28 01:24:57.209715+00:00');
INSERT INTO "_sqlite_migrations" VALUES (21, 'labeler', 'm021_sources_of_lists', '2026-11-28 01:24:57.209860+00:00');
INSERT INTO "_sqlite_migrations" VALUES (22, 'labeler', 'm022_how_often_queries_were_asked', '2026-11-28 01:24:57.209983+00:00');
INSERT INTO "_sqlite_migrations" VALUES (23, 'labeler', 'm023_what_was_on_screen', '2026-11-28 01:24:57.212022+00:00');
INSERT INTO "settings" VALUES ('golden_set', '"c865de95-d6bc-4197-9313-fd24f7c02156"');
INSERT INTO "settings" VALUES ('signing_key', '"4bbd57080c0a9f167e08316da596183f40e3fa8015bb044e92b3c93579bfe520"');
INSERT INTO "settings" VALUES ('data_revision', '16');
INSERT INTO "settings" VALUES ('signs_since', '"2026-11-28T01:24:57.177Z"');
INSERT INTO "settings" VALUES ('settings', '{"words":["not relevant","slightly relevant","partly relevant","highly relevant"],"rel":1,"budget":4,"budget_by_task":{"single":3},"pool_depth":10,"guideline":"Read it.","show_reference":true,"strategy":"query by query","holes_of":null,"overlap":0.1,"meanings":["about something else","on topic, doesn’t answer","answers part of it","answers it fully"],"question":["question","questions"],"passage":["passage","passages"],"contact":"","golden_rule":"upper median","decide_by":"nDCG@10","measures":"nDCG@10 R@5 RR","matters":0.01,"measures_by_task":{},"evidence_from":null,"carried":"count","show_before":true,"highlight":false,"field_map":"","name":"Old set","language":"automatic"}');
INSERT INTO "queries" VALUES (1, 'q1', 'when are fees due', 'single', 'in May', NULL, '[]', '{}', NULL, 'dev', 'file', 'queries.jsonl', '2026-11-28T01:24:57.224Z', 'root');
INSERT INTO "queries" VALUES (2, 'q2', 'a lost card', 'research', NULL, NULL, '["blocked"]', '{}', NULL, 'test', 'file', 'queries.jsonl', '2026-11-28T01:24:57.224Z', 'root');
INSERT INTO "queries" VALUES (3, 'q3', 'a late transfer', NULL, NULL, NULL, '[]', '{}', NULL, NULL, 'file', 'queries.jsonl', '2026-11-28T01:24:57.224Z', 'root');
INSERT INTO "queries" VALUES (4, 'q4', 'never asked', NULL, NULL, NULL, '[]', '{}', '2026-11-28T01:24:57.825Z', NULL, 'file', 'queries.jsonl', '2026-11-28T01:24:57.224Z', 'root');
INSERT INTO "query_buckets" VALUES (1, 'intent', 'fees');
INSERT INTO "query_buckets" VALUES (2, 'intent', 'cards');
INSERT INTO "chunks" VALUES (1, 'c1', 'd1', 1, NULL, 'Annual fees are due in May, and are taken from the account at the end of that month.', '{}', '8d933271a12416c99fa36373cf9ddeb1', NULL, NULL, NULL);
INSERT INTO "chunks" VALUES (2, 'c2', 'd1', 2, NULL, 'A late transfer costs twelve euros.', '{}', '098be7e43b5c93c5f81381572588e1f6', NULL, NULL, NULL);
INSERT INTO "chunks" VALUES (3, 'c3', 'd1', 3, NULL, 'Cards are sent by letter.', '{}', '67a6b41ef7bf0dd19cf0be764da2f922', NULL, NULL, NULL);
INSERT INTO "chunks" VALUES (4, 'c4', 'd1', 4, NULL, 'A lost card is blocked at any hour.', '{}', '007bec51f7f9a12867e7a7247c1eddd7', NULL, NULL, NULL);
INSERT INTO "chunks" VALUES (5, 'v2:c1', 'd1', 1, NULL, 'Annual fees are due in May, and are taken from the account at the end of that month.', '{}', '8d933271a12416c99fa36373cf9ddeb1', 1, NULL, NULL);
INSERT INTO "chunks" VALUES (6, 'v2:c2', 'd1', 2, NULL, 'A late transfer costs twelve euros.', '{}', '098be7e43b5c93c5f81381572588e1f6', 1, NULL, NULL);
INSERT INTO "chunks" VALUES (7, 'v2:c3', 'd1', 3, NULL, 'Cards are sent by letter.', '{}', '67a6b41ef7bf0dd19cf0be764da2f922', 1, NULL, NULL);
INSERT INTO "chunks" VALUES (8, 'v2:c4', 'd1', 4, NULL, 'A lost card is blocked at any hour.', '{}', '007bec51f7f9a12867e7a7247c1eddd7', 1, NULL, NULL);
INSERT INTO "chunks" VALUES (9, 'c5', NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL);
INSERT INTO "runs" VALUES (1, 'first', 'first', 2, '{}', '38b9114ada833b5198d01cfe3b940903', NULL, NULL);
INSERT INTO "runs" VALUES (2, 'second', 'second', 2, '{}', 'fad5e450d818f6ca61caa75a8bee1b12', NULL, NULL);
INSERT INTO "runs" VALUES (3, 'v2', 'v2', 1, '{}', 'af96d73f49e7768914a6e05bb0cc9e34', NULL, 1);
INSERT INTO "ranked_lists" VALUES (1, 'q1', X'0100000002000000', X'0000604000000040');
INSERT INTO "ranked_lists" VALUES (1, 'q2', X'0400000003000000', X'0000803f0000003f');
INSERT INTO "ranked_lists" VALUES (1, 'q3', X'02000000', X'0000803f');
INSERT INTO "ranked_lists" VALUES (2, 'q1', X'0300000001000000', X'0000604000000040');
INSERT INTO "ranked_lists" VALUES (2, 'q2', X'09000000', X'0000803f');
INSERT INTO "ranked_lists" VALUES (3, 'q1', X'05000000', X'00004040');
INSERT INTO "ranked_lists" VALUES (3, 'q2', X'08000000', X'00000040');
INSERT INTO "graders" VALUES (1, 'Ann', 'grader', 661588554, NULL);
INSERT INTO "graders" VALUES (2, 'Bob', 'grader', 2123970460, NULL);
INSERT INTO "graders" VALUES (3, 'Cyrus', 'lead', 676356727, NULL);
INSERT INTO "remarks" VALUES (1, 'r1', 3, 1, 'unclear', 'which transfer?', '2026-11-28T01:24:57.665Z', NULL);
INSERT INTO "remarks" VALUES (2, 'r2', 2, 1, 'unanswered', NULL, '2026-11-28T01:24:57.669Z', NULL);
INSERT INTO "remarks" VALUES (3, 'r3', 2, 1, 'withdraw', NULL, '2026-11-28T01:24:57.681Z', 2);
INSERT INTO "invitations" VALUES (1, 1, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', NULL, '2026-11-28T01:24:57.629Z', NULL, NULL, NULL, NULL, 0, '2026-11-28T01:24:57.725Z', NULL, 0);
INSERT INTO "invitations" VALUES (2, 2, NULL, 'bob@example.org', '2026-11-28T01:24:57.633Z', NULL, NULL, NULL, NULL, 0, NULL, NULL, 0);
INSERT INTO "lists_seen" VALUES (2, 3, '2026-11-28T01:24:57.661Z');
INSERT INTO "sessions" VALUES (1, 1, 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', NULL, '2026-11-28T01:24:57.637Z', NULL);
INSERT INTO "sessions" VALUES (2, 1, 'cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc', NULL, '2026-11-28T01:24:57.725Z', NULL);
INSERT INTO "audit" VALUES (1, '2026-11-28T01:24:57.225Z', 'load', 'root', 'terminal', NULL, 'queries.jsonl', '{"what": "queries", "new": 4}', 1);
INSERT INTO "audit" VALUES (2, '2026-11-28T01:24:57.267Z', 'load', 'root', 'terminal', NULL, 'chunks.jsonl', '{"what": "chunks", "new": 4}', 1);
INSERT INTO "audit" VALUES (3, '2026-11-28T01:24:57.310Z', 'load', 'root', 'terminal', NULL, 'chunks.jsonl', '{"what": "chunks", "new": 4}', 1);
INSERT INTO "audit" VALUES (4, '2026-11-28T01:24:57.352Z', 'load', 'root', 'terminal', NULL, 'first.trec', '{"what": "run first", "queries": 3}', 1);
INSERT INTO "audit" VALUES (5, '2026-11-28T01:24:57.391Z', 'load', 'root', 'terminal', NULL, 'second.trec', '{"what": "run second", "queries": 2}', 1);
INSERT INTO "audit" VALUES (6, '2026-11-28T01:24:57.439Z', 'load', 'root', 'terminal', NULL, 'v2.trec', '{"what": "run v2", "queries": 2}', 1);
INSERT INTO "audit" VALUES (7, '2026-11-28T01:24:57.491Z', 'load', 'root', 'terminal', NULL, 'golden.jsonl', '{"what": "golden grades", "imported": 2, "load": 1}', 1);
INSERT INTO "audit" VALUES (8, '2026-11-28T01:24:57.543Z', 'load', 'root', 'terminal', NULL, 'answers.jsonl', '{"what": "answers", "new": 1}', 1);
INSERT INTO "audit" VALUES (9, '2026-11-28T01:24:57.583Z', 'load', 'root', 'terminal', NULL, 'signals.csv', '{"what": "signals", "new": 1}', 1);
INSERT INTO "audit" VALUES (10, '2026-11-28T01:24:57.630Z', 'invite', 'root', 'terminal', NULL, 'Ann', '{"role": "grader", "by": "link"}', 1);
INSERT INTO "audit" VALUES (11, '2026-11-28T01:24:57.633Z', 'invite', 'root', 'terminal', NULL, 'Bob', '{"role": "grader", "by": "bob@example.org"}', 1);
INSERT INTO "audit" VALUES (12, '2026-11-28T01:24:57.637Z', 'sign_in', 'Ann', 'link', NULL, NULL, '{}', 1);
INSERT INTO "audit" VALUES (13, '2026-11-28T01:24:57.712Z', 'adjudicate', 'root', 'terminal', NULL, 'Cy', '{"query_id": "q2", "chunk_id": "c4", "grade": 3}', 1);
INSERT INTO "audit" VALUES (14, '2026-11-28T01:24:57.725Z', 'sign_in', 'Ann', 'link', NULL, NULL, '{}', 1);
INSERT INTO "audit" VALUES (15, '2026-11-28T01:24:57.765Z', 'carry', 'root', 'terminal', NULL, 'v2', '{"from": "", "to": "v2", "transferred": 2, "taken back": 0}', 1);
INSERT INTO "audit" VALUES (16, '2026-11-28T01:24:57.814Z', 'settings', 'root', 'terminal', NULL, 'prompt_k, prompt_k_by_task, guideline, transferred, name', '{"prompt_k": [5, 4], "prompt_k_by_task": [{}, {"single": 3}], "guideline": ["", "Read it."], "transferred": ["count", "ignore"], "name": ["", "Old set"]}', 1);
INSERT INTO "audit" VALUES (17, '2026-11-28T01:24:57.817Z', 'settings', 'root', 'terminal', NULL, 'golden_rule, transferred', '{"golden_rule": ["lower median", "upper median"], "transferred": ["ignore", "count"]}', 1);
INSERT INTO "audit" VALUES (18, '2026-11-28T01:24:57.821Z', 'split', 'root', 'terminal', NULL, NULL, '{"queries": 2, "seed": 1}', 1);
INSERT INTO "audit" VALUES (19, '2026-11-28T01:24:57.825Z', 'retire', 'root', 'terminal', NULL, 'q4', '{}', 1);
INSERT INTO "audit" VALUES (20, '2026-11-28T01:24:57.829Z', 'rename', 'root', 'terminal', NULL, 'Cy', '{"what": "grader", "to": "Cyrus"}', 1);
INSERT INTO "audit" VALUES (21, '2026-11-28T01:24:57.865Z', 'load', 'root', 'terminal', NULL, 'docs.jsonl', '{"what": "documents", "new": 1}', 1);
INSERT INTO "audit" VALUES (22, '2026-11-28T01:24:57.898Z', 'freeze', 'root', 'terminal', NULL, 'one', '{"golden": "c95c44563558966211d789789b8d2757022ab0e3ce744fdb6c043b6fb9dc9872", "note": null}', 1);
INSERT INTO "audit" VALUES (23, '2026-11-28T01:24:58.235Z', 'export', 'root', 'terminal', NULL, '-', '{"format": "jsonl", "seal": "12-3-0b9d1518902966012bf4bb38efbe1624273592fbbee6b1f15f05e7ae8463d1ee", "golden": "c95c44563558966211d789789b8d2757022ab0e3ce744fdb6c043b6fb9dc9872"}', 1);
INSERT INTO "audit" VALUES (24, '2026-11-28T01:24:58.272Z', 'export', 'root', 'terminal', NULL, '-', '{"format": "csv", "seal": "12-3-0b9d1518902966012bf4bb38efbe1624273592fbbee6b1f15f05e7ae8463d1ee", "golden": "c95c44563558966211d789789b8d2757022ab0e3ce744fdb6c043b6fb9dc9872"}', 1);
INSERT INTO "audit" VALUES (25, '2026-11-28T01:24:58.313Z', 'export', 'root', 'terminal', NULL, '-', '{"format": "events", "seal": "12-3-0b9d1518902966012bf4bb38efbe1624273592fbbee6b1f15f05e7ae8463d1ee", "golden": "c95c44563558966211d789789b8d2757022ab0e3ce744fdb6c043b6fb9dc9872"}', 1);
INSERT INTO "audit" VALUES (26, '2026-11-28T01:24:58.354Z', 'export', 'root', 'terminal', NULL, '-', '{"format": "complete", "seal": "12-3-0b9d1518902966012bf4bb38efbe1624273592fbbee6b1f15f05e7ae8463d1ee", "golden": "c95c44563558966211d789789b8d2757022ab0e3ce744fdb6c043b6fb9dc9872"}', 1);
INSERT INTO "seals" VALUES ('judgments', 1, X'90b6298fb5b4a54d74ad2dfa358f20c96e617834f538e5818e8dc3f7b5238adb');
INSERT INTO "seals" VALUES ('judgments', 2, X'5df71ccfca90f4a936ed3209f03dbb7b9d77daebe43d0f8d7785b11adbdb9dee');
INSERT INTO "seals" VALUES ('judgments', 3, X'5c5a7d22f70a396164b933b806ca058be77b39115d4dc039ae146d0f0d69aac6');
INSERT INTO "seals" VALUES ('judgments', 4, X'd8e9fb20491ab87097c9ee21aa881905537aad4491a6af4297be60baa8a36c03');
INSERT INTO "seals" VALUES ('judgments', 5, X'229f97c04c40859faf664618879ab29f51eece431639cbe815d81730a750e5db');
INSERT INTO "seals" VALUES ('judgments', 6, X'4cd81895afa4d1ffacc2e5052fb0b2036a5df883ae61519c80a8758aa7ee5872');
INSERT INTO "seals" VALUES ('judgments', 7, X'74764e22da485e381a5899e760f590ec3a7acbea829c957dd6d3f2fb5804c4eb');
INSERT INTO "seals" VALUES ('judgments', 8, X'11defaa0eb3dc94ffaecc72fbb3add205dde9651f2217766469426b8cb64ad99');
INSERT INTO "seals" VALUES ('judgments', 9, X'ab10bf23389d4aedb1b5120b492bde47da382962f60858da6a5e2a4adda284c1');
INSERT INTO "seals" VALUES ('judgments', 10, X'fe66d12730c15c38153ad2ef80b9a1d87737c9b2cdd2f6a50dba72ced487898b');
INSERT INTO "seals" VALUES ('judgments', 11, X'9f7e1005d0ca544bb7b1bae3cc4621999a803c972dc7ea3e8bd3517dcc26ca95');
INSERT INTO "seals" VALUES ('judgments', 12, X'b7d18830283abbf8b55d82ce6f916bc81dd62b7f56e641534627f09006939636');
INSERT INTO "seals" VALUES ('remarks', 1, X'9ab5fe9953129505151fea3b29f4e4935baf1275963db7068a1b4da5108feb61');
INSERT INTO "seals" VALUES ('remarks', 2, X'3e8aa6cf1825be99e4764a1b95859b864d79aebdcb8dc86442f4329947c3c0d1');
INSERT INTO "seals" VALUES ('remarks', 3, X'412713de6e63bc33563c7c3653b07d1c7c4628aebc4794bc4e79a6cbd81659c1');
INSERT INTO "told" VALUES (2, 4, 3, '2026-02-02');
INSERT INTO "versions" VALUES (1, 'one', 'c95c44563558966211d789789b8d2757022ab0e3ce744fdb6c043b6fb9dc9872', '2026-11-28T01:24:57.898Z', 'root', NULL, 12, 3, 6, X'789cad944d6f1a311086effd1596cf4db5f67e736b72eeada74408cdae6761cb6213db4b4a51fe7b3d86a4141248a50a24187b3c7edf996777c73b6b7ea1e613c68d46fe99f105b805856d9db7599617699e57755148215459d5e1db544a96799948094d82698b659675aa29da244b9ba26b6ad5d65529a91678aa241359dc087123abef8998c86c92975faababaa78c664b19d6184f91361e43acc7610891c54def7a43e2840c716bf406b50f2b2e2cedc2fe405b54655473a4bbb2d760d66c671edc3266ba5ecf07aa9c3e8784b531c34ce1da934f918495b91914ea991d63121fd76bb46c85aa07cde9c4d06b74d14a5e763988544a951750e458ca1c5552a72aab0a59c95a6628aad0b74662836d0575de656599173542938a9c3f7fdaf1c711ed76d62b2af828c8775ca1f069819a8145d6213aa6c63891838d1717b1331d5ad46d54db6bf60db6b43c1f7b85a4f54f0f97b87d325691f887696c4ebb44bfef5faf7d682795a0dba2d1157a50e081f62976eba18f190a3774c38fd0db553814ebed78bb18f5f2e0a48d4ee616546cf4cb7f1b53f957ad69fbd6347c7a36e830677570f3f010e6218b292579fce9672f3856aa4e53590a103213455bd71da4455aa66d572b858d20f92782e4b1a0e444d02dc2a992b30a1b39b9e8eae83cf70b640e56c8483503c76221b63f1fff87e9ed8bf2ff65992a83b53daa59788c57fb99203d230703b8571fe93ec8bf3cb2a785791dd7f4e2035c64e29e3f4fc3e79468f917d1c006e33c0b3ad531cb161d826d17a7341f88b842326f06133856fc7da4e9c22b4c7b74fe1ad4d907a10e3f775b3bba63a68231500ce6d0eb733a89ad4bc53fc256f6365b9799802b4c9c897a61e26e7b058952c87790484f91001fcc58d02e4cfe088bd717ffbf0271c2c15b63bf34657969ca6fbd2982c5dfba33221d');
INSERT INTO "leaks" VALUES (1, 3, 'mark', 'train.txt', 2, 'text', 0.9, 'a late transfer', 'Ann', '2026-02-01');
INSERT INTO "signals" VALUES ('first', 'thumbs', '2026-01-01', '', 0.5, NULL);
INSERT INTO "answers" VALUES (1, 1, 'q1', 'May', 1);
INSERT INTO "batches" VALUES (1, 'log', 'asks.jsonl', 'h', '2026-02-03', 'Ann', 7, 3, 2, '["lang"]', 5, '2026-01-01', '2026-01-31');
INSERT INTO "batch_buckets" VALUES (1, 'lang', 'en', 7, 3);
INSERT INTO "candidates" VALUES (1, 'log', 'how do I close it', 'how do i close it', 2, NULL, NULL, NULL, '[]', 1, 'open', NULL, NULL, NULL);
INSERT INTO "candidates" VALUES (2, 'log', 'a lost card', 'a lost card', 3, NULL, NULL, NULL, '[]', 1, 'taken', 2, '2026-02-04', 'Ann');
INSERT INTO "candidate_buckets" VALUES (1, 'lang', 'en', 2);
INSERT INTO "proposals" VALUES (1, 1, NULL, 3, 'judge', 1, 1, '2026-02-05', 'Ann');
INSERT INTO "proposals" VALUES (2, NULL, 2, 4, 'thumbs', 2, 3, '2026-02-05', NULL);
INSERT INTO "query_history" VALUES (1, 1, 'split', '2026-11-28T01:24:57.821Z', 'root', NULL, '{"split": null}', '{"split": "dev"}');
INSERT INTO "query_history" VALUES (2, 2, 'split', '2026-11-28T01:24:57.821Z', 'root', NULL, '{"split": null}', '{"split": "test"}');
INSERT INTO "query_history" VALUES (3, 4, 'retire', '2026-11-28T01:24:57.825Z', 'root', NULL, '{"retired_at": null}', '{"retired_at": "2026-11-28T01:24:57.825Z"}');
INSERT INTO "ungraded" VALUES (3, 3);
INSERT INTO "chunkings" VALUES (1, 'v2', '2026-11-28T01:24:57.309Z');
INSERT INTO "documents" VALUES (1, 'd1', 'Fees', 'Annual fees are due in May, and are taken from the account at the end of that month. A late transfer costs twelve euros. Cards are sent by letter. A lost card is blocked at any hour.', '51dc35b6712b08850084ebbf1c84e21a', '{}');
INSERT INTO "judgments" VALUES (1, '041501f2-1ca6-48ec-bbf4-ff18a653ac8b', 1, 2, NULL, 'import', 0, '["Bea"]', NULL, NULL, 0, 'golden.jsonl', NULL, NULL, '098be7e43b5c93c5f81381572588e1f6', '2026-11-28T01:24:57.490Z', NULL, NULL, NULL, NULL);
INSERT INTO "judgments" VALUES (2, 'b5c53d67-b1bd-4351-b774-5ae50375cd4e', 3, 2, NULL, 'import', 3, '["Bea"]', NULL, NULL, 0, 'golden.jsonl', NULL, NULL, '098be7e43b5c93c5f81381572588e1f6', '2026-11-28T01:24:57.491Z', NULL, NULL, NULL, NULL);
INSERT INTO "judgments" VALUES (3, 'e1', 1, 1, 1, 'grade', 3, NULL, NULL, NULL, 1, NULL, NULL, 900, '8d933271a12416c99fa36373cf9ddeb1', '2026-11-28T01:24:57.641Z', '[[0, 26]]', NULL, 1, 0);
INSERT INTO "judgments" VALUES (4, 'e2', 2, 4, 1, 'grade', 2, NULL, NULL, NULL, 1, NULL, NULL, NULL, '007bec51f7f9a12867e7a7247c1eddd7', '2026-11-28T01:24:57.645Z', NULL, NULL, NULL, NULL);
INSERT INTO "judgments" VALUES (5, 'e3', 2, 4, 2, 'grade', 1, NULL, NULL, NULL, 1, NULL, NULL, NULL, '007bec51f7f9a12867e7a7247c1eddd7', '2026-11-28T01:24:57.649Z', NULL, NULL, NULL, NULL);
INSERT INTO "judgments" VALUES (6, 'e4', 2, 3, 2, 'cannot_tell', NULL, NULL, 'other', 'blurred', 1, NULL, NULL, NULL, '67a6b41ef7bf0dd19cf0be764da2f922', '2026-11-28T01:24:57.653Z', NULL, NULL, NULL, NULL);
INSERT INTO "judgments" VALUES (7, 'e5', 3, 2, 2, 'grade', 1, NULL, NULL, NULL, 1, NULL, NULL, NULL, '098be7e43b5c93c5f81381572588e1f6', '2026-11-28T01:24:57.655Z', NULL, NULL, NULL, NULL);
INSERT INTO "judgments" VALUES (8, 'u5', 3, 2, 2, 'withdraw', NULL, NULL, NULL, NULL, 1, NULL, 7, NULL, NULL, '2026-11-28T01:24:57.657Z', NULL, NULL, NULL, NULL);
INSERT INTO "judgments" VALUES (9, 'a1', 2, 4, 3, 'adjudicate', 3, NULL, NULL, 'read again', 1, NULL, NULL, NULL, '007bec51f7f9a12867e7a7247c1eddd7', '2026-11-28T01:24:57.712Z', NULL, NULL, NULL, NULL);
INSERT INTO "judgments" VALUES (10, '45f2f9ac-f53f-4476-8162-a1672597b1a5', 1, 5, NULL, 'carry', 3, NULL, NULL, 'the same text as chunk c1', 0, 'carry::v2:20906fc8', NULL, NULL, '8d933271a12416c99fa36373cf9ddeb1', '2026-11-28T01:24:57.760Z', '[[0, 26]]', '[{"event_id": "e1", "golden": 3, "chunk_id": "c1", "grade": 3, "who": ["Ann"], "at": "2026-11-28T01:24:57.641Z"}]', NULL, NULL);
INSERT INTO "judgments" VALUES (11, 'f37e1aef-d915-4fc0-902c-05e51678fb95', 2, 8, NULL, 'carry', 3, NULL, NULL, 'the same text as chunk c4', 0, 'carry::v2:20906fc8', NULL, NULL, '007bec51f7f9a12867e7a7247c1eddd7', '2026-11-28T01:24:57.765Z', NULL, '[{"event_id": "a1", "golden": 3, "chunk_id": "c4", "grade": 3, "who": ["Cy"], "at": "2026-11-28T01:24:57.712Z"}]', NULL, NULL);
INSERT INTO "judgments" VALUES (12, 'e6', 1, 1, 2, 'grade', 2, NULL, NULL, NULL, 1, NULL, NULL, NULL, '8d933271a12416c99fa36373cf9ddeb1', '2026-11-28T01:24:57.799Z', NULL, NULL, NULL, NULL);
INSERT INTO "claims" VALUES (1, '[1]', '[[1, 2]]', '2026-02-02');
INSERT INTO "golden_loads" VALUES (1, '2026-11-28T01:24:57.491Z', 'root', 'golden.jsonl', 1, 2);
INSERT INTO "list_sources" VALUES (1, 'q1', 'span1', 'trace1', '[[0, 1], [1, 0]]');
INSERT INTO "asked_queries" VALUES (1, 2, 3);
DELETE FROM sqlite_sequence WHERE name = 'audit'; INSERT INTO sqlite_sequence VALUES ('audit', 26);
DELETE FROM sqlite_sequence WHERE name = 'chunkings'; INSERT INTO sqlite_sequence VALUES ('chunkings', 1);
DELETE FROM sqlite_sequence WHERE name = 'runs'; INSERT INTO sqlite_sequence VALUES ('runs', 3);
DELETE FROM sqlite_sequence WHERE name = 'judgments'; INSERT INTO sqlite_sequence VALUES ('judgments', 12);
DELETE FROM sqlite_sequence WHERE name = 'golden_loads'; INSERT INTO sqlite_sequence VALUES ('golden_loads', 1);
DELETE FROM sqlite_sequence WHERE name = 'remarks'; INSERT INTO sqlite_sequence VALUES ('remarks', 3);
DELETE FROM sqlite_sequence WHERE name = 'query_history'; INSERT INTO sqlite_sequence VALUES ('query_history', 3);
DELETE FROM sqlite_sequence WHERE name = 'versions'; INSERT INTO sqlite_sequence VALUES ('versions', 1);
DELETE FROM sqlite_sequence WHERE name = 'leaks'; INSERT INTO sqlite_sequence VALUES ('leaks', 1);
DELETE FROM sqlite_sequence WHERE name = 'batches'; INSERT INTO sqlite_sequence VALUES ('batches', 1);
DELETE FROM sqlite_sequence WHERE name = 'candidates'; INSERT INTO sqlite_sequence VALUES ('candidates', 2);
DELETE FROM sqlite_sequence WHERE name = 'proposals'; INSERT INTO sqlite_sequence VALUES ('proposals', 2);
CREATE VIRTUAL TABLE chunk_words USING fts5 (
    title, text, content='readable_chunks', content_rowid='id',
    tokenize='unicode61 remove_diacritics 2'
);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE INDEX chunks_document ON chunks (document_id, position);
CREATE INDEX remarks_query ON remarks (query, grader);
CREATE TRIGGER remarks_are_not_updated BEFORE UPDATE ON remarks
BEGIN
    SELECT RAISE(ABORT, 'remarks are append-only: add a new one instead of changing one');
END;
CREATE TRIGGER remarks_are_not_deleted BEFORE DELETE ON remarks
BEGIN
    SELECT RAISE(ABORT, 'remarks are append-only: add a withdrawal instead of deleting');
END;
CREATE VIEW current_remarks AS
SELECT id, event_id, query, grader, kind, note, created_at
FROM remarks AS r
WHERE kind <> 'withdraw'
    AND NOT EXISTS (
        SELECT 1 FROM remarks AS newer
        WHERE newer.query = r.query AND newer.grader = r.grader AND newer.id > r.id
    );
CREATE UNIQUE INDEX invitations_address ON invitations (address) WHERE revoked_at IS NULL;
CREATE VIEW readable_chunks AS SELECT id, title, text FROM chunks WHERE text IS NOT NULL;
CREATE TRIGGER chunks_are_indexed AFTER INSERT ON chunks WHEN NEW.text IS NOT NULL
BEGIN
    INSERT INTO chunk_words (rowid, title, text) VALUES (NEW.id, NEW.title, NEW.text);
END;
CREATE TRIGGER chunks_are_indexed_anew AFTER UPDATE OF title, text ON chunks
BEGIN
    INSERT INTO chunk_words (chunk_words, rowid, title, text)
    SELECT 'delete', OLD.id, OLD.title, OLD.text WHERE OLD.text IS NOT NULL;
    INSERT INTO chunk_words (rowid, title, text)
    SELECT NEW.id, NEW.title, NEW.text WHERE NEW.text IS NOT NULL;
END;
CREATE TRIGGER chunks_are_not_indexed_any_more AFTER DELETE ON chunks WHEN OLD.text IS NOT NULL
BEGIN
    INSERT INTO chunk_words (chunk_words, rowid, title, text)
    VALUES ('delete', OLD.id, OLD.title, OLD.text);
END;
CREATE UNIQUE INDEX remarks_undoes ON remarks (undoes);
CREATE TRIGGER remarks_are_not_replaced BEFORE INSERT ON remarks
WHEN EXISTS (
    SELECT 1 FROM remarks WHERE id = NEW.id OR event_id = NEW.event_id OR undoes = NEW.undoes
)
BEGIN
    SELECT RAISE(ABORT, 'remarks are append-only: this one is already in the log');
END;
CREATE VIEW standing_remarks AS
SELECT * FROM remarks AS r
WHERE undoes IS NULL AND NOT EXISTS (SELECT 1 FROM remarks AS undo WHERE undo.undoes = r.id);
CREATE INDEX sessions_invitation ON sessions (invitation);
CREATE INDEX sessions_login ON sessions (login);
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
CREATE VIEW rankings AS
WITH RECURSIVE
blocks (block) AS (
    SELECT 0
    UNION ALL
    SELECT block + 1 FROM blocks WHERE (block + 1) * 512 < (SELECT max(depth) FROM runs)
),
places (place) AS (
    SELECT 1
    UNION ALL
    SELECT place + 1 FROM places WHERE place < 512
),
powers (exponent, power) AS (
    SELECT 0, 1.0
    UNION ALL
    SELECT exponent + 1, power * 2 FROM powers WHERE exponent < 128
),
pieces AS (
    SELECT
        runs.name AS run, l.query_id, block,
        substr(l.chunks, block * 2048 + 1, 2048) AS chunks,
        substr(l.scores, block * 2048 + 1, 2048) AS scores,
        row_number() OVER (PARTITION BY runs.name, l.query_id) AS piece
    FROM ranked_lists AS l
    JOIN runs ON runs.id = l.run
    JOIN blocks ON block * 2048 < length(l.chunks)
),
words AS (
    SELECT
        run, query_id, block * 512 + place AS rank,
        hex(substr(chunks, place * 4 - 3, 4)) AS c,
        hex(substr(scores, place * 4 - 3, 4)) AS s
    FROM pieces
    JOIN places ON place * 4 <= length(chunks)
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, NULL WHERE 0
),
bits AS (
    SELECT
        run, query_id, rank, s,
        ((instr('0123456789ABCDEF', substr(c, 1, 1)) - 1) << 4) | ((instr('0123456789ABCDEF', substr(c, 2, 1)) - 1) << 0) | ((instr('0123456789ABCDEF', substr(c, 3, 1)) - 1) << 12) | ((instr('0123456789ABCDEF', substr(c, 4, 1)) - 1) << 8) | ((instr('0123456789ABCDEF', substr(c, 5, 1)) - 1) << 20) | ((instr('0123456789ABCDEF', substr(c, 6, 1)) - 1) << 16) | ((instr('0123456789ABCDEF', substr(c, 7, 1)) - 1) << 28) | ((instr('0123456789ABCDEF', substr(c, 8, 1)) - 1) << 24) AS chunk,
        ((instr('0123456789ABCDEF', substr(s, 1, 1)) - 1) << 4) | ((instr('0123456789ABCDEF', substr(s, 2, 1)) - 1) << 0) | ((instr('0123456789ABCDEF', substr(s, 3, 1)) - 1) << 12) | ((instr('0123456789ABCDEF', substr(s, 4, 1)) - 1) << 8) | ((instr('0123456789ABCDEF', substr(s, 5, 1)) - 1) << 20) | ((instr('0123456789ABCDEF', substr(s, 6, 1)) - 1) << 16) | ((instr('0123456789ABCDEF', substr(s, 7, 1)) - 1) << 28) | ((instr('0123456789ABCDEF', substr(s, 8, 1)) - 1) << 24) AS bits
    FROM words
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, NULL, NULL WHERE 0
)
SELECT
    bits.run,
    bits.query_id,
    bits.rank,
    chunks.chunk_id,
    CASE WHEN s = '' OR bits & 2147483647 > 2139095040 THEN NULL -- no score, or not a number
    WHEN bits & 2147483647 = 2139095040 THEN (1 - 2 * (bits >> 31)) * 9e999
    ELSE
        (1 - 2 * (bits >> 31))
        * ((bits & 8388607) + CASE WHEN bits >> 23 & 255 THEN 8388608 ELSE 0 END)
        / 8388608.0
        * CASE WHEN max(bits >> 23 & 255, 1) >= 127 THEN power ELSE 1.0 / power END
    END AS score
FROM bits
JOIN chunks ON chunks.id = bits.chunk
JOIN powers ON powers.exponent = abs(max(bits >> 23 & 255, 1) - 127);
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
CREATE VIEW leaked_queries AS
SELECT query, file, line, part, score, words, who, at
FROM leaks AS l
WHERE kind = 'mark' AND NOT EXISTS (SELECT 1 FROM leaks WHERE query = l.query AND id > l.id);
CREATE INDEX leaks_by_query ON leaks (query, id);
CREATE TRIGGER leaks_are_not_updated BEFORE UPDATE ON leaks
BEGIN
    SELECT RAISE(ABORT, 'what was found stays written: take it back instead');
END;
CREATE TRIGGER leaks_are_not_deleted BEFORE DELETE ON leaks
BEGIN
    SELECT RAISE(ABORT, 'what was found stays written: take it back instead');
END;
CREATE TRIGGER leaks_are_not_replaced BEFORE INSERT ON leaks
WHEN EXISTS (SELECT 1 FROM leaks WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'what was found stays written: take it back instead');
END;
CREATE INDEX candidates_state ON candidates (state, source);
CREATE INDEX candidates_query ON candidates (query);
CREATE INDEX candidates_normal ON candidates (normal);
CREATE UNIQUE INDEX proposals_of_queries ON proposals (query, chunk, source, grade)
    WHERE query IS NOT NULL;
CREATE UNIQUE INDEX proposals_of_candidates ON proposals (candidate, chunk, source, grade)
    WHERE candidate IS NOT NULL;
CREATE VIEW proposed AS
WITH votes AS (
    SELECT coalesce(p.query, c.query) AS query, p.chunk, p.source, p.grade,
        sum(p.times) AS times, min(p.at) AS at
    FROM proposals AS p LEFT JOIN candidates AS c ON c.id = p.candidate
    GROUP BY 1, 2, 3, 4
),
weighed AS (
    SELECT query, chunk, source, grade, times, at,
        sum(times) OVER (PARTITION BY query, chunk, source) - times AS against,
        rank() OVER (PARTITION BY query, chunk, source ORDER BY times DESC) AS place,
        count(*) OVER (PARTITION BY query, chunk, source, times) AS as_many
    FROM votes WHERE query IS NOT NULL
)
SELECT query, chunk, source, grade, times, against, at
FROM weighed WHERE place = 1 AND as_many = 1;
CREATE INDEX query_history_of ON query_history (query, id);
CREATE TRIGGER query_history_is_not_updated BEFORE UPDATE ON query_history
BEGIN
    SELECT RAISE(ABORT, 'the history of queries is append-only: change the query anew instead');
END;
CREATE TRIGGER query_history_is_not_deleted BEFORE DELETE ON query_history
BEGIN
    SELECT RAISE(ABORT, 'the history of queries is append-only: change the query anew instead');
END;
CREATE TRIGGER query_history_is_not_replaced BEFORE INSERT ON query_history
WHEN EXISTS (SELECT 1 FROM query_history WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'the history of queries is append-only: change the query anew instead');
END;
CREATE INDEX chunks_chunking ON chunks (chunking) WHERE chunking IS NOT NULL;
CREATE TRIGGER chunks_are_of_the_chunking_they_name AFTER INSERT ON chunks
WHEN NEW.chunking IS NULL AND instr(NEW.chunk_id, ':') > 1 AND EXISTS (SELECT 1 FROM chunkings)
BEGIN
    UPDATE chunks SET chunking = (
        SELECT id FROM chunkings WHERE name = substr(NEW.chunk_id, 1, instr(NEW.chunk_id, ':') - 1)
    ) WHERE id = NEW.id;
END;
CREATE INDEX judgments_pair ON judgments (query, chunk);
CREATE INDEX judgments_grader ON judgments (grader);
CREATE INDEX judgments_carried ON judgments (query, chunk) WHERE carried_from IS NOT NULL;
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
CREATE INDEX judgments_evidence ON judgments (query, chunk) WHERE evidence IS NOT NULL;
CREATE TRIGGER evidence_is_in_its_text BEFORE INSERT ON judgments
WHEN NEW.evidence IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'evidence is a sorted list of [start, end], none empty or overlapping')
    WHERE EXISTS (
        SELECT 1 FROM (
            SELECT
                type, json_array_length(value) AS places,
                json_type(value, '$[0]') AS starts_as, json_type(value, '$[1]') AS ends_as,
                json_extract(value, '$[0]') AS start, json_extract(value, '$[1]') AS "end",
                lag(json_extract(value, '$[1]'), 1, 0) OVER (ORDER BY key) AS before
            FROM json_each(NEW.evidence)
        )
        WHERE type <> 'array' OR places <> 2 OR starts_as <> 'integer' OR ends_as <> 'integer'
            OR start < before OR "end" <= start
    );
    SELECT RAISE(ABORT, 'evidence lies outside the text of its chunk')
    FROM chunks AS c
    WHERE c.id = NEW.chunk AND c.text_hash IS NEW.text_hash AND EXISTS (
        SELECT 1 FROM json_each(NEW.evidence)
        WHERE json_extract(value, '$[1]') > length(c.text)
    );
END;
CREATE TRIGGER carries_say_what_they_rest_on BEFORE INSERT ON judgments
WHEN NEW.carried_from IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'carried_from is a list of objects with event_id and golden, a grade')
    WHERE EXISTS (
        SELECT 1 FROM json_each(NEW.carried_from)
        WHERE type <> 'object' OR json_type(value, '$.event_id') IS NOT 'text'
            OR json_type(value, '$.golden') IS NOT 'integer'
            OR json_extract(value, '$.golden') NOT BETWEEN 0 AND 3
    );
    SELECT RAISE(ABORT, 'a carried grade rests on grades of the same query')
    FROM json_each(NEW.carried_from) AS said
    JOIN judgments AS base ON base.event_id = json_extract(said.value, '$.event_id')
    WHERE base.query <> NEW.query OR base.kind NOT IN ('grade', 'adjudicate', 'import');
END;
CREATE VIEW standing_judgments AS
SELECT
    j.*,
    CASE WHEN kind IN ('adjudicate', 'import', 'propose') THEN kind
    WHEN carried_from IS NOT NULL THEN 'carry'
    ELSE 'grade' END AS lane
FROM judgments AS j
WHERE +undoes IS NULL
    AND NOT EXISTS (SELECT 1 FROM judgments AS undo WHERE undo.undoes = j.id);
CREATE VIEW current_judgments AS
SELECT
    id, event_id, query, chunk, grader, kind, grade, graders, reason, note, blind, source,
    elapsed_ms, text_hash, created_at, evidence, carried_from
FROM standing_judgments AS j
WHERE kind <> 'withdraw'
    AND NOT EXISTS (
        SELECT 1 FROM standing_judgments AS newer
        WHERE newer.query = j.query AND newer.chunk = j.chunk AND +newer.grader IS j.grader
            AND newer.lane = j.lane AND newer.id > j.id
    );
CREATE VIEW golden AS
WITH rule (rule, carried) AS (

SELECT
    coalesce(json_extract(chosen, '$.golden_rule'), 'lower median'),
    coalesce(json_extract(chosen, '$.carried'), 'count')
FROM (SELECT (SELECT value FROM settings WHERE key = 'settings') AS chosen)

),
counted AS (

    SELECT
        query, chunk,
        max(id) FILTER (WHERE kind = 'adjudicate') AS adjudication,
        max(id) FILTER (WHERE kind = 'import') AS import,
        max(id) FILTER (WHERE kind = 'carry') AS carry,
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
    SELECT counted.*, rule, carried, (people + 1 + (rule = 'upper median')) / 2 AS middle
    FROM counted, rule
),
agreed AS (
    SELECT
        *,

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
    WHEN people = 0 THEN coalesce(import, 
CASE WHEN agreed.carried = 'count' AND NOT EXISTS (
    SELECT 1 FROM judgments AS own JOIN chunks AS its ON its.id = own.chunk
    WHERE own.id = carry AND own.text_hash <> its.text_hash
) AND NOT EXISTS (
    SELECT 1 FROM judgments AS own
    JOIN json_each(own.carried_from) AS said
    JOIN judgments AS base ON base.event_id = json_extract(said.value, '$.event_id')
    JOIN chunks AS of ON of.id = base.chunk
    WHERE own.id = carry AND (
        coalesce(base.text_hash <> of.text_hash, false)
        OR json_extract(said.value, '$.golden') IS NOT (
    SELECT CASE WHEN NOT stands THEN NULL WHEN adjudication IS NOT NULL OR people = 0 THEN (
        SELECT deciding.grade FROM judgments AS deciding
        WHERE deciding.id = coalesce(adjudication, import)
    ) ELSE

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

    END
    FROM (SELECT of_base.*, (people + 1 + (rule = 'upper median')) / 2 AS middle FROM (

    SELECT
        query, chunk,
        max(id) FILTER (WHERE kind = 'adjudicate') AS adjudication,
        max(id) FILTER (WHERE kind = 'import') AS import,
        max(id = base.id) AS stands,
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
    WHERE kind IN ('adjudicate', 'grade', 'import') AND query = base.query AND chunk = base.chunk
    GROUP BY query, chunk

    ) AS of_base)
)
    )
) THEN carry END
)
    WHEN g = 0 THEN j0
    WHEN g = 1 THEN coalesce(j1, j0)
    WHEN g = 2 THEN coalesce(j2, j1, j0)
    WHEN g = 3 THEN coalesce(j3, j2, j1, j0)
    END
JOIN chunks ON chunks.id = agreed.chunk;
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
CREATE INDEX chunks_wording ON chunks (text_hash) WHERE text_hash IS NOT NULL;
INSERT INTO chunk_words (rowid, title, text) SELECT id, title, text FROM readable_chunks;
