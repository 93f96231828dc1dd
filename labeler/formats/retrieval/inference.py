"""Inference of a field map from the keys of records, for files that no tool's map is for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from labeler.errors import BadInput
from labeler.formats.field_aliases import (
    CHUNK_ID,
    CHUNK_OF_PAIR,
    CHUNK_TEXT,
    DISTANCE,
    DOCUMENT_ID,
    GRADED,
    ONE_QUERY,
    QUERY_TEXT,
    RANK,
    RANK_OR_PLACE,
    RUN_NAME,
    SCORE,
    TITLE,
    fold_name,
)
from labeler.formats.json_records import Record, format_keys, short
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.retrieval.field_map import (
    EACH,
    FieldMap,
    Path,
    Strings,
    inner_list,
    unpack,
    value_at,
)

# Keys under which a list of results stands; those of the first group hold ids where they are texts.
LISTS_OF_IDS = ("results", "chunks", "retrieved", "ranking", "hits", "matches", "points")
LISTS_OF_TEXTS = (
    *("documents", "docs", "contexts", "context", "passages", "source_documents", "source_nodes"),
    *("nodes", "retrieved_documents", "retrieved_docs", "retrieved_chunks", "retrieved_contexts"),
    *("retrieved_nodes", "retrieval_context", "sources", "output_documents", "search_results"),
    *("top_k", "ctxs", "response", "result", "outputs", "output"),
)
_LISTS = (*LISTS_OF_IDS, *LISTS_OF_TEXTS)
_VAGUE = frozenset({"response", "result", "outputs", "output"})  # they may hold anything else
# An object in a result that holds the chunk, where the score stands beside it.
_WRAPPERS = (
    *("node", "document", "doc", "_source", "payload", "fields", "properties", "chunk"),
    *("kwargs", "text_resource"),  # LangChain's own JSON, LlamaIndex' nodes of several media
)
_METADATA = ("metadata", "meta")
_TEXTS = tuple(name for name in QUERY_TEXT if name != "text")
_TEXT_IDS = tuple(name for name in (*sorted(ONE_QUERY), "queryid", "_id", "id"))
_REFERENCES = (
    *("reference", "reference_answer", "referenceanswer", "ground_truth", "expected_answer"),
    *("expected_output", "ground_truth_answer", "gold_answer"),
)
_TIMES = ("time", "timestamp", "start_time", "starttime", "created_at", "@timestamp")
_RELEVANT_IDS = (
    "relevant_ids",
    "reference_context_ids",
    "expected_ids",
    "relevant_docs",
    "relevant_doc_ids",
    "relevant_chunk_ids",
    "gold_ids",
)
_GRADERS = ("grader", "judge", "annotator", "rater", "assessor")
_NOTES = ("note", "notes", "comment")
# Keys of answers of search engines and vector stores, which do not hold the question.
_ANSWERS = ("hits", "matches", "points", "search_results", "responses", "root", "result")
# Objects in which a pipeline writes what each of its components put out.
_OUTPUTS = ("result", "results", "output", "outputs", "response", "pipeline")
_SYSTEMS = tuple(name for name in RUN_NAME if name != "tag")
_IDS_OF_RESULT = (*CHUNK_ID, *CHUNK_OF_PAIR, "id_", "uuid")
_ORDERS_AND_GRADES: tuple[tuple[str, Sequence[str]], ...] = (
    *(("score", SCORE), ("distance", DISTANCE), ("rank", RANK)),
    *(("grade", GRADED), ("grader", _GRADERS), ("note", _NOTES)),
)
_MOST_SAMPLED = 100


def infer_map(records: Sequence[Record], chosen: Collection[str] = ()) -> FieldMap | None:
    """Return the map of records that hold questions with results; None for others.

    They may be nested (a list of results under a known key), lists side by side, or flat (a row
    for each result) with the text of the query or the chunk. Records with ids alone are a run.
    Fields that are ``chosen`` by hand are not looked for where two keys could be one.

    >>> print(infer_map([{"question": "why?", "documents": [{"page_content": "so", "id": "c1"}]}]))
    query=question results=documents id=id text=page_content
    """
    records = records[:_MOST_SAMPLED]
    keys = _keys_of(records)
    query, by_id = [*_named(keys, _TEXTS)], [*_named(keys, (*sorted(ONE_QUERY), "queryid"))]
    if not query:
        return _without_question(records, keys, by_id)
    paths: dict[str, tuple[Path, ...]] = {"query": ((query[0],),)}
    key = next((name for name in _named(keys, _LISTS) if _has_entries(records, name)), None)
    outputs = _of_components(records)
    if query_id := [*_named(keys, _TEXT_IDS)] if key or outputs else by_id:
        paths["query_id"] = tuple((name,) for name in query_id)
    _add(paths, "system", keys, _SYSTEMS)
    _add(paths, "time", keys, _TIMES)
    _add(paths, "reference", keys, _REFERENCES)
    relevant = _relevance(records, keys)
    if outputs:
        return complete_map(FieldMap({**paths, **relevant, "results": (outputs,)}), records)
    if key is not None:
        return _nested(records, key, {**paths, **relevant}, chosen)
    return FieldMap({**paths, **relevant}) if relevant else _flat(records, keys, paths, chosen)


def _relevance(records: Sequence[Record], keys: dict[str, str]) -> dict[str, tuple[Path, ...]]:
    """Return the paths of lists and maps of what is relevant."""
    found: dict[str, tuple[Path, ...]] = {}
    keys = {folded: key for folded, key in keys.items() if _has_entries(records, key)}
    _add(found, "relevant_id", keys, _RELEVANT_IDS)
    _add(found, "relevant", keys, ("relevance_map",))
    _add(found, "relevant_text", keys, ("reference_contexts",))
    return found


def _without_question(
    records: Sequence[Record], keys: dict[str, str], query_id: Sequence[str]
) -> FieldMap | None:
    """Return the map of records that name a query by its id alone, with what is relevant to it.

    Raises `BadInput` for results beside which there is nothing of the question.
    """
    relevant = _relevance(records, keys)
    if query_id and relevant:
        return FieldMap({"query_id": tuple((name,) for name in query_id), **relevant})
    answers = [*_named(keys, _ANSWERS)]
    if not answers or {*map(fold_name, (*CHUNK_ID, *CHUNK_OF_PAIR))} & keys.keys():
        return None
    entries, _ = _entries(records, answers[0])
    if not any(isinstance(each, dict) for each in entries):
        return None
    raise BadInput(
        f"results without their question (the keys are {format_keys(records[0])}); write it beside "
        'them, such as {"query": "...", "response": {...}} on each line'
    )


def _of_components(records: Sequence[Record]) -> Path | None:
    """Return the path of the documents that components of a pipeline put out, None without any."""
    for at in ((), *((name,) for name in _OUTPUTS)):
        for record in records:
            outputs = value_at(record, at)
            for each in outputs.values() if isinstance(outputs, dict) else ():
                inner = each.get("documents") if isinstance(each, dict) else None
                if isinstance(inner, list) and inner and all(map(_is_object, inner)):
                    return (*at, EACH, "documents")
    return None


def lists_by_key(paths: Sequence[Path], record: Record, limits: Limits = LIMITS) -> dict[str, Any]:
    """Return the lists under the keys for which `EACH` stands in the first path that has any.

    >>> lists_by_key([("out", "*", "found")], {"out": {"a": {"found": [1]}, "b": {"n": 2}}})
    {'a': [1]}
    """
    for path in paths:
        if EACH not in path:
            continue
        at = path.index(EACH)
        outer = unpack(value_at(record, path[:at], limits), limits)
        values = outer.items() if isinstance(outer, dict) else ()
        found = {key: unpack(value_at(each, path[at + 1 :], limits)) for key, each in values}
        if lists := {key: each for key, each in found.items() if isinstance(each, list)}:
            return lists
    return {}


def complete_map(field_map: FieldMap, records: Sequence[Record]) -> FieldMap:
    """Return a map with what only records say: the one key of a system, the fields of results."""
    taken = [record for record in records[:_MOST_SAMPLED] if field_map.takes(record)]
    paths = dict(field_map.paths)
    if any(EACH in path for path in paths.get("results", ())):
        systems = {key for record in taken for key in lists_by_key(paths["results"], record)}
        if len(systems) == 1:
            only = systems.pop()
            paths["results"] = tuple(
                tuple(only if step == EACH else step for step in path) for path in paths["results"]
            )
    found = replace(field_map, paths=paths)
    if found.names_results:
        return found
    entries, by_system = _results_of(found, taken)
    inner, _ = _fields_of(entries, paths)
    return replace(found, paths={**inner, **paths}, systems=found.systems or by_system)


def _results_of(field_map: FieldMap, records: Sequence[Record]) -> tuple[list[Any], bool]:
    """Return sampled results of a map's lists, and whether the lists are by system."""
    entries: list[Any] = []
    by_system = False
    for record in records:
        lists = lists_by_key(field_map.paths["results"], record)
        given = [*lists.values()] if lists else [field_map.get("results", record)]
        for each in given:
            found, systems = _entries([{"results": each}], "results")
            entries += found
            by_system = by_system or systems
    return entries, by_system and "system" not in field_map.paths


