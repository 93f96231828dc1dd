"""Logs that Spark holds: the bits of one process, whatever the partitions; run on Sail, by pip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from pysail.spark import SparkConnectServer
from pyspark.sql import DataFrame, SparkSession

import labeler
from labeler import spark
from labeler.errors import BadInput

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
MEASURES = "nDCG@10 R@prompt RR AP Judged@10 RBP(p=0.8) RBP(p=0.5)@5 NumRel MRR"


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """A Spark session on Sail: one process, no Java."""
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    _, port = server.listening_address
    made = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    yield made
    made.stop()
    server.stop()


Log = tuple[pd.DataFrame, dict[str, pd.DataFrame]]


@pytest.fixture(scope="module")
def log() -> Log:
    """Thirty queries; ties, unknown and absent ones, a run with other chunk ids, one of a part."""
    draw = np.random.default_rng(7)
    ids = [f"q{at:02}" for at in range(30)]
    graded = [(q, f"c{c}", g) for q in ids for c, g in enumerate(draw.integers(0, 4, 6)) if c + g]
    graded = [(q, c, 0 if q in ids[:2] else g) for q, c, g in graded]
    runs = {}
    for name in ("even", "tied", "few", "elsewhere"):
        rows = []
        for q in [*ids, "unknown"] if name != "few" else ids[4:5]:
            chunks = [f"{'x' if name == 'elsewhere' else 'c'}{c}" for c in draw.permutation(12)]
            scores = np.sort(draw.random(12))[::-1].round(1 if name == "tied" else 9)
            rows += [(q, c, s) for c, s in zip(chunks, scores, strict=True)]
        runs[name] = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    made = pd.DataFrame(graded, columns=["query_id", "doc_id", "relevance"])
    order = ["query_id", "doc_id"]
    return made.sort_values(order), {n: run.sort_values(order) for n, run in runs.items()}


def shuffled(session: Any, frame: pd.DataFrame) -> Any:
    return session.createDataFrame(frame.sample(frac=1, random_state=3))


@pytest.fixture(scope="module")
def frames(session: Any, log: Log) -> tuple[Any, dict[str, Any]]:
    """The same as Spark's frames, their rows in any order."""
    qrels, runs = log
    return shuffled(session, qrels), {name: shuffled(session, run) for name, run in runs.items()}


@pytest.mark.parametrize(
    ("partitions", "preset"), [(1, "graded"), (7, "graded"), (50, "graded"), (7, "trec_eval")]
)
def test_the_bits_are_those_of_one_process(
    log: Log, frames: tuple[Any, dict[str, Any]], partitions: int, preset: str
) -> None:
    expected = labeler.evaluate(*log, MEASURES, preset=preset)
    notes = " ".join(expected.attrs["notes"])
    for kind in ("with tied scores", "no list for", "not in the golden set", "none of its chunks"):
        assert kind in notes, "the data show all that is noted"
    found = spark.evaluate(*frames, MEASURES, preset=preset, partitions=partitions)
    assert_frame_equal(found, expected, check_exact=True)
    assert found.attrs == {k: each for k, each in expected.attrs.items() if k != "cautions"}


def test_values_by_query_are_a_frame_of_sparks(
    log: Log, frames: tuple[Any, dict[str, Any]]
) -> None:
    expected = labeler.evaluate(*log, MEASURES, per_query=True)
    found = spark.evaluate(*frames, MEASURES, per_query=True, partitions=7)
    assert isinstance(found, DataFrame)
    order = ["run", "query_id", "measure"]
    made, wanted = (
        frame.sort_values(order).reset_index(drop=True)
        for frame in (found.toArrow().to_pandas(), expected)
    )
    assert_frame_equal(
        made.astype(wanted.dtypes.to_dict()), wanted, check_exact=True, check_column_type=False
    )


def test_other_scales_and_ranks_are_read_as_in_one_process(session: Any, log: Log) -> None:
    qrels, runs = log[0].assign(relevance=log[0].relevance - 1), {"A": log[1]["tied"]}
    ranked = runs["A"].assign(rank=range(len(runs["A"]))).drop(columns="score")
    options: Mapping[str, Any] = {"grade_map": {2: 3}, "negative_as_zero": True, "order": "rank"}
    expected = labeler.evaluate(qrels, {"A": ranked}, "nDCG@5 AP", **options)
    given = shuffled(session, qrels), {"A": shuffled(session, ranked)}
    assert_frame_equal(spark.evaluate(*given, "nDCG@5 AP", **options), expected, check_exact=True)


BAD: dict[str, tuple[Callable[[pd.DataFrame, pd.DataFrame], Any], str]] = {
    "no column": (
        lambda qrels, run: (qrels, run.drop(columns="score")),
        "run 'A': there is no column score; the columns are 'query_id', 'doc_id'",
    ),
    "nulls": (
        lambda qrels, run: (qrels, run.assign(doc_id=[None, None, *run.doc_id[2:]])),
        "run 'A': 2 rows have no doc_id, such as that of query 'q00'",
    ),
    "grades": (
        lambda qrels, run: (qrels.assign(relevance=[7, *qrels.relevance[1:]]), run),
        "qrels: 1 row has 7 as relevance, such as that of query 'q00', chunk 'c.': grade must be",
    ),
    "scores": (
        lambda qrels, run: (qrels, run.assign(score=[float("inf"), *run.score[1:]])),
        "run 'A': 1 row has a score that is no finite number, such as that of query 'q00'",
    ),
    "numbers as ids": (
        lambda qrels, run: (qrels.assign(query_id=range(len(qrels))), run),
        "qrels: ids are text, and column 'query_id' is bigint; convert it",
    ),
    "a repeat": (
        lambda qrels, run: (qrels, pd.concat([run, run[:1]])),
        "run 'A': chunk 'c.*' stands twice for query 'q00'",
    ),
    "other queries": (
        lambda qrels, run: (qrels, run.assign(query_id="x" + run.query_id)),
        "run 'A' and the qrels share no query",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_frames_are_named_with_a_count_and_an_example(
    session: Any, log: Log, what: str
) -> None:
    change, message = BAD[what]
    qrels, run = change(log[0], log[1]["even"])
    given = shuffled(session, qrels), {"A": shuffled(session, run)}
    with pytest.raises(BadInput, match=message):
        spark.evaluate(*given, "RR", partitions=3)
