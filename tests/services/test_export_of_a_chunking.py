"""One chunking as a file, by its own ids, and all of them in one: what is kept on the way."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.evaluation import Conventions, Scoreboard
from labeler.model import (
    Chunk,
    Document,
    GoldenGrade,
    Judgment,
    Loaded,
    LoadedGolden,
    Query,
    Ranking,
    Selection,
    UnjudgedPair,
)
from labeler.services import import_export
from labeler.store import Store
from labeler.store.columns import hash_text
from tests.support.page import open_page, words

HELD_BACK = ("events", "complete", *import_export.FEEDBACK_KINDS)
TEXT = "A refund takes three days. Lost parcels are searched."
V1 = [
    Chunk("1", "A refund takes", document_id="d", position=1),
    Chunk("2", "three days.", document_id="d", position=2),
    Chunk("zz9", "Lost parcels are searched.", document_id="d", position=3),
]
V2 = [
    Chunk("1", TEXT[:26], document_id="d", position=1, start=0, end=26),
    Chunk("2", TEXT[27:], document_id="d", position=2, start=27, end=53),
]


def loaded(records):
    return Loaded("made here", records, range(1, len(records) + 1))


def golden(grades, ungraded=()):
    return LoadedGolden(loaded([]), loaded(grades), loaded([]), loaded(list(ungraded)))


@pytest.fixture(scope="module")
def cut_twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two chunkings with runs, grades, evidence, places and their document; only to be read."""
    path = tmp_path_factory.mktemp("cut_twice") / "golden.db"
    with Store(path, create=True) as store:
        store.queries.load(loaded([Query("q1", "money back"), Query("q2", "parcel lost")]))
        store.documents.load(loaded([Document("d", TEXT, "Help")]))
        store.chunks.load(loaded(V1))
        store.chunks.load(loaded(V2), chunking="v2")
        lists = [Ranking("q1", ("zz9", "1", "2")), Ranking("q2", ("zz9",))]
        store.runs.load(loaded(lists), name="before")
        lists = [Ranking("q1", ("1", "2"), (2.5, 1.5)), Ranking("q2", ("2", "1"), (4.0, 1.0))]
        store.runs.load(loaded(lists), name="after", chunking="v2")
        store.golden_loads.add(golden([GoldenGrade("q1", "1", 2), GoldenGrade("q2", "zz9", 3)]))
        store.golden_loads.add(
            golden([GoldenGrade("q1", "2", 0)], [UnjudgedPair("q2", "1")]), chunking="v2"
        )
        store.people.add("Ana")
        marked = {"text_hash": hash_text(V2[0].text), "evidence": ((15, 25),)}
        store.judgments.add(
            Judgment("e1", "q1", "v2:1", "Ana", grade=3, note="all of it", **marked)
        )
        store.judgments.add(Judgment("e2", "q1", "1", "Ana", grade=1))
    return path


def labeler(db: Path, *words: object) -> Result:
    return CliRunner().invoke(main, ["--db", str(db), *map(str, words)])


def done(db: Path, *words: object) -> str:
    result = labeler(db, *words)
    assert result.exit_code == 0, result.output
    return result.output


def line_of(output: str, what: str) -> str:
    [line] = [line for line in output.splitlines() if line.startswith(f"{what}: ")]
    return line.removeprefix(f"{what}: ")


def content_of(file: Path, kind: str) -> str:
    if kind != "beir":
        return file.read_text()
    with zipfile.ZipFile(file) as folder:
        return "".join(folder.read(name).decode() for name in sorted(folder.namelist()))


