"""Transfer of grades from one chunking to another: outcomes, hints, and open pairs."""

from labeler.services.transfer.open_pairs import Hint, OpenPairs, OpenPairsCache
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
    transfer_statements,
)
