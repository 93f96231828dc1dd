"""One file of each kind that was once read wrongly, from the command line to a number.

Values are those of pytrec_eval where a measure comes out.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.model import Chunk
from labeler.store import Store

Labeler = Callable[..., Result]
QUERIES = {"k1": "when do you open?", "k2": "where do I park?"}
GRADES = {"k1": {"a": 3, "b": 0}, "k2": {"c": 2, "d": 0}}
# The relevant chunk comes second in each list, with the higher score.
ROWS = [("k1", "b", 1.25), ("k1", "a", 9.5), ("k2", "d", 0.5), ("k2", "c", 7.75)]


@pytest.fixture
def labeler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labeler:
    """Run a command in a folder with the files of two queries and their grades."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    Path("q.tsv").write_text(as_table(("query_id", "query"), QUERIES.items(), "\t"))
    Path("g.qrels").write_text(
        "".join(
            f"{query} 0 {chunk} {grade}\n"
            for query, of in GRADES.items()
            for chunk, grade in of.items()
        )
    )

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, words, prog_name="labeler")

    return invoke


def as_table(names: Sequence[str], rows: Any, separator: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows([names, *rows])
    return text.getvalue()


def as_lines(names: Sequence[str], rows: Any) -> str:
    return "".join(f"{json.dumps(dict(zip(names, row, strict=True)))}\n" for row in rows)


def put(name: str, names: Sequence[str], rows: Any) -> str:
    """Write rows in the form that a file's name says."""
    plain = name.removesuffix(".gz")
    if plain.endswith(".jsonl"):
        text = as_lines(names, rows)
    elif plain.endswith(".json"):
        text = json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=1)
    else:
        text = as_table(names, rows, "\t" if plain.endswith(".tsv") else ",")
    pack = gzip.compress if name.endswith(".gz") else bytes
    Path(name).write_bytes(pack(text.encode()))
    return name


def nested(key: str, entries: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    return "".join(f"{json.dumps({'query_id': query, key: of})}\n" for query, of in entries.items())


def fill(labeler: Labeler) -> None:
    assert labeler("load", "files", "q.tsv", "g.qrels").exit_code == 0


def rr_of(labeler: Labeler) -> dict[str, float]:
    """Return the reciprocal rank of each run, from the golden set."""
    shown = labeler("score", "--measures", "RR", "--format", "csv").output
    return {row["run"]: float(row["value"]) for row in csv.DictReader(io.StringIO(shown))}


def peers_rr(run: Mapping[str, Mapping[str, float]]) -> float:
    """Return the mean reciprocal rank of a run by pytrec_eval."""
    values = pytrec_eval.RelevanceEvaluator(GRADES, {"recip_rank"}).evaluate(
        {query: dict(of) for query, of in run.items()}
    )
    return sum(of["recip_rank"] for of in values.values()) / len(GRADES)


SCORED = {query: {c: s for q, c, s in ROWS if q == query} for query in GRADES}
MINUS = {query: {chunk: -score for chunk, score in of.items()} for query, of in SCORED.items()}


@pytest.mark.parametrize("kind", ["run", "files"])
@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("run.csv", ("query_id", "chunk_id", "_score")),
        ("run.jsonl", ("qid", "docno", "similarity")),
        ("run.tsv", ("Query ID", "doc", "Relevance Score")),
        ("run.json", ("q_id", "doc_id", "rrf_score")),
        ("run.csv.gz", ("query", "passage_id", "scores")),
    ],
)
def test_scores_of_another_name_order_a_run(
    labeler: Labeler, name: str, columns: tuple[str, ...], kind: str
):
    fill(labeler)
    done = labeler("load", kind, put(name, columns, ROWS))
    assert done.exit_code == 0, done.output
    assert rr_of(labeler) == {"run": peers_rr(SCORED)} == {"run": 1.0}
    shown = labeler("evaluate", "g.qrels", name, "--measures", "RR", "--format", "csv").output
    assert float(next(csv.DictReader(io.StringIO(shown)))["value"]) == peers_rr(SCORED)


@pytest.mark.parametrize("key", ["_score", "score", "relevance_score"])
@pytest.mark.parametrize("of", ["results", "chunks"])
def test_scores_of_another_name_order_lists_in_a_record(labeler: Labeler, key: str, of: str):
    fill(labeler)
    lists = {q: [{"id": c, key: s} for c, s in each.items()] for q, each in SCORED.items()}
    Path("run.jsonl").write_text(nested(of, lists))
    done = labeler("load", "files", "run.jsonl")
    assert done.exit_code == 0, done.output
    assert rr_of(labeler) == {"run": 1.0}


