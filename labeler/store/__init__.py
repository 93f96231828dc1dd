"""The store: a golden set in SQLite or PostgreSQL, and every SQL statement of the project.

`Store` opens one and hands out its parts, `store.judgments`, `store.runs` and so on. Each part is a
class over one `Connection`, in the module of its name, and makes the other parts that it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Self, TypeVar

from labeler.errors import StorageError
from labeler.store.activity import Activity, CannotTell, GraderNote
from labeler.store.addresses import Address, StoreLocation
from labeler.store.adjudication import (
    ADJUDICATION,
    Adjudication,
    Adjudications,
    Case,
    CopyGrade,
    Disagreement,
    Opinion,
)
from labeler.store.answers import Answers
from labeler.store.assignment import Assignment, Lease, UndoableJudgment
from labeler.store.audit import Audit
from labeler.store.candidates import Candidates
from labeler.store.chunk_texts import ChunkTexts, PairContent
from labeler.store.chunkings import Chunkings, ChunkingSummary
from labeler.store.chunks import Chunks
from labeler.store.collection import CollectionReader
from labeler.store.columns import moment
from labeler.store.connection import BUSY_SECONDS, Connection
from labeler.store.copies import ChunkCopies, Copies
from labeler.store.documents import Documents
from labeler.store.evidence import EvidenceReader
from labeler.store.exposure import Exposure
from labeler.store.full_copy import FullCopy
from labeler.store.golden_loads import GoldenLoads
from labeler.store.golden_set import Contents, GoldenSet
from labeler.store.judgments import JudgmentConflict, Judgments
from labeler.store.people import GraderAccess, People
from labeler.store.queries import Queries, QuerySummary, query_fingerprint
from labeler.store.query_history import QueryHistory
from labeler.store.remarks import Remarks, UndoableRemark
from labeler.store.retrievals import Retrievals
from labeler.store.runs import Runs, RunSummary
from labeler.store.sessions import InvitationLink, Login, Sessions
from labeler.store.settings import StoredSettings
from labeler.store.signals import Signals
from labeler.store.splits import LeakedQuery, QuerySplits
from labeler.store.suggestions import Suggestions
from labeler.store.tamper_check import TamperCheck
from labeler.store.transfers import (
    BasedGrade,
    BaseJudgment,
    LoggedTransfer,
    MarkedJudgment,
    TransferInput,
    TransferredGrade,
    Transfers,
    passage_texts,
)
from labeler.store.versions import Versions, read_versions, unpack_version

PartT = TypeVar("PartT")


def _part(kind: Callable[[Connection], PartT]) -> cached_property[PartT]:
    """Return an attribute of a store: a part over its connection, made when first asked for."""
    return cached_property(lambda store: kind(store.connection))


class Store:
    """A golden set; open one per script run, request or command and close it."""

    activity = _part(Activity)
    adjudication = _part(Adjudications)
    answers = _part(Answers)
    assignment = _part(Assignment)
    audit = _part(Audit)
    candidates = _part(Candidates)
    chunkings = _part(Chunkings)
    chunks = _part(Chunks)
    collection = _part(CollectionReader)
    copies = _part(ChunkCopies)
    documents = _part(Documents)
    evidence = _part(EvidenceReader)
    exposure = _part(Exposure)
    full_copy = _part(FullCopy)
    golden_loads = _part(GoldenLoads)
    golden_set = _part(GoldenSet)
    history = _part(QueryHistory)
    judgments = _part(Judgments)
    people = _part(People)
    queries = _part(Queries)
    remarks = _part(Remarks)
    retrievals = _part(Retrievals)
    runs = _part(Runs)
    sessions = _part(Sessions)
    settings = _part(StoredSettings)
    signals = _part(Signals)
    splits = _part(QuerySplits)
    suggestions = _part(Suggestions)
    tamper_check = _part(TamperCheck)
    texts = _part(ChunkTexts)
    transfers = _part(Transfers)
    versions = _part(Versions)

    def __init__(
        self,
        path: str | Path | Address,
        *,
        create: bool = False,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        """Open the golden set at ``path``, as `Connection` does."""
        self.connection = Connection(path, create=create, busy_seconds=busy_seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it: for others to open, or for good."""
        self.connection.close()

    @property
    def path(self) -> StoreLocation:
        """Where it is: a file, or the address of a database."""
        return self.connection.path
