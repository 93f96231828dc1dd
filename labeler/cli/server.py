"""``labeler serve`` and ``labeler demo``: check everything, then become the server's process.

The login file is checked here: Streamlit would report a fault in it on its pages, to people who
cannot repair it.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
import tomllib
from collections.abc import Mapping, Sequence
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import click

from labeler.analysis.gate import GATE_VARIABLE, read_gate_file
from labeler.cli.atomic_output import is_new, new_golden_set
from labeler.cli.backup import backup_options, schedule_of
from labeler.cli.demo_data import build_demo, check_is_demo, set_old_demo_aside
from labeler.cli.groups import FILE, database_option, say
from labeler.cli.launch import address_of
from labeler.cli.people import give_link
from labeler.errors import BadInput, NotFound
from labeler.model import Settings, check_title
from labeler.paths import PACKAGE
from labeler.services.import_export import MOST_UPLOAD_MEGABYTES
from labeler.store import Store, integrity
from labeler.store.addresses import StoreLocation, location_for_environment, require_file
from labeler.store.backup import backups
from labeler.store.backup.backups import Schedule
from labeler.web.auth import access
from labeler.web.auth.access import DEFAULT_PROVIDER, PROVIDER_KEYS, AccessPolicy, provider_names
from labeler.web.auth.allowed_hosts import BOUND_ADDRESS, HOST_NAMES, LOOPBACK, check_host_name

FIRST_PORT = 8501
PORTS_TRIED = 100

port_option = click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help=f"The port to listen on.  [default: the first free one from {FIRST_PORT}]",
)
browser_option = click.option("--no-browser", is_flag=True, help="Do not open a browser.")


PG_BACKUP_HINT = (
    "its server's own tool makes backups of it, pg_dump {name}; leave out --backup-every and "
    "--backup-to"
)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--host-name",
    "host_names",
    multiple=True,
    metavar="NAME",
    help="A name by which people reach the server, such as labels.example.org behind a proxy; "
    "may be repeated. Without it the server answers to this machine's names, to IP "
    "addresses and to --host.",
)
@port_option
@browser_option
@click.option(
    "--new", is_flag=True, help="Make an empty golden set and open the page that fills it."
)
@click.option(
    "--name",
    "title",
    metavar="NAME",
    help="With --new: the golden set's name, in the header of every page. Without it you are asked "
    "in a terminal; elsewhere it is that of the file.",
)
@click.option(
    "--lead",
    metavar="NAME",
    help="With --new: invite this person as lead and print their link; nobody else can sign "
    "in. The link begins with LABELER_ADDRESS, else with https and the first --host-name.",
)
@click.option("--graders-only", is_flag=True, help="Show the Label page alone, to leads too.")
@click.option(
    "--login",
    type=FILE,
    help="Let people sign in with a login: a secrets.toml of Streamlit with an [auth] section."
    " 'labeler invite --login' says who may.",
)
@click.option(
    "--trust-addresses-of",
    "trusted_issuers",
    multiple=True,
    metavar="ISSUER",
    help="With --login: trust the e-mail addresses of this issuer although it does not say "
    "that they are confirmed (no email_verified); may be repeated.",
)
@click.option(
    "--allow-unauthenticated",
    is_flag=True,
    help="Sign everyone in as lead, without an invitation, on any address.",
)
@click.option(
    "--gate",
    "gate_file",
    type=FILE,
    help="Show the thresholds of this gate file on Scores; see 'labeler gate --help'.",
)
@click.option(
    "--bytes-per-minute",
    metavar="BYTES",
    type=click.IntRange(min=1),
    default=access.BYTES_PER_MINUTE,
    show_default=True,
    help="How much one grader may send per minute; above it the page waits and sends again.",
)
@backup_options
@database_option
@click.pass_obj
def serve(
    db: StoreLocation,
    host: str,
    host_names: tuple[str, ...],
    port: int | None,
    no_browser: bool,
    new: bool,
    title: str | None,
    lead: str | None,
    graders_only: bool,
    login: Path | None,
    trusted_issuers: tuple[str, ...],
    allow_unauthenticated: bool,
    gate_file: Path | None,
    bytes_per_minute: int,
    backup_every: timedelta | None,
    backup_to: Path | None,
    keep: int,
) -> None:
    """Open the pages in a browser, until Ctrl-C.

    Until somebody is invited or a login is set up, users of this machine are signed in as
    leads.
    """
    check_options(new, lead, graders_only, login, trusted_issuers, allow_unauthenticated)
    if title is not None and not new:
        raise click.UsageError("--name goes with --new; else: labeler change setting name NAME")
    names = [check_host_name(name) for name in host_names]
    where = f"--host-name {names[0]}" if names and host in LOOPBACK else f"--host {host}"
    schedule = schedule_of(backup_every, backup_to, keep)
    if schedule is not None:
        require_file(db, PG_BACKUP_HINT)
    if gate_file is not None:
        read_gate_file(gate_file)
    if login is not None:
        check_login(login)
        names.append(host_of_login(login))
    door = AccessPolicy(
        reachable=host not in LOOPBACK or bool(host_names),
        allows_anyone=allow_unauthenticated,
        login=login is not None,
        graders_only=graders_only,
        trusted_issuers=frozenset(trusted_issuers),
    )
    if new:
        check_new(db, where, door, lead)
        port = free_port(host, port)
        public = f"https://{names[0]}" if host_names else address_of(host, port)
        called = title if title is not None else ask_name(db)
        make_new(db, called, lead, os.environ.get("LABELER_ADDRESS") or public)
    else:
        integrity.check_undamaged(db)
        with Store(db) as store:
            check_host(where, door, store)
    if door.allows_anyone:
        click.echo("Everyone who reaches this server is lead (--allow-unauthenticated).")
    become_server(
        db,
        host,
        port,
        browser=not no_browser and lead is None,  # the lead signs in by the printed link
        page="/data" if new else "",
        door=door,
        login=login,
        names=names,
        bytes_per_minute=bytes_per_minute,
        schedule=schedule,
        gate_file=gate_file,
    )


def check_options(
    new: bool,
    lead: str | None,
    graders_only: bool,
    login: Path | None,
    trusted_issuers: tuple[str, ...],
    allow_unauthenticated: bool,
) -> None:
    """Raise for options that do not go together."""
    if login is not None and allow_unauthenticated:
        raise click.UsageError("--login asks who signs in, --allow-unauthenticated does not")
    if trusted_issuers and login is None:
        raise click.UsageError("--trust-addresses-of goes with --login")
    if any(not issuer or issuer.split() != [issuer] for issuer in trusted_issuers):
        raise click.UsageError("--trust-addresses-of names an issuer, such as https://id.example")
    if new and graders_only:
        raise click.UsageError("--new opens a page for leads, --graders-only closes it")
    if lead is not None and not new:
        raise click.UsageError("--lead goes with --new; else: labeler invite NAME --role lead")


def check_host(where: str, door: AccessPolicy, store: Store) -> None:
    """Raise `BadInput` for an address that others can reach if nobody could sign in."""
    if not door.reachable or door.allows_anyone or door.login or store.people.has_invitations():
        return
    raise BadInput(
        f"{where}: others can reach this address, and nobody is invited yet; invite "
        "yourself first ('labeler invite YOU --role lead'), let people log in (--login FILE), or "
        "let everyone who can reach it read and grade all (--allow-unauthenticated)"
    )


def check_new(db: StoreLocation, where: str, door: AccessPolicy, lead: str | None) -> None:
    """Raise `BadInput` if a golden set exists already, or if nobody could sign in to fill it."""
    if not is_new(db):
        raise BadInput(f"{db}: is there already; open it without --new, or name another with --db")
    if lead is not None or door.allows_anyone or not (door.reachable or door.login):
        return
    others = f"{where}: others can reach this address"
    why = others if door.reachable else "--login asks who signs in"
    anyone = ", or let everyone who can reach it read and grade all (--allow-unauthenticated)"
    raise BadInput(
        f"{why}, and nobody is invited to a new golden set yet; name who signs in first (--lead "
        f"NAME){anyone if door.reachable and not door.login else ''}"
    )


def ask_name(db: StoreLocation) -> str:
    """Ask in a terminal for a new golden set's name; return '' elsewhere, or for the file's name.

    Asks again after an invalid name.
    """
    if not sys.stdin.isatty():
        return ""
    usual = db.stem if isinstance(db, Path) else db.name

    def name_given(text: str) -> str:
        try:
            return text if text == usual else check_title(text.strip())
        except BadInput as error:
            raise click.UsageError(str(error)) from error

    chosen = click.prompt("Name of the golden set", default=usual, value_proc=name_given)
    return "" if chosen == usual else str(chosen)


def make_new(db: StoreLocation, title: str, lead: str | None, address: str) -> None:
    """Make an empty golden set, completely or not at all, and print the first lead's link."""
    said: list[str] = []
    settings = Settings(name=title.strip())
    with new_golden_set(db) as store:
        if settings.name:
            store.settings.save(settings)
        if lead is not None:
            said = give_link(store, lead.strip(), "lead", address)
    for line in said:
        say(line)


