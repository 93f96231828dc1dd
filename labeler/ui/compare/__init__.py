"""Parts of the Compare page: the answer first, then pictures of the queries, and files."""

from labeler.ui.compare.summary import offer_files, show_answer
from labeler.ui.compare.views import choose_view
