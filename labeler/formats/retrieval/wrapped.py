"""Records inside one JSON object: pages of an API, answers of many searches, rated requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from labeler.errors import BadInput
from labeler.formats.json_records import (
    JsonDocument,
    Record,
    Records,
    as_id,
    format_keys,
    parse_beginning,
    short,
)
from labeler.formats.lines import InputFile
from labeler.formats.retrieval.inference import infer_map
from labeler.formats.retrieval.search_bodies import searched_text
from labeler.formats.retrieval.tool_maps import find_tool

# Keys under which tools write a list of records, and what stands beside it in a page of an API.
_LISTS = (
    *("data", "observations", "runs", "samples", "examples", "testCases", "test_cases", "goldens"),
    *("records", "items", "rows", "questions", "dataset", "spans", "calls", "traces", "requests"),
)
_BESIDE = frozenset(
    (
        *("meta", "total", "count", "page", "pages", "limit", "offset", "cursor", "cursors"),
        *("next", "next_cursor", "has_more", "object", "version", "name", "size"),
    )
)
_ASKED = ("queries", "searches", "requests", "questions")
MTEB = "mteb_model_meta"
_SAMPLED = 20


class Wrapped(NamedTuple):
    """The records in an object, and the path of the list whose entries they are.

    None is an entry that is no record, such as the answer to a search that failed.
    """

    path: tuple[str, ...]
    records: Sequence[Record | None]


def unwrap(value: Record) -> Wrapped | None:
    """Return the records inside an object; None where it is a record itself.

    Raises `BadInput` for answers to many searches without a question.

    >>> unwrap({"requests": [{"id": "a", "request": {"query": {"match": {"t": "why"}}},
    ...                       "ratings": [{"_id": "c1", "rating": 2}]}]}).records
    [{'query_id': 'a', 'query': 'why', 'relevance_map': {'c1': 2}}]
    """
    if MTEB in value:
        return _predictions(value)
    if isinstance(requests := value.get("requests"), list) and _is_rank_eval(requests):
        return Wrapped(("requests",), [*map(_rated_request, requests)])
    if isinstance(responses := value.get("responses"), list) and any(map(_is_answer, responses)):
        return Wrapped(("responses",), _answers(value, responses))
    for key in _LISTS:
        entries = value.get(key)
        if not isinstance(entries, list) or not entries:
            continue
        is_page = {*value} - {key} <= _BESIDE
        if all(isinstance(each, dict) for each in entries) and (is_page or _are_records(entries)):
            return Wrapped((key,), entries)
    return None


def records_of_document(line: int, document: JsonDocument) -> Records:
    """Yield the records of a document that is one object and begins on a line."""
    with document.source.at(line):
        found = unwrap(document.value)
    start = None if found is None else document.under(*found.path)
    if found is None or start is None:
        yield line, document.value
        return
    for entry, record in zip(document.parts(start), found.records, strict=True):
        if record is not None:
            yield entry.line, record


def unwrapped(source: InputFile, records: Records) -> Records:
    """Yield records, and for each that is an object with records inside these."""
    for line, record in records:
        with source.at(line):
            found = unwrap(record)
        if found is None:
            yield line, record
        else:
            yield from ((line, each) for each in found.records if each is not None)


def _are_records(entries: Sequence[Record]) -> bool:
    entries = entries[:_SAMPLED]
    try:
        return (find_tool(entries) or infer_map(entries)) is not None
    except BadInput:
        return True  # its reader says what is wrong


def _is_rank_eval(requests: Sequence[Any]) -> bool:
    return any(isinstance(each, dict) and "ratings" in each for each in requests)


def _rated_request(request: Any) -> Record:
    """Return a request of a ranking evaluation as a question with its grades."""
    if not isinstance(request, dict) or not isinstance(request.get("ratings"), list):
        raise BadInput(
            'each of the requests is {"id", "request", "ratings": [{"_id", "rating"}]}, not '
            f"{short(request)}"
        )
    body = request.get("request")
    text = searched_text(body if isinstance(body, dict) else request)
    if text is None:
        raise BadInput(
            f"request {short(request.get('id'))} looks for no text, so its question is not known; "
            'write it as "query" beside the ratings, and the _ids as "relevance_map"'
        )
    grades = {}
    for rating in request["ratings"]:
        if not isinstance(rating, dict) or not {"_id", "rating"} <= rating.keys():
            raise BadInput(f'a rating is {{"_id", "rating"}}, not {short(rating)}')
        grades[as_id(rating["_id"], "chunk")] = rating["rating"]
    return {"query_id": request.get("id"), "query": text, "relevance_map": grades}


def _is_answer(response: Any) -> bool:
    return isinstance(response, dict) and bool({"hits", "error"} & response.keys())


def _answers(value: Record, responses: Sequence[Any]) -> list[Record | None]:
    """Return each answer beside its question, which a list beside the answers has or the answer."""
    asked = next((value[key] for key in _ASKED if isinstance(value.get(key), list)), None)
    if asked is not None and len(asked) == 2 * len(responses):
        asked = asked[1::2]  # a header before each body, as they were sent
    if asked is not None and len(asked) != len(responses):
        raise BadInput(
            f"{len(responses)} answers, but {len(asked)} questions beside them; each needs its own"
        )
    found: list[Record | None] = []
    for at, response in enumerate(responses):
        if not isinstance(response, dict) or "hits" not in response:
            found.append(None)
            continue
        own = {key: response[key] for key in ("query", "query_id", "id") if key in response}
        if asked is not None:
            own |= _question(asked[at])
        if "query" not in own:
            raise BadInput(
                "the answers of a multi search do not hold its questions (its keys are "
                f'{format_keys(value)}); write these beside them: {{"queries": ["...", ...], '
                '"responses": [...]}'
            )
        found.append({**own, "response": {"hits": response["hits"]}})
    return found


def _question(asked: Any) -> Record:
    if isinstance(asked, str):
        return {"query": asked}
    text = asked.get("query") if isinstance(asked, dict) else None
    if isinstance(text, dict):
        text = searched_text(asked)
    if not isinstance(text, str):
        raise BadInput(f"{short(asked)} looks for no text, so its question is not known")
    return {"query": text, **{key: asked[key] for key in ("query_id", "id") if key in asked}}


def _predictions(value: Record) -> Wrapped:
    """Return the ranked lists of one split of an MTEB task, by the ids of its queries."""
    splits = [
        (subset, split)
        for subset, of in value.items()
        if subset != MTEB and isinstance(of, dict)
        for split in of
    ]
    if len(splits) != 1:
        named = ", ".join("/".join(each) for each in splits) or "none"
        raise BadInput(
            f"predictions of MTEB for one subset and split are read, and here are {named}; keep one"
        )
    path = splits[0]
    lists = value[path[0]][path[1]]
    if not isinstance(lists, dict):
        raise BadInput(f"predictions are {{query: {{chunk: score}}}}, not {short(lists)}")
    model = value[MTEB].get("model_name") if isinstance(value[MTEB], dict) else None
    system = {"mteb_model": model} if isinstance(model, str) and model else {}
    records = [{"query_id": key, "predictions": of, **system} for key, of in lists.items()]
    return Wrapped(path, records)


def beginning_of_list(text: str) -> tuple[str, list[Record]]:
    """Return the key of the list of records in a truncated document, and the first records in it.

    >>> beginning_of_list('{"meta": {}, "data": [{"a": 1}, {"a"')
    ('data', [{'a': 1}])
    """
    for key in (*_LISTS, "responses"):
        rest = text.partition(f'"{key}"')[2].lstrip().removeprefix(":").lstrip()
        entries = parse_beginning(rest) if rest.startswith("[") else []
        if found := [each for each in entries if isinstance(each, dict)]:
            return key, found
    return "", []
