"""labeler.record: what a service appends for each query, and what becomes of it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import labeler
from labeler.api import recorder
from labeler.errors import BadInput
from labeler.formats import field_aliases, guess, read_run

ASKED = "How do I reset it?"


@dataclass
class LangChainDocument:
    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None
    type: str = "Document"


@dataclass
class TextNode:
    text: str
    id_: str
    metadata: dict[str, Any] = field(default_factory=dict)
    ref_doc_id: str | None = None

    @property
    def node_id(self) -> str:
        return self.id_

    def get_content(self) -> str:
        return self.text


@dataclass
class OtherNode:
    """A node whose text is only there by its method."""

    node_id: str

    def get_content(self) -> str:
        return "by its method"


@dataclass
class NodeWithScore:
    node: Any
    score: float | None = None

    @property
    def text(self) -> str:
        raise ValueError("Node must be a TextNode to get text.")


@dataclass
class HaystackDocument:
    id: str
    content: str | None
    meta: dict[str, Any]
    score: float | None
    embedding: list[float] | None = None


@dataclass
class ScoredPoint:
    id: int
    score: float
    payload: dict[str, Any]
    version: int = 3


class Answer:
    """The answer of a client that wraps the JSON, and is no dict."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body


HITS = {
    "took": 3,
    "hits": {
        "total": {"value": 2},
        "hits": [
            {
                "_index": "manual",
                "_id": "c7",
                "_score": 8.25,
                "_source": {"title": "Reset", "content": "Hold.", "page": 3, "v": [0.1] * 100},
            },
            {"_index": "manual", "_id": "c2", "_score": 1.5, "_source": {"content": "Call."}},
        ],
    },
}
FOUND = [
    {
        "chunk_id": "c7",
        "text": "Hold.",
        "title": "Reset",
        "score": 8.25,
        "metadata": {"_index": "manual", "page": 3},
    },
    {"chunk_id": "c2", "text": "Call.", "score": 1.5, "metadata": {"_index": "manual"}},
]


def recorded(tmp_path: Path, results: Any, **options: Any) -> dict[str, Any]:
    """Record results in a file of their own and return the line in it."""
    file = tmp_path / "one.jsonl"
    file.unlink(missing_ok=True)
    assert labeler.record(ASKED, results, path=file, **options)
    [line] = file.read_text(encoding="utf-8").split("\n")[:-1]
    found: dict[str, Any] = json.loads(line)
    return found


