"""Translation of SQLite's SQL into PostgreSQL's: statements, tables, indexes, views and triggers.

Statements and schema are therefore written once, for SQLite. Only syntax is rewritten, never text
within quotes; functions of SQLite that PostgreSQL lacks are created in the golden set's own
schema, which is searched first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from labeler.store.schema.shape import SchemaObject, dependency_order

_QUOTED_TEXT = re.compile(r"'(?:[^']|'')*'")
_PLACEHOLDER = re.compile("\x01([0-9]+)\x01")
_DIALECT_RULES = [
    (re.compile(pattern), words)
    for pattern, words in (
        (r"\bCROSS JOIN (\w+ AS \w+)(?: INDEXED BY \w+)?(?=\s+ON\b)", r"JOIN \1"),
        (r" NOT INDEXED\b", ""),
        (r"\bIS NOT (?!NULL\b|DISTINCT\b)", "IS DISTINCT FROM "),
        (r"\bIS (?!NULL\b|NOT\b|DISTINCT\b)", "IS NOT DISTINCT FROM "),
        (r"(?<=[\s(])\+(?=[a-z])", ""),  # which only keeps SQLite from an index
        # numbers are looked up as such, so that an index is of use
        (
            r"\b((?:\w+\.)?(?:id|candidate)) IN \(SELECT value FROM json_each\((\?|:\w+)\)\)",
            r"\1 = ANY (numbers(\2))",
        ),
        (
            r"\bJOIN (json_each\([\w.]+\) AS \w+)(?=\s+(?:LEFT|JOIN|WHERE)\b)",
            r"CROSS JOIN LATERAL \1",
        ),
        (r"\bgroup_concat\(", "string_agg("),
        (r"\bjson_group_object\(", "json_object_agg("),
        (r"\bjson_object\(", "json_pairs("),  # a word of its grammar
        (r"\btotal\(([^()]*)\)", r"coalesce(sum(CAST(\1 AS DOUBLE PRECISION)), 0)"),
        (r"\bavg\(([^()]*)\)", r"avg(CAST(\1 AS DOUBLE PRECISION))"),
        (r"\bLIMIT (\?|:\w+)", r"LIMIT nullif(greatest(\1, -1), -1)"),  # -1 stands for all
        (r"\bmain\.", "labeler."),
    )
]
# What is read of JSON as a number: by its place in a list, or by the one name that numbers have.
_NUMBER_RULES = (
    (re.compile(r"\bjson_extract\(([\w.]+), '\$\[([0-9])\]'\)"), r"json_number(\1, \2)"),
    (re.compile(r"\bjson_extract\(([\w.]+), '\$\.(golden)'\)"), r"json_number(\1, '\2')"),
)


@lru_cache(maxsize=1_000)
def to_postgres(sql: str) -> str:
    """Return a statement in PostgreSQL's words, its parameters as they were.

    >>> to_postgres("SELECT +a FROM t NOT INDEXED WHERE a IS NOT 'IS b' AND c IS NULL LIMIT 3")
    "SELECT a FROM t WHERE a IS DISTINCT FROM 'IS b' AND c IS NULL LIMIT 3"
    """
    for pattern, words in _NUMBER_RULES:
        sql = pattern.sub(words, sql)
    texts: list[str] = []

    def keep(found: re.Match[str]) -> str:
        texts.append(found[0])
        return f"\x01{len(texts) - 1}\x01"

    sql = _QUOTED_TEXT.sub(keep, sql)
    for pattern, words in _DIALECT_RULES:
        sql = pattern.sub(words, sql)
    return _PLACEHOLDER.sub(lambda found: texts[int(found[1])], sql)


SCHEMA = "labeler"
WRITER_LOCK = 7_261_201
"""The advisory lock that whoever writes holds, so that ids come in the order of commits."""
ASSIGNMENT_LOCK = WRITER_LOCK + 1
"""The one that a server holds while it chooses what to hand out."""
COLLATIONS = ("pg_c_utf8", "und-x-icu", "ucs_basic", "C")
"""Collations that know upper from lower case, the best first; every server has the last."""

TYPES = ((r"\bINTEGER\b", "BIGINT"), (r"\bBLOB\b", "BYTEA"), (r"\bREAL\b", "DOUBLE PRECISION"))
ID_COLUMN = re.compile(r'[(,]\s*"?id"? INTEGER PRIMARY KEY(?P<never_again> AUTOINCREMENT)?')
TABLE_TAIL = re.compile(r"\)\s*(STRICT)?(, WITHOUT ROWID)?\s*$")
REFERENCES_PATTERN = re.compile(r"\bREFERENCES (\w+)")
INDEX_PATTERN = re.compile(r"(?P<head>CREATE INDEX \w+\s+ON (?P<table>\w+) )\((?P<columns>[^)]*)\)")
TRIGGER_PATTERN = re.compile(
    r"CREATE TRIGGER (?P<name>\w+) (?P<when>BEFORE|AFTER) (?P<what>[A-Z]+(?: OF [\w, ]+)?) "
    r"ON (?P<table>\w+)\s*(?:WHEN (?P<only>.*?))?\s*\bBEGIN\b(?P<body>.*)\bEND$",
    re.S,
)
REFUSAL_PATTERN = re.compile(r"SELECT RAISE\(ABORT, ('(?:[^']|'')*')\)(?P<where>.*)$", re.S)
SEARCH_OBJECTS = re.compile(r"chunk_words|readable_chunks|chunks_are_.*indexed")

# What SQLite knows by these names. Those that stand in a CHECK name nothing but PostgreSQL's own,
# so that a dump can be restored, whatever is searched then.
SQLITE_FUNCTIONS = r"""
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
NUMBERING_TRIGGER = """
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
NOT_EMPTIED_FUNCTION = """
CREATE FUNCTION not_emptied() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""
NOT_EMPTIED_TRIGGER = (
    "CREATE OR REPLACE TRIGGER not_emptied BEFORE TRUNCATE ON {table} "
    "EXECUTE FUNCTION not_emptied()"
)

