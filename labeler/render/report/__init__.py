"""One HTML file for a review: what is known of one run or two, and all that it rests on.

It needs nothing but a browser: no server, no network, no second file. Knows no Streamlit, no SQL
and no command; what it is made of comes in a `Source`.
"""

from labeler.render.report.making import make_report
from labeler.render.report.source import Asked, Source

__all__ = ["Asked", "Source", "make_report"]