# One chunking ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in import_export.EXPORTS if kind not in HELD_BACK])
def test_every_format_has_one_chunking_by_its_own_ids(cut_twice: Path, tmp_path: Path, kind: str):
    files = {name: tmp_path / f"{name}.zip" for name in ("all", "v2", "default")}
    done(cut_twice, "export", files["all"], "--format", kind)
    said = done(cut_twice, "export", files["v2"], "--format", kind, "--chunking", "v2")
    done(cut_twice, "export", files["default"], "--format", kind, "--chunking", "")
    found = {name: content_of(file, kind) for name, file in files.items()}
    assert "v2:1" in found["all"]
    assert "zz9" in found["all"]
    for name in ("v2", "default"):
        assert "v2:" not in found[name]
        assert ("zz9" in found[name]) == (name == "default")
    assert "2 golden grades, chunking v2" in said
    if kind == "beir":
        assert "2 queries, 2 chunks, 2 golden grades" in said
    elif kind in ("quepid-book", "ragas"):
        assert TEXT[:26] in found["v2"], "the text is that of the chunk of this chunking"


def test_a_beir_set_of_all_chunkings_says_which_a_chunk_is_of_and_brings_them_back(
    cut_twice: Path, tmp_path: Path
):
    folder, other = tmp_path / "all", tmp_path / "other.db"
    done(cut_twice, "export", folder, "--format", "beir")
    corpus = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    named = {chunk["_id"]: chunk.get("chunking") for chunk in corpus}
    assert named == {"1": None, "2": None, "zz9": None, "v2:1": "v2", "v2:2": "v2"}
    assert not any("metadata" in chunk for chunk in corpus)
    done(other, "load", "beir", folder)
    done(other, "load", "beir", folder)
    with Store(cut_twice) as before, Store(other) as after:
        assert after.chunkings.names() == before.chunkings.names() == ["", "v2"]
        assert [c for c in after.chunks.all() if c.text] == [
            c for c in before.chunks.all() if c.text
        ]
        grades = {(g.query_id, g.chunk_id, g.grade, g.chunking) for g in after.golden_set.read()[1]}
        assert grades == {
            (g.query_id, g.chunk_id, g.grade, g.chunking) for g in before.golden_set.read()[1]
        }
    alone = tmp_path / "alone.db"
    done(alone, "load", "chunks", folder / "corpus.jsonl")
    with Store(alone) as store:
        assert store.chunkings.names() == ["", "v2"]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "qrels", "beir"])
def test_what_one_chunking_gave_is_loaded_again_under_its_name(
    cut_twice: Path, tmp_path: Path, kind: str
):
    file, chunks, other = tmp_path / "x.zip", tmp_path / "v2", tmp_path / "other.db"
    done(cut_twice, "export", chunks, "--format", "beir", "--chunking", "v2")
    done(cut_twice, "export", file, "--format", kind, "--chunking", "v2")
    if kind == "beir":
        done(other, "load", "beir", file, "--chunking", "v2")
    else:
        done(other, "load", "queries", chunks / "queries.jsonl")
        done(other, "load", "chunks", chunks / "corpus.jsonl", "--chunking", "v2")
        done(other, "load", "golden", file, "--chunking", "v2", "--negative-as-ungraded")
    with Store(cut_twice) as before, Store(other) as after:
        grades = [each for each in before.golden_set.read()[1] if each.chunking == "v2"]
        assert [each.chunk_id for each in grades] == ["v2:1", "v2:2"]
        assert pairs_of(after.golden_set.read()[1]) == pairs_of(grades)
        assert [each for each in after.chunks.all() if each.text] == [
            each for each in before.chunks.all() if each.chunk_id.startswith("v2:")
        ]
        if kind == "jsonl":
            assert after.golden_set.read()[1] == grades, "who, note and evidence, too"
            assert after.golden_loads.ungraded() == [UnjudgedPair("q2", "v2:1")]


def pairs_of(grades: list[GoldenGrade]) -> list[tuple[str, str, int, str]]:
    return [(each.query_id, each.chunk_id, each.grade, each.chunking) for each in grades]


