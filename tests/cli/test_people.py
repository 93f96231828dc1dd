"""``labeler invite``, ``revoke``, ``people`` and ``rename grader`` as they are typed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.store import Store
from labeler.web.auth.access import hash_secret, session_by_link
from tests.support.store_reads import invited_with

LINK = re.compile(r"^(http\S+)/join/([\w-]{43})$", re.MULTILINE)

Run = Callable[..., str]


@pytest.fixture
def run(store: Store) -> Run:
    """Run a command on the golden set; return what it printed."""

    def invoke(*arguments: str, exit_code: int = 0, **environment: str) -> str:
        command = ["--db", str(store.path), *arguments]
        result = CliRunner(env={"LABELER_ADDRESS": None, **environment}).invoke(main, command)
        assert result.exit_code == exit_code, result.output
        return result.output

    return invoke


def test_invite_prints_a_link_that_lets_the_person_in(run: Run, store: Store):
    said = run("invite", "Ann")
    found = LINK.search(said)
    assert found is not None
    assert found[1] == "http://127.0.0.1:8501"
    assert invited_with(store, hash_secret(found[2])) == ("Ann", "grader")
    assert "This is the sign-in link of Ann (grader)" in said
    assert "it is not shown again" in said


def test_invite_prints_a_message_that_is_ready_to_be_sent(run: Run, store: Store):
    store.settings.save(replace(store.settings.read(), name="Books", language="de"))
    link, *_, message = run("invite", "Ann").partition("A message that you can send to Ann:\n\n")
    assert message.startswith("Guten Tag Ann,\n\nSie sind eingeladen, ")
    assert f": {link.splitlines()[0]}\n\n" in message
    assert "Books" in message


def test_the_first_invitation_says_that_the_door_is_closed_now_for_all(run: Run):
    said = run("invite", "Ann")
    assert "From now on only invited people can open labeler." in said
    assert "labeler invite YOU --role lead" in said
    said = run("invite", "Lea", "--role", "lead")
    assert "From now on" not in said
    assert "invite YOU" not in said


def test_a_first_lead_is_not_told_to_invite_themselves(run: Run):
    said = run("invite", "Lea", "--role", "lead")
    assert "From now on only invited people can open labeler." in said
    assert "(lead)" in said
    assert "invite YOU" not in said


def test_another_link_ends_the_one_before(run: Run, store: Store):
    first = LINK.search(run("invite", "Ann"))
    said = run("invite", "Ann")
    assert "The link Ann had before has ended." in said
    assert first is not None
    assert invited_with(store, hash_secret(first[2])) is None


def test_the_address_is_where_people_reach_the_server(run: Run):
    assert run("invite", "Ann", "--address", "https://grading.example/").startswith(
        "https://grading.example/join/"
    )
    said = run("invite", "Ann", LABELER_ADDRESS="http://10.0.0.7:8501")
    assert said.startswith("http://10.0.0.7:8501/join/")
    said = run("invite", "Ann", "--address", "grading.example", exit_code=1)
    assert "--address must begin with http:// or https://" in said
    assert "/join/" not in said


def test_a_login_is_put_on_the_list(run: Run, store: Store):
    said = run("invite", "--login", "Ann@Example.org", "--name", "Ann")
    assert "ann@example.org signs in as Ann (grader), where the server is started" in said
    assert "/join/" not in said
    assert store.people.invited_at("ann@example.org") == ("Ann", "grader")
    run("invite", "--login", "Lea@example.org", "--role", "lead")
    assert store.people.invited_at("lea@example.org") == ("Lea@example.org", "lead")
    assert "as before" in run("invite", "--login", "ann@example.org", "--name", "Ann")


@pytest.mark.parametrize("arguments", [[], ["--name", "Ann"], ["Ann", "--name", "Ann"], [" "]])
def test_an_invitation_of_nobody_is_a_wrong_command_line(run: Run, store: Store, arguments):
    assert "name the person to invite" in run("invite", *arguments, exit_code=2)
    assert store.people.ways_in() == []


def test_a_revoked_person_is_out_and_the_last_one_opens_the_door(run: Run, store: Store):
    run("invite", "Ann")
    run("invite", "Bob")
    said = run("revoke", "Bob")
    assert "Bob can no longer sign in; their judgments stay" in said
    assert "No lead is invited" in said
    said = run("revoke", "Ann")
    assert "Invitations are off" in said
    assert not store.people.has_invitations()
    assert "'Ann' has no valid invitation" in run("revoke", "Ann", exit_code=1)
    assert "there is no grader named 'Zoe'" in run("revoke", "Zoe", exit_code=1)


def test_the_last_lead_stays_until_nobody_is_to_need_an_invitation(run: Run, store: Store):
    last = "'Lea' is the last lead who can sign in; make somebody else a lead first: labeler change"
    run("invite", "Lea", "--role", "lead")
    for ways_out in (
        ("revoke", "Lea"),
        ("change", "role", "Lea", "grader"),
        ("invite", "Lea", "--role", "grader"),
    ):
        said = run(*ways_out, exit_code=1)
        assert last in said
        assert "/join/" not in said
    assert store.people.leads() == ["Lea"]
    said = run("revoke", "--everyone")
    assert "Invitations are off: anyone who opens labeler on this computer is a lead." in said
    assert not store.people.has_invitations()


def test_whoever_revokes_says_whom(run: Run, store: Store):
    run("invite", "Lea", "--role", "lead")
    for arguments in ([], ["Lea", "--everyone"]):
        assert "name the person to revoke" in run("revoke", *arguments, exit_code=2)
    assert store.people.leads() == ["Lea"]


def test_a_role_changes_and_the_link_stays(run: Run, store: Store):
    found = LINK.search(run("invite", "Ann"))
    assert found is not None
    assert run("change", "role", "Ann", "lead") == "Ann is lead now\n"
    assert invited_with(store, hash_secret(found[2])) == ("Ann", "lead")
    run("invite", "Lea", "--role", "lead")
    assert run("change", "role", "Ann", "grader") == "Ann is grader now\n"
    assert invited_with(store, hash_secret(found[2])) == ("Ann", "grader")
    store.people.add("Zoe Q")
    said = run("change", "role", "Zoe Q", "lead", exit_code=1)
    assert "'Zoe Q' is not invited" in said
    assert "labeler invite 'Zoe Q' --role lead" in said
    assert "no grader named 'Yan'" in run("change", "role", "Yan", "lead", exit_code=1)


def test_the_list_of_people_is_a_table_without_secrets(run: Run, store: Store):
    assert "labeler invite NAME" in run("people")
    store.people.add("Zoe")
    found = LINK.search(run("invite", "Ann"))
    run("invite", "--login", "ann@example.org", "--name", "Ann")
    run("invite", "Bob")
    run("revoke", "Bob")
    said = run("people")
    lines = [re.split(r"\s{2,}", line) for line in said.splitlines()]
    assert [line[:3] for line in lines] == [
        ["name", "role", "signs in with"],
        ["Ann", "grader", "link"],
        ["Ann", "grader", "login ann@example.org"],
        ["Bob", "grader", "link"],
        ["Zoe", "–", "no invitation"],
    ]
    assert [len(line) for line in lines] == [5, 4, 4, 5, 3]
    assert found is not None
    assert found[2] not in said
    assert hash_secret(found[2]) not in said


def test_a_grader_gets_another_name(run: Run, store: Store):
    store.people.add("Ann")
    store.people.add("Bob")
    said = run("rename", "grader", "Ann", "Anna")
    assert "Ann is now Anna; all their judgments are kept" in said
    assert {way.name for way in store.people.ways_in()} == {"Anna", "Bob"}
    assert "a grader named 'Bob' already" in run("rename", "grader", "Anna", "Bob", exit_code=1)
    assert "no grader named 'Ann'" in run("rename", "grader", "Ann", "Zoe", exit_code=1)


def test_a_mistyped_database_invites_nobody(tmp_path: Path):
    typo = tmp_path / "typo.db"
    result = CliRunner().invoke(main, ["--db", str(typo), "invite", "Ann"])
    assert result.exit_code == 1
    assert "/join/" not in result.output
    assert not typo.exists()


def test_a_link_may_work_for_a_while_or_once(run: Run, store: Store):
    said = run("invite", "Ann", "--expires", "7d", "--once")
    assert re.search(r"It works until \d{4}-\d\d-\d\d \d\d:\d\d UTC once\.", said)
    found = LINK.search(said)
    assert found is not None
    assert re.search(r"Ann +grader +link, until \S+ \S+ UTC once", run("people"))
    assert session_by_link(store, found[2])
    assert re.search(r"Ann +grader +link, used", run("people"))
    for wrong in ("7", "0d", "-1d", "a week", "1.5h"):
        assert f"'{wrong}'" in run("invite", "Ann", f"--expires={wrong}", exit_code=2)
    wrong = ("invite", "--login", "ann@example.org", "--once")
    assert "--expires and --once are about a link" in run(*wrong, exit_code=2)
    assert session_by_link(store, found[2]) is None


def test_a_login_may_be_one_of_a_named_provider(run: Run, store: Store):
    run("invite", "--login", "ann@example.org", "--name", "Ann", "--issuer", "https://id.example")
    assert "login ann@example.org at https://id.example" in run("people")
    assert "--issuer goes with --login" in run("invite", "Bob", "--issuer", "x", exit_code=2)


def test_a_name_that_differs_in_case_alone_is_asked_about(run: Run):
    assert "Greta (grader)" in run("invite", "Greta")
    refused = run("invite", " greta ", exit_code=1)
    assert "'greta' differs from 'Greta' in case or blanks only; invite 'Greta', or add" in refused
    assert "greta (grader)" in run("invite", "greta", "--new-person")
