"""Who is invited, as the store keeps it: links, logins, roles, names."""

from __future__ import annotations

import pytest

from labeler.errors import BadInput, NotFound
from labeler.model import Judgment
from labeler.store import Store
from tests.support.store_reads import invited_with


def test_an_invited_grader_is_known_by_the_hash_of_their_secret(store: Store):
    assert invited_with(store, "hash") is None
    store.people.invite("Ann", "hash")
    assert invited_with(store, "hash") == ("Ann", "grader")
    assert invited_with(store, "another") is None
    assert store.people.is_invited("Ann")
    assert not store.people.is_invited("Bob")


def test_a_new_link_ends_the_ones_before_and_nobody_elses(store: Store):
    assert not store.people.invite("Ann", "first")
    store.people.invite("Bob", "his")
    assert store.people.invite("Ann", "second")
    assert invited_with(store, "first") is None
    assert invited_with(store, "second") == ("Ann", "grader")
    assert invited_with(store, "his") == ("Bob", "grader")


def test_a_grader_who_worked_at_an_open_door_becomes_a_grader_unless_invited_as_lead(store: Store):
    store.people.add("Ann")  # everyone is lead there
    store.people.invite("Ann", "one")
    assert invited_with(store, "one") == ("Ann", "grader")
    store.people.invite("Ann", "two", role="lead")
    assert invited_with(store, "two") == ("Ann", "lead")


def test_a_lead_who_gets_a_new_link_stays_lead(store: Store):
    store.people.invite("Lea", "one", role="lead")
    store.people.invite("Lea", "two")
    store.people.allow("Lea", "lea@example.org")
    assert invited_with(store, "two") == ("Lea", "lead")
    store.people.invite("Bea", "hers", role="lead")
    store.people.revoke("Lea")
    store.people.invite("Lea", "three")
    assert invited_with(store, "three") == ("Lea", "grader")


def test_a_revoked_grader_has_no_way_in_and_keeps_their_judgments(filled: Store):
    filled.people.invite("Ann", "hash")
    filled.people.allow("Ann", "ann@example.org")
    filled.judgments.add(Judgment("e1", "q1", "c3", "Ann", "grade", 2))
    assert filled.people.revoke("Ann") == 2
    assert invited_with(filled, "hash") is None
    assert filled.people.invited_at("ann@example.org") is None
    assert not filled.people.has_invitations()
    assert [event.grader for event in filled.judgments.log() if event.grader] == ["Ann"]
    with pytest.raises(BadInput, match="'Ann' has no valid invitation"):
        filled.people.revoke("Ann")
    with pytest.raises(NotFound, match="no grader named 'Zoe'"):
        filled.people.revoke("Zoe")


def test_an_address_is_one_person_in_any_case_of_letters(store: Store):
    assert not store.people.allow("Ann", " Ann@Example.org ")
    assert store.people.invited_at("ANN@example.org") == ("Ann", "grader")
    assert store.people.allow("Anna", "ann@example.org", role="lead")
    assert store.people.invited_at("ann@example.org") == ("Anna", "lead")
    assert not store.people.is_invited("Ann")


def test_no_change_takes_the_last_lead_away(store: Store):
    store.people.allow("Lea", "lea@example.org", role="lead")
    store.people.invite("Ann", "anns")
    refused = pytest.raises(BadInput, match="'Lea' is the last lead who can sign in")
    with refused:
        store.people.revoke("Lea")
    with refused:
        store.people.change_role("Lea", "grader")
    with refused:
        store.people.invite("Lea", "hers", role="grader")
    with refused:
        store.people.allow("Ann", "lea@example.org")  # the address would be Ann's from now on
    assert store.people.invited_at("lea@example.org") == ("Lea", "lead")
    assert invited_with(store, "hers") is None
    store.people.change_role("Ann", "lead")
    assert store.people.revoke("Lea") == 1
    assert store.people.leads() == ["Ann"]


def test_where_no_lead_was_invited_none_is_kept(store: Store):
    store.people.invite("Ann", "anns")
    store.people.revoke("Ann")
    assert not store.people.has_invitations()


