"""Reading and writing of data files; no other package opens one.

Readers return `Loaded` records with their line numbers, and raise `BadInput` that names the file,
the line, what is wrong and what would be right. A file is read completely or not at all. Writers
return bytes.
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
from labeler.formats.grades import GradeCuts, GradeRule, parse_grade_cuts, parse_grade_map
from labeler.formats.id_resolution import CHUNK_PREFIX, HASH_DIGITS, IdResolver, query_id_from_text
from labeler.formats.limits import LIMITS, Limits, parse_limits, usual_limits
from labeler.formats.peers.peer_rows import RELEVANT
from labeler.formats.queries import parse_query, read_queries
from labeler.formats.ranked_lists import OnDuplicate, Order
from labeler.formats.result_fields import SeveralSystems
from labeler.formats.retrieval.field_map import FieldMap
from labeler.formats.retrieval.preview import (
    RetrievalPreview,
    describe_result,
    field_paths,
    first_records,
    has_named_fields,
    preview_retrievals,
)
from labeler.formats.retrieval.reader import read_retrievals
from labeler.formats.retrieval.tool_maps import TOOL_MAPS, map_named, map_text
from labeler.formats.runs import read_run, stream_run
from labeler.formats.self_hits import describe_own_hits, without_self
from labeler.formats.snapshots import (
    LEAVES_OUT,
    CompleteSet,
    FrozenVersion,
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
