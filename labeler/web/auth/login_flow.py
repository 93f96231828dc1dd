"""Routes for signing in and out: a link or a login becomes a session, a session ends.

Only a button opens a session: fetching a link, as mail scanners do, opens none, and no other site's
page can sign a browser in as somebody else. Responses to wrong links are slowed down; visitors with
a working link never wait.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from streamlit.user_info import generate_login_redirect_url

from labeler.errors import LabelerError
from labeler.model import Actor
from labeler.services.assignment.items import NextItems
from labeler.store import InvitationLink, Store
from labeler.web.auth import login_pages, session_cookies
from labeler.web.auth.access import (
    PROMISE,
    AccessPolicy,
    Credentials,
    LeadLink,
    hash_secret,
    log_out,
    promised_name,
    redeem_promise,
    session_by_link,
    session_by_login,
)
from labeler.web.auth.invitation import Invitation
from labeler.web.auth.login_pages import NO_STORE_HEADERS
from labeler.web.auth.session_cookies import (
    credentials_on,
    delete_session_cookie,
    is_secure,
    set_session_cookie,
    unknown_actor,
)
from labeler.web.auth.tokens import Forbidden
from labeler.web.language import reason_for, words_at, words_for

DATA, PEOPLE = "/data", "/data?section=People"
LoginHandler = Callable[[Store, AccessPolicy, Credentials, Request], Response]
WorkLeft = Callable[[Store, str], NextItems | None]


def unknown_work(_: Store, __: str) -> None:
    """Return None: how much is left to a grader is unknown."""


def login_routes(
    path: str, throttle: LinkThrottle | None = None, left_for: WorkLeft = unknown_work
) -> list[Route]:
    """Return the routes for signing in and out of the golden set at ``path``.

    ``left_for`` returns what is left to a grader, for their invitation.
    """
    throttle = throttle or LinkThrottle()

    def by(answer: LoginHandler, address: str, method: str) -> Route:
        async def respond(request: Request) -> Response:
            response = await run_in_threadpool(handle_request, path, answer, request)
            refused = response.status_code == 403 and "secret" in request.path_params
            if refused and not await throttle.slow():
                words = await run_in_threadpool(words_at, request, path)
                said = words.say("sign_in.too_many")
                return PlainTextResponse(f"{said}\n", status_code=429, headers=NO_STORE_HEADERS)
            return response

        return Route(address, respond, methods=[method])

    return [
        by(partial(show_link, left_for), "/join/{secret}", "GET"),
        by(sign_in_by_link, "/join/{secret}", "POST"),
        by(sign_in_by_login, login_pages.ACCEPT, "POST"),
        by(decline_login, login_pages.DECLINE, "POST"),
        by(go_to_login, "/login/{provider}", "GET"),
        by(show_sign_out, login_pages.LEAVE, "GET"),
        by(sign_out, login_pages.LEAVE, "POST"),
    ]


def handle_request(path: str, answer: LoginHandler, request: Request) -> Response:
    """Answer a sign-in request; errors become pages."""
    policy = AccessPolicy.from_environment()
    try:
        with Store(path) as store:
            store.connection.actor = unknown_actor(request)
            return answer(store, policy, credentials_on(request, policy), request)
    except Forbidden as error:
        words = words_at(request, path)
        return login_pages.refused(words, reason_for(error, path, words))
    except LabelerError as error:
        words = words_at(request, path)
        return login_pages.unavailable(words, reason_for(error, path, words))


def show_link(
    left_for: WorkLeft,
    store: Store,
    policy: AccessPolicy,
    credentials: Credentials,
    request: Request,
) -> Response:
    """Ask before a link signs in; redirect a visitor who is signed in as the same person."""
    key = link_in_address(request)
    link = store.sessions.link(hash_secret(key.secret))
    invitation = None
    if link is not None and link.works:
        invitation = Invitation.of(store, link.name, link.role)
    elif key.promise and not store.sessions.was_link(hash_secret(key.secret)):
        invitation = Invitation.promised(store, promised_name(store, key))
    if invitation is None:
        return login_pages.dead_link(words_for(request, store), link)
    now = policy.visitor(store, credentials) if policy.is_closed(store) else None
    is_same = now is not None and now.name == invitation.name
    if link is not None and is_same:
        return redirect_to(landing_address(store, key, link))
    words = words_for(request, store)
    if now is not None and now.name is not None and not is_same:
        return login_pages.confirm_switch_by_link(words, invitation, now.name)
    work = None if invitation.role == "lead" else left_for(store, invitation.name)
    return login_pages.confirm_link(words, invitation, store.settings.read(), work)


def sign_in_by_link(
    store: Store, _: AccessPolicy, credentials: Credentials, request: Request
) -> Response:
    """Open a session by a link."""
    key, address = link_in_address(request), request.client.host if request.client else None
    store.connection.actor = Actor(None, "unknown", address)
    if key.promise:
        redeem_promise(store, key)
    link = store.sessions.link(hash_secret(key.secret))
    token = session_by_link(store, key.secret)
    if link is None or token is None:
        return login_pages.dead_link(words_for(request, store), link)
    store.connection.actor = Actor(link.name, "link", address)
    store.audit.note_once("sign_in")
    return with_session(
        redirect_to(landing_address(store, key, link)), store, credentials, token, request
    )


def link_in_address(request: Request) -> LeadLink:
    """Return the secret in a link's address, and the promise if it has one."""
    return LeadLink(request.path_params["secret"], request.query_params.get(PROMISE, ""))


