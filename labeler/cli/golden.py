"""``--golden``: by which golden set a command counts, the live one or a frozen version."""

from __future__ import annotations

import click

from labeler.cli.group import CommandT

HELP = (
    "Count by the golden set as it was frozen under this name, or with this hash.  "
    "[default: the live one]"
)


def golden_option(command: CommandT) -> CommandT:
    """Let the user name a frozen version; `labeler.services.import_export.freezing.collection_of`
    takes what is named.
    """
    return click.option("--golden", metavar="NAME|HASH", help=HELP)(command)
