"""What two pages or more share: the open store, the live board, who is grading, the guard."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import NoReturn
from urllib.parse import unquote

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from labeler import address, freezing, links, tokens, transfer, visitors
from labeler.access import Claims, Door, Person
from labeler.address import Astray
from labeler.discretion import without_path
from labeler.errors import Away, Busy, LabelerError, NotFound
from labeler.evaluation import PRIMARY, Conventions, Counts, Scoreboard
from labeler.grading import COOKIE
from labeler.hosts import came_by_https
from labeler.model import (
    EVERYTHING,
    LEAKED,
    SPLITS,
    WITH,
    Actor,
    Collection,
    Query,
    Selection,
    Settings,
    counted,
)
from labeler.store import CannotTell, Note, Store, Unusable
from labeler.tokens import Forbidden
from labeler.versions import Content
from labeler.waiting import come_back

THIS_MACHINE = "127.0.0.1"
EVERY_CHUNKING = "*"  # no chunking can be called so


def database() -> str:
    """Return the path of the golden set this server shows."""
    return os.environ.get("LABELER_DB", "golden.db")


@contextmanager
def guard(hints: Mapping[str, str] | None = None) -> Iterator[None]:
    """Show what went wrong as one sentence instead of a traceback, and end the page there.

    ``hints`` maps what a message may name, such as an option of the command line, to a line that
    says the same in the page's own words.
    """
    try:
        yield
    except LabelerError as error:
        explain(error, hints)
        st.stop()


def explain(error: LabelerError, hints: Mapping[str, str] | None = None) -> None:
    """Show what went wrong as one sentence, and the way on where there is one."""
    show_error(in_words(error, hints))
    if isinstance(error, Astray):
        st.button("Go on without it", on_click=address.without, args=[error.names])
    if isinstance(error, Away):
        come_back(lambda: open_store().close())


def in_words(error: LabelerError, hints: Mapping[str, str] | None = None) -> str:
    """Return what an error says, and the hints for what it names, see `guard`."""
    said = without_path(error, database())
    return "\n".join([said, *(hint for name, hint in (hints or {}).items() if name in said)])


def show_error(message: str) -> None:
    """Show a message that may quote a file's content: as text, never as Markdown."""
    with st.container(border=True):
        st.text(f"⚠ {message}")


def say_empty(heading: str, remedy: str, commands: str) -> None:
    """Say what is missing here, how it comes, and the commands that bring it."""
    st.subheader(heading)
    st.write(remedy)
    st.code(commands)


def say_no_query_has(what: str, field: str) -> None:
    """Say that a view rests on a field that no query has, and how it comes."""
    how = f"Load queries again with the field {field}, on the Data page or in a terminal:"
    say_empty(f"No query has {what}", how, "labeler load queries FILE --update")


def open_store() -> Store:
    """Open the golden set for this script run; close it with a ``with`` block.

    Raises `Forbidden` for a visitor who may not come in, or not any more: a fragment runs without
    the navigation that would have said so.
    """
    store = Store(database())
    if _is_visited():
        visitor = _visitor(store)
        if visitor is None:
            store.close()
            raise Forbidden("you are not invited, or not any more; open this page again")
        store.actor = Actor(visitor.name, visitor.known_by, _address())
    return store


def _address() -> str:
    address = st.context.ip_address
    return address if isinstance(address, str) else THIS_MACHINE  # Streamlit does not name it


def person() -> Person | None:
    """Return who may come in by the golden set as it is now, and looks at this page; else None."""
    with Store(database()) as store:
        return _visitor(store)


def _visitor(store: Store) -> Person | None:
    door = Door.of_this_server()
    return door.visitor(store, _claims(door))


def _claims(door: Door) -> Claims:
    cookies = st.context.cookies
    secure = came_by_https("", {name.lower(): said for name, said in st.context.headers.items()})
    return visitors.claims_of(cookies, door, unquote(cookies.get(COOKIE, "")), secure=secure)


def _is_visited() -> bool:
    """Say whether a visitor's script runs; a prepared download is made without one."""
    return get_script_run_ctx(suppress_warning=True) is not None


def grader() -> str | None:
    """Return who is grading in this browser, or None where nobody has said so yet.

    At an open door the pad asks and keeps the name in a cookie; at a closed one it is the name of
    the invited person.
    """
    known = person()
    return None if known is None else known.name


def note_lists_shown(query_id: str) -> None:
    """Remember that a query's ranked lists were shown here: no grade of theirs is blind then."""
    name = grader()
    if name is not None:
        with open_store() as store:
            store.note_lists_seen(name, query_id)


