"""Field aliases: the names a column or a JSON key may have, in one table for every way in.

Readers of files, `sniff` and the frames of the Python functions use it. A name is matched whole,
after `fold_name`. The first alias of each is the one that our own files use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable


class Aliases(tuple[str, ...]):
    """The names of a field, the one that counts first; messages name only those ``shown``."""

    shown: tuple[str, ...]

    def __new__(cls, shown: str, others: str = "", last: str = "") -> Aliases:
        """Join the shown names, the others, and the last, which is shown, too."""
        found = super().__new__(cls, f"{shown} {others} {last}".split())
        found.shown = tuple(f"{shown} {last}".split())
        return found

    def then(self, others: Iterable[str]) -> Aliases:
        """Return these names and others after them, which are not shown."""
        found = super().__new__(Aliases, (*self, *others))
        found.shown = self.shown
        return found


def fold_name(name: str) -> str:
    """Return the name of a column without what does not matter: case, dashes, blanks.

    >>> fold_name(" Query-ID "), fold_name("relevance score")
    ('query_id', 'relevance_score')
    """
    return name.strip().lower().replace("-", "_").replace(" ", "_")


# A query with a chunk. PyTerrier writes its internal number as docid beside the real id as
# docno; a "query" beside a query id is the query's text. Quepid's tables have only the text.
QUERY_OF_PAIR = Aliases(
    "query_id qid q_id query-id query query_text",
    "queryid question_id questionid question user_input input",
)
# Unambiguous, unlike "id" and "query".
ONE_QUERY = frozenset({"query_id", "qid", "q_id", "query-id", "question_id"})
CHUNK_OF_PAIR = Aliases(
    "chunk_id docno doc_id docid corpus-id", "chunkid passage_id pid node_id doc"
)
# These name a chunk in a list of results, but elsewhere the row or the document.
CHUNK_OF_RESULT = CHUNK_OF_PAIR.then(("document_id", "_id", "id"))
GRADE = Aliases(
    "grade rating relevance label rel",
    "judgment judgement relevance_grade relevance_label gain qrel is_relevant",
    "score",
)
GRADED = GRADE[:-1]  # a score beside one of these is no grade
LISTS = ("results", "chunks")
SCORE = Aliases(
    "score",
    "_score similarity similarity_score sim cosine_similarity relevance_score rrf_score "
    "bm25_score rerank_score reranker_score retrieval_score search_score @search.score scores "
    "final_score hybrid_score",
)
# The smallest is best.
DISTANCE = Aliases("distance", "_distance dist cosine_distance l2_distance")
RANK = Aliases("rank", "doc_position ranking")  # the second is Quepid's
# These are ranks where nothing else orders the results; beside a score, a place in a document.
RANK_OR_PLACE = Aliases("position pos")
# What a run is of.
RUN_NAME = Aliases("system run run_id", "runid run_name system_name system_id tag")

# A query.
QUERY_ID = Aliases("query_id _id id qid", "q_id query-id queryid question_id questionid")
QUERY_TEXT = Aliases("query text question query_text", "user_input input")

# A chunk.
CHUNK_ID = Aliases("chunk_id _id id docid docno", "chunkid passage_id pid node_id corpus-id")
# A chunk's id where none of the above is there; else the document's.
CHUNK_ID_OR_DOCUMENT = ("doc_id", "doc")
CHUNK_TEXT = Aliases(
    "text contents segment", "content page_content body chunk chunk_text passage passage_text"
)
TITLE = ("title",)
DOCUMENT_ID = ("document_id", "doc_id", "document")
POSITION = ("position",)
# The span of a chunk in its document, in characters; the end is exclusive.
START = ("start", "start_char", "start_offset")
END = ("end", "end_char", "end_offset")
CHUNKING = "chunking"
TRANSFERRED_FROM = "carried_from"

# Signals from users, and answers. Queries are named by id.
DATE = ("date", "day")
SYSTEM = ("system",)
SIGNAL = ("name", "signal")
VALUE = ("value",)
COUNT = ("n", "count")
RUN = ("run",)
ANSWER = ("answer", "response")
CORRECT = ("correct",)
QUERY_BY_ID = ("query_id", "qid", "q_id", "query-id", "question_id", "query")

# The golden set or log that a file was exported from.
SEAL = "seal"
FROZEN = "frozen"
COMPLETE = "complete"

_OF_RETRIEVAL = frozenset(
    map(
        fold_name,
        (
            *(*QUERY_OF_PAIR, *CHUNK_OF_RESULT, *GRADE, *SCORE, *DISTANCE, *RANK, *RUN_NAME),
            *(*CHUNK_TEXT, *TITLE, *DOCUMENT_ID, *ANSWER),
            *("context", "ground_truth", "reference", "expected_answer", "source", "metadata"),
        ),
    )
)


_BESIDE = frozenset((*RANK_OR_PLACE, "q0", "iteration", "iter"))


def known_names(names: Iterable[str]) -> list[str]:
    """Return those of the names that a field of queries, chunks, runs or grades has.

    >>> known_names(["Questions", "ground_truths", "q1"])
    ['Questions', 'ground_truths']
    """
    return [name for name in names if {fold_name(name), _singular(name)} & _OF_RETRIEVAL]


def is_field(name: str, others: Collection[str] = ()) -> bool:
    """Return whether a column has the name of a field of retrieval, or one of the others.

    >>> is_field("Doc-ID"), is_field("colour"), is_field("grader", ["grader"])
    (True, False, True)
    """
    folded = fold_name(name)
    return folded in _OF_RETRIEVAL or folded in others or folded in _BESIDE


def _singular(name: str) -> str:
    folded = fold_name(name)
    return f"{folded[:-3]}y" if folded.endswith("ies") else folded.removesuffix("s")


def respell(names: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Return the known spelling of each name that is written in another way; none for two.

    >>> respell(["Query ID", "text", "Text"], ["query_id", "query-id", "text"])
    {'Query ID': 'query_id'}
    """
    given = [*names]
    spelling = {fold_name(name): name for name in reversed([*known])}
    exact, taken = frozenset(known), {*given}
    found: dict[str, str] = {}
    for name in given:
        right = spelling.get(fold_name(name))
        if name not in exact and right is not None and right not in taken:
            found[name] = right
            taken.add(right)
    return found
