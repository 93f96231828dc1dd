"""The shape of a golden set's file as SQL text, one migration after another; runs none of it.

The ``golden`` view defines the golden grade; `labeler.store.resolving` makes the same of a whole
log at once.
"""

import json
import secrets
import uuid

from labeler.store.chain import LOGS, first_seal, sealed
from labeler.store.schema.books import ADD_SEAL, ALL, AUDIT, LAST, SEALS, sealed_events
from labeler.store.schema.carries import carrying_log
from labeler.store.schema.chunkings import CHUNKINGS
from labeler.store.schema.evidence import EVIDENCE
from labeler.store.schema.first import TABLES, TRIGGERS, UNKNOWN_DATES, VIEWS
from labeler.store.schema.golden import GOLDEN
from labeler.store.schema.handing import CLAIMS, HANDING, LISTS_SEEN
from labeler.store.schema.leaks import LEAKS
from labeler.store.schema.light import Database, Migrations
from labeler.store.schema.online import ONLINE
from labeler.store.schema.people import INVITATIONS, SESSIONS
from labeler.store.schema.pool import UNGRADED
from labeler.store.schema.rankings import RANKINGS
from labeler.store.schema.remarks import REMARK_UNDO, REMARKS
from labeler.store.schema.running import run
from labeler.store.schema.tending import TENDING
from labeler.store.schema.versions import SPLIT, VERSIONS
from labeler.store.schema.words import SEARCH

__all__ = ["ADD_SEAL", "LAST", "migrations", "sealed_events"]

migrations = Migrations("labeler")


@migrations()
def m001_first_shape(db: Database) -> None:
    """Create every table, trigger and view of the first release."""
    run(db, TABLES)
    run(db, TRIGGERS)
    run(db, VIEWS)
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
    run(db, REMARKS)
    run(db, INVITATIONS)
    run(db, SEARCH)


@migrations()
def m003_runs_of_unknown_date(db: Database) -> None:
    """Let a run be without a date; those that have one keep it."""
    run(db, UNKNOWN_DATES)


@migrations()
def m004_remarks_undone_and_lists_seen(db: Database) -> None:
    """Let remarks be taken back as judgments are; remember who was shown a query's lists."""
    run(db, REMARK_UNDO)
    run(db, LISTS_SEEN)


@migrations()
def m005_sessions(db: Database) -> None:
    """Let a link open sessions instead of being one, and a login be an issuer's subject."""
    run(db, SESSIONS)


@migrations()
def m006_audit_and_seals(db: Database) -> None:
    """Add what is kept of who did what, and the seals of the logs: old events get theirs now."""
    run(db, AUDIT)
    run(db, SEALS)
    [(stored,)] = db.execute("SELECT value FROM settings WHERE key = 'golden_set'").fetchall()
    for log in LOGS:
        events = db.execute(sealed_events(log), ALL)
        seals = sealed(first_seal(json.loads(stored), log), events)
        db.conn.executemany(ADD_SEAL, ((log, *seal) for seal in seals))


@migrations()
def m007_pairs_signed_as_they_are_handed_out(db: Database) -> None:
    """Remember who was told what others gave, and who was there before pairs were signed."""
    run(db, HANDING)


@migrations()
def m008_rankings_of_long_lists(db: Database) -> None:
    """Show ranked lists as rows in good time, however long they are."""
    run(db, RANKINGS)


@migrations()
def m009_the_rule_of_golden_grades(db: Database) -> None:
    """Let the team's rule decide what several people's grades of a pair become."""
    run(db, GOLDEN)


@migrations()
def m010_frozen_versions_and_splits(db: Database) -> None:
    """Add frozen versions of the golden set, and let queries belong to dev, test or held-out."""
    run(db, SPLIT)
    run(db, VERSIONS)


@migrations()
def m011_queries_found_elsewhere(db: Database) -> None:
    """Remember which queries were found in other texts, where, and who said so."""
    run(db, LEAKS)


@migrations()
def m012_signals_and_answers(db: Database) -> None:
    """Add what users did, system by system, and what was answered by which run."""
    run(db, ONLINE)


@migrations()
def m013_candidates_and_the_history_of_queries(db: Database) -> None:
    """Add questions that may become queries, proposed grades, and how queries came to be."""
    run(db, TENDING)


@migrations()
def m014_pairs_without_a_grade(db: Database) -> None:
    """Remember which pairs a file put into the pool and nobody has graded."""
    run(db, UNGRADED)


@migrations()
def m015_evidence(db: Database) -> None:
    """Let a judgment say which passages of the text made the grade."""
    run(db, EVIDENCE)


@migrations()
def m016_chunkings_and_documents(db: Database) -> None:
    """Let chunks and runs belong to chunkings, and know where chunks stand in their documents."""
    run(db, CHUNKINGS)


@migrations()
def m017_grades_carried_over(db: Database) -> None:
    """Let the log say which grades follow from others, and count these below all others."""
    run(db, carrying_log(TRIGGERS))


@migrations()
def m018_claims_of_several_servers(db: Database) -> None:
    """Let the servers of one database know of each other whom they handed which queries."""
    run(db, CLAIMS)
