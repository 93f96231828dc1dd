"""Records on their way to the store: the same in memory and on the disk, however many they are."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path

import pytest

from labeler.errors import BadInput
from labeler.formats import read_chunks, read_golden, spool
from labeler.formats.lines import memory_source
from labeler.formats.spool import FirstSeen, Spool, UniqueIds, estimate_size
from labeler.model import Chunk, Judgment

CHUNKS = [Chunk(f"c{n}", "text " * n, metadata={"n": [n, {"a": None}]}) for n in range(100)]


def spooled(most: int) -> Spool[Chunk]:
    held: Spool[Chunk] = Spool(most)
    for chunk in CHUNKS:
        held.add(chunk, len(chunk.text or ""))
    return held


@pytest.mark.parametrize("most", [0, 1, 700, 20_000, 10**9])
def test_records_come_back_as_they_were_wherever_they_wait(most: int):
    spool = spooled(most)
    assert list(spool) == list(spool) == CHUNKS
    assert spool == CHUNKS
    assert (len(spool), bool(spool)) == (100, True)
    assert [spool[at] for at in (99, 0, -1, 50)] == [CHUNKS[at] for at in (99, 0, -1, 50)]
    assert spool[10:30:7] == CHUNKS[10:30:7]
    assert spool != CHUNKS[:-1]
    for outside in (100, -101):
        with pytest.raises(IndexError):
            spool[outside]


def test_records_can_be_added_and_looked_at_while_others_are_gone_through():
    spool = spooled(1)
    through = iter(spool)
    assert [next(through), spool[70], next(through)] == [CHUNKS[0], CHUNKS[70], CHUNKS[1]]
    spool.add(CHUNKS[5], 0)
    assert list(through) == CHUNKS[2:]
    assert spool[100] == CHUNKS[5]


def test_an_empty_spool_is_no_records():
    assert Spool() == []
    assert not Spool()


def test_an_event_survives_the_disk():
    spool: Spool[Judgment] = Spool(0)
    event = Judgment("e", "q", "c", "Ann", grade=2, graders=("a",), note="n", elapsed_ms=3)
    spool.add(event, 0)
    assert spool == [event]


def test_a_disk_that_cannot_hold_what_waits_is_one_sentence(monkeypatch: pytest.MonkeyPatch):
    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(BadInput, match="cannot hold what is read until it is stored: No space"):
        spooled(0)


@pytest.mark.parametrize("most", [1, 3, 100])
def test_a_key_is_found_again_whether_it_is_known_or_only_suspected(most: int):
    firsts = FirstSeen(most)
    keys = ["a", "b", "c", "d", "b", "d", "e", "d", "a"]
    places, found = {}, []
    for key in keys:
        place = firsts.add(key)
        if place is None:
            places[len(places)] = key
        else:
            found.append((places[place], key))
    later = [(places[a], places[b]) for a, b in firsts.suspected_repeats()]
    assert sorted([*found, *later]) == [("a", "a"), ("b", "b"), ("d", "d"), ("d", "d")]


@pytest.mark.parametrize("most", [1, 100])
def test_an_id_that_stands_twice_is_named_with_both_lines(most: int):
    ids, given = UniqueIds("chunk", most), ["a", "b", "c", "b"]
    source = memory_source("a.jsonl", b"")

    def read() -> None:
        for line, identifier in enumerate(given, 1):
            with source.at(line):
                ids.add(identifier, line)
        ids.check(source, lambda place: given[place])

    with pytest.raises(BadInput) as error:
        read()
    assert str(error.value) == "a.jsonl:4: chunk id 'b' is already on line 2; ids must differ"


@pytest.mark.parametrize(
    ("value", "weight"), [("abc", 3), (7, 0), ({"a": "bc", "b": ["d", None]}, 303)]
)
def test_a_record_weighs_what_its_texts_do_and_a_little_more(value, weight):
    assert estimate_size(value) == weight


@pytest.fixture
def very_many(monkeypatch: pytest.MonkeyPatch) -> int:
    """Let 500 be as many as are known at once."""
    monkeypatch.setattr(spool, "MOST_KNOWN", 500)
    return spool.MOST_KNOWN


def test_the_last_of_very_many_ids_is_compared_with_all_before(tmp_path: Path, very_many: int):
    path = tmp_path / "chunks.csv"
    rows = [f"c{number}\n" for number in range(very_many + 5)]
    path.write_text("chunk_id\n" + "".join([*rows, rows[-3]]))
    with pytest.raises(BadInput) as error:
        read_chunks(path, name="a")
    last = len(rows) + 2
    assert str(error.value) == (
        f"a:{last}: chunk id 'c{very_many + 2}' is already on line {last - 3}; ids must differ"
    )


def test_a_pair_that_comes_again_after_very_many_counts_once_or_is_refused(
    tmp_path: Path, very_many: int
):
    path = tmp_path / "qrels"
    rows = [f"q 0 c{number} 1\n" for number in range(very_many + 5)]
    path.write_text("".join([*rows, rows[0], rows[-2], "q 0 last 3\n"]))
    grades = read_golden(path).grades
    assert grades.facts["duplicates"] == 2
    assert (len(grades.records), grades.records[-1].chunk_id) == (len(rows) + 1, "last")
    assert grades.lines[-1] == len(rows) + 3
    path.write_text("".join([*rows, rows[-2].replace("1\n", "2\n")]))
    with pytest.raises(BadInput) as error:
        read_golden(path, name="a")
    assert str(error.value) == (
        f"a:{len(rows) + 1}: chunk 'c{very_many + 3}' has grade 2 for query 'q', but 1 on line "
        f"{len(rows) - 1}; keep one of them"
    )
