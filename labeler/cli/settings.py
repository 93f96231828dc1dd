"""``labeler settings`` and ``change setting``: the team's settings, printed as they are typed.

`Settings` checks the values; how one is typed follows from its name or type.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import click

from labeler.analysis.active import parse_deciding_measure
from labeler.cli.groups import change, database_option, format_option
from labeler.cli.output import Table, one_line, print_rows, text_lines
from labeler.errors import BadInput
from labeler.evaluation import Conventions
from labeler.formats import map_named, map_text
from labeler.model import AUTOMATIC, GOLDEN_RULES, TRANSFER_CHOICES, Settings, escape_controls
from labeler.render.words import LANGUAGES
from labeler.services.assignment.practice import practice_examples
from labeler.store import Store
from labeler.store.addresses import StoreLocation

DEFAULTS = Settings()
LANGUAGE_CHOICES = (AUTOMATIC, *LANGUAGES)
NAMES = [field.name.replace("_", "-") for field in fields(Settings)]
YES = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class SettingForm:
    """How a setting is typed: what its values look like, and how they are read and written."""

    looks: str
    read: Callable[[Sequence[str]], Any]
    written: Callable[[Any], Sequence[str]]


def one(read: Callable[[str], Any]) -> Callable[[Sequence[str]], Any]:
    """Return a function that reads a setting of one value."""

    def read_one(values: Sequence[str]) -> Any:
        (value,) = values
        return read(value)

    return read_one


def one_of(known: Sequence[str]) -> Callable[[Sequence[str]], str]:
    """Return a function that reads one of the ``known`` names, quoted or as separate words."""

    def read_one(values: Sequence[str]) -> str:
        return known[known.index(" ".join(values))]

    return read_one


def prompt_ks(values: Sequence[str]) -> dict[str, int]:
    """Return the prompt size of each task, given as ``task=number``."""
    pairs = (value.split("=") for value in values if value)
    return {task: int(number) for task, number in pairs}


def measures(values: Sequence[str]) -> dict[str, str]:
    """Return the measures of each task, given as ``task=primary`` with an optional second one."""
    pairs = (value.partition("=") for value in values if value)
    return {task: " ".join(names.split()) for task, _, names in pairs}


def two_runs(values: Sequence[str]) -> tuple[str, str] | None:
    """Return the two runs named, None for an empty text."""
    if list(values) == [""]:
        return None
    a, b = values
    return a, b


def grade_or_none(values: Sequence[str]) -> int | None:
    """Return the grade given, None for an empty text."""
    (value,) = values
    return int(value) if value else None


def ids(values: Sequence[str]) -> tuple[str, ...]:
    """Return the ids given, none for an empty text."""
    return () if list(values) == [""] else tuple(values)


def field_map(values: Sequence[str]) -> str:
    """Return the field map given as one text or several; raise `BadInput` if it cannot be read."""
    text = values[0] if len(values) == 1 else shlex.join(values)
    return map_text(map_named(text)) if text.strip() else ""


def nothing(value: int | None) -> str:
    """Return a number as it is typed, '' for None."""
    return "" if value is None else str(value)


BY_TYPE: Mapping[type, SettingForm] = {
    bool: SettingForm("yes or no", one(YES.__getitem__), lambda on: ["yes" if on else "no"]),
    int: SettingForm("a whole number", one(int), lambda number: [str(number)]),
    float: SettingForm("a number such as 0.01", one(float), lambda number: [f"{number:g}"]),
    str: SettingForm("a text", one(str), lambda text: [text]),
}
FOR_EACH_GRADE = SettingForm("four texts, for the grades 0 to 3", tuple, list)
ONE_AND_SEVERAL = SettingForm("two texts: what one is called, and what several are", tuple, list)
BY_NAME: Mapping[str, SettingForm] = {
    "words": FOR_EACH_GRADE,
    "meanings": FOR_EACH_GRADE,
    "question": ONE_AND_SEVERAL,
    "passage": ONE_AND_SEVERAL,
    "prompt_k_by_task": SettingForm(
        "task=number for each task that has its own, or ''",
        prompt_ks,
        lambda of: [f"{task}={number}" for task, number in of.items()] or [""],
    ),
    "measures": SettingForm("names of measures, such as nDCG@10 R@5 RR", " ".join, str.split),
    "measures_by_task": SettingForm(
        "task='PRIMARY SECONDARY' for each task that has its own, or ''",
        measures,
        lambda of: [f"{task}={names}" for task, names in of.items()] or [""],
    ),
    "unjudged_of": SettingForm("the names of two runs, or ''", two_runs, lambda pair: pair or [""]),
    "evidence_from": SettingForm(
        "a grade from 0 to 3, or ''", grade_or_none, lambda grade: [nothing(grade)]
    ),
    "golden_rule": SettingForm(
        f"{', '.join(GOLDEN_RULES[:-1])} or {GOLDEN_RULES[-1]}",
        one_of(GOLDEN_RULES),
        lambda rule: [rule],
    ),
    "language": SettingForm(
        f"{', '.join(LANGUAGE_CHOICES[:-1])} or {LANGUAGE_CHOICES[-1]}",
        one_of(LANGUAGE_CHOICES),
        lambda language: [language],
    ),
    "transferred": SettingForm(
        " or ".join(TRANSFER_CHOICES), one_of(TRANSFER_CHOICES), lambda transferred: [transferred]
    ),
    "field_map": SettingForm(
        "where the fields of files are, as 'labeler load --map' takes it, or ''",
        field_map,
        lambda text: [text],
    ),
    "practice": SettingForm(
        "three pairs QUERY CHUNK, or ''", ids, lambda pairs: list(pairs) or [""]
    ),
    "overlap": SettingForm(
        "a share such as 10%",
        one(lambda text: float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)),
        lambda share: [f"{share * 100:g}%"],
    ),
}


def form_of(field: str) -> SettingForm:
    """Return how a setting is typed: by its name, else by the type of its default."""
    return BY_NAME.get(field) or BY_TYPE[type(getattr(DEFAULTS, field))]


def written(settings: Settings, field: str) -> str:
    """Return a setting's value quoted for a shell."""
    return shlex.join(form_of(field).written(getattr(settings, field)))


