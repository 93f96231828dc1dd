"""Several chunkings side by side: each run is measured by the grades of its own chunks."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.analysis.comparison import compare
from labeler.cli import main
from labeler.errors import BadInput, NotFound
from labeler.evaluation import Conventions, Scoreboard
from labeler.formats.id_resolution import chunk_id_from_text
from labeler.model import Chunk, Document, GoldenGrade, Judgment, Query, Ranking, Selection
from labeler.services import import_export
from labeler.services.import_export.loaders import id_resolver
from labeler.store import Store
from tests.support.databases import IN_BOTH

QUERIES = [Query("q1", "money back"), Query("q2", "parcel lost")]
V1 = [
    Chunk("1", "A refund takes", document_id="d", position=1),
    Chunk("2", " three days.", document_id="d", position=2),
    Chunk("3", " Lost parcels are searched.", document_id="d", position=3),
]
V2 = [
    Chunk("1", "A refund takes three days.", document_id="d", position=1, start=0, end=26),
    Chunk("2", " Lost parcels are searched.", document_id="d", position=2, start=26, end=53),
]
TEXT = "A refund takes three days. Lost parcels are searched."
MEASURES = "nDCG@10 R@5 P@2 RR AP Bpref Judged@2"


@pytest.fixture
def both(store: Store, loaded, golden) -> Store:
    """Two chunkings that use the same ids for other texts, a run and grades of each."""
    store.queries.load(loaded(QUERIES))
    store.chunks.load(loaded(V1))
    store.runs.load(loaded([Ranking("q1", ("3", "1", "2")), Ranking("q2", ("3",))]), name="old")
    store.golden_loads.add(golden([GoldenGrade("q1", "1", 3), GoldenGrade("q1", "2", 2)]))
    store.golden_loads.add(golden([GoldenGrade("q1", "3", 0), GoldenGrade("q2", "3", 1)]))
    store.chunks.load(loaded(V2), chunking="v2")
    rankings = [Ranking("q1", ("1", "2")), Ranking("q2", ("1",))]
    store.runs.load(loaded(rankings), name="new", chunking="v2")
    store.golden_loads.add(golden([GoldenGrade("q1", "1", 1)]), chunking="v2")
    return store


def values(store: Store, run: str, *chunkings: str) -> list[tuple[float, int, int]]:
    selected = Selection(chunkings=chunkings or None)
    board = Scoreboard(store.collection.read(), Conventions.of(selected=selected))
    table = board.table(board.conventions.measures(MEASURES))
    return [(row.value, row.n, row.unjudged) for row in table if row.run == run]


def alone(path: Path, chunks, rankings, grades, loaded, golden) -> list[tuple[float, int, int]]:
    with Store(path, create=True) as store:
        store.queries.load(loaded(QUERIES))
        store.chunks.load(loaded(chunks))
        store.runs.load(loaded(rankings), name="run")
        store.golden_loads.add(golden(grades))
        return values(store, "run")


# Measures --------------------------------------------------------------------------------------


def test_each_run_has_the_values_it_has_where_its_chunking_is_the_only_one(
    both: Store, tmp_path: Path, loaded, golden
):
    old = [Ranking("q1", ("3", "1", "2")), Ranking("q2", ("3",))]
    new = [Ranking("q1", ("1", "2")), Ranking("q2", ("1",))]
    given = [("q1", "1", 3), ("q1", "2", 2), ("q1", "3", 0), ("q2", "3", 1)]
    grades = [GoldenGrade(*each) for each in given]
    of_old = alone(tmp_path / "1.db", V1, old, grades, loaded, golden)
    of_new = alone(tmp_path / "2.db", V2, new, [GoldenGrade("q1", "1", 1)], loaded, golden)
    assert repr(values(both, "old", "")) == repr(of_old)
    assert repr(values(both, "new", "v2")) == repr(of_new)
    assert repr(values(both, "old")) == repr(of_old), "the first that has a run is shown"
    assert values(both, "new") == [], "and the others are not mixed into it"


def test_runs_of_two_chunkings_are_compared_over_the_queries_that_count_in_both(both: Store):
    selected = Selection(chunkings=("", "v2"))
    board = Scoreboard(both.collection.read(), Conventions.of(selected=selected))
    measures = board.conventions.measures("R@5 P@1")
    found = {(row.run, row.measure.label): (row.value, row.n) for row in board.table(measures)}
    assert found["new", "R@5"] == (1.0, 1), "all that is relevant on its side"
    assert found["old", "R@5"] == (1.0, 1), "q2 is graded on one side alone"
    assert (found["old", "P@1"][0], found["new", "P@1"][0]) == (0.0, 1.0)
    [said] = [note.sentence for note in board.notes() if note.kind == "several chunkings"]
    assert said.startswith("runs are of the default chunking and chunking v2: what compares is")


def test_means_across_chunkings_add_up_no_query_that_is_undefined_on_one_side(both: Store, golden):
    both.golden_loads.add(golden([GoldenGrade("q2", "1", 0)]), chunking="v2")
    board = Scoreboard(
        both.collection.read(), Conventions.of(selected=Selection(chunkings=("", "v2")))
    )
    compared = compare(board, "old", "new", board.conventions.measures("R@5 nDCG@10 Judged@2"))
    for row in compared.deltas:
        queries = [each for each in compared.queries(row.measure) if each.counted]
        assert row.n == len(queries)
        assert row.delta == pytest.approx(sum(each.delta for each in queries) / len(queries))
    assert [(row.n, row.undefined) for row in compared.deltas] == [(1, 1), (1, 1), (2, 0)]


@IN_BOTH
def test_a_grade_moves_the_runs_of_its_own_chunking_alone(both: Store, golden):
    def board_of(*chunkings: str) -> Scoreboard:
        selected = Selection(chunkings=chunkings)
        return Scoreboard(both.collection.read(), Conventions.of(selected=selected))

    boards = {chunkings: board_of(*chunkings) for chunkings in (("",), ("v2",), ("", "v2"))}
    data = both.golden_set.data_revision()
    both.people.add("Ana")
    both.judgments.add(Judgment("e1", "q2", "v2:1", "Ana", grade=3))
    for chunkings, board in boards.items():
        news = both.collection.news_since(board.revision, None)
        board.refresh(*news)
        fresh, wanted = board_of(*chunkings), board.conventions.measures(MEASURES)
        assert repr(board.table(wanted)) == repr(fresh.table(wanted)), "live equals batch"
    assert both.golden_set.data_revision() >= data
    assert boards[("v2",)].counts.judged == 2
    assert boards[("",)].counts.grades == 4, "the other chunking's grades are as they were"


def test_a_run_of_another_chunking_is_said_to_be_left_out(both: Store):
    board = Scoreboard(both.collection.read(), Conventions.of())
    assert "1 run of chunking v2 not in these numbers" in [n.sentence for n in board.notes()]
    assert "the default chunking" in board.conventions.sentence


def test_a_chunking_that_is_not_there_is_never_taken_for_another(both: Store):
    for chunkings in (("v9",), ("", "v9")):
        with pytest.raises(NotFound, match="'v9'"):
            Scoreboard(
                both.collection.read(), Conventions.of(selected=Selection(chunkings=chunkings))
            )


def test_graders_are_asked_what_decides_between_two_runs_of_one_chunking_alone(run):
    result = run("next", "a", "b", "--measure", "nDCG@10")
    assert result.exit_code == 1
    assert "are of different chunkings" in result.stderr


# Which chunking --------------------------------------------------------------------------------


def test_a_run_is_of_the_chunking_that_knows_all_its_ids(both: Store, loaded):
    report = both.runs.load(loaded([Ranking("q1", ("3",))]), name="third")
    assert report.facts["chunking"] == "the default one"
    assert both.chunkings.of_runs()["third"] == ""
    both.chunks.load(loaded([Chunk("x9", "only here")]), chunking="v3")
    report = both.runs.load(loaded([Ranking("q1", ("x9",))]), name="fourth")
    assert both.chunkings.of_runs()["fourth"] == "v3"


@IN_BOTH
def test_a_run_whose_ids_fit_several_chunkings_must_name_one(both: Store, loaded):
    with pytest.raises(BadInput, match="fit several chunkings") as refused:
        both.runs.load(loaded([Ranking("q1", ("1", "2"))]), name="which")
    assert "--chunking ''" in str(refused.value)
    assert "chunking v2 knows 2: --chunking v2" in str(refused.value)
    assert "which" not in both.runs.names()
    both.runs.load(loaded([Ranking("q1", ("1", "2"))]), name="which", chunking="")
    assert both.chunkings.of_runs()["which"] == ""


def test_a_run_that_was_written_as_it_is_called_here_is_known_again(both: Store, loaded):
    lists = both.runs.lists("new")
    report = both.runs.load(loaded(lists), name="new")
    assert not report.changed
    both.runs.load(loaded(lists), name="again")
    assert both.chunkings.of_runs()["again"] == "v2"


def test_a_run_has_chunks_of_one_chunking_alone(both: Store, loaded):
    with pytest.raises(BadInput, match="chunk 'v2:1' is not of the default chunking"):
        both.runs.load(loaded([Ranking("q1", ("1", "v2:1"))]), name="mixed", chunking="")
    assert "mixed" not in both.runs.names()


def test_a_text_that_two_chunkings_have_is_the_chunk_of_the_one_that_is_meant(both: Store, loaded):
    both.chunks.load(loaded([Chunk("same", V1[0].text)]), chunking="v3")
    made = chunk_id_from_text(V1[0].text or "")
    for chunking, called in (("", "1"), ("v3", "v3:same")):
        found = id_resolver(both, chunking).chunks([made])
        assert found == {made: called}


def test_a_run_that_is_of_no_chunking_says_so(both: Store, loaded):
    [said] = both.runs.load(loaded([Ranking("q1", ("z1", "z2"))]), name="foreign").warnings
    assert "no text is known of any chunk of this run and none is graded" in said


def test_the_same_lists_on_two_chunkings_are_not_the_same_run(both: Store, loaded):
    rankings = [Ranking("q1", ("1", "2")), Ranking("q2", ("1",))]
    assert both.runs.load(loaded(rankings), name="again", chunking="v2").warnings != ()
    assert both.runs.load(loaded(rankings), name="elsewhere", chunking="").warnings == ()


@pytest.mark.parametrize("name", ["a b", "v:2", "x" * 61, "v2\n"])
def test_a_chunking_is_named_so_that_every_file_can_carry_it(store: Store, loaded, name: str):
    with pytest.raises(BadInput, match="a chunking is named by"):
        store.chunks.load(loaded(V2), chunking=name)
    assert store.chunkings.names() == [""]


def test_another_file_under_a_name_that_exists_is_refused(both: Store, loaded):
    again = both.chunks.load(loaded(V2), chunking="v2")
    assert not again.changed, "the same file again is no other"
    with pytest.raises(BadInput, match="there is a chunking 'v2' already"):
        both.chunks.load(loaded([Chunk("7", "new")]), chunking="v2")
    assert both.chunks.get("v2:7") is None
    both.chunks.load(loaded([Chunk("7", "new")]), chunking="v2", update=True)
    assert both.chunks.get("v2:7") == Chunk("v2:7", "new")


def test_a_name_that_ids_of_the_unnamed_chunking_begin_with_is_refused(store: Store, loaded):
    store.chunks.load(loaded([Chunk("v2:1", "a text of its own")]))
    with pytest.raises(BadInput, match="choose another name"):
        store.chunks.load(loaded(V2), chunking="v2")
    assert store.chunks.get("v2:2") is None


# What is shown ---------------------------------------------------------------------------------


@IN_BOTH
def test_a_chunk_has_its_own_text_and_neighbours_of_its_own_chunking(both: Store):
    first, second = both.chunks.get("1"), both.chunks.get("v2:1")
    assert first is not None
    assert second is not None
    assert (first.text, second.text) == ("A refund takes", "A refund takes three days.")
    before, after = both.texts.neighbours("v2:1")
    assert (before, after and after.chunk_id) == (None, "v2:2")
    assert both.texts.neighbours("2")[1] == V1[2]


def test_the_pool_of_a_query_has_the_chunks_of_every_chunking(both: Store):
    pool, _ = both.assignment.pool(2)
    names = {both.collection.read().chunk_ids[chunk] for chunk in pool["q1"]}
    assert names == {"3", "1", "v2:1", "v2:2"}


@IN_BOTH
def test_chunkings_are_listed_with_what_there_is_of_each(both: Store):
    rows = [(k.name, k.chunks, k.placed, k.runs, k.golden) for k in both.chunkings.all()]
    assert rows == [("", 3, 0, 1, 4), ("v2", 2, 2, 1, 1)]


# In and out ------------------------------------------------------------------------------------


def test_jsonl_names_the_chunking_and_keeps_it_in_another_file(both: Store, tmp_path: Path):
    before = import_export.export(both, "jsonl")
    [first, _] = [json.loads(line) for line in before.splitlines()]
    assert first["judgments"][-1] == {
        "chunk_id": "v2:1",
        "grade": 1,
        "graders": [],
        "note": None,
        "chunking": "v2",
    }
    assert "chunking" not in first["judgments"][0]
    (tmp_path / "golden.jsonl").write_bytes(before)
    with Store(tmp_path / "other.db", create=True) as other:
        import_export.read("golden", tmp_path / "golden.jsonl", import_export.LoadOptions())(other)
        assert import_export.export(other, "jsonl") == before
        assert other.collection.golden_state().hash == both.collection.golden_state().hash
        assert other.chunkings.names() == ["", "v2"]


def test_a_complete_file_keeps_chunkings_places_and_documents(both: Store, tmp_path: Path, loaded):
    both.documents.load(loaded([Document("d", TEXT)]))
    before = import_export.export(both, "complete")
    (tmp_path / "whole.jsonl").write_bytes(before)
    with Store(tmp_path / "other.db", create=True) as other:
        import_export.read("complete", tmp_path / "whole.jsonl", import_export.LoadOptions())(other)
        assert import_export.export(other, "complete") == before
        assert other.documents.text("d") == TEXT
        assert [(k.name, k.chunks, k.placed) for k in other.chunkings.all()] == [
            ("", 3, 0),
            ("v2", 2, 2),
        ]


def test_qrels_and_runs_name_the_chunking_in_every_id(both: Store):
    qrels = import_export.export(both, "qrels").decode().splitlines()
    assert qrels == ["q1 0 1 3", "q1 0 2 2", "q1 0 3 0", "q1 0 v2:1 1", "q2 0 3 1"]
    assert [ranking.chunk_ids for ranking in both.runs.lists("new")] == [
        ("v2:1", "v2:2"),
        ("v2:1",),
    ]


def test_grades_may_come_before_the_texts_of_their_chunking(store: Store, loaded, golden):
    store.queries.load(loaded(QUERIES))
    store.golden_loads.add(golden([GoldenGrade("q1", "v2:1", 3)]))
    assert store.chunkings.names() == [""]
    store.chunks.load(loaded(V2), chunking="v2")
    store.runs.load(loaded([Ranking("q1", ("1",))]), name="new")
    assert store.chunkings.of_runs() == {"new": "v2"}
    assert values(store, "new")[3][0] == 1.0


# Documents -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunk", "said"),
    [
        (Chunk("9", "x", document_id="d", start=50, end=99), "its document has 53 characters"),
        (Chunk("9", "x", document_id="d", start=0, end=1), "its document has another text"),
    ],
)
def test_a_chunk_must_stand_where_it_says(both: Store, loaded, chunk: Chunk, said: str):
    both.documents.load(loaded([Document("d", TEXT)]))
    with pytest.raises(BadInput, match=said):
        both.chunks.load(loaded([chunk]), chunking="v3")
    assert both.chunkings.names() == ["", "v2"], "nothing is half-written"


@IN_BOTH
def test_a_document_must_hold_its_chunks_where_they_say(both: Store, loaded):
    with pytest.raises(BadInput, match=r"chunk 'v2:1' has start 0 and end 26"):
        both.documents.load(loaded([Document("d", TEXT.upper())]))
    assert both.documents.text("d") is None


@pytest.mark.parametrize("place", [(3, None), (None, 3), (5, 2), (-1, 2)])
def test_a_place_has_a_start_and_an_end_after_it(place: tuple[int | None, int | None]):
    with pytest.raises(BadInput, match="chunk 'c' has"):
        Chunk("c", "text", document_id="d", start=place[0], end=place[1])


def test_a_document_comes_once_and_another_text_of_it_is_refused(both: Store, loaded):
    both.documents.load(loaded([Document("d", TEXT)]))
    assert not both.documents.load(loaded([Document("d", TEXT)])).changed
    with pytest.raises(BadInput, match="already in the golden set with another text"):
        both.documents.load(loaded([Document("d", TEXT + " More.")]))
    both.documents.load(loaded([Document("d", TEXT + " More.")]), update=True)
    assert both.documents.text("d") == TEXT + " More."


def test_chunks_of_a_document_that_is_not_loaded_are_told(both: Store, loaded):
    other = Chunk("9", "elsewhere", document_id="e")
    [*none] = both.chunks.load(loaded([other]), chunking="v3").warnings
    assert none == [], "nothing is missed where no document is loaded"
    both.documents.load(loaded([Document("d", TEXT)]))
    [said] = both.chunks.load(loaded([*V2, other]), chunking="v4").warnings
    assert said.startswith("1 of 2 documents that these chunks name are not loaded (one is 'e'")
    assert both.chunks.load(loaded(V2), chunking="v5").warnings == ()


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"docs.jsonl": '{"document_id": "d", "text": "x"}\n{"document_id": "d", "text": "y"}'},
            "docs.jsonl:2: document id 'd' is already on line 1",
        ),
        (
            {"docs/d.md": "x", "docs/deep/d.txt": "y"},
            "docs: 'd.md' and 'deep/d.txt' would both be the document 'd' that chunks name; keep",
        ),
        ({"docs.jsonl": '{"document_id": "d", "text": "another text"}'}, "has start 0 and end 26"),
        ({"docs.jsonl": '{"text": "of which?"}'}, "docs.jsonl:1: "),
    ],
)
def test_documents_that_cannot_be_are_refused_with_the_place_and_change_nothing(
    both: Store, tmp_path: Path, files: dict[str, str], said: str
):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    top = tmp_path / next(iter(files)).partition("/")[0]
    before = import_export.export(both, "complete")
    with pytest.raises(BadInput) as refused:
        import_export.read("documents", top, import_export.LoadOptions())(both)
    assert said in str(refused.value)
    assert str(refused.value).startswith(str(top))
    assert import_export.export(both, "complete") == before


def test_documents_that_no_chunk_was_cut_from_are_told(both: Store, loaded):
    report = both.documents.load(loaded([Document("D", TEXT)]))
    assert "no chunk was cut from any of these documents" in report.warnings[0]
    assert report.facts["documents of chunks that are not among them"] == 1


# The command line ------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a labeler command where files of two chunkings lie."""
    monkeypatch.chdir(tmp_path)
    files = {
        "queries.jsonl": "".join(
            json.dumps({"query_id": q.query_id, "query": q.text}) + "\n" for q in QUERIES
        ),
        "v1.jsonl": '{"chunk_id": "1", "text": "a"}\n{"chunk_id": "2", "text": "b"}\n',
        "v2.jsonl": '{"chunk_id": "1", "text": "A refund", "document_id": "d", "start": 0, '
        '"end": 8}\n',
        "a.trec": "q1 Q0 2 1 9 a\nq1 Q0 1 2 8 a\n",
        "b.trec": "q1 Q0 1 1 9 b\n",
        "one.qrels": "q1 0 1 3\nq1 0 2 0\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "docs" / "deep" / "d.md").write_text("A refund takes three days.")

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments, prog_name="labeler")

    for command in (
        "load queries queries.jsonl",
        "load chunks v1.jsonl",
        "load run a.trec",
        "load golden one.qrels",
        "load chunks v2.jsonl --chunking v2",
        "load documents docs",
        "load run b.trec --chunking v2",
    ):
        result = invoke(*command.split())
        assert result.exit_code == 0, result.output
    return invoke


