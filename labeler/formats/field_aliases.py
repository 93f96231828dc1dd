"""Field aliases: the names a column or a JSON key may have, shared by all readers and by `sniff`.

The first alias of each is the one that messages and our own files use. The aliases of a query's
own fields are in `queries`.
"""

from __future__ import annotations

# Of a query with a chunk. PyTerrier writes its internal number as docid beside the real id as
# docno; a "query" beside a query id is the query's text. Quepid's tables have the text alone.
QUERY_OF_PAIR = ("query_id", "qid", "q_id", "query-id", "query", "query_text")
# These can mean nothing else; "id" and "query" can.
ONE_QUERY = frozenset({"query_id", "qid", "q_id", "query-id"})
CHUNK_OF_PAIR = ("chunk_id", "docno", "doc_id", "docid", "corpus-id")
GRADE = ("grade", "rating", "relevance", "label", "rel", "score")
LISTS = ("results", "chunks")
RANK = ("rank", "doc_position")  # the second is Quepid's

# Of a chunk.
CHUNK_ID = ("chunk_id", "_id", "id", "docid", "docno")
CHUNK_TEXT = ("text", "contents", "segment")
TITLE = ("title",)
DOCUMENT_ID = ("document_id", "doc_id", "document")
POSITION = ("position",)
# Where a chunk stands in its document, in characters; the end is not part of it.
START = ("start", "start_char", "start_offset")
END = ("end", "end_char", "end_offset")
CHUNKING = "chunking"
TRANSFERRED_FROM = "carried_from"

# Of what users did, and of what they were answered. A query stands there by its id.
DATE = ("date", "day")
SYSTEM = ("system",)
SIGNAL = ("name", "signal")
VALUE = ("value",)
COUNT = ("n", "count")
RUN = ("run",)
ANSWER = ("answer", "response")
CORRECT = ("correct",)
QUERY_BY_ID = ("query_id", "qid", "q_id", "query-id", "query")

# Of what a file was taken from, not of anything in it.
SEAL = "seal"
FROZEN = "frozen"
COMPLETE = "complete"
