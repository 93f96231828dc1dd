"""Many writers at once: nothing lost, nothing doubled, nobody turned away."""

from __future__ import annotations

from collections import Counter

import pytest

from labeler.model import Chunk, Query
from labeler.store import Store

JUDGE = """
import sys
from labeler.model import Judgment
from labeler.store import Store
path, name = sys.argv[1:]
with Store(path) as store:
    store.people.add(name)
for n in range(100):
    with Store(path) as store:  # as a request does
        event = Judgment(f"{name}/{n}", f"q{n % 10}", f"c{n // 10}", name, grade=n % 4)
        assert store.judgments.add(event)
        assert not store.judgments.add(event)
print("done")
"""

LOAD = """
import sys
from labeler.model import Chunk, Loaded, Query, Ranking
from labeler.store import Store
for n in range(15):
    lists = [Ranking(f"q{q}", tuple(f"run{n} c{c}" for c in range(50))) for q in range(60)]
    with Store(sys.argv[1]) as store:
        store.runs.load(Loaded("run", lists, range(len(lists))), name=f"run{n}")
        if n % 3 == 2:
            store.runs.drop(f"run{n}")
print("done")
"""

FOLLOW = """
import sys, time
from labeler.store import Store
with Store(sys.argv[1]) as store:
    revision, followed = 0, {}
    while revision < int(sys.argv[2]):
        time.sleep(0.01)  # who looks all the time takes it from those who write
        newest = store.judgments.revision()
        for change in store.judgments.changes_since(revision):
            followed[change.query_id, change.chunk] = change.grade
        revision = newest
    for query_id, chunk, grade in store.connection.rows(
        "SELECT q.query_id, chunk, grade FROM golden JOIN queries AS q ON q.id = golden.query"
    ):
        assert followed.pop((query_id, chunk)) == grade
    assert not followed
print("done")
"""


@pytest.mark.parametrize("many", [2, pytest.param(6, marks=pytest.mark.slow)])
def test_graders_a_load_and_a_reader_do_not_disturb_each_other(
    filled: Store, python, loaded, many: int
):
    filled.queries.load(loaded([Query(f"q{n}", "?") for n in (0, *range(3, 10))]))
    filled.chunks.load(loaded([Chunk(f"c{n}", f"text {n}") for n in (0, *range(5, 10))]))
    graders = [f"grader {n}" for n in range(many)]
    processes = [
        python(LOAD, filled.path),
        python(FOLLOW, filled.path, filled.judgments.revision() + 100 * many),
        *(python(JUDGE, filled.path, name) for name in graders),
    ]
    assert [process.communicate() for process in processes] == [("done\n", "")] * (2 + many)
    events = [event for event in filled.judgments.log() if event.grader in graders]
    assert Counter(event.event_id for event in events) == Counter(
        f"{name}/{n}" for name in graders for n in range(100)
    )
    assert [run.name for run in filled.runs.all()] == [
        *("first", "second"),
        *(f"run{n}" for n in range(15) if n % 3 != 2),
    ]
    assert filled.connection.value("PRAGMA integrity_check") == "ok"
    assert filled.connection.rows("PRAGMA foreign_key_check") == []