def _keys_of(records: Iterable[Record]) -> dict[str, str]:
    """Return the keys of records that have a value, by their folded name."""
    found: dict[str, str] = {}
    for record in records:
        for key, value in record.items():
            if value is not None and value != "":
                found.setdefault(fold_name(key), key)
    return found


def _named(keys: dict[str, str], names: Iterable[str]) -> Iterable[str]:
    """Return the keys that have one of the names, in the order of the names, each once."""
    return dict.fromkeys(keys[fold_name(name)] for name in names if fold_name(name) in keys)


def _add(
    paths: dict[str, tuple[Path, ...]], field: str, keys: dict[str, str], names: Iterable[str]
) -> None:
    if found := [*_named(keys, names)]:
        paths[field] = ((found[0],),)


def _has_entries(records: Sequence[Record], key: str) -> bool:
    values = [unpack(record.get(key)) for record in records if record.get(key) is not None]
    return bool(values) and all(isinstance(value, list | dict) for value in values)


def _entries(records: Sequence[Record], key: str) -> tuple[list[Any], bool]:
    """Return sampled results of the lists under a key, and whether the lists are by system."""
    found: list[Any] = []
    by_system = False
    for record in records:
        value = inner_list(unpack(record.get(key)))
        if isinstance(value, dict):
            lists = [each for each in map(unpack, value.values()) if isinstance(each, list)]
            by_system = by_system or bool(lists)
            value = [each for one in lists for each in one]
        if isinstance(value, list):
            found += [unpack(each) for each in value]
        if len(found) >= _MOST_SAMPLED:
            break
    return found, by_system


