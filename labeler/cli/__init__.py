"""The command line: one module per command or group of close commands.

A command is imported when it is called: most need a few modules, and all need half a second.
Streamlit is never imported here: ``serve`` and ``demo`` replace the process by the server's.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from labeler import __version__
from labeler.cli.groups import GOLDEN_SET, LabelerGroup, LazyCommands, current_word

if TYPE_CHECKING:
    from labeler.store.addresses import StoreLocation

# The module and the name in it of each command, in the order a newcomer needs them.
COMMANDS = {
    "demo": "server.demo",
    "serve": "server.serve",
    "load": "load.load",
    "undo-load": "undo_load.undo_load",
    "evaluate": "evaluate.evaluate",
    "score": "score.score",
    "trend": "trend.trends",
    "recall": "recall.recall",
    "answers": "answers.answers",
    "compare": "compare.compare",
    "gate": "gate.gate",
    "next": "next_grades.next_grades",
    "agreement": "agreement.agreement",
    "disagreements": "agreement.disagreements",
    "health": "health.health",
    "freeze": "versions.freeze",
    "versions": "versions.versions",
    "diff": "versions.diff",
    "split": "runs_queries.split",
    "leakage": "leaks.leakage",
    "transfer": "transfer.transfer_grades",
    "report": "report.report",
    "export": "export.export",
    "backup": "backup.backup",
    "restore": "groups.restore",
    "check": "backup.check",
    "copy": "backup.copy",
    "invite": "people.invite",
    "revoke": "people.revoke",
    "people": "people.people",
    "runs": "runs_queries.runs",
    "queries": "runs_queries.queries",
    "candidates": "candidates.candidates",
    "history": "audit.history",
    "settings": "settings.settings",
    "audit": "audit.audit",
    "take": "candidates.take",
    "change": "groups.change",
    "rename": "groups.rename",
    "drop": "runs_queries.drop",
    "retire": "runs_queries.retire",
    "measures": "score.explain_measures",
}


@click.group(
    cls=LabelerGroup,
    commands=LazyCommands(COMMANDS),
    context_settings={"token_normalize_func": current_word},
)
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
