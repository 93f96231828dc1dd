"""The door's HTTP face: who is let in how, what a stranger is shown; knows nothing of the pages.

The pages check for themselves who may see them; what is here stands before them, and before what
has no page to check: sockets, files, requests under a foreign name.
"""

from labeler.doors.entering import door_routes
from labeler.doors.guarding import ClosedDoor, FilesForLeads, comes_as, comes_as_lead, is_guarded
from labeler.doors.naming import OwnNames, PlainCallback

__all__ = [
    "ClosedDoor",
    "FilesForLeads",
    "OwnNames",
    "PlainCallback",
    "comes_as",
    "comes_as_lead",
    "door_routes",
    "is_guarded",
]
