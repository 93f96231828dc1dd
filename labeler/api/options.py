"""Keyword options of the Python functions: how grades and runs are read, and measures computed.

Each is typed once, in the dicts below, and has its default once, in `EvaluationRules.of`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import ParamSpec, TypedDict, TypeVar, get_args

from labeler.api.grade_scales import GivenMap, grade_rule
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Undefined
from labeler.formats import LIMITS, GradeRule, Limits, OnDuplicate, Order, parse_limits
from labeler.formats.grade_words import as_word


class ConventionOptions(TypedDict, total=False):
    """By which conventions measures are computed."""

    preset: str
    rel: int
    prompt_k: int
    undefined: Undefined | None


class RowOptions(TypedDict, total=False):
    """How rows of grades and of runs are read."""

    grade_map: GivenMap | None
    negative_as_zero: bool
    negative_as_ungraded: bool | None
    order: Order


class ReadingOptions(RowOptions, total=False):
    """How grades and runs are read, from files too."""

    on_duplicate: OnDuplicate
    leave_out_self: bool
    limits: Limits


class EvaluationOptions(ConventionOptions, ReadingOptions, total=False):
    """What `labeler.evaluate` takes, and whatever evaluates runs like it."""


class TableOptions(ConventionOptions, RowOptions, total=False):
    """The same where grades and runs are tables, as in Spark."""


@dataclass(frozen=True, slots=True)
class RunRule:
    """How runs are read: repeated chunks, the order of a list, limits on the size of files.

    With ``leave_out_self`` lists are read without the chunk that has their query's id.
    """

    on_duplicate: OnDuplicate = "refuse"
    order: Order = "score"
    limits: Limits = LIMITS
    leave_out_self: bool = False

    def __post_init__(self) -> None:
        """Raise `BadInput` if ``on_duplicate`` or ``order`` is invalid."""
        if self.on_duplicate not in get_args(OnDuplicate):
            raise BadInput(f"on_duplicate is 'refuse' or 'first', not {self.on_duplicate!r}")
        if self.order not in get_args(Order):
            raise BadInput(f"order is 'score', 'rank' or 'file', not {self.order!r}")


@dataclass(frozen=True, slots=True)
class EvaluationRules:
    """What the options come to: conventions, how grades are read, and how runs are."""

    conventions: Conventions
    grade_rule: GradeRule
    run_rule: RunRule

    @staticmethod
    def of(
        *,
        preset: str = "graded",
        rel: int = 1,
        prompt_k: int = 5,
        grade_map: GivenMap | None = None,
        negative_as_zero: bool = False,
        negative_as_ungraded: bool | None = None,
        undefined: Undefined | None = None,
        order: Order = "score",
        on_duplicate: OnDuplicate = "refuse",
        leave_out_self: bool = False,
        limits: Limits = LIMITS,
    ) -> EvaluationRules:
        """Read the options; raise `BadInput` for an invalid one.

        Unless an option says otherwise, the trec_eval preset reads grades below 0 as ungraded.
        """
        conventions = Conventions.of(preset, rel=rel, prompt_k=prompt_k, undefined=undefined)
        if negative_as_ungraded is None:
            negative_as_ungraded = conventions.like_trec_eval and not negative_as_zero
        return EvaluationRules(
            conventions,
            grade_rule(grade_map, negative_as_zero, negative_as_ungraded),
            RunRule(on_duplicate, order, limits, leave_out_self),
        )


# Patterns of command-line options in messages, and how they are written in Python.
PYTHON_OPTIONS: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"--limit (\w+)=\w+": lambda found: _limit_in_python(found[1], found[0].split()[1]),
    r"--grade-map '([^']*)'": lambda found: _map_in_python(found[1]),
    r"--grade-map ([^\s=]+=\d(?:,[^\s=]+=\d)*)": lambda found: _map_in_python(found[1]),
    r"(\S+)=(\d) to --grade-map": r"\1: \2 to grade_map",
    r"--grade-cuts (\S+)": lambda found: (
        f"grade_map=labeler.GradeCuts({found[1].replace(',', ', ')})"
    ),
    "--negative-as-zero": "negative_as_zero=True",
    "--negative-as-ungraded": "negative_as_ungraded=True",
    "--order (file|rank|score)": r"order='\1'",
    "--on-duplicate first": "on_duplicate='first'",
    "--leave-out-self": "leave_out_self=True",
    "name it with --run": "give run='NAME'",
}


def _map_in_python(pairs: str) -> str:
    found = (pair.split("=") for pair in pairs.split(","))
    shown = (f"{old if as_word(old) is None else repr(old)}: {new}" for old, new in found)
    return f"grade_map={{{', '.join(shown)}}}"


def _limit_in_python(name: str, given: str) -> str:
    return f"limits=labeler.Limits({name}={getattr(parse_limits([given]), name)})"


@contextmanager
def python_option_names() -> Iterator[None]:
    """Rewrite command-line options in error messages as Python arguments."""
    try:
        yield
    except BadInput as error:
        text = in_python(str(error))
        if text == str(error):
            raise
        raise BadInput(text) from error


def in_python(text: str) -> str:
    """Return a sentence with the options of the command line as arguments of Python."""
    for option, argument in PYTHON_OPTIONS.items():
        text = re.sub(option, argument, text)
    return text


P = ParamSpec("P")
T = TypeVar("T")


OTHER_NAMES = {"budget": "prompt_k", "metrics": "measures"}
"""Names that other tools and earlier versions have for parameters."""


def with_options(options: type) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator for functions with ``**options``, which are those of a typed dict.

    The signature that `help` shows has each with its default, others are refused, and messages
    name the options as Python does. Parameters may be given by `OTHER_NAMES`, too.

    >>> @with_options(ConventionOptions)
    ... def depth(run: str, **options: Unpack[ConventionOptions]) -> int:
    ...     return EvaluationRules.of(**options).conventions.prompt_k
    >>> depth("A", prompt_k=3), depth("A", budget=8), [*signature(depth).parameters]
    (3, 8, ['run', 'preset', 'rel', 'prompt_k', 'undefined'])
    """
    every = signature(EvaluationRules.of).parameters.values()
    own = [each for each in every if each.name in options.__annotations__]

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        shown = signature(function)
        named = [
            each for each in shown.parameters.values() if each.kind is not Parameter.VAR_KEYWORD
        ]
        names = [each.name for each in (*named, *own)]

        @wraps(function)
        def call(*args: P.args, **given: P.kwargs) -> T:
            for other, name in OTHER_NAMES.items():
                if other not in given or name not in names:
                    continue
                if name in given or name in names[: len(args)]:
                    raise BadInput(f"{other} is another name of {name}; give one of the two")
                given[name] = given.pop(other)
            for name in given:
                if name not in names:
                    what = f"{function.__name__}() got an unexpected keyword argument {name!r}"
                    raise TypeError(what)
            with python_option_names():
                return function(*args, **given)

        call.__signature__ = shown.replace(parameters=[*named, *own])  # type: ignore[attr-defined]
        return call

    return decorate