@click.command()
@click.option("--db", type=FILE, help="The demo's own file.  [default: labeler-demo.db]")
@click.option("--fresh", is_flag=True, help="Replace the demo; grades given in it are lost.")
@click.option(
    "--rechunked",
    is_flag=True,
    help="Add the documents cut another way, and a run on these chunks: grades can be transferred.",
)
@port_option
@browser_option
@click.pass_context
def demo(
    context: click.Context,
    db: Path | None,
    fresh: bool,
    rechunked: bool,
    port: int | None,
    no_browser: bool,
) -> None:
    """Open the pages on sample data, in a file of its own.

    The first page is Scores, as long as nobody is invited.
    """
    path = db or _demo_path(context) or Path("labeler-demo.db")
    aside = set_old_demo_aside(path)
    if aside is not None:
        click.echo(f"{path}: was a demo of an earlier version; it is kept as {aside.name}")
    new = is_new(path)
    if rechunked and not (new or fresh):
        raise click.UsageError("--rechunked goes with a new demo: add --fresh")
    if fresh and not new:
        check_is_demo(path)
    if fresh or new:
        build_demo(path, replace=fresh, rechunked=rechunked)
    integrity.check_undamaged(path)
    with Store(path) as store:
        page = "" if store.people.has_invitations() else "/scores"
    become_server(path, LOOPBACK[0], port, browser=not no_browser, page=page)


