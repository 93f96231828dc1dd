"""Files meet the store: what ``load`` and ``export`` do, in a terminal and on the pages alike."""

from labeler.services.import_export.exporting import (
    EXPORTS,
    beir_folder,
    dated,
    disagreement_rows,
    export,
    export_run,
    note_export,
    refusals,
    written,
)
from labeler.services.import_export.loading import (
    LOADS,
    MOST_UPLOAD_MEGABYTES,
    LoadOptions,
    meant_by,
    query_from,
    read,
    read_candidates,
    run_name_of,
)

__all__ = [
    "EXPORTS",
    "LOADS",
    "MOST_UPLOAD_MEGABYTES",
    "LoadOptions",
    "beir_folder",
    "dated",
    "disagreement_rows",
    "export",
    "export_run",
    "meant_by",
    "note_export",
    "query_from",
    "read",
    "read_candidates",
    "refusals",
    "run_name_of",
    "written",
]
