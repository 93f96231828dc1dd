"""Sign-in pages: plain HTML in the frame of all pages, without scripts and sockets.

Visitors without access see neither the golden set's name nor a person's. With a working link or a
session they see both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import htpy
from starlette.responses import HTMLResponse, Response

from labeler.model import Settings, capitalize_first
from labeler.render import frame
from labeler.render.markup import style
from labeler.render.tokens import TOKENS_CSS
from labeler.render.words import Words
from labeler.services.assignment.items import NextItems
from labeler.store import InvitationLink, Login, Store
from labeler.web.auth import session_cookies
from labeler.web.auth.access import DEFAULT_PROVIDER, AccessPolicy, Credentials, Person
from labeler.web.auth.invitation import Invitation
from labeler.web.first_visit import links_ahead

ACCEPT, DECLINE = "/login/accept", "/login/decline"
LEAVE, PROVIDER_LOGOUT = "/leave", "/auth/logout"
USUAL_PACE_MS = 6900  # usual time per passage, as in the pad
AGAIN_SECONDS = 5  # a browser reloads after it while the golden set cannot be read


def invitation_needed(
    words: Words, store: Store, policy: AccessPolicy, credentials: Credentials
) -> Response:
    """Return the page for a visitor without access, in place of the one requested."""
    login = credentials.login if policy.login else None
    if login is None or store.sessions.has_opened(login) or store.sessions.knows(login):
        said = [words.say("sign_in.needed_help")]
        return page(
            words, words.say("sign_in.needed"), said, login_links(words, policy), status=403
        )
    is_listed = login.address is not None and store.people.invited_at(login.address) is not None
    heading, *said = explain_refused_login(words, login, is_listed=is_listed)
    ways = [
        link(words.say("sign_in.sign_out"), PROVIDER_LOGOUT),
        *login_links(words, policy, quiet=True),
    ]
    return page(words, heading, said, ways, status=403)


def explain_refused_login(words: Words, login: Login, *, is_listed: bool) -> Sequence[str]:
    """Return the heading and sentences for a person who has logged in but has no access."""
    if login.address is None:
        command = f"labeler serve --trust-addresses-of {login.issuer}"
        return (
            words.say("sign_in.unconfirmed"),
            words.say("sign_in.unconfirmed_help", issuer=login.issuer),
            words.say("sign_in.unconfirmed_server", command=command),
        )
    if is_listed:
        return (
            words.say("sign_in.other_login"),
            words.say("sign_in.other_login_help", address=login.address, issuer=login.issuer),
            words.say("sign_in.other_login_ask"),
        )
    return (
        words.say("sign_in.not_listed"),
        words.say("sign_in.not_listed_help", address=login.address),
    )


def login_links(words: Words, policy: AccessPolicy, *, quiet: bool = False) -> list[PageLink]:
    """Return a link for each login provider of this server."""
    names = session_cookies.configured_providers() if policy.login else []
    return [
        link(
            words.say("sign_in.sign_in")
            if name == DEFAULT_PROVIDER
            else words.say("sign_in.sign_in_with", provider=name),
            f"/login/{quote(name, safe='')}",
            quiet=quiet,
        )
        for name in names
    ]


def confirm_link(
    words: Words, invitation: Invitation, settings: Settings, work: NextItems | None
) -> Response:
    """Return the page that asks before a link signs in; it shows graders all they need to begin.

    ``work`` is what is left to grade, if that is known.
    """
    name, is_lead = invitation.name, invitation.role == "lead"
    notes = []
    if not is_lead and work is not None and work.open:
        notes.append(size_of(words, work))
    if not is_lead and settings.contact:
        notes.append(words.say("welcome.contact", contact=settings.contact))
    notes.append(words.say("sign_in.as", name=name))
    return page(
        words,
        invitation.heading(words),
        [invitation.task(words)],
        [button(words.say("sign_in.continue" if is_lead else "sign_in.start", name=name))],
        notes=notes,
        golden_set=invitation.golden_set,
        title=words.say("sign_in.invitation"),
        ahead=links_ahead(),
    )


def size_of(words: Words, work: NextItems) -> str:
    """Say how much there is to grade, and how long that may take."""
    questions = words.say("count.questions", n=work.queries_total - work.queries_done)
    passages = words.say("count.passages", n=work.open)
    size = words.say("welcome.both", questions_in_all=questions, passages_in_all=passages)
    return words.say("welcome.size", size=size, time=words.duration(work.open * USUAL_PACE_MS))


def confirm_switch_by_link(words: Words, invitation: Invitation, now: str) -> Response:
    """Return the page that asks whether a link replaces the session of another person."""
    name = invitation.name
    return page(
        words,
        words.say("sign_in.switch", name=name),
        [words.say("sign_in.switch_link", now=now, name=name)],
        [
            link(words.say("sign_in.stay", name=now), "/"),
            button(words.say("sign_in.switch_to", name=name), quiet=True),
        ],
        golden_set=invitation.golden_set,
        person=now,
    )


def confirm_switch(words: Words, golden_set: str, now: Person, newly: Person) -> Response:
    """Return the page that asks whether a login replaces the session of another person."""
    me, other = now.name or "", newly.name or ""
    return page(
        words,
        words.say("sign_in.switch", name=other),
        [words.say("sign_in.switch_login", now=me, name=other)],
        [
            button(words.say("sign_in.switch_to", name=other), ACCEPT),
            button(words.say("sign_in.stay", name=me), DECLINE, quiet=True),
        ],
        golden_set=golden_set,
        person=now.name,
    )


def dead_link(words: Words, link_: InvitationLink | None) -> Response:
    """Return the page for a link that does not work."""
    said = "sign_in.link_ended"
    if link_ is not None and link_.used_up:
        said = "sign_in.link_used"
    elif link_ is not None and link_.expired:
        said = "sign_in.link_expired"
    return page(words, words.say("sign_in.dead_link"), [words.say(said)], status=403)


def refused(words: Words, reason: str) -> Response:
    """Return the page that says why a visitor is refused."""
    said = [f"{capitalize_first(reason)}."]
    return page(words, words.say("sign_in.refused"), said, status=403)


def unavailable(words: Words, reason: str) -> Response:
    """Return the page for everybody while the golden set cannot be read."""
    said = [f"{capitalize_first(reason)}.", words.say("sign_in.tries_again")]
    shown = page(words, words.say("sign_in.unavailable"), said, status=503)
    shown.headers["refresh"] = str(AGAIN_SECONDS)
    return shown


def confirm_sign_out(
    words: Words, golden_set: str, person: Person, *, can_come_again: bool
) -> Response:
    """Return the page that asks before somebody signs out."""
    again = [] if can_come_again else [words.say("sign_in.leave_for_good")]
    return page(
        words,
        words.say("sign_in.leave", name=person.name or ""),
        [words.say("sign_in.leave_saved"), *again],
        [
            button(words.say("sign_in.leave_here"), f"{LEAVE}?where=here"),
            button(words.say("sign_in.leave_everywhere"), f"{LEAVE}?where=everywhere", quiet=True),
            link(words.say("sign_in.stay_here"), "/", quiet=True),
        ],
        golden_set=golden_set,
        person=person.name,
    )


def signed_out(words: Words) -> Response:
    """Return the page shown after a person with a login has signed out of labeler."""
    return page(
        words,
        words.say("sign_in.left"),
        [words.say("sign_in.left_help")],
        [
            link(words.say("sign_in.leave_provider"), PROVIDER_LOGOUT),
            link(words.say("sign_in.again"), "/", quiet=True),
        ],
    )


def no_such_page(
    words: Words, golden_set: str, person: str | None, pages: Mapping[str, str]
) -> Response:
    """Return the page for an unknown address; ``pages`` maps titles to addresses."""
    [title, *_] = pages
    return page(
        words,
        words.say("page.none_here"),
        [words.say("page.none_here_help")],
        [link(words.say("page.go_to", page=title), pages[title])],
        status=404,
        golden_set=golden_set,
        person=person,
        pages=pages,
    )


def font_face() -> str:
    """Return the style that loads the font of Streamlit's pages; empty if it is not found."""
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
.ways + .note {{ margin-top: 2rem; }}
.note {{ color: var(--muted); font-size: 0.9375rem; margin-bottom: 0.5rem; }}
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
@media (max-height: 40rem) {{
  main {{ padding-block: 1.5rem 2rem; }}
  .ways {{ position: sticky; bottom: 0; margin-top: 0; padding-block: 0.75rem; }}
  .ways {{ background: var(--bg); }}
}}
"""
PAGE_STYLE = style(TOKENS_CSS + font_face() + frame.FRAME_CSS + PAGE_CSS)

PageLink = htpy.Element


def page(
    words: Words,
    heading: str,
    said: Sequence[htpy.Node],
    ways: Sequence[PageLink] = (),
    *,
    notes: Sequence[str] = (),
    status: int = 200,
    golden_set: str | None = None,
    person: str | None = None,
    pages: Mapping[str, str] | None = None,
    title: str | None = None,
    ahead: Sequence[htpy.VoidElement] = (),
) -> HTMLResponse:
    """Return a page with a heading, sentences, and buttons or links, in the frame of all pages.

    ``notes`` are below them. ``title`` is the browser's title, by default the heading. ``ahead``
    are links that load what the next page needs.
    """
    content = htpy.html(lang=words.language.code)[
        htpy.head[
            htpy.meta(charset="utf-8"),
            htpy.meta(name="viewport", content="width=device-width, initial-scale=1"),
            htpy.meta(name="robots", content="noindex"),
            htpy.link(rel="icon", href=frame.ICON),
            htpy.title[frame.browser_title(title or heading, golden_set)],
            PAGE_STYLE,
            ahead,
        ],
        htpy.body[
            frame.header(golden_set, person=person, pages=pages),
            htpy.main[
                htpy.h1[heading],
                [htpy.p[part] if isinstance(part, str) else part for part in said],
                htpy.div(".ways")[ways] if ways else None,
                [htpy.p(".note")[note] for note in notes],
            ],
        ],
    ]
    return HTMLResponse(str(content), status_code=status, headers=NO_STORE_HEADERS)


def button(label: str, action: str = "", *, quiet: bool = False) -> PageLink:
    """Return a button that posts to ``action``, by default to the page's address."""
    return htpy.form(method="post", action=action or None)[
        htpy.button(class_="quiet" if quiet else None, type="submit")[label]
    ]


def link(label: str, address: str, *, quiet: bool = False) -> PageLink:
    """Return a link that looks like a button."""
    return htpy.a(".button.quiet" if quiet else ".button", href=address)[label]
