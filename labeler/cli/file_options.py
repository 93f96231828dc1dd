"""Options for reading a file of grades or of ranked lists."""

from __future__ import annotations

from collections.abc import Mapping

import click

from labeler.cli.groups import CommandT
from labeler.errors import BadInput
from labeler.formats import (
    map_named,
    parse_grade_cuts,
    parse_grade_map,
    parse_limits,
    usual_limits,
)

limit_option = click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=SIZE",
    default=(),
    callback=lambda _context, _option, given: parse_limits(given),
    help="Change a size limit; may be repeated. An error names the limit that was exceeded.  "
    f"[default: {usual_limits()}]",
)


map_option = click.option(
    "--map",
    "field_map",
    metavar="MAP",
    callback=lambda _context, _option, given: None if given is None else map_named(given),
    help="Where the fields of questions with their results are: 'query=input.value "
    "results=output.documents id=metadata.id text=page_content score=score', or the name "
    "of a tool.",
)


def grade_options(command: CommandT) -> CommandT:
    """Add the options for grades other than 0, 1, 2 and 3."""
    negative = click.option(
        "--negative-as-zero", is_flag=True, help="Read negative grades as 0 instead of refusing."
    )
    ungraded = click.option(
        "--negative-as-ungraded",
        is_flag=True,
        help="Read negative grades as trec_eval does: the chunk is in the pool, but ungraded.",
    )
    mapped = click.option(
        "--grade-map",
        metavar="OLD=NEW,...",
        callback=_grade_map,
        help="Read other numbers as grades, such as 0.3=1,1.0=3. If one is a fraction, name all.",
    )
    cuts = click.option(
        "--grade-cuts",
        metavar="CUT,...",
        expose_value=False,
        callback=_grade_cuts,
        help="Make grades of scores on a continuous scale: the lowest score for 1, for 2 and for "
        "3.",
    )
    return negative(ungraded(mapped(cuts(command))))


def _grade_map(
    context: click.Context, _option: click.Parameter, text: str | None
) -> Mapping[float, int] | None:
    """Return the map given by ``--grade-map`` or ``--grade-cuts``, in one form."""
    cuts: Mapping[float, int] | None = context.params.get("grade_map")
    if text is None:
        return cuts
    if cuts is not None:
        raise BadInput("give --grade-map or --grade-cuts, not both")
    return parse_grade_map(text)


def _grade_cuts(context: click.Context, _option: click.Parameter, text: str | None) -> None:
    if text is not None:
        if context.params.get("grade_map") is not None:
            raise BadInput("give --grade-map or --grade-cuts, not both")
        context.params["grade_map"] = parse_grade_cuts(text)


def list_options(command: CommandT) -> CommandT:
    """Add the options for a list's order, duplicate chunks, and the query itself as a result."""
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
        help="What to do if a chunk is twice in a list: refuse the file, or keep the better rank.",
    )
    itself = click.option(
        "--leave-out-self",
        is_flag=True,
        help="Leave out a chunk that has the query's own id: for queries taken from the corpus.",
    )
    return order(repeated(itself(command)))