def _nested(
    records: Sequence[Record],
    key: str,
    paths: dict[str, tuple[Path, ...]],
    chosen: Collection[str],
) -> FieldMap | None:
    entries, by_system = _entries(records, key)
    if "system" in paths:
        by_system = False
    paths["results"] = ((key,),)
    strings: Strings = "id" if key in LISTS_OF_IDS else "text"
    fields, has_rows = _fields_of(entries, chosen)
    paths |= fields
    texts = strings == "text" and any(isinstance(each, str) for each in entries)
    if key in _VAGUE and not has_rows and not texts:
        return None
    if not ("text" in paths or texts or "query_id" in paths or _are_texts(records, paths)):
        return None  # ids alone: a run
    return FieldMap(paths, strings=strings, systems=by_system)


def _fields_of(
    entries: Sequence[Any], chosen: Collection[str]
) -> tuple[dict[str, tuple[Path, ...]], bool]:
    """Return the paths of what results have, and whether any of them is an object."""
    rows = [each for each in entries if isinstance(each, dict)]
    if pairs := [each for each in entries if _is_pair(each)]:
        rows = [each[0] for each in pairs if isinstance(each[0], dict)]
        of_texts: dict[str, tuple[Path, ...]] = {} if rows else {"text": (("0",),)}
        return {**of_texts, "score": (("1",),), **_of_results(rows, ("0",), chosen)}, True
    return _of_results(rows, (), chosen), bool(rows)


def _is_pair(entry: Any) -> bool:
    """Return whether an entry is a document with its score, as vector stores return them."""
    return (
        isinstance(entry, list)
        and len(entry) == 2
        and isinstance(entry[0], dict | str)
        and isinstance(entry[1], int | float)
    )


