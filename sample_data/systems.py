"""Three small retrieval systems, in numpy and the standard library: BM25, LSA and their fusion.

They know chunks and queries as plain records and return ranked lists; no files, no grades.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

DEPTH = 50
K1, B = 1.2, 0.75
DIMENSIONS = 80
RRF_K = 60
TITLE_BONUS, PHRASE_BONUS = 0.006, 0.004

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about after all am an and any are as at be been but by can could did do does for from
        get had has have how i if in into is it its just me my no not of off on or our so that the
        their them then there they this to was we were what when where which who why will with
        would you your
        """,
    )
)

Record = dict[str, Any]
Lists = dict[str, list[tuple[str, float]]]  # query id -> (chunk id, score), best first


# Words


def terms(text: str) -> list[str]:
    """Lower-case words without stop words, lightly stemmed.

    >>> terms("The Heron's pumps are rattling: E07!")
    ['heron', 'pump', 'rattl', 'e07']
    """
    words = re.findall(r"\w+", text.lower().replace("’", "'").replace("'s", ""))
    return [stem(word) for word in words if word not in STOP_WORDS]


def stem(word: str) -> str:
    """Take off the commonest English endings; words with digits are codes and stay whole."""
    if len(word) < 4 or not word.isalpha():
        return word
    for ending, least, instead in [("ies", 5, "y"), ("ing", 6, ""), ("ed", 5, ""), ("es", 5, "e")]:
        if word.endswith(ending) and len(word) >= least:
            return undouble(word[: -len(ending)] + instead)
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else undouble(word)


def undouble(word: str) -> str:
    """Make "stopp" and "charge" the words "stop" and "charg"."""
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        return word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


# Three systems


def ranked(scores: Iterable[tuple[str, float]], digits: int) -> list[tuple[str, float]]:
    """Sort by rounded score, ties by id, so that the last bit of a float decides nothing."""
    rounded = [(chunk_id, round(score, digits)) for chunk_id, score in scores]
    return sorted((pair for pair in rounded if pair[1] > 0), key=lambda pair: (-pair[1], pair[0]))


def bm25(chunks: Sequence[Record], queries: Sequence[Record]) -> Lists:
    """Okapi BM25 with Lucene's idf over the text alone: this system never sees a title."""
    bags = {chunk["chunk_id"]: Counter(terms(chunk["text"])) for chunk in chunks}
    mean = sum(map(Counter.total, bags.values())) / len(bags)
    found_in = Counter(term for bag in bags.values() for term in bag)

    def score(bag: Counter[str], words: list[str]) -> float:
        norm = K1 * (1 - B + B * bag.total() / mean)
        return sum(
            math.log(1 + (len(bags) - found_in[word] + 0.5) / (found_in[word] + 0.5))
            * bag[word]
            * (K1 + 1)
            / (bag[word] + norm)
            for word in words
        )

    return {
        query["query_id"]: ranked(
            ((chunk_id, score(bag, terms(query["query"]))) for chunk_id, bag in bags.items()), 4
        )[:DEPTH]
        for query in queries
    }


def lsa(chunks: Sequence[Record], queries: Sequence[Record]) -> Lists:
    """Cosine in the space of a truncated SVD of TF-IDF; terms of a single chunk are left out."""
    bags = [Counter(terms(f"{chunk['title']}\n{chunk['text']}")) for chunk in chunks]
    found_in = Counter(term for bag in bags for term in bag)
    vocabulary = sorted(term for term, count in found_in.items() if count > 1)
    idf = np.log(len(bags) / np.array([found_in[term] for term in vocabulary])) + 1.0
    weights = tf_idf(bags, vocabulary, idf)
    _, _, directions = np.linalg.svd(weights, full_matrices=False)
    space = directions[:DIMENSIONS].T
    asked = tf_idf([Counter(terms(query["query"])) for query in queries], vocabulary, idf)
    cosines = unit(asked @ space) @ unit(weights @ space).T
    ids = [chunk["chunk_id"] for chunk in chunks]
    return {
        query["query_id"]: ranked(zip(ids, row, strict=True), 4)[:DEPTH]
        for query, row in zip(queries, cosines.tolist(), strict=True)
    }


def tf_idf(bags: Sequence[Counter[str]], vocabulary: Sequence[str], idf: np.ndarray) -> np.ndarray:
    """Return unit rows (bags, vocabulary) of (1 + log count) x idf."""
    counts = np.array([[bag[term] for term in vocabulary] for bag in bags], dtype=float)
    return unit(np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0) * idf)


def unit(rows: np.ndarray) -> np.ndarray:
    """Scale rows to length 1; a row of zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 1e-9, lengths, 1.0)


def hybrid(chunks: Sequence[Record], queries: Sequence[Record], *systems: Lists) -> Lists:
    """Reciprocal rank fusion, then a small push for words in the title and for phrases."""
    titles = {chunk["chunk_id"]: set(terms(chunk["title"])) for chunk in chunks}
    pairs = {chunk["chunk_id"]: set(neighbours(terms(chunk["text"]))) for chunk in chunks}
    lists: Lists = {}
    for query in queries:
        words = terms(query["query"])
        fused: defaultdict[str, float] = defaultdict(float)
        for system in systems:
            for rank, (chunk_id, _) in enumerate(system[query["query_id"]], start=1):
                fused[chunk_id] += 1 / (RRF_K + rank)
        for chunk_id in fused:
            fused[chunk_id] += TITLE_BONUS * share(set(words), titles[chunk_id])
            fused[chunk_id] += PHRASE_BONUS * share(set(neighbours(words)), pairs[chunk_id])
        lists[query["query_id"]] = ranked(fused.items(), 6)[:DEPTH]
    return lists


def neighbours(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return each two words that stand side by side."""
    return list(pairwise(words))


def share(wanted: set[Any], there: set[Any]) -> float:
    """Return how much of ``wanted`` is ``there``, from 0 to 1."""
    return len(wanted & there) / len(wanted) if wanted else 0.0
