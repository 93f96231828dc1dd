"""A split as a file: what is in it in every format, which hash it has, and what has no part."""

import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.model import (
    Chunk,
    GoldenGrade,
    Loaded,
    LoadedGolden,
    Query,
    Ranking,
    UnjudgedPair,
)
from labeler.services import import_export
from labeler.store import LeakedQuery, Store

OTHERS = ("q0", "q3", "about three", "c-q3")  # of no split, and of another one
HELD_BACK = ("events", "complete", *import_export.FEEDBACK_KINDS)


def loaded(records):
    return Loaded("made here", records, range(1, len(records) + 1))


@pytest.fixture
def parted(tmp_path: Path) -> Path:
    """A golden set of one query of no split, two of dev (one of them leaked), one of test."""
    path = tmp_path / "golden.db"
    with Store(path, create=True) as store:
        texts = {"q0": "about naught", "q1": "about one", "q2": "about two", "q3": "about three"}
        store.queries.load(loaded([Query(name, text) for name, text in texts.items()]))
        chunks = [Chunk(f"c-{name}", f"it is {text}") for name, text in texts.items()]
        store.chunks.load(loaded(chunks))
        lists = [Ranking(name, (f"c-{name}", "c-q0" if name != "q0" else "c-q1")) for name in texts]
        store.runs.load(loaded([*lists, Ranking("stranger", ("c-q0",))]), name="run")
        graded = [GoldenGrade(name, f"c-{name}", 3, ("ann@example.org",), "yes") for name in texts]
        ungraded = [UnjudgedPair(name, "c-q0") for name in ("q1", "q3")]
        golden = LoadedGolden(loaded([]), loaded(graded), loaded([]), loaded(ungraded))
        store.golden_loads.add(golden)
        store.splits.assign({"q1": "dev", "q2": "dev", "q3": "test"}, {})
        store.splits.mark_leaked([LeakedQuery("q2", "few.jsonl", 1, "query", 1.0, "about two")])
    return path


def labeler(db: Path, *words: object) -> Result:
    return CliRunner().invoke(main, ["--db", str(db), *map(str, words)])


def line_of(result: Result, what: str) -> str:
    [line] = [line for line in result.output.splitlines() if line.startswith(f"{what}: ")]
    return line.removeprefix(f"{what}: ")


@pytest.mark.parametrize("kind", [kind for kind in import_export.EXPORTS if kind not in HELD_BACK])
def test_every_format_has_the_queries_of_the_split_and_no_other(
    parted: Path, tmp_path: Path, kind: str
):
    file = tmp_path / ("part.zip" if kind == "beir" else "part")
    result = labeler(parted, "export", file, "--format", kind, "--split", "dev")
    assert result.exit_code == 0, result.output
    if kind == "beir":
        with zipfile.ZipFile(file) as folder:
            content = (folder.read("queries.jsonl") + folder.read("qrels/dev.tsv")).decode()
            assert folder.read("corpus.jsonl").count(b"\n") == 4, "a corpus is never cut"
            assert "qrels/test.tsv" not in folder.namelist()
    else:
        content = file.read_text()
    by_text = kind in ("quepid", "quepid-book", "opensearch", "ragas")
    assert ("about one" if by_text else "q1") in content
    assert "c-q3" not in content
    assert "about three" not in content
    assert ("about naught" if by_text else '"q0"') not in content
    assert "2 queries" in result.output
    assert "2 golden grades, split dev" in result.output


def test_a_part_has_the_hash_that_it_has_where_it_is_loaded(parted: Path, tmp_path: Path):
    file, other = tmp_path / "dev.jsonl", tmp_path / "other.db"
    whole = labeler(parted, "export", tmp_path / "all.jsonl")
    part = labeler(parted, "export", file, "--split", "dev")
    assert line_of(part, "golden") != line_of(whole, "golden")
    assert line_of(part, "part") == f"split dev of golden {line_of(whole, 'golden')}"
    assert "part: " not in whole.output
    assert labeler(other, "load", "golden", file).exit_code == 0
    with Store(other) as store:
        assert store.collection.golden_state().hash == line_of(part, "golden")
        assert [pair.query_id for pair in store.golden_loads.ungraded()] == ["q1"]
    again = labeler(other, "export", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == file.read_bytes()
    assert line_of(again, "golden") == line_of(part, "golden")


def test_opensearch_says_of_which_golden_set_a_part_is(parted: Path, tmp_path: Path):
    result = labeler(
        *(parted, "export", tmp_path / "part", "--format", "opensearch"),
        *("--split", "dev", "--leaked", "without"),
    )
    said = json.loads((tmp_path / "part").read_text())["description"]
    golden, part = line_of(result, "golden"), line_of(result, "part")
    whole = part.split()[-1]
    assert said == f"golden {golden}, split dev · leaked queries left out of {whole}"


def test_a_frozen_version_gives_its_own_queries_of_a_split(parted: Path, tmp_path: Path):
    assert labeler(parted, "freeze", "v1").exit_code == 0
    with Store(parted) as store:
        store.splits.assign({"q0": "dev"}, {})
    qrels = ("--format", "qrels", "--split", "dev")
    for more, queries in (((), ["q0", "q1", "q2"]), (("--golden", "v1"), ["q1", "q2"])):
        result = labeler(parted, "export", "-", *qrels, *more)
        lines = [line.split() for line in result.stdout.splitlines()]
        assert sorted({line[0] for line in lines if line[3] != "-1"}) == queries


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--format", "events"), "the log is one chain"),
        (("--complete",), "a complete file restores the golden set as it is"),
        (("--format", "version", "--golden", "v1"), "a frozen version proves its hash by all"),
    ],
)
def test_what_proves_or_makes_all_of_it_has_no_part(parted: Path, tmp_path: Path, words, why: str):
    labeler(parted, "freeze", "v1")
    result = labeler(parted, "export", tmp_path / "x.jsonl", *words, "--split", "dev")
    assert result.exit_code == 1
    assert f"(split dev): {why}" in result.output
    assert "jsonl carries a part" in result.output
    assert not (tmp_path / "x.jsonl").exists()


def test_a_split_without_queries_makes_no_file(parted: Path, tmp_path: Path):
    for more in ((), ("--run", "run")):
        result = labeler(parted, "export", tmp_path / "x.qrels", "--split", "held-out", *more)
        assert result.exit_code == 1
        assert "no query is in the split held-out" in result.output
    assert not (tmp_path / "x.qrels").exists()


def test_a_run_leaves_with_the_lists_of_the_split(parted: Path):
    whole = labeler(parted, "export", "-", "--run", "run").stdout
    part = labeler(parted, "export", "-", "--run", "run", "--split", "dev").stdout
    assert sorted({line.split()[0] for line in part.splitlines()}) == ["q1", "q2"]
    assert [line for line in whole.splitlines() if line.split()[0] in ("q1", "q2")] == (
        part.splitlines()
    )


def test_a_run_is_of_no_golden_set(parted: Path, tmp_path: Path):
    result = labeler(parted, "export", tmp_path / "file", "--run", "run", "--golden", "any")
    assert result.exit_code == 2
    assert "a run is the same under any golden set; leave --golden out" in result.output
    assert not (tmp_path / "file").exists()


def test_the_audit_says_that_a_part_was_taken_out(parted: Path, tmp_path: Path):
    labeler(parted, "export", tmp_path / "x.qrels", "--split", "dev")
    said = labeler(parted, "audit", "--format", "jsonl").stdout
    assert '"part": "split dev of golden ' in said
