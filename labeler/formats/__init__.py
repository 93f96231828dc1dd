"""Reading and writing of data files; no other package opens one.

Readers return `Loaded` records with the line number of each, and raise `BadInput` that names the
file, the line, what is wrong and what would be right. A file is read completely or not at all.
Writers return bytes.
"""

from labeler.formats.answers_and_signals import read_answers, read_signals
from labeler.formats.beir import read_beir
from labeler.formats.candidates import (
    DOWN_GRADE,
    GENERATED_GRADE,
    UP_GRADE,
    SuggestionRule,
    stream_candidates,
)
from labeler.formats.chunks import match_document_names, read_chunks, read_documents
from labeler.formats.golden import read_golden, read_grades
from labeler.formats.grades import UNGRADED, GradeRule, parse_grade_map
from labeler.formats.id_resolution import (
    CHUNK_PREFIX,
    HASH_DIGITS,
    IdResolver,
    query_id_from_text,
)
from labeler.formats.limits import LIMITS, Limits, parse_limits, usual_limits
from labeler.formats.peers.peer_rows import RELEVANT
from labeler.formats.queries import parse_query, read_queries
from labeler.formats.ranked_lists import OnDuplicate, Order
from labeler.formats.runs import read_run, stream_run
from labeler.formats.snapshots import (
    LEAVES_OUT,
    CompleteSet,
    FrozenVersion,
    LoadedCompleteSet,
    parse_version,
    read_complete,
    read_version,
    write_complete,
    write_version,
)
from labeler.formats.sniff import Guess, guess
from labeler.formats.text_blocks import TextBlock, read_text_blocks
from labeler.formats.writers import (
    RUN_KINDS,
    RunKind,
    beir_files,
    event_fields,
    why_not_writable,
    write_events,
    write_golden,
    write_run,
    zip_files,
)

__all__ = [
    "CHUNK_PREFIX",
    "DOWN_GRADE",
    "GENERATED_GRADE",
    "HASH_DIGITS",
    "LEAVES_OUT",
    "LIMITS",
    "RELEVANT",
    "RUN_KINDS",
    "UNGRADED",
    "UP_GRADE",
    "CompleteSet",
    "FrozenVersion",
    "GradeRule",
    "Guess",
    "IdResolver",
    "Limits",
    "LoadedCompleteSet",
    "OnDuplicate",
    "Order",
    "RunKind",
    "SuggestionRule",
    "TextBlock",
    "beir_files",
    "event_fields",
    "guess",
    "match_document_names",
    "parse_grade_map",
    "parse_limits",
    "parse_query",
    "parse_version",
    "query_id_from_text",
    "read_answers",
    "read_beir",
    "read_chunks",
    "read_complete",
    "read_documents",
    "read_golden",
    "read_grades",
    "read_queries",
    "read_run",
    "read_signals",
    "read_text_blocks",
    "read_version",
    "stream_candidates",
    "stream_run",
    "usual_limits",
    "why_not_writable",
    "write_complete",
    "write_events",
    "write_golden",
    "write_run",
    "write_version",
    "zip_files",
]
