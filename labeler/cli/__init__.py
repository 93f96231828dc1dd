"""The command line: reads files, asks the store and the measures, prints; starts the server.

Streamlit is never imported here: ``serve`` and ``demo`` become its process.
"""

from __future__ import annotations

import sys

import click

from labeler import __version__
from labeler.cli.agreeing import agreement
from labeler.cli.answering import answers
from labeler.cli.audit import audit
from labeler.cli.candidates import candidates, take
from labeler.cli.carrying import carry
from labeler.cli.comparing import compare
from labeler.cli.copying import copy
from labeler.cli.deciding import next_grades
from labeler.cli.disagreeing import disagreements
from labeler.cli.explaining import explain_measures
from labeler.cli.exporting import export
from labeler.cli.freezing import diff, freeze, versions
from labeler.cli.gating import gate
from labeler.cli.group import GOLDEN_SET, LabelerGroup
from labeler.cli.health import health
from labeler.cli.histories import history
from labeler.cli.holdings import drop, queries, retire, runs
from labeler.cli.leaking import leakage
from labeler.cli.loading import load
from labeler.cli.people import invite, people, revoke
from labeler.cli.recalling import recall
from labeler.cli.reporting import report
from labeler.cli.safekeeping import backup, check
from labeler.cli.scoring import score
from labeler.cli.serving import demo, serve
from labeler.cli.settings import settings
from labeler.cli.splitting import split
from labeler.cli.trending import trends
from labeler.cli.verbs import change, rename, restore
from labeler.store.addresses import Place

__all__ = ["main"]


@click.group(cls=LabelerGroup)
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
def main(context: click.Context, db: Place) -> None:
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
COMMANDS += [freeze, versions, diff, split, leakage, carry, report, export]
COMMANDS += [backup, restore, check, copy]
COMMANDS += [invite, revoke, people, runs, queries, candidates, history, settings, audit]
COMMANDS += [take, change, rename, drop, retire, explain_measures]
for command in COMMANDS:
    main.add_command(command)