@click.command()
@click.argument("name", required=False, type=click.Choice(NAMES), metavar="[NAME]")
@format_option(("table", "json"), "json is for programs: every value whole, with its default.")
@database_option
@click.pass_obj
def settings(db: StoreLocation, name: str | None, kind: str) -> None:
    """List the settings, or print one in full.

    Values are printed as 'labeler change setting' takes them.
    """
    with Store(db) as store:
        chosen = store.settings.read()
    if kind == "json":
        values, defaults = asdict(chosen), asdict(DEFAULTS)
        named = values if name is None else [name.replace("-", "_")]
        rows = (
            {"setting": each.replace("_", "-"), "value": values[each], "default": defaults[each]}
            for each in named
        )
        print_rows(kind, rows)
        return
    if name is not None:
        click.echo(escape_controls(written(chosen, name.replace("-", "_")), keep="\n"))
        return
    body = []
    for field in asdict(DEFAULTS):
        value, usual = written(chosen, field), written(DEFAULTS, field)
        body.append(
            [field.replace("_", "-"), one_line(value), "" if value == usual else one_line(usual)]
        )
    click.echo("\n".join(text_lines(Table(["setting", "value", "default, if another"], [], body))))


@change.command("setting")
@click.argument("name", type=click.Choice(NAMES), metavar="NAME")
@click.argument("values", nargs=-1, metavar="[VALUE]...")
@click.option("--default", "to_default", is_flag=True, help="Go back to the default.")
@database_option
@click.pass_obj
def change_setting(db: StoreLocation, name: str, values: tuple[str, ...], to_default: bool) -> None:
    """Change a setting; 'labeler settings' lists all.

    \b
    labeler change setting prompt-k 8
    labeler change setting words no hardly partly fully
    labeler change setting prompt-k-by-task single=3 research=10
    labeler change setting measures-by-task single="RR Success@1"
    labeler change setting golden-rule "upper median"
    labeler change setting guideline "$(cat guideline.txt)"
    """
    field = name.replace("-", "_")
    if to_default == bool(values):
        raise click.UsageError("give the setting its value, or say --default")
    value = getattr(DEFAULTS, field) if to_default else read(name, values)
    with Store(db) as store:
        before = store.settings.read()
        if field == "unjudged_of":
            check_runs(store, value or ())
        if field == "practice":
            practice_examples(store, replace(before, practice=value).practice)
        if field == "decide_by":
            parse_deciding_measure(Conventions.of(), value)
        if field == "measures":
            Conventions.of().measures(value)
        if field == "measures_by_task":
            Conventions.of().measures(" ".join(value.values()))
        after = replace(before, **{field: value})
        store.settings.save(after)
    click.echo(
        f"{name} is {one_line(written(after, field))} (was {one_line(written(before, field))})"
    )


def read(name: str, values: Sequence[str]) -> Any:
    """Parse a setting's value as typed, or raise `BadInput` with the expected form."""
    form = form_of(name.replace("-", "_"))
    try:
        return form.read(values)
    except BadInput:
        raise
    except (ValueError, LookupError) as error:
        raise BadInput(f"{name} is {form.looks}, not {shlex.join(values)}") from error


def check_runs(store: Store, names: Sequence[str]) -> None:
    """Raise `BadInput` for an unknown run."""
    there = [run.name for run in store.runs.all()]
    for name in names:
        if name not in there:
            raise BadInput(
                f"there is no run named {name!r}; there are: "
                f"{', '.join(map(escape_controls, there))}"
            )
