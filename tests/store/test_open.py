"""Opening a golden set: what is created, what is refused, who may write."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from labeler.errors import BadInput, Busy, LabelerError, NotFound
from labeler.store import StorageError, Store
from tests.support.new_golden_set import newborn

OPEN = """
import sys
from labeler.store import Store
for path in sys.argv[1:] or map(str.strip, sys.stdin):
    with Store(path, create=True) as store:
        print(store.golden_set.uuid(), flush=True)
"""


def test_a_missing_file_is_not_found_and_not_made(tmp_path: Path):
    with pytest.raises(NotFound, match=r"typo\.db: there is no golden set here"):
        Store(tmp_path / "typo.db")
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_named_and_not_made(tmp_path: Path):
    with pytest.raises(NotFound, match=r"the folder .*nowhere does not exist"):
        Store(tmp_path / "nowhere" / "golden.db", create=True)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_refused(tmp_path: Path):
    with pytest.raises(BadInput, match="is a folder"):
        Store(tmp_path, create=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("create", [True, False])
def test_a_text_file_is_refused_and_left_alone(tmp_path: Path, create: bool):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but quite long enough to be taken for one\n" * 20)
    before = path.read_bytes()
    with pytest.raises(StorageError, match="not a golden set of labeler"):
        Store(path, create=create)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "tables",
    [
        "CREATE TABLE songs (title TEXT)",
        "CREATE VIEW one AS SELECT 1",
        "CREATE TABLE _sqlite_migrations (migration_set TEXT, name TEXT);"
        "INSERT INTO _sqlite_migrations VALUES ('another', 'first_schema')",
        "CREATE TABLE _sqlite_migrations (something TEXT)",
    ],
)
@pytest.mark.parametrize("create", [True, False])
def test_somebody_elses_database_is_refused_and_left_alone(
    tmp_path: Path, tables: str, create: bool
):
    path = tmp_path / "songs.db"
    with sqlite3.connect(path) as other:
        other.executescript(tables)
    other.close()
    before = path.read_bytes()
    with pytest.raises(BadInput, match="not a golden set"):
        Store(path, create=create)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["songs.db"]


def test_a_file_of_a_newer_version_is_refused_and_left_alone(store: Store):
    store.close()
    with sqlite3.connect(store.path) as newer:
        newer.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
            "VALUES ('labeler', 'm999_from_the_future', '2099-01-01')"
        )
    newer.close()
    before = store.path.read_bytes()
    with pytest.raises(BadInput, match="newer version of labeler; upgrade"):
        Store(store.path, create=True)
    assert store.path.read_bytes() == before


def test_an_empty_file_becomes_a_golden_set_only_when_asked(tmp_path: Path):
    path = tmp_path / "golden.db"
    path.touch()
    with pytest.raises(NotFound, match="the file is empty"):
        Store(path)
    assert path.stat().st_size == 0
    with Store(path, create=True) as store:
        assert store.golden_set.contents().queries == 0


def test_a_path_with_signs_of_its_own_is_that_file(tmp_path: Path):
    path = tmp_path / "what? 100%23 #1 é.db"
    Store(path, create=True).close()
    with Store(path) as store:
        assert store.judgments.revision() == 0
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_six_processes_that_open_a_new_file_agree_on_one_golden_set(tmp_path: Path, python):
    processes = [python(OPEN) for _ in range(6)]  # each opens what it is told, all at once
    for attempt in range(3):
        for process in processes:
            process.stdin.write(f"{tmp_path / f'{attempt}.db'}\n")
            process.stdin.flush()
        names = [process.stdout.readline() for process in processes]
        assert names[0]
        assert names == names[:1] * 6
    results = [process.communicate() for process in processes]
    assert results == [("", "")] * 6
    assert [process.returncode for process in processes] == [0] * 6


def test_a_golden_set_that_cannot_be_made_leaves_an_empty_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "golden.db"
    monkeypatch.setattr("labeler.store.schema.schema_sql", lambda: "CREATE TABLE nonsense (;\n")
    with pytest.raises(BadInput):
        Store(path, create=True)
    monkeypatch.undo()
    with pytest.raises(NotFound, match="the file is empty"):
        Store(path)
    with Store(path, create=True) as store:
        assert store.golden_set.contents().judgments == 0


def test_a_link_that_leads_nowhere_is_named_for_what_it_is(tmp_path: Path):
    dangling, looping = tmp_path / "dangling.db", tmp_path / "looping.db"
    dangling.symlink_to("nowhere.db")
    looping.symlink_to(looping)
    for create in (True, False):
        with pytest.raises(NotFound, match=r"is a link to nowhere\.db, where nothing is"):
            Store(dangling, create=create)
        with pytest.raises(NotFound, match="is a link that leads back to itself"):
            Store(looping, create=create)
    assert not (tmp_path / "nowhere.db").exists()


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(NotFound, match="file is a file, not a folder"):
        Store(tmp_path / "file" / "golden.db", create=True)
    assert (tmp_path / "file").read_bytes() == b""


def test_opening_again_changes_nothing(filled: Store):
    before = list(filled.connection.conn.iterdump())
    filled.close()
    with Store(filled.path, create=True) as again:
        assert list(again.connection.conn.iterdump()) == before


def test_two_golden_sets_do_not_share_their_identity_and_all_else(tmp_path: Path):
    paths = [newborn(tmp_path / "one.db"), newborn(tmp_path / "two.db"), tmp_path / "three.db"]
    stores = [Store(path, create=True) for path in paths]  # the last is what the others are like
    assert len({store.golden_set.uuid() for store in stores}) == 3
    assert len({store.golden_set.signing_key() for store in stores}) == 3
    shapes = {
        tuple(store.connection.rows("SELECT sql FROM sqlite_master ORDER BY name"))
        for store in stores
    }
    assert len(shapes) == 1
    modes = [store.connection.value("PRAGMA journal_mode") for store in stores]
    assert modes == ["wal"] * 3
    for store in stores:
        store.close()


def test_every_connection_is_durable_and_checks_references(store: Store):
    with Store(store.path) as opened:
        pragmas = ("foreign_keys", "synchronous", "journal_mode", "recursive_triggers")
        values = [opened.connection.value(f"PRAGMA {name}") for name in pragmas]
    assert values == [1, 2, "wal", 1]
    assert store.connection.value("PRAGMA synchronous") != 1, "NORMAL may lose acknowledged grades"


def test_another_writer_makes_it_busy_and_nothing_changes(filled: Store):
    before = list(filled.connection.conn.iterdump())
    other = sqlite3.connect(filled.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Store(filled.path, busy_seconds=0.05) as impatient:
        with pytest.raises(Busy, match="another process is writing"):
            impatient.people.add("Dee")
        with pytest.raises(Busy, match="another process is writing"):
            impatient.runs.drop("first")
        assert impatient.golden_set.contents().runs == 2, "reading must not wait for a writer"
    other.execute("ROLLBACK")
    other.close()
    assert list(filled.connection.conn.iterdump()) == before


def test_a_grader_who_is_known_needs_no_write(filled: Store):
    other = sqlite3.connect(filled.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Store(filled.path, busy_seconds=0.05) as reader:
        reader.people.add("Ann")
        assert reader.people.seed("Ann") == filled.people.seed("Ann")
    other.close()


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800"])
def test_a_name_nobody_could_have_is_refused(store: Store, name: str):
    with pytest.raises(BadInput, match="grader id"):
        store.people.add(name)
    with pytest.raises(NotFound):
        store.people.seed(name.replace("\ud800", "?"))


READ_ONLY = """
import os, sys
from labeler.errors import BadInput
from labeler.store import Store
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
with Store(sys.argv[1]) as store:
    print(store.golden_set.contents().golden, store.judgments.revision())
    for write in (lambda: store.people.add("Dee"), lambda: store.runs.drop("first")):
        try:
            write()
        except BadInput as error:
            print(error)
