"""Click groups, the ``--db`` option and error messages that all commands share.

An error of ours is printed as one sentence and ends with exit code 1; a traceback is a bug.
The groups ``change``, ``rename``, ``drop`` and ``restore`` get their commands from several modules.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from labeler.errors import BadInput, LabelerError

if TYPE_CHECKING:
    from labeler.store.addresses import StoreLocation

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

# The code that reads a file reports that it cannot, in our words and with exit code 1.
FILE = click.Path(path_type=Path, readable=False)


class GoldenSetParam(click.ParamType["StoreLocation"]):
    """A golden set's file, or the address of its database."""

    name = "path"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> StoreLocation:
        """Return the location; refuse a password on the command line, where others can read it."""
        if isinstance(value, Path) or "://" not in str(value):
            return Path(value)
        from labeler.store.addresses import Address, parse_location  # here: it imports the store

        place = parse_location(value)
        source = ctx.get_parameter_source(param.name) if ctx and param and param.name else None
        by_hand = source == click.core.ParameterSource.COMMANDLINE
        if isinstance(place, Address) and place.has_password and by_hand:
            raise BadInput(
                f"{place}: every user of this machine can read what is on a command line; leave "
                "the password out of it and put it into LABELER_DB with the address, into "
                "PGPASSWORD or into ~/.pgpass"
            )
        return place


GOLDEN_SET = GoldenSetParam()


class ChunkingParam(click.ParamType[str]):
    """The name of a chunking; ``default``, or an empty text, is the one without a name."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as the golden set stores it."""
        from labeler.model import chunking_from_label  # here: it imports numpy

        return chunking_from_label(value)


CHUNKING = ChunkingParam()
FILE_OR_OUTPUT = click.Path(path_type=Path, readable=False, allow_dash=True)
INTERRUPTED = 130  # what a shell reports for a program stopped with Ctrl-C


# Names of commands, options and settings in earlier versions, which scripts may still use, and in
# other tools.
OLD_WORDS = {
    "anew": "redraw",
    "budget": "prompt-k",
    "budget-by-task": "prompt-k-by-task",
    "carried": "transferred",
    "carry": "transfer",
    "holes-of": "unjudged-of",
    "metrics": "measures",
}


# Words from other tools and habits, by the group they are typed in, with our command for each.
ALIASES: Mapping[str, Mapping[str, str]] = {
    "main": {
        "add": "load",
        "delete": "drop",
        "eval": "evaluate",
        "import": "load",
        "list": "runs",
        "ls": "runs",
        "remove": "drop",
        "rm": "drop",
        "set": "change",
    },
    "load": {
        "corpus": "chunks",
        "grades": "golden",
        "judgements": "golden",
        "judgments": "golden",
        "passages": "chunks",
        "qrels": "golden",
        "query": "queries",
        "questions": "queries",
        "results": "run",
        "runs": "run",
        "topics": "queries",
    },
    "drop": {"answer": "answers", "candidate": "candidates", "runs": "run", "signal": "signals"},
}
_PAGES = "'labeler serve' opens the pages"
_TO_LOAD = "Did you mean 'labeler load {} FILE'?"
_OF_PERSON = "'labeler people' lists them, 'labeler invite NAME' adds one"
# Words that no single command of a group stands for, and what to type instead.
HINTS: Mapping[str, Mapping[str, str]] = {
    "main": {
        **dict.fromkeys(("app", "dashboard", "start", "ui", "web"), _PAGES),
        **dict.fromkeys(("grade", "judge", "label", "review"), f"{_PAGES}, where people grade"),
        **dict.fromkeys(("golden", "grades", "judgments", "qrels"), _TO_LOAD.format("golden")),
        **dict.fromkeys(("chunks", "corpus", "passages"), _TO_LOAD.format("chunks")),
        **dict.fromkeys(("documents", "docs"), _TO_LOAD.format("documents")),
        **dict.fromkeys(("questions", "topics"), _TO_LOAD.format("queries")),
        **dict.fromkeys(("run", "results"), f"{_TO_LOAD.format('run')} 'labeler runs' lists runs"),
        **dict.fromkeys(("grader", "graders", "user", "users"), _OF_PERSON),
        **dict.fromkeys(("login", "token"), "'labeler invite NAME' makes a link to sign in with"),
        **dict.fromkeys(
            ("map", "mrr", "ndcg", "precision"),
            "Did you mean 'labeler score --measures NAME'? 'labeler measures' has the names",
        ),
        **dict.fromkeys(("leaderboard", "rank", "ranking"), "Did you mean 'labeler score'?"),
        **dict.fromkeys(
            ("bucket", "buckets", "facets", "slices"), "Did you mean 'labeler score --by FACET'?"
        ),
        **dict.fromkeys(
            ("failures", "worst"),
            f"'labeler compare A B --per-query' has each query; {_PAGES}, where Queries says why "
            "they fail",
        ),
        **dict.fromkeys(("pvalue", "significance"), "Did you mean 'labeler compare A B'?"),
        **dict.fromkeys(("ci", "test"), "'labeler gate FILE' judges a run for a build"),
        **dict.fromkeys(("config", "preferences"), "Did you mean 'labeler settings'?"),
        **dict.fromkeys(("dump", "save"), "Did you mean 'labeler export FILE'?"),
        **dict.fromkeys(("repair", "salvage"), "Did you mean 'labeler check'?"),
        **dict.fromkeys(
            ("info", "show", "stats", "status"),
            "'labeler health' says what the golden set holds, 'labeler score' how good the runs "
            "are",
        ),
        **dict.fromkeys(
            ("init", "new"),
            "'labeler load FILE...' makes a golden set of files, 'labeler serve --new' an empty "
            "one",
        ),
        "help": "'labeler --help' lists them, and each takes --help",
        "version": "'labeler --version' says which this is; 'labeler versions' lists the frozen "
        "versions of the golden set",
    },
    "drop": {
        **dict.fromkeys(
            ("golden", "grades", "load", "qrels"), "Did you mean 'labeler undo-load NUMBER'?"
        ),
        **dict.fromkeys(("queries", "query"), "Did you mean 'labeler queries retire ID'?"),
        **dict.fromkeys(
            ("grader", "person", "user"), "Did you mean 'labeler revoke NAME'? Judgments stay"
        ),
    },
    "queries": {
        **dict.fromkeys(
            ("delete", "drop", "remove", "rm"), "Did you mean 'labeler queries retire ID'?"
        ),
        **dict.fromkeys(("get", "show", "view"), "Did you mean 'labeler history ID'?"),
        **dict.fromkeys(("add", "import", "load"), _TO_LOAD.format("queries")),
    },
}
NEARLY = 0.75  # how similar a word must be to be suggested, from 0 to 1