def test_score_shows_each_chunking_by_itself_and_compare_says_what_it_rests_on(run):
    text = run("score", "--measures", "RR").stdout
    assert text.index("the default chunking") < text.index("chunking v2 ·")
    rows = json.loads(run("score", "--measures", "RR", "--format", "json").stdout)
    assert [(row["run"], row["value"]) for row in rows] == [("a", 0.5), ("b", None)]
    run("load", "golden", "one.qrels", "--chunking", "v2")
    text = run("compare", "a", "b", "--measures", "RR").stdout
    assert "measures of chunks rest on the grades of each" in text
    table = run("score", "--measures", "RR", "--format", "csv", "--chunking", "v2").stdout
    assert [line.split(",")[0] for line in table.splitlines()] == ["run", "b"]


@pytest.mark.parametrize("more", [[], ["--per-query"]])
def test_one_table_of_all_chunkings_has_each_number_under_its_name(run, more: list[str]):
    """Only one of the chunkings has a residual."""
    asked = ["score", "--measures", "RBP(p=0.8) EvidenceR@5 RR", *more]
    table = list(csv.DictReader(io.StringIO(run(*asked, "--format", "csv").stdout)))
    rows = json.loads(run(*asked, "--format", "json").stdout)
    assert len(table) == len(rows) > 2
    for line, row in zip(table, rows, strict=True):
        assert None not in line, "no cell is without a heading"
        for name in (
            "run",
            "measure",
            "value",
            "unjudged",
            "residual",
            "possible_low",
            "possible_exact",
        ):
            assert line.get(name, "") == ("" if row.get(name) is None else str(row[name])), name


