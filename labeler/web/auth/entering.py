"""Coming in and going out: a link or a login becomes a session, a session ends; draws no page.

Only a button does so: a link that is looked at, by whoever looks through mails, opens nothing, and
no other site's page can let a browser in as somebody else.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from streamlit.user_info import generate_login_redirect_url

from labeler.errors import LabelerError
from labeler.model import Actor
from labeler.store import Link, Store
from labeler.web.auth import pages, visitors
from labeler.web.auth.access import (
    PROMISE,
    Claims,
    Door,
    Key,
    hash_of,
    keep_promise,
    log_out,
    promised_name,
    session_by_link,
    session_by_login,
)
from labeler.web.auth.cookies import claims_on, drop_session, is_secure, keep_session, stranger_at
from labeler.web.auth.drawing import HEADERS
from labeler.web.auth.guesses import Guesses
from labeler.web.auth.tokens import Forbidden
from labeler.web.discretion import without_path

TOO_MANY = "Too many links that do not work are being tried. Try again in a minute.\n"
DATA, PEOPLE = "/data", "/data?section=People"
Answer = Callable[[Store, Door, Claims, Request], Response]


def door_routes(path: str, guesses: Guesses | None = None) -> list[Route]:
    """Return the routes by which people come in and go out, for the golden set at ``path``."""
    guesses = guesses or Guesses()

    def by(answer: Answer, address: str, method: str) -> Route:
        async def respond(request: Request) -> Response:
            response = await run_in_threadpool(answered, path, answer, request)
            refused = response.status_code == 403 and "secret" in request.path_params
            if refused and not await guesses.slow():
                return PlainTextResponse(TOO_MANY, status_code=429, headers=HEADERS)
            return response

        return Route(address, respond, methods=[method])

    return [
        by(look_at_link, "/join/{secret}", "GET"),
        by(come_by_link, "/join/{secret}", "POST"),
        by(come_by_login, pages.ACCEPT, "POST"),
        by(decline_login, pages.DECLINE, "POST"),
        by(go_to_login, "/login/{provider}", "GET"),
        by(ask_to_leave, pages.LEAVE, "GET"),
        by(leave, pages.LEAVE, "POST"),
    ]


def answered(path: str, answer: Answer, request: Request) -> Response:
    """Answer a request at the door, and say in words what went wrong."""
    door = Door.of_this_server()
    try:
        with Store(path) as store:
            store.actor = stranger_at(request)
            return answer(store, door, claims_on(request, door), request)
    except Forbidden as error:
        return pages.refused(str(error))
    except LabelerError as error:
        return pages.out_of_order(without_path(error, path))


def look_at_link(store: Store, door: Door, claims: Claims, request: Request) -> Response:
    """Ask who opens a link whether they come in; who is in as the same person goes on."""
    key = key_in(request)
    link = store.link(hash_of(key.secret))
    name = link.name if link is not None and link.works else None
    if link is None and key.promise:
        name = promised_name(store, key)
    if name is None:
        return pages.no_link(link)
    now = door.visitor(store, claims) if door.is_closed(store) else None
    is_same = now is not None and now.name == name
    if link is not None and is_same:
        return see_other(landing(store, key, link))
    return pages.come_in(name, None if is_same else now)


def come_by_link(store: Store, _: Door, claims: Claims, request: Request) -> Response:
    """Open a session by a link."""
    key, address = key_in(request), request.client.host if request.client else None
    store.actor = Actor(None, "unknown", address)
    if key.promise:
        keep_promise(store, key)
    link = store.link(hash_of(key.secret))
    token = session_by_link(store, key.secret)
    if link is None or token is None:
        return pages.no_link(link)
    store.actor = Actor(link.name, "link", address)
    store.note_once("sign_in")
    return with_session(see_other(landing(store, key, link)), store, claims, token, request)


def key_in(request: Request) -> Key:
    """Return the secret in a link's address, and the promise if it has one."""
    return Key(request.path_params["secret"], request.query_params.get(PROMISE, ""))


