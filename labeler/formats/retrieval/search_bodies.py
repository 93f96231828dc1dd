"""Bodies of searches, as Elasticsearch, OpenSearch and Solr take them: the text they look for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What holds the text of a search, by the words of the query language; the first that is there.
_TEXTS = ("query", "query_text", "model_text", "value", "q", "query_string", "text")
_LEAVES = (
    *("match", "match_phrase", "multi_match", "query_string", "simple_query_string", "semantic"),
    *("match_bool_prefix", "match_phrase_prefix", "combined_fields", "text_expansion", "neural"),
    *("sparse_vector", "text_embedding"),
)
_FILTERS = ("filter", "must_not", "aggs", "aggregations", "highlight")
_PARAMS = ("params", "template_params")
_DEEPEST = 12


def searched_text(body: Mapping[str, Any]) -> str | None:
    """Return the text that a search body looks for, None where it names none.

    >>> searched_text({"query": {"bool": {"must": [{"match": {"body": {"query": "refund"}}}]}}})
    'refund'
    >>> searched_text({"id": "by_title", "params": {"query_string": "refund"}})
    'refund'
    >>> searched_text({"query": {"match_all": {}}}) is None
    True
    """
    for key in _PARAMS:
        if isinstance(params := body.get(key), dict):
            named = (params.get(name) for name in _TEXTS)
            texts = [each for each in (*named, *params.values()) if _is_text(each)]
            if texts:
                return str(texts[0])
    return _find(body, 0)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _find(value: Any, depth: int) -> str | None:
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        found = (_find(each, depth + 1) for each in value)
        return next((each for each in found if each is not None), None)
    if not isinstance(value, dict):
        return None
    for key in _LEAVES:
        if key in value and (text := _text_of(value[key])) is not None:
            return text
    found = (_find(each, depth + 1) for key, each in value.items() if key not in _FILTERS)
    return next((each for each in found if each is not None), None)


def _text_of(leaf: Any) -> str | None:
    """Return the text of a clause: beside its fields, or of its first field."""
    if not isinstance(leaf, dict):
        return None
    for inner in (leaf, *leaf.values()):
        if isinstance(inner, dict):
            text = next((inner[key] for key in _TEXTS if _is_text(inner.get(key))), None)
            if text is not None:
                return str(text)
    return next((str(each) for each in leaf.values() if _is_text(each)), None)
