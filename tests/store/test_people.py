"""Who is invited, as the store keeps it: links, logins, roles, names."""

from __future__ import annotations

import pytest

from labeler.errors import BadInput, NotFound
from labeler.model import Judgment
from labeler.store import Store


def test_an_invited_grader_is_known_by_the_hash_of_their_secret(store: Store):
    assert store.invited_with("hash") is None
    store.invite("Ann", "hash")
    assert store.invited_with("hash") == ("Ann", "grader")
    assert store.invited_with("another") is None
    assert store.is_invited("Ann")
    assert not store.is_invited("Bob")


def test_a_new_link_ends_the_ones_before_and_nobody_elses(store: Store):
    assert not store.invite("Ann", "first")
    store.invite("Bob", "his")
    assert store.invite("Ann", "second")
    assert store.invited_with("first") is None
    assert store.invited_with("second") == ("Ann", "grader")
    assert store.invited_with("his") == ("Bob", "grader")


def test_a_grader_who_worked_at_an_open_door_becomes_a_grader_unless_invited_as_lead(store: Store):
    store.add_grader("Ann")  # everyone is lead there
    store.invite("Ann", "one")
    assert store.invited_with("one") == ("Ann", "grader")
    store.invite("Ann", "two", role="lead")
    assert store.invited_with("two") == ("Ann", "lead")


def test_a_lead_who_gets_a_new_link_stays_lead(store: Store):
    store.invite("Lea", "one", role="lead")
    store.invite("Lea", "two")
    store.allow("Lea", "lea@example.org")
    assert store.invited_with("two") == ("Lea", "lead")
    store.invite("Bea", "hers", role="lead")
    store.revoke("Lea")
    store.invite("Lea", "three")
    assert store.invited_with("three") == ("Lea", "grader")


def test_a_revoked_grader_has_no_way_in_and_keeps_their_judgments(filled: Store):
    filled.invite("Ann", "hash")
    filled.allow("Ann", "ann@example.org")
    filled.judge(Judgment("e1", "q1", "c3", "Ann", "grade", 2))
    assert filled.revoke("Ann") == 2
    assert filled.invited_with("hash") is None
    assert filled.invited_at("ann@example.org") is None
    assert not filled.has_invitations()
    assert [event.grader for event in filled.events() if event.grader] == ["Ann"]
    with pytest.raises(BadInput, match="'Ann' has no valid invitation"):
        filled.revoke("Ann")
    with pytest.raises(NotFound, match="no grader named 'Zoe'"):
        filled.revoke("Zoe")


def test_an_address_is_one_person_in_any_case_of_letters(store: Store):
    assert not store.allow("Ann", " Ann@Example.org ")
    assert store.invited_at("ANN@example.org") == ("Ann", "grader")
    assert store.allow("Anna", "ann@example.org", role="lead")
    assert store.invited_at("ann@example.org") == ("Anna", "lead")
    assert not store.is_invited("Ann")


def test_no_change_takes_the_last_lead_away(store: Store):
    store.allow("Lea", "lea@example.org", role="lead")
    store.invite("Ann", "anns")
    refused = pytest.raises(BadInput, match="'Lea' is the last lead who can sign in")
    with refused:
        store.revoke("Lea")
    with refused:
        store.change_role("Lea", "grader")
    with refused:
        store.invite("Lea", "hers", role="grader")
    with refused:
        store.allow("Ann", "lea@example.org")  # the address would be Ann's from now on
    assert store.invited_at("lea@example.org") == ("Lea", "lead")
    assert store.invited_with("hers") is None
    store.change_role("Ann", "lead")
    assert store.revoke("Lea") == 1
    assert store.leads() == ["Ann"]


def test_where_no_lead_was_invited_none_is_kept(store: Store):
    store.invite("Ann", "anns")
    store.revoke("Ann")
    assert not store.has_invitations()