def _demo_path(context: click.Context) -> Path | None:
    """Return the file named by ``labeler --db FILE demo``; LABELER_DB is ignored."""
    root = context.find_root()
    named = root.get_parameter_source("db") == click.core.ParameterSource.COMMANDLINE
    return require_file(root.params["db"], "the demo has a file of its own") if named else None


def become_server(
    db: StoreLocation,
    host: str,
    port: int | None,
    *,
    browser: bool,
    page: str = "",
    door: AccessPolicy = AccessPolicy(),  # noqa: B008  # frozen
    login: Path | None = None,
    names: Sequence[str] = (),
    bytes_per_minute: int = access.BYTES_PER_MINUTE,
    schedule: Schedule | None = None,
    gate_file: Path | None = None,
) -> NoReturn:
    """Replace this process by the server, so that Ctrl-C reaches it directly.

    ``page`` is the path that the browser opens and that is printed with the address.
    """
    port = free_port(host, port)
    seen = "yes" if browser and has_screen() else "no"
    launch = str(PACKAGE / "cli" / "launch.py")
    # -P keeps the folder of that script from hiding modules of the same name.
    command = [
        sys.executable,
        "-P",
        launch,
        host,
        str(port),
        seen,
        page,
        *streamlit_arguments(host, port, login),
    ]
    sys.stdout.flush()
    made = environment(db, door, host, names, schedule, bytes_per_minute)
    if gate_file is not None:
        made[GATE_VARIABLE] = str(gate_file.absolute())
    os.execve(command[0], command, made)


def environment(
    db: StoreLocation,
    door: AccessPolicy,
    host: str = LOOPBACK[0],
    names: Sequence[str] = (),
    schedule: Schedule | None = None,
    bytes_per_minute: int = access.BYTES_PER_MINUTE,
) -> dict[str, str]:
    """Return the server's environment: the golden set, access, and backups."""
    flags = {
        access.ANY_HOST: door.reachable,
        access.OPEN: door.allows_anyone,
        access.LOGIN: door.login,
        access.GRADERS_ONLY: door.graders_only,
    }
    said = {name: "1" if holds else "" for name, holds in flags.items()} | {
        access.TRUSTED_ISSUERS: " ".join(door.trusted_issuers),
        access.MOST_SENT: str(bytes_per_minute),
        HOST_NAMES: " ".join(names),
        BOUND_ADDRESS: host,
        "LABELER_DB": location_for_environment(db),
    }
    decided = {*said, GATE_VARIABLE, backups.EVERY, backups.FOLDER, backups.KEEP}
    kept = {name: value for name, value in os.environ.items() if name not in decided}
    given = {name: value for name, value in said.items() if value}
    # glibc gives each thread its own memory, and keeps it after a page's thread ends
    shared = {"MALLOC_ARENA_MAX": "2"}
    return {**shared, **kept, **given, **(schedule.in_environment() if schedule else {})}


