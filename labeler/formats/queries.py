"""Files of queries: the meaning of fields, and which of the unknown ones become facets.

An unknown field is kept in the metadata, and becomes a facet where its values are names and few
enough to group queries.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from labeler.errors import BadInput
from labeler.formats.csv_tables import is_header, read_table
from labeler.formats.field_aliases import (
    CHUNK_OF_PAIR,
    GRADE,
    ONE_QUERY,
    QUERY_ID,
    QUERY_TEXT,
    RANK,
)
from labeler.formats.json_records import (
    JsonDocument,
    Record,
    Records,
    format_keys,
    merge_metadata,
    short,
    take,
    take_id,
    take_mapping,
    take_text,
    take_texts,
    with_known_names,
)
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.lines import (
    InputFile,
    Lines,
    Progress,
    StrPath,
    file_source,
    open_lines,
    peek_line,
)
from labeler.formats.peers.detection import queries_in, read_json
from labeler.formats.peers.peer_rows import QueryTexts, query_by_text
from labeler.formats.retrieval.parts import query_records, retrievals_in, sample
from labeler.formats.spool import Spool, UniqueIds, compact_lines, estimate_size
from labeler.model import (
    SPLITS,
    Loaded,
    Query,
    check_name,
    find_control_character,
    format_count,
    order_buckets,
)

_TASK = ("task",)
_SPLIT = "split"
REFERENCE = ("reference", "referenceAnswer", "reference_answer")
GUIDELINE = ("guideline", "guidelines", "narrative")
KEYWORDS = ("keywords",)
HELD_OUT = ("held-out", "held out", "held_out", "heldout")
_WANTED = {"query id": QUERY_ID, "query's text": QUERY_TEXT}
_NAMED_BY_TEXT = tuple(name for name in QUERY_TEXT if name != "text")
_OTHERS = (*_TASK, *REFERENCE, *GUIDELINE, *KEYWORDS, "buckets", "metadata", _SPLIT)
_NO_FACETS = {*_TASK, *REFERENCE, *GUIDELINE}
_MOST_BUCKETS = 50
_MOST_NAMED = 5
_MOST_TASKS = 8  # that the facts of a file count one by one


def read_queries(
    path: StrPath,
    *,
    facets: Sequence[str] | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> Loaded[Query]:
    """Read queries from JSONL, a BEIR ``queries.jsonl``, CSV or TSV, plain or gzip.

    A ``split`` of dev, test or held-out is the query's split; other values are an unknown field.
    Unknown keys and columns are kept in the metadata. Facets are the record's ``buckets`` and every
    metadata field of text with at most 50 distinct values, and at most half as many as there are
    queries, or exactly those in ``facets`` (an empty list: none); one that no query has is an
    error. The facts name the fields of text that were left out. The facet "task" is the task.
    Files of other tools that name queries by their text are read, too; each text gives one query,
    with an id made of it. Raises `BadInput` with file and line, `NotFound` for a missing file.
    """
    return queries_from(file_source(path, name, limits), facets, progress)


def queries_from(
    source: InputFile, facets: Sequence[str] | None = None, progress: Progress | None = None
) -> Loaded[Query]:
    """Read queries from a source, as `read_queries` does."""
    queries: Spool[Query] = Spool()
    ids = UniqueIds("query")
    with open_lines(source, progress) as raw:
        for number, record in _records(source, raw):
            weight = estimate_size(record)
            with source.at(number):
                query = parse_query(record, source.limits)
                ids.add(query.query_id, number)
            queries.add(query, weight)
    if not queries:
        raise source.fail(None, "there is no query in it")
    return group_queries(source, queries, ids, facets)


def group_queries(
    source: InputFile, queries: Spool[Query], ids: UniqueIds, facets: Sequence[str] | None
) -> Loaded[Query]:
    """Return queries with the facets that are named, or else with those that suit."""
    if facets is not None:
        return loaded_queries(source, _group_by_named(source, queries, ids.lines, facets), ids)
    grouped, left_out = _group_by_small_fields(queries)
    loaded = loaded_queries(source, grouped, ids)
    told = {**_describe_left_out(left_out), **_describe_kept(grouped, left_out)}
    return replace(loaded, facts={**loaded.facts, **told})


def _describe_kept(queries: Iterable[Query], texts: Sequence[str]) -> dict[str, str]:
    """Return the fields of metadata that hold no texts, which could be no facet."""
    kept, told = dict[str, None](), {*texts}
    for query in queries:
        if not query.metadata.keys() <= kept.keys():
            kept |= dict.fromkeys(query.metadata)
        told |= query.buckets.keys()
    others = [field for field in kept if field not in told]
    return {"kept as metadata": format_keys(others)} if others else {}


def _records(source: InputFile, raw: Lines) -> Records:
    """Yield the records of a file in any format; a query that has no id gets one."""
    number, first, lines = peek_line(source, raw)
    if number == 0:
        return
    found = read_json(source, number, first, lines)
    if isinstance(found, JsonDocument):
        for line, asked in queries_in(found):
            yield line, {"query_id": asked.query_id, "query": asked.text}
        return
    if found is None:
        yield from _rows(source, lines)
        return
    sampled = sample(found)
    if (retrievals := retrievals_in(source, sampled)) is not None:
        yield from query_records(retrievals)
        return
    known = with_known_names(sampled.records, (*QUERY_ID, *QUERY_TEXT, *_OTHERS))
    yield from _each_once(source, _with_ids(source, known))


def _with_ids(source: InputFile, records: Records) -> Records:
    """Yield records with the ids that are made of their texts where they have none, each once."""
    seen: dict[str, str] = {}
    for line, record in records:
        with source.at(line):
            named = _named_by_text(record, source.limits)
        if named is None:
            yield line, record
        elif seen.get(named["query_id"]) != named["query"]:
            seen[named["query_id"]] = named["query"]
            yield line, named


def _each_once(source: InputFile, records: Records) -> Records:
    """Yield each query of a file that has a record for every pair of query and graded chunk.

    Records of other files are unchanged.
    """
    texts = QueryTexts()
    known: set[str] = set()
    of_pair = [frozenset(names) for names in (ONE_QUERY, CHUNK_OF_PAIR, (*GRADE, *RANK))]
    for line, record in records:
        if any(map(record.keys().isdisjoint, of_pair)):
            yield line, record
            continue
        with source.at(line):
            query_id = take_id(record, QUERY_ID, "query", source.limits, ONE_QUERY)
            text = (take_text(record, QUERY_TEXT) or "").strip()
            texts.add(line, query_id, text or None)
        if query_id not in known:
            known.add(query_id)
            yield line, {"query_id": query_id, "query": text}


def _named_by_text(record: Record, limits: Limits) -> Record | None:
    """Return a record with the id that is made of its query's text; None where it has an id."""
    if any(record.get(name) is not None for name in QUERY_ID):
        return None
    rest = dict(record)
    text = take(rest, _NAMED_BY_TEXT)
    if text is None:
        return None
    asked = query_by_text(text, limits)
    return {"query_id": asked.query_id, "query": asked.text, **rest}