@pytest.mark.parametrize(
    "address", ["", "ann", "@example.org", "ann@", "ann @example.org", "a@b\n@c"]
)
def test_what_is_no_address_is_refused_and_nobody_is_made_known(store: Store, address: str):
    with pytest.raises(BadInput, match=r"looks like ann@example\.org"):
        store.people.allow("Ann", address)
    assert store.people.ways_in() == []


def test_the_list_says_of_everyone_how_they_come_in(store: Store):
    store.people.add("Zoe")
    store.people.invite("Ann", "one", role="lead")
    store.people.allow("Ann", "ann@example.org")
    store.people.invite("Bob", "two")
    store.people.invite("Bob", "three")
    store.people.revoke("Bob")
    ways = [
        (w.name, w.role, w.by_link, w.address, w.revoked_at is None) for w in store.people.ways_in()
    ]
    assert ways == [
        ("Ann", "lead", True, None, True),
        ("Ann", "lead", False, "ann@example.org", True),
        ("Bob", "grader", True, None, False),
        ("Zoe", "lead", False, None, True),
    ]
    assert store.people.ways_in()[-1].since is None


def test_whether_a_lead_is_invited_is_asked_of_standing_invitations(store: Store):
    store.people.add("Lea")
    store.people.invite("Ann", "one")
    assert store.people.has_invitations()
    assert not store.people.has_invitations("lead")
    store.people.invite("Lea", "two", role="lead")
    assert store.people.has_invitations("lead")
    assert store.people.revoke_everyone() == 2
    assert not store.people.has_invitations("lead")


def test_a_renamed_grader_keeps_judgments_seed_and_invitation(filled: Store):
    filled.judgments.add(Judgment("e1", "q1", "c3", "Ann", "grade", 2))
    filled.people.invite("Ann", "hash")
    log = filled.connection.rows("SELECT * FROM judgments")
    seed, revision = filled.people.seed("Ann"), filled.golden_set.data_revision()
    filled.people.rename("Ann", "Anna")
    assert filled.people.seed("Anna") == seed
    assert invited_with(filled, "hash") == ("Anna", "grader")
    assert [event.grader for event in filled.judgments.log() if event.grader] == ["Anna"]
    assert filled.connection.rows("SELECT * FROM judgments") == log
    assert filled.golden_set.data_revision() > revision  # what is kept by name is read again
    with pytest.raises(NotFound):
        filled.people.seed("Ann")


def test_no_two_graders_become_one_by_a_new_name(filled: Store):
    with pytest.raises(BadInput, match="there is a grader named 'Bob' already"):
        filled.people.rename("Ann", "Bob")
    with pytest.raises(NotFound, match="there is no grader named 'Zoe'"):
        filled.people.rename("Zoe", "Yan")
    with pytest.raises(BadInput, match="must not be empty"):
        filled.people.rename("Ann", "")
    assert {way.name for way in filled.people.ways_in()} >= {"Ann", "Bob"}


def test_inviting_moves_no_measure(store: Store):
    before = store.golden_set.data_revision()
    store.people.invite("Ann", "hash")
    store.people.revoke("Ann")
    assert store.golden_set.data_revision() == before


def test_when_somebody_was_here_is_told_by_sessions_and_judgments(filled: Store):
    filled.people.add("Bob")
    filled.people.invite("Ann", "hash")
    assert filled.people.visits()["Ann"].first is None
    assert filled.sessions.open_by_link("hash", "token")
    here = filled.people.visits()["Ann"]
    assert here.first
    assert here.first == here.last
    judged = "2999-01-01T00:00:00.000Z"
    filled.judgments.add(Judgment("e1", "q1", "c3", "Ann", "grade", 2, created_at=judged))
    assert (filled.people.visits()["Ann"].first, filled.people.visits()["Ann"].last) == (
        here.first,
        judged,
    )
    assert filled.people.visits()["Bob"].last is None


def test_names_are_alike_where_case_and_blanks_alone_differ(store: Store):
    for name in ("Marit Dahl", "marit dahl ", "Marita Dahl"):
        store.people.add(name)
    assert store.people.names_like(" MARIT  DAHL") == ["Marit Dahl", "marit dahl "]
    assert store.people.names_like("Zoe") == []