def streamlit_arguments(host: str, port: int, login: Path | None = None) -> list[str]:
    """Return Streamlit's arguments; options that never vary are in its config file."""
    options: dict[str, str | int] = {
        "server.address": host,
        "server.port": port,
        "server.headless": "true",
        "server.showEmailPrompt": "false",
        "server.fileWatcherType": "none",
        "server.maxUploadSize": MOST_UPLOAD_MEGABYTES,
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "minimal",
        "logger.hideWelcomeMessage": "true",
    }
    if login is not None:
        options["secrets.files"] = str(login.absolute())
    flags = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return ["run", str(PACKAGE / "app" / "main.py"), *flags]


def free_port(host: str, wanted: int | None) -> int:
    """Return ``wanted`` if it is free, or if it is None the first free port.

    Raises `BadInput` if it is taken, or if ``host`` is not an address of this machine.
    """
    if wanted is not None:
        if not is_free(host, wanted):
            raise BadInput(
                f"port {wanted} is taken; name another with --port, or leave it out to get the "
                "next free one"
            )
        return wanted
    for port in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        if is_free(host, port):
            return port
    last = FIRST_PORT + PORTS_TRIED - 1
    raise BadInput(f"the ports {FIRST_PORT} to {last} are all taken; name another with --port")


def is_free(host: str, port: int) -> bool:
    """Return whether a server could listen there now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
            trial.listen()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise BadInput(f"cannot listen on {host}, port {port}: {error.strerror}") from error
    return True


def has_screen() -> bool:
    """Return whether a browser can open a window; on Linux it needs a display."""
    elsewhere = not sys.platform.startswith(("linux", "freebsd"))
    return elsewhere or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


CALLBACK = "/oauth2callback"
SHORTEST_SECRET = 32
SECRET = "STREAMLIT_SERVER_COOKIE_SECRET"  # Streamlit's cookie secret if the file has none


def check_login(path: Path) -> None:
    """Raise unless people can log in with the file at ``path``; the error names file and key."""
    auth = auth_section(path)
    check_keys(path, "[auth]", auth, ("redirect_uri",))
    if not auth["redirect_uri"].endswith(CALLBACK):
        raise BadInput(f"{path}: redirect_uri in [auth] must end with {CALLBACK}")
    check_secret(path, auth)
    names = provider_names(auth)
    if not names:
        check_keys(path, "[auth]", auth, PROVIDER_KEYS)
    for name in names:
        if "_" in name:
            raise BadInput(f"{path}: [auth.{name}] must have a name without an underscore")
        usual = name == DEFAULT_PROVIDER
        place, section = ("[auth]", auth) if usual else (f"[auth.{name}]", auth[name])
        check_keys(path, place, section, PROVIDER_KEYS)
    if find_spec("authlib") is None or find_spec("httpx") is None:
        raise BadInput(
            "--login needs a library that is missing: pip install 'retrieval-labeler[login]'"
        )


def check_secret(path: Path, auth: Mapping[str, Any]) -> None:
    """Raise `BadInput` unless the file or the environment has a secret that cannot be guessed."""
    secret, where = os.environ.get(SECRET, ""), SECRET
    if "cookie_secret" in auth or not secret.strip():
        check_keys(path, "[auth]", auth, ("cookie_secret",))
        secret, where = auth["cookie_secret"], f"{path}: cookie_secret in [auth]"
    if len(secret) < SHORTEST_SECRET:
        raise BadInput(
            f"{where} can be guessed; make it {SHORTEST_SECRET} random characters or more"
        )


def host_of_login(path: Path) -> str:
    """Return the host name, and port if any, that the login's redirect goes to."""
    return urlsplit(str(auth_section(path)["redirect_uri"])).netloc.lower()


def auth_section(path: Path) -> Mapping[str, Any]:
    """Return the ``[auth]`` section of Streamlit's secrets at ``path``."""
    if not path.exists():
        raise NotFound(f"{path}: there is no such file")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput(f"{path}: is not TOML: {error}") from error
    auth = content.get("auth")
    if not isinstance(auth, Mapping):
        raise BadInput(f"{path}: has no [auth] section")
    return auth


def check_keys(path: Path, place: str, section: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    """Raise `BadInput` for the first key missing from the section."""
    for key in keys:
        value = section.get(key)
        if not isinstance(value, str) or not value.strip():
            raise BadInput(f"{path}: {key} is missing in {place}")
