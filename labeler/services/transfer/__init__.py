"""Transfer of grades from one chunking to another: outcomes, hints, and the pairs left open."""

from labeler.services.transfer.open_pairs import (
    EarlierGrade,
    Hint,
    OpenPairs,
    OpenPairsCache,
    hints,
)
from labeler.services.transfer.outcomes import (
    TRANSFER_STATES,
    Transfer,
    TransferOutcome,
    compute_transfer,
    describe_left_out,
    describe_logged,
    describe_transfer,
    locate_basis,
    record_transfer,
)

__all__ = [
    "TRANSFER_STATES",
    "EarlierGrade",
    "Hint",
    "OpenPairs",
    "OpenPairsCache",
    "Transfer",
    "TransferOutcome",
    "compute_transfer",
    "describe_left_out",
    "describe_logged",
    "describe_transfer",
    "hints",
    "locate_basis",
    "record_transfer",
]