@pytest.mark.parametrize("name", ["run.csv", "run.jsonl", "run.tsv.gz"])
@pytest.mark.parametrize("column", ["weight", "cosine_value"])
def test_a_run_whose_order_nothing_tells_says_that_the_order_of_the_file_counts(
    labeler: Labeler, name: str, column: str
):
    fill(labeler)
    done = labeler("load", "run", put(name, ("query_id", "chunk_id", column), ROWS))
    assert "! neither a score nor a rank is named, so the order of the file counts" in done.output
    assert f" {column}\n" in done.output, "the column that was left"
    assert rr_of(labeler) == {"run": 0.5}
    shown = labeler("evaluate", "g.qrels", name)
    assert "the order of the file counts" in shown.output
    told = labeler("load", "run", name, "--order", "file", "--name", "asked")
    assert "!  neither" not in told.output


@pytest.mark.parametrize("name", ["run.csv", "run.jsonl", "run.tsv"])
def test_distances_named_so_are_smallest_first_and_scores_that_rise_are_asked_about(
    labeler: Labeler, name: str
):
    fill(labeler)
    done = labeler("load", "run", put(name, ("query_id", "chunk_id", "distance"), ROWS))
    assert "! the smallest distance is best" in done.output
    assert rr_of(labeler) == {"run": peers_rr(MINUS)} == {"run": 0.5}
    rising = [(q, c, at / 8) for q in GRADES for at, c in enumerate([*GRADES[q], "x", "y"])]
    scores = {q: {c: s for of, c, s in rising if of == q} for q in GRADES}
    asked = labeler("load", "run", put(f"up-{name}", ("query_id", "chunk_id", "score"), rising))
    assert (
        "! the scores never fall from line to line in any list (6 times they rise)" in asked.output
    )
    by_file = labeler("load", "run", f"up-{name}", "--order", "file", "--name", "by file")
    assert "are they distances" not in by_file.output
    values = rr_of(labeler)
    assert values["by file"] == 1.0
    assert values["up-run"] == peers_rr(scores) == 0.25


@pytest.mark.parametrize("name", ["runs.csv", "runs.jsonl", "runs.json", "runs.tsv.gz"])
@pytest.mark.parametrize("column", ["system", "Run"])
def test_systems_of_one_table_are_a_run_each(labeler: Labeler, name: str, column: str):
    fill(labeler)
    rows = [(*row, "low") for row in ROWS[:2]] + [(q, c, -s, "high") for q, c, s in ROWS[:2]]
    done = labeler("load", "files", put(name, ("query_id", "chunk_id", "score", column), rows))
    assert done.exit_code == 0, done.output
    by_system = {"low": {"k1": SCORED["k1"]}, "high": {"k1": MINUS["k1"]}}
    assert rr_of(labeler) == {name: peers_rr(run) for name, run in by_system.items()}
    shown = labeler("evaluate", "g.qrels", name, "--measures", "RR", "--format", "csv").output
    values = {row["run"]: float(row["value"]) for row in csv.DictReader(io.StringIO(shown))}
    assert values == {"low": 0.5, "high": 0.25}


TEXTS = [("a", "We open at nine."), ("b", "There is no fee.")]


@pytest.mark.parametrize("kind", ["chunks", "files"])
@pytest.mark.parametrize("name", ["c.csv", "c.jsonl", "c.json", "c.tsv.gz"])
@pytest.mark.parametrize("column", ["content", "page_content", "body", "passage"])
def test_texts_of_another_name_are_texts(labeler: Labeler, kind: str, name: str, column: str):
    done = labeler("load", kind, put(name, ("chunk_id", column), TEXTS))
    assert done.exit_code == 0, done.output
    with Store("golden.db") as store:
        assert [store.chunks.get(chunk) for chunk, _ in TEXTS] == [
            Chunk(chunk, text=text) for chunk, text in TEXTS
        ]


@pytest.mark.parametrize("name", ["c.csv", "c.jsonl", "c.json"])
@pytest.mark.parametrize("column", ["raw", "html", ""])
def test_no_update_replaces_a_text_by_nothing(labeler: Labeler, name: str, column: str):
    assert labeler("load", "chunks", put("first.csv", ("chunk_id", "text"), TEXTS)).exit_code == 0
    columns = ("chunk_id", column or "text")
    rows = [(chunk, "x" if column else "") for chunk, _ in TEXTS]
    done = labeler("load", "chunks", put(name, columns, rows), "--update")
    assert done.exit_code == 0, done.output
    assert "no text here, the text already there kept" in done.output
    with Store("golden.db") as store:
        assert store.chunks.get("a").text == TEXTS[0][1]
    assert not column or f"kept as metadata are {column}" in done.output


