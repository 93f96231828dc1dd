"""Shared functions of the pages: the open store, who is signed in, error messages, downloads.

While the database does not answer, a page shows an error and runs again by a timer until it does.
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

    ``hints`` maps what a message may name, such as a command line option, to a line in the page's
    own words. To a grader it is said in their ``words``.
    """
    try:
        yield
    except LabelerError as error:
        explain(error, hints, words)
        st.stop()


def explain(
    error: LabelerError, hints: Mapping[str, str] | None = None, words: Words | None = None
) -> None:
    """Show what went wrong as one sentence, and the way on where there is one."""
    show_error(describe_error(error, hints) if words is None else _in_words(error, words))
    if isinstance(error, StaleLink):
        label = "Go on without it" if words is None else words.say("page.go_on")
        st.button(label, on_click=url_state.remove, args=[error.names])
    if isinstance(error, Incomparable):
        st.text("Choose another run above.")
    if isinstance(error, DatabaseUnavailable):
        rerun_when_available(lambda: open_store().close())


def describe_error(error: LabelerError, hints: Mapping[str, str] | None = None) -> str:
    """Return what an error says, and the hints for what it names, see `guard`."""
    said = redact_path(error, database())
    return "\n".join([said, *(hint for name, hint in (hints or {}).items() if name in said)])


def _in_words(error: LabelerError, words: Words) -> str:
    """Return what an error says in a grader's words."""
    if isinstance(error, StaleLink) and words.language.code != DEFAULT_LANGUAGE:
        return words.say("page.stale_link")
    return reason_for(error, database(), words)


def show_error(message: str) -> None:
    """Show a message that may quote a file's content: as text, never as Markdown."""
    with st.container(border=True):
        st.text(f"⚠ {message}")


def say_empty(
    heading: str, remedy: str, commands: str, *, way: tuple[str, str] | None = None
) -> None:
    """Say what is missing here and how it comes; lead there by one button, the commands folded.

    The button leads to Data unless ``way`` has another label and address.
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
    """Say what is read, over grey bars in the place of the answer, until the block is through.

    Where an answer stands already, as while a page follows the grades, it stays instead.
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
    """Say that a view rests on a field that no query has, and how it comes."""
    how = f"Load queries again with the field {field}."
    say_empty(f"No query has {what}", how, "labeler load queries FILE --update")


def open_store() -> Store:
    """Open the golden set for this script run; close it with a ``with`` block.

    Raises `Forbidden` for a visitor without access: a fragment runs without the navigation that
    would have said so.
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
    """Return what graders read, in the language of the golden set or of this browser."""
    return Words.of(settings, st.context.headers.get("Accept-Language"))


def golden_set_name() -> str:
    """Return what the golden set is called: by its setting, else by its file or database."""
    with Store(database()) as store:
        return store.golden_set.name()


def visitor_and_frame() -> tuple[Person | None, str, Words]:
    """Return who looks at this page, None without access, the golden set's name, and the words."""
    with Store(database()) as store:
        return _visitor(store), store.golden_set.name(), graders_words(store.settings.read())


def person() -> Person | None:
    """Return who may come in by the golden set as it is now, and looks at this page; else None."""
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
    """Say whether a visitor's script runs; a prepared download is made without one."""
    return get_script_run_ctx(suppress_warning=True) is not None


def grader() -> str | None:
    """Return who is grading in this browser, or None if nobody has said so yet.

    Without invitations the pad asks for a name and keeps it in a cookie; with them it is the name
    of the invited person.
    """
    known = person()
    return None if known is None else known.name


def has_read_invitation() -> bool:
    """Say whether whoever grades came by a link, whose page says what there is to grade."""
    known = person()
    return known is not None and known.known_by == "link" and not known.is_lead


def note_lists_shown(query_id: str) -> None:
    """Remember that a query's ranked lists were shown here: no grade of theirs is blind then."""
    name = grader()
    if name is not None:
        with open_store() as store:
            store.exposure.note_lists_seen(name, query_id)


def note_told(rows: Iterable[CannotTell | GraderNote]) -> None:
    """Remember that this page says what others gave chunks: no grade of theirs is blind then."""
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
    """Add to the audit that whoever looks here may not see something, once a minute."""
    with suppress(Busy, StorageError), open_store() as store:
        store.audit.note_once("refuse", what)


def is_lead() -> bool:
    """Say whether whoever looks at this page may open the others too."""
    known = person()
    return known is not None and known.is_lead


def check_lead(store: Store) -> None:
    """Raise `Forbidden` for a visitor who is no lead, or not any more; measures are for leads."""
    if not _is_visited():
        return
    visitor = _visitor(store)
    if visitor is None or not visitor.is_lead:
        raise Forbidden("measures are for leads; open this page again")


def can_change_name() -> bool:
    """Say whether people choose the name they grade under, as they do without invitations."""
    with Store(database()) as store:
        return not AccessPolicy.from_environment().is_closed(store)


def grading_token(store: Store, name: str) -> str:
    """Return a token that lets the pad of this page grade under ``name``."""
    store.people.add(name)
    return tokens.issue_token(store.golden_set.signing_key(), store.golden_set.uuid(), name)


def warn_of_default_guideline(settings: Settings) -> None:
    """Tell a lead that graders still read words that were written for no set in particular."""
    if not settings.guideline:
        st.text("⚠ Graders still see the generic guideline.", width="content")
        links.link("Write yours", url_state.page_url("/data", section="Settings"))


def warn_of_unknown_parameters(words: Words) -> None:
    """Say which parameters of the address no page reads, where there are some."""
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
    """Say that something was done, and show the page as it is now, at this ``position``."""
    url_state.write(**position)
    st.toast(word, icon=":material/check:")
    st.rerun()


def offer(label: str, data: Callable[[], bytes], name: str, revision: int) -> None:
    """Offer a file, which is made when somebody asks for it, under a name with its revision."""
    named = import_export.dated_name(name, revision)
    st.download_button(label, data=with_audit(data, named), file_name=named, on_click="ignore")


def with_audit(data: Callable[[], bytes], name: str) -> Callable[[], bytes]:
    """Return what makes a file and adds to the audit that whoever looks here has taken it.

    It is made without a script, so that who that is must be known before.
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
    """Run the page again as soon as ``ask``, which raises `DatabaseUnavailable` until then, raises
    nothing.
    """
    looks = count()

    @st.fragment(run_every=LOOK_EVERY_SECONDS)
    def look() -> None:
        if next(looks) == 0:
            return  # what the page just said is to be read, and pages that fail take turns
        with suppress(DatabaseUnavailable):
            ask()
            st.rerun()

    look()
