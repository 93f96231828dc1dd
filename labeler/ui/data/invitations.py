"""Data > People: inviting by links or logins, with a message ready to send to each person.

The only place on the pages where the secret of an invitation link is shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import htpy
import streamlit as st

from labeler.errors import BadInput
from labeler.model import check_name, format_count, name_key
from labeler.render.markup import show_html
from labeler.ui import shared as ui
from labeler.web.auth import access
from labeler.web.auth.access import PROMISE, AccessPolicy, Person
from labeler.web.auth.allowed_hosts import LOOPBACK
from labeler.web.auth.invitation import Invitation

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from labeler.store import Store
    from labeler.store.people import Role

GRADER_OR_LEAD: tuple[Role, ...] = ("grader", "lead")
MOST_AT_ONCE = 100
HINTS = {
    "labeler change role": 'On this page: "Manage" beside their name',
    "labeler invite": 'On this page: "Invite people"',
}
FIRST_INVITATION = (
    "Once you invite someone, everyone needs a link, including you. Create yours first."
)
OWN_LINK = (
    "This is your sign-in link. Open it within 15 minutes; until you do, nothing changes. After "
    "that it signs you in on your other devices, too."
)
SHOWN_ONCE = "Copy it now: it won't be shown again. It's personal."
LOCKED_OUT = "Locked out? On the server run: labeler invite NAME --role lead"
LOCAL_ADDRESS_ONLY = "These links work only on this computer."
LET_OTHERS_IN = (
    "Start the server with --host, so that other computers reach it. If it has a public address, "
    "set LABELER_ADDRESS to it. Then create new links."
)
LINK_LIFETIMES = {
    "until revoked": None,
    "for a day": timedelta(days=1),
    "for a week": timedelta(weeks=1),
    "for four weeks": timedelta(weeks=4),
}
LIFETIME_HELP = "People who have signed in by then stay signed in on that device."
ONCE_HELP = "The link works once. Anyone who opens it again sees that it was used."
NAMES_HELP = "One per line, or separated by commas."
LOGIN_HELP = f"{NAMES_HELP} With an address, as in Ann <ann@example.org>, they sign in by a login."
WITH_ADDRESS = re.compile(r"(?P<name>[^<>]*)<(?P<address>[^<>]+)>\s*")
ANSWER, KNOWN, SOMEONE_ELSE = "invite-alike", "known", "someone else"
ROUND = "invite-round"  # how often people were invited; each time the form is emptied


@dataclass(frozen=True, slots=True)
class Invitee:
    """A person to invite: by a link or, with an address, by a login."""

    name: str
    address: str | None = None


@dataclass(frozen=True, slots=True)
class AskedInvitations:
    """The people a lead wants to invite, as typed, and how; ``lasts`` None means until revoked."""

    names: str
    role: Role
    lasts: timedelta | None
    once: bool
    pressed: bool


# --- the first lead ----------------------------------------------------------------------------


def start_invitations(me: Person | None) -> None:
    """Let the first lead invite themselves; sign-in is required once they open their own link."""
    st.write(FIRST_INVITATION)
    with (
        st.form("first", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        name = st.text_input("Your name", (me and me.name) or "", max_chars=100, width=320)
        pressed = st.form_submit_button("Create my link", type="primary")
    st.caption(LOCKED_OUT)
    if pressed:
        with ui.guard(), ui.open_store() as store:
            show_own_link(store, name.strip())


def show_own_link(store: Store, name: str) -> None:
    """Show a lead a link for themselves, which works from the moment they open it."""
    key = access.promise_lead_link(store, name)
    there = f"/join/{key.secret}?{PROMISE}={key.promise}"
    with st.container(border=True, key="own-link"):
        st.text(OWN_LINK)
        # a plain link, which leaves Streamlit and returns with a cookie in the same tab
        show_html(htpy.a(".go", href=there, target="_self")[f"Sign in as {name}"])
        show_text_to_copy(f"{server_address()}{there}")
        st.caption(SHOWN_ONCE)


# --- everybody else ----------------------------------------------------------------------------


def invite_people(door: AccessPolicy) -> None:
    """Invite people by a link or, where the server has a login, by its address."""
    st.header("Invite people")
    place = st.empty()
    asked = invitation_form(place, by_login=door.login)
    answer = st.session_state.pop(ANSWER, None)
    if not (asked.pressed or answer):
        return
    with ui.guard(HINTS), ui.open_store() as store:
        people = read_invitees(asked.names, by_login=door.login)
        alike = {each.name: known for each in people if (known := known_alike(store, each.name))}
        if alike and answer is None:
            ask_who_is_meant(store, alike)
            return
        if answer == KNOWN:
            people = [Invitee(alike.get(each.name, each.name), each.address) for each in people]
        by_link = invite_each(store, people, asked)
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
    if not by_link:
        ui.done("Invited")
    invitation_form(place, by_login=door.login)  # emptied: a second press would end the links


def invitation_form(place: DeltaGenerator, *, by_login: bool) -> AskedInvitations:
    """Draw the form that invites people; after each invitation it is a new form."""
    at = st.session_state.get(ROUND, 0)
    with place.form(f"invite-{at}", border=False):
        typed = st.text_area(
            "Names, one per line",
            help=LOGIN_HELP if by_login else NAMES_HELP,
            height=120,
            key=f"invite-names-{at}",
            width=480,
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            role = st.selectbox("Role", GRADER_OR_LEAD, width=120, key=f"invite-role-{at}")
            valid = st.selectbox(
                *("Valid", list(LINK_LIFETIMES)),
                width=180,
                help=LIFETIME_HELP,
                key=f"invite-valid-{at}",
            )
            once = st.checkbox("One device only", help=ONCE_HELP, key=f"invite-once-{at}")
            pressed = st.form_submit_button("Invite", type="primary")
        st.caption("Graders see the Label page, leads see everything.")
    return AskedInvitations(typed, role, LINK_LIFETIMES[valid], once, pressed)


def read_invitees(typed: str, *, by_login: bool) -> list[Invitee]:
    """Return the people to invite, each once; raises `BadInput` for an invalid name.

    >>> read_invitees("Ann, Bob\\n\\nAnn", by_login=False)
    [Invitee(name='Ann', address=None), Invitee(name='Bob', address=None)]
    >>> read_invitees("Ann <ann@example.org>", by_login=True)
    [Invitee(name='Ann', address='ann@example.org')]
    """
    people: dict[str, Invitee] = {}
    for part in filter(None, (each.strip() for each in re.split(r"[\n,;]", typed))):
        found = WITH_ADDRESS.fullmatch(part) if by_login else None
        name, address = (found["name"], found["address"].strip()) if found else (part, None)
        person = Invitee(check_name(name.strip() or address or "", "grader"), address)
        people.setdefault(name_key(person.name), person)
    if not people:
        raise BadInput("a grader name must not be empty: give at least one name")
    if len(people) > MOST_AT_ONCE:
        raise BadInput(f"{len(people)} names at once are too many: give {MOST_AT_ONCE} at most")
    return list(people.values())


def known_alike(store: Store, name: str) -> str | None:
    """Return a grader whose name differs from this one in case or blanks only, if there is one."""
    known = store.people.names_like(name)
    return None if name in known else next(iter(known), None)


def ask_who_is_meant(store: Store, alike: dict[str, str]) -> None:
    """Ask whether names that are nearly those of known graders mean these."""
    grades = {each.grader: each.grades for each in store.activity.work()}
    with st.container(border=True, key="invite-alike-question"):
        for name, known in alike.items():
            done = grades.get(known, 0)
            passages = store.settings.read().passage
            has = f"has graded {format_count(done, *passages)} here" if done else "is here already"
            st.text(f"{known} {has}. Is “{name}” the same person?")
        with st.container(horizontal=True):
            for label, answer in (
                ("Yes, the same" if len(alike) == 1 else "Yes, the same people", KNOWN),
                ("No, someone else" if len(alike) == 1 else "No, other people", SOMEONE_ELSE),
            ):
                st.button(
                    label, key=f"alike-{answer}", on_click=_keep_answer, kwargs={"answer": answer}
                )


def _keep_answer(answer: str) -> None:
    st.session_state[ANSWER] = answer


def invite_each(store: Store, people: Sequence[Invitee], asked: AskedInvitations) -> list[str]:
    """Invite people, and show the message for each; return those who are invited by link."""
    by_link = []
    for each in people:
        if each.address is not None:
            store.people.allow(each.name, each.address, role=asked.role)
        else:
            by_link.append(each.name)
    if by_link:
        show_links(store, by_link, asked.role, lasts=asked.lasts, once=asked.once)
    return by_link


def show_links(
    store: Store,
    names: Sequence[str],
    role: Role | None = None,
    *,
    lasts: timedelta | None = None,
    once: bool = False,
) -> None:
    """Invite each person by a link, and show a message with it, ready to be copied and sent."""
    links, ended = {}, []
    for name in names:
        secret, has_ended = access.invite(store, name, role, lasts=lasts, once=once)
        links[name] = f"{server_address()}/join/{secret}"
        ended += [name] if has_ended else []
    roles = {each.name: each.role for each in store.people.ways_in()}
    words = ui.graders_words(store.settings.read())
    with st.container(border=True, key="invitations"):
        if len(links) > 1:
            people = format_count(len(links), "person is", "people are")
            st.text(f"{people} invited. Send each of them their own message:")
        for name, link in links.items():
            if len(links) == 1:
                st.text(f"{name} is invited. Send them this message:")
            show_text_to_copy(Invitation.of(store, name, roles[name]).message(words, link))
        if len(links) > 1:
            with st.expander("Names and links alone, as a table"):
                show_text_to_copy("\n".join(f"{name}\t{link}" for name, link in links.items()))
        st.caption("Copy them now: links aren't shown again. Each is personal.")
        if ended:
            st.text(f"The earlier link of {', '.join(ended)} has ended.")
        if urlsplit(server_address()).hostname in LOOPBACK:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(f"⚠ {LOCAL_ADDRESS_ONLY}", width="content")
                with st.popover("How to let others in"):
                    st.text(LET_OTHERS_IN)


def show_text_to_copy(text: str) -> None:
    """Show a text beside a button that copies it."""
    st.code(text, language=None, wrap_lines=True)


def server_address() -> str:
    """Return the server's address: the configured one, or the one of this visitor."""
    said = os.environ.get("LABELER_ADDRESS")
    if said:
        return said.rstrip("/")
    here = urlsplit(st.context.url or "")
    return f"{here.scheme}://{here.netloc}"
