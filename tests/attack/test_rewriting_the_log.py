"""Somebody who has the file changes what was said, and what 'labeler check' says of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.model import Judgment
from labeler.store import Store
from tests.support.databases import rewrite
from tests.support.store_reads import check_seals

Run = Callable[..., Result]
EDIT = "UPDATE judgments SET grade = 3 WHERE event_id = 'e2'"


@pytest.fixture
def path(filled: Store) -> Path:
    """A golden set with five grades more, all sealed and closed."""
    for number in range(5):
        filled.judgments.add(Judgment(f"e{number}", "q1", "c3", "Ann", grade=number % 3))
    filled.tamper_check.seal()
    filled.close()
    return filled.path


@pytest.fixture
def run(path: Path) -> Run:
    def invoke(*arguments: object) -> Result:
        return CliRunner().invoke(main, ["--db", str(path), *map(str, arguments)])

    return invoke


def seal_in(said: str) -> str:
    [line] = [line for line in said.splitlines() if line.startswith("seal:")]
    return line.split()[1]


def test_an_untouched_file_is_as_it_was_sealed_and_check_prints_the_newest_seal(
    path: Path, run: Run
):
    looked = run("check")
    assert looked.exit_code == 0, looked.output
    assert "events:     8 are unchanged since they were recorded\n" in looked.output
    with Store(path) as store:
        assert seal_in(looked.output) == str(store.tamper_check.present_seal())


def test_an_edit_is_noticed_alone(path: Path, run: Run):
    rewrite(path, EDIT)
    looked = run("check")
    assert looked.exit_code == 1
    assert "events:     WRONG: judgment 6 is not what it was when it was sealed\n" in looked.output
    assert looked.output.count("WRONG") == 1


@pytest.mark.parametrize("source", ["check", "export", "backup"])
def test_who_makes_all_seals_anew_is_found_out_by_what_was_printed_before(
    path: Path, run: Run, tmp_path: Path, source: str
):
    commands = {
        "check": ["check"],
        "export": ["export", tmp_path / "golden.jsonl"],
        "backup": ["backup", tmp_path / "backup.db"],
    }
    kept = seal_in(run(*commands[source]).output)
    same = run("check", "--against", kept)
    assert same.exit_code == 0
    assert "against:    the log still begins with all that this seal was made of" in same.output
    rewrite(path, EDIT, "DELETE FROM seals")
    with Store(path) as store:
        store.tamper_check.seal()
    assert run("check").exit_code == 0, "the seals in the file alone cannot tell"
    looked = run("check", "--against", kept[: len("8-0-") + 16])
    assert looked.exit_code == 1
    assert "against:    WRONG: what was said up to judgment 8" in looked.output


def test_a_backup_says_what_a_changed_golden_set_hides(path: Path, run: Run, tmp_path: Path):
    run("backup", tmp_path / "backup.db")
    rewrite(path, EDIT, "DELETE FROM seals")
    with Store(path) as store:
        store.tamper_check.seal()
    with Store(tmp_path / "backup.db") as backup:
        kept = backup.tamper_check.present_seal()
    assert run("check", "--against", kept).exit_code == 1


CARRIERS = {
    "golden.qrels": "golden.qrels.seal.txt",
    "golden.csv": "golden.csv.seal.txt",
    "golden.jsonl.gz": "golden.jsonl.gz.seal.txt",
    "set.zip": "set.zip",
    "set": "set",
    "log.jsonl": "log.jsonl",
    "log.jsonl.gz": "log.jsonl.gz",
    "backup.db": "backup.db",
}
KINDS = {"set": ["--format", "beir"], "log.jsonl": ["--format", "events"]}
KINDS["log.jsonl.gz"] = KINDS["log.jsonl"]


@pytest.mark.parametrize("written", CARRIERS)
def test_every_export_and_backup_leaves_a_seal_that_tells_of_an_edit(
    path: Path, run: Run, tmp_path: Path, written: str
):
    verb = "backup" if written == "backup.db" else "export"
    made = run(verb, tmp_path / written, *KINDS.get(written, []))
    assert made.exit_code == 0, made.output
    carrier = tmp_path / CARRIERS[written]
    assert run("check", "--against", carrier).exit_code == 0
    rewrite(path, EDIT, "DELETE FROM seals")
    with Store(path) as store:
        store.tamper_check.seal()
    looked = run("check", "--against", carrier)
    assert looked.exit_code == 1
    assert "against:    WRONG: what was said up to judgment 8" in looked.output


def test_a_seal_that_stands_beside_an_export_is_never_lost_unasked(run: Run, tmp_path: Path):
    seal = tmp_path / "golden.qrels.seal.txt"
    seal.write_text("an older one\n")
    refused = run("export", tmp_path / "golden.qrels")
    assert refused.exit_code == 1
    assert f"{seal}: is there already; replace it with --force" in refused.output
    assert sorted(each.name for each in tmp_path.iterdir() if "golden.qrels" in each.name) == [
        "golden.qrels.seal.txt"
    ]
    assert run("export", tmp_path / "golden.qrels", "--force").exit_code == 0
    assert seal_in(run("check").output) == seal.read_text().strip()


@pytest.mark.parametrize(
    "content",
    [b"", b"q1 0 c1 3\n", b'{"seal": 7}\n', b"{", b"PK\x03\x04", b"\x1f\x8b\x00", b"\xff"],
)
def test_a_file_without_a_seal_is_said_to_carry_none(run: Run, tmp_path: Path, content: bytes):
    (tmp_path / "golden.qrels").write_bytes(content)
    refused = run("check", "--against", tmp_path / "golden.qrels")
    assert refused.exit_code == 1
    assert "golden.qrels: carries no seal; " in refused.output or (
        "golden.qrels: its seal cannot be read: " in refused.output
    )
    assert "Traceback" not in refused.output


def test_a_backup_of_a_log_that_was_edited_says_so(path: Path, run: Run, tmp_path: Path):
    rewrite(path, EDIT)
    said = run("backup", tmp_path / "backup.db").output
    assert "WRONG in the golden set, and so in it: judgment 6 is not what it was" in said


def test_what_is_no_seal_is_refused_with_what_one_looks_like(run: Run):
    refused = run("check", "--against", "deadbeef")
    assert refused.exit_code == 1
    assert "'deadbeef' is no seal; one looks like 1193-12-" in refused.output


def test_backups_and_what_is_put_back_are_in_the_audit(path: Path, run: Run, tmp_path: Path):
    made = run("backup", tmp_path / "backup.db").output
    with Store(path) as store:
        [entry] = store.audit.search(kind="backup")[0]
    assert (entry.subject, entry.detail["seal"]) == (str(tmp_path / "backup.db"), seal_in(made))
    restored = run("restore", tmp_path / "backup.db")
    assert restored.exit_code == 0, restored.output
    with Store(path) as store:
        [entry] = store.audit.search(kind="put_back")[0]
        assert entry.subject == str(tmp_path / "backup.db")
        assert check_seals(store).faults == ()