def test_a_chunking_has_the_hash_that_it_has_where_it_is_loaded_alone(
    cut_twice: Path, tmp_path: Path
):
    file, other = tmp_path / "v2.jsonl", tmp_path / "other.db"
    whole = line_of(done(cut_twice, "export", tmp_path / "all.jsonl"), "golden")
    said = done(cut_twice, "export", file, "--chunking", "v2")
    assert line_of(said, "part") == f"chunking v2 of golden {whole}"
    done(other, "load", "golden", file)
    with Store(other) as store:
        assert store.collection.golden_state().hash == line_of(said, "golden") != whole
        assert store.chunkings.names() == [""]


def test_a_frozen_version_leaves_by_chunkings_too(cut_twice: Path, tmp_path: Path):
    frozen = tmp_path / "golden.db"
    frozen.write_bytes(cut_twice.read_bytes())
    done(frozen, "freeze", "r1")
    live = done(frozen, "export", "-", "--format", "qrels", "--chunking", "v2")
    found = done(
        *(frozen, "export", "-", "--format", "qrels", "--chunking", "v2", "--golden", "r1")
    )
    graded = [line for line in live.splitlines() if line.startswith("q") and "-1" not in line]
    assert graded == ["q1 0 1 3", "q1 0 2 0"]
    assert [line for line in found.splitlines() if line.startswith("q")] == graded


def test_a_run_leaves_by_the_ids_of_its_chunking_and_is_loaded_again(
    cut_twice: Path, tmp_path: Path
):
    file, other = tmp_path / "after.trec", tmp_path / "golden.db"
    other.write_bytes(cut_twice.read_bytes())
    done(cut_twice, "export", file, "--run", "after", "--chunking", "v2")
    assert [line.split()[2] for line in file.read_text().splitlines()] == ["1", "2", "2", "1"]
    texts = done(
        *(cut_twice, "export", "-", "--run", "after", "--format", "ragas", "--chunking", "v2")
    )
    assert json.loads(texts.splitlines()[0])["retrieved_contexts"] == [TEXT[:26], TEXT[27:]]
    done(other, "load", "run", file, "--name", "again", "--chunking", "v2")
    with Store(other) as store:
        assert store.runs.lists("again") == store.runs.lists("after")
    result = labeler(cut_twice, "export", "-", "--run", "after", "--chunking", "")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: run 'after' is of chunking v2, not of the default chunking\n",
    )


@pytest.mark.parametrize("kind", ["events", "complete"])
def test_what_is_all_of_it_has_no_chunking_alone(cut_twice: Path, tmp_path: Path, kind: str):
    result = labeler(
        *(cut_twice, "export", tmp_path / "x.jsonl", "--format", kind, "--chunking", "v2")
    )
    if kind == "events":
        assert "(chunking v2): the log is one chain" in result.stderr
    assert result.exit_code
    assert not list(tmp_path.iterdir())


def test_a_chunking_that_is_not_there_makes_no_file(cut_twice: Path, tmp_path: Path):
    result = labeler(cut_twice, "export", tmp_path / "x.jsonl", "--chunking", "v3")
    assert result.stderr == "Error: no chunking is called 'v3'; there are: '', 'v2'\n"
    assert not list(tmp_path.iterdir())


def test_grades_that_say_of_which_chunking_they_are_are_not_taken_for_another(
    cut_twice: Path, tmp_path: Path
):
    file, other = tmp_path / "all.jsonl", tmp_path / "golden.db"
    other.write_bytes(cut_twice.read_bytes())
    done(cut_twice, "export", file)
    before = done(other, "export", "-")
    result = labeler(other, "load", "golden", file, "--chunking", "v2")
    assert result.exit_code == 1
    assert f"{file}:1: chunk '1' is of the default chunking, as this file says" in result.stderr
    assert "load it without --chunking" in result.stderr
    assert done(other, "export", "-") == before


# All of them -----------------------------------------------------------------------------------


