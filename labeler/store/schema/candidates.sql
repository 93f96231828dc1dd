-- Candidates: questions that may become queries, and the grades that a source suggests.

-- One file of candidates, or typed questions. The same content is stored once (hash).
-- kept    how many questions were stored; times and texts count those of the whole file
-- evenly  the facets over which the stored questions were drawn evenly
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

-- How often users asked the queries of a log from which runs were loaded. The buckets are those of
-- the queries at the time of counting.
CREATE TABLE asked_queries (
    batch INTEGER NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
    query INTEGER NOT NULL REFERENCES queries (id),
    times INTEGER NOT NULL CHECK (times > 0),
    PRIMARY KEY (batch, query)
) STRICT, WITHOUT ROWID;

-- normal: the words of the text, normalised to compare texts
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

CREATE INDEX candidates_state ON candidates (state, source);
CREATE INDEX candidates_query ON candidates (query);
CREATE INDEX candidates_normal ON candidates (normal);

CREATE TABLE candidate_buckets (
    candidate INTEGER NOT NULL REFERENCES candidates (id) ON DELETE CASCADE,
    facet TEXT NOT NULL CHECK (facet <> ''),
    bucket TEXT NOT NULL,
    times INTEGER NOT NULL CHECK (times > 0),
    PRIMARY KEY (candidate, facet, bucket)
) STRICT, WITHOUT ROWID;

-- Grades that a source suggests: for a candidate until it is taken, for its query from then on.
-- They never count as judgments.
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

CREATE UNIQUE INDEX proposals_of_queries ON proposals (query, chunk, source, grade)
    WHERE query IS NOT NULL;
CREATE UNIQUE INDEX proposals_of_candidates ON proposals (candidate, chunk, source, grade)
    WHERE candidate IS NOT NULL;

-- The grade with most votes of a source for a pair; none in a tie.
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