@pytest.mark.parametrize(
    ("results", "written"),
    [
        (["Hold.", "Call."], [{"text": "Hold."}, {"text": "Call."}]),
        (
            [("Hold.", 2), ("Call.", 1)],
            [{"text": "Hold.", "score": 2.0}, {"text": "Call.", "score": 1.0}],
        ),
        ((each for each in ["Hold."]), [{"text": "Hold."}]),
        ([], []),
        (
            [{"id": 7, "text": "Hold.", "score": "0.5", "page": 3}],
            [{"chunk_id": "7", "text": "Hold.", "score": 0.5, "metadata": {"page": 3}}],
        ),
        ([{"chunk_id": "c7"}], [{"chunk_id": "c7"}]),
        (
            [{"chunk_id": "c7", "document": "manual.pdf", "text": "Hold."}],
            [{"chunk_id": "c7", "text": "Hold.", "document_id": "manual.pdf"}],
        ),
        ([{"document": "Hold the button."}], [{"text": "Hold the button."}]),
        ([{"document_id": "manual.pdf"}], [{"chunk_id": "manual.pdf"}]),
        (
            [{"score": 2, "document": {"id": "c7", "text": "Hold.", "metadata": {"a": 1}}}],
            [{"chunk_id": "c7", "text": "Hold.", "score": 2.0, "metadata": {"a": 1}}],
        ),
        (HITS, FOUND),
        (Answer(HITS), FOUND),
        (HITS["hits"]["hits"], FOUND),
        ({"documents": ["Hold."]}, [{"text": "Hold."}]),
        (
            [LangChainDocument("Hold.", {"page": 3, "title": "Reset"}, "c7")],
            [{"chunk_id": "c7", "text": "Hold.", "title": "Reset", "metadata": {"page": 3}}],
        ),
        ([(LangChainDocument("Hold."), 0.5)], [{"text": "Hold.", "score": 0.5}]),
        (
            [NodeWithScore(TextNode("Hold.", "c7", {"page": 3}, "manual"), 0.5)],
            [
                {
                    "chunk_id": "c7",
                    "text": "Hold.",
                    "score": 0.5,
                    "document_id": "manual",
                    "metadata": {"page": 3},
                }
            ],
        ),
        ([NodeWithScore(OtherNode("c7"))], [{"chunk_id": "c7", "text": "by its method"}]),
        (
            [{"node": {"id_": "c7", "text": "Hold."}, "score": 0.5}],
            [{"chunk_id": "c7", "text": "Hold.", "score": 0.5}],
        ),
        (
            [HaystackDocument("c7", "Hold.", {"page": 3}, 0.5, [0.1] * 100)],
            [{"chunk_id": "c7", "text": "Hold.", "score": 0.5, "metadata": {"page": 3}}],
        ),
        (
            [ScoredPoint(7, 0.5, {"text": "Hold.", "page": 3})],
            [{"chunk_id": "7", "text": "Hold.", "score": 0.5, "metadata": {"page": 3}}],
        ),
        (
            pd.DataFrame({"docno": ["c7"], "text": ["Hold."], "score": [2.5]}),
            [{"chunk_id": "c7", "text": "Hold.", "score": 2.5}],
        ),
    ],
)
def test_results_of_many_libraries_become_the_same_lines(
    tmp_path: Path, results: Any, written: list[dict[str, Any]]
) -> None:
    assert recorded(tmp_path, results)["results"] == written


def test_what_is_said_of_the_query_stands_beside_its_results(tmp_path: Path) -> None:
    options: dict[str, Any] = {"system": "bm25", "query_id": 12, "reference": "Hold it."}
    line = recorded(tmp_path, [], time=0, metadata={"tenant": "a"}, **options)
    assert line == {
        "query": ASKED,
        "query_id": "12",
        "system": "bm25",
        "time": "1970-01-01T00:00:00.000Z",
        "reference": "Hold it.",
        "results": [],
        "metadata": {"tenant": "a"},
    }


def test_a_time_is_written_in_utc_and_is_now_by_default(tmp_path: Path) -> None:
    there = datetime(2026, 11, 27, 19, 0, tzinfo=timezone(timedelta(hours=1)))
    assert recorded(tmp_path, [], time=there)["time"] == "2026-11-27T18:00:00.000Z"
    assert recorded(tmp_path, [], time="yesterday")["time"] == "yesterday"
    before = datetime.now(UTC) - timedelta(seconds=1)
    now = datetime.fromisoformat(recorded(tmp_path, [])["time"])
    assert before < now < datetime.now(UTC) + timedelta(seconds=1)


@pytest.mark.parametrize(
    ("scores", "written"),
    [
        ([3.0, 2.0, 2.0], [{"score": 3.0}, {"score": 2.0}, {"score": 2.0}]),
        ([0.1, 0.4, 0.4], [{"distance": 0.1}, {"distance": 0.4}, {"distance": 0.4}]),
        ([1, 1, 1], [{"score": 1.0}] * 3),
        ([1, 3, 2], [{"metadata": {"score": each}} for each in (1.0, 3.0, 2.0)]),
        ([3, float("nan"), 2], [{"metadata": {"score": 3.0}}, {}, {"metadata": {"score": 2.0}}]),
        ([float("inf"), None, None], [{}, {}, {}]),
        (np.array([3, 2, 1], np.float32), [{"score": 3.0}, {"score": 2.0}, {"score": 1.0}]),
        (
            [Decimal(2), np.int64(1), np.float64(0)],
            [{"score": 2.0}, {"score": 1.0}, {"score": 0.0}],
        ),
    ],
)
def test_the_order_that_is_given_counts_whatever_the_scores_are(
    tmp_path: Path, scores: Any, written: list[dict[str, Any]]
) -> None:
    line = recorded(tmp_path, ["a", "b", "c"], scores=scores)
    without_text = [{k: v for k, v in each.items() if k != "text"} for each in line["results"]]
    assert without_text == written
    assert [each["text"] for each in line["results"]] == ["a", "b", "c"]