def _of_results(
    rows: Sequence[Record], prefix: Path, chosen: Collection[str]
) -> dict[str, tuple[Path, ...]]:
    """Return the paths of what results have, which may stand in an object inside them."""
    holders = [*_wrapped(rows, (), 2), *_metadata_of(rows, ())]
    found: dict[str, tuple[Path, ...]] = {}
    texts: dict[str, Sequence[str]] = {
        "id": _IDS_OF_RESULT,
        "text": CHUNK_TEXT,
        "title": TITLE,
        "document": (*DOCUMENT_ID, "source", "file_name", "filename", "url"),
    }
    for field, names in texts.items():
        paths = [(*at, name) for at, inner in holders for name in _named(inner, names)]
        paths = [path for path in paths if not _holds_object(rows, path)]
        if field == "document":
            paths = [path for path in paths if path not in found.get("id", ())]
        if paths:
            found[field] = tuple(dict.fromkeys(paths))
    _add_order(found, holders, chosen)
    if metadata := [path for path, _ in _metadata_of(rows, ())] or [
        (*at, name) for at, inner in holders[1:2] for name in _named(inner, _METADATA)
    ]:
        found["metadata"] = tuple(metadata[:1])
    return {field: tuple((*prefix, *path) for path in paths) for field, paths in found.items()}


def _wrapped(
    rows: Sequence[Record], at: Path, deeper: int
) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield the keys of objects and of those wrapped in them, each with the path to them."""
    keys = _keys_of(rows)
    yield at, keys
    for wrapper in _named(keys, _WRAPPERS) if deeper else ():
        if inner := [row[wrapper] for row in rows if isinstance(row.get(wrapper), dict)]:
            path = (*at, wrapper)
            yield from _wrapped(inner, path, deeper - 1)
            yield from _metadata_of(inner, path)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _metadata_of(rows: Sequence[Record], at: Path) -> list[tuple[Path, dict[str, str]]]:
    found = []
    for name in _METADATA:
        if inner := [row[name] for row in rows if isinstance(row.get(name), dict)]:
            found.append(((*at, name), _keys_of(inner)))
    return found


def _holds_object(rows: Sequence[Record], path: Path) -> bool:
    """Return whether no plain value is under a path, so that it is no id and no text."""
    values = [value_at(row, path) for row in rows]
    return any(isinstance(value, dict | list) for value in values)


def _add_order(
    found: dict[str, tuple[Path, ...]],
    holders: Sequence[tuple[Path, dict[str, str]]],
    chosen: Collection[str],
) -> None:
    """Add what orders results, and their grades: beside them, or else in their metadata."""
    for at, keys in holders:
        scores = [*_named(keys, SCORE)]
        if len(scores) > 1 and "score" not in chosen:
            raise BadInput(
                f"{short(scores[0])} and {short(scores[1])} could both be the score of a result; "
                f"say which one is: --map score={'.'.join((*at, scores[0]))}"
            )
        for field, names in _ORDERS_AND_GRADES:
            named = [*_named(keys, names)]
            of_grade = field in ("grader", "note")
            if named and field not in found and ("grade" in found or not of_grade):
                found[field] = ((*at, named[0]),)


def _flat(
    records: Sequence[Record],
    keys: dict[str, str],
    paths: dict[str, tuple[Path, ...]],
    chosen: Collection[str],
) -> FieldMap | None:
    """Return the map of a row for each result; None where only ids stand in it."""
    chunk = [*_named(keys, CHUNK_OF_PAIR.then(("document_id",)))]
    texts = [
        name
        for name in _named(keys, CHUNK_TEXT)
        if (name,) not in paths["query"] and name not in chunk
    ]
    orders = [*_named(keys, (*SCORE, *DISTANCE, *RANK))]
    if not (chunk or texts) or not (orders or (texts and "query_id" in paths)):
        return None
    has_text = "query_id" in paths or _are_texts(records, paths)
    if not texts and not has_text:
        return None
    if chunk:
        paths["id"] = ((chunk[0],),)
    if texts:
        paths["text"] = ((texts[0],),)
    _add(paths, "title", keys, TITLE)
    _add(paths, "document", keys, (name for name in DOCUMENT_ID if keys.get(name) not in chunk))
    _add_order(paths, [((), keys)], chosen)
    if not {"score", "distance", "rank"} & paths.keys():
        _add(paths, "rank", keys, RANK_OR_PLACE)
    _add(paths, "metadata", keys, _METADATA)
    return FieldMap(paths, strings="text", keeps_rest=False)


def _are_texts(records: Sequence[Record], paths: dict[str, tuple[Path, ...]]) -> bool:
    """Return whether the queries are named by their text and not by an id: most hold a blank."""
    key = paths["query"][0][0]
    values = [str(record[key]) for record in records if record.get(key) not in (None, "")]
    return sum(" " in value.strip() for value in values) * 2 > len(values)