"""


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that every account may look into."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        Path(name).chmod(0o755)


def test_who_may_only_read_reads_and_is_told_so_when_writing(
    filled: Store, public_folder: Path, python
):
    filled.close()
    path = public_folder / "golden.db"
    shutil.copy(filled.path, path)
    path.chmod(0o444)
    public_folder.chmod(0o555)
    said, errors = python(READ_ONLY, path).communicate()
    assert errors == ""
    assert said.splitlines() == [
        "3 3",
        *[f"{path}: read-only; make it and its folder writable, or copy it elsewhere"] * 2,
    ]
    assert [file.name for file in public_folder.iterdir()] == ["golden.db"]


def test_who_may_only_read_sees_what_a_writer_has_just_saved(public_folder: Path, python):
    path = public_folder / "golden.db"
    with Store(path, create=True) as writer:
        writer.people.add("Ann")
        seed = writer.people.seed("Ann")
        for file in public_folder.iterdir():
            file.chmod(0o644)
        public_folder.chmod(0o555)
        script = READ_ONLY.replace("golden_set.contents().golden", "people.seed('Ann')")
        said, errors = python(script, path).communicate()
        assert errors == ""
        assert said.splitlines()[0] == f"{seed} 0", "the write-ahead log must not be overlooked"
        assert writer.judgments.revision() == 0


def test_who_may_not_even_look_is_told_so(filled: Store, public_folder: Path, python):
    closed = public_folder / "closed"
    closed.mkdir()
    filled.close()
    shutil.copy(filled.path, closed / "golden.db")
    closed.chmod(0o700)
    script = """if True:
        import os, sys
        from labeler.store import Store, StorageError
        os.getuid() or os.setuid(65534)
        try:
            Store(sys.argv[1])
        except StorageError as error:
            print(error)
    """
    if os.getuid() != 0:
        closed.chmod(0o000)
    said, errors = python(script, closed / "golden.db").communicate()
    closed.chmod(0o700)
    assert errors == ""
    assert "cannot be opened" in said


def test_a_damaged_file_says_so(filled: Store):
    filled.close()
    content = bytearray(filled.path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    filled.path.write_bytes(content)
    says = pytest.raises(StorageError, match="damaged; nothing more is written to it")
    with says, Store(filled.path) as store:
        store.collection.read()
    assert filled.path.read_bytes() == content


def test_a_mistake_of_the_program_is_not_blamed_on_the_file(store: Store):
    store.close()
    with pytest.raises(sqlite3.ProgrammingError) as caught:
        store.judgments.revision()
    assert not isinstance(caught.value, LabelerError)
