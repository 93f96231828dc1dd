"""Sign-in pages: plain HTML with words, buttons and links, without scripts and sockets."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

import htpy
from starlette.responses import HTMLResponse, Response

from labeler.model import capitalize_first
from labeler.render.markup import style
from labeler.store import InvitationLink, Login, Store
from labeler.web.auth import session_cookies
from labeler.web.auth.access import DEFAULT_PROVIDER, AccessPolicy, Credentials, Person

ACCEPT, DECLINE = "/login/accept", "/login/decline"
LEAVE, PROVIDER_LOGOUT = "/leave", "/auth/logout"
INVITED = "Open the link you were given, or ask whoever runs this for one."
LINK_ENDED = "It is not whole, or has ended. Ask whoever sent it to you for a new one."
AGAIN_SECONDS = 5  # after which a browser reloads while the golden set cannot be read
JUDGMENTS_STAY = "Your judgments stay, and what this browser has not sent yet waits in it for you."


def invitation_needed(store: Store, policy: AccessPolicy, credentials: Credentials) -> Response:
    """Return the page for a visitor without access, in place of the one requested."""
    login = credentials.login if policy.login else None
    if login is None or store.has_opened(login) or store.knows(login):
        return page("You need an invitation", [INVITED], login_links(policy), status=403)
    is_listed = login.address is not None and store.invited_at(login.address) is not None
    heading, *words = explain_refused_login(login, is_listed=is_listed)
    ways = [link("Log out", PROVIDER_LOGOUT), *login_links(policy, quiet=True)]
    return page(heading, words, ways, status=403)


def explain_refused_login(login: Login, *, is_listed: bool) -> Sequence[str]:
    """Return heading and sentences for somebody who has logged in but has no access."""
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


def login_links(policy: AccessPolicy, *, quiet: bool = False) -> list[PageLink]:
    """Return a link for each login provider of this server."""
    names = session_cookies.configured_providers() if policy.login else []
    return [
        link(
            "Log in" if name == DEFAULT_PROVIDER else f"Log in with {name}",
            f"/login/{quote(name, safe='')}",
            quiet=quiet,
        )
        for name in names
    ]


def confirm_link(name: str, now: Person | None) -> Response:
    """Return the page that asks before a link signs in, maybe in place of somebody else."""
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


def confirm_switch(now: Person, newly: Person) -> Response:
    """Return the page that asks whether a login replaces the session of another person."""
    return page(
        f"Go on as {newly.name}?",
        [f"In this browser you are {now.name}, and you have logged in as {newly.name}."],
        [
            button(f"Go on as {newly.name}", ACCEPT),
            button(f"Stay {now.name}", DECLINE, quiet=True),
        ],
    )


def dead_link(link_: InvitationLink | None) -> Response:
    """Return the page for a link that does not work."""
    said = LINK_ENDED
    if link_ is not None and link_.used_up:
        said = "It worked once and has been used. Ask whoever sent it to you for a new one."
    elif link_ is not None and link_.expired:
        said = "It has expired. Ask whoever sent it to you for a new one."
    return page("This link does not work", [said], status=403)


def refused(said: str) -> Response:
    """Return the page that says why a visitor is refused."""
    return page("You cannot come in by this link", [said], status=403)


def unavailable(said: str) -> Response:
    """Return the page shown to everybody while the golden set cannot be read."""
    shown = page("Out of order", [f"{capitalize_first(said)}."], status=503)
    shown.headers["refresh"] = str(AGAIN_SECONDS)
    return shown


def confirm_sign_out(person: Person, *, can_come_again: bool) -> Response:
    """Return the page that asks before somebody signs out."""
    again = (
        []
        if can_come_again
        else ["Your link has been used or has expired: to come in again you need a new one."]
    )
    return page(
        f"Log out, {person.name}?",
        [JUDGMENTS_STAY, *again],
        [
            button("Log out here", f"{LEAVE}?where=here"),
            button("Log out everywhere", f"{LEAVE}?where=everywhere", quiet=True),
            link("Stay", "/", quiet=True),
        ],
    )


def signed_out() -> Response:
    """Return the page shown after somebody who came by a login has signed out of labeler."""
    return page(
        "You are logged out",
        ["That is of labeler: where you log in you may still be logged in."],
        [link("Log out there, too", PROVIDER_LOGOUT), link("Go to the door", "/", quiet=True)],
    )


NO_STORE_HEADERS = {"cache-control": "no-store"}
PAGE_STYLE = """
:root { color-scheme: light dark; --text: #0d1721; --page: #ffffff; --button: #1f5fa8; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8edf2; --page: #12171d; --button: #3576c2; }
}
body { margin: 0; background: var(--page); color: var(--text); line-height: 1.5; }
body { font-family: "Source Sans", "Source Sans Pro", system-ui, sans-serif; }
main { max-width: 34rem; margin: 0 auto; padding: 12vh 1.25rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 1rem; }
p { margin: 0 0 1rem; }
.ways { display: flex; flex-wrap: wrap; gap: 0.75rem; margin-top: 1.5rem; align-items: center; }
form { margin: 0; }
button, a.button {
  display: inline-block; font: inherit; cursor: pointer; text-decoration: none; text-align: left;
  padding: 0.5rem 1rem; border-radius: 0.5rem; border: 1px solid var(--button);
  background: var(--button); color: #ffffff; overflow-wrap: anywhere;
}
button.quiet, a.quiet { background: transparent; color: inherit; }
button:focus-visible, a:focus-visible { outline: 3px solid currentColor; outline-offset: 2px; }
"""

PageLink = htpy.Element


def page(
    heading: str, words: Sequence[str], ways: Sequence[PageLink] = (), *, status: int = 200
) -> HTMLResponse:
    """Return a page with a heading, sentences, and buttons or links."""
    content = htpy.html(lang="en")[
        htpy.head[
            htpy.meta(charset="utf-8"),
            htpy.meta(name="viewport", content="width=device-width, initial-scale=1"),
            htpy.meta(name="robots", content="noindex"),
            htpy.title[f"{heading} · labeler"],
            style(PAGE_STYLE),
        ],
        htpy.body[
            htpy.main[
                htpy.h1[heading],
                [htpy.p[sentence] for sentence in words],
                htpy.div(".ways")[ways] if ways else None,
            ]
        ],
    ]
    return HTMLResponse(str(content), status_code=status, headers=NO_STORE_HEADERS)


def button(label: str, action: str = "", *, quiet: bool = False) -> PageLink:
    """Return a button that changes something: it posts to ``action``, or to the page's address."""
    return htpy.form(method="post", action=action or None)[
        htpy.button(class_="quiet" if quiet else None, type="submit")[label]
    ]


def link(label: str, address: str, *, quiet: bool = False) -> PageLink:
    """Return a link that looks like a button."""
    return htpy.a(".button.quiet" if quiet else ".button", href=address)[label]
