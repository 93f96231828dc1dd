"""Translation of SQLite's statements into PostgreSQL's.

Only syntax is rewritten, never text within quotes; functions of SQLite that PostgreSQL lacks are
created in the golden set's own schema, which is searched first.
"""

from __future__ import annotations

import re
from functools import lru_cache

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