def _rows(source: InputFile, lines: Lines) -> Records:
    """Yield the rows of a table; if it names queries by their text, each text once."""
    _, first, lines = peek_line(source, lines)
    if is_header(first, QUERY_ID):
        pairs = (*CHUNK_OF_PAIR, *GRADE, *RANK) if is_header(first, CHUNK_OF_PAIR) else ()
        yield from _each_once(source, read_table(source, lines, _WANTED, (*_OTHERS, *pairs)))
        return
    seen: set[str] = set()
    if not is_header(first, _NAMED_BY_TEXT):
        yield from read_table(source, lines, _WANTED, _OTHERS)  # raises: a column is missing
    for number, record in read_table(source, lines, {"query's text": _NAMED_BY_TEXT}, _OTHERS):
        with source.at(number):
            asked = query_by_text(take(record, _NAMED_BY_TEXT), source.limits)
        if asked.query_id not in seen:
            seen.add(asked.query_id)
            rest = {} if {*CHUNK_OF_PAIR} & record.keys() else record
            yield number, {"query_id": asked.query_id, "query": asked.text, **rest}


def parse_query(record: Record, limits: Limits, exact: bool = False) -> Query:
    """Return the query in a record, emptying the record.

    With ``exact`` no field is taken from the metadata, which stays unchanged.
    """
    query_id = take_id(record, QUERY_ID, "query", limits, ONE_QUERY)
    text = take_text(record, QUERY_TEXT) or ""
    given = take_mapping(record, "metadata", limits)
    inner: Record = {} if exact else given
    split = _split(record) or _split(inner)
    return Query(
        query_id=query_id,
        text=text,
        task=_task(take_text(record, _TASK)) or _inner_task(inner),
        reference=_take_from_either(record, inner, REFERENCE),
        guideline=_take_from_either(record, inner, GUIDELINE),
        keywords=take_texts(record, KEYWORDS),
        buckets=_buckets(take_mapping(record, "buckets", limits)),
        metadata=merge_metadata(given, record),
        split=split,
    )


