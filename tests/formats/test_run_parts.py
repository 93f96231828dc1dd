"""A run read in portions is the run read whole: the same lists, facts, warnings and refusals."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from labeler.errors import BadInput
from labeler.formats import read_run
from labeler.formats.lines import file_source, open_blocks
from labeler.formats.runs import InterleavedLists, RunPortions, _gathered, _in_portions

Lists = dict[str, list[tuple[str, float]]]


def lists_of(seed: int) -> Lists:
    """Some lists, with ties, in which ranks and scores often disagree."""
    numbers = random.Random(seed)
    return {
        f"q{at}{' ' * (at == 5)}": [
            (f"c{chunk}", float(numbers.randrange(5)))
            for chunk in numbers.sample(range(60), numbers.randrange(1, 30))
        ]
        for at in range(20)
    }


def as_trec(lists: Lists) -> str:
    rows = ((query.strip(), rank, *each) for query in lists for rank, each in entries(lists[query]))
    return "# made up\n" + "".join(
        f"{query} Q0 {chunk} {rank} {score} {'ab'[rank > 25]}\n"
        for query, rank, chunk, score in rows
    )


def as_jsonl(lists: Lists) -> str:
    return "".join(
        json.dumps(
            {"query_id": query, "results": [{"chunk_id": c, "score": s} for c, s in lists[query]]}
        )
        + "\n"
        for query in lists
    )


def without_scores(lists: Lists) -> str:
    return "".join(
        json.dumps({"query_id": query, "results": [chunk for chunk, _ in lists[query]]}) + "\n"
        for query in lists
    )


def as_table(lists: Lists) -> str:
    rows = ((query, rank, *each) for query in lists for rank, each in entries(lists[query]))
    return "query_id,rank,chunk_id,score\n" + "".join(
        f"{query},{rank},{chunk},{score}\n" for query, rank, chunk, score in rows
    )


def entries(found: list[tuple[str, float]]):
    return enumerate(found, 1)


def read(path: Path, most: int | None, bulk: bool, **options):
    source = file_source(path, "a.run")
    order, on_duplicate = options.get("order", "score"), options.get("on_duplicate", "refuse")
    with open_blocks(source, size=400) as blocks:
        return _gathered(
            source, blocks, RunPortions(source, order, on_duplicate, most), bulk
        ).loaded()


@pytest.mark.parametrize(
    ("write", "bulk", "order"),
    [
        (as_trec, True, "score"),
        (as_trec, True, "rank"),
        (as_trec, False, "score"),
        (as_jsonl, False, "score"),
        (without_scores, False, "score"),
        (as_table, False, "score"),
        (as_table, False, "rank"),
    ],
)
@pytest.mark.parametrize("most", [1, 7, 100, 10_000])
def test_portions_are_the_whole(most, write, bulk, order, tmp_path: Path):
    path = tmp_path / "a"
    for seed in range(3):
        path.write_text(write(lists_of(seed)))
        whole, parts = (read(path, each, bulk, order=order) for each in (None, most))
        assert parts.records == whole.records
        assert (parts.lines, parts.facts) == (whole.lines, whole.facts)
        assert parts.warnings == whole.warnings


@pytest.mark.parametrize("bulk", [True, False])
def test_a_duplicate_is_refused_or_dropped_in_any_portion(bulk, tmp_path: Path):
    path = tmp_path / "a"
    lists = lists_of(1)
    lists["q15"] += lists["q15"][:1]
    path.write_text(as_trec(lists))
    with pytest.raises(BadInput) as whole:
        read(path, None, bulk)
    with pytest.raises(BadInput) as parts:
        read(path, 20, bulk)
    assert str(parts.value) == str(whole.value)
    first = [read(path, most, bulk, on_duplicate="first") for most in (None, 20)]
    assert first[0].records == first[1].records
    assert first[0].facts == first[1].facts
    assert first[0].facts["duplicates dropped"] == 1


@pytest.mark.parametrize(
    "content",
    [
        "".join(f"q{line % 3} Q0 c{line} 1 {-line} t\n" for line in range(30)),
        "query_id,chunk_id,rank\nq1,a,1\nq1,b,2\nq2,a,\nq2,b,\nq3,a,\n",
    ],
)
def test_what_cannot_be_read_in_portions_is_read_whole(content, tmp_path: Path):
    path = tmp_path / "a"
    path.write_text(content)
    with pytest.raises(InterleavedLists):
        read(path, 2, bulk=False)
    assert told(lambda: _in_portions(file_source(path, "a.run"), None, "score", "refuse", 2)) == (
        told(lambda: read_run(path, name="a.run"))
    )


def told(reading):
    """What reading says of a file, whether records or an error."""
    try:
        return reading().records
    except BadInput as error:
        return str(error)
