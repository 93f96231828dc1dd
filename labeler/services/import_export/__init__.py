"""Import and export of files, for the commands ``load`` and ``export`` and for the pages."""

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
from labeler.services.import_export.feedback import FEEDBACK_KINDS
from labeler.services.import_export.loaders import (
    LOADS,
    MOST_UPLOAD_MEGABYTES,
    LoadOptions,
    query_from_candidate,
    read,
    read_candidates,
    recognise,
    run_name_of,
)
