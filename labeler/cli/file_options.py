"""Options that say how a file of grades or of ranked lists is read."""

from __future__ import annotations

import click

from labeler.cli.groups import CommandT
from labeler.formats import parse_grade_map, parse_limits, usual_limits

limit_option = click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=SIZE",
    default=(),
    callback=lambda _context, _option, given: parse_limits(given),
    help="Take in more, or less, than usual; repeat it for more. Without it: "
    f"{usual_limits()}. A refusal names the one it is about.",
)


def grade_options(command: CommandT) -> CommandT:
    """Add the options for grades other than 0, 1, 2 and 3."""
    negative = click.option(
        "--negative-as-zero", is_flag=True, help="Read negative grades as 0 instead of refusing."
    )
    ungraded = click.option(
        "--negative-as-ungraded",
        is_flag=True,
        help="Read negative grades as trec_eval does: in the pool, but nobody graded the chunk.",
    )
    mapped = click.option(
        "--grade-map",
        metavar="OLD=NEW,...",
        callback=lambda _context, _option, text: None if text is None else parse_grade_map(text),
        help="Read other numbers as grades: 0.3=1,1.0=3. With a fraction in it it names them all.",
    )
    return negative(ungraded(mapped(command)))


def list_options(command: CommandT) -> CommandT:
    """Add the options for the order of a list, chunks that occur twice, and the query itself."""
    order = click.option(
        "--order",
        type=click.Choice(["score", "rank", "file"]),
        default="score",
        show_default=True,
        help="What decides the order inside a list: scores, ranks, or the order of the file.",
    )
    repeated = click.option(
        "--on-duplicate",
        type=click.Choice(["refuse", "first"]),
        default="refuse",
        show_default=True,
        help="A chunk that stands twice in a list: refuse the file, or keep the better placed.",
    )
    itself = click.option(
        "--leave-out-self",
        is_flag=True,
        help="Leave out the chunk with the query's own id, where queries are from the corpus.",
    )
    return order(repeated(itself(command)))
