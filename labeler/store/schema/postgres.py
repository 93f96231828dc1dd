"""A golden set's shape in PostgreSQL, made from the one in SQLite by rule; runs nothing of it.

So the schema is written once. What SQLite calls by a name that PostgreSQL has not, a golden set
brings along as functions of its own: they stand in its schema, which is searched first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from labeler.store.schema.dialect import in_postgres
from labeler.store.schema.shape import Made, in_order

SCHEMA = "labeler"
LOCK = 7_261_201
"""The advisory lock that whoever writes holds, so that ids come in the order of commits."""
TURNS = LOCK + 1
"""The one that a server holds while it chooses what to hand out."""
FOLDING = ("pg_c_utf8", "und-x-icu", "ucs_basic", "C")
"""Collations that know upper from lower case, the best first; every server has the last."""

TYPES = ((r"\bINTEGER\b", "BIGINT"), (r"\bBLOB\b", "BYTEA"), (r"\bREAL\b", "DOUBLE PRECISION"))
NUMBERED = re.compile(r'[(,]\s*"?id"? INTEGER PRIMARY KEY(?P<never_again> AUTOINCREMENT)?')
TAIL = re.compile(r"\)\s*(STRICT)?(, WITHOUT ROWID)?\s*$")
REFERENCES = re.compile(r"\bREFERENCES (\w+)")
INDEX = re.compile(r"(?P<head>CREATE INDEX \w+\s+ON (?P<table>\w+) )\((?P<columns>[^)]*)\)")
TRIGGER = re.compile(
    r"CREATE TRIGGER (?P<name>\w+) (?P<when>BEFORE|AFTER) (?P<what>[A-Z]+(?: OF [\w, ]+)?) "
    r"ON (?P<table>\w+)\s*(?:WHEN (?P<only>.*?))?\s*\bBEGIN\b(?P<body>.*)\bEND$",
    re.S,
)
REFUSES = re.compile(r"SELECT RAISE\(ABORT, ('(?:[^']|'')*')\)(?P<where>.*)$", re.S)
FOUND_BY_WORDS = re.compile(r"chunk_words|readable_chunks|chunks_are_.*indexed")

# What SQLite knows by these names. Those that stand in a CHECK name nothing but PostgreSQL's own,
# so that a dump can be restored, whatever is searched then.
WORDS = r"""
CREATE FUNCTION json_valid(doc TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT doc IS JSON $$;

CREATE FUNCTION json_type(doc TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT CASE WHEN doc IS JSON THEN json_typeof(doc::json) END $$;

CREATE FUNCTION json_array_length(doc TEXT) RETURNS BIGINT
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT CASE WHEN doc IS JSON ARRAY THEN json_array_length(doc::json) ELSE 0 END $$;

CREATE FUNCTION instr(words TEXT, part TEXT) RETURNS BIGINT
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT strpos(words, part)::bigint $$;

CREATE FUNCTION substr(words TEXT, start BIGINT, most BIGINT) RETURNS TEXT
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT pg_catalog.substr(words, start::int, most::int) $$;

CREATE FUNCTION json_type(doc TEXT, path TEXT) RETURNS TEXT
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT CASE jsonb_typeof(found) WHEN 'number' THEN
        CASE WHEN found::text ~ '^-?[0-9]+$' THEN 'integer' ELSE 'real' END
        WHEN 'string' THEN 'text' ELSE jsonb_typeof(found) END
    FROM jsonb_path_query_first(doc::jsonb, path::jsonpath) AS found
$$;

CREATE FUNCTION json_extract(doc TEXT, path TEXT) RETURNS TEXT
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT jsonb_path_query_first(doc::jsonb, path::jsonpath) #>> '{}' $$;

CREATE FUNCTION json_number(doc TEXT, place INTEGER) RETURNS BIGINT
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT CASE WHEN doc::json ->> place ~ '^-?[0-9]{1,18}$' THEN (doc::json ->> place)::bigint END
$$;

CREATE FUNCTION json_number(doc TEXT, name TEXT) RETURNS BIGINT
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT CASE WHEN doc::json ->> name ~ '^-?[0-9]{1,18}$' THEN (doc::json ->> name)::bigint END
$$;

CREATE FUNCTION json_each(doc TEXT) RETURNS TABLE (key BIGINT, value TEXT, type TEXT)
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 100
AS $$
    SELECT place - 1, each #>> '{}', json_typeof(each)
    FROM json_array_elements(doc::json) WITH ORDINALITY AS found (each, place)
$$;

CREATE FUNCTION numbers(doc TEXT) RETURNS BIGINT[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT coalesce(array_agg(each::bigint), '{}') FROM json_array_elements_text(doc::json) AS each
$$;

CREATE FUNCTION json_pairs(VARIADIC named TEXT[]) RETURNS TEXT
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT pg_catalog.json_object(named)::text $$;

CREATE FUNCTION strftime(form TEXT, since TEXT) RETURNS TEXT LANGUAGE sql VOLATILE PARALLEL SAFE
AS $$ SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

CREATE FUNCTION max(one BIGINT, two BIGINT, three BIGINT) RETURNS BIGINT
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT greatest(one, two, three) $$;

CREATE FUNCTION max(one TEXT, two TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT greatest(one, two) $$;

CREATE FUNCTION folded(words TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT replace(lower(words COLLATE {folding}), 'ß', 'ss') $$;

CREATE FUNCTION added(sum BIGINT, one BOOLEAN) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN one IS NULL THEN sum ELSE coalesce(sum, 0) + one::int END $$;
CREATE FUNCTION added(one BOOLEAN, two BOOLEAN) RETURNS BIGINT
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT one::int::bigint + two::int $$;
CREATE FUNCTION increased(sum BIGINT, one BOOLEAN) RETURNS BIGINT
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT sum + one::int $$;
CREATE FUNCTION times(number BIGINT, one BOOLEAN) RETURNS BIGINT
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT number * one::int $$;
CREATE OPERATOR + (LEFTARG = BIGINT, RIGHTARG = BOOLEAN, FUNCTION = increased);
CREATE OPERATOR * (LEFTARG = BIGINT, RIGHTARG = BOOLEAN, FUNCTION = times);
CREATE OPERATOR + (LEFTARG = BOOLEAN, RIGHTARG = BOOLEAN, FUNCTION = added);
CREATE AGGREGATE sum (BOOLEAN) (SFUNC = added, STYPE = BIGINT);
CREATE AGGREGATE sum (BIGINT) (SFUNC = int8pl, STYPE = BIGINT);
CREATE AGGREGATE max (BOOLEAN) (SFUNC = boolor_statefunc, STYPE = BOOLEAN);
"""

# Ids of rows are given out without a gap, as SQLite does: what is numbered so counts itself, and a
# chunk's number fits the lists that name it. Whoever adds to a log holds the lock that makes the
# order of its ids the order of commits, even where they come by another tool.
NUMBERED_BY = """
CREATE OR REPLACE FUNCTION numbered_{table}() RETURNS trigger LANGUAGE plpgsql
SET search_path = {schema}, pg_catalog SET enable_seqscan = off AS $$
BEGIN
    PERFORM pg_advisory_xact_lock({lock});
    IF NEW.id IS NULL THEN
        NEW.id := (SELECT coalesce(max(id), 0) + 1 FROM {table});
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER "0_numbered" BEFORE INSERT ON {table}
FOR EACH ROW EXECUTE FUNCTION numbered_{table}();
"""
EMPTIED = """
CREATE FUNCTION not_emptied() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""
NOT_EMPTIED = (
    "CREATE OR REPLACE TRIGGER not_emptied BEFORE TRUNCATE ON {table} "
    "EXECUTE FUNCTION not_emptied()"
)

# The words of chunks with text, without case and accents, as FTS5 has them. One that has too many
# for PostgreSQL is found by those it begins with.
SEARCH = """
CREATE FUNCTION plain(words TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT regexp_replace(
        lower(regexp_replace(normalize(coalesce(words, ''), NFKD), '[\u0300-\u036f]', '', 'g')
            COLLATE {folding}) COLLATE {folding},
        '[^[:alnum:]]+', ' ', 'g')
$$;

CREATE FUNCTION words_of(title TEXT, words TEXT) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE
SET search_path = {schema}, pg_catalog AS $$
BEGIN
    RETURN setweight(to_tsvector('simple', plain(title)), 'A')
        || setweight(to_tsvector('simple', plain(words)), 'B');
EXCEPTION WHEN program_limit_exceeded THEN
    RETURN setweight(to_tsvector('simple', plain(left(title, 1000))), 'A')
        || setweight(to_tsvector('simple', plain(left(words, 100000))), 'B');
END $$;

CREATE TABLE chunk_words (
    id BIGINT PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    words tsvector NOT NULL
);
CREATE INDEX chunk_words_words ON chunk_words USING gin (words);

CREATE FUNCTION chunks_are_indexed() RETURNS trigger LANGUAGE plpgsql
SET search_path = {schema}, pg_catalog AS $$
BEGIN
    IF NEW.text IS NULL THEN
        DELETE FROM chunk_words WHERE id = NEW.id;
    ELSE
        INSERT INTO chunk_words VALUES (NEW.id, words_of(NEW.title, NEW.text))
        ON CONFLICT (id) DO UPDATE SET words = excluded.words;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER chunks_are_indexed AFTER INSERT OR UPDATE OF title, text ON chunks
FOR EACH ROW EXECUTE FUNCTION chunks_are_indexed();
"""

LISTS = """
CREATE FUNCTION int32_at(list BYTEA, place INTEGER) RETURNS BIGINT
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT get_byte(list, place * 4 - 4)::bigint + get_byte(list, place * 4 - 3)::bigint * 256
        + get_byte(list, place * 4 - 2)::bigint * 65536
        + get_byte(list, place * 4 - 1)::bigint * 16777216
$$;

CREATE FUNCTION float32_at(list BYTEA, place INTEGER) RETURNS DOUBLE PRECISION
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE
    WHEN bits & 2147483647 > 2139095040 THEN NULL -- not a number
    WHEN bits & 2147483647 = 2139095040 THEN (1 - 2 * (bits >> 31)) * 'Infinity'::float8
    ELSE (1 - 2 * (bits >> 31))
        * ((bits & 8388607) + CASE WHEN bits >> 23 & 255 > 0 THEN 8388608 ELSE 0 END)
        / 8388608.0::float8 * power(2.0::float8, greatest(bits >> 23 & 255, 1) - 127)
    END
    FROM {schema}.int32_at(list, place) AS bits
$$;
"""
RANKINGS = """
CREATE VIEW rankings AS
SELECT runs.name AS run, l.query_id, place AS rank, chunks.chunk_id,
    float32_at(l.scores, place) AS score
FROM ranked_lists AS l
JOIN runs ON runs.id = l.run
CROSS JOIN LATERAL generate_series(1, length(l.chunks) / 4) AS place
JOIN chunks ON chunks.id = int32_at(l.chunks, place);
"""
NUMBERS_OF = "SELECT '{table}' AS name, coalesce(max(id), 0) AS seq FROM {table}"
MASTER = "CREATE TABLE sqlite_master (type TEXT, name TEXT, tbl_name TEXT, sql TEXT)"
COLUMNS = """
CREATE FUNCTION pragma_table_info(asked TEXT) RETURNS TABLE (name TEXT) LANGUAGE sql STABLE AS $$
    SELECT column_name::text FROM information_schema.columns
    WHERE table_schema = '{schema}' AND table_name = asked
$$
"""


def statements(made: Sequence[Made], folding: str) -> Iterator[str]:
    """Give what makes an empty golden set of a shape, in order; ``folding`` is a collation."""
    tables = [each for each in made if each.kind == "table" and _is_own(each)]
    yield f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"
    yield WORDS.replace("{folding}", f'"{folding}"')
    yield EMPTIED
    yield MASTER
    yield COLUMNS.format(schema=SCHEMA)
    logs = logs_of(made)
    for table in in_order(tables):
        yield table_in_postgres(table.sql, is_log=table.name in logs)
    for index in (each for each in made if each.kind == "index"):
        yield index_in_postgres(index.sql, tables)
    yield SEARCH.replace("{folding}", f'"{folding}"').replace("{schema}", SCHEMA)
    yield LISTS.replace("{schema}", SCHEMA)
    yield from views_and_triggers(made)


def views_and_triggers(made: Sequence[Made]) -> Iterator[str]:
    """Give what makes the views and triggers of a shape, which no migration changes in place."""
    tables = [each for each in made if each.kind == "table" and _is_own(each)]
    views = [each for each in made if each.kind == "view" and _is_own(each)]
    for view in in_order([each for each in views if each.name != "rankings"]):
        yield in_postgres(view.sql)
    yield RANKINGS
    logs = logs_of(made)
    for table in tables:
        found = NUMBERED.search(table.sql)
        if found and (table.name in logs or not found["never_again"]):
            yield NUMBERED_BY.format(table=table.name, schema=SCHEMA, lock=LOCK)
        if table.name in logs:
            yield NOT_EMPTIED.format(table=table.name)
    numbered = {each.name for each in tables if NUMBERED.search(each.sql)}
    counted = " UNION ALL ".join(
        NUMBERS_OF.format(table=table) for table in sorted(logs & numbered)
    )
    yield f"CREATE VIEW sqlite_sequence AS {counted}"
    for trigger in (each for each in made if each.kind == "trigger" and _is_own(each)):
        yield trigger_in_postgres(trigger.sql)


def guards(made: Iterable[Made]) -> Iterator[tuple[str, str]]:
    """Give the triggers of a shape, each with what it does."""
    for each in made:
        if each.kind == "trigger" and _is_own(each):
            yield each.name, trigger_in_postgres(each.sql).split("$$")[1]


def without_views_and_triggers(made: Iterable[Made]) -> Iterator[str]:
    """Give what takes the views and triggers of a shape away, for a migration and new ones."""
    yield "DROP VIEW IF EXISTS sqlite_sequence"
    for each in made:
        if each.kind == "view" and _is_own(each):
            yield f"DROP VIEW IF EXISTS {each.name} CASCADE"
        elif each.kind == "trigger" and _is_own(each):
            yield f"DROP FUNCTION IF EXISTS {each.name}() CASCADE"


def in_migration(sql: str, made: Sequence[Made]) -> str | None:
    """Return a statement of a migration as PostgreSQL takes it, None where nothing is to be done.

    Views and triggers are made anew after the last one.
    """
    what = re.match(r"\s*(?:--[^\n]*\n\s*)*([A-Z]+)\s+([A-Z]+)(?:\s+(\w+))?", sql)
    verb, kind, name = what.groups() if what else ("", "", "")
    if kind in ("VIEW", "TRIGGER", "VIRTUAL"):
        return None
    if (verb, kind) == ("CREATE", "TABLE"):
        return table_in_postgres(sql.rstrip().rstrip(";"), is_log=name in logs_of(made))
    if verb == "CREATE":
        return index_in_postgres(sql, [each for each in made if each.kind == "table"])
    return in_types(sql) if verb == "ALTER" else sql


def logs_of(made: Iterable[Made]) -> set[str]:
    """Return the tables of which nothing is ever deleted."""
    return {each.table for each in made if each.name.endswith("_not_deleted")}


def _is_own(made: Made) -> bool:
    return not FOUND_BY_WORDS.match(made.name)


def table_in_postgres(sql: str, *, is_log: bool = False) -> str:
    """Return the statement that makes a table, its types by rule.

    >>> table_in_postgres("CREATE TABLE t (\\n    id INTEGER PRIMARY KEY,\\n    b BLOB\\n) STRICT")
    'CREATE TABLE t (\\n    id BIGINT PRIMARY KEY,\\n    b BYTEA\\n)'
    """
    given = (
        "BIGINT PRIMARY KEY" if is_log else "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
    )
    return in_types(TAIL.sub(")", sql).replace("INTEGER PRIMARY KEY AUTOINCREMENT", given))


def in_types(sql: str) -> str:
    """Return a statement with PostgreSQL's types in the place of SQLite's."""
    for pattern, name in TYPES:
        sql = re.sub(pattern, name, sql)
    return in_postgres(sql)


def index_in_postgres(sql: str, tables: Iterable[Made]) -> str:
    """Return the statement that makes an index; one of SQLite's ends with the number of the row."""
    numbered = {each.name for each in tables if NUMBERED.search(each.sql)}

    def ending(found: re.Match[str]) -> str:
        columns = found["columns"]
        is_named = "id" in re.findall(r"\w+", columns)
        more = ", id" if found["table"] in numbered and not is_named else ""
        return f"{found['head']}({columns}{more})"

    return in_postgres(INDEX.sub(ending, sql))


def trigger_in_postgres(sql: str) -> str:
    """Return the statements that make a trigger, which is a function of its own in PostgreSQL."""
    found = TRIGGER.match(sql.strip())
    if found is None:
        raise ValueError(f"not a trigger as this project writes them: {sql}")
    steps = "\n".join(_steps(found["body"]))
    if found["only"]:
        steps = f"IF {in_postgres(found['only'])} THEN\n{steps}\nEND IF;"
    back = "OLD" if found["what"] == "DELETE" else "NEW"
    return (
        f"CREATE FUNCTION {found['name']}() RETURNS trigger LANGUAGE plpgsql "
        # its plans are kept as long as a session, from when there may have been no row
        f"SET search_path = {SCHEMA}, pg_catalog SET enable_seqscan = off AS $$\n"
        f"BEGIN\n{steps}\nRETURN {back};\nEND $$;\n"
        f"CREATE TRIGGER {found['name']} {found['when']} {found['what']} ON {found['table']} "
        f"FOR EACH ROW EXECUTE FUNCTION {found['name']}();"
    )


def _steps(body: str) -> Iterator[str]:
    for step in filter(None, map(str.strip, re.split(r";\s*(?:\n|$)", body))):
        refusal = REFUSES.match(step)
        if refusal is None:
            yield f"{in_postgres(step)};"
            continue
        yield (
            f"IF EXISTS (SELECT 1 {in_postgres(refusal['where'])}) THEN\n"
            f"    RAISE EXCEPTION USING MESSAGE = {refusal[1]}, "
            "ERRCODE = 'integrity_constraint_violation';\nEND IF;"
        )
