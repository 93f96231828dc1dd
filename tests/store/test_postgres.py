"""A golden set in PostgreSQL: how it is opened, moved and guarded, and what is said where it fails.

That it answers as a file does is what the store's own tests ask of both, see `tests.conftest`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import psycopg
import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.cli.demo_data import build_demo
from labeler.errors import BadInput, Busy, DatabaseUnavailable, NotFound
from labeler.model import Judgment, Query, Ranking
from labeler.store import JudgmentConflict, Store
from labeler.store.addresses import Address, parse_location
from labeler.store.postgres import adapter, pool
from labeler.store.schema import LAST_DEVELOPMENT
from labeler.web.redact import UNAVAILABLE, redact_path
from tests.support.databases import rewrite
from tests.support.postgres import Server, newborn_database, release, server_or_skip

GEHEIM = "ge:h/e@im"


@pytest.fixture
def server() -> Server:
    return server_or_skip()


@pytest.fixture
def address() -> Iterator[str]:
    """A new golden set in a database of its own."""
    made = newborn_database()
    yield made
    release(made)


@pytest.fixture
def empty(server: Server) -> Iterator[str]:
    """A database with nothing in it."""
    made = server.database()
    yield made
    release(made)


def run(*arguments: object, db: str | None = None) -> Result:
    given = {} if db is None else {"env": {"LABELER_DB": db}}
    return CliRunner().invoke(main, [str(each) for each in arguments], **given)


def with_secret(address: str) -> str:
    return address.replace("@/", f":{quote(GEHEIM, safe='')}@/")


# Moving -----------------------------------------------------------------------------------------


def test_a_golden_set_goes_to_a_database_and_back_with_its_hash_its_log_and_its_seals(
    tmp_path: Path, empty: str
):
    before, after = tmp_path / "before.db", tmp_path / "after.db"
    build_demo(before)
    with Store(before) as store:
        store.people.add("Ann")
        query, chunk = store.queries.all()[0].query_id, store.chunks.all()[0].chunk_id
        store.judgments.add(Judgment("first", query, chunk, "Ann", grade=3))
        store.judgments.undo(event_id="undone", undoes="first", grader="Ann")
        store.runs.drop("bm25")
        said = (
            store.collection.golden_state().hash,
            store.tamper_check.newest_seal(),
            store.golden_set.signing_key(),
        )
    for source, target in ((before, empty), (empty, after)):
        copied = run("copy", source, target)
        assert (copied.exit_code, said[0][:16] in copied.output) == (0, True), copied.output
    for place in (empty, after):
        with Store(place) as store:
            assert (
                store.collection.golden_state().hash,
                store.tamper_check.present_seal(),
                store.golden_set.signing_key(),
            ) == said
        assert run("check", db=str(place)).exit_code == 0
    logs = [run("export", "-", "--format", "events", db=str(each)) for each in (before, empty)]
    logs.append(run("export", "-", "--format", "events", db=str(after)))
    assert logs[0].stdout == logs[1].stdout == logs[2].stdout != ""
    with Store(before) as first, Store(empty) as second:
        assert (
            first.connection.engine.last_ids(first.connection.handle).items()
            <= {
                **second.connection.engine.last_ids(second.connection.handle),
                "sqlite_sequence": 0,
            }.items()
        ), "the number of a dropped run comes never again"
    refused = run("copy", before, empty)
    assert (refused.exit_code, "golden set already" in refused.output) == (1, True)


def test_a_copy_that_is_not_the_same_is_not_made(tmp_path: Path, empty: str):
    path = tmp_path / "golden.db"
    build_demo(path)
    with Store(path) as store:
        store.tamper_check.newest_seal()
    rewrite(path, "UPDATE judgments SET query = 99999 WHERE id = 5")
    refused = run("copy", path, empty)
    assert refused.exit_code == 1, refused.output
    with pytest.raises(NotFound, match="no golden set in this database"):
        Store(empty)


def test_a_load_that_fails_leaves_no_new_golden_set_behind(tmp_path: Path, empty: str):
    file = tmp_path / "queries.jsonl"
    file.write_text('{"query_id": "q", "query": "?"}\n{"query_id": "q", "query": "!"}\n')
    assert run("load", "queries", file, db=empty).exit_code == 1
    with pytest.raises(NotFound, match="no golden set in this database"):
        Store(empty)
    file.write_text('{"query_id": "q", "query": "?"}\n')
    assert run("load", "queries", file, db=empty).exit_code == 0
    with Store(empty) as store:
        assert store.queries.all() == [Query("q", "?")]


# The log ----------------------------------------------------------------------------------------


def test_the_order_of_ids_is_the_order_of_commits(address: str, loaded):
    """Whoever has a number has committed before the next one is given out: no tail misses it."""
    with Store(address) as store:
        _fill(store, loaded)
        with Store(address, busy_seconds=0.2) as other:
            with store.connection.transaction():
                store.judgments.add(Judgment("first", "q", "c", "Ann", grade=1))
                with pytest.raises(Busy, match="another process is writing"):
                    other.judgments.add(Judgment("second", "q", "c", "Bob", grade=1))
                assert other.judgments.revision() == 0, "nor is it seen before"
            assert other.judgments.add(Judgment("second", "q", "c", "Bob", grade=1))
        assert [event.event_id for event in store.judgments.log()] == ["first", "second"]


def test_numbers_have_no_gap_whatever_was_rolled_back(address: str, loaded):
    with Store(address) as store:
        _fill(store, loaded)
        for _ in range(3):
            store.connection.execute("BEGIN IMMEDIATE")
            store.judgments.add(Judgment("gone", "q", "c", "Ann", grade=1))
            store.connection.handle.rollback()
        store.judgments.add(Judgment("here", "q", "c", "Ann", grade=1))
        assert store.judgments.revision() == 1
    with psycopg.connect(address, options="-c search_path=labeler,pg_catalog") as other:
        other.execute(
            "INSERT INTO judgments (event_id, query, chunk, grader, kind, grade, blind, created_at)"
            " VALUES ('theirs', 1, 1, 1, 'grade', 2, 1, '2026-01-31T00:00:00.000Z')"
        )
    with Store(address) as store:
        assert (store.judgments.revision(), run("check", db=address).exit_code) == (2, 0)


def test_of_two_tabs_at_two_servers_one_is_told_that_the_other_was_faster(address: str, loaded):
    with Store(address) as store:
        _fill(store, loaded)
    ready = threading.Barrier(4)

    def tab(number: int) -> str:
        with Store(address) as server:
            ready.wait()
            try:
                server.judgments.add_knowing(
                    Judgment(f"e{number}", "q", "c", "Ann", grade=number % 4), None
                )
            except JudgmentConflict:
                return "outdated"
        return "saved"

    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(tab, range(4)))
    assert sorted(said) == ["outdated", "outdated", "outdated", "saved"]
    with Store(address) as store:
        assert store.judgments.revision() == 1


def test_check_says_which_trigger_is_gone_and_which_event_was_changed(address: str, loaded):
    with Store(address) as store:
        _fill(store, loaded)
        for number in range(3):
            store.judgments.add(Judgment(f"e{number}", "q", "c", "Ann", grade=number))
        store.tamper_check.seal()
    rewrite(parse_location(address), "UPDATE judgments SET grade = 3 WHERE id = 2")
    with psycopg.connect(address) as other:
        other.execute("ALTER TABLE labeler.judgments DISABLE TRIGGER judgments_are_not_updated")
    checked = run("check", db=address)
    assert checked.exit_code == 1
    assert "the trigger judgments_are_not_updated is gone or changed" in checked.output
    assert "judgment 2 is not what it was when it was sealed" in checked.output


# What is much -----------------------------------------------------------------------------------


def test_many_rows_are_read_some_at_a_time_and_all_of_them(address: str, loaded):
    many = tuple(f"c{number:04}" for number in range(2 * adapter.ROWS_AT_ONCE + 7))
    with Store(address) as store:
        store.runs.load(loaded([Ranking("q1", many)]), name="long")
        with store.connection.reading():
            both = [
                store.connection.each("SELECT chunk_id FROM chunks ORDER BY id DESC") for _ in "ab"
            ]
            assert [next(each) for each in both] == [(many[-1],)] * 2
            assert store.connection.value("SELECT count(*) FROM pg_cursors") == 2, (
                "the server keeps the rest"
            )
            assert [[row[0] for row in each] for each in both] == [list(many[-2::-1])] * 2
            assert store.connection.value("SELECT count(*) FROM pg_cursors") == 0
        rows = store.connection.each("SELECT chunk_id FROM chunks WHERE id > ? ORDER BY id", [3])
        assert [row[0] for row in rows] == list(many[3:]), "outside a transaction, too"


def test_what_is_asked_of_each_pair_is_planned_once(address: str, loaded):
    with Store(address) as store:
        _fill(store, loaded)
        for at in range(12):
            store.judgments.add(Judgment(f"e{at}", "q", "c", "Ann", grade=at % 4))
            [change] = store.judgments.changes_since(store.judgments.revision() - 1)
            assert change.grade == at % 4
        planned = (
            "SELECT generic_plans, custom_plans FROM pg_prepared_statements "
            "WHERE instr(statement, 'FROM golden') > 0"
        )
        assert store.connection.rows(planned) == [(12, 0)]


# What cannot be ---------------------------------------------------------------------------------


def test_what_is_not_a_place_for_a_golden_set_is_said(server: Server, empty: str):
    with pytest.raises(NotFound, match=r"no such database; make it with: createdb .* nowhere"):
        Store(server.address("nowhere"))
    with pytest.raises(NotFound, match="no golden set in this database; 'labeler load'"):
        Store(empty)
    server.ask("CREATE DATABASE sorted TEMPLATE template0 LOCALE 'C.UTF-8' LOCALE_PROVIDER libc")
    try:
        with pytest.raises(BadInput, match=r"locale C\.UTF-8; ids would be sorted otherwise"):
            Store(server.address("sorted"), create=True)
    finally:
        server.drop(server.address("sorted"))
    theirs = "CREATE SCHEMA labeler", "CREATE TABLE labeler.theirs (a int)"
    server.ask(*theirs, database=Address.parse(empty).name)
    with pytest.raises(BadInput, match="has a schema 'labeler' already that is no golden set"):
        Store(empty, create=True)
    with pytest.raises(BadInput, match="does not read like postgresql://USER@HOST"):
        Store("postgresql://ann:ge/heim@host/")


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("m999_later", "written by a newer version of labeler"),
        ("first_schema_00000000", "another draft of the schema"),
        (LAST_DEVELOPMENT, r"'labeler copy ADDRESS FILE'.*'labeler upgrade FILE NEW'"),
    ],
)
def test_a_golden_set_with_another_schema_is_refused_with_what_to_do(
    address: str, schema: str, said: str
):
    rewrite(Address.parse(address), f"UPDATE _sqlite_migrations SET name = '{schema}'")
    for create in (True, False):
        with pytest.raises(BadInput, match=said):
            Store(address, create=create)


def test_no_message_shows_a_password_and_none_is_taken_from_a_command_line(
    server: Server, caplog: pytest.LogCaptureFixture
):
    nowhere = with_secret(server.address("nowhere"))
    closed = f"postgresql://ann:{quote(GEHEIM, safe='')}@localhost:1/golden?password={GEHEIM}"
    for address in (nowhere, closed, "postgresql://ann:ge:h/e@im@localhost:x/golden"):
        said = run("runs", db=address)
        assert said.exit_code == 1
        assert not {"ge:h", "e@im", "ge%3Ah", "h/e"} & set(said.output.replace("/", " ").split())
        assert "im@" not in said.output
    refused = run("--db", nowhere, "runs")
    assert "what is on a command line" in refused.output
    assert GEHEIM not in refused.output + repr(parse_location(nowhere)) + str(
        parse_location(closed)
    )
    assert "ge%3Ah" not in refused.output + repr(parse_location(nowhere)) + caplog.text


def test_what_needs_a_file_says_what_to_do_instead(address: str, tmp_path: Path):
    folder = tmp_path / "backups"
    folder.mkdir()
    serve = ["serve", "--backup-every", "15m", "--backup-to", folder]
    for words, instead in (
        (["backup", folder], "pg_dump --format custom"),
        (["restore", "backup", tmp_path / "x.db"], "pg_restore"),
        (serve, "leave out --backup-every"),
        (["--db", address, "demo"], "the demo has a file of its own"),
    ):
        said = run(*words, db=address)
        assert (said.exit_code, instead in said.output) == (1, True), said.output


def test_a_server_that_goes_away_is_said_and_all_goes_on_when_it_is_back(
    loaded, monkeypatch: pytest.MonkeyPatch
):
    server_or_skip()
    now = 0.0
    monkeypatch.setattr(pool, "time", SimpleNamespace(monotonic=lambda: now))
    own = Server(synchronous_commit="on")
    try:
        address = own.database()
        with Store(address, create=True) as store:
            _fill(store, loaded)
            own.stop(signal.SIGQUIT)
            with pytest.raises(DatabaseUnavailable, match="the database does not answer") as caught:
                store.judgments.add(Judgment("e", "q", "c", "Ann", grade=1))
            assert redact_path(caught.value, "") == f"the golden set: {UNAVAILABLE}"
            own.start()
            with pytest.raises(DatabaseUnavailable, match="the database does not answer"):
                Store(address)  # who asks right after is told what is known
            now += pool.RETRY_AFTER_SECONDS
            assert store.judgments.add(Judgment("e", "q", "c", "Ann", grade=1))
            assert not store.judgments.add(Judgment("e", "q", "c", "Ann", grade=1)), "sent again"
    finally:
        pool.close_pool(Address.parse(address))
        own.remove()


def _fill(store: Store, loaded) -> None:
    store.queries.load(loaded([Query("q", "?")]))
    store.chunks.put_ids(iter(["c"]))
    for name in ("Ann", "Bob"):
        store.people.add(name)
