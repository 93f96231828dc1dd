"""The store: a golden set in SQLite or PostgreSQL, and every SQL statement of the project.

`Store` opens one and reads and writes all of it; each module holds the statements of one part.
"""

from labeler.errors import StorageError
from labeler.store.activity import Activity, CannotTell, GivenGrades, GraderNote, SingleGradeReader
from labeler.store.adjudication import (
    ADJUDICATION,
    Adjudication,
    Adjudications,
    Case,
    CopyGrade,
    Disagreement,
    Opinion,
)
from labeler.store.assignment import GradingQueue, Lease, Leases, UndoableJudgment
from labeler.store.candidates import Candidates
from labeler.store.chunkings import ChunkingSummary
from labeler.store.chunks import ChunkSearch, PairContent
from labeler.store.columns import moment
from labeler.store.connection import BUSY_SECONDS
from labeler.store.contents import Contents, RunSummary
from labeler.store.copies import Copies
from labeler.store.full_copy import FullCopy, FullDump
from labeler.store.judgments import JudgmentConflict
from labeler.store.people import GraderAccess, GraderKeys
from labeler.store.queries import LeakedQuery, QuerySplits, query_fingerprint
from labeler.store.remarks import UndoableRemark
from labeler.store.retrievals import RetrievalLoads
from labeler.store.runs import QuerySummary
from labeler.store.sessions import InvitationLink, Login, Sessions
from labeler.store.signals import SignalsAndAnswers
from labeler.store.suggestions import SuggestionOutcomes, Suggestions
from labeler.store.transfers import (
    BasedGrade,
    BaseJudgment,
    LoggedTransfer,
    MarkedJudgment,
    Provenance,
    TransferInput,
    TransferredGrade,
    passage_texts,
)
from labeler.store.versions import AsOf, read_versions, unpack_version


class Store(
    AsOf,
    FullDump,
    FullCopy,
    SignalsAndAnswers,
    Provenance,
    Leases,
    Activity,
    GradingQueue,
    ChunkSearch,
    Sessions,
    Adjudications,
    SingleGradeReader,
    GivenGrades,
    GraderKeys,
    Candidates,
    RetrievalLoads,
    QuerySplits,
    Suggestions,
    SuggestionOutcomes,
):
    """A golden set in an SQLite file; open one per script run, request or command and close it."""