def note_told(rows: Iterable[CannotTell | Note]) -> None:
    """Remember that this page says what others gave chunks: no grade of theirs is blind then."""
    name = grader()
    if name is not None:
        told = [
            (row.query_id, row.chunk_id)
            for row in rows
            if row.chunk_id is not None and row.grader != name
        ]
        with open_store() as store:
            store.note_told(name, told)


def note_refusal(what: str) -> None:
    """Add to the audit that whoever looks here may not see something, once a minute."""
    with suppress(Busy, Unusable), open_store() as store:
        store.note_once("refuse", what)


def is_lead() -> bool:
    """Say whether whoever looks at this page may open the others too."""
    known = person()
    return known is not None and known.is_lead


def came_by_invitation() -> bool:
    """Say whether whoever looks at this page was invited, by a link or by their login."""
    known = person()
    return known is not None and known.known_by != "name"


def can_change_name() -> bool:
    """Say whether people choose the name they grade under, as they do at an open door."""
    with Store(database()) as store:
        return not Door.of_this_server().is_closed(store)


def grading_token(store: Store, name: str) -> str:
    """Return a token that lets the pad of this page grade under ``name``."""
    store.add_grader(name)
    return tokens.issue(store.signing_key(), store.golden_set_uuid(), name)


def run_names() -> list[str]:
    """Return the names of the runs in the order they were loaded."""
    with Store(database()) as store:
        return store.run_names()


def conventions(
    settings: Settings, preset: str = "graded", selected: Selection = EVERYTHING
) -> Conventions:
    """Return a preset with the team's threshold and budgets, for the queries ``selected``."""
    return Conventions.of(
        preset,
        rel=settings.rel,
        budget=settings.budget,
        budget_by_task=settings.budget_by_task,
        pool_depth=settings.pool_depth,
        golden_rule=settings.golden_rule,
        carried=settings.carried,
        selected=selected,
    )


def shown_conventions(
    settings: Settings, preset: str = "graded", *, every: bool = False
) -> Conventions:
    """Return the same for what the address names; a page may be able to show ``every`` chunking."""
    selected = replace(shown_selection(), chunkings=shown_chunkings(every=every))
    found = conventions(settings, preset, selected)
    return replace(found, frozen=address.given("golden"))


def shown_selection() -> Selection:
    """Return which queries the address names as ``split`` and ``leaked``; `Astray` for others."""
    splits, leaked = selectable()
    split = address.among("split", splits, "split")
    told = address.among("leaked", leaked or [WITH], "choice of leaked queries")
    return Selection(split, told or WITH)


def shown_chunkings(*, every: bool) -> tuple[str, ...] | None:
    """Return the chunkings the address names, None for the first; `Astray` for others."""
    with open_store() as store:
        there = store.chunkings_with_runs()
    chosen = address.among("chunking", [*there, EVERY_CHUNKING], "chunking")
    if chosen == EVERY_CHUNKING:
        return tuple(there) if every else None
    return None if chosen is None else (chosen,)


def selectable() -> tuple[list[str], list[str]]:
    """Return the splits that have queries, and how those that leaked may be treated."""
    with open_store() as store:
        version = shown_version(store)
        sizes = store.split_sizes() if version is None else {q.split for q in version.queries}
        leaked = store.leaked()
    return [split for split in SPLITS if split in sizes], list(LEAKED) if leaked else []


def shown_version(store: Store) -> Content | None:
    """Return the frozen golden set that the address names as ``golden``, None where it is live.

    Raises `Astray` for one that is not there.
    """
    asked = address.given("golden")
    if asked is None:
        return None
    try:
        return _version(database(), store.data_revision(), asked)[0]
    except NotFound as error:
        raise Astray(str(error), ["golden"]) from error


def shown_settings(store: Store) -> Settings:
    """Return the team's settings, with the conventions of the golden set that is shown."""
    version = shown_version(store)
    return store.settings() if version is None else version.settings


def shown_queries(store: Store) -> Sequence[Query]:
    """Return the queries of the golden set that is shown."""
    version = shown_version(store)
    return store.queries() if version is None else version.queries


def queries_of(store: Store, frozen: str | None) -> Sequence[Query]:
    """Return the queries of a frozen version, or of the live set, to one who has no page."""
    if frozen is None:
        return store.queries()
    content, _ = _version(database(), store.data_revision(), frozen)
    return content.queries


@st.cache_resource(max_entries=2, show_spinner="Reading the frozen golden set …")
def _version(path: str, data_revision: int, asked: str) -> tuple[Content, Collection]:
    with Store(path) as store:
        content = freezing.frozen(store, asked)
        return content, freezing.collected(store, content)


