-- Functions of SQLite that the store's statements use, so that each statement is written once for
-- both engines. They are created in the golden set's own schema, which is searched first.

-- The best collation of this server to compare text without case.
DO $$
BEGIN
    EXECUTE format('CREATE COLLATION labeler.folding FROM %I', (
        SELECT collname FROM pg_collation
        WHERE collname IN ('pg_c_utf8', 'und-x-icu', 'ucs_basic', 'C')
        ORDER BY array_position(ARRAY['pg_c_utf8', 'und-x-icu', 'ucs_basic', 'C'], collname::text)
        LIMIT 1
    ));
END $$;

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

CREATE FUNCTION strftime(form TEXT, since TEXT) RETURNS TEXT LANGUAGE sql VOLATILE PARALLEL SAFE
AS $$ SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

CREATE FUNCTION max(one TEXT, two TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT greatest(one, two) $$;

CREATE FUNCTION folded(words TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT replace(lower(words COLLATE labeler.folding), 'ß', 'ss') $$;

CREATE FUNCTION added(sum BIGINT, one BOOLEAN) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN one IS NULL THEN sum ELSE coalesce(sum, 0) + one::int END $$;
CREATE FUNCTION times(number BIGINT, one BOOLEAN) RETURNS BIGINT
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT number * one::int $$;
CREATE OPERATOR * (LEFTARG = BIGINT, RIGHTARG = BOOLEAN, FUNCTION = times);
CREATE AGGREGATE sum (BOOLEAN) (SFUNC = added, STYPE = BIGINT);
CREATE AGGREGATE sum (BIGINT) (SFUNC = int8pl, STYPE = BIGINT);
CREATE AGGREGATE max (BOOLEAN) (SFUNC = boolor_statefunc, STYPE = BOOLEAN);

CREATE FUNCTION joined(so_far TEXT, next TEXT, separator TEXT) RETURNS TEXT
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN so_far IS NULL THEN next ELSE concat(so_far, separator || next) END $$;

CREATE FUNCTION with_pair(so_far JSON, name BIGINT, value BIGINT) RETURNS JSON
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (coalesce(so_far::jsonb, '{}') || jsonb_build_object(name::text, value))::json $$;

CREATE AGGREGATE group_concat (TEXT, TEXT) (SFUNC = joined, STYPE = TEXT);
CREATE AGGREGATE json_group_object (BIGINT, BIGINT) (SFUNC = with_pair, STYPE = JSON);
CREATE AGGREGATE total (DOUBLE PRECISION) (
    SFUNC = float8pl, STYPE = DOUBLE PRECISION, INITCOND = '0'
);
