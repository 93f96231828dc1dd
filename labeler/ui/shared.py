"""Shared functions of the pages: the open store, who is signed in, error messages, downloads.

While the database does not answer, a page shows an error and a timer runs it again until it does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from itertools import count
from typing import NoReturn
from urllib.parse import unquote

import htpy
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from labeler.errors import Busy, DatabaseUnavailable, Incomparable, LabelerError
from labeler.model import Actor, Settings
from labeler.render.markup import show_html, style
from labeler.render.words import DEFAULT_LANGUAGE, Words
from labeler.services import import_export
from labeler.store import CannotTell, GraderNote, StorageError, Store
from labeler.ui import links, url_state
from labeler.ui.grading import COOKIE
from labeler.ui.url_state import StaleLink
from labeler.web.auth import session_cookies, tokens
from labeler.web.auth.access import AccessPolicy, Credentials, Person
from labeler.web.auth.allowed_hosts import is_https
from labeler.web.auth.tokens import Forbidden
from labeler.web.language import reason_for
from labeler.web.redact import redact_path

THIS_MACHINE = "127.0.0.1"


def database() -> str:
    """Return the path of the golden set this server shows."""
    return os.environ.get("LABELER_DB", "golden.db")


@contextmanager
def guard(hints: Mapping[str, str] | None = None, words: Words | None = None) -> Iterator[None]:
    """Show an error as one sentence instead of a traceback, and end the page there.

    ``hints`` maps names in messages, such as a command line option, to a line in the page's own
    words. Graders get the message in their ``words``.
    """
    try:
        yield
    except LabelerError as error:
        explain(error, hints, words)
        st.stop()


def explain(
    error: LabelerError, hints: Mapping[str, str] | None = None, words: Words | None = None
) -> None:
    """Show what went wrong as one sentence, with a link to the next step if there is one."""
    show_error(describe_error(error, hints) if words is None else _in_words(error, words))
    if isinstance(error, StaleLink):
        label = "Go on without it" if words is None else words.say("page.go_on")
        st.button(label, on_click=url_state.remove, args=[error.names])
    if isinstance(error, Incomparable):
        st.text("Choose another run above.")
    if isinstance(error, DatabaseUnavailable):
        rerun_when_available(lambda: open_store().close())


def describe_error(error: LabelerError, hints: Mapping[str, str] | None = None) -> str:
    """Return the message of an error, with the hints for what it names, see `guard`."""
    said = redact_path(error, database())
    return "\n".join([said, *(hint for name, hint in (hints or {}).items() if name in said)])


def _in_words(error: LabelerError, words: Words) -> str:
    """Return the message of an error in a grader's words."""
    if isinstance(error, StaleLink) and words.language.code != DEFAULT_LANGUAGE:
        return words.say("page.stale_link")
    return reason_for(error, database(), words)


def show_error(message: str) -> None:
    """Show a message as text, never as Markdown: it may quote a file's content."""
    with st.container(border=True):
        st.text(f"⚠ {message}")


def say_empty(
    heading: str, remedy: str, commands: str, *, way: tuple[str, str] | None = None
) -> None:
    """Say what is missing here and how to add it, with one button and the commands folded.

    The button opens Data unless ``way`` has another label and URL.
    """
    label, address = way or ("Load your files", url_state.page_url("/data", section="Load"))
    st.header(heading)
    st.text(remedy)
    links.button(label, address)
    with st.expander("On the command line"):
        st.code(commands)


SKELETON_STYLE = style("""
.skeleton { display: grid; gap: 0.75rem; max-width: 62rem; padding: 1rem 0; color: var(--muted);
    font-size: 0.9375rem; animation: appear 0.2s 0.2s both; }
.skeleton i { display: block; height: 1.5rem; border-radius: 4px; background: var(--soft); }
.skeleton i:nth-child(2) { width: 70%; height: 2.25rem; } .skeleton i:nth-child(3) { width: 30%; }
.skeleton i:nth-child(4) { width: 55%; }
@keyframes appear { from { opacity: 0; } to { opacity: 1; } }
.stApp:has(.answer) .skeleton { display: none; }
""")


