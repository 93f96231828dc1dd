"""Tables as JSON by column, or by number of row: what pandas and datasets write if not told.

Such a file is refused: by its shape it could be lists of chunks by query, whose queries would be
the names of columns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from labeler.formats.field_aliases import known_names
from labeler.formats.json_records import format_keys

_SPLIT = frozenset({"columns", "data"})
_WITH_SCHEMA = frozenset({"schema", "data"})


def find_columns(value: Mapping[str, Any]) -> list[str]:
    """Return the columns of a table that a JSON object holds column by column, [] for others.

    >>> find_columns({"query_id": {"0": 1, "1": 1}, "score": {"0": 0.5, "1": 0.9}})
    ['query_id', 'score']
    >>> find_columns({"questions": ["why?"], "ground_truths": ["so"], "n": [1]})
    ['questions', 'ground_truths', 'n']
    >>> find_columns({"0": {"qid": 7, "docno": 9}, "1": {"qid": 7, "docno": 8}})
    ['qid', 'docno']
    >>> find_columns({"q1": {"c1": 3}, "q2": {"c1": 2}})
    []
    """
    if value.keys() >= _SPLIT and isinstance(value["columns"], list):
        return [str(name) for name in value["columns"]]
    if value.keys() >= _WITH_SCHEMA and isinstance(value["schema"], dict):
        fields = value["schema"].get("fields", [])
        return [str(each.get("name")) for each in fields if isinstance(each, dict)]
    parts = [*value.values()]
    if not parts or not all(isinstance(part, dict | list) for part in parts):
        return []
    if len(known_names(value)) > 1 and _are_alike(parts):
        return [*value]
    rows = [part for part in parts if isinstance(part, dict)]
    inner = {name for row in rows for name in row}
    by_row = len(rows) == len(parts) and all(name.isdecimal() for name in value)
    return [*rows[0]] if by_row and len(known_names(inner)) > 1 else []


def _are_alike(parts: Collection[Any]) -> bool:
    """Return whether all parts are lists of one length, or objects by the numbers of rows."""
    if all(isinstance(part, list) for part in parts):
        return len({len(part) for part in parts}) == 1
    keys = {tuple(part) if isinstance(part, dict) else () for part in parts}
    return len(keys) == 1 and all(name.isdecimal() for name in next(iter(keys)))


def refusal(columns: Collection[str]) -> str:
    """Return what is wrong with a table column by column, and what would be right."""
    return (
        f"a table column by column ({format_keys(columns)}); write a record a line, as "
        'df.to_json(path, orient="records", lines=True) does'
    )
