"""Candidate queries: grouping of identical questions, and sampling over buckets.

Two questions are the same if their words are: case, white space and punctuation do not count.
The sample depends on the words and the seed alone, so that a longer log changes it little.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from labeler.analysis.text_similarity import comparable_words, nearest_texts
from labeler.errors import BadInput
from labeler.model import AskedQuestion, DistinctQuestion, QuestionFile

MOST_QUESTIONS = 500_000  # distinct ones of one file: each takes a kilobyte of memory
MOST_BUCKETS = 50
SAMPLE_SIZE = 200
NEAR_DUPLICATE = 0.8


def normal(text: str) -> str:
    """Return a question's words in a normal form that ignores case, space and punctuation.

    >>> normal("Reset my  password!") == normal("reset my password")
    True
    """
    return " ".join(comparable_words(text)) or " ".join(text.split())


def group_questions(
    asked: Iterable[tuple[int, AskedQuestion]], source: str, file: str, *, named: bool = False
) -> QuestionFile:
    """Group questions by their normal form, in the order of their first lines, with totals.

    Unless the facets are ``named``, fields with more than 50 values, or more than half as many as
    there are questions, are listed in ``left_out`` and give no buckets.
    """
    found: dict[str, DistinctQuestion] = {}
    values: dict[str, set[str]] = defaultdict(set)
    first = last = None
    for line, each in asked:
        key = normal(each.text) if each.text else f"\0{each.query_id}"
        if key not in found and len(found) == MOST_QUESTIONS:
            raise BadInput(
                f"{file}:{line}: more than {MOST_QUESTIONS:,} questions that differ, the most that "
                "is taken at once; load the log in parts, of a month each"
            )
        for facet, bucket in each.buckets.items():
            if len(values[facet]) <= MOST_BUCKETS:
                values[facet].add(bucket)
        full = [] if named else [name for name in each.buckets if len(values[name]) > MOST_BUCKETS]
        _add(found.setdefault(key, DistinctQuestion(each.text, key, line)), each, without=full)
        if each.at:
            first, last = min(first or each.at, each.at), max(last or each.at, each.at)
    questions = list(found.values())
    most = min(MOST_BUCKETS, max(len(questions) // 2, 2))
    many = [name for name, seen in values.items() if len(seen) > most and name != "task"]
    left_out = () if named else tuple(many)
    for question in questions:
        for facet in left_out:
            question.buckets.pop(facet, None)
    times = sum(question.times for question in questions)
    digest, counts = _digest(source, questions), _count_buckets(questions)
    return QuestionFile(source, file, digest, times, questions, counts, first, last, left_out)


def _add(question: DistinctQuestion, asked: AskedQuestion, without: Collection[str]) -> None:
    question.times += asked.times
    question.at = max(question.at or "", asked.at or "") or None
    question.reference = question.reference or asked.reference
    question.guideline = question.guideline or asked.guideline
    question.keywords = question.keywords or asked.keywords
    question.query_id = question.query_id or asked.query_id
    for facet, bucket in asked.buckets.items():
        if facet in without:
            continue
        times = question.buckets.setdefault(facet, {})
        times[bucket] = times.get(bucket, 0) + asked.times
    for chunk_id, grades in asked.grades.items():
        votes = question.grades.setdefault(chunk_id, {})
        for grade, often in grades.items():
            votes[grade] = votes.get(grade, 0) + often


def _count_buckets(questions: Iterable[DistinctQuestion]) -> dict[str, dict[str, tuple[int, int]]]:
    counts: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    for question in questions:
        for facet, times in question.buckets.items():
            for bucket, often in times.items():
                before, texts = counts[facet].get(bucket, (0, 0))
                counts[facet][bucket] = (before + often, texts + 1)
    return dict(counts)


def _digest(source: str, questions: Iterable[DistinctQuestion]) -> str:
    digest, write = hashlib.sha256(source.encode()), json.JSONEncoder(sort_keys=True).encode
    for each in sorted(questions, key=lambda question: question.normal):
        fields = [each.normal, each.times, each.at, each.buckets, each.grades]
        digest.update(write(fields).encode())
    return digest.hexdigest()


def sample_questions(
    questions: Sequence[DistinctQuestion],
    most: int | None,
    seed: int,
    evenly: Sequence[str] | None = None,
) -> list[DistinctQuestion]:
    """Draw at most ``most`` questions, as evenly over the buckets as possible.

    A bucket here is a combination of buckets of the facets ``evenly`` (None: all facets); a
    question counts in the one it was asked in most often. Which questions of a bucket are drawn
    depends on their words and the ``seed`` alone, so other lines of the file hardly change it.

    >>> asked = [DistinctQuestion(str(n), str(n), n, 1, None,
    ...     {"x": {"ab"[n > 0]: 1}}) for n in range(9)]
    >>> [each.buckets for each in sample_questions(asked, 2, 0)]
    [{'x': {'a': 1}}, {'x': {'b': 1}}]
    """
    if most is None or len(questions) <= most:
        return list(questions)
    buckets: dict[tuple[tuple[str, str], ...], list[DistinctQuestion]] = defaultdict(list)
    for question in questions:
        buckets[_bucket_of(question, evenly)].append(question)
    for inside in buckets.values():
        inside.sort(key=lambda question: _random_key(seed, question.normal))
    order = sorted(buckets, key=lambda key: _random_key(seed, repr(key)))
    chosen: list[DistinctQuestion] = []
    turn = 0
    while len(chosen) < most:
        here = [buckets[key][turn] for key in order if len(buckets[key]) > turn]
        chosen += here[: most - len(chosen)]
        turn += 1
    return sorted(chosen, key=lambda question: question.line)


def _bucket_of(
    question: DistinctQuestion, evenly: Sequence[str] | None
) -> tuple[tuple[str, str], ...]:
    facets = sorted(question.buckets) if evenly is None else evenly
    times = {facet: question.buckets[facet] for facet in facets if facet in question.buckets}
    return tuple((facet, max(sorted(t), key=t.__getitem__)) for facet, t in times.items())


def _random_key(seed: int, text: str) -> bytes:
    return hashlib.blake2b(f"{seed}\0{text}".encode(), digest_size=8).digest()


def link_queries(gathered: QuestionFile, queries: Mapping[str, str]) -> None:
    """Set each question's ``query_id`` to the query with its text; ``queries`` are texts by id.

    Raises `BadInput` for a question that names an unknown query and has no text.
    """
    known = {normal(text): query_id for query_id, text in reversed([*queries.items()])}
    for question in gathered.questions:
        if question.query_id in queries:
            continue
        if not question.text:
            raise BadInput(
                f"{gathered.file}:{question.line}: query {question.query_id!r} is not in the "
                "golden set; load its queries first: labeler load queries FILE, or give the text "
                "of the question, too"
            )
        question.query_id = known.get(question.normal)


def is_new(question: DistinctQuestion, known: Collection[str]) -> bool:
    """Tell whether a question is not a query and its normal form not a ``known`` candidate's."""
    return question.query_id is None and question.normal not in known


def check_facets(gathered: QuestionFile, evenly: Iterable[str]) -> None:
    """Raise `BadInput` if one of the facets to draw evenly over is not a facet of the questions."""
    for facet in evenly:
        if facet not in gathered.buckets:
            there = ", ".join(gathered.buckets) or "none"
            raise BadInput(
                f"{gathered.file}: no question has the facet {facet!r} (there are: {there})"
            )


def nearest_queries(
    texts: Sequence[str], queries: Mapping[str, str]
) -> list[tuple[str, float] | None]:
    """Return for each text the most similar query and the similarity, None below 0.8.

    ``queries`` are texts by id. Similarity is the share of words both have in the same order.
    """
    names = list(queries)
    found = nearest_texts(texts, list(queries.values()), NEAR_DUPLICATE)
    return [None if at is None else (names[at[0]], at[1]) for at in found]