@contextmanager
def reading(words: str) -> Iterator[None]:
    """Say what is being read, above grey bars in place of the answer, until the block ends.

    If the page already shows an answer, as when it follows the grades, the answer stays instead.
    """
    place = st.empty()
    with place:
        show_html(
            SKELETON_STYLE, htpy.div(".skeleton", role="status")[words, htpy.i, htpy.i, htpy.i]
        )
    try:
        yield
    finally:
        place.empty()


def say_no_query_has(what: str, field: str) -> None:
    """Say that a view needs a field that no query has, and how to load it."""
    how = f"Load queries again with the field {field}."
    say_empty(f"No query has {what}", how, "labeler load queries FILE --update")


def open_store() -> Store:
    """Open the golden set for this script run; close it with a ``with`` block.

    Raises `Forbidden` for a visitor without access: a fragment runs without the navigation, which
    checks access on whole pages.
    """
    store = Store(database())
    if _is_visited():
        visitor = _visitor(store)
        if visitor is None:
            store.close()
            raise Forbidden("you are not invited, or not any more; open this page again")
        store.connection.actor = Actor(visitor.name, visitor.known_by, _network_address())
    return store


def _network_address() -> str:
    address = st.context.ip_address
    return address if isinstance(address, str) else THIS_MACHINE  # Streamlit does not name it


def graders_words(settings: Settings) -> Words:
    """Return the texts for graders, in the language of the golden set or of this browser."""
    return Words.of(settings, st.context.headers.get("Accept-Language"))


def golden_set_name() -> str:
    """Return the name of the golden set: from its settings, else of its file or database."""
    with Store(database()) as store:
        return store.golden_set.name()


def visitor_and_frame() -> tuple[Person | None, str, Words]:
    """Return the visitor (None without access), the golden set's name, and the graders' texts."""
    with Store(database()) as store:
        return _visitor(store), store.golden_set.name(), graders_words(store.settings.read())


def person() -> Person | None:
    """Return the visitor of this page if the golden set now gives them access, else None."""
    with Store(database()) as store:
        return _visitor(store)


def _visitor(store: Store) -> Person | None:
    door = AccessPolicy.from_environment()
    return door.visitor(store, _credentials(door))


def _credentials(door: AccessPolicy) -> Credentials:
    cookies = st.context.cookies
    secure = is_https("", {name.lower(): said for name, said in st.context.headers.items()})
    return session_cookies.credentials_from_cookies(
        cookies, door, unquote(cookies.get(COOKIE, "")), secure=secure
    )


def _is_visited() -> bool:
    """Return whether a visitor's script runs; a deferred download is made without one."""
    return get_script_run_ctx(suppress_warning=True) is not None


def grader() -> str | None:
    """Return the name of the grader in this browser, None if it is not known yet.

    Without invitations the pad asks for a name and keeps it in a cookie. With invitations it is the
    name of the invited person.
    """
    known = person()
    return None if known is None else known.name


def has_read_invitation() -> bool:
    """Return whether the grader came by an invitation link, whose page explains the task."""
    known = person()
    return known is not None and known.known_by == "link" and not known.is_lead


def note_lists_shown(query_id: str) -> None:
    """Record that the grader saw a query's ranked lists: their grades on it are not blind then."""
    name = grader()
    if name is not None:
        with open_store() as store:
            store.exposure.note_lists_seen(name, query_id)


def note_told(rows: Iterable[CannotTell | GraderNote]) -> None:
    """Record that this page shows others' grades of chunks: the grader's are not blind then."""
    name = grader()
    if name is not None:
        told = [
            (row.query_id, row.chunk_id)
            for row in rows
            if row.chunk_id is not None and row.grader != name
        ]
        with open_store() as store:
            store.exposure.note_told(name, told)


