"""The hash of a golden set: the same wherever it is made, another as soon as something counts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.evaluation import Conventions, Scoreboard
from labeler.formats import read_golden, read_queries, write_golden
from labeler.model import Chunk, Evidence, GoldenGrade, Judgment, LoadedGolden, Query, Settings
from labeler.store import Store


def hash_of(store: Store) -> str:
    """Return the hash a store has, which is that of what the engine reads of it."""
    collected = store.collection.read().golden
    assert collected is not None
    assert collected.hash == store.collection.golden_state().hash
    return collected.hash


def by_another_program(exported: bytes, settings: Settings) -> str:
    """Make the hash of what an export says, by what is written of it and nothing else."""

    def written(value: object) -> str:
        if isinstance(value, dict):
            keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
            return "{" + ",".join(f"{written(key)}:{written(value[key])}" for key in keys) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(written, value)) + "]"
        return json.dumps(value, ensure_ascii=False)

    first = {
        "format": "labeler golden 1",
        "rel": settings.rel,
        "budget": settings.prompt_k,
        "budget_by_task": dict(settings.prompt_k_by_task),
        "pool_depth": settings.pool_depth,
        "golden_rule": settings.golden_rule,
    }
    digests = {}
    for line in exported.decode().rstrip().split("\n"):
        query = json.loads(line)
        judged = sorted(query.pop("judgments"), key=lambda each: each["chunk_id"].encode())
        query["grades"] = [
            [
                *(each["chunk_id"], each["grade"], sorted(each["graders"])),
                *([each["text_hash"], each["evidence"]] if "evidence" in each else []),
            ]
            for each in judged
        ]
        query.setdefault("split", None)
        del query["metadata"]
        digests[query["query_id"]] = hashlib.sha256(written(query).encode()).hexdigest()
    lines = [written(first), *(digests[name] for name in sorted(digests, key=str.encode))]
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def test_another_program_makes_the_same_hash_of_an_export(store: Store, loaded, golden) -> None:
    odd = Query(
        *("q\u00e9\u2028", 'Größe "x"\t\x1f\x7f?', "single", "\U0001f600", "a\nb", ("k2", "k1")),
        *({"\ufb01eld": "x", "\U0001f600": "y"}, {"a": 0.1}, "held-out"),
    )
    grades = [GoldenGrade("q\u00e9\u2028", "c\U0001f600", 2, ("Zoë", "Ann"), "note")]
    rests_on = Evidence("0" * 32, ((0, 5), (7, 9)))
    grades += [GoldenGrade("q\u00e9\u2028", "c\ufb01", 0, evidence=rests_on)]
    store.golden_loads.add(golden(grades, [Query("q2", "plain"), odd]))
    settings = Settings(rel=2, prompt_k=3, prompt_k_by_task={"single": 1}, pool_depth=7)
    store.settings.save(settings)
    exported = write_golden(*store.golden_set.read(), "jsonl")
    assert by_another_program(exported, settings) == hash_of(store)


def test_the_order_in_which_things_were_loaded_does_not_count(tmp_path: Path, golden) -> None:
    queries = [Query("q1", "one"), Query("q2", "two", buckets={"a": "x", "b": "y"})]
    grades = [GoldenGrade("q1", "c1", 1, ("Ann", "Bob")), GoldenGrade("q2", "c2", 0, ("Bob",))]
    grades += [GoldenGrade("q1", "c10", 2, ("Cy",)), GoldenGrade("q1", "c2", 3, ("Ann",))]
    with Store(tmp_path / "one.db", create=True) as one:
        one.golden_loads.add(golden(grades, queries))
        before = hash_of(one)
    with Store(tmp_path / "two.db", create=True) as two:
        two.chunks.load(golden([Chunk("c9", "more"), Chunk("c2", "text")]).grades)
        turned = [replace(queries[1], buckets={"b": "y", "a": "x"}), queries[0]]
        two.golden_loads.add(golden(grades[::-1], turned))
        assert hash_of(two) == before


def test_an_export_loaded_elsewhere_has_the_same_hash(
    filled: Store, tmp_path: Path, golden: Callable[..., LoadedGolden]
) -> None:
    for name, grade in [("Ann", 3), ("Bob", 1), ("Cleo", 1)]:
        filled.people.add(name)
        filled.judgments.add(Judgment(f"{name}/1", "q1", "c3", name, grade=grade))
    filled.adjudication.adjudicate(Judgment("Bob/2", "q2", "c1", "Bob", "adjudicate", 2), None)
    (tmp_path / "golden.jsonl").write_bytes(write_golden(*filled.golden_set.read(), "jsonl"))
    with Store(tmp_path / "other.db", create=True) as other:
        other.golden_loads.add(read_golden(tmp_path / "golden.jsonl"))
        assert hash_of(other) == hash_of(filled)


CHANGES: dict[str, Callable[[Store], object]] = {
    "a grade": lambda store: store.judgments.add(Judgment("e1", "q1", "c3", "Ann", grade=1)),
    "a passage": lambda store: store.judgments.add(
        Judgment("e1", "q1", "c1", "Ann", grade=3, evidence=((0, 4),))
    ),
    "a rule": lambda store: store.settings.save(Settings(golden_rule="majority")),
    "a threshold": lambda store: store.settings.save(Settings(rel=2)),
    "a name": lambda store: store.people.rename("Ann", "Anna"),
    "a query less": lambda store: store.queries.retire("q2"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_counts_moves_the_hash(filled: Store, what: str) -> None:
    filled.people.add("Ann")
    filled.judgments.add(Judgment("e0", "q1", "c1", "Ann", grade=2))
    before = hash_of(filled)
    CHANGES[what](filled)
    assert hash_of(filled) != before


def test_what_no_number_depends_on_leaves_the_hash_alone(filled: Store, loaded) -> None:
    before = hash_of(filled)
    filled.people.add("Ann")
    filled.settings.save(Settings(words=("none", "some", "much", "all"), guideline="Read."))
    filled.chunks.load(loaded([Chunk("c1", "another text")]), update=True)
    filled.judgments.add(Judgment("e1", "q1", "c3", "Ann", "cannot_tell"))
    assert hash_of(filled) == before
    filled.judgments.add(Judgment("e2", "q1", "c3", "Ann", grade=1))
    filled.judgments.undo(event_id="e3", undoes="e2", grader="Ann")
    assert hash_of(filled) == before


def test_a_board_that_follows_says_the_hash_that_a_fresh_one_says(filled: Store) -> None:
    board = Scoreboard(filled.collection.read(), Conventions.of())
    filled.people.add("Ann")
    seen = {board.conventions.golden}
    for number, (query, chunk, grade) in enumerate([("q1", "c3", 1), ("q2", "c1", 3)]):
        filled.judgments.add(Judgment(f"e{number}", query, chunk, "Ann", grade=grade))
        board.refresh(*filled.collection.news_since(board.revision, board.golden_state))
        assert board.conventions.golden == hash_of(filled)
        assert (
            board.conventions == Scoreboard(filled.collection.read(), Conventions.of()).conventions
        )
        seen.add(board.conventions.golden)
    assert len(seen) == 3


def test_options_of_one_command_change_the_conventions_and_not_the_hash(filled: Store) -> None:
    run = CliRunner().invoke
    said = [
        json.loads(run(main, ["score", "--format", "json", *options]).output)[0]["conventions"]
        for options in ([], ["--rel", "2", "--preset", "trec_eval", "--prompt-k", "3"])
    ]
    assert {each["golden"] for each in said} == {hash_of(filled)}
    short = f"golden {hash_of(filled)[:8]} · "
    assert all(each["description"].startswith(short) for each in said)
    assert said[0]["description"] != said[1]["description"]


def test_a_split_is_read_with_queries_and_kept_by_files_that_say_none(
    store: Store, tmp_path: Path
) -> None:
    lines = ['{"query_id": "q1", "query": "a", "split": "held out"}']
    lines += ['{"query_id": "q2", "query": "b", "metadata": {"split": "dev"}}']
    lines += ['{"query_id": "q3", "query": "c", "split": "train"}']
    path = tmp_path / "queries.jsonl"
    path.write_text("\n".join(lines))
    loaded = read_queries(path)
    assert (loaded.facts["split dev"], loaded.facts["split held-out"]) == (1, 1)
    store.queries.load(loaded)
    path.write_text('{"query_id": "q1", "query": "a"}')
    assert not store.queries.load(read_queries(path)).changed
    splits = {query.query_id: query.split for query in store.queries.all()}
    assert splits == {"q1": "held-out", "q2": "dev", "q3": None}
    assert store.queries.all()[2].metadata == {"split": "train"}
    (tmp_path / "golden.jsonl").write_bytes(
        before := write_golden(*store.golden_set.read(), "jsonl")
    )
    with Store(tmp_path / "other.db", create=True) as other:
        other.golden_loads.add(read_golden(tmp_path / "golden.jsonl"))
        assert write_golden(*other.golden_set.read(), "jsonl") == before
