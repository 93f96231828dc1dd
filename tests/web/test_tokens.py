"""Tokens: who may grade where, and for how long."""

from __future__ import annotations

import time

import pytest

from labeler.errors import LabelerError
from labeler.web.auth import tokens
from labeler.web.auth.tokens import Expired, Forbidden

NAMES = ["Ann", "", "Åsa", "名前", "a/b.c:d", "Ann ", "🙂" * 50]


@pytest.mark.parametrize("name", NAMES)
def test_a_token_names_its_grader_exactly(name: str):
    token = tokens.issue_token("key", "set", name)
    assert tokens.grader_from_token(token, "key", "set") == name
    assert token.isascii(), "it travels in a header"


@pytest.mark.parametrize(
    "other", [("another key", "set"), ("key", "another set"), ("", ""), ("set", "key")]
)
def test_a_token_is_good_for_its_own_golden_set_only(other: tuple[str, str]):
    token = tokens.issue_token("key", "set", "Ann")
    with pytest.raises(Forbidden) as caught:
        tokens.grader_from_token(token, *other)
    assert not isinstance(caught.value, Expired)
    assert "another" not in str(caught.value), "a refusal tells nothing of what is stored"


@pytest.mark.parametrize("at", range(0, 40, 3))
def test_a_token_changed_anywhere_is_refused(at: int):
    token = tokens.issue_token("key", "set", "Ann")
    at %= len(token)
    changed = token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :]
    with pytest.raises(Forbidden):
        tokens.grader_from_token(changed, "key", "set")
    assert tokens.grader_from_token(token, "key", "set") == "Ann"


@pytest.mark.parametrize("token", ["", ".", "..", "a.b.c", "x" * 10_000, "é", "IkFubiI"])
def test_what_is_no_token_is_forbidden_and_never_an_error(token: str):
    with pytest.raises(Forbidden) as caught:
        tokens.grader_from_token(token, "key", "set")
    assert isinstance(caught.value, LabelerError)


@pytest.mark.parametrize("away", [-tokens.LIFETIME_SECONDS - 2, 3600])
def test_a_token_of_another_time_has_expired(monkeypatch: pytest.MonkeyPatch, away: int):
    now = time.time()
    with monkeypatch.context() as clock:
        clock.setattr(time, "time", lambda: now + away)
        token = tokens.issue_token("key", "set", "Ann")
        assert tokens.grader_from_token(token, "key", "set") == "Ann"
    with pytest.raises(Expired, match="run out"):
        tokens.grader_from_token(token, "key", "set")
