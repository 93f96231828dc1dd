"""Files of other tools that are one JSON object: datasets, query sets, ratings by query group."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.errors import BadInput
from labeler.formats import guess, query_id_from_text, read_golden, read_queries
from labeler.model import Chunk, Query
from labeler.store import Store

QUERIES = {"k1": "when is the shop open?", "k2": "where do I park?"}
CORPUS = {"p1": "Open from nine to five.", "p2": "Park behind the house."}
DATASETS = {
    "lists": {
        "queries": QUERIES,
        "corpus": CORPUS,
        "relevant_docs": {"k1": ["p1"]},
        "mode": "text",
    },
    "grades": {"queries": QUERIES, "corpus": CORPUS, "qrels": {"k1": {"p1": 1}}},
    "records": {
        "corpus": [{"id": key, "text": text} for key, text in CORPUS.items()],
        "test_queries": [
            {"query_id": "k1", "query": QUERIES["k1"], "relevant_ids": ["p1"]},
            {"query_id": "k2", "query": QUERIES["k2"], "relevant_ids": []},
        ],
    },
}


def put(folder: Path, value: object, *, indent: int | None = None) -> Path:
    path = folder / "file.json"
    path.write_text(json.dumps(value, indent=indent, ensure_ascii=False))
    return path


@pytest.mark.parametrize("indent", [None, 1], ids=["one line", "many lines"])
@pytest.mark.parametrize("value", DATASETS.values(), ids=DATASETS.keys())
def test_a_dataset_brings_queries_texts_and_grades(value, indent, tmp_path):
    path = put(tmp_path, value, indent=indent)
    run = CliRunner()
    done = run.invoke(main, ["load", "files", str(path), "--db", str(tmp_path / "g.db")])
    assert done.exit_code == 0, done.output
    with Store(tmp_path / "g.db") as store:
        assert store.queries.texts() == QUERIES
        assert store.chunks.get("p2") == Chunk("p2", text=CORPUS["p2"])
        assert [(g.query_id, g.chunk_id, g.grade) for g in store.golden_set.read()[1]] == [
            ("k1", "p1", 1)
        ]


def test_a_dataset_whose_beginning_is_all_queries_is_known(tmp_path):
    many = {f"k{number}": "how long does a parcel take?" for number in range(20_000)}
    assert guess(put(tmp_path, {"queries": many, "relevant_docs": {}})).kind == "golden"


def test_a_dataset_of_which_one_chunk_has_two_texts_is_refused(tmp_path):
    corpus = [{"id": "p1", "text": "Open."}, {"id": "p1", "text": "Shut."}]
    with pytest.raises(BadInput, match="chunk 'p1' is twice in it, with other content"):
        read_golden(put(tmp_path, {"corpus": corpus, "eval_set": []}))


def test_topics_of_a_record_are_no_ratings(tmp_path):
    record = {"query_id": "k1", "query": "when?", "topics": ["hours"], "eval_set": ["a"]}
    assert [each.query_id for each in read_queries(put(tmp_path, record)).records] == ["k1"]


ASKED = [{"queryText": "when is the shop open?"}, {"queryText": "where do I park?"}]
SETS = {
    "a set": {"name": "Hours", "sampling": "manual", "querySetQueries": ASKED},
    "of texts": {"querySetQueries": [each["queryText"] for each in ASKED]},
    "found": {"hits": {"hits": [{"_id": "1", "_source": {"querySetQueries": ASKED}}]}},
}


@pytest.mark.parametrize("value", SETS.values(), ids=SETS.keys())
def test_a_query_set_of_opensearch_is_queries_named_by_their_text(value, tmp_path):
    path = put(tmp_path, value)
    texts = [each["queryText"] for each in ASKED]
    expected = [Query(query_id_from_text(text), text) for text in texts]
    assert list(read_queries(path).records) == expected
    assert guess(path).kind == "queries"
    with pytest.raises(BadInput, match="an OpenSearch query set, without grades"):
        read_golden(path)


PLACED = {"placeholders": {"$query": "when is the shop open?"}}
RATINGS = {
    "flat": {"queries": [{**PLACED, "relevant_documents": {"1": ["p2"], "3": ["p1"]}}]},
    "groups": {
        "query_groups": [{"queries": [PLACED], "relevant_documents": {"1": ["p2"], "3": ["p1"]}}]
    },
    "gains": {
        "index": "shop",
        "topics": [
            {
                "description": "hours",
                "query_groups": [
                    {
                        "name": "open",
                        "queries": [{"template": "t.json", **PLACED}],
                        "relevant_documents": {"p2": {"gain": 1}, "p1": {"gain": 3}},
                    }
                ],
            }
        ],
    },
}


@pytest.mark.parametrize("value", RATINGS.values(), ids=RATINGS.keys())
def test_ratings_of_the_rated_ranking_evaluator_are_grades(value, tmp_path):
    path = put(tmp_path, value, indent=2)
    loaded = read_golden(path)
    assert [(each.chunk_id, each.grade) for each in loaded.grades.records] == [("p2", 1), ("p1", 3)]
    assert [each.text for each in loaded.asked.records] == ["when is the shop open?"]
    assert guess(path).kind == "golden"


def test_a_gain_that_is_nowhere_is_refused_with_its_line(tmp_path):
    wrong = {"queries": [{**PLACED, "relevant_documents": {"p1": 3}}]}
    with pytest.raises(BadInput, match=r"file.json:1: relevant_documents is .* not 3"):
        read_golden(put(tmp_path, wrong))