@pytest.mark.parametrize(
    "address", ["", "ann", "@example.org", "ann@", "ann @example.org", "a@b\n@c"]
)
def test_what_is_no_address_is_refused_and_nobody_is_made_known(store: Store, address: str):
    with pytest.raises(BadInput, match=r"looks like ann@example\.org"):
        store.allow("Ann", address)
    assert store.ways_in() == []


def test_the_list_says_of_everyone_how_they_come_in(store: Store):
    store.add_grader("Zoe")
    store.invite("Ann", "one", role="lead")
    store.allow("Ann", "ann@example.org")
    store.invite("Bob", "two")
    store.invite("Bob", "three")
    store.revoke("Bob")
    ways = [(w.name, w.role, w.by_link, w.address, w.revoked_at is None) for w in store.ways_in()]
    assert ways == [
        ("Ann", "lead", True, None, True),
        ("Ann", "lead", False, "ann@example.org", True),
        ("Bob", "grader", True, None, False),
        ("Zoe", "lead", False, None, True),
    ]
    assert store.ways_in()[-1].since is None


def test_whether_a_lead_is_invited_is_asked_of_standing_invitations(store: Store):
    store.add_grader("Lea")
    store.invite("Ann", "one")
    assert store.has_invitations()
    assert not store.has_invitations("lead")
    store.invite("Lea", "two", role="lead")
    assert store.has_invitations("lead")
    assert store.revoke_everyone() == 2
    assert not store.has_invitations("lead")


def test_a_renamed_grader_keeps_judgments_seed_and_invitation(filled: Store):
    filled.judge(Judgment("e1", "q1", "c3", "Ann", "grade", 2))
    filled.invite("Ann", "hash")
    log = filled._rows("SELECT * FROM judgments")
    seed, revision = filled.grader_seed("Ann"), filled.data_revision()
    filled.rename_grader("Ann", "Anna")
    assert filled.grader_seed("Anna") == seed
    assert filled.invited_with("hash") == ("Anna", "grader")
    assert [event.grader for event in filled.events() if event.grader] == ["Anna"]
    assert filled._rows("SELECT * FROM judgments") == log
    assert filled.data_revision() > revision  # what is kept by name is read again
    with pytest.raises(NotFound):
        filled.grader_seed("Ann")


def test_no_two_graders_become_one_by_a_new_name(filled: Store):
    with pytest.raises(BadInput, match="there is a grader named 'Bob' already"):
        filled.rename_grader("Ann", "Bob")
    with pytest.raises(NotFound, match="there is no grader named 'Zoe'"):
        filled.rename_grader("Zoe", "Yan")
    with pytest.raises(BadInput, match="must not be empty"):
        filled.rename_grader("Ann", "")
    assert {way.name for way in filled.ways_in()} >= {"Ann", "Bob"}


def test_inviting_moves_no_measure(store: Store):
    before = store.data_revision()
    store.invite("Ann", "hash")
    store.revoke("Ann")
    assert store.data_revision() == before


def test_when_somebody_was_here_is_told_by_sessions_and_judgments(filled: Store):
    filled.add_grader("Bob")
    filled.invite("Ann", "hash")
    assert filled.visits()["Ann"].first is None
    assert filled.open_by_link("hash", "token")
    here = filled.visits()["Ann"]
    assert here.first
    assert here.first == here.last
    judged = "2999-01-01T00:00:00.000Z"
    filled.judge(Judgment("e1", "q1", "c3", "Ann", "grade", 2, created_at=judged))
    assert (filled.visits()["Ann"].first, filled.visits()["Ann"].last) == (here.first, judged)
    assert filled.visits()["Bob"].last is None


def test_names_are_alike_where_case_and_blanks_alone_differ(store: Store):
    for name in ("Marit Dahl", "marit dahl ", "Marita Dahl"):
        store.add_grader(name)
    assert store.names_like(" MARIT  DAHL") == ["Marit Dahl", "marit dahl "]
    assert store.names_like("Zoe") == []
