"""A frozen golden set: it never changes, gives the same numbers, and proves itself elsewhere."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.errors import BadInput, NotFound
from labeler.evaluation import Conventions, Scoreboard
from labeler.model import GoldenGrade, Judgment, Query, Settings
from labeler.services import import_export
from labeler.services.import_export import snapshots
from labeler.store import Store
from tests.support.databases import rewrite

Labeler = Callable[..., Result]


@pytest.fixture
def run() -> Labeler:
    return lambda *arguments: CliRunner().invoke(main, list(map(str, arguments)))


def output(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.output


def change_everything(store: Store, golden) -> None:
    """Grade on, load and retire queries, move settings."""
    store.judgments.add(Judgment("e1", "q1", "c2", "Ann", grade=3))
    store.judgments.add(Judgment("e2", "q1", "c4", "Ann", grade=2))
    store.golden_loads.add(golden([GoldenGrade("q3", "c1", 3)], [Query("q3", "new", "single")]))
    store.queries.retire("q2")
    store.settings.save(Settings(rel=2, prompt_k=1))


def numbers(store: Store, asked: str | None) -> list[object]:
    collection, settings = snapshots.collection_of(store, asked)
    conventions = Conventions.of(rel=settings.rel, prompt_k=settings.prompt_k)
    board = Scoreboard(collection, conventions)
    measures = conventions.measures("nDCG@10 R@prompt RR AP Judged@10")
    rows = [*board.table(measures), *board.table(measures, "intent")]
    return [(str(r.measure), r.run, r.bucket, str(r.value), r.n, r.unjudged) for r in rows]


def test_a_frozen_version_gives_the_same_numbers_whatever_comes_later(
    filled: Store, golden: Callable
) -> None:
    before, live = numbers(filled, None), filled.collection.golden_state().hash
    version = snapshots.freeze(filled, "v1", "before the release")
    assert (version.hash, version.queries, version.grades) == (live, 2, 3)
    assert numbers(filled, "v1") == before
    change_everything(filled, golden)
    assert numbers(filled, None) != before
    assert numbers(filled, "v1") == numbers(filled, live[:8]) == before
    assert (
        snapshots.frozen_content(filled, "v1").state.hash
        == live
        != filled.collection.golden_state().hash
    )


def test_nothing_of_a_version_can_be_changed(filled: Store) -> None:
    snapshots.freeze(filled, "v1")
    before = filled.connection.rows("SELECT * FROM versions")
    for statement in (
        "UPDATE versions SET note = 'other'",
        "DELETE FROM versions",
        "INSERT OR REPLACE INTO versions SELECT * FROM versions",
    ):
        with sqlite3.connect(filled.path) as other:
            other.execute("PRAGMA recursive_triggers = off")
            with pytest.raises(sqlite3.IntegrityError, match="never changed"):
                other.execute(statement)
        other.close()
    assert filled.connection.rows("SELECT * FROM versions") == before


def test_a_name_stands_for_one_version_for_good(filled: Store) -> None:
    snapshots.freeze(filled, "v1")
    snapshots.freeze(filled, "v1")
    snapshots.freeze(filled, "v2")
    assert [version.name for version in filled.versions.all()] == ["v1", "v2"]
    filled.judgments.add(Judgment("e1", "q1", "c3", "Ann", grade=1))
    with pytest.raises(BadInput, match="choose another name"):
        snapshots.freeze(filled, "v1")
    for name in ("live", "", " v", "a\nb", "a\x1b"):
        with pytest.raises(BadInput):
            snapshots.freeze(filled, name)
    with pytest.raises(NotFound, match="there are: v1, v2"):
        filled.versions.get("v3")
    with pytest.raises(NotFound):
        filled.versions.get(filled.versions.all()[0].hash[:7])


def test_commands_count_by_a_version_and_say_so(filled: Store, run: Labeler, golden) -> None:
    measures = ["--measures", "nDCG@10 R@prompt", "--format", "json"]
    score = json.loads(output(run("score", *measures)))
    compare = output(run("compare", "first", "second", *measures))
    made = output(run("freeze", "v1", "--note", "for the release"))
    assert f"golden: {filled.collection.golden_state().hash}" in made
    change_everything(filled, golden)
    frozen = json.loads(output(run("score", "--golden", "v1", *measures)))
    said = frozen[0]["conventions"]
    assert said["golden"] == score[0]["conventions"]["golden"]
    assert (said["frozen"], said["rel"], said["prompt_k"]) == ("v1", 1, 5)
    assert f"golden {said['golden'][:8]}, frozen as v1 · " in said["description"]
    assert [row["value"] for row in frozen] == [row["value"] for row in score]
    again = json.loads(output(run("compare", "first", "second", "--golden", "v1", *measures)))
    assert [row["delta"] for row in again] == [row["delta"] for row in json.loads(compare)]
    assert run("score", "--golden", "v9").exit_code == 1
    assert run("compare", "first", "second", "--graders", "--golden", "v1").exit_code == 2
    listed = output(run("versions"))
    assert "v1" in listed
    assert "for the release" in listed
    shown = json.loads(output(run("versions", "--format", "json")))
    assert shown["versions"][0]["hash"] == said["golden"] != shown["live"]


def test_a_version_is_exported_as_the_golden_set_was(
    filled: Store, run: Labeler, golden, tmp_path: Path
) -> None:
    kinds = {"jsonl": "a.jsonl", "qrels": "a.qrels", "csv": "a.csv", "beir": "a.zip"}
    before = {kind: import_export.export(filled, kind, None) for kind in ("jsonl", "qrels", "csv")}
    snapshots.freeze(filled, "v1")
    change_everything(filled, golden)
    for kind, name in kinds.items():
        told = output(run("export", tmp_path / name, "--golden", "v1"))
        assert "3 golden grades, of v1" in told
        assert snapshots.frozen_content(filled, "v1").state.hash in told
        assert kind == "beir" or (tmp_path / name).read_bytes() == before[kind]
    assert run("export", tmp_path / "e.jsonl", "--format", "events", "--golden", "v1").exit_code
    assert run("export", tmp_path / "e.jsonl", "--format", "version").exit_code == 2


def test_a_version_proves_its_hash_where_it_is_loaded(
    filled: Store, run: Labeler, golden, tmp_path: Path
) -> None:
    before = numbers(filled, None)
    version = snapshots.freeze(filled, "v1", "a note")
    change_everything(filled, golden)
    file = tmp_path / "v1.jsonl.gz"
    output(run("export", file, "--format", "version", "--golden", version.hash[:12]))
    other = tmp_path / "other.db"
    told = output(run("--db", other, "load", "version", file))
    assert version.hash in told
    assert "already there" in output(run("--db", other, "load", "files", file))
    with Store(other) as store:
        assert store.versions.all() == [version]
        assert store.queries.all() == []
        content = snapshots.frozen_content(store, "v1")
        assert snapshots.version_file(content) == gzip.decompress(file.read_bytes())
        for name in ("first", "second"):
            assert name not in store.runs.names()
    assert numbers(filled, "v1") == before
    assert "is taken by" not in run("load", "golden", file).output
    assert "labeler load version" in run("load", "golden", file).output


DAMAGES = {
    "a grade": lambda text: text.replace('"grade": 3', '"grade": 2'),
    "a name": lambda text: text.replace('"Bea"', '"Eve"'),
    "a rule": lambda text: text.replace("lower median", "majority"),
    "a note of a query": lambda text: text.replace('"metadata": {}', '"metadata": {"a": 1}'),
    "a query less": lambda text: "\n".join(text.splitlines()[:-1]),
    "the hash": lambda text: text.replace('"hash": "', '"hash": "0')[:-1],
    "the header": lambda text: text.split("\n", 1)[1],
    "all": lambda text: "",
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_version_that_was_tampered_with_is_refused_and_changes_nothing(
    filled: Store, run: Labeler, tmp_path: Path, what: str
) -> None:
    content = snapshots.freeze(filled, "v1") and snapshots.frozen_content(filled, "v1")
    text = snapshots.version_file(content).decode()
    (tmp_path / "v1.jsonl").write_text(damaged := DAMAGES[what](text))
    assert damaged != text
    other = tmp_path / "other.db"
    with Store(other, create=True):
        pass
    result = run("--db", other, "load", "version", tmp_path / "v1.jsonl")
    assert result.exit_code == 1
    assert "v1.jsonl" in result.output
    assert "Traceback" not in result.output
    with Store(other) as store:
        assert store.versions.all() == []


def test_what_changed_is_told_with_who_did_it(filled: Store, run: Labeler, golden) -> None:
    snapshots.freeze(filled, "v1")
    assert "nothing changed" in output(run("diff", "v1"))
    change_everything(filled, golden)
    filled.judgments.add(Judgment("e3", "q1", "c1", "Ann", grade=3))
    filled.queries.load(
        golden(queries=[Query("q1", "how long?", "single", buckets={"intent": "refund"})]).queries,
        update=True,
    )
    told = json.loads(output(run("diff", "v1", "--format", "json")))
    assert told["new"] == {"name": "live", "golden": filled.collection.golden_state().hash}
    changes = {
        (each["change"], each["of"], each["query_id"], each["chunk_id"] or each["field"]): (
            *(each["before"], each["after"], each["by"]),
        )
        for each in told["changes"]
    }
    assert changes == {
        ("changed", "setting", None, "rel"): (1, 2, []),
        ("changed", "setting", None, "prompt_k"): (5, 1, []),
        ("changed", "query", "q1", "text"): ("how long does a refund take", "how long?", []),
        ("added", "query", "q3", None): (None, "new", []),
        ("gone", "query", "q2", None): ("where are my invoices", None, []),
        ("changed", "grade", "q1", "c2"): (0, 3, ["Ann"]),
        ("added", "grade", "q1", "c4"): (None, 2, ["Ann"]),
        ("changed", "graders", "q1", "c1"): ("Bea", "Ann", ["Ann"]),
        ("added", "grade", "q3", "c1"): (None, 3, []),
        ("gone", "grade", "q2", "c3"): (1, None, ["Bea"]),
    }
    rows = list(csv.DictReader(io.StringIO(output(run("diff", "v1", "--format", "csv")))))
    assert len(rows) == len(changes)
    by_pair = {(row["of"], row["query_id"], row["chunk_id"]): row for row in rows}
    regraded = by_pair["grade", "q1", "c2"]
    assert [regraded[name] for name in ("change", "before", "after", "by")] == [
        *("changed", "0", "3", "Ann")
    ]
    assert {row["golden_after"] for row in rows} == {filled.collection.golden_state().hash}
    page = output(run("diff", "v1", "--format", "md", "--most", "2"))
    assert "| changed | setting |" in page
    assert "\n\n... and 8 more" in page
    assert "--raw goes with --format csv" in run("diff", "v1", "--raw").output
    snapshots.freeze(filled, "v2")
    table = output(run("diff", "v1", "v2", "--most", "3"))
    assert "... and 7 more; --most lists them" in table
    assert "grades: 2 added, 1 changed, 1 gone · who gave them: 1 changed" in table


def test_a_stored_version_that_somebody_changed_is_not_counted_by(
    filled: Store, run: Labeler, tmp_path: Path
) -> None:
    snapshots.freeze(filled, "v1")
    filled.close()
    rewrite(filled.path, f"UPDATE versions SET hash = '{'0' * 64}'")
    result = run("score", "--golden", "v1")
    assert result.exit_code == 1
    assert "something in it was changed" in result.output
    assert "v1" in run("check").output
