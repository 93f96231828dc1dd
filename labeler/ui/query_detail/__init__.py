"""One query in full: as one run answers it, on Queries, and as two do, on Compare.

Its numbers, lists and chunks; knows nothing of what its page shows of all queries.
"""

from labeler.ui.query_detail.pair import look, open_query, show_pair
from labeler.ui.query_detail.query import Opened, show_query, texts_of

__all__ = ["Opened", "look", "open_query", "show_pair", "show_query", "texts_of"]