def _split(record: Record) -> str | None:
    """Remove and return the split of a record, unless it has another value, such as ``train``."""
    value = record.get(_SPLIT)
    named = "held-out" if value in HELD_OUT else value
    if named not in SPLITS:
        return None
    del record[_SPLIT]
    return str(named)


def _task(given: str | None) -> str | None:
    return None if is_blank(given) else given


def _inner_task(metadata: Record) -> str | None:
    """Remove and return the task in the metadata, unless its value cannot be a name."""
    task = metadata.get("task")
    if not isinstance(task, str) or is_blank(task) or find_control_character(task):
        return None
    return str(metadata.pop("task"))


def _take_from_either(record: Record, metadata: Record, names: Sequence[str]) -> str | None:
    """Remove and return a text of the record, or else of its metadata."""
    text = take_text(record, names)
    for name in names:
        if not text and isinstance(metadata.get(name), str) and metadata[name].strip():
            return str(metadata.pop(name))
    return text


def _buckets(given: Mapping[str, Any]) -> dict[str, str]:
    if "task" in given:
        raise BadInput("the facet 'task' is the query's own task; give it as task, not in buckets")
    return {
        check_name(facet, "facet"): bucket_name(facet, value)
        for facet, value in given.items()
        if not is_blank(value)
    }


def is_blank(value: object) -> bool:
    """Return whether a cell or field is empty, so that its query is in no bucket."""
    return value is None or (isinstance(value, str) and not value.strip())


def bucket_name(facet: str, value: object) -> str:
    """Return a value as a bucket of a facet: texts unchanged, numbers as in JSON."""
    if isinstance(value, str):
        return check_name(value, "bucket")
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise BadInput(f"facet {facet!r} needs one value per query, not {short(value)}")


def _group_by_named(
    source: InputFile, queries: Spool[Query], numbers: Sequence[int], facets: Sequence[str]
) -> Spool[Query]:
    named = [facet for facet in facets if facet != "task"]
    if "" in named:
        raise source.fail(None, "a facet is named by a field of the queries, not by nothing")
    fields_there = {field for query in queries for field in (*query.buckets, *query.metadata)}
    for facet in named:
        if facet not in fields_there:
            there = ", ".join(sorted(fields_there)) or "none"
            raise source.fail(None, f"no query has the facet {facet!r} (there are: {there})")
    regrouped: Spool[Query] = Spool()
    for number, query in zip(numbers, queries, strict=True):
        with source.at(number):
            regrouped.add(found := _regrouped(query, named), _weight(found))
    return regrouped


