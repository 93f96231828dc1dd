"""What each page of the door says, and the ways on from it; decides nothing and writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from starlette.responses import Response

from labeler.model import upper
from labeler.store import Link, Login, Store
from labeler.web.auth import visitors
from labeler.web.auth.access import DEFAULT_PROVIDER, Claims, Door, Person
from labeler.web.auth.drawing import Way, button, link, page

ACCEPT, DECLINE, LEAVE, LOGIN_AGAIN = "/login/accept", "/login/decline", "/leave", "/auth/logout"
INVITED = "Open the link you were given, or ask whoever runs this for one."
GONE = "It is not whole, or has ended. Ask whoever sent it to you for a new one."
AGAIN_SECONDS = 5  # after which a browser asks anew while the golden set cannot be read
STAYS = "Your judgments stay, and what this browser has not sent yet waits in it for you."


def closed(store: Store, door: Door, claims: Claims) -> Response:
    """Return what a stranger is shown in the place of a page."""
    login = claims.login if door.login else None
    if login is None or store.has_opened(login) or store.knows(login):
        return page("You need an invitation", [INVITED], login_links(door), status=403)
    is_listed = login.address is not None and store.invited_at(login.address) is not None
    heading, *words = said_of(login, is_listed=is_listed)
    ways = [link("Log out", LOGIN_AGAIN), *login_links(door, quiet=True)]
    return page(heading, words, ways, status=403)


def said_of(login: Login, *, is_listed: bool) -> Sequence[str]:
    """Return heading and words for somebody who has logged in and may not come in."""
    if login.address is None:
        return (
            "Your login names no confirmed address",
            f"{login.issuer} does not say that your e-mail address is confirmed. Confirm it there, "
            "or log in as somebody else.",
            "If it never says so of anybody, whoever runs this can take its word all the same: "
            f"labeler serve --trust-addresses-of {login.issuer}",
        )
    if is_listed:
        return (
            "Your address belongs to another login",
            f"You are logged in as {login.address} at {login.issuer}. Somebody with this address "
            "is invited, but they log in elsewhere, or are somebody else there.",
            "If that is you, ask whoever runs this to invite your address anew.",
        )
    return (
        "You are not on the list",
        f"You are logged in as {login.address}, and nobody with this address is invited. "
        "Ask whoever runs this to invite you.",
    )


def login_links(door: Door, *, quiet: bool = False) -> list[Way]:
    """Return every way to log in that this server has."""
    names = visitors.providers() if door.login else []
    return [
        link(
            "Log in" if name == DEFAULT_PROVIDER else f"Log in with {name}",
            f"/login/{quote(name, safe='')}",
            quiet=quiet,
        )
        for name in names
    ]


def come_in(name: str, now: Person | None) -> Response:
    """Return the question whether a link's person comes in, maybe in the place of another."""
    if now is None or now.name is None:
        return page(
            f"You are invited as {name}",
            ["If that is not you, ask whoever sent you the link for one of your own."],
            [button("Come in")],
        )
    return page(
        f"Go on as {name}?",
        [f"In this browser you are {now.name}. This link is the key of {name}."],
        [link(f"Stay {now.name}", "/"), button(f"Go on as {name}", quiet=True)],
    )


def ask_who_goes_on(now: Person, newly: Person) -> Response:
    """Return the question whether a login takes the place of whose session the browser has."""
    return page(
        f"Go on as {newly.name}?",
        [f"In this browser you are {now.name}, and you have logged in as {newly.name}."],
        [
            button(f"Go on as {newly.name}", ACCEPT),
            button(f"Stay {now.name}", DECLINE, quiet=True),
        ],
    )


def no_link(link_: Link | None) -> Response:
    """Return what a link says that opens nothing."""
    said = GONE
    if link_ is not None and link_.used_up:
        said = "It worked once and has been used. Ask whoever sent it to you for a new one."
    elif link_ is not None and link_.expired:
        said = "It has expired. Ask whoever sent it to you for a new one."
    return page("This link does not work", [said], status=403)


def refused(said: str) -> Response:
    """Return a sentence that says why somebody does not come in."""
    return page("You cannot come in by this link", [said], status=403)


def out_of_order(said: str) -> Response:
    """Return what everybody is shown while the golden set cannot be read."""
    shown = page("Out of order", [f"{upper(said)}."], status=503)
    shown.headers["refresh"] = str(AGAIN_SECONDS)
    return shown


def leaving(person: Person, *, can_come_again: bool) -> Response:
    """Return the question where somebody logs out."""
    again = (
        []
        if can_come_again
        else ["Your link has been used or has expired: to come in again you need a new one."]
    )
    return page(
        f"Log out, {person.name}?",
        [STAYS, *again],
        [
            button("Log out here", f"{LEAVE}?where=here"),
            button("Log out everywhere", f"{LEAVE}?where=everywhere", quiet=True),
            link("Stay", "/", quiet=True),
        ],
    )


def left() -> Response:
    """Return what somebody is shown who came by a login and has logged out of labeler."""
    return page(
        "You are logged out",
        ["That is of labeler: where you log in you may still be logged in."],
        [link("Log out there, too", LOGIN_AGAIN), link("Go to the door", "/", quiet=True)],
    )
