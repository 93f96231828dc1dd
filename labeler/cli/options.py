"""Options that several commands share, and what they select: measures, runs, queries, weights.

Many keep their value in click's context, so that a command need not pass it on: `selection` and
the ``requested_*`` functions read it there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from difflib import get_close_matches
from functools import partial, reduce, wraps
from typing import TYPE_CHECKING, Any

import click

from labeler.cli.explain import explain_option
from labeler.cli.groups import (
    CHUNKING,
    CommandT,
    check_raw,
    format_option,
    raw_option,
    remembered,
    remembering,
)
from labeler.cli.output import FOR_PROGRAMS, shorten
from labeler.errors import BadInput, NotFound
from labeler.evaluation import (
    DEFAULT_MEASURES,
    NOT_WEIGHTED,
    PRESETS,
    Conventions,
    Note,
    Scoreboard,
    Undefined,
)
from labeler.measures import MEASURES, Measure
from labeler.model import (
    EVERYTHING,
    LEAKED_CHOICES,
    SPLITS,
    Collection,
    Selection,
    Settings,
    Traffic,
    escape_controls,
    traffic_of_facet,
)

if TYPE_CHECKING:
    from labeler.store import Store

COUNTING_HEADING = "Counting options"


class CountingOption(click.Option):
    """An option for how values are computed, with the same help in every command."""


class CountingCommand(click.Command):
    """Shows its counting options in a block of their own, below the others."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, then the counting options."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        for heading, is_shared in (("Options", False), (COUNTING_HEADING, True)):
            some = [each for each in options if isinstance(each, CountingOption) == is_shared]
            records = [*filter(None, (each.get_help_record(ctx) for each in some))]
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


counting_option = partial(click.option, cls=CountingOption)


def golden_option(command: CommandT) -> CommandT:
    """Add ``--golden``, which names a frozen version for `golden_collection`."""
    return counting_option(
        "--golden",
        metavar="NAME|HASH",
        help="Grades of this frozen version ('labeler freeze').  [default: the live ones]",
    )(command)


def golden_collection(store: Store, golden: str | None) -> tuple[Collection, Settings]:
    """Return the data that measures are computed from, with live grades or a frozen version's."""
    if golden is None:
        return store.collection.read(), store.settings.read()
    from labeler.services.import_export import snapshots  # here: it imports every format of files

    return snapshots.collection_of(store, golden)


SELECTION_KEY = "labeler.selection"


def _remember_selection(context: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is not None:
        chosen = context.meta.get(SELECTION_KEY, EVERYTHING)
        changed = {"chunkings": (value,)} if option.name == "chunking" else {option.name: value}
        context.meta[SELECTION_KEY] = replace(chosen, **changed)


SELECTION_OPTIONS = (
    counting_option(
        "--split",
        type=click.Choice(SPLITS),
        expose_value=False,
        callback=_remember_selection,
        help="Only queries of this split ('labeler split').",
    ),
    counting_option(
        "--leaked",
        type=click.Choice(LEAKED_CHOICES),
        expose_value=False,
        callback=_remember_selection,
        help="Queries marked as leaked ('labeler leakage'): with them, without, or only them.  "
        "[default: with]",
    ),
)


def make_chunking_option(says: str) -> Callable[[CommandT], CommandT]:
    """Return the option that selects a chunking; ``says`` is what it does in this command."""
    return counting_option(
        "--chunking",
        type=CHUNKING,
        metavar="NAME",
        expose_value=False,
        callback=_remember_selection,
        help=f"{says}; 'default' is the one without a name.",
    )


chunking_option = make_chunking_option("Only runs of this chunking")


def selection() -> Selection:
    """Return the queries that the command's options select, all without such options."""
    found: Selection = remembered(SELECTION_KEY, EVERYTHING)
    return found


UNDEFINED_KEY = "labeler.undefined"
UNDEFINED_VALUES: Mapping[str, Undefined] = {"nan": "nan", "0": 0, "1": 1}


undefined_option = counting_option(
    "--undefined",
    type=click.Choice(list(UNDEFINED_VALUES)),
    expose_value=False,
    callback=remembering(UNDEFINED_KEY, UNDEFINED_VALUES),
    help="Value of a query with nothing relevant; nan leaves it out.  [default: as the preset "
    "says]",
)


def requested_undefined() -> Undefined | None:
    """Return the value of the option for undefined values, None if the command has none."""
    found: Undefined | None = remembered(UNDEFINED_KEY)
    return found


WEIGHTED_KEY = "labeler.weighted"
WEIGHTED_HELP = "Weight the buckets of this facet by how often they are in the loaded logs."


def weighted_option(command: CommandT) -> CommandT:
    """Add ``--weighted``, which names a facet; `requested_traffic` returns its weights."""
    return counting_option(
        "--weighted",
        metavar="FACET",
        expose_value=False,
        callback=remembering(WEIGHTED_KEY),
        help=WEIGHTED_HELP,
    )(command)


def requested_traffic(store: Store, **others: object) -> Traffic | None:
    """Return the traffic to weight means by, None for plain means.

    Raises a usage error if one of the ``others`` is given: options that do not go with weights.
    """
    facet = remembered(WEIGHTED_KEY)
    if facet is None:
        return None
    for name, given in others.items():
        if given:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"--weighted is of means, and does not go with {option}")
    return traffic_of_facet(facet, store.candidates.batches())


