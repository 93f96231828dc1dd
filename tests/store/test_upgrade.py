"""Upgrade from the last development schema: nothing is lost, and nothing else is opened."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.cli.demo_data import build_demo
from labeler.errors import BadInput
from labeler.model import Judgment
from labeler.store import Store
from labeler.store.schema import CURRENT, table_columns
from tests.support.databases import IN_BOTH, rewrite
from tests.support.postgres import release, server_or_skip

HERE = Path(__file__).parent / "last_development"
EXPECTED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
"""What the version that wrote it said of the golden set in ``golden.sql``."""
COMMANDS = {
    "score": ("score", "--format", "json"),
    "jsonl": ("export", "-", "--format", "jsonl"),
    "csv": ("export", "-", "--format", "csv"),
    "events": ("export", "-", "--format", "events"),
    "complete": ("export", "-", "--complete"),
    "history": ("history", "q2", "--format", "json"),
    "people": ("people", "--format", "json"),
    "settings": ("settings", "--format", "json"),
}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return a golden set of the last development schema, with a row in each of its tables."""
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript((HERE / "golden.sql").read_text(encoding="utf-8"))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def rows(path: Path, table: str) -> list[tuple[Any, ...]]:
    names = ", ".join(f'"{name}"' for name in table_columns()[table])
    with closing(sqlite3.connect(path)) as db:
        return db.execute(f"SELECT {names} FROM {table} ORDER BY 1, 2").fetchall()


def test_every_row_of_every_table_comes_along(old: Path, tmp_path: Path):
    before, new = old.read_bytes(), tmp_path / "new.db"
    upgraded = run("upgrade", old, new)
    assert upgraded.exit_code == 0, upgraded.output
    assert "12 judgments" in upgraded.output
    assert old.read_bytes() == before, "the old file is only read"
    for table in table_columns():
        assert rows(old, table), f"{table} is empty in the example, so it shows nothing"
        if table not in ("settings", "audit"):
            assert rows(new, table) == rows(old, table), table
    with closing(sqlite3.connect(new)) as db:
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    checked = run("--db", new, "check")
    assert checked.exit_code == 0, checked.output


def test_hash_scores_and_exports_are_those_that_the_old_version_gave(old: Path, tmp_path: Path):
    new = tmp_path / "new.db"
    assert run("upgrade", old, new).exit_code == 0
    with Store(new) as store:
        assert store.collection.golden_state().hash == EXPECTED["hash"]
        assert str(store.tamper_check.present_seal()) == EXPECTED["seal"]
        golden = store.connection.rows("SELECT * FROM golden ORDER BY 1, 2")
        assert [list(row) for row in golden] == EXPECTED["judgments"]
    for name, command in COMMANDS.items():
        assert run("--db", new, *command).stdout == EXPECTED[name], name


def test_settings_and_their_changes_have_the_names_of_today(old: Path, tmp_path: Path):
    new = tmp_path / "new.db"
    run("upgrade", old, new)
    kept = dict(rows(new, "settings"))
    assert "signs_since" not in kept
    assert {"prompt_k", "prompt_k_by_task", "transferred"} <= json.loads(kept["settings"]).keys()
    changes = [
        json.loads(detail)
        for *_, kind, _, _, _, _, detail, _ in rows(new, "audit")
        if kind == "settings"
    ]
    assert ["count", "ignore"] in [change.get("transferred") for change in changes]
    assert not any("carried" in change for change in changes)


def test_grading_goes_on_where_it_was(old: Path, tmp_path: Path):
    new = tmp_path / "new.db"
    run("upgrade", old, new)
    with Store(new) as store:
        assert store.judgments.add(Judgment("later", "q3", "c2", "Ann", grade=1))
        assert store.judgments.log()[-1].event_id == "later"
        assert store.judgments.revision() == 13


@pytest.fixture
def empty_place(kept: str, tmp_path: Path) -> Iterator[str]:
    """Where a golden set can be made: a file that is not there, or an empty database."""
    if kept == "file":
        yield str(tmp_path / "new.db")
        return
    address = server_or_skip().database()
    yield address
    release(address)


@IN_BOTH
def test_a_golden_set_goes_into_a_file_or_a_database(old: Path, empty_place: str):
    upgraded = run("upgrade", old, empty_place)
    assert upgraded.exit_code == 0, upgraded.output
    with Store(empty_place) as store:
        assert str(store.tamper_check.present_seal()) == EXPECTED["seal"]
        assert store.collection.golden_state().hash == EXPECTED["hash"]


@pytest.mark.parametrize("command", [("score",), ("serve", "--no-browser"), ("copy", "{old}", "x")])
def test_the_old_schema_is_refused_with_the_way_to_upgrade(
    old: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(old.parent)
    before = old.read_bytes()
    refused = run("--db", old, *(word.format(old=old) for word in command))
    assert (refused.exit_code, f"'labeler upgrade {old} NEW'" in refused.output) == (1, True)
    assert old.read_bytes() == before


def test_check_says_which_schema_an_old_file_has(old: Path):
    checked = run("--db", old, "check")
    assert checked.exit_code == 1
    assert "schema:     WRONG: has the schema of a development version" in checked.output
    assert "references: all point to something that is there" in checked.output


def test_what_is_no_old_golden_set_is_not_upgraded(old: Path, store: Store, tmp_path: Path):
    new = tmp_path / "new.db"
    current = run("upgrade", store.path, new)
    assert (current.exit_code, "nothing to upgrade" in current.output) == (1, True)
    rewrite(old, "DELETE FROM _sqlite_migrations WHERE name > 'm020'")
    older = run("upgrade", old, new)
    assert (older.exit_code, "older schema" in older.output) == (1, True)
    assert not new.exists()


def test_nothing_is_written_over_and_nothing_is_half_written(
    old: Path, store: Store, tmp_path: Path
):
    refused = run("upgrade", old, store.path)
    assert (refused.exit_code, "there is a golden set already" in refused.output) == (1, True)
    new = tmp_path / "new.db"
    rewrite(old, "UPDATE judgments SET query = 99999 WHERE id = 5")
    failed = run("upgrade", old, new)
    assert failed.exit_code == 1
    assert not new.exists()


def test_another_draft_of_the_schema_is_refused_with_the_way_out(store: Store):
    store.close()
    rewrite(store.path, "UPDATE _sqlite_migrations SET name = 'first_schema_00000000'")
    with pytest.raises(BadInput, match=r"another draft of the schema.*export FILE --complete"):
        Store(store.path)


def test_the_draft_is_of_what_the_schema_says_and_not_of_its_comments(
    monkeypatch: pytest.MonkeyPatch,
):
    from labeler.store import schema

    texts = {folder: schema.schema_sql(folder) for folder in schema.SCRIPTS}
    for changed, is_another in (("-- a remark\n", False), ("CREATE TABLE more (x);\n", True)):
        monkeypatch.setattr(schema, "schema_sql", lambda folder, more=changed: texts[folder] + more)
        assert (schema.DRAFTS + schema.fingerprint() != CURRENT) == is_another


def test_an_old_demo_is_set_aside_and_a_new_one_made(old: Path, tmp_path: Path):
    from labeler.cli.demo_data import set_old_demo_aside

    before = old.read_bytes()
    aside = set_old_demo_aside(old)
    assert aside is not None
    assert aside.read_bytes() == before
    build_demo(old)
    assert set_old_demo_aside(old) is None, "a demo of this version stays"