def landing(store: Store, key: Key, link: Link | None) -> str:
    """Return where a link leads: a lead to where files are loaded while there is nothing else."""
    if key.promise:
        return PEOPLE
    is_leads = link is not None and link.role == "lead"
    return DATA if is_leads and not store.count_queries() else "/"


def come_by_login(store: Store, door: Door, claims: Claims, request: Request) -> Response:
    """Let a login take the place of whose session the browser has."""
    token = session_by_login(store, claims.login) if door.login and claims.login else None
    response = see_other("/")
    return response if token is None else with_session(response, store, claims, token, request)


def decline_login(store: Store, door: Door, claims: Claims, _: Request) -> Response:
    """Let a login open nothing, now or later."""
    token = session_by_login(store, claims.login) if door.login and claims.login else None
    if token is not None:
        log_out(store, token)
    return see_other("/")


def go_to_login(_: Store, door: Door, __: Claims, request: Request) -> Response:
    """Send somebody to a login provider; the way there is good for two minutes, so made now."""
    provider = request.path_params["provider"]
    is_one = door.login and provider in visitors.providers()
    return see_other(generate_login_redirect_url(provider) if is_one else "/")


def ask_to_leave(store: Store, door: Door, claims: Claims, _: Request) -> Response:
    """Ask who wants to log out whether here or everywhere."""
    person = door.visitor(store, claims) if door.is_closed(store) else None
    if person is None:
        return see_other("/")
    again = claims.session is None or store.can_come_again(hash_of(claims.session))
    return pages.leaving(person, can_come_again=again)


def leave(store: Store, door: Door, claims: Claims, request: Request) -> Response:
    """Log somebody out, here or everywhere."""
    person = door.visitor(store, claims) if door.is_closed(store) else None
    token = token_of(store, door, claims)
    if token is not None:
        log_out(store, token, everywhere=request.query_params.get("where") == "everywhere")
    by_login = person is not None and person.known_by == "login"
    response = pages.left() if by_login else see_other("/")
    drop_session(response, secure=is_secure(request))
    return response


def token_of(store: Store, door: Door, claims: Claims) -> str | None:
    """Return the token of a visitor's session, opened now for what is still to be exchanged."""
    if door.in_session(store, claims) is not None:
        return claims.session
    if claims.secret and store.invited_by_cookie(hash_of(claims.secret)):
        return session_by_link(store, claims.secret)
    if claims.login is not None and door.logged_in(store, claims) is not None:
        return session_by_login(store, claims.login)
    return None


def exchange(
    store: Store, door: Door, claims: Claims, connection: HTTPConnection
) -> Response | list[bytes]:
    """Return the cookies of a new session where somebody brings what has not opened one yet.

    A login as somebody else than whose session it is asks first who goes on.
    """
    inside, newly = door.in_session(store, claims), door.logged_in(store, claims)
    if inside is not None and newly is not None and inside.name != newly.name:
        return pages.ask_who_goes_on(inside, newly)
    if inside is not None and newly is None and claims.secret is None:
        return []
    response = Response()
    if newly is not None and claims.login is not None:
        token = session_by_login(store, claims.login)
    else:
        token = token_of(store, door, claims)
    if token is not None:
        with_session(response, store, claims, token, connection)
    return [value for name, value in response.raw_headers if name == b"set-cookie"]


def with_session(
    response: Response, store: Store, claims: Claims, token: str, connection: HTTPConnection
) -> Response:
    """Let the browser keep a session, and end the one whose place it takes."""
    if claims.session and claims.session != token:
        log_out(store, claims.session)
    keep_session(response, token, secure=is_secure(connection))
    return response


def see_other(address: str) -> Response:
    """Lead on to another address."""
    return RedirectResponse(address, status_code=303, headers=HEADERS)