# The words of chunks with text, without case and accents, as FTS5 has them. One that has too many
# for PostgreSQL is found by those it begins with.
WORD_INDEX = """
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

LIST_FUNCTIONS = """
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
RANKINGS_VIEW = """
CREATE VIEW rankings AS
SELECT runs.name AS run, l.query_id, place AS rank, chunks.chunk_id,
    float32_at(l.scores, place) AS score
FROM ranked_lists AS l
JOIN runs ON runs.id = l.run
CROSS JOIN LATERAL generate_series(1, length(l.chunks) / 4) AS place
JOIN chunks ON chunks.id = int32_at(l.chunks, place);
"""
LAST_ID_OF = "SELECT '{table}' AS name, coalesce(max(id), 0) AS seq FROM {table}"
SQLITE_MASTER = "CREATE TABLE sqlite_master (type TEXT, name TEXT, tbl_name TEXT, sql TEXT)"
TABLE_INFO_FUNCTION = """
CREATE FUNCTION pragma_table_info(asked TEXT) RETURNS TABLE (name TEXT) LANGUAGE sql STABLE AS $$
    SELECT column_name::text FROM information_schema.columns
    WHERE table_schema = '{schema}' AND table_name = asked
$$
"""


def creation_statements(made: Sequence[SchemaObject], folding: str) -> Iterator[str]:
    """Give what makes an empty golden set of a shape, in order; ``folding`` is a collation."""
    tables = [each for each in made if each.kind == "table" and _is_own(each)]
    yield f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"
    yield SQLITE_FUNCTIONS.replace("{folding}", f'"{folding}"')
    yield NOT_EMPTIED_FUNCTION
    yield SQLITE_MASTER
    yield TABLE_INFO_FUNCTION.format(schema=SCHEMA)
    logs = append_only_tables(made)
    for table in dependency_order(tables):
        yield table_to_postgres(table.sql, is_log=table.name in logs)
    for index in (each for each in made if each.kind == "index"):
        yield index_to_postgres(index.sql, tables)
    yield WORD_INDEX.replace("{folding}", f'"{folding}"').replace("{schema}", SCHEMA)
    yield LIST_FUNCTIONS.replace("{schema}", SCHEMA)
    yield from views_and_triggers(made)


def views_and_triggers(made: Sequence[SchemaObject]) -> Iterator[str]:
    """Give what makes the views and triggers of a shape, which no migration changes in place."""
    tables = [each for each in made if each.kind == "table" and _is_own(each)]
    views = [each for each in made if each.kind == "view" and _is_own(each)]
    for view in dependency_order([each for each in views if each.name != "rankings"]):
        yield to_postgres(view.sql)
    yield RANKINGS_VIEW
    logs = append_only_tables(made)
    for table in tables:
        found = ID_COLUMN.search(table.sql)
        if found and (table.name in logs or not found["never_again"]):
            yield NUMBERING_TRIGGER.format(table=table.name, schema=SCHEMA, lock=WRITER_LOCK)
        if table.name in logs:
            yield NOT_EMPTIED_TRIGGER.format(table=table.name)
    numbered = {each.name for each in tables if ID_COLUMN.search(each.sql)}
    counted = " UNION ALL ".join(
        LAST_ID_OF.format(table=table) for table in sorted(logs & numbered)
    )
    yield f"CREATE VIEW sqlite_sequence AS {counted}"
    for trigger in (each for each in made if each.kind == "trigger" and _is_own(each)):
        yield trigger_to_postgres(trigger.sql)


def trigger_bodies(made: Iterable[SchemaObject]) -> Iterator[tuple[str, str]]:
    """Give the triggers of a shape, each with what it does."""
    for each in made:
        if each.kind == "trigger" and _is_own(each):
            yield each.name, trigger_to_postgres(each.sql).split("$$")[1]