def live_board(store: Store, chosen: Conventions) -> Scoreboard:
    """Return the board as the newest judgment leaves it, for one look.

    Where the conventions name a frozen golden set it is the board of that one, which never moves.
    All sessions share one, which is brought up to date with the log's tail, and built again only
    when something other than a judgment was written; what is returned does not move under the
    hands of who shows it. Raises `Forbidden` for a visitor who is no lead, or not any more.
    """
    if _is_visited():
        _check_lead(_visitor(store))
    return _followed(store, chosen, _board)


def board_without_page(store: Store, selected: Selection = EVERYTHING) -> Scoreboard:
    """Return the same under the team's conventions to one who asks without a page: the server."""
    return _followed(store, conventions(store.settings(), selected=selected), _opened)


def _followed(
    store: Store, chosen: Conventions, opened: Callable[[str, int, Conventions], Scoreboard]
) -> Scoreboard:
    board = opened(database(), store.data_revision(), chosen)
    if chosen.frozen is not None:
        return board.snapshot()
    newest = store.revision()
    if newest != board.revision:
        try:
            board.refresh(*store.news_since(board.revision, board.golden_state))
        except NotFound:
            # a query was loaded and judged between the two reads above
            board = opened(database(), store.data_revision(), chosen)
    return board.snapshot()


def _check_lead(visitor: Person | None) -> None:
    if visitor is None or not visitor.is_lead:
        raise Forbidden("measures are for leads; open this page again")


@st.cache_resource(
    max_entries=6,
    show_spinner="Reading the runs …",
    hash_funcs={Conventions: lambda chosen: repr(chosen)},
)
def _board(path: str, data_revision: int, chosen: Conventions) -> Scoreboard:
    if chosen.frozen is not None:
        return Scoreboard(_version(path, data_revision, chosen.frozen)[1], chosen)
    with Store(path) as store:
        return Scoreboard(store.collection(), chosen)


def open_board() -> None:
    """Open the board that pages show where nobody chose other conventions, before anybody looks."""
    with Store(database()) as store:
        _opened(database(), store.data_revision(), conventions(store.settings()))
    _opened.clear()


@st.cache_resource(max_entries=2, show_spinner=False, hash_funcs={Conventions: repr})
def _opened(path: str, data_revision: int, chosen: Conventions) -> Scoreboard:
    """Open a board without a page: in a cached function, another one's spinner is not shown."""
    board = _board(path, data_revision, chosen)
    board.notes()  # what it looks up first and keeps
    return board


def warn_of_default_guideline(settings: Settings) -> None:
    """Tell a lead that graders still read words that were written for no set in particular."""
    if not settings.guideline:
        st.text("⚠ Graders read the default guideline, which knows nothing of your documents.")
        links.link("Write your own", address.to("/data", section="Settings"))


def done(word: str, **position: str | None) -> NoReturn:
    """Say that something was done, and show the page as it is now, at this ``position``."""
    address.write(**position)
    st.toast(word, icon=":material/check:")
    st.rerun()


def offer(label: str, data: Callable[[], bytes], name: str, revision: int) -> None:
    """Offer a file, which is made when somebody asks for it, under a name with its revision."""
    named = transfer.dated(name, revision)
    st.download_button(label, data=noted(data, named), file_name=named, on_click="ignore")


def noted(data: Callable[[], bytes], name: str) -> Callable[[], bytes]:
    """Return what makes a file and adds to the audit that whoever looks here has taken it.

    It is made without a script, so that who that is must be known before.
    """
    door = Door.of_this_server()
    claims, address = _claims(door), _address()

    def made() -> bytes:
        file = data()
        with Store(database()) as store:
            visitor = door.visitor(store, claims)
            if visitor is not None:
                store.actor = Actor(visitor.name, visitor.known_by, address)
            store.note_if_possible("export", name, {"seal": str(store.newest_seal())})
        return file

    return made


def graded_line(counts: Counts, selected: Selection = EVERYTHING) -> str:
    """Say in one line how much of the golden set, or what is selected, there are grades for."""
    where = "In the whole golden set" if selected == EVERYTHING else f"Of {selected.describe()}:"
    each = " in each of these chunkings" if len(selected.chunkings or ()) > 1 else ""
    return (
        f"{where} {counts.judged:,} of {counts.queries:,} queries have grades{each} · "
        f"{counted(counts.grades, 'grade', 'grades')}"
    )


def usual_measures(task: str) -> str:
    """Return the names of the measures that fit a task where the team chose none."""
    return PRIMARY[task]
