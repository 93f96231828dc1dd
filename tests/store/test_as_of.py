"""The golden set as it was: rebuilt from the log, by the rule and with the queries of that time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from labeler.errors import BadInput
from labeler.model import Collection, Judgment, Settings
from labeler.store import Store
from tests.support.databases import rewrite

TOMORROW = datetime.now(UTC) + timedelta(days=1)


def judge(store: Store, event: str, day: str, grade: int, by: str = "Ann", chunk: str = "c3"):
    at = f"{day}T12:00:00.000Z"
    store.judgments.add(Judgment(event, "q1", chunk, by, grade=grade, created_at=at))


def grades(found: Collection) -> dict[tuple[str, str], int]:
    columns = (found.golden_query, found.golden_chunk, found.golden_grade)
    return {
        (found.query_ids[query], found.chunk_ids[chunk]): grade
        for query, chunk, grade in zip(*(column.tolist() for column in columns), strict=True)
    }


def at(store: Store, day: str) -> dict[tuple[str, str], int]:
    return grades(
        store.versions.collection_at(datetime.fromisoformat(day).replace(tzinfo=UTC), ["first"])
    )


def test_a_grade_counts_from_the_moment_it_was_given(filled: Store) -> None:
    judge(filled, "e1", "2020-01-01", 1)
    judge(filled, "e2", "2020-01-03", 3)
    assert at(filled, "2020-01-01") == {}
    assert at(filled, "2020-01-02") == {("q1", "c3"): 1}
    assert at(filled, "2020-01-04") == {("q1", "c3"): 3}
    assert filled.versions.collection_at(datetime(2020, 1, 2, tzinfo=UTC), []).revision == 4


def test_what_was_taken_back_later_counted_until_then(filled: Store) -> None:
    judge(filled, "e1", "2020-01-01", 2)
    filled.judgments.undo(event_id="u1", undoes="e1", grader="Ann")
    assert at(filled, "2020-01-02") == {("q1", "c3"): 2}
    assert ("q1", "c3") not in grades(filled.collection.read())


def test_the_newest_state_is_the_live_one(filled: Store) -> None:
    judge(filled, "e1", "2020-01-01", 2, "Ann")
    judge(filled, "e2", "2020-01-01", 3, "Bob")
    then, now = (
        filled.versions.collection_at(TOMORROW, ["first", "second"]),
        filled.collection.read(),
    )
    for name in ("golden_query", "golden_chunk", "golden_grade"):
        assert np.array_equal(getattr(then, name), getattr(now, name))
    assert (then.query_ids, then.facets, then.revision) == (now.query_ids, now.facets, now.revision)
    assert [run.name for run in then.runs] == ["first", "second"]


def test_grades_agreed_by_the_rule_of_that_time(filled: Store) -> None:
    judge(filled, "e1", "2020-01-01", 0, "Ann")
    judge(filled, "e2", "2020-01-01", 3, "Bob")
    filled.settings.save(Settings(golden_rule="upper median"))
    filled.settings.save(Settings(golden_rule="mean rounded half down"))
    assert at(filled, "2020-01-02") == {("q1", "c3"): 0}
    assert filled.versions.rule_at(datetime(2020, 1, 2, tzinfo=UTC)) == "lower median"
    assert filled.versions.rule_at(TOMORROW) == "mean rounded half down"
    assert grades(filled.versions.collection_at(TOMORROW, []))["q1", "c3"] == 1


def test_a_query_retired_since_was_there_then(filled: Store) -> None:
    judge(filled, "e1", "2020-01-01", 2)
    filled.queries.retire("q1")
    assert at(filled, "2020-01-02") == {("q1", "c3"): 2}
    assert filled.versions.collection_at(TOMORROW, []).query_ids == ("q2",)


def test_a_query_that_was_out_for_a_while_was_out_then(filled: Store) -> None:
    judge(filled, "e1", "2020-01-01", 2)
    filled.queries.retire("q1")
    filled.queries.restore("q1")
    rewrite(filled.path, "UPDATE audit SET at = '2020-02-01T00:00:00.000Z' WHERE kind = 'retire'")
    rewrite(filled.path, "UPDATE audit SET at = '2020-02-05T00:00:00.000Z' WHERE kind = 'restore'")
    assert at(filled, "2020-01-31") == {("q1", "c3"): 2}
    assert at(filled, "2020-02-03") == {}
    assert at(filled, "2020-02-06") == {("q1", "c3"): 2}


def test_a_moment_without_a_zone_is_refused(filled: Store) -> None:
    with pytest.raises(BadInput, match="needs a time zone"):
        filled.versions.collection_at(datetime(2020, 1, 1), [])
