"""Tells open pages that the golden set has moved, so that none of them has to ask.

=================  =============================================================================
``WS /api/live``   for leads: a page says which numbers it shows, and is told when there are newer
=================  =============================================================================

What travels are revisions alone, see `Store.newest`: ``{"shows": [7, 0, 3]}`` from a page, or
``null`` from one that nobody looks at, and ``{"newest": [8, 0, 3]}`` to it. A page that was told
says what it shows once it shows it; that is how long its share of the server took. The first word
is the server's, ``{"start": "…"}``: which start of it this is. Knows no grade, no measure and
nothing of what a page shows.
"""

from labeler.web.push.pace import Pace
from labeler.web.push.telling import START, Telling

__all__ = ["START", "Pace", "Telling"]