def drop_views_and_triggers(made: Iterable[SchemaObject]) -> Iterator[str]:
    """Give what takes the views and triggers of a shape away, for a migration and new ones."""
    yield "DROP VIEW IF EXISTS sqlite_sequence"
    for each in made:
        if each.kind == "view" and _is_own(each):
            yield f"DROP VIEW IF EXISTS {each.name} CASCADE"
        elif each.kind == "trigger" and _is_own(each):
            yield f"DROP FUNCTION IF EXISTS {each.name}() CASCADE"


def migration_to_postgres(sql: str, made: Sequence[SchemaObject]) -> str | None:
    """Return a statement of a migration as PostgreSQL takes it, None where nothing is to be done.

    Views and triggers are made anew after the last one.
    """
    what = re.match(r"\s*(?:--[^\n]*\n\s*)*([A-Z]+)\s+([A-Z]+)(?:\s+(\w+))?", sql)
    verb, kind, name = what.groups() if what else ("", "", "")
    if kind in ("VIEW", "TRIGGER", "VIRTUAL"):
        return None
    if (verb, kind) == ("CREATE", "TABLE"):
        return table_to_postgres(sql.rstrip().rstrip(";"), is_log=name in append_only_tables(made))
    if verb == "CREATE":
        return index_to_postgres(sql, [each for each in made if each.kind == "table"])
    return types_to_postgres(sql) if verb == "ALTER" else sql


def append_only_tables(made: Iterable[SchemaObject]) -> set[str]:
    """Return the tables of which nothing is ever deleted."""
    return {each.table for each in made if each.name.endswith("_not_deleted")}


def _is_own(made: SchemaObject) -> bool:
    return not SEARCH_OBJECTS.match(made.name)


def table_to_postgres(sql: str, *, is_log: bool = False) -> str:
    """Return the statement that makes a table, its types by rule.

    >>> table_to_postgres("CREATE TABLE t (\\n    id INTEGER PRIMARY KEY,\\n    b BLOB\\n) STRICT")
    'CREATE TABLE t (\\n    id BIGINT PRIMARY KEY,\\n    b BYTEA\\n)'
    """
    given = (
        "BIGINT PRIMARY KEY" if is_log else "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
    )
    return types_to_postgres(
        TABLE_TAIL.sub(")", sql).replace("INTEGER PRIMARY KEY AUTOINCREMENT", given)
    )


def types_to_postgres(sql: str) -> str:
    """Return a statement with PostgreSQL's types in the place of SQLite's."""
    for pattern, name in TYPES:
        sql = re.sub(pattern, name, sql)
    return to_postgres(sql)


def index_to_postgres(sql: str, tables: Iterable[SchemaObject]) -> str:
    """Return the statement that makes an index; one of SQLite's ends with the number of the row."""
    numbered = {each.name for each in tables if ID_COLUMN.search(each.sql)}

    def ending(found: re.Match[str]) -> str:
        columns = found["columns"]
        is_named = "id" in re.findall(r"\w+", columns)
        more = ", id" if found["table"] in numbered and not is_named else ""
        return f"{found['head']}({columns}{more})"

    return to_postgres(INDEX_PATTERN.sub(ending, sql))


def trigger_to_postgres(sql: str) -> str:
    """Return the statements that make a trigger, which is a function of its own in PostgreSQL."""
    found = TRIGGER_PATTERN.match(sql.strip())
    if found is None:
        raise ValueError(f"not a trigger as this project writes them: {sql}")
    steps = "\n".join(_trigger_steps(found["body"]))
    if found["only"]:
        steps = f"IF {to_postgres(found['only'])} THEN\n{steps}\nEND IF;"
    back = "OLD" if found["what"] == "DELETE" else "NEW"
    return (
        f"CREATE FUNCTION {found['name']}() RETURNS trigger LANGUAGE plpgsql "
        # its plans are kept as long as a session, from when there may have been no row
        f"SET search_path = {SCHEMA}, pg_catalog SET enable_seqscan = off AS $$\n"
        f"BEGIN\n{steps}\nRETURN {back};\nEND $$;\n"
        f"CREATE TRIGGER {found['name']} {found['when']} {found['what']} ON {found['table']} "
        f"FOR EACH ROW EXECUTE FUNCTION {found['name']}();"
    )


def _trigger_steps(body: str) -> Iterator[str]:
    for step in filter(None, map(str.strip, re.split(r";\s*(?:\n|$)", body))):
        refusal = REFUSAL_PATTERN.match(step)
        if refusal is None:
            yield f"{to_postgres(step)};"
            continue
        yield (
            f"IF EXISTS (SELECT 1 {to_postgres(refusal['where'])}) THEN\n"
            f"    RAISE EXCEPTION USING MESSAGE = {refusal[1]}, "
            "ERRCODE = 'integrity_constraint_violation';\nEND IF;"
        )