BLANKS = [("empty", ""), ("spaces", " \t\n"), ("invisible", "\u00a0\u200b\u2060")]


@pytest.mark.parametrize("name", ["c.csv", "c.jsonl", "c.json", "beir"])
def test_no_grader_is_asked_about_a_chunk_of_blanks(labeler: Labeler, name: str):
    texts = [*BLANKS, ("a", "We open at nine.")]
    if name == "beir":
        Path("beir").mkdir()
        Path("beir/corpus.jsonl").write_text(as_lines(("_id", "text"), texts))
        Path("beir/queries.jsonl").write_text(as_lines(("_id", "text"), QUERIES.items()))
        done = labeler("load", "beir", "beir")
    else:
        done = labeler("load", "files", "q.tsv", put(name, ("chunk_id", "text"), texts))
    assert done.exit_code == 0, done.output
    assert ["without", "text", "3"] in [line.split() for line in done.output.splitlines()]
    Path("r.trec").write_text(
        "".join(f"k1 Q0 {c} {at} {9 - at} r\n" for at, (c, _) in enumerate(texts))
    )
    loaded = labeler("load", "run", "r.trec")
    assert ["chunks", "known", "by", "id", "only", "3"] in map(
        str.split, loaded.output.splitlines()
    )


FRAMES = {
    "columns": {
        "query_id": {"0": 1, "1": 1},
        "doc_id": {"0": 7, "1": 8},
        "score": {"0": 1, "1": 2},
    },
    "lists": {"question": ["a?", "b?"], "answer": ["yes", "no"]},
    "split": {"columns": ["query_id", "doc_id"], "index": [0], "data": [["k1", "a"]]},
}


@pytest.mark.parametrize("kind", ["files", "run", "golden", "queries"])
@pytest.mark.parametrize("form", FRAMES)
def test_a_table_column_by_column_is_refused_with_the_remedy(
    labeler: Labeler, form: str, kind: str
):
    Path("frame.json").write_text(json.dumps(FRAMES[form]))
    refused = labeler("load", kind, "frame.json")
    assert refused.exit_code == 1
    assert "a table column by column" in refused.output
    assert 'df.to_json(path, orient="records", lines=True)' in refused.output
    assert not Path("golden.db").exists()


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("t.csv", ("qid", "what", "label")),
        ("t.tsv", ("query", "expected_ids", "retrieved_ids")),
        ("t.csv.gz", ("query_id", "expected", "rating")),
    ],
)
@pytest.mark.parametrize("kind", ["golden", "run", "files"])
def test_a_header_of_unknown_names_is_named(
    labeler: Labeler, name: str, columns: tuple[str, ...], kind: str
):
    refused = labeler("load", kind, put(name, columns, [("k1", "x", "1")]))
    assert refused.exit_code == 1
    assert all(column in refused.output for column in columns), refused.output
    assert "TREC" not in refused.output


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("chunks", ["a\tWe open at nine, on weekdays.", "b\tThere is no fee."]),
        ("queries", ["k1\twhen do you open, please?", "k2\twhere do I park?"]),
        ("golden", ["k1\ta\t3", "k1\tb\t0"]),
    ],
)
def test_the_header_that_a_refusal_names_makes_the_file_load(
    labeler: Labeler, kind: str, rows: list[str]
):
    if kind == "golden":
        assert labeler("load", "queries", "q.tsv").exit_code == 0
    Path("t.tsv").write_text("\n".join(rows) + "\n")
    refused = labeler("load", kind, "t.tsv")
    assert refused.exit_code == 1
    proposed = refused.output.partition("such as ")[2].split(" above")[0].strip()
    header = proposed.replace("<TAB>", "\t").replace(",", "\t")
    Path("t.tsv").write_text("\n".join([header, *rows]) + "\n")
    done = labeler("load", kind, "t.tsv")
    assert done.exit_code == 0, (refused.output, done.output)


JOINED = ("query_id", "query", "doc_id", "grade")
PAIRS = [(q, QUERIES[q], chunk, grade) for q, of in GRADES.items() for chunk, grade in of.items()]


