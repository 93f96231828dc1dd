"""The command line: one module per command or group of close commands.

A command is imported when it is called: most need few modules, and importing all of them takes
half a second. The table holds each command's help line, so that ``--help`` imports none.
Streamlit is never imported here: ``serve`` and ``demo`` replace the process by the server's.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from labeler import __version__
from labeler.cli.groups import GOLDEN_SET, current_word
from labeler.cli.lazy_commands import CommandPlace, GroupedHelp

if TYPE_CHECKING:
    from labeler.store.addresses import StoreLocation

# In the order a newcomer needs them. A test checks that each help line is the command's own.
COMMANDS = {
    "Start": {
        "demo": CommandPlace("server.demo", "Open the pages on sample data, in a file of its own."),
        "serve": CommandPlace("server.serve", "Open the pages in a browser, until Ctrl-C."),
        "open": CommandPlace(
            "open.open_dumps", "Compare what two retrievers found, without a grade."
        ),
    },
    "Load": {
        "load": CommandPlace(
            "load.load", "Add files of any kind: 'labeler load FILE...'.", ("candidates",)
        ),
        "undo-load": CommandPlace("undo_load.undo_load", "Undo a load of golden grades."),
    },
    "Numbers": {
        "evaluate": CommandPlace(
            "evaluate.evaluate", "Measure run files by a qrels file; no golden set is needed."
        ),
        "score": CommandPlace("score.score", "Print the measures of all runs, or of those named."),
        "compare": CommandPlace(
            "compare.compare", "Say whether run B is better than A, where, and how surely."
        ),
        "trend": CommandPlace(
            "trend.trends", "Print how systems changed over time, and what fell."
        ),
        "recall": CommandPlace(
            "recall.recall", "Say how much each run's recall owes to its own pool."
        ),
        "answers": CommandPlace(
            "answers.answers", "Compare answers with what was retrieved for them."
        ),
        "next": CommandPlace(
            "next_grades.next_grades", "List the pairs whose grades decide between runs A and B."
        ),
        "measures": CommandPlace(
            "score.explain_measures", "Say what each measure means and what it hides."
        ),
    },
    "Guard": {
        "gate": CommandPlace("gate.gate", "Stop a build whose run is not good enough."),
        "report": CommandPlace("report.report", "Write one HTML file about run A, or B against A."),
        "leakage": CommandPlace(
            "leaks.leakage", "Find queries and reference answers in other files."
        ),
    },
    "Golden set": {
        "queries": CommandPlace(
            "runs_queries.queries",
            "List the queries, promote candidates, retire, restore.",
            ("candidates",),
        ),
        "candidates": CommandPlace(
            "candidates.candidates", "List questions that may become queries."
        ),
        "runs": CommandPlace("runs_queries.runs", "List the runs: their systems, dates and sizes."),
        "export": CommandPlace("export.export", "Write the golden set, or a run, to a file."),
        "freeze": CommandPlace("versions.freeze", "Freeze the golden set as it is now under NAME."),
        "versions": CommandPlace(
            "versions.versions", "List the frozen versions, the oldest first."
        ),
        "diff": CommandPlace("versions.diff", "List what changed between two golden versions."),
        "split": CommandPlace(
            "runs_queries.split", "Put queries into dev, test and held-out at random."
        ),
        "transfer": CommandPlace(
            "transfer.transfer_grades", "Transfer grades to another chunking, where they follow."
        ),
        "health": CommandPlace("health.health", "Check what the golden set is good for."),
        "history": CommandPlace(
            "audit.history", "Print where a query came from and what was changed."
        ),
    },
    "People": {
        "invite": CommandPlace(
            "people.invite", "Invite a person by a personal link, or by a login."
        ),
        "people": CommandPlace(
            "people.people", "List everyone who grades or may sign in, and how."
        ),
        "revoke": CommandPlace(
            "people.revoke", "End a person's link and login; their judgments stay."
        ),
        "agreement": CommandPlace(
            "agreement.agreement", "Say how well graders agree, and who drifts."
        ),
        "disagreements": CommandPlace(
            "agreement.disagreements", "List the chunks that people grade differently."
        ),
    },
    "Keep": {
        "backup": CommandPlace("backup.backup", "Copy the golden set, even while people grade."),
        "restore": CommandPlace(
            "groups.restore",
            "Restore a backup, or candidates that were set aside.",
            ("backup", "runs_queries", "candidates"),
        ),
        "check": CommandPlace("backup.check", "Check that the golden set's file is intact."),
        "copy": CommandPlace(
            "backup.copy", "Copy a golden set into a new file or an empty database."
        ),
        "upgrade": CommandPlace(
            "upgrade.upgrade", "Make a golden set of this version from an older file."
        ),
        "audit": CommandPlace(
            "audit.audit", "List who did what: sign-ins, loads, exports and more."
        ),
        "settings": CommandPlace("settings.settings", "List the settings, or print one in full."),
        "change": CommandPlace(
            "groups.change",
            "Change a setting, a role, or a run's system and date.",
            ("settings", "people", "runs_queries"),
        ),
        "rename": CommandPlace(
            "groups.rename", "Give a run or a grader another name.", ("people", "runs_queries")
        ),
        "drop": CommandPlace(
            "groups.drop",
            "Remove runs, answers, signals or candidates.",
            ("runs_queries", "candidates"),
        ),
    },
}
# Names of earlier versions: they still work and are not listed.
OLDER_COMMANDS = {
    "take": CommandPlace(
        "candidates.take", "Make a query of a candidate: 'labeler queries promote'."
    ),
    "retire": CommandPlace(
        "runs_queries.retire", "Take a query out of use: 'labeler queries retire'."
    ),
}


@click.group(
    cls=GroupedHelp,
    headings=COMMANDS,
    older=OLDER_COMMANDS,
    context_settings={"token_normalize_func": current_word},
)
@click.option(
    "--db",
    type=GOLDEN_SET,
    default="golden.db",
    envvar="LABELER_DB",
    show_default=True,
    show_envvar=True,
    help="The golden set's file, or postgresql://USER@HOST/DATABASE. May also follow the command.",
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
