"""PyTerrier's frames go out of a golden set's file and come back the same."""

from pathlib import Path

import pandas as pd
import pytest

import labeler
from labeler import frames
from labeler.errors import BadInput, NotFound
from labeler.model import Loaded, Query
from labeler.store import Store

TOPICS = pd.DataFrame({"qid": ["q1", "q2"], "query": ["why?", "how?"]})
QRELS = pd.DataFrame({"qid": ["q1", "q1", "q2"], "docno": ["a", "b", "a"], "label": [3, 0, -1]})
RESULTS = pd.DataFrame(
    {
        "qid": ["q1", "q1", "q2"],
        "docno": ["b", "a", "c"],
        "rank": [0, 1, 0],
        "score": [2.5, 0.5, 1.0],
    }
)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "g.db"
    with Store(path, create=True) as store:
        queries = [Query(row.qid, row.query) for row in TOPICS.itertuples()]
        store.queries.load(Loaded("here", queries, [1, 2]))
    return path


def test_frames_come_back_as_they_went_in(db: Path) -> None:
    frames.load_qrels(db, QRELS, negative_as_ungraded=True)
    report = frames.load_results(db, RESULTS.sample(frac=1, random_state=1), name="bm25")
    assert report.title == "run 'bm25' from a frame"
    pd.testing.assert_frame_equal(frames.topics(db), TOPICS, check_dtype=False)
    pd.testing.assert_frame_equal(frames.qrels(db), QRELS)
    pd.testing.assert_frame_equal(frames.results(db, "bm25"), RESULTS)
    assert not frames.load_results(db, frames.results(db, "bm25"), name="bm25").changed
    measured = labeler.evaluate(frames.qrels(db), {"A": RESULTS}, "RR", preset="trec_eval")
    assert measured["value"].tolist() == [0.25]


def test_what_is_wrong_with_a_frame_is_said_and_nothing_is_stored(db: Path) -> None:
    with pytest.raises(BadInput, match="-1 is negative"):
        frames.load_qrels(db, QRELS)
    with pytest.raises(BadInput, match="query 'zz' is not in the golden set"):
        frames.load_qrels(db, QRELS.assign(qid="zz", docno=["a", "b", "c"], label=1))
    with pytest.raises(BadInput, match="there is no column score"):
        frames.load_results(db, QRELS, name="r")
    with pytest.raises(BadInput, match="there is no result in the frame"):
        frames.load_results(db, RESULTS.iloc[:0], name="r")
    with pytest.raises(NotFound, match="no run named 'r'; there are: none"):
        frames.results(db, "r")
    assert frames.qrels(db).empty
