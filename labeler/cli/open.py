"""``labeler open``: load two dumps and open Compare, to grade what decides between them."""

from __future__ import annotations

import filecmp
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import click

from labeler.analysis.comparison import compare_lists
from labeler.cli.atomic_output import new_golden_set, open_to_load
from labeler.cli.file_options import limit_option, list_options, map_option
from labeler.cli.groups import FILE, database_option, say
from labeler.cli.load import check_target, remembered_map
from labeler.cli.options import conventions_of
from labeler.cli.output import one_line, progress_bar
from labeler.cli.server import become_server, browser_option, free_port, port_option
from labeler.errors import BadInput, Incomparable, LabelerError
from labeler.evaluation import Scoreboard
from labeler.formats import FieldMap
from labeler.model import LoadReport, format_count, format_list
from labeler.model.results import ANSWER
from labeler.services import import_export
from labeler.services.import_export import LoadOptions, run_name_of
from labeler.store import Store
from labeler.web.auth.allowed_hosts import LOOPBACK

if TYPE_CHECKING:
    from labeler.store.addresses import StoreLocation

WITH_RUNS = ("records", "run")
"""Kinds of files that hold ranked lists."""


@click.command("open")
@click.argument("paths", metavar="FILE_A FILE_B", type=FILE, nargs=-1, required=True)
@click.option(
    "--run",
    "chosen",
    multiple=True,
    metavar="NAME",
    help="Where the files hold more than two runs: which two to compare; give it twice.",
)
@map_option
@list_options
@limit_option
@port_option
@browser_option
@database_option
@click.pass_obj
def open_dumps(
    db: StoreLocation,
    /,
    paths: tuple[Path, ...],
    chosen: tuple[str, ...],
    port: int | None,
    no_browser: bool,
    **given: Any,
) -> None:
    """Compare what two retrievers found, without a grade.

    The files are dumps of what was retrieved, with the texts, of any kind that 'labeler load'
    takes; one file may hold two systems. Everything in them is loaded into the golden set, which
    is made if it is not there yet. Then Compare opens, until Ctrl-C. It shows what both found and
    where their lists differ, and asks for the grades that decide which one is better.
    """
    check_files(paths, chosen)
    check_target(db)
    free_port(LOOPBACK[0], port)
    dumps = [DumpFile(path, LoadOptions(**given), remembered_map(db)) for path in paths]
    with open_to_load(db) as store:
        pair = load_pair(store, dumps, chosen)
        said = [*describe_lists(store, *pair)]
    for line in [f"{pair[0]} and {pair[1]} are in {db}.", *said]:
        say(line)
    page = f"/compare?{urlencode({'a': pair[0], 'b': pair[1]})}"
    become_server(db, LOOPBACK[0], port, browser=not no_browser, page=page)


def check_files(paths: Sequence[Path], chosen: Sequence[str]) -> None:
    """Raise if the files or runs do not make a pair, or a file is named twice."""
    if len(paths) > 2:
        raise click.UsageError(
            f"two dumps are compared, not {len(paths)}: load what else there is first "
            "('labeler load FILE...'), then open the two"
        )
    if chosen and len(set(chosen)) != 2:
        raise click.UsageError("two runs are compared: give --run twice, with two names")
    if len(paths) == 2 and all(path.is_file() for path in paths):
        one, other = paths
        if os.path.samefile(one, other) or filecmp.cmp(one, other, shallow=False):
            raise BadInput(f"{one} and {other} hold the same, so there is nothing to compare")


@dataclass(frozen=True)
class DumpFile:
    """A file of ranked lists, loaded under the run names in it unless another is given.

    ``remembered`` is the field map stored in the golden set.
    """

    path: Path
    options: LoadOptions = field(default_factory=LoadOptions)
    remembered: str = ""

    def load(self, store: Store, name: str | None = None) -> list[LoadReport]:
        """Load the whole file; raise `BadInput` if it has no ranked lists."""
        kind, field_map = self.recognise()
        options = replace(self.options, run_name=name, field_map=field_map)
        with progress_bar(f"Reading {self.path.name}", then="Storing ...") as progress:
            apply = import_export.read(kind, self.path, options, progress=progress)
        return apply(store)

    def recognise(self) -> tuple[str, FieldMap | None]:
        """Return the kind the file is loaded as, and its field map if it needs one."""
        if self.options.field_map is not None:
            return "records", self.options.field_map
        found, field_map = import_export.recognise(self.path, remembered=self.remembered)
        if found.kind is None and "run" in found.could_be:
            return "run", None
        if found.kind is None:
            raise BadInput(f"{self.path}: {found.why}")
        if found.kind not in WITH_RUNS:
            raise BadInput(
                f"{self.path}: holds no ranked lists ({found.why}); 'labeler load {self.path}' "
                "loads it, and then 'labeler open' takes two dumps of what was retrieved"
            )
        return found.kind, field_map

    def run_names(self) -> list[str]:
        """Return the names of the file's runs, by loading it into a temporary golden set."""
        with (
            tempfile.TemporaryDirectory() as folder,
            new_golden_set(Path(folder) / "names.db") as store,
        ):
            self.load(store)
            return store.runs.names()