@pytest.mark.parametrize("name", ["l.tsv", "l.csv.gz", "l.jsonl", "l.json"])
@pytest.mark.parametrize("kind", ["golden", "files"])
def test_rows_with_the_id_and_the_text_of_their_query_bring_it(
    labeler: Labeler, name: str, kind: str
):
    done = labeler("load", kind, put(name, JOINED, PAIRS))
    assert done.exit_code == 0, done.output
    with Store("golden.db") as store:
        assert store.queries.texts() == QUERIES
        found = {(each.query_id, each.chunk_id): each.grade for each in store.golden_set.read()[1]}
    assert found == {(q, chunk): grade for q, of in GRADES.items() for chunk, grade in of.items()}
    two = [*PAIRS, ("k1", "another text?", "z", 1)]
    refused = labeler("load", "golden", put(name, JOINED, two))
    assert refused.exit_code == 1
    assert "k1" in refused.output


@pytest.mark.parametrize("name", ["g.csv", "g.jsonl", "g.tsv.gz"])
@pytest.mark.parametrize("column", ["grader", "judge", "annotator"])
def test_each_judge_of_a_long_table_has_grades_of_their_own(
    labeler: Labeler, name: str, column: str
):
    assert labeler("load", "queries", "q.tsv").exit_code == 0
    rows = [
        ("k1", "a", 3, "ann"),
        ("k1", "a", 1, "bo"),
        ("k1", "b", 0, "ann"),
        ("k1", "b", 0, "bo"),
    ]
    done = labeler(
        "load", "golden", put(name, ("query_id", "doc_id", "rating", column), rows), "--blind"
    )
    assert done.exit_code == 0, done.output
    with Store("golden.db") as store:
        given = [(e.query_id, e.chunk_id, e.grade, e.grader) for e in store.judgments.log()]
    assert sorted(given) == sorted(rows)
    assert "alpha" in labeler("agreement").output


@pytest.mark.parametrize("name", ["later.qrels", "later.csv", "later.json"])
def test_a_later_file_changes_no_grade_unasked(labeler: Labeler, name: str):
    fill(labeler)
    later = {"later.qrels": "k1 0 a 1\n", "later.csv": "query,docid,rating\nk1,a,1\n"}
    Path(name).write_text(later.get(name, '{"k1": {"a": 1}}'))
    refused = labeler("load", "golden", name)
    assert (
        "1 of 1 grades differ from those loaded before (chunk 'a' of query 'k1' has 3, and 1"
        in (refused.output)
    )
    done = labeler("load", "golden", name, "--update")
    assert ["changed", "1"] in map(str.split, done.output.splitlines())


@pytest.mark.parametrize("name", ["r.trec", "r.csv", "r.json"])
def test_scores_that_are_the_same_in_32_bits_only_are_no_ties_of_the_usual_preset(
    labeler: Labeler, name: str
):
    fill(labeler)
    high, low = 3000000.02, 3000000.01
    run = {"k1": {"b": low, "a": high}, "k2": {"d": low, "c": high}}
    rows = [(q, c, s) for q, of in run.items() for c, s in of.items()]
    Path("r.trec").write_text("".join(f"{q} Q0 {c} 1 {s} r\n" for q, c, s in rows))
    Path("r.json").write_text(json.dumps(run))
    put("r.csv", ("query_id", "chunk_id", "score"), rows)
    done = labeler("load", "run", name)
    said = "queries with tied scores           0, under the preset trec_eval 2"
    assert said in done.output
    assert "tied" not in labeler("score", "--measures", "RR").output
    shown = labeler("score", "--preset", "trec_eval", "--explain").output
    assert "2 queries with tied scores" in shown
    assert rr_of(labeler) == {"r": 1.0}


@pytest.mark.parametrize("name", ["qa.csv", "qa.jsonl", "qa.json", "qa.tsv.gz"])
@pytest.mark.parametrize("kind", ["queries", "files"])
@pytest.mark.parametrize("column", ["question", "query", "user_input"])
def test_questions_without_ids_have_the_same_id_in_every_way_in(
    labeler: Labeler, name: str, kind: str, column: str
):
    rows = [(text, "yes") for text in QUERIES.values()]
    done = labeler("load", kind, put(name, (column, "answer"), rows))
    assert done.exit_code == 0, done.output
    again = labeler("load", "queries", put("other.csv", ("question", "answer"), rows))
    assert ["already", "there", "2"] in map(str.split, again.output.splitlines())
    with Store("golden.db") as store:
        assert sorted(store.queries.texts().values()) == sorted(QUERIES.values())


LIKE = {
    "another form": ("caf\u00e9 menu", "cafe\u0301 menu"),
    "a blank that does not break": ("star wars", "star\u00a0wars"),
    "two blanks": ("star wars", "star  wars"),
}


