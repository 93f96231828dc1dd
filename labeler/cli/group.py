"""What all commands share: where the golden set is, and what becomes of an error."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from labeler.errors import BadInput, LabelerError
from labeler.model import legible
from labeler.store.addresses import Address, Place, place_of

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

# Whether a file can be read is for the code that reads it to say, in our words and with exit 1.
FILE = click.Path(path_type=Path, readable=False)


class GoldenSet(click.ParamType[Place]):
    """A golden set's file, or the address of its database."""

    name = "path"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Place:
        """Return where it is; on a command line every user of the machine could read a password."""
        place = place_of(value)
        source = ctx.get_parameter_source(param.name) if ctx and param and param.name else None
        by_hand = source == click.core.ParameterSource.COMMANDLINE
        if isinstance(place, Address) and place.has_password and by_hand:
            raise BadInput(
                f"{place}: every user of this machine can read what is on a command line; leave "
                "the password out of it and put it into LABELER_DB with the address, into "
                "PGPASSWORD or into ~/.pgpass"
            )
        return place


GOLDEN_SET = GoldenSet()
FILE_OR_OUTPUT = click.Path(path_type=Path, readable=False, allow_dash=True)
INTERRUPTED = 130  # what a shell reports for a program stopped with Ctrl-C


class LabelerGroup(click.Group):
    """Lists its commands in the order they were added and says failures in one sentence.

    Exit codes: 1 for bad input, 2 for a wrong command line, 130 after Ctrl-C.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order a newcomer needs them."""
        return list(self.commands)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the command line; ``--help`` is printed here."""
        with one_sentence():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; nothing that is the world's fault leaves a traceback."""
        with one_sentence():
            return super().invoke(ctx)


@contextmanager
def one_sentence(exit_code: int = 1) -> Iterator[None]:
    """Say what went wrong in one sentence, and end with this code."""
    try:
        yield
    except LabelerError as error:
        raise _failure(legible(str(error), keep="\n"), exit_code) from error
    except OSError as error:
        if error.errno == errno.EPIPE:  # a reader that has seen enough
            raise
        raise _failure(_in_words(error), exit_code) from error
    except MemoryError:
        said = "there is not enough memory for this; nothing was changed"
        raise _failure(said, exit_code) from None
    except KeyboardInterrupt:
        click.echo(err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


def _failure(said: str, exit_code: int) -> click.ClickException:
    failure = click.ClickException(said)
    failure.exit_code = exit_code  # type: ignore[misc]  # click reads it from the instance
    return failure


def _in_words(error: OSError) -> str:
    """Return what the system complained of; without a file's name it is about the output."""
    if error.filename is None:
        _forget_output()
        return f"the output cannot be written: {error.strerror or error}"
    return legible(f"{error.filename}: {error.strerror}")


def _forget_output() -> None:
    """Throw away what could not be written, or Python tries again at its end and complains."""
    try:
        output = sys.stdout.fileno()
    except (OSError, ValueError):  # not a real stream
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, output)
    os.close(nowhere)


def say(line: str) -> None:
    """Print a line that holds a name: nothing in it moves the cursor or begins another line."""
    click.echo(legible(line))


def format_option(
    forms: Sequence[str], told: str, name: str = "kind"
) -> Callable[[CommandT], CommandT]:
    """Let the user say in which of these forms something is printed, the first unless asked.

    The command gets it by ``name``; ``told`` says what each form is for.
    """
    usual, *_ = forms
    return click.option(
        "--format", name, type=click.Choice(forms), default=usual, show_default=True, help=told
    )


def raw_option(command: CommandT) -> CommandT:
    """Let names stand in CSV as they are; goes with `format_option`."""
    return click.option(
        "--raw",
        is_flag=True,
        help="With csv: names as they are, also those that a spreadsheet would run.",
    )(command)


def check_raw(kind: str, *, raw: bool) -> None:
    """Raise a usage error for ``--raw`` where no CSV is asked for."""
    if raw and kind != "csv":
        raise click.UsageError("--raw goes with --format csv; the others never change a name")


def database_option(command: CommandT) -> CommandT:
    """Let ``--db`` stand after the command as well as before it."""
    return click.option(
        "--db",
        type=GOLDEN_SET,
        hidden=True,
        expose_value=False,
        callback=_remember,
        help="The golden set's file.",
    )(command)


def _remember(context: click.Context, _: click.Parameter, value: Place | None) -> None:
    if value is not None:
        context.obj = value
