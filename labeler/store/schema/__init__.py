"""Migrations of the schema, and the function that runs their scripts in the open transaction.

The ``golden`` view defines the golden grade; `labeler.store.golden_grades` computes the same for
a whole log at once. The name of a migration is stored in every golden set: never rename its
function.
"""

import json
import secrets
import sqlite3
import uuid

from labeler.store.hash_chain import CHAINED_LOGS, first_seal, seal_events
from labeler.store.schema.golden import EVIDENCE, GOLDEN, READING, transfer_script
from labeler.store.schema.logs import (
    ALL_EVENTS,
    AUDIT,
    CANDIDATES_AND_HISTORY,
    GOLDEN_LOADS,
    INSERT_SEAL,
    LAST_ID,
    LEAKS,
    REMARK_UNDO,
    REMARKS,
    SEALS,
    SPLIT_COLUMN,
    VERSIONS,
    sealed_events,
)
from labeler.store.schema.sqlite_utils_import import Database, Migrations
from labeler.store.schema.tables import (
    ASKED_QUERIES,
    CHUNKINGS,
    INVITATIONS,
    LEASES,
    LIST_SOURCES,
    LISTS_SEEN,
    RANKINGS,
    SEARCH,
    SESSIONS,
    SIGNALS_AND_ANSWERS,
    TABLES,
    TOLD_GRADERS,
    TRIGGERS,
    UNGRADED,
    UNKNOWN_DATES,
    VIEWS,
    WORDINGS,
)

migrations = Migrations("labeler")


@migrations()
def m001_first_shape(db: Database) -> None:
    """Create every table, trigger and view of the first release."""
    run_script(db, TABLES)
    run_script(db, TRIGGERS)
    run_script(db, VIEWS)
    born_with = {
        "golden_set": str(uuid.uuid4()),
        "signing_key": secrets.token_hex(32),
        "data_revision": 0,
    }
    for key, value in born_with.items():
        db.execute("INSERT INTO settings (key, value) VALUES (?, ?)", [key, json.dumps(value)])


@migrations()
def m002_people_remarks_and_search(db: Database) -> None:
    """Add invitations, what graders say of whole queries, and the index of the chunks' words."""
    run_script(db, REMARKS)
    run_script(db, INVITATIONS)
    run_script(db, SEARCH)


@migrations()
def m003_runs_of_unknown_date(db: Database) -> None:
    """Let a run be without a date; those that have one keep it."""
    run_script(db, UNKNOWN_DATES)


@migrations()
def m004_remarks_undone_and_lists_seen(db: Database) -> None:
    """Let remarks be taken back as judgments are; remember who was shown a query's lists."""
    run_script(db, REMARK_UNDO)
    run_script(db, LISTS_SEEN)


@migrations()
def m005_sessions(db: Database) -> None:
    """Let a link open sessions instead of being one, and a login be an issuer's subject."""
    run_script(db, SESSIONS)


@migrations()
def m006_audit_and_seals(db: Database) -> None:
    """Add what is kept of who did what, and the seals of the logs: old events get theirs now."""
    run_script(db, AUDIT)
    run_script(db, SEALS)
    [(stored,)] = db.execute("SELECT value FROM settings WHERE key = 'golden_set'").fetchall()
    for log in CHAINED_LOGS:
        events = db.execute(sealed_events(log), ALL_EVENTS)
        seals = seal_events(first_seal(json.loads(stored), log), events)
        db.conn.executemany(INSERT_SEAL, ((log, *seal) for seal in seals))


@migrations()
def m007_pairs_signed_as_they_are_handed_out(db: Database) -> None:
    """Remember who was told what others gave, and who was there before pairs were signed."""
    run_script(db, TOLD_GRADERS)


@migrations()
def m008_rankings_of_long_lists(db: Database) -> None:
    """Show ranked lists as rows in good time, however long they are."""
    run_script(db, RANKINGS)


@migrations()
def m009_the_rule_of_golden_grades(db: Database) -> None:
    """Let the team's rule decide what several people's grades of a pair become."""
    run_script(db, GOLDEN)


@migrations()
def m010_frozen_versions_and_splits(db: Database) -> None:
    """Add frozen versions of the golden set, and let queries belong to dev, test or held-out."""
    run_script(db, SPLIT_COLUMN)
    run_script(db, VERSIONS)


@migrations()
def m011_queries_found_elsewhere(db: Database) -> None:
    """Remember which queries were found in other texts, where, and who said so."""
    run_script(db, LEAKS)


@migrations()
def m012_signals_and_answers(db: Database) -> None:
    """Add what users did, system by system, and what was answered by which run."""
    run_script(db, SIGNALS_AND_ANSWERS)


@migrations()
def m013_candidates_and_the_history_of_queries(db: Database) -> None:
    """Add questions that may become queries, proposed grades, and how queries came to be."""
    run_script(db, CANDIDATES_AND_HISTORY)


@migrations()
def m014_pairs_without_a_grade(db: Database) -> None:
    """Remember which pairs a file put into the pool and nobody has graded."""
    run_script(db, UNGRADED)


@migrations()
def m015_evidence(db: Database) -> None:
    """Let a judgment say which passages of the text made the grade."""
    run_script(db, EVIDENCE)


@migrations()
def m016_chunkings_and_documents(db: Database) -> None:
    """Let chunks and runs belong to chunkings, and know where chunks stand in their documents."""
    run_script(db, CHUNKINGS)


@migrations()
def m017_grades_carried_over(db: Database) -> None:
    """Let the log say which grades follow from others, and count these below all others."""
    run_script(db, transfer_script(TRIGGERS))


@migrations()
def m018_claims_of_several_servers(db: Database) -> None:
    """Let the servers of one database know of each other whom they handed which queries."""
    run_script(db, LEASES)


@migrations()
def m019_numbers_of_golden_loads(db: Database) -> None:
    """Remember which load brought which golden grades, so that one can be taken back."""
    run_script(db, GOLDEN_LOADS)


@migrations()
def m020_copies_found_by_their_text(db: Database) -> None:
    """Let chunks with the same text be found without reading the texts."""
    run_script(db, WORDINGS)


@migrations()
def m021_sources_of_lists(db: Database) -> None:
    """Remember which records of other tools ranked lists come from, so that grades can go back."""
    run_script(db, LIST_SOURCES)


@migrations()
def m022_how_often_queries_were_asked(db: Database) -> None:
    """Count how often queries were asked in the logs that they came from."""
    run_script(db, ASKED_QUERIES)


@migrations()
def m023_what_was_on_screen(db: Database) -> None:
    """Let a judgment say whether all of the text was on screen, and with the words marked."""
    run_script(db, READING)


def run_script(db: Database, script: str) -> None:
    """Run the statements of a script, each of which ends with a line.

    SQLite's own way would commit what is open, and sqlite-utils' takes a statement apart at every
    letter: two thirds of the time that a new golden set took.
    """
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if line.rstrip().endswith(";") and sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""
    if statement.strip():
        db.execute(statement)
