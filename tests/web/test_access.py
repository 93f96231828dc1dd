"""The rules of the door: when it is closed, who comes in as what, which files are for whom."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from http.cookies import SimpleCookie
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest

from labeler.model import Actor, Settings
from labeler.paths import PACKAGE, folder
from labeler.store import Login, Store
from labeler.web.auth import access
from labeler.web.auth.access import (
    SECURE_COOKIE,
    SESSION_COOKIE,
    AccessPolicy,
    Credentials,
    Person,
    check_may_grade,
    hash_secret,
    new_secret,
    promise_lead_link,
    session_by_login,
)
from labeler.web.auth.login_flow import login_routes
from labeler.web.auth.middleware import LeadFilesOnly, SignInRequired
from labeler.web.auth.tokens import Forbidden, issue_token
from labeler.web.first_visit import STATIC
from labeler.web.static_js import script_routes
from tests.support.page import words
from tests.support.signed_in import let_in
from tests.support.store_reads import invited_with

NOBODY = Credentials()
ISSUER = "https://id.example"


def login(address: str | None = "ann@example.org", subject: str = "ann", **changes: Any) -> Login:
    """Return what a provider says of somebody."""
    given = {"fingerprint": new_secret(), "at": datetime.now(UTC), **changes}
    return Login(changes.pop("issuer", ISSUER), subject, address, **given)


@pytest.fixture(autouse=True)
def _plain_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (access.ANY_HOST, access.OPEN, access.LOGIN, access.GRADERS_ONLY):
        monkeypatch.delenv(name, raising=False)


def test_the_door_is_open_on_this_machine_until_somebody_is_invited(store: Store):
    assert AccessPolicy().visitor(store, Credentials(name="Ann")) == Person("Ann", "lead", "name")
    assert AccessPolicy().visitor(store, NOBODY) == Person(None, "lead", "name")
    store.people.invite("Bob", hash_secret("bobs"))
    assert AccessPolicy().visitor(store, Credentials(name="Bob")) is None
    store.people.revoke("Bob")
    assert AccessPolicy().visitor(store, NOBODY) == Person(None, "lead", "name")


@pytest.mark.parametrize("door", [AccessPolicy(reachable=True), AccessPolicy(login=True)])
def test_others_never_find_an_open_door_although_nobody_is_invited(
    store: Store, door: AccessPolicy
):
    assert door.is_closed(store)
    assert door.visitor(store, Credentials("Ann", "guess", login())) is None


def test_only_who_asked_for_it_keeps_the_door_open(store: Store):
    store.people.invite("Bob", hash_secret("bobs"))
    door = AccessPolicy(reachable=True, allows_anyone=True)
    assert door.visitor(store, Credentials(name="Ann")) == Person("Ann", "lead", "name")


def test_a_link_says_who_somebody_is_and_a_claimed_name_does_not(store: Store):
    let_in(store, "Bob", "bobs")
    let_in(store, "Lea", "leas", "lead")
    claims = Credentials(name="Lea", session="bobs")
    assert AccessPolicy().visitor(store, claims) == Person("Bob", "grader", "link")
    assert AccessPolicy().visitor(store, Credentials(session="leas")) == Person(
        "Lea", "lead", "link"
    )
    for wrong in ("", "Bobs", hash_secret("bobs"), "bobs "):
        assert AccessPolicy().visitor(store, Credentials(session=wrong)) is None


def test_a_login_counts_only_where_the_server_has_one(store: Store):
    store.people.allow("Ann", "ann@example.org")
    claims = Credentials(login=login())
    assert AccessPolicy(login=True).visitor(store, claims) == Person("Ann", "grader", "login")
    assert AccessPolicy().visitor(store, claims) is None
    token = session_by_login(store, claims.login)
    assert AccessPolicy(login=True).visitor(store, Credentials(session=token)) == Person(
        "Ann", "grader", "login"
    )
    assert AccessPolicy().visitor(store, Credentials(session=token)) is None


def test_a_revoked_link_leaves_a_login_that_stands(store: Store):
    let_in(store, "Ann", "old")
    store.people.revoke("Ann")
    store.people.allow("Ann", "ann@example.org")
    claims = Credentials(session="old", login=login())
    assert AccessPolicy(login=True).visitor(store, claims) == Person("Ann", "grader", "login")


@pytest.mark.parametrize("invited", [False, True])
def test_nobody_is_lead_on_a_server_for_graders_only(store: Store, invited: bool):
    if invited:
        let_in(store, "Lea", "leas", "lead")
    person = AccessPolicy(graders_only=True).visitor(store, Credentials(name="Lea", session="leas"))
    assert person is not None
    assert (person.name, person.is_lead) == ("Lea", False)


def test_a_role_is_read_anew_each_time(store: Store):
    let_in(store, "Lea", "leas", "lead")
    store.people.invite("Bea", hash_secret("beas"), role="lead")
    with Store(store.path) as other:
        other.people.allow("Lea", "lea@example.org", role="grader")
    assert AccessPolicy().visitor(store, Credentials(session="leas")) == Person(
        "Lea", "grader", "link"
    )


def test_who_is_not_invited_may_not_grade_at_a_closed_door(store: Store, monkeypatch):
    check_may_grade(store, "Ann")
    store.people.invite("Bob", hash_secret("bobs"))
    check_may_grade(store, "Bob")
    with pytest.raises(Forbidden, match="Ann is not invited, or not any more"):
        check_may_grade(store, "Ann")
    store.people.revoke("Bob")
    monkeypatch.setenv(access.ANY_HOST, "1")
    with pytest.raises(Forbidden, match="Bob is not invited"):
        check_may_grade(store, "Bob")
    monkeypatch.setenv(access.OPEN, "1")
    check_may_grade(store, "Bob")


@pytest.mark.parametrize(
    ("user", "address"),
    [
        ({"email": "Ann@Example.org", "email_verified": True}, "ann@example.org"),
        ({"email": "ann@example.org", "email_verified": "true"}, "ann@example.org"),
        ({"email": "ann@example.org"}, None),
        ({"email": "ann@example.org", "email_verified": None}, None),
        ({"email": "ann@example.org", "iss": ISSUER}, "ann@example.org"),
        ({"email": "ann@example.org", "iss": ISSUER, "email_verified": False}, None),
        ({"email": "ann@example.org", "iss": f"{ISSUER}/"}, None),
        ({"email": "\u212aate@Example.org", "email_verified": True}, "\u212aate@example.org"),
        ({"email": " ann@example.org", "email_verified": True}, " ann@example.org"),
        ({"email": "ann@example.org", "email_verified": False}, None),
        ({"email": "ann@example.org", "email_verified": "false"}, None),
        ({"name": "Ann"}, None),
        ({"email": ["ann@example.org"]}, None),
        ({}, None),
    ],
)
def test_an_address_counts_if_the_provider_says_it_is_confirmed_or_is_trusted(user, address):
    assert access.confirmed_address(user, {ISSUER}) == address


def test_a_secret_is_long_new_each_time_and_not_kept(store: Store):
    secret = access.new_secret()
    assert len(secret) >= 43
    assert secret != access.new_secret()
    store.people.invite("Ann", hash_secret(secret))
    assert secret.encode() not in store.path.read_bytes()
    wal = Path(f"{store.path}-wal")
    assert secret.encode() not in (wal.read_bytes() if wal.exists() else b"")


def cookies_of(answer: Any) -> SimpleCookie:
    """Return the cookies that an answer sets."""
    return SimpleCookie("\r\n".join(answer.cookies))


@pytest.fixture
def served(store: Store) -> Starlette:
    """The door before an application that answers everything else."""

    async def anything(_: Request) -> Response:
        return PlainTextResponse("served")

    return Starlette(
        routes=[
            *login_routes(str(store.path)),
            Route("/{path:path}", anything, methods=["GET", "PUT", "POST", "DELETE"]),
        ],
        middleware=[
            Middleware(LeadFilesOnly, path=str(store.path)),
            Middleware(SignInRequired, path=str(store.path)),
        ],
    )


def test_a_link_opens_a_session_by_a_button_and_leaves_the_address(served, store, ask):
    store.people.invite("Ann", hash_secret("secret"))
    looked = ask(served, "GET", "/join/secret")
    assert looked.status == 200
    assert b"You are invited to grade passages for " in looked.body
    assert b'<form method="post"><button type="submit">Start grading as Ann</button>' in looked.body
    assert b"secret" not in looked.body
    assert "set-cookie" not in looked.headers
    answer = ask(served, "POST", "/join/secret")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert answer.headers["cache-control"] == "no-store"
    cookie = cookies_of(answer)[SESSION_COOKIE]
    assert "secret" not in answer.headers["set-cookie"]
    assert store.sessions.get(hash_secret(cookie.value)).name == "Ann"
    assert (cookie["path"], cookie["samesite"], cookie["httponly"]) == ("/", "lax", True)
    assert int(cookie["max-age"]) > 300 * 24 * 3600
    assert not cookie["secure"]


@pytest.mark.parametrize("forwarded", ["https", "https, http"])
def test_the_cookie_of_a_secure_page_never_travels_in_the_open(served, store, ask, forwarded: str):
    store.people.invite("Ann", hash_secret("secret"))
    proxied = {"x-forwarded-proto": forwarded}
    cookie = cookies_of(ask(served, "POST", "/join/secret", headers=proxied))[SECURE_COOKIE]
    assert (cookie["secure"], cookie["path"], cookie["domain"]) == (True, "/", "")
    lead = f"{SECURE_COOKIE}={cookie.value}"
    assert ask(served, "GET", "/data", headers={"cookie": lead, **proxied}).status == 200
    for cookies in ({"cookie": lead}, {"cookie": f"{SESSION_COOKIE}={cookie.value}", **proxied}):
        assert ask(served, "GET", "/data", headers=cookies).status == 403


@pytest.mark.parametrize("secret", ["wrong", "%00", "%ED%A0%80", "x" * 5000])
def test_a_link_that_does_not_work_says_so_and_sets_nothing(served, store, ask, secret: str):
    store.people.invite("Ann", hash_secret("secret"))
    answer = ask(served, "GET", f"/join/{secret}")
    assert answer.status == 403
    assert b"work</h1>" in answer.body
    assert "set-cookie" not in answer.headers


def test_an_invitation_loads_ahead_what_its_button_leads_to(store, ask):
    store.people.invite("Ann", hash_secret("secret"))
    app = Starlette(routes=[*login_routes(str(store.path)), *script_routes()])
    page = ask(app, "GET", "/join/secret").body.decode()
    found = re.findall(r'rel="modulepreload" href="([^"]+)"', page)
    ours = [path for path in found if path.startswith("/scripts/")]
    assert ours[0].endswith("/grading/main.js")
    assert {ask(app, "GET", path).status for path in ours} == {200}
    streamlits = {Path(path).name.partition(".")[0] for path in found} - {
        Path(p).stem for p in ours
    }
    assert {"index", "Html", "BidiComponent", "react-dom"} <= streamlits
    assert all((STATIC / path[1:]).is_file() for path in found if path not in ours)
    assert "modulepreload" not in ask(app, "GET", "/join/wrong").body.decode()


def test_a_revoked_link_does_not_work(served, store, ask):
    store.people.invite("Ann", hash_secret("secret"))
    store.people.revoke("Ann")
    for method in ("GET", "POST"):
        assert ask(served, method, "/join/secret").status == 403


def test_a_lead_of_an_empty_golden_set_lands_where_files_are_loaded(filled, ask):
    filled.people.invite("Lea", hash_secret("leas"), role="lead")
    filled.people.invite("Ann", hash_secret("anns"))
    served = Starlette(routes=login_routes(str(filled.path)))

    def landing(secret: str) -> str:
        return ask(served, "POST", f"/join/{secret}").headers["location"]

    assert (landing("leas"), landing("anns")) == ("/", "/")
    for query in filled.queries.all():
        filled.queries.retire(query.query_id)
    assert (landing("leas"), landing("anns")) == ("/data", "/")


def test_whoever_closes_the_door_comes_in_with_the_same_step(served, store, ask):
    key = promise_lead_link(store, "Lea")
    assert not store.people.has_invitations(), "showing the link has closed nothing yet"
    looked = ask(served, "GET", f"/join/{key.secret}?promise={key.promise}")
    assert b"Your sign-in link for " in looked.body
    assert not store.people.has_invitations(), "nor has looking at it"
    answer = ask(served, "POST", f"/join/{key.secret}?promise={key.promise}")
    assert (answer.status, answer.headers["location"]) == (303, "/data?section=People")
    token = cookies_of(answer)[SESSION_COOKIE].value
    assert store.sessions.get(hash_secret(token)).name == "Lea"
    assert invited_with(store, hash_secret(key.secret)) == ("Lea", "lead")
    [invited] = [entry for entry in store.audit.log() if entry.kind == "invite"]
    assert (invited.by, invited.way) == ("Lea", "link"), "the first lead is no stranger to the log"
    again = ask(served, "POST", f"/join/{key.secret}?promise={key.promise}")
    assert again.status == 303
    assert len(store.people.ways_in()) == 1
    inside = {"cookie": f"{SESSION_COOKIE}={token}"}
    answer = ask(served, "GET", f"/join/{key.secret}", headers=inside)
    assert (answer.status, answer.headers["location"]) == (303, "/data")


def test_a_promise_is_for_one_secret_one_person_and_a_short_while(
    served, store, ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    key = promise_lead_link(store, "Lea")
    with Store(tmp_path / "other.db", create=True) as other:
        foreign = promise_lead_link(other, "Lea")
    token = issue_token(store.golden_set.signing_key(), store.golden_set.uuid(), "Lea")
    for path in (
        f"/join/{new_secret()}?promise={key.promise}",
        f"/join/{foreign.secret}?promise={foreign.promise}",
        f"/join/{key.secret}?promise={token}",
        f"/join/{key.secret}?promise=",
        f"/join/{key.secret}",
    ):
        for method in ("GET", "POST"):
            answer = ask(served, method, path)
            assert answer.status == 403, path
        assert "set-cookie" not in answer.headers
    monkeypatch.setattr("labeler.web.auth.tokens.LIFETIME_SECONDS", -1)
    late = ask(served, "GET", f"/join/{key.secret}?promise={key.promise}")
    assert (late.status, b"not opened in time" in late.body) == (403, True)
    assert not store.people.has_invitations()


def test_a_promise_does_not_open_a_door_that_somebody_else_has_closed(served, store, ask):
    key = promise_lead_link(store, "Lea")
    store.people.invite("Ann", hash_secret("anns"), role="lead")
    answer = ask(served, "POST", f"/join/{key.secret}?promise={key.promise}")
    assert answer.status == 403
    assert b"omebody else has invited people in the meantime" in answer.body
    store.people.invite("Lea", hash_secret("as grader"))
    assert ask(served, "POST", f"/join/{key.secret}?promise={key.promise}").status == 403
    assert invited_with(store, hash_secret("as grader")) == ("Lea", "grader")


def test_a_lead_s_own_new_link_leaves_the_old_one_until_it_is_used(served, store, ask):
    store.people.invite("Lea", hash_secret("old"), role="lead")
    key = promise_lead_link(store, "Lea")
    assert invited_with(store, hash_secret("old")) == ("Lea", "lead")
    assert ask(served, "POST", f"/join/{key.secret}?promise={key.promise}").status == 303
    assert invited_with(store, hash_secret("old")) is None
    assert invited_with(store, hash_secret(key.secret)) == ("Lea", "lead")


GUARDED = [
    ("GET", "/media/abc.csv"),
    ("HEAD", "/media/abc.csv"),
    ("PUT", "/_stcore/upload_file/session/file"),
    ("DELETE", "/_stcore/upload_file/session/file"),
    ("GET", "/_stcore/metrics"),
    ("POST", "/_stcore/agent/interact"),
    ("GET", "/_stcore/health/more"),
    ("GET", "/app/static/file"),
    ("GET", "/app/static/media/a.woff2"),
    ("GET", "/x/static/media/a.woff2"),
    ("GET", "/media/static/media/a.woff2"),
    ("GET", "//static/media/a.woff2"),
    ("GET", "/static/media/../../media/abc.csv"),
    ("GET", "/static/media/../../media/abc.woff2"),
    ("GET", "/static/media/x/a.woff2"),
    ("GET", "/static/media/..\\media\\abc.woff2"),
    ("GET", "/static/media/.."),
    ("GET", "/static/media/..woff2"),
    ("GET", "/static/media/a.woff2\n"),
]
FREE = [
    *("/_stcore/health", "/_stcore/host-config", "/static/index.js", "/api/next"),
    *("/static/media/Sans-Upright.ttf.B1_x-.woff2", "/static/media/a.svg"),
]


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_files_are_a_leads_only(served, store, ask, method: str, path: str):
    let_in(store, "Ann", "anns")
    let_in(store, "Lea", "leas", "lead")
    let_in(store, "Bea", "beas", "lead")
    for cookie, status in (("", 403), ("anns", 403), ("wrong", 403), ("leas", 200)):
        headers = {"cookie": f"{SESSION_COOKIE}={cookie}; labeler_grader=Lea"}
        answer = ask(served, method, path, headers=headers)
        assert (cookie, answer.status in (200, 405)) == (cookie, status == 200)
        assert answer.status == 403 or b"for leads" not in answer.body
    store.people.revoke("Lea")
    headers = {"cookie": f"{SESSION_COOKIE}=leas"}
    assert ask(served, method, path, headers=headers).status == 403


@pytest.mark.parametrize("path", FREE)
def test_what_every_page_needs_is_everyones(served, store, ask, path: str):
    store.people.invite("Ann", hash_secret("anns"))
    assert ask(served, "GET", path).status == 200


def test_at_an_open_door_files_are_everyones(served, store, ask):
    assert ask(served, "GET", "/media/abc.csv").status == 200


def test_a_golden_set_that_cannot_be_read_opens_nothing(served, store, ask):
    store.close()
    store.path.write_bytes(b"no database " * 1000)
    for path in ("/media/abc.csv", "/join/secret", "/", "/data"):
        assert ask(served, "GET", path).status == 503


@pytest.fixture
def open_as(filled: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Run the app with a page open and these cookies; Ann is a grader, Lea a lead."""
    let_in(filled, "Ann", "anns")
    let_in(filled, "Lea", "leas", "lead")

    def run(name: str, **cookies: str) -> AppTest:
        brought = SimpleNamespace(cookies=cookies, headers=[], remote_ip="192.0.2.7")
        monkeypatch.setattr("streamlit.runtime.context._get_client_context", lambda: brought)
        app = AppTest.from_file(str(PACKAGE / "app" / "navigation.py"), default_timeout=30)
        app.switch_page(str(folder("pages") / f"{name}.py"))
        return app.run()

    return run


