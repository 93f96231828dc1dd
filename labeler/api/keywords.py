"""Keyword measures of texts and runs, which need no grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from labeler.analysis.keyword_corpus import Corpus
from labeler.analysis.keywords import (
    describe_missed,
    describe_unusable,
    find_keyword_ranks,
    keyword_mean_records,
    keyword_means,
    keyword_rank_records,
    keyword_scores,
    list_lookups,
)
from labeler.api.inputs import GivenRun, build_board
from labeler.api.options import EvaluationRules
from labeler.errors import BadInput
from labeler.formats import LIMITS, Limits, OnDuplicate


def find_keywords(
    keywords: Mapping[str, Sequence[str]],
    texts: Mapping[str, str],
    runs: Mapping[str, GivenRun],
    k: int = 10,
    *,
    substring: bool = False,
    per_keyword: bool = False,
    on_duplicate: OnDuplicate = "refuse",
    limits: Limits = LIMITS,
) -> pd.DataFrame:
    """Measure without grades how well runs find the keywords of an answer: a row for each run.

    ``keywords`` are those of each query, ``texts`` all chunks of the database by id, and ``runs``
    as in `evaluate`. Columns are ``run, k, rr, ndcg, coverage``, means over the ``n`` queries that
    have keywords: 1 / rank of the first chunk of the top k that holds a keyword, the nDCG of all
    chunks that hold it, and the share of the keywords that the top k hold. ``in_no_chunk`` of the
    ``keywords`` are in no chunk of the database. A keyword matches whole words in any case, or with
    ``substring`` also parts of words. With ``per_keyword`` there is a row for each run, query and
    keyword, with the ``rank`` of the first chunk that holds it at any depth, NaN if none does, and
    the number of ``chunks`` of the database that do. ``frame.attrs["notes"]`` names the keywords
    that no run finds. A chunk that holds a keyword need not answer the question.

    >>> texts, runs = {"c1": "TravelGuard covers it", "c2": "see above"}, {"A": {"q1": ["c2"]}}
    >>> frame = find_keywords({"q1": ["TravelGuard", "above"]}, texts, runs, per_keyword=True)
    >>> frame[["keyword", "rank", "found_by_no_run"]].values.tolist()
    [['TravelGuard', nan, True], ['above', 1.0, False]]

    Raises `BadInput` for malformed data, or if no run shares a query with ``keywords``.
    """
    if not isinstance(keywords, Mapping) or any(
        isinstance(each, str) for each in keywords.values()
    ):
        raise BadInput("keywords must be {query: [keyword, ...]}")
    nothing: dict[str, dict[str, int]] = {query_id: {} for query_id in keywords}
    rules = EvaluationRules.of(on_duplicate=on_duplicate, limits=limits)
    board = build_board(nothing, runs, rules)
    numbers = {name: at for at, name in enumerate(board.collection.chunk_ids)}
    known = {numbers.setdefault(name, len(numbers)): text for name, text in texts.items()}
    corpus = Corpus(known, substring=substring)
    lists = list_lookups(board, board.run_names)
    places = find_keyword_ranks(corpus, keywords, lists)
    if per_keyword:
        frame = pd.DataFrame(keyword_rank_records(places, k, substring=substring))
        frame["rank"] = frame["rank"].astype(float)
    else:
        found = {run: keyword_scores(corpus, keywords, each, k) for run, each in lists.items()}
        frame = pd.DataFrame(keyword_mean_records(keyword_means(found), k, substring=substring))
    notes = [*describe_missed(places), describe_unusable(corpus, keywords)]
    frame.attrs["notes"] = [note for note in notes if note]
    return frame
