"""Sign-in pages: plain HTML in the frame of all pages, without scripts and sockets.

Who has no access reads neither the name of the golden set nor anybody's; a link that works, and a
session, say both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import htpy
from starlette.responses import HTMLResponse, Response

from labeler.model import capitalize_first
from labeler.render import frame
from labeler.render.markup import style
from labeler.render.tokens import TOKENS_CSS
from labeler.store import InvitationLink, Login, Store
from labeler.store.people import Role
from labeler.web.auth import session_cookies
from labeler.web.auth.access import DEFAULT_PROVIDER, AccessPolicy, Credentials, Person

ACCEPT, DECLINE = "/login/accept", "/login/decline"
LEAVE, PROVIDER_LOGOUT = "/leave", "/auth/logout"
INVITED = "Open the link you were sent, or ask the person who invited you for a new one."
LINK_ENDED = "It's incomplete or no longer valid. Ask the person who invited you for a new one."
AGAIN_SECONDS = 5  # after which a browser reloads while the golden set cannot be read
SAVED = "Your grades are saved. Anything not yet sent stays on this device."


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a link invites to: whom, as what, to which golden set, and who sent it.

    ``inviter`` is None where nobody with a name on these pages did, such as on the command line.
    ``question``, ``passage`` and ``passages`` are the graders' words for a query and for chunks.
    """

    name: str
    role: Role
    golden_set: str
    inviter: str | None
    question: str
    passage: str
    passages: str

    @classmethod
    def of(cls, store: Store, name: str, role: Role) -> Invitation:
        """Return what a person is invited to."""
        settings = store.settings()
        words = (settings.question[0], *settings.passage)
        return cls(name, role, store.golden_set_name(), store.inviter_of(name), *words)

    @classmethod
    def promised(cls, store: Store, name: str) -> Invitation:
        """Return what somebody invites themself to by a link of their own as lead."""
        return replace(cls.of(store, name, "lead"), inviter=name)

    @property
    def heading(self) -> str:
        """Say who invites, and to what."""
        if self.inviter == self.name:
            return f"Your sign-in link for {self.golden_set}"
        task = "lead" if self.role == "lead" else f"grade {self.passages} for"
        invites = f"{self.inviter} invites you" if self.inviter else "You are invited"
        return f"{invites} to {task} {self.golden_set}"

    @property
    def task(self) -> str:
        """Say what that means for them."""
        if self.role == "lead":
            return "A lead loads files, invites people and sees every measure."
        return (
            f"You read a {self.question} and a {self.passage}, then press one key: how relevant is "
            f"the {self.passage}?"
        )


def invitation_needed(store: Store, policy: AccessPolicy, credentials: Credentials) -> Response:
    """Return the page for a visitor without access, in place of the one requested."""
    login = credentials.login if policy.login else None
    if login is None or store.has_opened(login) or store.knows(login):
        return page("You need an invitation", [INVITED], login_links(policy), status=403)
    is_listed = login.address is not None and store.invited_at(login.address) is not None
    heading, *words = explain_refused_login(login, is_listed=is_listed)
    ways = [link("Sign out", PROVIDER_LOGOUT), *login_links(policy, quiet=True)]
    return page(heading, words, ways, status=403)


def explain_refused_login(login: Login, *, is_listed: bool) -> Sequence[str]:
    """Return heading and sentences for somebody who has logged in but has no access."""
    if login.address is None:
        return (
            "Your login has no confirmed address",
            f"{login.issuer} does not say that your e-mail address is confirmed. Confirm it there, "
            "or sign in as somebody else.",
            "If it never says so, the person who runs this server can accept its addresses: "
            f"labeler serve --trust-addresses-of {login.issuer}",
        )
    if is_listed:
        return (
            "Your address belongs to another login",
            f"You are signed in as {login.address} at {login.issuer}. Somebody with this address "
            "is invited, but with another login or another account.",
            "If that is you, ask the person who invited you to invite your address again.",
        )
    return (
        "You are not on the list",
        f"You are signed in as {login.address}, and nobody with this address is invited. "
        "Ask the person who runs this server to invite you.",
    )


def login_links(policy: AccessPolicy, *, quiet: bool = False) -> list[PageLink]:
    """Return a link for each login provider of this server."""
    names = session_cookies.configured_providers() if policy.login else []
    return [
        link(
            "Sign in" if name == DEFAULT_PROVIDER else f"Sign in with {name}",
            f"/login/{quote(name, safe='')}",
            quiet=quiet,
        )
        for name in names
    ]


def confirm_link(invitation: Invitation, now: Person | None) -> Response:
    """Return the page that asks before a link signs in, maybe in place of somebody else."""
    name = invitation.name
    if now is None or now.name is None:
        return page(
            invitation.heading,
            [
                invitation.task,
                f"You will be signed in as {name}. If that isn't you, ask the person who sent you "
                "the link for one of your own.",
            ],
            [button(f"Continue as {name}")],
            golden_set=invitation.golden_set,
            title="Invitation",
        )
    return page(
        f"Switch to {name}?",
        [f"You are signed in as {now.name}. This link signs in {name}."],
        [link(f"Stay signed in as {now.name}", "/"), button(f"Switch to {name}", quiet=True)],
        golden_set=invitation.golden_set,
        person=now.name,
    )


def confirm_switch(golden_set: str, now: Person, newly: Person) -> Response:
    """Return the page that asks whether a login replaces the session of another person."""
    return page(
        f"Switch to {newly.name}?",
        [f"You are signed in as {now.name}, and your new login is {newly.name}."],
        [
            button(f"Switch to {newly.name}", ACCEPT),
            button(f"Stay signed in as {now.name}", DECLINE, quiet=True),
        ],
        golden_set=golden_set,
        person=now.name,
    )