def current_word(word: str) -> str:
    """Return today's name of a command, an option or a setting."""
    return OLD_WORDS.get(word, word)


class LabelerGroup(click.Group):
    """Lists its commands in the order they were added and reports failures in one sentence.

    Exit codes: 1 for bad input, 2 for a wrong command line, 130 after Ctrl-C.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order a newcomer needs them."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names, also by another tool's word."""
        word, *rest = args
        word = word if word in self.commands else ALIASES.get(self.name or "", {}).get(word, word)
        if current_word(word) not in self.commands and not word.startswith("-"):
            self.refuse_word(ctx, word)
        return super().resolve_command(ctx, [word, *rest])

    def refuse_word(self, ctx: click.Context, word: str) -> NoReturn:
        """Raise a usage error for an unknown command, with what may be meant."""
        said, group = f"No such command {word!r}", self.name or ""
        aliases, hints = ALIASES.get(group, {}), HINTS.get(group, {})
        near = get_close_matches(word, [*self.commands, *aliases, *hints], n=2, cutoff=NEARLY)
        near = near or [name for name in self.commands if name.startswith(word)]
        if near and (hint := hints.get(near[0])):
            ctx.fail(f"{said}{'. ' if hint.startswith('Did') else '; '}{hint}")
        near = list(dict.fromkeys(aliases.get(name, name) for name in near if name not in hints))
        if near:
            meant = " or ".join(f"'{ctx.command_path} {name}'" for name in near)
            ctx.fail(f"{said}. Did you mean {meant}?")
        listed = "" if self.name == "main" else f"; there are {', '.join(self.commands)}"
        ctx.fail(f"{said}{listed}")

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the command line; ``--help`` is printed here."""
        with report_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; bad input and system errors leave no traceback."""
        with report_errors():
            return super().invoke(ctx)


@contextmanager
def report_errors(exit_code: int = 1) -> Iterator[None]:
    """Report an error in one sentence, and exit with this code."""
    try:
        yield
    except click.NoSuchOption as error:
        raise _with_form(error) from None
    except LabelerError as error:
        raise _failure(_escape(str(error), keep="\n"), exit_code) from error
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader closed the pipe
            raise
        raise _failure(_describe_os_error(error), exit_code) from error
    except MemoryError:
        said = "there is not enough memory for this; nothing was changed"
        raise _failure(said, exit_code) from None
    except KeyboardInterrupt:
        click.echo(err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


def _with_form(error: click.NoSuchOption) -> click.UsageError:
    """Return the error; for ``--csv`` and the like it suggests ``--format csv``."""
    form = error.option_name.lstrip("-")
    for option in error.ctx.command.params if error.ctx is not None else ():
        forms = getattr(option.type, "choices", ()) if "--format" in option.opts else ()
        meant = "jsonl" if form == "json" and form not in forms else form
        if meant in forms:
            said = f"No such option '--{form}'. Did you mean '--format {meant}'?"
            return click.UsageError(said, error.ctx)
    return error


def _failure(said: str, exit_code: int) -> click.ClickException:
    failure = click.ClickException(said)
    failure.exit_code = exit_code  # type: ignore[misc]  # click reads it from the instance
    return failure


def _describe_os_error(error: OSError) -> str:
    """Describe an error of the system; one without a file's name is about the output."""
    if error.filename is None:
        _discard_output()
        return f"the output cannot be written: {error.strerror or error}"
    return _escape(f"{error.filename}: {error.strerror}")


def _discard_output() -> None:
    """Discard unwritten output, or Python tries to write it again at exit and complains."""
    try:
        output = sys.stdout.fileno()
    except (OSError, ValueError):  # not a real stream
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, output)
    os.close(nowhere)