def load_pair(
    store: Store, dumps: Sequence[DumpFile], chosen: Sequence[str] = ()
) -> tuple[str, str]:
    """Load dumps and return the names of the two runs to compare.

    Raises `BadInput` if they do not hold two runs, unless two are ``chosen``.
    """
    held: dict[Path, list[str]] = {}
    for at, dump in enumerate(dumps):
        before = store.runs.names()
        try:
            reports = dump.load(store)
        except BadInput as error:
            held = renamed_by_file(store, dumps[: at + 1], held, error)
            continue
        for report in reports:
            for warning in report.warnings:
                say(f"! {dump.path.name}: {warning}")
        added = [name for name in store.runs.names() if name not in before]
        held[dump.path] = added or dump.run_names()
    return choose_pair(store, held, chosen)


def renamed_by_file(
    store: Store, dumps: Sequence[DumpFile], held: Mapping[Path, list[str]], error: BadInput
) -> dict[Path, list[str]]:
    """Load the last dump if its run has the name of the first's; both are then named by file.

    Raises ``error`` if it was refused for another reason.
    """
    *others, last = dumps
    own: list[str] = []
    with suppress(LabelerError):
        own = last.run_names()
    if not others or len(own) != 1 or held[others[0].path] != own:
        raise error
    names = names_by_file([others[0].path, last.path])
    if own[0] != names[0]:
        store.runs.rename(own[0], names[0])
    last.load(store, names[1])
    return dict(zip((others[0].path, last.path), ([names[0]], [names[1]]), strict=True))


def names_by_file(paths: Sequence[Path]) -> list[str]:
    """Return short names that differ: the files' names, with folder or ending where needed.

    >>> names_by_file([Path("a/bm25.json"), Path("b/dense.json")])
    ['bm25', 'dense']
    >>> names_by_file([Path("a/run.json"), Path("b/run.json")])
    ['a/run', 'b/run']
    >>> names_by_file([Path("run.json"), Path("run.csv")])
    ['run.json', 'run.csv']
    """
    whole = [path.absolute() for path in paths]
    for depth in range(1, max(len(path.parts) for path in whole)):
        names = ["/".join([*path.parts[-depth:-1], run_name_of(path)]) for path in whole]
        if depth == 1 and len({path.name for path in whole}) == len(whole) > len(set(names)):
            names = [path.name for path in whole]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in whole]


def choose_pair(
    store: Store, held: Mapping[Path, Sequence[str]], chosen: Sequence[str]
) -> tuple[str, str]:
    """Return the two runs to compare: those chosen, else those in the files."""
    names = list(dict.fromkeys(name for of in held.values() for name in of))
    there = store.runs.names()
    if unknown := [name for name in chosen if name not in there]:
        raise BadInput(f"no run is called {unknown[0]!r}; there are: {', '.join(there)}")
    if chosen:
        return chosen[0], chosen[1]
    if len(names) == 2:
        return names[0], names[1]
    holds = "; ".join(f"{path} holds {format_list(list(of), 10)}" for path, of in held.items())
    if len(names) < 2:
        raise BadInput(f"{holds}: one run alone cannot be compared; name a second file")
    raise BadInput(
        f"{holds}: two are compared, not {len(names)}; choose them: --run NAME --run NAME"
    )


def describe_lists(store: Store, a: str, b: str) -> Iterator[str]:
    """Yield what both runs found; raise `BadInput` if nobody could grade it."""
    settings, collection = store.settings.read(), store.collection.read()
    board = Scoreboard(collection, conventions_of(settings, "graded", None, None))
    try:
        statements = compare_lists(board, a, b).statements()
    except Incomparable as error:
        raise BadInput(f"{error}. {_why_apart(store, a, b)}") from error
    if collection.has_several_chunkings:
        statements = []
    pool, without_text = store.assignment.pool(settings.pool_depth, (a, b))
    pairs = sum(map(len, pool.values()))
    if not pairs:
        raise BadInput(
            f"no text is known of any chunk of {a!r} and {b!r}, so nobody could grade them; load "
            "the texts first: labeler load chunks FILE"
        )
    contents = store.golden_set.contents()
    yield (
        f"{format_count(contents.queries, 'query', 'queries')}, "
        f"{format_count(pairs, 'chunk', 'chunks')} in the first {settings.pool_depth} of both."
    )
    if without_text:
        more = format_count(without_text, "chunk there has", "chunks there have")
        yield f"! {more} no text and cannot be graded."
    yield from (each.sentence for each in statements if each.severity == ANSWER)


def _why_apart(store: Store, a: str, b: str) -> str:
    """Say what to do if two runs have no query in common."""
    if not store.queries.count():
        return (
            "The files have ids of queries alone, and no text of a query is known; load them "
            "first: labeler load queries FILE"
        )
    texts = [" ".join(text.split()) for text in store.queries.texts().values()]
    return (
        f"Are {a!r} and {b!r} of the same questions, written alike? There are "
        f"{len(texts):,}, such as {one_line(texts[0])!r} and {one_line(texts[-1])!r}"
    )
