"""The grading API: routes that return pairs to grade and accept grades.

Grades are sent here and not through a script rerun. This takes a tenth of the processor time, and
a dropped connection loses nothing, because the grading component resends what was not
acknowledged.

==========================  ===========================================================
``GET /api/next``           this grader's next pairs, and how many are saved and left
``GET /api/history``        their earlier judgments, for undoing
``GET /api/query``          the pool of one query, a part at a time
``GET /api/own``            what this grader has graded, newest first, and how much of it
``GET /api/text``           the rest of a text that was too long for one response
``GET /api/search``         chunks found by their words, whether a run has them or not
``GET /api/neighbours``     the chunks beside a chunk in its document
``GET /api/told``           grades and runs of a pair that this grader has judged
``GET /api/practice``       passages to practise on that a lead chose, with golden grades
``GET /api/whose``          whether no grader has the key of grades waiting in a browser
``POST /api/judgments``     events; each is acknowledged or refused with a reason by its id
``GET /api/disagreements``  for leads: pairs that graders disagree on, a page at a time
``POST /api/adjudications`` for leads: adjudications of these pairs, and undos of them
==========================  ===========================================================

All accept only same-origin requests with a page's token, and respond 403 otherwise. 503 means
that the database accepts no writes at the moment, 429 that a grader has sent too much within a
minute; the same request will work later.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from starlette.routing import Route

from labeler.services.assignment.assigner import Assigner
from labeler.store import BUSY_SECONDS, Store
from labeler.web.auth.access import BYTES_PER_MINUTE, check_may_lead
from labeler.web.grading_api.adjudication_api import AdjudicationApi
from labeler.web.grading_api.guard import guarded
from labeler.web.grading_api.read_api import ReadApi
from labeler.web.grading_api.write_api import WriteApi


def grading_routes(
    path: str,
    *,
    busy_seconds: float = BUSY_SECONDS,
    bytes_per_minute: int = BYTES_PER_MINUTE,
    on_taken: Callable[[], None] = lambda: None,
    assigner: Assigner | None = None,
) -> list[Route]:
    """Return the routes for grading in the golden set at ``path``.

    ``busy_seconds`` is how long a grade waits for another writer; the pad waits a little longer.
    ``bytes_per_minute`` limits what one grader may send. ``on_taken`` is called, in any thread,
    after events were added to the log.
    """
    open_store = partial(Store, path, busy_seconds=busy_seconds)
    reading = ReadApi(assigner or Assigner())
    writing = WriteApi(busy_seconds, bytes_per_minute, on_taken)
    adjudicating = AdjudicationApi(busy_seconds, on_taken)
    read_handlers = {
        "next": reading.next,
        "history": reading.history,
        "query": reading.query,
        "own": reading.own,
        "text": reading.text,
        "search": reading.search,
        "neighbours": reading.neighbours,
        "told": reading.told,
        "practice": reading.practice,
        "whose": reading.whose,
    }
    guard = partial(guarded, path, open_store)
    for_leads = partial(guard, check=check_may_lead)
    return [
        *(Route(f"/api/{name}", guard(handler)) for name, handler in read_handlers.items()),
        Route("/api/judgments", guard(writing.judgments), methods=["POST"]),
        Route("/api/disagreements", for_leads(adjudicating.disagreements)),
        Route("/api/adjudications", for_leads(adjudicating.adjudications), methods=["POST"]),
    ]
