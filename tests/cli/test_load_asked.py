"""Questions that a log asks several times are counted, and weight means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.store import Store

REFUND, SHIPPING = "how long does a refund take?", "where is my parcel?"
Json = dict[str, Any]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)


def labeler(*words: str) -> str:
    result = CliRunner().invoke(main, [*words], prog_name="labeler")
    assert result.exit_code == 0, result.output
    return result.output


def asked(question: str, chunk: str, times: int, **more: Any) -> list[Json]:
    record = {"query": question, "results": [{"id": chunk, "text": chunk, "score": 1}], **more}
    return [{**record, "time": 1769853900 + at} for at in range(times)]


def write(name: str, records: list[Json]) -> str:
    Path(name).write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return name


def traffic() -> list[dict[str, dict[str, int]]]:
    with Store("golden.db") as store:
        return [dict(batch.buckets) for batch in store.candidates.batches()]


MONEY, PARCELS = {"buckets": {"intent": "money"}}, {"buckets": {"intent": "parcels"}}


def test_questions_that_were_asked_again_weight_means_by_a_facet_they_have():
    log = asked(REFUND, "c1", 9, **MONEY) + asked(SHIPPING, "c2", 1, **PARCELS)
    said = labeler("load", write("log.jsonl", log))
    assert "counted as a log  " in said
    assert "10 questions; --weighted FACET weights means by them" in said
    assert traffic() == [{"intent": {"money": 9, "parcels": 1}}]
    with Store("golden.db") as store:
        [first, second] = store.queries.all()
    grades = f"query_id,chunk_id,grade\n{first.query_id},c1,3\n{second.query_id},c2,0\n"
    Path("golden.csv").write_text(f"{grades}{second.query_id},c3,3\n")
    labeler("load", "golden", "golden.csv")
    [row] = json.loads(
        labeler("score", "--weighted", "intent", "--measures", "Success@1", "--format", "json")
    )
    assert row["value"] == pytest.approx(0.9)


def test_buckets_that_queries_get_later_count():
    labeler("load", write("log.jsonl", asked(REFUND, "c1", 3) + asked(SHIPPING, "c2", 2)))
    assert traffic() == [{}]
    with Store("golden.db") as store:
        [first, _] = store.queries.all()
    records = [{"query_id": first.query_id, "query": REFUND, "task": "single"}]
    labeler("load", "queries", write("queries.jsonl", records), "--update")
    assert traffic() == [{"task": {"single": 3}}]


def test_the_same_log_again_counts_nothing_twice():
    name = write("log.jsonl", asked(REFUND, "c1", 3, **MONEY))
    labeler("load", name)
    labeler("load", name)
    assert traffic() == [{"intent": {"money": 3}}]


def test_a_later_log_counts_to_the_queries_that_are_there():
    labeler("load", write("one.jsonl", asked(REFUND, "c1", 3, **MONEY)))
    labeler("load", write("two.jsonl", asked(f" {REFUND}", "c1", 4)))
    assert traffic() == [{"intent": {"money": 3}}, {"intent": {"money": 4}}]


def test_a_file_in_which_each_question_stands_once_is_no_log():
    labeler("load", write("dump.jsonl", asked(REFUND, "c1", 1) + asked(SHIPPING, "c2", 1)))
    assert traffic() == []


def test_two_systems_that_answer_a_question_are_asked_it_once():
    both = [{**each, "system": name} for name in "ab" for each in asked(REFUND, "c1", 1)]
    labeler("load", write("two.jsonl", both))
    assert traffic() == []