def dead_link(link_: InvitationLink | None) -> Response:
    """Return the page for a link that does not work."""
    said = LINK_ENDED
    if link_ is not None and link_.used_up:
        said = "It works once and has been used. Ask the person who sent it to you for a new one."
    elif link_ is not None and link_.expired:
        said = "It has expired. Ask the person who sent it to you for a new one."
    return page("This link doesn't work", [said], status=403)


def refused(said: str) -> Response:
    """Return the page that says why a visitor is refused."""
    return page("You can't sign in with this link", [f"{capitalize_first(said)}."], status=403)


def unavailable(said: str) -> Response:
    """Return the page shown to everybody while the golden set cannot be read."""
    words = [f"{capitalize_first(said)}.", "This page tries again every few seconds."]
    shown = page("Out of order", words, status=503)
    shown.headers["refresh"] = str(AGAIN_SECONDS)
    return shown


def confirm_sign_out(golden_set: str, person: Person, *, can_come_again: bool) -> Response:
    """Return the page that asks before somebody signs out."""
    again = (
        []
        if can_come_again
        else ["Your link has been used or has expired: to sign in again you need a new one."]
    )
    return page(
        f"Sign out, {person.name}?",
        [SAVED, *again],
        [
            button("Sign out here", f"{LEAVE}?where=here"),
            button("Sign out everywhere", f"{LEAVE}?where=everywhere", quiet=True),
            link("Stay signed in", "/", quiet=True),
        ],
        golden_set=golden_set,
        person=person.name,
    )


def signed_out() -> Response:
    """Return the page shown after somebody who came by a login has signed out of labeler."""
    return page(
        "You are signed out",
        ["You may still be signed in at your login provider."],
        [link("Sign out there, too", PROVIDER_LOGOUT), link("Sign in again", "/", quiet=True)],
    )


def no_such_page(golden_set: str, person: str | None, pages: Mapping[str, str]) -> Response:
    """Return the page for an address that has none; ``pages`` are addresses by title."""
    [title, *_] = pages
    return page(
        "There is no page at this address",
        ["It may be mistyped or out of date."],
        [link(f"Go to {title}", pages[title])],
        status=404,
        golden_set=golden_set,
        person=person,
        pages=pages,
    )


def font_face() -> str:
    """Return the style that names the font of Streamlit's pages; empty if it has none there."""
    found = find_spec("streamlit")
    folder = Path(found.origin).parent if found and found.origin else Path()
    fonts = sorted(folder.glob("static/static/media/SourceSansVF-Upright*.woff2"))
    return "".join(
        f'@font-face {{ font-family: "Source Sans"; font-weight: 200 900; font-display: swap; '
        f'src: url("/static/media/{font.name}") format("woff2"); }}\n'
        for font in fonts[:1]
    )


NO_STORE_HEADERS = {"cache-control": "no-store"}
PAGE_CSS = f"""
html {{ background: var(--bg); }}
body {{ margin: 0; color: var(--ink); font: 400 1rem/1.5 {frame.FONT}; }}
body > header {{ max-width: {frame.WIDTH}; box-sizing: border-box; margin: 0 auto; }}
body > header {{ padding-inline: 1.5rem; }}
body {{ overflow-x: clip; }}
main {{ max-width: 40rem; margin: 0 auto; padding: 14vh 1.5rem 3rem; overflow-wrap: anywhere; }}
h1 {{ font-size: 1.75rem; line-height: 2.25rem; font-weight: 600; margin: 0 0 1rem; }}
h1 {{ text-wrap: balance; }}
p {{ margin: 0 0 1rem; }}
.ways {{ display: flex; flex-wrap: wrap; gap: 1rem; margin-top: 2rem; align-items: center; }}
form {{ margin: 0; }}
button, a.button {{
  display: inline-block; font: inherit; font-weight: 600; cursor: pointer; text-decoration: none;
  text-align: left; padding: 0.4375rem 1rem; border-radius: 0.5rem; overflow-wrap: anywhere;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent);
}}
button.quiet, a.quiet {{
  background: var(--card); border-color: var(--line2); color: var(--ink); font-weight: 400;
}}
button:focus-visible, a:focus-visible {{ outline: 2px solid var(--accent); outline-offset: 2px; }}
@media (max-width: 40rem) {{
  body > header {{ padding-inline: 1rem; }}
  main {{ padding: 2.5rem 1rem; }}
}}
"""
PAGE_STYLE = style(TOKENS_CSS + font_face() + frame.FRAME_CSS + PAGE_CSS)

PageLink = htpy.Element


def page(
    heading: str,
    words: Sequence[str],
    ways: Sequence[PageLink] = (),
    *,
    status: int = 200,
    golden_set: str | None = None,
    person: str | None = None,
    pages: Mapping[str, str] | None = None,
    title: str | None = None,
) -> HTMLResponse:
    """Return a page with a heading, sentences, and buttons or links, in the frame of all pages.

    ``title`` is what the browser calls it, if not as the heading does.
    """
    content = htpy.html(lang="en")[
        htpy.head[
            htpy.meta(charset="utf-8"),
            htpy.meta(name="viewport", content="width=device-width, initial-scale=1"),
            htpy.meta(name="robots", content="noindex"),
            htpy.link(rel="icon", href=frame.ICON),
            htpy.title[frame.browser_title(title or heading, golden_set)],
            PAGE_STYLE,
        ],
        htpy.body[
            frame.header(golden_set, person=person, pages=pages),
            htpy.main[
                htpy.h1[heading],
                [htpy.p[sentence] for sentence in words],
                htpy.div(".ways")[ways] if ways else None,
            ],
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
