"""The audit: who did what is kept in the moment it is done, never changed, and never a secret."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.errors import LabelerError
from labeler.model import (
    AUDIT_KINDS,
    Actor,
    AuditEntry,
    Chunk,
    GoldenGrade,
    Judgment,
    Query,
    Ranking,
)
from labeler.services import import_export
from labeler.store import Store
from labeler.web.auth import access
from labeler.web.auth.access import hash_secret
from tests.support.databases import assert_refused
from tests.support.page import empty_golden_set, open_page, words
from tests.support.store_reads import differs_from

HOSTILE = "<img src=x onerror=alert(1)>\x1b]0;PWNED\x07\n| Root | lead |"


@pytest.fixture
def lea(filled: Store) -> Store:
    """A golden set in the hands of Lea, a lead who came by a link from 192.0.2.7."""
    filled.connection.actor = Actor("Lea", "link", "192.0.2.7")
    return filled


def newest(store: Store) -> AuditEntry:
    return store.audit.search(most=1)[0][0]


def kinds(store: Store) -> list[str]:
    return [entry.kind for entry in store.audit.log()]


def told(entry: AuditEntry) -> tuple[str, str | None, str | None, str | None]:
    return entry.kind, entry.who, entry.address, entry.subject


DEEDS: dict[str, tuple[Callable[[Store], object], str, str | None]] = {
    "invite": (lambda s: s.people.invite("Ann", hash_secret("secret")), "invite", "Ann"),
    "allow": (lambda s: s.people.allow("Ann", "ann@example.org"), "invite", "Ann"),
    "role": (lambda s: s.people.change_role("Bob", "lead"), "role", "Bob"),
    "revoke": (lambda s: s.people.revoke("Bob"), "revoke", "Bob"),
    "revoke all": (lambda s: s.people.revoke_everyone(), "revoke", None),
    "rename grader": (lambda s: s.people.rename("Ann", "Anna"), "rename", "Ann"),
    "rename run": (lambda s: s.runs.rename("first", "one"), "rename", "first"),
    "date run": (lambda s: s.runs.change("first", system="x"), "change", "first"),
    "drop": (lambda s: s.runs.drop("first"), "drop", "first"),
    "retire": (lambda s: s.queries.retire("q1"), "retire", "q1"),
    "settings": (
        lambda s: s.settings.save(replace(s.settings.read(), prompt_k=8)),
        "settings",
        "prompt_k",
    ),
    "adjudicate": (
        lambda s: s.adjudication.adjudicate(
            Judgment("a1", "q1", "c3", "Ann", kind="adjudicate", grade=2), None
        ),
        "adjudicate",
        "Ann",
    ),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_what_is_done_is_kept_with_who_did_it(lea: Store, deed: str):
    do, kind, subject = DEEDS[deed]
    lea.people.invite("Bob", hash_secret("bobs"))
    lea.people.invite("Zoe", hash_secret("zoes"), role="lead")
    before = len(kinds(lea))
    do(lea)
    assert len(kinds(lea)) == before + 1
    assert told(newest(lea)) == (kind, "Lea", "192.0.2.7", subject)
    assert newest(lea).way == "link"


def test_a_load_is_kept_with_its_file_and_what_it_brought(lea: Store, loaded, golden):
    lea.queries.load(loaded([Query("q7", "new?"), Query("q8", "newer?")], "mine.jsonl"))
    assert told(newest(lea)) == ("load", "Lea", "192.0.2.7", "mine.jsonl")
    assert newest(lea).detail == {"what": "queries", "new": 2}
    lea.chunks.load(loaded([Chunk("c9", "text")], "texts.jsonl"))
    assert newest(lea).detail == {"what": "chunks", "new": 1}
    lea.runs.load(loaded([Ranking("q7", ("c9",))], "a.trec"), name="third")
    assert newest(lea).detail == {"what": "run third", "queries": 1}
    lea.golden_loads.add(golden([GoldenGrade("q7", "c9", 2)]))
    assert newest(lea).detail == {"what": "golden grades", "imported": 1, "load": 2}


def test_what_changes_nothing_is_not_kept(lea: Store, loaded, golden):
    before = kinds(lea), lea.golden_set.data_revision()
    lea.queries.load(loaded(lea.queries.all()))
    lea.golden_loads.add(golden([GoldenGrade("q1", "c1", 3, ("Bea",))]))
    lea.settings.save(lea.settings.read())
    for refused in (
        lambda: lea.runs.drop("nobody's"),
        lambda: lea.people.revoke("Ann"),
        lambda: lea.people.rename("Ann", "Bob"),
        lambda: lea.queries.load(loaded([Query("q1", "other words")])),
    ):
        with pytest.raises(LabelerError):
            refused()
    assert kinds(lea) == before[0]


def test_a_setting_is_kept_as_it_was_and_as_it_is(lea: Store):
    lea.settings.save(replace(lea.settings.read(), prompt_k=8, guideline="long " * 1_000))
    entry = newest(lea)
    assert entry.subject == "prompt_k, guideline"
    assert entry.detail["prompt_k"] == [5, 8]
    assert len(entry.detail["guideline"][1]) == 1_000


def test_grades_and_remarks_are_in_their_own_log_only(lea: Store):
    before = kinds(lea)
    lea.judgments.add(Judgment("e1", "q1", "c3", "Ann", grade=2))
    lea.judgments.add_knowing(Judgment("e2", "q1", "c4", "Ann", grade=2), None)
    assert kinds(lea) == before


def test_no_secret_is_kept(lea: Store):
    secret, _ = access.invite(lea, "Ann")
    key = access.promise_lead_link(lea, "Lea")
    access.redeem_promise(lea, key) if not lea.people.has_invitations() else None
    written = json.dumps([entry.as_dict() for entry in lea.audit.log()])
    for each in (
        secret,
        hash_secret(secret),
        key.secret,
        hash_secret(key.secret),
        lea.golden_set.signing_key(),
    ):
        assert each not in written


def test_in_a_terminal_the_machine_s_user_did_it(filled: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LOGNAME", "marvin")
    filled.runs.drop("first")
    assert (newest(filled).who, newest(filled).way) == ("marvin", "terminal")


@pytest.mark.parametrize("recursive", ["on", "off"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET who = 'somebody else'",
        "DELETE FROM audit WHERE id = 1",
        "INSERT OR REPLACE INTO audit SELECT * FROM audit WHERE id = 1",
        "INSERT INTO audit SELECT * FROM audit WHERE true ON CONFLICT (id) DO UPDATE SET who = 'x'",
    ],
)
def test_no_statement_changes_what_was_done(lea: Store, statement: str, recursive: str):
    assert_refused(lea, "audit", statement, recursive)


def test_whoever_comes_again_and_again_is_one_entry_a_minute(
    lea: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("labeler.store.audit.moment", lambda: "2026-11-22T10:00:59.999Z")
    for _ in range(50):
        lea.audit.note_once("sign_in")
    assert kinds(lea).count("sign_in") == 1
    lea.connection.actor = replace(lea.connection.actor, address="192.0.2.8")
    lea.audit.note_once("sign_in")
    lea.connection.actor = replace(lea.connection.actor, who="Zoe")
    lea.audit.note_once("sign_in")
    assert kinds(lea).count("sign_in") == 3
    monkeypatch.setattr("labeler.store.audit.moment", lambda: "2026-11-22T10:01:00.000Z")
    lea.audit.note_once("sign_in")
    assert kinds(lea).count("sign_in") == 4


def test_it_is_searched_in_any_case_and_turned_page_by_page(lea: Store):
    for number in range(30):
        lea.audit.note("export", f"Datei-{number}.jsonl", {"format": "ÄRGER"})
    found, count = lea.audit.search("datei-", most=10, skip=25)
    assert count == 30
    assert [entry.subject for entry in found] == [f"Datei-{n}.jsonl" for n in (4, 3, 2, 1, 0)]
    assert lea.audit.search("ärger")[1] == 30
    assert lea.audit.search("192.0.2.7", kind="export")[1] == 30
    assert lea.audit.search("lea", kind="drop")[1] == 0
    assert lea.audit.search("%")[1] == 0
    assert lea.audit.search("Exported")[1] == 30, "by the word that people read"


@pytest.fixture
def run(filled: Store) -> Callable[..., str]:
    """Run a command on the golden set; return what it printed."""

    def invoke(*arguments: str, exit_code: int = 0) -> str:
        result = CliRunner().invoke(main, ["--db", str(filled.path), *arguments])
        assert result.exit_code == exit_code, result.output
        return result.output

    return invoke


def test_the_command_lists_the_newest_first_and_no_word_moves_the_cursor(run, filled: Store):
    filled.connection.actor = Actor(HOSTILE, "name", "192.0.2.7")
    filled.runs.drop("first")
    lines = run("audit", "--most", "1").splitlines()
    assert "run dropped" in lines[1]
    assert "192.0.2.7" in lines[1]
    assert len(lines) == 3
    assert lines[2].startswith("... and ")
    assert "\x1b" not in "".join(lines)
    assert run("audit", "no such thing") == "No entry of the audit matches.\n"
    assert "run dropped" not in run("audit", "--kind", "load")


def test_programs_get_every_entry_whole_a_line_each(run, filled: Store):
    filled.connection.actor = Actor(HOSTILE, "name", "192.0.2.7")
    filled.runs.drop("first")
    said = run("audit", "--format", "jsonl")
    entries = [json.loads(line) for line in said.splitlines()]
    assert entries == [entry.as_dict() for entry in filled.audit.log()]
    assert entries[-1]["who"] == HOSTILE
    assert said.isascii()


@pytest.mark.parametrize(
    "kind", sorted(import_export.EXPORTS.keys() - import_export.FEEDBACK_KINDS)
)
def test_an_export_prints_the_seal_and_is_kept_with_it(
    run, filled: Store, tmp_path: Path, kind: str
):
    seal = str(filled.tamper_check.newest_seal())
    path = tmp_path / "out.zip"
    assert f"seal: {seal}\n" in run("export", str(path), "--format", kind)
    golden = filled.collection.golden_state().hash
    assert newest(filled).detail == {"format": kind, "seal": seal, "golden": golden}
    assert newest(filled).subject == str(path)
    assert differs_from(filled, filled.tamper_check.newest_seal()) is None


def test_the_log_and_a_beir_set_carry_the_seal_themselves(run, filled: Store, tmp_path: Path):
    seal = str(filled.tamper_check.newest_seal())
    run("export", str(tmp_path / "log.jsonl"), "--format", "events")
    last = (tmp_path / "log.jsonl").read_text().splitlines()[-1]
    assert json.loads(last) == {"seal": seal}
    run("export", str(tmp_path / "set"), "--format", "beir")
    assert (tmp_path / "set" / "seal.txt").read_text() == f"{seal}\n"
    run("--db", str(tmp_path / "copy.db"), "load", "beir", str(tmp_path / "set"))
    run("--db", str(tmp_path / "copy.db"), "load", "golden", str(tmp_path / "log.jsonl"))


def test_on_the_standard_output_an_export_is_alone(filled: Store):
    result = CliRunner().invoke(main, ["--db", str(filled.path), "export", "-"])
    assert "seal: " not in result.stdout
    golden = filled.collection.golden_state().hash
    said = result.stderr.splitlines()
    assert said[0].startswith("left out: ")
    assert said[1:] == [f"golden: {golden}", f"seal: {filled.tamper_check.newest_seal()}"]


HOLD_THE_LOCK = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1])
other.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to any file")
def test_a_file_that_may_only_be_read_is_exported_all_the_same(filled: Store, tmp_path: Path):
    filled.close()
    filled.path.chmod(0o444)
    result = CliRunner().invoke(
        main, ["--db", str(filled.path), "export", str(tmp_path / "g.jsonl")]
    )
    assert result.exit_code == 0, result.output
    assert "this export is not in its audit" in result.stderr


def test_an_export_does_not_wait_for_a_long_load(filled: Store, python):
    loading = python(HOLD_THE_LOCK, filled.path)
    assert loading.stdout.readline() == "held\n"
    assert import_export.export(filled, "jsonl")
    assert not filled.audit.note_if_possible("export", "golden.jsonl", {})
    loading.communicate("\n")
    assert filled.audit.note_if_possible("export", "golden.jsonl", {})


def test_the_page_shows_the_newest_first_and_every_word_as_text(tmp_path: Path):
    with Store(empty_golden_set(tmp_path)) as store:
        store.connection.actor = Actor(HOSTILE, "name", "192.0.2.7")
        store.audit.note("load", HOSTILE, {HOSTILE: HOSTILE})
        store.audit.note("refuse", "link", {"from": "192.0.2.8, 192.0.2.9"}, count=57)
    app = open_page("data", section="Audit")
    said = words(app)
    assert said.index("refused") < said.index("loaded")
    assert "57 times" in said
    assert "192.0.2.9" in said
    [table] = [
        element.proto.body for element in app.get("html") if "57 times" in element.proto.body
    ]
    assert "<img" not in table
    assert "\x1b" not in table
    assert "&lt;img" in table


def test_the_page_is_searched_and_its_address_says_so(tmp_path: Path):
    with Store(empty_golden_set(tmp_path)) as store:
        for number in range(120):
            store.audit.note("export", f"file-{number}.jsonl")
        store.audit.note("drop", "first")
    said = words(open_page("data", section="Audit"))
    assert "121 entries" in said
    assert re.search(r"\bfile-21\.jsonl", said)
    assert "file-20.jsonl" not in said
    assert "file-0.jsonl" in words(open_page("data", section="Audit", **{"audit-page": "2"}))
    found = words(open_page("data", section="Audit", audited="FILE-7.", what="export"))
    assert "1 entry" in found
    assert "No match" in words(open_page("data", section="Audit", audited="x7"))


def test_what_a_page_changes_is_kept_as_done_by_whoever_looked_at_it(tmp_path: Path):
    path = empty_golden_set(tmp_path)
    app = open_page("data", section="Settings")
    [box] = [each for each in app.number_input if each.label == "Chunks in the prompt"]
    box.set_value(9)
    [button] = [each for each in app.button if each.label == "Save settings"]
    button.click().run()
    with Store(path) as store:
        entry = newest(store)
    assert (entry.kind, entry.way, entry.address) == ("settings", "name", "127.0.0.1")


def test_every_kind_has_words_for_people():
    assert all(AUDIT_KINDS.values())