def landing_address(store: Store, key: LeadLink, link: InvitationLink | None) -> str:
    """Return the address a link leads to: the Data page for a lead of an empty golden set."""
    if key.promise:
        return PEOPLE
    is_leads = link is not None and link.role == "lead"
    return DATA if is_leads and not store.queries.count() else "/"


def sign_in_by_login(
    store: Store, policy: AccessPolicy, credentials: Credentials, request: Request
) -> Response:
    """Open a session by a login, replacing the browser's session."""
    token = (
        session_by_login(store, credentials.login) if policy.login and credentials.login else None
    )
    response = redirect_to("/")
    return response if token is None else with_session(response, store, credentials, token, request)


def decline_login(
    store: Store, policy: AccessPolicy, credentials: Credentials, _: Request
) -> Response:
    """Use up a login without opening a session, so that it opens none later."""
    token = (
        session_by_login(store, credentials.login) if policy.login and credentials.login else None
    )
    if token is not None:
        log_out(store, token)
    return redirect_to("/")


def go_to_login(_: Store, policy: AccessPolicy, __: Credentials, request: Request) -> Response:
    """Redirect to a login provider; the address works for two minutes, so it is made on demand."""
    provider = request.path_params["provider"]
    is_one = policy.login and provider in session_cookies.configured_providers()
    return redirect_to(generate_login_redirect_url(provider) if is_one else "/")


def show_sign_out(
    store: Store, policy: AccessPolicy, credentials: Credentials, request: Request
) -> Response:
    """Ask whether to sign out here or everywhere."""
    person = policy.visitor(store, credentials) if policy.is_closed(store) else None
    if person is None:
        return redirect_to("/")
    again = credentials.session is None or store.sessions.can_come_again(
        hash_secret(credentials.session)
    )
    return login_pages.confirm_sign_out(
        words_for(request, store), store.golden_set.name(), person, can_come_again=again
    )


def sign_out(
    store: Store, policy: AccessPolicy, credentials: Credentials, request: Request
) -> Response:
    """Sign somebody out, here or everywhere."""
    person = policy.visitor(store, credentials) if policy.is_closed(store) else None
    token = session_token(store, policy, credentials)
    if token is not None:
        log_out(store, token, everywhere=request.query_params.get("where") == "everywhere")
    by_login = person is not None and person.known_by == "login"
    response = login_pages.signed_out(words_for(request, store)) if by_login else redirect_to("/")
    delete_session_cookie(response, secure=is_secure(request))
    return response


def session_token(store: Store, policy: AccessPolicy, credentials: Credentials) -> str | None:
    """Return the token of a visitor's session; open one if they only have a login."""
    if policy.in_session(store, credentials) is not None:
        return credentials.session
    if credentials.login is not None and policy.logged_in(store, credentials) is not None:
        return session_by_login(store, credentials.login)
    return None


def exchange_for_session(
    store: Store, policy: AccessPolicy, credentials: Credentials, connection: HTTPConnection
) -> Response | list[bytes]:
    """Return the cookies of a new session for credentials that have not opened one yet.

    If the login is of another person than the session, return a page that asks who continues.
    """
    current, login = policy.in_session(store, credentials), policy.logged_in(store, credentials)
    if current is not None and login is not None and current.name != login.name:
        return login_pages.confirm_switch(
            words_for(connection, store), store.golden_set.name(), current, login
        )
    if current is not None and login is None:
        return []
    response = Response()
    if login is not None and credentials.login is not None:
        token = session_by_login(store, credentials.login)
    else:
        token = session_token(store, policy, credentials)
    if token is not None:
        with_session(response, store, credentials, token, connection)
    return [value for name, value in response.raw_headers if name == b"set-cookie"]


def with_session(
    response: Response,
    store: Store,
    credentials: Credentials,
    token: str,
    connection: HTTPConnection,
) -> Response:
    """Set a response's session cookie, and end the session it replaces."""
    if credentials.session and credentials.session != token:
        log_out(store, credentials.session)
    set_session_cookie(response, token, secure=is_secure(connection))
    return response


def redirect_to(address: str) -> Response:
    return RedirectResponse(address, status_code=303, headers=NO_STORE_HEADERS)


MINUTE_SECONDS = 60.0
SLOWER_BY_SECONDS = 0.05  # for every wrong link of the last minute
LONGEST_SECONDS = 3.0
MOST_WAITING = 50

log = logging.getLogger(__name__)


class LinkThrottle:
    """Slows down responses to wrong links, by their number within the last minute.

    While too many wait, further ones are refused at once. A visitor with a working link waits for
    none of them, even behind the same address.
    """

    def __init__(self, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._pause = pause
        self._wrong: deque[float] = deque()
        self._unlogged = 0
        self._waiting = 0

    async def slow(self) -> bool:
        """Count a wrong link and wait; return False if too many wait already."""
        self._note(time.monotonic())
        if self._waiting >= MOST_WAITING:
            return False
        self._waiting += 1
        try:
            await self._pause(min(SLOWER_BY_SECONDS * len(self._wrong), LONGEST_SECONDS))
        finally:
            self._waiting -= 1
        return True

    def _note(self, now: float) -> None:
        while self._wrong and self._wrong[0] < now - MINUTE_SECONDS:
            self._wrong.popleft()
        self._wrong.append(now)
        if len(self._wrong) > LONGEST_SECONDS / SLOWER_BY_SECONDS:
            self._wrong.popleft()  # more would only use memory, without a longer pause
        self._unlogged += 1
        if self._unlogged == 1:
            asyncio.get_running_loop().call_later(MINUTE_SECONDS, self._tell)

    def _tell(self) -> None:
        """Log how many wrong links there were: one line a minute, however many are tried."""
        log.warning("links that do not work were opened %d times in a minute", self._unlogged)
        self._unlogged = 0
