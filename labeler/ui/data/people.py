"""Data > People: who grades or may sign in, their last visits, and what a lead can change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import htpy
import streamlit as st

from labeler.model import format_minute
from labeler.render import csv_exports
from labeler.render.markup import show_html, style
from labeler.ui import shared as ui
from labeler.ui import url_state
from labeler.ui.data.invitations import (
    HINTS,
    invite_people,
    show_links,
    show_own_link,
    start_invitations,
)
from labeler.web.auth.access import AccessPolicy, Person

if TYPE_CHECKING:
    from labeler.store import GraderAccess, Store
    from labeler.store.people import Role

EVERYONE_LEAD = "Nobody is invited yet: anyone who opens labeler on this computer is a lead."
RENAME_HELP = (
    "Their judgments move to the new name. While nobody is invited, their browser keeps the old "
    "name until they change it on Label."
)
NEVER = "–"
COLUMNS = ("signs in with", "invited", "first signed in", "last here", "grades")
STYLE = """
.person {
  display: grid; grid-template-columns: minmax(9rem, 2fr) minmax(8rem, 2fr) repeat(3, 7rem) 4rem;
  gap: 0 1rem; align-items: center; font-size: 0.9375rem; line-height: 1.5rem;
  margin: 0 !important; padding: 0 !important;
}
.stApp .person > * {
  margin: 0 !important; padding: 0 !important; min-width: 0; overflow-wrap: anywhere;
}
.person dt { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.person .named small { color: var(--muted); font-size: 0.8125rem; margin-left: 0.5rem; }
.person .grades { text-align: right; }
.person.heads { color: var(--muted); font-size: 0.8125rem; line-height: 1.25rem; }
[class*="st-key-person-row-"] { border-top: 1px solid var(--line); padding: 0.25rem 0; gap: 1rem; }
[class*="st-key-person-row-"] > div:first-child, .st-key-people-heads > div:first-child {
  flex: 0 0 calc(100% - 13rem); min-width: 0;
}
[class*="st-key-person-row-"] { justify-content: space-between; }
.st-key-people { gap: 0; }
:is(.st-key-own-link, .st-key-invitations) [data-testid="stCode"] > div {
  opacity: 1; visibility: visible;
}
:is(.st-key-own-link, .st-key-invitations) [aria-label="Copy to clipboard"]::after {
  content: "Copy"; margin-left: 0.25rem;
}
@media (max-width: 60rem) {
  .st-key-people-heads { display: none; }
  [class*="st-key-person-row-"] { flex-wrap: wrap; gap: 0.25rem 0.5rem; padding: 0.75rem 0; }
  [class*="st-key-person-row-"] > div:first-child { flex: 1 0 100%; }
  .person { grid-template-columns: auto 1fr; gap: 0 0.75rem; }
  .person dt {
    position: static; width: auto; height: auto; clip-path: none; color: var(--muted);
    font-size: 0.8125rem;
  }
  .person .named { grid-column: 1 / -1; font-weight: 600; }
  .person .grades { text-align: left; }
}
"""


@dataclass(frozen=True, slots=True)
class PersonRow:
    """A person in the list; every field except ``is_invited`` is text or a count."""

    name: str
    role: str
    signs_in_with: str
    invited: str
    came_in: str
    last_here: str
    grades: int
    is_invited: bool

    def cells(self) -> tuple[str, ...]:
        return (self.signs_in_with, self.invited, self.came_in, self.last_here, f"{self.grades:,}")


def show_people() -> None:
    """List who grades or may sign in, and invite, change or revoke."""
    show_html(style(STYLE))
    door, me = AccessPolicy.from_environment(), ui.person()
    with ui.open_store() as store:
        closed = door.is_closed(store)
    if closed or door.allows_anyone:
        if door.allows_anyone:
            st.write("On this server everyone is a lead (--allow-unauthenticated).")
        invite_people(door)
    else:
        st.write(EVERYONE_LEAD)
        start_invitations(me)
    with ui.open_store() as store:
        ways = store.people.ways_in()  # read now, to include people who were just invited
        rows, revision = person_rows(store, ways, closed=closed), store.judgments.revision()
    if rows:
        list_people(rows, ways, me, closed=closed)
        file = [csv_cells(row) for row in rows]
        ui.offer("Download as CSV", lambda: csv_exports.rows_csv(file), "people.csv", revision)
    if closed and not (door.reachable or door.login):
        end_invitations()


def person_rows(store: Store, ways: Sequence[GraderAccess], *, closed: bool) -> list[PersonRow]:
    """Return the row of each person, sorted by name."""
    visits, grades = (
        store.people.visits(),
        {each.grader: each.grades for each in store.activity.work()},
    )
    found = []
    for name in dict.fromkeys(way.name for way in ways):
        theirs = [way for way in ways if way.name == name]
        standing = [way for way in theirs if way.stands]
        visit = visits[name]
        invited = min((way.since for way in standing if way.since), default="")
        found.append(
            PersonRow(
                name,
                theirs[0].role if standing else "",
                ", ".join(describe_way_in(way) for way in standing or theirs)
                if closed or standing
                else "their name",
                invited[:10] or NEVER,
                (visit.first or "")[:10] or ("not yet" if standing else NEVER),
                (visit.last or "")[:10] or NEVER,
                grades.get(name, 0),
                bool(standing),
            )
        )
    return found


def csv_cells(row: PersonRow) -> dict[str, str | int]:
    """Return a person's row for a file."""
    cells = ["" if cell == NEVER else cell for cell in row.cells()[:-1]]
    dates = dict(zip(COLUMNS, cells, strict=False))
    return {"name": row.name, "role": row.role, **dates, "grades": row.grades}


def list_people(
    rows: Sequence[PersonRow], ways: list[GraderAccess], me: Person | None, *, closed: bool
) -> None:
    """Show each person, with a lead's actions beside the name."""
    st.header("People")
    with ui.guard():
        opened = url_state.check_among("person", [row.name for row in rows], "grader")
    with st.container(key="people"):
        with st.container(horizontal=True, key="people-heads"):
            heads = ("name", *COLUMNS)
            show_html(
                htpy.div(".person.heads", aria_hidden="true")[
                    (htpy.span(class_=head)[head] for head in heads)
                ]
            )
            st.space("small")
        for number, row in enumerate(rows):
            mine = is_me(row.name, me)
            with st.container(
                horizontal=True, vertical_alignment="center", key=f"person-row-{number}"
            ):
                show_html(person_html(row, mine=mine))
                wanted = row.is_invited and st.button("New link", key=f"link-{row.name}", width=88)
                st.button(
                    "Close" if opened == row.name else "Manage",
                    key=f"manage-{row.name}",
                    width=88,
                    on_click=url_state.write,
                    kwargs={"person": None if opened == row.name else row.name},
                )
            if wanted:
                give_new_link(row.name, mine=mine and closed)
            if opened == row.name:
                [role, *_] = [way.role for way in ways if way.name == row.name]
                manage(row, role, mine=mine and closed, closed=closed)


def person_html(row: PersonRow, *, mine: bool) -> htpy.Element:
    """Return one person of the list; screen readers and phones get the names of the columns."""
    notes = " · ".join(filter(None, (row.role, "you" if mine else "")))
    cells = zip(COLUMNS, row.cells(), strict=True)
    return htpy.dl(".person")[
        htpy.dd(".named")[row.name, htpy.small[notes] if notes else None],
        (
            (htpy.dt[head], htpy.dd(class_="grades" if head == "grades" else None)[cell])
            for head, cell in cells
        ),
    ]


def is_me(name: str, me: Person | None) -> bool:
    """Return whether a name is that of this page's visitor."""
    return me is not None and me.name == name


def describe_way_in(way: GraderAccess) -> str:
    """Say how somebody signs in."""
    if not way.stands:
        return f"revoked on {way.revoked_at[:10]}" if way.revoked_at else NEVER
    if way.address:
        return f"login {way.address}" + (f" at {way.issuer}" if way.issuer else "")
    if way.once:
        return "link, used" if way.used_at else "link, one device"
    return f"link until {format_minute(way.expires_at)} UTC" if way.expires_at else "link"


def manage(row: PersonRow, role: Role, *, mine: bool, closed: bool) -> None:
    """Let a lead change one person's name, role and access."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="person-managed"):
        rename(row.name)
        if row.is_invited:
            change_role(row.name, role, mine=mine)
            revoke(row.name, mine=mine)
    if closed and not row.is_invited:
        st.text(f"{row.name} is not invited. Invite them above, under this name.")


def rename(name: str) -> None:
    """Let a lead give somebody another name."""
    with (
        st.form(f"rename-{name}", border=False, width="content"),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        new = st.text_input("Name", name, max_chars=100, help=RENAME_HELP, width=240)
        if st.form_submit_button("Rename"):
            with ui.guard(), ui.open_store() as store:
                store.people.rename(name, new.strip())
            ui.done("Renamed", person=new.strip())


def change_role(name: str, role: Role, *, mine: bool) -> None:
    """Let a lead make somebody a lead, or a grader again."""
    other: Role = "grader" if role == "lead" else "lead"
    with st.popover(f"Make {other} …", key=f"role-{name}"):
        st.text(f"{name} can then open {'only the Label page' if role == 'lead' else 'all pages'}.")
        if mine:
            st.text("That is you: this page closes for you at once.")
        if st.button(f"Make {other}", type="primary", key=f"role-{name}-yes"):
            with ui.guard(HINTS), ui.open_store() as store:
                store.people.change_role(name, other)
            ui.done("Changed")


def give_new_link(name: str, *, mine: bool) -> None:
    """Give somebody a new link; a lead's own old link works until the new one is used."""
    with ui.guard(HINTS), ui.open_store() as store:
        if mine:
            show_own_link(store, name)
        else:
            show_links(store, [name])


def revoke(name: str, *, mine: bool) -> None:
    """Let a lead revoke somebody's access."""
    with st.popover("Revoke …", key=f"revoke-{name}"):
        st.text(
            f"{name} can't sign in any more. Their judgments are kept. You can invite them again."
        )
        if mine:
            st.text("That is you: you are signed out at once.")
        if st.button("Revoke", type="primary", key=f"revoke-{name}-yes"):
            with ui.guard(HINTS), ui.open_store() as store:
                store.people.revoke(name)
            ui.done("Revoked")


def end_invitations() -> None:
    """Let a lead end all invitations, so that this machine's users are leads again."""
    with st.popover("Turn off invitations …"):
        st.text(
            "All links and logins stop working, and anyone who opens labeler on this computer is a "
            "lead again. Judgments are kept."
        )
        if st.button("End all invitations", type="primary"):
            with ui.guard(), ui.open_store() as store:
                store.people.revoke_everyone()
            ui.done("Invitations are off")