def say(line: str) -> None:
    """Print one line, with control characters and line breaks escaped."""
    click.echo(_escape(line))


def _escape(text: str, keep: str = "") -> str:
    from labeler.model import escape_controls  # here: it imports numpy

    return escape_controls(text, keep=keep)


def remembering(key: str, values: Mapping[Any, Any] | None = None) -> Callable[..., None]:
    """Return a callback that keeps an option's value, if it has one, for `remembered`.

    ``values`` are what its texts stand for.
    """

    def remember(context: click.Context, _: click.Parameter, value: Any) -> None:
        if value is not None:
            context.meta[key] = value if values is None else values[value]

    return remember


def remembered(key: str, default: Any = None) -> Any:
    """Return what an option of the command that runs has remembered."""
    context = click.get_current_context(silent=True)
    return default if context is None else context.meta.get(key, default)


class JsonFormatOption(click.Option):
    """An output format option, which accepts ``--json`` as a short form."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Add both names to click's parser."""
        super().add_to_parser(parser, ctx)
        parser.add_option(
            obj=self, opts=["--json"], dest=self.name, action="store_const", const="json"
        )


def format_option(
    forms: Sequence[str], told: str, name: str = "kind", *, has_short: bool = True
) -> Callable[[CommandT], CommandT]:
    """Add ``--format`` with these forms, of which the first is the default.

    The command gets it as ``name``; ``told`` is the help text. If JSON is one of the forms,
    ``--json`` is short for it, unless ``has_short`` is false.
    """
    usual, *_ = forms
    has_short = has_short and "json" in forms
    short = " --json is short for --format json." if has_short else ""
    return click.option(
        "--format",
        name,
        cls=JsonFormatOption if has_short else click.Option,
        type=click.Choice(forms),
        default=usual,
        show_default=True,
        help=told + short,
    )


def raw_option(command: CommandT) -> CommandT:
    """Add ``--raw``, which writes names to CSV unchanged; goes with `format_option`."""
    return click.option(
        "--raw",
        is_flag=True,
        help="With csv: keep names as they are, even those that a spreadsheet would run.",
    )(command)


def check_raw(kind: str, *, raw: bool) -> None:
    """Raise a usage error for ``--raw`` without CSV."""
    if raw and kind != "csv":
        raise click.UsageError("--raw goes with --format csv; the others never change a name")


def keep_older_name(group: click.Group, name: str, command: click.Command) -> None:
    """Accept an older name of a command, without listing it in help."""
    older = copy(command)
    older.name, older.hidden = name, True
    group.add_command(older)


def database_option(command: CommandT) -> CommandT:
    """Accept ``--db`` after the command as well as before it."""
    return click.option(
        "--db",
        type=GOLDEN_SET,
        hidden=True,
        expose_value=False,
        callback=_remember_database,
        help="The golden set's file.",
    )(command)


def _remember_database(
    context: click.Context, _: click.Parameter, value: StoreLocation | None
) -> None:
    if value is not None:
        context.obj = value


def split_database(args: list[str]) -> tuple[list[str], list[str]]:
    """Return the words of a leading ``--db``, and those after it.

    >>> split_database(["--db", "a.db", "list"]), split_database(["list"])
    ((['--db', 'a.db'], ['list']), ([], ['list']))
    """
    first = args[0] if args else ""
    size = 2 if first == "--db" else int(first.startswith("--db="))
    return args[:size], args[size:]


class SharedGroup(LabelerGroup):
    """Lists commands by name; several modules add them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the sorted names, whichever module was imported first."""
        return sorted(self.commands)


class RestoreGroup(SharedGroup):
    """Reads a file's name after ``restore`` as ``restore backup NAME``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words after ``restore``."""
        before, args = split_database(args)
        if args and args[0] not in self.commands and args[0] not in self.get_help_option_names(ctx):
            args = ["backup", *args]
        return super().parse_args(ctx, [*before, *args])


@click.group(cls=SharedGroup)
@database_option
def rename() -> None:
    """Give a run or a grader another name."""


@click.group(cls=SharedGroup)
@database_option
def change() -> None:
    """Change a setting, a role, or a run's system and date."""


@click.group(cls=SharedGroup)
@database_option
def drop() -> None:
    """Remove runs, answers, signals or candidates."""


@click.group(cls=RestoreGroup)
@database_option
def restore() -> None:
    """Restore a backup, or candidates that were set aside.

    'labeler restore PATH' is short for 'labeler restore backup PATH'.
    """
