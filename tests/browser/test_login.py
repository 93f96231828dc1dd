"""Logging in as people do: a real provider, a real redirect, what each of them then finds."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.doors import DoorServer, Provider, link_for
from tests.browser.server import any_port

pytestmark = pytest.mark.browser

PEOPLE = {
    "ann": {"email": "Ann@Example.org", "email_verified": True},
    "lea": {"email": "lea@example.org", "email_verified": True},
    "eve": {"email": "eve@example.org", "email_verified": True},
    "mal": {"email": "lea@example.org"},
    "lei": {"email": "LEA@example.org", "email_verified": True},
}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """Run a login provider."""
    running = Provider(any_port(), PEOPLE)
    yield running
    running.stop()


@pytest.fixture
def guarded(
    tmp_path: Path, provider: Provider, golden_set: Callable[..., Path]
) -> Iterator[DoorServer]:
    """Serve a golden set where Ann is a grader and Lea a lead, by their logins."""
    secrets = tmp_path / "secrets.toml"
    server = DoorServer(golden_set(), "--login", str(secrets))
    # another host than the provider's, so that the way there and back crosses sites
    server.url = f"http://localhost:{server.port}"
    secrets.write_text(
        "[auth]\n"
        f'redirect_uri = "{server.url}/oauth2callback"\n'
        f'cookie_secret = "{"0123456789abcdef" * 2}"\n'
        'client_id = "labeler"\n'
        'client_secret = "any"\n'
        f'server_metadata_url = "{provider.url}/.well-known/openid-configuration"\n'
    )
    with server.store() as store:
        store.people.allow("Ann", "ann@example.org")
        store.people.allow("Lea", "lea@example.org", role="lead")
    server.start()
    yield server
    server.stop(signal.SIGKILL)


def log_in(page: Page, name: str, by: str = "Sign in") -> None:
    """Go to the provider and choose who to be."""
    expect(page.get_by_text("You need an invitation")).to_be_visible()
    page.get_by_role("link", name=by, exact=True).click()
    page.get_by_role("button", name=name, exact=True).click()


def log_out(page: Page) -> None:
    """Leave, at the provider too."""
    page.get_by_role("link", name="Sign out").click()
    page.get_by_role("button", name="Sign out here").click()
    page.get_by_role("link", name="Sign out there, too").click()
    page.get_by_role("button", name="End session").click()
    expect(page.get_by_text("You need an invitation")).to_be_visible()


def test_an_invited_grader_logs_in_grades_under_their_name_and_logs_out(guarded, visit):
    page = visit(guarded.url, grader="Somebody Else")
    log_in(page, "ann")
    expect(page.locator(".chunk .text")).to_contain_text("This is the text")
    page.keyboard.press("2")
    expect(page.locator(".status .state")).to_contain_text("1 saved")
    with guarded.store() as store:
        assert [event.grader for event in store.judgments.log()] == ["Ann"]
    page.goto(f"{guarded.url}/scores")
    expect(page.get_by_text("Scores is for leads")).to_be_visible()
    assert page.request.get(f"{guarded.url}/media/x.csv").status == 403
    log_out(page)
    expect(page.locator(".chunk .text")).to_have_count(0)


@pytest.mark.slow
def test_a_lead_logs_in_and_opens_scores_until_they_are_revoked(guarded, visit):
    page = visit(f"{guarded.url}/scores", grader=None)
    log_in(page, "lea")
    expect(page.locator(".chunk .text")).to_contain_text("This is the text")
    page.get_by_role("link", name="Scores").click()
    expect(page.locator(".top .live")).to_be_visible()
    assert page.request.get(f"{guarded.url}/media/x.csv").status == 404
    with guarded.store() as store:
        store.people.allow("Bea", "bea@example.org", role="lead")
        store.people.revoke("Lea")
    assert page.request.get(f"{guarded.url}/media/x.csv").status == 403
    page.reload()
    expect(page.get_by_text("You are not on the list")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("eve", "You are signed in as eve@example.org, and nobody with this address is invited."),
        pytest.param(
            *("mal", "does not say that your e-mail address is confirmed"), marks=pytest.mark.slow
        ),
    ],
)
def test_a_stranger_is_told_so_and_finds_nothing(guarded, visit, name: str, told: str):
    page = visit(guarded.url, grader="Ann")
    log_in(page, name)
    expect(page.get_by_text(told)).to_be_visible()
    for path in ("scores", "data", "label"):
        page.goto(f"{guarded.url}/{path}")
        expect(page.get_by_text(told)).to_be_visible()
        expect(page.locator("[data-testid=stPageLink-NavLink]")).to_have_count(0)
    assert page.request.get(f"{guarded.url}/api/next").status == 403
    assert page.request.get(f"{guarded.url}/media/x.csv").status == 403
    with guarded.store() as store:
        assert store.judgments.log() == []


@pytest.mark.slow
def test_a_login_is_its_subject_and_nobody_else_who_has_the_address(guarded, visit):
    lea = visit(guarded.url, grader=None)
    log_in(lea, "lea")
    expect(lea.locator(".chunk .text")).to_contain_text("This is the text")
    other = visit(guarded.url, grader=None)
    log_in(other, "lei")
    expect(other.get_by_text("Your address belongs to another login")).to_be_visible()
    other.goto(f"{guarded.url}/scores")
    expect(other.get_by_text("Your address belongs to another login")).to_be_visible()


@pytest.mark.slow
def test_whoever_logs_in_as_somebody_else_is_asked_first_and_may_stay(guarded, visit):
    page = visit(link_for(guarded, "Bob"), grader=None)
    expect(page.locator(".chunk .text")).to_contain_text("This is the text")
    page.goto(f"{guarded.url}/login/default")
    page.get_by_role("button", name="ann", exact=True).click()
    expect(page.get_by_text("You are signed in as Bob, and your new login is")).to_be_visible()
    page.get_by_role("button", name="Stay signed in as Bob").click()
    expect(page.locator(".chunk .text")).to_contain_text("This is the text")
    page.goto(f"{guarded.url}/leave")
    expect(page.get_by_role("heading", name="Sign out, Bob?")).to_be_visible()
    page.goto(f"{guarded.url}/login/default")
    page.get_by_role("button", name="ann", exact=True).click()
    page.get_by_role("button", name="Switch to Ann").click()
    expect(page.locator(".chunk .text")).to_contain_text("This is the text")
    page.goto(f"{guarded.url}/leave")
    expect(page.get_by_role("heading", name="Sign out, Ann?")).to_be_visible()
    page.get_by_role("button", name="Sign out everywhere").click()
    page.get_by_role("link", name="Sign in again").click()
    expect(page.get_by_text("You need an invitation")).to_be_visible()