def test_a_distance_stays_one_and_falling_ones_do_not_turn_the_list_round(tmp_path: Path) -> None:
    [one] = recorded(tmp_path, [{"id": "a", "distance": 0.5}])["results"]
    assert one == {"chunk_id": "a", "distance": 0.5}
    falling = [{"id": "a", "distance": 0.5}, {"id": "b", "distance": 0.25}]
    assert [each.keys() for each in recorded(tmp_path, falling)["results"]] == [
        {"chunk_id", "metadata"}
    ] * 2


def test_what_json_lacks_becomes_text_and_embeddings_are_left_out(tmp_path: Path) -> None:
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    metadata = {
        "uuid": UUID(int=1),
        "path": Path("a/b"),
        "at": datetime(2026, 1, 2, tzinfo=UTC),
        "tags": ("a", None),
        "count": np.int64(3),
        "share": np.float32(0.5),
        "nan": float("nan"),
        "none": None,
        "vector": [0.5] * 100,
        "array": np.ones(3),
        "few": [1, 2],
        7: "seven",
        "zero": "a\0b",
    }
    [result] = recorded(tmp_path, [{"text": "t", "metadata": metadata, "loop": loop}])["results"]
    assert str(result["metadata"].pop("loop")).startswith("{'loop': {'loop': ")
    assert result["metadata"] == {
        "uuid": "00000000-0000-0000-0000-000000000001",
        "path": "a/b",
        "at": "2026-01-02T00:00:00+00:00",
        "tags": ["a", None],
        "count": 3,
        "share": 0.5,
        "few": [1, 2],
        "7": "seven",
        "zero": "a�b",
    }


def test_any_text_is_written_as_one_line_of_utf8(tmp_path: Path) -> None:
    text = 'a\nb\r\u2028 Ü 漢 \udc80 \0 "quoted"'
    [result] = recorded(tmp_path, [text])["results"]
    assert result["text"] == 'a\nb\r\u2028 Ü 漢 ? � "quoted"'


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ("Hold.", "results must be a list of texts, dicts with an id or a text, pairs of one"),
        (None, "not a NoneType"),
        ({"answer": "Hold."}, "not a dict with the keys answer"),
        ([object()], "results[0]: a object is no result; they are texts, dicts"),
        (["a", 7], "results[1]: a int is no result"),
        ([{"page": 3, "body_text": "x"}], "a dict with the keys page, body_text has neither an id"),
        ([{"id": "c", "score": "high"}], "results[0]: the score of a result must be a number"),
        ([("c", True)], "the score of a result must be a number, not True"),
        ([["Hold.", "Call."]], "results[0]: a list is no result"),
    ],
)
def test_results_of_an_unknown_kind_are_refused_with_what_is_taken(
    tmp_path: Path, results: Any, said: str
) -> None:
    with pytest.raises(BadInput) as error:
        labeler.record(ASKED, results, path=tmp_path / "no.jsonl")
    assert said in str(error.value)
    assert not (tmp_path / "no.jsonl").exists()


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="2 results, but 1 scores; each needs one, in order"):
        labeler.record(ASKED, ["a", "b"], scores=[1.0], path=tmp_path / "no.jsonl")
    with pytest.raises(BadInput, match="query must be the question's text, not a int"):
        labeler.record(7, [], path=tmp_path / "no.jsonl")  # type: ignore[arg-type]  # refused
    with pytest.raises(BadInput, match="on_error is 'log' or 'raise', not 'ignore'"):
        labeler.record(ASKED, [], path=tmp_path / "n", on_error="ignore")  # type: ignore[arg-type]  # refused


def test_the_field_of_an_unusual_text_can_be_named(tmp_path: Path) -> None:
    hit = {"_id": "c7", "_source": {"passage_body": "Hold.", "content": "other"}}
    [result] = recorded(tmp_path, {"hits": {"hits": [hit]}}, text_field="passage_body")["results"]
    assert result == {"chunk_id": "c7", "text": "Hold.", "metadata": {"content": "other"}}