def note_refusal(what: str) -> None:
    """Add to the audit, once a minute, that this visitor was refused something."""
    with suppress(Busy, StorageError), open_store() as store:
        store.audit.note_once("refuse", what)


def is_lead() -> bool:
    """Return whether the visitor of this page is a lead, who may open all pages."""
    known = person()
    return known is not None and known.is_lead


def check_lead(store: Store) -> None:
    """Raise `Forbidden` for a visitor who is not a lead now; measures are for leads."""
    if not _is_visited():
        return
    visitor = _visitor(store)
    if visitor is None or not visitor.is_lead:
        raise Forbidden("measures are for leads; open this page again")


def can_change_name() -> bool:
    """Return whether people choose their own name, as they do without invitations."""
    with Store(database()) as store:
        return not AccessPolicy.from_environment().is_closed(store)


def grading_token(store: Store, name: str) -> str:
    """Return a token that lets the pad of this page grade under ``name``."""
    store.people.add(name)
    return tokens.issue_token(store.golden_set.signing_key(), store.golden_set.uuid(), name)


def warn_of_default_guideline(settings: Settings) -> None:
    """Warn a lead that graders still read the default guideline."""
    if not settings.guideline:
        st.text("⚠ Graders still see the generic guideline.", width="content")
        links.link("Write yours", url_state.page_url("/data", section="Settings"))


def warn_of_unknown_parameters(words: Words) -> None:
    """Name the parameters of the URL that no page reads, if there are any."""
    names = url_state.unknown_parameters()
    if names:
        with guard(), Store(database()) as store:
            names = url_state.unknown_parameters(store.queries.facets())  # Label reads those
    if not names:
        return
    [alike] = get_close_matches(names[0], url_state.KNOWN_PARAMETERS, 1) or [""]
    said = [words.say("page.unread", names=", ".join(f"{name}=" for name in names))]
    said += [words.say("page.did_you_mean", name=alike)] if alike else []
    with st.container(horizontal=True, vertical_alignment="center", key="unknown-parameters"):
        st.text(f"⚠ {' '.join(said)}", width="content")
        st.button(
            words.say("page.leave_out"), on_click=url_state.remove, args=[names], type="tertiary"
        )


def done(word: str, **position: url_state.Value) -> NoReturn:
    """Say that something was done, and run the page again with the parameters ``position``."""
    url_state.write(**position)
    st.toast(word, icon=":material/check:")
    st.rerun()


def offer(label: str, data: Callable[[], bytes], name: str, revision: int) -> None:
    """Offer a file under a name with its revision; it is made when somebody clicks."""
    named = import_export.dated_name(name, revision)
    st.download_button(label, data=with_audit(data, named), file_name=named, on_click="ignore")


def with_audit(data: Callable[[], bytes], name: str) -> Callable[[], bytes]:
    """Return a function that makes a file and records in the audit who downloaded it.

    The file is made without a script, so the visitor's name is read beforehand.
    """
    door = AccessPolicy.from_environment()
    claims, address = _credentials(door), _network_address()

    def made() -> bytes:
        file = data()
        with Store(database()) as store:
            visitor = door.visitor(store, claims)
            if visitor is not None:
                store.connection.actor = Actor(visitor.name, visitor.known_by, address)
            store.audit.note_if_possible(
                "export", name, {"seal": str(store.tamper_check.newest_seal())}
            )
        return file

    return made


LOOK_EVERY_SECONDS = 2.0


def rerun_when_available(ask: Callable[[], None]) -> None:
    """Run the page again as soon as ``ask`` no longer raises `DatabaseUnavailable`."""
    looks = count()

    @st.fragment(run_every=LOOK_EVERY_SECONDS)
    def look() -> None:
        if next(looks) == 0:
            return  # what the page just said is to be read, and pages that fail take turns
        with suppress(DatabaseUnavailable):
            ask()
            st.rerun()

    look()