def _weight(query: Query) -> int:
    others = (query.reference or "", query.guideline or "", query.buckets, query.metadata)
    return estimate_size([query.text, *others])


def _group_by_small_fields(queries: Spool[Query]) -> tuple[Spool[Query], list[str]]:
    """Make facets of all suitable fields of text; return also the fields that are not suitable."""
    values = _fields_of_texts(queries)
    most = min(_MOST_BUCKETS, len(queries) // 2)
    small = [field for field, seen in values.items() if len(seen) <= most]
    given = {facet for query in queries for facet in query.buckets}
    left_out = [field for field in values if field not in small and field not in given]
    grouped: Spool[Query] = Spool()
    for query in queries:
        grouped.add(found := _grouped(query, small), _weight(found))
    return grouped, left_out


def _fields_of_texts(queries: Iterable[Query]) -> dict[str, set[object]]:
    """Return the metadata fields that hold only names, with their values, up to one too many.

    A text of several lines, or with another control character, is no name.
    """
    values: dict[str, set[object]] = {}
    for query in queries:
        for field, value in query.metadata.items():
            if is_blank(value) or field in _NO_FACETS or not field:
                continue
            seen = values.setdefault(field, set())
            if not isinstance(value, str) or find_control_character(value):
                seen.add(None)  # marks a field with a value that is no name
            elif len(seen) <= _MOST_BUCKETS:
                seen.add(value)
    return {
        field: seen
        for field, seen in values.items()
        if None not in seen and not find_control_character(field)
    }


def _describe_left_out(fields: Sequence[str]) -> dict[str, str]:
    """Return a fact that names the fields that are no facets, and the option for them."""
    if not fields:
        return {}
    more = len(fields) - _MOST_NAMED
    named = ", ".join(fields[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return {"no facet": f"{named}: too many different values, unless named with --facet"}


def _grouped(query: Query, fields: Sequence[str]) -> Query:
    there = {field: query.metadata.get(field) for field in fields if field not in query.buckets}
    derived = {field: str(value) for field, value in there.items() if not is_blank(value)}
    return replace(query, buckets={**query.buckets, **derived})


def _regrouped(query: Query, facets: Sequence[str]) -> Query:
    """Keep only the named facets; a bucket of another facet moves to the metadata."""
    pool = {**query.metadata, **query.buckets}
    buckets = {
        check_name(facet, "facet"): bucket_name(facet, pool[facet])
        for facet in facets
        if not is_blank(pool.get(facet))
    }
    moved = {key: value for key, value in query.buckets.items() if key not in facets}
    return replace(query, buckets=buckets, metadata={**moved, **query.metadata})


def loaded_queries(source: InputFile, queries: Spool[Query], ids: UniqueIds) -> Loaded[Query]:
    """Return queries with their facts: numbers of queries, by task and split, and of buckets.

    Raises `BadInput` where two have the same id.
    """
    ids.check(source, lambda place: queries[place].query_id)
    facts: dict[str, int | str] = {"queries": len(queries)}
    tasks: Counter[str] = Counter()
    splits: Counter[str | None] = Counter()
    buckets: dict[str, set[str]] = {}
    for query in queries:
        if query.task is not None:
            tasks[query.task] += 1
        splits[query.split] += 1
        for facet, bucket in query.buckets.items():
            buckets.setdefault(facet, set()).add(bucket)
    if len(tasks) > _MOST_TASKS:
        facts["facet task"] = format_count(len(tasks), "bucket", "buckets")
    else:
        facts |= {f"task {task}": tasks[task] for task in order_buckets(tasks)}
    facts |= {f"split {split}": splits[split] for split in SPLITS if splits[split]}
    for facet, names in buckets.items():
        facts[f"facet {facet}"] = format_count(len(names), "bucket", "buckets")
    return Loaded(source.name, queries, compact_lines(ids.lines), facts, ids.warnings())
