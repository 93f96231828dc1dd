"""The language of sign-in pages and of refusals: by the setting, else by the browser."""

from __future__ import annotations

from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware

from labeler.errors import BadInput, StorageError
from labeler.model import Settings
from labeler.render.words import Words
from labeler.store import Store
from labeler.web.auth.access import SESSION_COOKIE, hash_secret
from labeler.web.auth.invitation import Invitation
from labeler.web.auth.login_flow import login_routes
from labeler.web.auth.middleware import LeadFilesOnly, SignInRequired
from labeler.web.language import reason_for
from labeler.web.unknown_pages import UnknownPages
from tests.support.grading_client import Pad
from tests.support.signed_in import let_in

GERMAN = {"accept": "text/html", "accept-language": "de-AT, en;q=0.5"}
ENGLISH = {"accept": "text/html", "accept-language": "en"}


@pytest.fixture
def served(filled: Store) -> Starlette:
    """Routes for signing in, and the page for addresses without one, of a closed golden set."""
    filled.people.invite("Ann", hash_secret("anns"))
    path = str(filled.path)
    listed = {"titles": {"/": "Label", "/scores": "Scores"}, "for_graders": ["/"]}
    return Starlette(
        routes=login_routes(path),
        middleware=[
            Middleware(SignInRequired, path=path),
            Middleware(UnknownPages, path=path, **listed),
        ],
    )


def test_an_invitation_speaks_the_language_of_the_browser(served, ask):
    german = ask(served, "GET", "/join/anns", headers=GERMAN).body.decode()
    assert '<html lang="de">' in german
    assert "Textstellen für" in german
    assert "Als Ann beginnen" in german
    assert "invite" not in german
    english = ask(served, "GET", "/join/anns", headers=ENGLISH).body.decode()
    assert '<html lang="en">' in english
    assert "Start grading as Ann" in english


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/", "Sie brauchen eine Einladung"),
        ("/join/none", "Dieser Link funktioniert nicht"),
    ],
)
def test_who_has_no_access_reads_why_in_german(served, ask, path, words):
    assert words in ask(served, "GET", path, headers=GERMAN).body.decode()


def test_the_setting_comes_before_the_browser(served, filled: Store, ask):
    filled.settings.save(
        replace(filled.settings.read(), language="de", passage=("Absatz", "Absätze"))
    )
    said = ask(served, "GET", "/join/anns", headers=ENGLISH).body.decode()
    assert "Absätze für" in said
    assert "Je Absatz genügt eine Taste" in said
    late = ask(served, "POST", "/join/none?promise=old", headers=ENGLISH).body.decode()
    assert "Dieser Link wurde nicht rechtzeitig geöffnet" in late


def test_an_unknown_address_and_signing_out_are_said_in_german(served, filled: Store, ask):
    let_in(filled, "Bo", "bos")
    cookie = {**GERMAN, "cookie": f"{SESSION_COOKIE}=bos"}
    assert "Zu Bewerten" in ask(served, "GET", "/nowhere", headers=cookie).body.decode()
    assert "Überall abmelden" in ask(served, "GET", "/leave", headers=cookie).body.decode()


def test_a_refused_grade_says_why_in_the_graders_language(filled: Store, ask):
    pad = Pad(filled, ask)
    pad.headers["accept-language"] = "de"
    pad.send(pad.event("tab1", 3))
    [answer] = pad.send(pad.event("tab2", 0))
    assert answer["refused"] == (
        "Textstelle inzwischen in einem anderen Tab oder auf einem anderen Gerät bewertet; jene "
        "Bewertung gilt"
    )
    [foreign] = pad.send({**pad.event("tab3", 1), "golden_set": "another"})
    assert foreign["refused"] == "diese Bewertung gehört zu anderen Daten"
    outside = pad.answer("next", {"sec-fetch-site": "cross-site"})
    assert outside.json()["error"] == ("Bewertungen kommen nur von der eigenen Seite von labeler")


def test_what_has_no_sentence_of_its_own_is_said_in_general_words_and_logged(caplog):
    german = Words.of(Settings(language="de"))
    error = BadInput("a note can have 2,000 characters, this one has 2,001")
    assert reason_for(error, "", german) == (
        "der Server nimmt das nicht an; sein Protokoll sagt, warum"
    )
    assert "this one has 2,001" in caplog.text
    assert reason_for(error, "", Words.of(Settings())) == str(error)
    failed = StorageError("/srv/g.db: the disk is full; nothing was changed")
    assert reason_for(failed, "/srv/g.db", german) == (
        "auf dem Server ist kein Platz mehr; nichts wurde geändert"
    )


def test_a_late_link_and_a_file_for_leads_are_refused_in_german(served, filled: Store, ask):
    late = ask(served, "POST", "/join/none?promise=old", headers=GERMAN).body.decode()
    assert "Dieser Link wurde nicht rechtzeitig geöffnet" in late
    guarded = LeadFilesOnly(served, path=str(filled.path))
    refused = ask(guarded, "GET", "/media/scores.csv", headers=GERMAN)
    assert (refused.status, refused.body.decode()) == (
        403,
        "das ist nur für die Leitung; fragen Sie dort\n",
    )


@pytest.mark.parametrize(("code", "first"), [("en", "Hello Ann,"), ("de", "Guten Tag Ann,")])
def test_the_message_of_an_invitation_is_in_the_language_of_the_setting(
    filled: Store, code: str, first: str
):
    settings = replace(filled.settings.read(), language=code, name="Bücher")
    words = Words.of(settings, "en" if code == "de" else "de")
    message = Invitation("Ann", "grader", "Bücher", "Lea").message(words, "http://x/join/s")
    assert message.startswith(f"{first}\n\n")
    assert "http://x/join/s" in message
    assert ("invites you to grade passages for Bücher. One key" in message) == (code == "en")
    assert ("Textstelle" in message) == (code == "de")
