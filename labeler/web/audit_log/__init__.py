"""What the server notes by itself: refusals, counted by the minute, and seals.

It looks at answers as they leave, so that no door can forget to say that it was closed; it
decides nothing, and a grade never waits for it.
"""

from labeler.web.audit_log.answers import NotesAnswers
from labeler.web.audit_log.refusals import Refusals
from labeler.web.audit_log.rounds import keep_books

__all__ = ["NotesAnswers", "Refusals", "keep_books"]
