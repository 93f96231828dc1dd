"""Every SQL statement but the schema: opens, fills, extends and reads a golden set."""

from labeler.store.adjudicating import (
    ADJUDICATION,
    Adjudicating,
    Adjudication,
    Case,
    Disagreement,
    Opinion,
)
from labeler.store.carrying import CarriedOver, CarryBasis, Witness, Witnessed
from labeler.store.chained import ChainReport
from labeler.store.chunkings import ChunkingSummary
from labeler.store.claiming import Claim, Claiming
from labeler.store.columns import moment
from labeler.store.connection import BUSY_SECONDS, Unusable
from labeler.store.editing import Overtaken, mark_of
from labeler.store.freezing import unpacked, versions_in
from labeler.store.gathering import Gathering
from labeler.store.given import Given
from labeler.store.givers import Givers
from labeler.store.keeping import QuerySummary
from labeler.store.leaks import Leaked, Leaks
from labeler.store.log import Outdated
from labeler.store.moving import Moving
from labeler.store.online import Online, SignalSummary
from labeler.store.past import Past
from labeler.store.people import WayIn
from labeler.store.proposing import Proposing
from labeler.store.queue import Queue, Undoable
from labeler.store.reading import Contents, RunSummary
from labeler.store.remarks import Unsayable
from labeler.store.search import Search
from labeler.store.sessions import Link, Login, Sessions
from labeler.store.singles import Singles
from labeler.store.standing import Standings
from labeler.store.texts import Item
from labeler.store.trails import CarriedGrade, Said, Trails, words_at
from labeler.store.whole import WholeSet
from labeler.store.work import CannotTell, Note, Work

__all__ = [
    "ADJUDICATION",
    "BUSY_SECONDS",
    "Adjudication",
    "CannotTell",
    "CarriedGrade",
    "CarriedOver",
    "CarryBasis",
    "Case",
    "ChainReport",
    "ChunkingSummary",
    "Claim",
    "Contents",
    "Disagreement",
    "Item",
    "Leaked",
    "Link",
    "Login",
    "Note",
    "Opinion",
    "Outdated",
    "Overtaken",
    "QuerySummary",
    "RunSummary",
    "Said",
    "SignalSummary",
    "Store",
    "Undoable",
    "Unsayable",
    "Unusable",
    "WayIn",
    "Witness",
    "Witnessed",
    "mark_of",
    "moment",
    "unpacked",
    "versions_in",
    "words_at",
]


class Store(
    Past,
    WholeSet,
    Moving,
    Online,
    Trails,
    Claiming,
    Queue,
    Search,
    Sessions,
    Adjudicating,
    Singles,
    Given,
    Givers,
    Gathering,
    Leaks,
    Proposing,
    Standings,
    Work,
):
    """A golden set in an SQLite file; open one per script run, request or command and close it."""
