"""Candidates, proposals and the history of queries: what their tables refuse and propose."""

from __future__ import annotations

import sqlite3

import pytest

from labeler.store import Store, integrity
from tests.support.store_reads import all_suggestions


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE query_history SET who = 'Mallory'",
        "DELETE FROM query_history",
        "INSERT OR REPLACE INTO query_history (id, query, kind, at, before, after) "
        "VALUES (1, 1, 'edit', '2026', '{}', '{}')",
    ],
)
def test_the_history_of_queries_is_only_added_to(filled: Store, change: str):
    filled.connection.execute(
        "INSERT INTO query_history (query, kind, at, before, after) "
        "VALUES (1, 'edit', '2026-01-01', '{}', '{}')"
    )
    filled.connection.conn.commit()
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        filled.connection.execute(change)


def test_a_gap_in_the_history_is_found_by_check(filled: Store):
    for _ in range(2):
        filled.connection.execute(
            "INSERT INTO query_history (query, kind, at, before, after) "
            "VALUES (1, 'edit', '2026-01-01', '{}', '{}')"
        )
    filled.connection.execute("DROP TRIGGER query_history_is_not_deleted")
    filled.connection.execute("DELETE FROM query_history WHERE id = 1")
    filled.connection.conn.commit()
    with integrity.open_read_only(filled.path) as db:
        found = integrity.broken_rules(db)
    assert found[0] == "1 of 2 changes of queries are there"


def test_votes_for_two_grades_of_a_pair_propose_the_one_with_most_of_them(filled: Store):
    filled.connection.execute(
        "INSERT INTO proposals (query, chunk, source, grade, times, at) VALUES "
        "(1, 1, 'thumbs', 2, 3, '2026'), (1, 1, 'thumbs', 0, 1, '2026'), "
        "(1, 2, 'thumbs', 2, 2, '2026'), (1, 2, 'thumbs', 0, 2, '2026')"
    )
    filled.connection.conn.commit()
    [found] = filled.suggestions.proposals_of(filled.queries.all()[0].query_id)
    assert (found.source, found.grade, found.times, found.against) == ("thumbs", 2, 3, 1)
    assert all_suggestions(filled) == [found], "where as many spoke for either, nothing is proposed"


def test_what_is_proposed_moves_neither_grades_nor_the_hash(filled: Store):
    before = filled.collection.golden_state().hash, filled.golden_set.read()
    filled.connection.execute(
        "INSERT INTO proposals (query, chunk, source, grade, times, at) "
        "VALUES (1, 1, 'generated', 3, 1, '2026')"
    )
    filled.connection.conn.commit()
    assert all_suggestions(filled)
    assert (filled.collection.golden_state().hash, filled.golden_set.read()) == before