@pytest.mark.parametrize("what", LIKE)
@pytest.mark.parametrize("form", ["opensearch", "quepid", "jsonl"])
def test_a_query_text_that_looks_the_same_is_the_same_and_it_is_said(
    labeler: Labeler, what: str, form: str
):
    known, given = LIKE[what]
    assert (
        labeler(
            "load", "queries", put("known.jsonl", ("query_id", "query"), [("k1", known)])
        ).exit_code
        == 0
    )
    ratings = [{"query": given, "ratings": [{"docId": "a", "rating": "2"}]}]
    judgments = {"name": "x", "type": "IMPORT_JUDGMENT", "judgmentRatings": ratings}
    Path("j.json").write_text(json.dumps(judgments))
    put("j.csv", ("query", "docid", "rating"), [(given, "a", 2)])
    put("j.jsonl", ("question", "relevant_ids"), [(given, ["a"])])
    name = {"opensearch": "j.json", "quepid": "j.csv", "jsonl": "j.jsonl"}[form]
    done = labeler("load", "golden", name)
    assert done.exit_code == 0, done.output
    assert "other blanks or another Unicode form" in done.output
    with Store("golden.db") as store:
        assert [each.query_id for each in store.golden_set.read()[1]] == ["k1"]
        assert store.queries.texts() == {"k1": known}


@pytest.mark.parametrize("first", ["sep=,\n", '"sep=,"\r\n', "\ufeffSEP=,\n"])
@pytest.mark.parametrize("kind", ["queries", "files"])
def test_the_line_by_which_excel_names_the_separator_is_passed_over(
    labeler: Labeler, first: str, kind: str
):
    Path("q.csv").write_text(f"{first}query_id,query\nk1,when?\nk2\n")
    assert "q.csv:4: 1 column where the header has 2" in labeler("load", kind, "q.csv").output
    Path("q.csv").write_text(f"{first}query_id,query\nk1,when?\n")
    done = labeler("load", kind, "q.csv")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('[{"text": "opening hours"}]', "each record has a text, but no id"),
        ('[{"colour": "red"}]', "its keys ('colour') do not say what the file holds"),
    ],
)
def test_a_refusal_is_plain_english(labeler: Labeler, content: str, said: str):
    Path("x.json").write_text(content)
    assert said in labeler("load", "files", "x.json").output


def test_one_of_each_is_counted_in_the_singular(labeler: Labeler):
    Path("one.qrels").write_text("k1 0 a 3\n")
    assert labeler("load", "files", "q.tsv", "one.qrels").exit_code == 0
    exported = labeler("export", "one.csv", "--format", "csv")
    assert exported.output.startswith("one.csv: 1 query, 1 golden grade\n")


BLANK_RESULTS = {
    "texts.jsonl": '{"query": "when?", "contexts": [" ", "We open at nine.", "\\u200b"]}\n',
    "samples.jsonl": '{"user_input": "when?", "retrieved_contexts": ["\\t", "We open at nine."]}\n',
    "objects.json": json.dumps(
        [{"query": "when?", "results": [{"id": "e", "text": "\u200b"}, {"id": "a", "text": "We."}]}]
    ),
}


@pytest.mark.parametrize("name", BLANK_RESULTS)
def test_results_of_blanks_keep_their_place_and_have_no_text(labeler: Labeler, name: str):
    Path(name).write_text(BLANK_RESULTS[name])
    done = labeler("load", name)
    assert done.exit_code == 0, done.output
    with Store("golden.db") as store:
        (ranked,) = store.runs.lists(name.partition(".")[0])
        first, second, *rest = (store.chunks.get(each) for each in ranked.chunk_ids)
    assert first.text is None
    assert second.text in ("We open at nine.", "We.")
    assert [each.text for each in rest] == [None] * len(rest)
    assert ["without", "text", str(1 + len(rest))] in map(str.split, done.output.splitlines())


def test_a_question_id_names_the_query_in_every_file(labeler: Labeler):
    Path("found.csv").write_text(
        "question_id,question,doc_id,rank,score,text\nk1,where?,a,1,3.5,here\nk2,who?,b,1,1.5,me\n"
    )
    Path("labels.csv").write_text("question_id,doc_id,relevance\nk1,a,2\nk2,b,0\n")
    Path("more.csv").write_text("questionId,question\nk3,why?\n")
    for name in ("found.csv", "labels.csv", "more.csv"):
        done = labeler("load", name)
        assert done.exit_code == 0, done.output
    with Store("golden.db") as store:
        assert [query.query_id for query in store.queries.all()] == ["k1", "k2", "k3"]
        assert store.golden_set.contents().golden == 2