def test_a_chunking_that_is_not_there_is_refused_with_those_that_are(run):
    result = run("load", "run", "b.trec", "--name", "c", "--chunking", "v3")
    assert result.exit_code == 1
    assert "there is no chunking 'v3'; there are: '', 'v2'" in result.stderr
    result = run("score", "--chunking", "v3")
    assert "no chunking is called 'v3'" in result.stderr
    assert "default" in run("runs").stdout


def test_a_document_in_a_folder_is_known_by_the_name_that_chunks_have_for_it(run, tmp_path: Path):
    with Store(tmp_path / "golden.db") as store:
        assert store.documents.text("d") == "A refund takes three days."


def test_start_and_end_that_are_no_offsets_stay_metadata(run, tmp_path: Path):
    path = tmp_path / "seconds.jsonl"
    path.write_text(
        '{"chunk_id": "s1", "text": "t", "document_id": "film", "start": 1.5, "end": 3.25}\n'
        '{"chunk_id": "s2", "text": "t", "start": 1, "end": 3}\n'
    )
    result = run("load", "chunks", str(path))
    assert result.exit_code == 0
    assert (
        "! 1 chunk has a start and an end and no document_id (line 2): they stay" in result.output
    )
    with Store(tmp_path / "golden.db") as store:
        for name in ("s1", "s2"):
            chunk = store.chunks.get(name)
            assert chunk is not None
            assert chunk.start is None
            assert set(chunk.metadata) == {"start", "end"}


def test_what_stands_in_for_undefined_does_so_across_chunkings(both: Store):
    selected = Selection(chunkings=("", "v2"))
    board = Scoreboard(both.collection.read(), Conventions.of("trec_eval", selected=selected))
    found = board.table(board.conventions.measures("R@5 nDCG@10"))
    assert [row.n for row in found] == [1, 1, 1, 1]
