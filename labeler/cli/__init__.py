"""The command line: one module per command or group of close commands.

Streamlit is never imported here: ``serve`` and ``demo`` replace the process by the server's.
"""

from __future__ import annotations

import sys

import click

from labeler import __version__
from labeler.cli.agreement import agreement, disagreements
from labeler.cli.answers import answers
from labeler.cli.audit import audit, history
from labeler.cli.backup import backup, check, copy
from labeler.cli.candidates import candidates, take
from labeler.cli.compare import compare
from labeler.cli.export import export
from labeler.cli.gate import gate
from labeler.cli.groups import GOLDEN_SET, LabelerGroup, change, current_word, rename, restore
from labeler.cli.health import health
from labeler.cli.leaks import leakage
from labeler.cli.load import load
from labeler.cli.next_grades import next_grades
from labeler.cli.people import invite, people, revoke
from labeler.cli.recall import recall
from labeler.cli.report import report
from labeler.cli.runs_queries import drop, queries, retire, runs, split
from labeler.cli.score import explain_measures, score
from labeler.cli.server import demo, serve
from labeler.cli.settings import settings
from labeler.cli.transfer import transfer_grades
from labeler.cli.trend import trends
from labeler.cli.versions import diff, freeze, versions
from labeler.store.addresses import StoreLocation


@click.group(cls=LabelerGroup, context_settings={"token_normalize_func": current_word})
@click.option(
    "--db",
    type=GOLDEN_SET,
    default="golden.db",
    envvar="LABELER_DB",
    show_default=True,
    show_envvar=True,
    help="The golden set's file, or postgresql://USER@HOST/DATABASE. May also stand after the "
    "command.",
)
@click.version_option(__version__, prog_name="labeler", message="%(prog)s %(version)s")
@click.pass_context
def main(context: click.Context, db: StoreLocation) -> None:
    """Grade retrieved chunks into a golden set, and watch every retrieval measure move.

    'labeler demo' shows it on sample data. To use your own: 'labeler serve --new' opens a page
    that takes your files; or load them here, and 'labeler serve' opens the pages where people
    grade.
    """
    context.obj = db
    for stream in (sys.stdout, sys.stderr):
        # An id or a file name may hold what the terminal's encoding cannot show.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # always text


COMMANDS = [
    demo,
    serve,
    load,
    score,
    trends,
    recall,
    answers,
    compare,
    gate,
    next_grades,
    agreement,
    disagreements,
]
COMMANDS += [health]
COMMANDS += [freeze, versions, diff, split, leakage, transfer_grades, report, export]
COMMANDS += [backup, restore, check, copy]
COMMANDS += [invite, revoke, people, runs, queries, candidates, history, settings, audit]
COMMANDS += [take, change, rename, drop, retire, explain_measures]
for command in COMMANDS:
    main.add_command(command)