LEADS_PAGES = sorted(path.stem for path in folder("pages").glob("*.py") if path.stem != "label")


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the name of each script that Streamlit reads in order to run it."""
    names: list[str] = []
    get_bytecode = ScriptCache.get_bytecode

    def noting(cache: ScriptCache, path: str):
        names.append(Path(path).stem)
        return get_bytecode(cache, path)

    monkeypatch.setattr(ScriptCache, "get_bytecode", noting)
    return names


def test_a_grader_reads_in_their_language_what_is_for_leads(open_as, store: Store):
    store.settings.save(replace(store.settings.read(), language="de"))
    said = words(open_as("review", labeler_session="anns"))
    for each in ("Review ist nur für die Leitung", "Zu Bewerten: Textstellen bewerten", "Abmelden"):
        assert each in said
    assert "Sign out" in words(open_as("review", labeler_session="leas"))


@pytest.mark.parametrize("name", LEADS_PAGES)
def test_a_page_runs_for_leads_and_for_nobody_else(
    open_as, read: list[str], store: Store, name: str
):
    assert f"{name.capitalize()} is for leads" in words(open_as(name, labeler_session="anns"))
    assert "Your access has ended" in words(open_as(name, labeler_grader="Lea"))
    assert name not in read
    assert "is for leads" not in words(open_as(name, labeler_session="leas"))
    [entry], _ = store.audit.search(kind="refuse")
    assert (entry.who, entry.way, entry.address) == ("Ann", "link", "192.0.2.7")
    assert entry.subject == name.capitalize()
    assert name in read


def test_a_grader_finds_the_label_page_and_no_link_to_another(open_as):
    app = open_as("label", labeler_session="anns")
    assert not app.exception
    assert app.get("page_link") == []
    assert "invitation" not in words(app)


def test_an_invitation_says_who_sent_it_and_to_what(served, store, ask):
    store.settings.save(Settings(name="<i>Help</i> centre", passage=("clause", "clauses")))
    store.connection.actor = Actor("Lea", "link", None)
    store.people.invite("Ann", hash_secret("secret"))
    body = ask(served, "GET", "/join/secret").body.decode()
    assert "Lea invites you to grade clauses for &lt;i&gt;Help&lt;/i&gt; centre" in body
    store.people.invite("Bea", hash_secret("leads"), role="lead")
    assert b"Lea invites you to lead " in ask(served, "GET", "/join/leads").body
    store.connection.actor = None  # the command line, whose user has no name on these pages
    store.people.invite("Ann", hash_secret("again"))
    assert b"You are invited to grade clauses for " in ask(served, "GET", "/join/again").body


def test_who_has_no_access_reads_neither_names_nor_what_it_is_about(served, store, ask):
    store.settings.save(Settings(name="Help centre"))
    store.people.invite("Ann", hash_secret("secret"))
    for address in ("/", "/join/nonsense", "/nowhere"):
        body = ask(served, "GET", address).body
        assert b"Help centre" not in body
        assert b"Ann" not in body


def test_a_promised_link_goes_on_working_with_its_promise_until_it_is_revoked(
    served, store, ask, monkeypatch: pytest.MonkeyPatch
):
    key = promise_lead_link(store, "Lea")
    address = f"/join/{key.secret}?promise={key.promise}"
    assert ask(served, "POST", address).status == 303
    monkeypatch.setattr("labeler.web.auth.tokens.LIFETIME_SECONDS", -1)
    assert ask(served, "GET", address).status == 200
    assert ask(served, "POST", address).status == 303
    monkeypatch.undo()
    store.people.invite("Lea", hash_secret("newer"), role="lead")
    for method in ("GET", "POST"):
        answer = ask(served, method, address)
        assert (answer.status, b"This link doesn" in answer.body) == (403, True)
    assert invited_with(store, hash_secret("newer")) == ("Lea", "lead")