def test_a_service_goes_on_where_nothing_can_be_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    nowhere = tmp_path / "missing" / "r.jsonl"
    with caplog.at_level(logging.WARNING, logger="labeler.record"):
        assert not labeler.record(ASKED, ["a"], path=nowhere)
        assert not labeler.record("  ", ["a"], path=tmp_path / "r.jsonl")
    assert [each.getMessage() for each in caplog.records] == [
        f"{nowhere}: a retrieval is not recorded: [Errno 2] No such file or directory: '{nowhere}'",
        f"{tmp_path / 'r.jsonl'}: a retrieval is not recorded: a blank query cannot be recorded",
    ]
    with pytest.raises(FileNotFoundError):
        labeler.record(ASKED, ["a"], path=nowhere, on_error="raise")
    with pytest.raises(BadInput, match="a blank query"):
        labeler.record("", ["a"], path=tmp_path / "r.jsonl", on_error="raise")


def test_a_full_disk_is_said_and_the_next_record_has_a_line_of_its_own(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert not labeler.record(ASKED, ["a"], path="/dev/full")
    assert "No space left on device" in caplog.text
    file = tmp_path / "r.jsonl"
    file.write_text('{"query": "cut o')
    labeler.record(ASKED, ["a"], path=file)
    cut, whole = file.read_text().splitlines()
    assert (cut, json.loads(whole)["results"]) == ('{"query": "cut o', [{"text": "a"}])


def test_the_environment_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_RECORD", raising=False)
    labeler.record(ASKED, [])
    monkeypatch.setenv("LABELER_RECORD", "other.jsonl")
    labeler.record(ASKED, [])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.jsonl", "retrieval.jsonl"]


WRITE = """
import sys, labeler
_, path, name = sys.argv
for number in range(200):
    labeler.record(f"question {number}", [name * 20_000], system=name, path=path)
"""


def test_several_processes_and_threads_share_a_file(tmp_path: Path) -> None:
    file = tmp_path / "shared.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", WRITE, str(file), name]) for name in "abc"]

    def write(number: int) -> bool:
        return labeler.record(f"question {number}", ["d" * 20_000], system="d", path=file)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(write, range(200)))
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    lines = [json.loads(line) for line in file.read_text().splitlines() if line]
    for name in "abcd":
        mine = [each for each in lines if each["system"] == name]
        assert sorted(each["query"] for each in mine) == sorted(f"question {n}" for n in range(200))
        assert {each["results"][0]["text"] for each in mine} == {name * 20_000}


def test_recording_loads_nothing_but_the_standard_library() -> None:
    code = """
import sys, labeler
known = {*sys.stdlib_module_names, "labeler", "__main__"}
before = {*sys.modules}
labeler.record
print(sorted({name.split(".")[0] for name in {*sys.modules} - before} - known))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_names_of_fields_are_those_that_files_have() -> None:
    assert {*recorder.IDS} - {"id_", "uuid"} <= {*field_aliases.CHUNK_OF_RESULT}
    assert {*recorder.TEXTS} <= {*field_aliases.CHUNK_TEXT}
    assert {*recorder.SCORES} <= {*field_aliases.SCORE}
    assert {*recorder.DISTANCES} <= {*field_aliases.DISTANCE}


def test_a_recorded_file_is_read_as_a_run_in_the_order_of_its_lists(tmp_path: Path) -> None:
    file = tmp_path / "retrieval.jsonl"
    labeler.record(
        "first?", [{"id": "b", "distance": 0.1}, {"id": "a", "distance": 0.7}], path=file
    )
    labeler.record("second?", [("text a", 3), ("text b", 1)], path=file, query_id="q2")
    assert guess(file).kind is not None
    kept = [line for line in file.read_text().splitlines() if "chunk_id" in line]
    file.write_text("\n".join(kept))
    [ranking] = read_run(file).records
    assert ranking.chunk_ids == ("b", "a")
