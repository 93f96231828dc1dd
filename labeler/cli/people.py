"""``labeler invite``, ``revoke``, ``people`` and ``rename grader``: who may sign in, as whom.

Only ``invite``, and ``serve`` for the first lead, print the secret of an invitation link.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta

import click

from labeler.cli.groups import change, database_option, format_option, rename, say
from labeler.cli.options import parse_duration
from labeler.cli.output import Table, print_list, print_rows
from labeler.errors import BadInput
from labeler.model import escape_controls, format_minute
from labeler.render.words import Words
from labeler.store import Store, integrity
from labeler.store.addresses import StoreLocation
from labeler.store.people import GraderAccess, Role, login_address
from labeler.web.auth import access
from labeler.web.auth.invitation import Invitation


@click.command()
@click.argument("name", required=False)
@click.option(
    "--role",
    type=click.Choice(["grader", "lead"]),
    help="What they may open: a grader the Label page, a lead everything.  "
    "[default: grader, or what they are invited as]",
)
@click.option(
    "--expires",
    "lasts",
    metavar="TIME",
    callback=parse_duration,
    help="How long the link works, such as 12h or 7d; people who signed in with it stay signed in.",
)
@click.option("--once", is_flag=True, help="The link works once: in one browser.")
@click.option("--login", metavar="ADDRESS", help="Let them sign in by a login with this address.")
@click.option("--name", "login_name", metavar="NAME", help="With --login: who that is.")
@click.option(
    "--issuer",
    metavar="URL",
    help="With --login: only at this provider.  [default: the one of their first login]",
)
@click.option(
    "--new-person",
    "is_new",
    is_flag=True,
    help="Somebody else, although the name differs from a known one in case or blanks only.",
)
@click.option(
    "--address",
    metavar="URL",
    default="http://127.0.0.1:8501",
    envvar="LABELER_ADDRESS",
    show_default=True,
    show_envvar=True,
    help="Where people reach the server: the beginning of the link.",
)
@database_option
@click.pass_obj
def invite(
    db: StoreLocation,
    name: str | None,
    role: Role | None,
    lasts: timedelta | None,
    once: bool,
    login: str | None,
    login_name: str | None,
    issuer: str | None,
    is_new: bool,
    address: str,
) -> None:
    """Invite a person by a personal link, or by a login.

    The link comes alone in the first line, and again in a message that is ready to be sent.
    After the first invitation only invited people can open labeler.
    """
    name = (login_name or name or login or "").strip()
    if not name or (login_name and not login):
        raise click.UsageError("name the person to invite, or give --login ADDRESS [--name NAME]")
    if login is not None and (lasts or once):
        raise click.UsageError("--expires and --once are about a link, --login makes none")
    if issuer is not None and login is None:
        raise click.UsageError("--issuer goes with --login")
    integrity.check_undamaged(db)
    with Store(db) as store:
        if not is_new:
            check_name_is_new(store, name)
        first = not store.people.has_invitations()
        if login is None:
            link, *said = give_link(store, name, role, address, lasts=lasts, once=once)
            for line in (link, *said, *message_with(store, name, link)):
                say(line)
        else:
            allow_login(store, name, role, login, issuer)
        if first:
            click.echo("From now on only invited people can open labeler.")
        warn_without_lead(store)


def check_name_is_new(store: Store, name: str) -> None:
    """Raise `BadInput` for a name that differs from a known one only in case or blanks."""
    known = list(store.people.names_like(name))
    if known and name not in known:
        raise BadInput(
            f"{name!r} differs from {known[0]!r} in case or blanks only; invite {known[0]!r}, or "
            "add --new-person for somebody else"
        )


def give_link(
    store: Store,
    name: str,
    role: Role | None,
    address: str,
    *,
    lasts: timedelta | None = None,
    once: bool = False,
) -> list[str]:
    """Invite a person by a link, and return the lines to print: the link, and what it does."""
    if not address.startswith(("http://", "https://")):
        raise BadInput(f"--address must begin with http:// or https://, not {address!r}")
    secret, ended = access.invite(store, name, role, lasts=lasts, once=once)
    whose = f"{name} ({role_of(store, name)})"
    way = next(way for way in store.people.ways_in() if way.name == name and way.by_link)
    return [
        f"{address.rstrip('/')}/join/{secret}",
        f"This is the sign-in link of {whose}. Copy it now: it is not shown again. It is personal.",
        *([f"It works {describe_limits(way)}."] if describe_limits(way) else []),
        *([f"The link {name} had before has ended."] if ended else []),
    ]


def message_with(store: Store, name: str, link: str) -> list[str]:
    """Return the message for an invited person, with their link, as lines to print."""
    invitation = Invitation.of(store, name, role_of(store, name))
    message = invitation.message(Words.of(store.settings.read()), link)
    return ["", f"A message that you can send to {name}:", "", *message.splitlines(), ""]


def describe_limits(way: GraderAccess) -> str:
    """Describe until when and how often a link works; empty without limits."""
    till = f"until {format_minute(way.expires_at)} UTC" if way.expires_at else ""
    return " ".join(filter(None, [till, "once" if way.once else ""]))


def allow_login(
    store: Store, name: str, role: Role | None, login: str, issuer: str | None = None
) -> None:
    """Invite a person by the address of their login, and print that."""
    known = store.people.allow(name, login, role=role, issuer=issuer)
    again = ", as before" if known else ""
    say(
        f"{login_address(login)} signs in as {name} ({role_of(store, name)}){again}, where the "
        "server is started with --login."
    )


def role_of(store: Store, name: str) -> Role:
    """Return the role of a known grader."""
    return next(way.role for way in store.people.ways_in() if way.name == name)


def warn_without_lead(store: Store) -> None:
    """Warn if nobody could open the pages for leads."""
    if store.people.has_invitations() and not store.people.has_invitations("lead"):
        click.echo("No lead is invited, not even you: labeler invite YOU --role lead")


@click.command()
@click.argument("name", required=False)
@click.option("--everyone", is_flag=True, help="End all links and logins.")
@database_option
@click.pass_obj
def revoke(db: StoreLocation, name: str | None, everyone: bool) -> None:
    """End a person's link and login; their judgments stay.

    The last lead cannot be revoked, except with --everyone, after which nobody needs an
    invitation.
    """
    if everyone == (name is not None):
        raise click.UsageError("name the person to revoke, or use --everyone")
    with Store(db) as store:
        if name is None:
            store.people.revoke_everyone()
        else:
            store.people.revoke(name)
            say(f"{name} can no longer sign in; their judgments stay")
        if not store.people.has_invitations():
            click.echo("Invitations are off: anyone who opens labeler on this computer is a lead.")
        warn_without_lead(store)


@change.command("role")
@click.argument("name")
@click.argument("role", type=click.Choice(["grader", "lead"]))
@database_option
@click.pass_obj
def change_role(db: StoreLocation, name: str, role: Role) -> None:
    """Make an invited person a lead, or a grader again.

    A grader may open the Label page, a lead everything. Their link and judgments stay.
    """
    with Store(db) as store:
        store.people.change_role(name, role)
    say(f"{name} is {role} now")


@click.command()
@format_option(("table", "json"), "json is for programs; it has no link and no key.")
@database_option
@click.pass_obj
def people(db: StoreLocation, kind: str) -> None:
    """List everyone who grades or may sign in, and how."""
    integrity.check_undamaged(db)
    with Store(db) as store:
        ways = store.people.ways_in()
    if kind == "json":
        print_rows(kind, map(asdict, ways))
        return
    if not ways:
        click.echo("Nobody has graded yet and nobody is invited: labeler invite NAME")
        return
    table = Table(
        ["name", "role", "signs in with", "since", "revoked"], [], [*map(access_cells, ways)]
    )
    print_list(table, len(ways))


def access_cells(way: GraderAccess) -> list[str]:
    """Return a person's access as a row of the table."""
    by, role = "no invitation", way.role if way.by_link or way.address else "–"
    if way.address:
        by = f"login {way.address}" + (f" at {way.issuer}" if way.issuer else "")
    elif way.by_link:
        used = "used" if way.once and way.used_at else describe_limits(way)
        by = f"link, {used}" if used else "link"
    days = [(moment or "")[:10] for moment in (way.since, way.revoked_at)]
    return [escape_controls(way.name), role, escape_controls(by), *days]


@rename.command("grader")
@click.argument("old")
@click.argument("new")
@database_option
@click.pass_obj
def rename_grader(db: StoreLocation, old: str, new: str) -> None:
    """Rename a grader; all their judgments stay theirs.

    Their invitation stays, too. A browser in which OLD was typed in still says OLD until it is
    changed there.
    """
    with Store(db) as store:
        store.people.rename(old, new.strip())
    say(f"{old} is now {new.strip()}; all their judgments are kept")