def test_the_csv_for_people_has_a_column_that_names_the_chunking(cut_twice: Path, tmp_path: Path):
    file, other = tmp_path / "all.csv", tmp_path / "other.db"
    done(cut_twice, "export", file)
    header, *rows = [line.split(",") for line in file.read_text().splitlines()]
    assert header[-1] == "chunking"
    assert [(row[1], row[-1]) for row in rows] == [
        ("1", ""),
        ("v2:1", "v2"),
        ("v2:2", "v2"),
        ("zz9", ""),
    ]
    done(cut_twice, "export", tmp_path / "v2.csv", "--chunking", "v2")
    assert "chunking" not in (tmp_path / "v2.csv").read_text()
    with Store(other, create=True) as store:
        store.queries.load(loaded([Query("q1", "money back"), Query("q2", "parcel lost")]))
    done(other, "load", "golden", file)
    with Store(other) as after, Store(cut_twice) as before:
        assert after.chunkings.names() == ["", "v2"]
        assert pairs_of(after.golden_set.read()[1]) == pairs_of(before.golden_set.read()[1])


def test_a_complete_file_and_the_runs_make_another_file_that_is_the_same_in_every_number(
    cut_twice: Path, tmp_path: Path
):
    other = tmp_path / "other.db"
    done(cut_twice, "export", tmp_path / "all.jsonl", "--complete")
    done(other, "load", "complete", tmp_path / "all.jsonl")
    for name in ("before", "after"):
        done(cut_twice, "export", tmp_path / f"{name}.trec", "--run", name)
        done(other, "load", "run", tmp_path / f"{name}.trec")
    with Store(cut_twice) as before, Store(other) as after:
        assert after.collection.golden_state().hash == before.collection.golden_state().hash
        assert after.chunkings.all() == before.chunkings.all()
        assert (
            after.chunkings.of_runs() == before.chunkings.of_runs() == {"before": "", "after": "v2"}
        )
        assert after.documents.all() == before.documents.all()
        assert places_of(after) == places_of(before)
        assert places_of(before)["v2:2"] == ("d", 27, 53)
        assert (
            evidence_of(after) == evidence_of(before) == [("q1", "v2:1", 3, ((15, 25),), ("Ana",))]
        )
        for chunkings in (("",), ("v2",), ("", "v2")):
            assert repr(table(after, chunkings)) == repr(table(before, chunkings))
        assert {row.run for row in table(after, ("", "v2"))} == {"before", "after"}


def places_of(store: Store) -> dict[str, tuple[str | None, int | None, int | None]]:
    return {each.chunk_id: (each.document_id, each.start, each.end) for each in store.chunks.all()}


def evidence_of(store: Store) -> list[tuple[object, ...]]:
    return [
        (each.query_id, each.chunk_id, each.grade, each.passages, each.who)
        for each in store.evidence.of_grades()
    ]


def table(store: Store, chunkings: tuple[str, ...]):
    board = Scoreboard(
        store.collection.read(), Conventions.of(selected=Selection(chunkings=chunkings))
    )
    return board.table(board.conventions.measures("nDCG@10 R@5 AP Judged@5"))


# The Data page ---------------------------------------------------------------------------------


def test_data_offers_the_files_of_one_chunking(cut_twice: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LABELER_DB", str(cut_twice))
    app = open_page("data", section="Download")
    box = next(each for each in app.selectbox if each.label == "Chunks")
    assert box.options == ["all chunkings", "default", "v2"]
    box.select("v2").run()
    assert not app.exception
    assert app.query_params["chunks"] == "v2"
    assert "This is a part: chunking v2. It has its own hash" in words(app)
    labels = {button.proto.label: button.proto.disabled for button in app.get("download_button")}
    offered = {name.split("-20")[0]: disabled for name, disabled in labels.items()}
    assert (offered["Download golden-v2.jsonl"], offered["golden-complete-v2"]) == (False, True)
    app = open_page("data", section="Download", chunks="v3")
    assert "no chunking is called 'v3'; there are: default, v2" in words(app)