def with_weights(board: Scoreboard, traffic: Traffic | None) -> tuple[Scoreboard, list[Note]]:
    """Return a scoreboard with the means asked for, and a note on what is not weighted."""
    if traffic is None:
        return board, []
    return board.weighted_by(traffic), [Note("not weighted", NOT_WEIGHTED)]


UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
SHORTEST_DURATION, LONGEST_DURATION = timedelta(seconds=10), timedelta(days=365)


def parse_duration(_: click.Context, option: click.Parameter, text: str | None) -> timedelta | None:
    """Return the duration given by a number and a unit: ``90s``, ``15m``, ``2h``, ``1d``."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,7})([smhd])", text.strip(), re.ASCII)
    if found is None:
        raise click.BadParameter(f"{text!r} is no length of time; write it like 15m, 2h or 1d")
    every = timedelta(seconds=int(found[1]) * UNIT_SECONDS[found[2]])
    if not SHORTEST_DURATION <= every <= LONGEST_DURATION:
        raise click.BadParameter(f"{text!r}: from 10s to 365d")
    return every


FORMATS = ("table", "csv", "json", "md")
OptionDecorator = Callable[[CommandT], CommandT]
preset_option = counting_option(
    "--preset",
    type=click.Choice(PRESETS),
    default="graded",
    show_default=True,
    help="Conventions of the measures: for graded relevance, or those of trec_eval.",
)
SETTING = "  [default: the golden set's setting]"


def rel_option(default: int | None = None, more: str = SETTING) -> OptionDecorator[CommandT]:
    """Add the option for the least relevant grade; ``more`` is help on its default."""
    return counting_option(
        "--rel",
        type=click.IntRange(1, 3),
        metavar="GRADE",
        default=default,
        show_default=default is not None,
        help=f"Lowest grade that counts as relevant.{more}",
    )


def prompt_k_option(default: int | None = None, more: str = SETTING) -> OptionDecorator[CommandT]:
    """Add the option for how many chunks go into the prompt; ``more`` as in `rel_option`."""
    return counting_option(
        "--prompt-k",
        type=click.IntRange(min=1),
        metavar="K",
        default=default,
        show_default=default is not None,
        help=f"Chunks in the prompt: the k of R@prompt, for every task.{more}",
    )


CONVENTION_OPTIONS: tuple[OptionDecorator[Any], ...] = (
    preset_option,
    rel_option(),
    prompt_k_option(),
    undefined_option,
    *SELECTION_OPTIONS,
    chunking_option,
)
FORM_OPTIONS = (
    format_option(
        FORMATS, "table and md have four digits for people; csv and json have all digits."
    ),
    raw_option,
    explain_option,
)


def measures_option(usual: Sequence[str], more: str = "") -> OptionDecorator[CommandT]:
    """Add the option for measures, by default the ``usual`` ones; ``more`` is added to the help."""
    return click.option(
        "--measures",
        "texts",
        multiple=True,
        default=usual,
        metavar="NAMES",
        help=f"Measures, set apart by spaces; may be repeated. {more}'labeler measures' explains "
        f"them.  [default: {' '.join(usual)}]",
    )


def with_options(*options: OptionDecorator[Any]) -> Callable[[CommandT], CommandT]:
    """Return a decorator that adds options to a command, in this order."""
    return lambda command: reduce(lambda inner, option: option(inner), options[::-1], command)


PER_VALUE_OPTIONS = (
    click.option("--by", "facet", metavar="FACET", help="One value for each bucket of this facet."),
    click.option("--per-query", is_flag=True, help="One value for each query."),
)


@dataclass(frozen=True)
class ValueOptions:
    """Which values are asked for, how they are computed, and the output format.

    If a command has no option for a field, the field has its default.
    """

    texts: tuple[str, ...] = ()
    preset: str = PRESETS[0]
    rel: int | None = None
    prompt_k: int | None = None
    facet: str | None = None
    per_query: bool = False
    kind: str = "table"
    raw: bool = False
    golden: str | None = None

    @property
    def for_programs(self) -> bool:
        """Whether every digit is wanted, in rows."""
        return self.kind in FOR_PROGRAMS

    def check(self) -> None:
        """Raise a usage error for options that do not go together."""
        if self.facet is not None and self.per_query:
            raise click.UsageError("--by and --per-query cannot be asked for together")
        check_raw(self.kind, raw=self.raw)

    def read(self, store: Store) -> tuple[Collection, Conventions, Settings]:
        """Return the data that measures are computed from, the conventions, and the settings.

        Data and settings are live, or those of a frozen version.
        """
        collection, settings = golden_collection(store, self.golden)
        conventions = conventions_of(settings, self.preset, self.rel, self.prompt_k)
        return collection, conventions.on(collection.golden), settings

    def measures(
        self, conventions: Conventions, usual: Sequence[str] = DEFAULT_MEASURES
    ) -> tuple[Measure, ...]:
        """Return the measures named, by default the ``usual`` ones."""
        return parse_measures(conventions, usual if self.texts == DEFAULT_MEASURES else self.texts)


def with_value_options(
    *options: OptionDecorator[Any],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds options, and passes their values as one `ValueOptions`."""
    shared = [each.name for each in fields(ValueOptions)]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(*args: Any, **given: Any) -> None:
            asked = ValueOptions(**{name: given.pop(name) for name in shared if name in given})
            command(*args, options=asked, **given)

        return with_options(*options)(call)

    return decorate


