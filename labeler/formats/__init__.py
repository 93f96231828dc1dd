"""Files in and out: the only room that opens a data file; it knows nothing of the database.

Readers give `Loaded` records with the line each stood on, and raise `BadInput` that names file,
line, what is wrong and what would be right; nothing is read by halves. Writers give bytes.
"""

from labeler.formats.answers import read_answers
from labeler.formats.beir import read_beir
from labeler.formats.candidates import (
    DOWN_GRADE,
    GENERATED_GRADE,
    UP_GRADE,
    Proposing,
    stream_candidates,
)
from labeler.formats.chunks import read_chunks
from labeler.formats.complete import LEAVES_OUT, LoadedWhole, Whole, read_complete, write_complete
from labeler.formats.full_texts import named_as_cut, read_documents
from labeler.formats.golden import read_golden, read_grades
from labeler.formats.grades import UNGRADED, GradeRule, parse_grade_map
from labeler.formats.guessing import Guess, guess
from labeler.formats.limits import LIMITS, Limits, parse_limits, usual_limits
from labeler.formats.meant import CHUNK, HASHED, Meant, query_id_of
from labeler.formats.passages import Passages, read_passages
from labeler.formats.queries import query_of, read_queries
from labeler.formats.ranked import OnDuplicate, Order
from labeler.formats.runs import read_run, stream_run
from labeler.formats.signals import read_signals
from labeler.formats.told import RELEVANT
from labeler.formats.versions import FrozenFile, read_version, version_in, write_version
from labeler.formats.writing import (
    beir_files,
    event_fields,
    refusal,
    write_events,
    write_golden,
    zip_files,
)
from labeler.formats.writing_runs import RUN_KINDS, RunKind, write_run

__all__ = [
    "CHUNK",
    "DOWN_GRADE",
    "GENERATED_GRADE",
    "HASHED",
    "LEAVES_OUT",
    "LIMITS",
    "RELEVANT",
    "RUN_KINDS",
    "UNGRADED",
    "UP_GRADE",
    "FrozenFile",
    "GradeRule",
    "Guess",
    "Limits",
    "LoadedWhole",
    "Meant",
    "OnDuplicate",
    "Order",
    "Passages",
    "Proposing",
    "RunKind",
    "Whole",
    "beir_files",
    "event_fields",
    "guess",
    "named_as_cut",
    "parse_grade_map",
    "parse_limits",
    "query_id_of",
    "query_of",
    "read_answers",
    "read_beir",
    "read_chunks",
    "read_complete",
    "read_documents",
    "read_golden",
    "read_grades",
    "read_passages",
    "read_queries",
    "read_run",
    "read_signals",
    "read_version",
    "refusal",
    "stream_candidates",
    "stream_run",
    "usual_limits",
    "version_in",
    "write_complete",
    "write_events",
    "write_golden",
    "write_run",
    "write_version",
    "zip_files",
]
