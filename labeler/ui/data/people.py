"""Data > People: who grades or may sign in; inviting, renaming, changing roles, revoking.

The only place on the pages where the secret of an invitation link is shown.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import htpy
import streamlit as st

from labeler.model import format_minute
from labeler.render import csv_exports
from labeler.render.markup import show_html
from labeler.ui import shared as ui
from labeler.ui import url_state
from labeler.web.auth import access
from labeler.web.auth.access import PROMISE, AccessPolicy, Person
from labeler.web.auth.allowed_hosts import LOOPBACK

if TYPE_CHECKING:
    from labeler.store import GraderAccess, Store
    from labeler.store.people import Role

GRADER_OR_LEAD: tuple[Role, ...] = ("grader", "lead")

HINTS = {
    "labeler change role": 'On this page: choose them under "Change somebody"',
    "labeler invite": 'On this page: "Invite somebody"',
}
EVERYONE_LEAD = "Nobody is invited yet: whoever opens labeler on this machine is lead."
FIRST_INVITATION = (
    "With the first invitation the door closes for everybody who has none, you included. So you "
    "come in first, as lead. Under which name?"
)
LOCKED_OUT = (
    "Should you ever stand outside: on the machine that serves labeler, "
    "'labeler invite NAME --role lead' prints a new link."
)
LOCAL_ADDRESS_ONLY = (
    "Only this machine finds that address. For people elsewhere start the server with --host; "
    "where they reach it by another address, say that in LABELER_ADDRESS."
)
RENAME_HELP = (
    "All their judgments stay theirs. Where nobody is invited, their browser goes on under the old "
    "name until they change it on Label."
)
LINK_LIFETIMES = {
    "until it is ended": None,
    "for a day": timedelta(days=1),
    "for a week": timedelta(weeks=1),
    "for four weeks": timedelta(weeks=4),
}
LIFETIME_HELP = "Who has come in by it in that time stays in, in that browser."
ONCE_HELP = "It works in one browser; whoever opens it second is told that it has been used."
LOGIN_HELP = "Lets them in by a login with this address; without one they get a link."


def show_people() -> None:
    """List who grades or may come in, and invite, change or revoke."""
    door, me = AccessPolicy.from_environment(), ui.person()
    with ui.open_store() as store:
        closed = door.is_closed(store)
    if closed or door.allows_anyone:
        if door.allows_anyone:
            st.write("This server lets everyone in as lead (--allow-unauthenticated).")
        invite_somebody(door)
    else:
        st.write(EVERYONE_LEAD)
        start_invitations(me)
    with ui.open_store() as store:
        ways = store.ways_in()  # with whoever has just been invited
    if ways:
        list_people(ways, me, closed=closed)
        change_somebody(ways, me, closed=closed)
    if closed and not (door.reachable or door.login):
        end_invitations()


def list_people(ways: list[GraderAccess], me: Person | None, *, closed: bool) -> None:
    """Show who grades or may come in, and how."""
    rows = [
        {
            "name": f"{way.name} (you)" if is_me(way.name, me) else way.name,
            "role": way.role if way.stands else "",
            "comes in by": describe_way_in(way) if closed or way.stands else "their name",
            "since": (way.since or "")[:10],
            "revoked": (way.revoked_at or "")[:10],
        }
        for way in ways
    ]
    st.dataframe(rows, hide_index=True)
    with ui.open_store() as store:
        newest = store.revision()
    ui.offer("Download this table as CSV", lambda: csv_exports.rows_csv(rows), "people.csv", newest)


def is_me(name: str, me: Person | None) -> bool:
    """Say whether a name is that of whoever looks at this page."""
    return me is not None and me.name == name


def describe_way_in(way: GraderAccess) -> str:
    """Say how somebody signs in."""
    if not way.stands:
        return "not invited"
    if way.address:
        return f"login {way.address}" + (f" at {way.issuer}" if way.issuer else "")
    if way.once:
        return "link, used" if way.used_at else "link, once"
    return f"link until {format_minute(way.expires_at)} UTC" if way.expires_at else "link"


def start_invitations(me: Person | None) -> None:
    """Let the first lead invite themselves; sign-in is required once they open their own link."""
    st.write(FIRST_INVITATION)
    with st.form("first", border=False):
        name = st.text_input("Your name", (me and me.name) or "", max_chars=100, width=320)
        pressed = st.form_submit_button("Show my link", type="primary")
    st.text(LOCKED_OUT)
    if pressed:
        with ui.guard(), ui.open_store() as store:
            show_own_link(store, name.strip())


def show_own_link(store: Store, name: str) -> None:
    """Show a lead a link for themselves, which is their key from the moment they open it."""
    key = access.promise_lead_link(store, name)
    with st.container(border=True):
        st.text(f"This link is the key of {name} (lead) from the moment you open it here:")
        # a plain link: it leaves Streamlit, comes back with a cookie and stays in this tab
        there = f"/join/{key.secret}?{PROMISE}={key.promise}"
        show_html(
            htpy.a(href=there, target="_self", style="color: inherit; font-weight: 600")[
                "Open it in this browser and come in"
            ]
        )
        st.text("Nothing has changed before that. Keep it for your other browsers, too:")
        st.code(f"{server_address()}/join/{key.secret}", language=None, wrap_lines=True)
        st.text("It is shown only now. Give it to nobody else.")


def invite_somebody(door: AccessPolicy) -> None:
    """Invite a person by a link or, where the server has a login, by its address."""
    st.subheader("Invite somebody")
    with st.form("invite", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input("Name", max_chars=100)
            role = st.selectbox("Role", GRADER_OR_LEAD, width=120)
            login = st.text_input("Login", help=LOGIN_HELP) if door.login else ""
            lasts = st.selectbox(
                "The link works", list(LINK_LIFETIMES), width=180, help=LIFETIME_HELP
            )
            once = st.checkbox("Once", help=ONCE_HELP)
            pressed = st.form_submit_button("Invite", type="primary")
        st.caption("A grader may open the Label page, a lead everything.")
    if not pressed:
        return
    with ui.guard(HINTS), ui.open_store() as store:
        if login.strip():
            store.allow(name.strip() or login.strip(), login, role=role)
            ui.done("Invited")
        show_link(store, name.strip(), role, lasts=LINK_LIFETIMES[lasts], once=once)


def show_link(
    store: Store,
    name: str,
    role: Role | None = None,
    *,
    lasts: timedelta | None = None,
    once: bool = False,
) -> None:
    """Invite a person by a link and show it."""
    secret, ended = access.invite(store, name, role, lasts=lasts, once=once)
    with st.container(border=True):
        st.text(f"This link is the key of {name}. Give it to nobody else.")
        st.code(f"{server_address()}/join/{secret}", language=None, wrap_lines=True)
        st.text("It is shown only now." + " The link they had before has ended." * ended)
        if urlsplit(server_address()).hostname in LOOPBACK:
            st.text(LOCAL_ADDRESS_ONLY)


def server_address() -> str:
    """Return where people reach the server: as it was said, or as whoever looks reached it."""
    said = os.environ.get("LABELER_ADDRESS")
    if said:
        return said.rstrip("/")
    here = urlsplit(st.context.url or "")
    return f"{here.scheme}://{here.netloc}"


def change_somebody(ways: list[GraderAccess], me: Person | None, *, closed: bool) -> None:
    """Let a lead choose somebody and change what there is of them."""
    st.subheader("Change somebody")
    by_name = {way.name: way for way in ways}
    with ui.guard():
        name = url_state.choose_or_not(
            "Who?", list(by_name), "person", nothing="choose one", what="grader", width=320
        )
    if name is None:
        return
    mine = is_me(name, me)
    rename(name)
    if any(way.stands for way in ways if way.name == name):
        with st.container(horizontal=True):
            change_role(name, by_name[name].role, mine=mine and closed)
            revoke(name, mine=mine and closed)
            wanted = st.button("New link", key=f"link-{name}")
        if wanted:
            give_new_link(name, mine=mine and closed)
    elif closed:
        st.text(f"{name} is not invited. Invite them above, under this name.")


def rename(name: str) -> None:
    """Let a lead give somebody another name."""
    with (
        st.form(f"rename-{name}", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        new = st.text_input("Name", name, max_chars=100, help=RENAME_HELP)
        if st.form_submit_button("Rename"):
            with ui.guard(), ui.open_store() as store:
                store.rename_grader(name, new.strip())
            ui.done("Renamed", person=new.strip())


def change_role(name: str, role: Role, *, mine: bool) -> None:
    """Let a lead make somebody a lead, or a grader again."""
    other: Role = "grader" if role == "lead" else "lead"
    with st.popover(f"Make them {other} …", key=f"role-{name}"):
        st.text(f"{name} may then open {'the Label page alone' if role == 'lead' else 'all'}.")
        if mine:
            st.text("That is you: this page closes for you at once.")
        if st.button(f"Make them {other}", type="primary", key=f"role-{name}-yes"):
            with ui.guard(HINTS), ui.open_store() as store:
                store.change_role(name, other)
            ui.done("Changed")


def give_new_link(name: str, *, mine: bool) -> None:
    """Give somebody another link: to a lead themselves one that leaves the old one until used."""
    with ui.guard(HINTS), ui.open_store() as store:
        if mine:
            show_own_link(store, name)
        else:
            show_link(store, name)


def revoke(name: str, *, mine: bool) -> None:
    """Let a lead keep somebody out."""
    with st.popover("Revoke …", key=f"revoke-{name}"):
        st.text(
            f"{name} cannot come in any more; their judgments stay. Inviting them again lets them "
            "in again."
        )
        if mine:
            st.text("That is you: you are out at once.")
        if st.button("Revoke", type="primary", key=f"revoke-{name}-yes"):
            with ui.guard(HINTS), ui.open_store() as store:
                store.revoke(name)
            ui.done("Revoked")


def end_invitations() -> None:
    """Let a lead end all invitations, so that this machine's users come in as leads again."""
    with st.popover("Let everybody in again …"):
        st.text(
            "All links and logins end, and whoever opens labeler on this machine is lead, as at "
            "first. Judgments stay."
        )
        if st.button("End all invitations", type="primary"):
            with ui.guard(), ui.open_store() as store:
                store.revoke_everyone()
            ui.done("The door is open")