def conventions_of(
    settings: Settings, preset: str, rel: int | None, prompt_k: int | None
) -> Conventions:
    """Return a preset's conventions; the settings supply what is not given."""
    return Conventions.of(
        preset,
        rel=settings.rel if rel is None else rel,
        prompt_k=settings.prompt_k if prompt_k is None else prompt_k,
        prompt_k_by_task=settings.prompt_k_by_task if prompt_k is None else {},
        pool_depth=settings.pool_depth,
        golden_rule=settings.golden_rule,
        transferred=settings.transferred,
        undefined=requested_undefined(),
        selected=selection(),
    )


def parse_measures(conventions: Conventions, texts: Sequence[str]) -> tuple[Measure, ...]:
    """Parse the measures asked for; raise if there are none."""
    measures = conventions.measures(texts)
    if not measures:
        raise BadInput(f"no measure is named; there are {', '.join(MEASURES)}")
    return measures


def select_runs(collection: Collection, names: Sequence[str]) -> Collection:
    """Return the collection with only these runs, in the order named; all without names."""
    known = {run.name: run for run in collection.runs}
    if not collection.query_ids:
        raise NotFound("there are no queries yet; add some with 'labeler load queries FILE'")
    if not known:
        raise NotFound("there are no runs yet; add one with 'labeler load run FILE'")
    for name in names:
        if name not in known:
            raise NotFound(f"no run is called {name!r}; {describe_known(name, [*known])}")
    wanted = dict.fromkeys(names or known)
    return replace(collection, runs=tuple(known[name] for name in wanted))


MOST_NAMED = 10  # known names listed in an error message
LONGEST_NAME = 80


def describe_known(name: str, known: Sequence[str]) -> str:
    """Return the name that may be meant, or the known names, at most the first few.

    >>> describe_known("hybird", ["bm25", "hybrid"]), describe_known("x", ["bm25", "hybrid"])
    ("did you mean 'hybrid'?", 'there are: bm25, hybrid')
    """
    if near := get_close_matches(name, known, n=2):
        return f"did you mean {' or '.join(repr(each) for each in near)}?"
    names = [shorten(escape_controls(each), LONGEST_NAME) for each in known]
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"there are: {', '.join(names[:MOST_NAMED])}{more}" if names else "there is none"


def check_shared_queries(collection: Collection) -> None:
    """Raise `BadInput` if no run shares a query with the golden set."""
    if not any(run.lists for run in collection.runs):
        names = ", ".join(repr(run.name) for run in collection.runs)
        raise BadInput(
            f"no query of the golden set is in {names}; are the query ids the same in the golden "
            "set and in the run?"
        )


def check_facet_name(facet: str | None, facets: Mapping[str, object]) -> None:
    """Raise `NotFound` for an unknown facet."""
    if facet is not None and facet not in facets:
        raise NotFound(f"no facet is called {facet!r}; {describe_known(facet, [*facets])}")


def check_facet(board: Scoreboard, facet: str | None) -> None:
    """Raise `NotFound` for a facet in which none of the scored queries has a bucket."""
    if facet is not None and board.facets.get(facet) == ():
        raise NotFound(f"none of the queries that are chosen has a bucket of {facet!r}")
