"""The grading API: routes that hand out chunks and take grades.

A grade takes this way and not a script rerun: it costs a tenth of the processor time, and a
dropped connection loses nothing because the grading component sends what was not acknowledged
again.

==========================  ===========================================================
``GET /api/next``           the chunks this grader grades next, what is saved, what is left
``GET /api/history``        what they judged before, for undoing it
``GET /api/query``          the pool of one query, a part at a time
``GET /api/text``           the rest of a text that was too long to come whole
``GET /api/search``         chunks found by their words, whether a run has them or not
``GET /api/neighbours``     the chunks beside a chunk in its document
``GET /api/told``           what is known of a pair that this grader has judged
``GET /api/whose``          whether the key of what waits in a browser is nobody's
``POST /api/judgments``     events; each is acknowledged or refused with a reason by its id
``GET /api/disagreements``  for leads: what graders disagree on, a page at a time
``POST /api/adjudications`` for leads: what they decide of it, and what they take back
==========================  ===========================================================

All answer only same-origin requests with a token that a page handed out, and 403 otherwise; 503
says that the database takes no writes just now, 429 that a grader has sent too much within a
minute, and that the same request will work later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from starlette.routing import Route

from labeler.model import Pair
from labeler.services.assignment.assigner import Assigner
from labeler.services.transfer import OpenPairsCache
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
    telling: Callable[[], Iterable[Pair]] = lambda: (),
    opening: OpenPairsCache | None = None,
) -> list[Route]:
    """Return the routes for grading in the golden set at ``path``.

    ``busy_seconds`` is how long a grade waits for another writer; the pad waits a little longer.
    ``bytes_per_minute`` is how much one grader may send.
    ``on_taken`` is called, in any thread, whenever events are in the log.
    ``telling`` gives the pairs that come before all others, and ``opening`` what a carry-over left
    open, see `Assigner`.
    """
    open_store = partial(Store, path, busy_seconds=busy_seconds)
    giving, taking = (
        ReadApi(Assigner(telling, opening)),
        WriteApi(busy_seconds, bytes_per_minute, on_taken),
    )
    given = {
        "next": giving.next,
        "history": giving.history,
        "query": giving.query,
        "text": giving.text,
        "search": giving.search,
        "neighbours": giving.neighbours,
        "told": giving.told,
        "whose": giving.whose,
    }
    adjudicating = AdjudicationApi(busy_seconds, on_taken)
    guard = partial(guarded, path, open_store)
    for_leads = partial(guard, check=check_may_lead)
    return [
        *(Route(f"/api/{name}", guard(answer)) for name, answer in given.items()),
        Route("/api/judgments", guard(taking.judgments), methods=["POST"]),
        Route("/api/disagreements", for_leads(adjudicating.disagreements)),
        Route("/api/adjudications", for_leads(adjudicating.adjudications), methods=["POST"]),
    ]
