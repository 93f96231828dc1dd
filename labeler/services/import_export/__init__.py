"""Import and export of files: what ``load`` and ``export`` do, for command line and pages."""

from labeler.services.import_export.exports import (
    EXPORTS,
    beir_folder,
    dated_name,
    disagreement_rows,
    export,
    export_run,
    note_export,
    refusals,
    write_extract,
)
from labeler.services.import_export.loaders import (
    LOADS,
    MOST_UPLOAD_MEGABYTES,
    LoadOptions,
    id_resolver,
    query_from_candidate,
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
    "dated_name",
    "disagreement_rows",
    "export",
    "export_run",
    "id_resolver",
    "note_export",
    "query_from_candidate",
    "read",
    "read_candidates",
    "refusals",
    "run_name_of",
    "write_extract",
]
