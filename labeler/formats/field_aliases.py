"""Field aliases: the names a column or a JSON key may have, shared by all readers and by `sniff`.

The first alias of each is the one that messages and our own files use. The aliases of a query's
own fields are in `queries`.
"""

from __future__ import annotations

# A query with a chunk. PyTerrier writes its internal number as docid beside the real id as
# docno; a "query" beside a query id is the query's text. Quepid's tables have only the text.
QUERY_OF_PAIR = ("query_id", "qid", "q_id", "query-id", "query", "query_text")
# Unambiguous, unlike "id" and "query".
ONE_QUERY = frozenset({"query_id", "qid", "q_id", "query-id"})
CHUNK_OF_PAIR = ("chunk_id", "docno", "doc_id", "docid", "corpus-id")
GRADE = ("grade", "rating", "relevance", "label", "rel", "score")
LISTS = ("results", "chunks")
RANK = ("rank", "doc_position")  # the second is Quepid's

# A chunk.
CHUNK_ID = ("chunk_id", "_id", "id", "docid", "docno")
CHUNK_TEXT = ("text", "contents", "segment")
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
QUERY_BY_ID = ("query_id", "qid", "q_id", "query-id", "query")

# The golden set or log that a file was exported from.
SEAL = "seal"
FROZEN = "frozen"
COMPLETE = "complete"
