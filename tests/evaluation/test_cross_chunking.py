"""Runs of different chunkings side by side: how much evidence they find, and which documents."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from labeler.analysis.comparison import (
    best_partners,
    compare,
    cross_facets,
    describe_shared_text,
    find_rank_changes,
    find_shared_text,
)
from labeler.cli import main
from labeler.evaluation import (
    CROSS_CHUNKING_MEASURES,
    Conventions,
    GoldenGrades,
    Scoreboard,
    collect,
    regraded,
)
from labeler.measures import FoundEvidence, RetrievedTexts, parse, score, terms
from labeler.model import (
    Chunk,
    Collection,
    GoldenGrade,
    GradeChange,
    Judgment,
    Query,
    Ranking,
    Selection,
)
from labeler.store import Store
from tests.support.page import loaded, open_page, words
from tests.support.rankings import OF_EVIDENCE, measures
from tests.support.two_chunkings import BOTH, TEXT, V1, V2, cut, marked, recut


@pytest.fixture
def both(store: Store) -> Store:
    """Two chunkings of one document, see `recut`."""
    return recut(store)


def board_of(store: Store, *chunkings: str, preset: str = "graded") -> Scoreboard:
    conventions = Conventions.of(preset, selected=Selection(chunkings=chunkings or BOTH))
    return Scoreboard(store.collection.read(), conventions)


def value(board: Scoreboard, run: str, name: str, query_id: str = "q1") -> float:
    [measure] = board.conventions.measures(name)
    return float(board.values(measure)[board.number_of(query_id), board.column_of(run)])


# Evidence --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "name", "expected"),
    [
        ("old", "EvidenceR@1", 5 / 11),
        ("old", "EvidenceP@1", 5 / 10),
        ("old", "EvidenceIoU@1", 5 / 16),
        ("old", "EvidenceP@2", 5 / 20),
        ("old", "EvidenceR@3", 1),
        ("old", "EvidenceIoU", 11 / 30),
        ("new", "EvidenceR@1", 6 / 11),
        ("new", "EvidenceP@1", 6 / 25),
        ("new", "EvidenceIoU@1", 6 / 30),
        ("new", "EvidenceP@prompt", 11 / 50),
        ("old", "EvidenceR@5c", 0),
        ("old", "EvidenceR@8c", 3 / 11),
        ("old", "EvidenceP@8c", 3 / 8),
        ("old", "EvidenceR@24c", (5 + 2) / 11),
        ("new", "EvidenceR@15c", 3 / 11),
        ("new", "EvidenceIoU@15c", 3 / (11 + 15 - 3)),
        ("new", "EvidenceP@900c", 11 / 50),
        ("old", "EvidenceR(rel=3)@1", 1),
        ("new", "EvidenceR(rel=3)@1", 0),
    ],
)
def test_evidence_by_hand(both: Store, run: str, name: str, expected: float):
    assert value(board_of(both), run, name) == pytest.approx(expected, abs=1e-15)


def test_a_chunking_that_nobody_graded_is_measured_by_the_evidence_of_another(both: Store):
    for chunkings in (BOTH, ("v2",)):
        board = board_of(both, *chunkings)
        [row] = [
            row
            for row in board.table(board.conventions.measures("EvidenceR@1"))
            if row.run == "new"
        ]
        assert (row.value, row.n, row.undefined) == (pytest.approx(6 / 11), 1, 1)
        [of_chunks] = [
            row for row in board.table(board.conventions.measures("R@1")) if row.run == "new"
        ]
        assert math.isnan(of_chunks.value)


@pytest.mark.parametrize("preset", ["graded", "trec_eval"])
def test_a_query_without_a_mark_is_undefined_and_counted(both: Store, preset: str):
    board = board_of(both, preset=preset)
    assert math.isnan(value(board, "old", "EvidenceR@5", "q2"))
    [row, _] = board.table(board.conventions.measures("EvidenceIoU@5"))
    assert (row.n, row.undefined) == (1, 1)
    [reason] = [
        each.reason
        for each in board.per_query("new", board.conventions.measures("EvidenceR@5"))
        if each.query_id == "q2"
    ]
    assert reason == "no passage is marked in what is relevant for this query"


def test_text_that_is_retrieved_twice_counts_twice_and_evidence_once(both: Store, loaded):
    both.chunks.load(loaded(cut(20, 0, 10, 20)), chunking="v3")
    both.runs.load(loaded([Ranking("q1", ("1", "2", "3"))]), name="overlapping", chunking="v3")
    board = board_of(both, "", "v3")
    assert value(board, "overlapping", "EvidenceR@2") == 1
    assert value(board, "overlapping", "EvidenceP@2") == 11 / 40
    assert value(board, "overlapping", "EvidenceIoU@3") == 11 / 60


def test_a_chunk_whose_place_is_unknown_is_retrieved_and_finds_nothing(both: Store, loaded):
    strange = Chunk("s", "Never said in any document of ours.")
    both.chunks.load(loaded([*cut(25, 0, 25), strange]), chunking="v4")
    both.runs.load(loaded([Ranking("q1", ("s", "1"))]), name="astray", chunking="v4")
    board = board_of(both, "", "v4")
    size = len("Neversaidinanydocumentofours.")
    assert value(board, "astray", "EvidenceP@2") == pytest.approx(6 / (25 + size))
    [row] = [
        row for row in board.table(board.conventions.measures("EvidenceR@2")) if row.run == "astray"
    ]
    assert row.unjudged == 1
    said = [note.sentence for note in board.notes(board.conventions.measures("EvidenceR@2"))]
    assert any("astray: 1 chunk" in each and "place" in each for each in said)


def test_marks_in_an_earlier_wording_of_a_chunk_are_no_evidence(both: Store, loaded):
    changed = replace(V1[1], text="abcdefghiX", start=None, end=None)
    both.chunks.load(loaded([changed]), update=True)
    board = board_of(both)
    assert value(board, "old", "EvidenceR@1") == 1


def test_evidence_is_what_is_marked_in_any_chunking(both: Store, golden):
    grades = [marked(V2, "2", 2, (20, 25))]
    both.golden_loads.add(golden(grades), chunking="v2")
    for chunkings in (BOTH, ("",), ("v2",)):
        board = board_of(both, *chunkings)
        run = board.run_names[0]
        [measure] = board.conventions.measures("EvidenceR")
        assert board.read_by(measure, run, "q1").total.tolist() == [16]


def test_a_grade_moves_the_evidence_of_every_chunking(both: Store):
    boards = {each: board_of(both, *each) for each in (BOTH, ("",), ("v2",))}
    names = "EvidenceR@1 EvidenceP@8c EvidenceIoU@2 nDCG(documents=True)@10 R@5"
    for board in boards.values():
        board.table(board.conventions.measures(names))
    both.people.add("Ana")

    def check() -> None:
        for chunkings, board in boards.items():
            board.refresh(*both.collection.news_since(board.revision, None))
            wanted = board.conventions.measures(names)
            fresh = board_of(both, *chunkings)
            assert repr(board.table(wanted)) == repr(fresh.table(wanted)), "live equals batch"

    both.judgments.add(Judgment("e1", "q2", "1", "Ana", grade=3, evidence=((0, 4),)))
    check()
    assert value(boards[BOTH], "new", "EvidenceR@1", "q2") == 0
    assert value(boards[BOTH], "new", "EvidenceR@2", "q2") == 1
    both.judgments.add(Judgment("e2", "q2", "1", "Ana", grade=3))
    check()
    assert math.isnan(value(boards[BOTH], "new", "EvidenceR@2", "q2")), "the mark was taken back"
    both.judgments.add(Judgment("e3", "q1", "3", "Ana", grade=0))
    check()
    assert value(boards[BOTH], "old", "EvidenceR@3") == 1
    assert value(boards[("v2",)], "new", "EvidenceR@1") == 1, "what is not relevant is no evidence"


@pytest.mark.parametrize("chunkings", [("",), BOTH], ids=["one of two", "both"])
def test_other_grades_move_what_compares_too(both: Store, chunkings: tuple[str, ...]):
    """A board made anew with a grade is what the board becomes that is told of it."""
    board = board_of(both, *chunkings)
    measures = board.conventions.measures("EvidenceR@2 R(documents=True)@2 R@2")
    golden, chunk = GoldenGrades.of(board), board.collection.chunk_ids.index("2")
    other = golden.changed(np.array([board.number_of("q1") << 32 | chunk]), np.array([0]))
    anew = regraded(board, board.run_names, other)
    board.refresh([GradeChange("q1", chunk, 0)], board.revision + 1)
    told = [each.means(measures).value for each in (anew, board)]
    np.testing.assert_array_equal(*told)


def test_the_past_has_the_evidence_of_then(both: Store):
    names = "EvidenceR@1 EvidenceP@15c EvidenceIoU@2 RR(documents=True)"

    def table(collection: Collection) -> str:
        conventions = Conventions.of(selected=Selection(chunkings=BOTH))
        board = Scoreboard(collection, conventions)
        return repr(board.table(conventions.measures(names)))

    both.people.add("Ana")
    for event, day, evidence in (("e1", 1, ((0, 4),)), ("e2", 3, ((0, 8),)), ("e3", 5, ())):
        at = f"2020-01-0{day}T12:00:00.000Z"
        both.judgments.add(
            Judgment(event, "q2", "1", "Ana", grade=3, evidence=evidence, created_at=at)
        )
    found = []
    for day in (1, 2, 4, 6):
        then = both.versions.collection_at(datetime(2020, 1, day, tzinfo=UTC), ["old", "new"])
        board = Scoreboard(then, Conventions.of(selected=Selection(chunkings=BOTH)))
        [measure] = board.conventions.measures("EvidenceR")
        found.append(board.read_by(measure, "new", "q2").total.tolist())
    assert found == [[0], [4], [8], [0]], "a mark counts from when it was made until it was undone"
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert table(both.versions.collection_at(tomorrow, ["old", "new"])) == table(
        both.collection.read()
    )


def test_a_run_against_itself_has_no_difference(both: Store, loaded):
    both.runs.load(
        loaded([Ranking("q1", ("1", "2")), Ranking("q2", ("2", "1"))]), name="again", chunking="v2"
    )
    board = board_of(both)
    names = "EvidenceR@1 EvidenceP@15c EvidenceIoU@2 R(documents=True)@5"
    found = compare(board, "new", "again", board.conventions.measures(names))
    assert [row.delta for row in found.deltas] == [0, 0, 0, 0]


def test_what_each_chunk_brings_adds_up_to_the_difference(both: Store):
    board = board_of(both)
    for name in ("EvidenceR@1", "EvidenceP@24c", "EvidenceIoU@2", "RR(documents=True)"):
        [measure] = board.conventions.measures(name)
        [row] = [
            row
            for row in compare(board, "old", "new", [measure]).queries(measure)
            if row.query_id == "q1"
        ]
        parts = [
            each.contribution for each in find_rank_changes(board, "old", "new", "q1", measure)
        ]
        assert sum(part or 0 for part in parts) == pytest.approx(row.delta)
    assert None not in parts


# Documents -------------------------------------------------------------------------------------


def test_a_document_stands_where_its_first_chunk_does_with_its_best_grade(both: Store, loaded):
    both.runs.load(loaded([Ranking("q1", ("x", "5", "4", "3"))]), name="late")
    board = board_of(both)
    assert value(board, "late", "RR(documents=True)") == 1 / 2
    assert value(board, "late", "R(documents=True)@1") == 0
    assert value(board, "late", "R(rel=3, documents=True)@2") == 1, "its best chunk has a 3"
    assert value(board, "late", "P(documents=True)@2") == 1 / 2
    assert value(board, "late", "nDCG(documents=True)@10") == pytest.approx(1 / math.log2(3))
    assert value(board, "new", "RR(documents=True)") == 1, "though no chunk of its own is graded"
    [measure] = board.conventions.measures("R(documents=True)@4")
    assert board.unjudged(measure)[0].tolist() == [0, 0, 1], "of one document no chunk is graded"


def test_documents_are_those_that_chunks_name_or_are_found_in(both: Store, loaded):
    nameless = [replace(chunk, document_id=None, start=None, end=None) for chunk in V2]
    both.chunks.load(loaded(nameless), chunking="bare")
    both.runs.load(loaded([Ranking("q1", ("2",))]), name="bare", chunking="bare")
    assert value(board_of(both, "", "bare"), "bare", "RR(documents=True)") == 1


@pytest.mark.parametrize("name", ["R(documents=True)@5", "EvidenceR@2", "R@5"])
def test_where_facets_cross_every_query_counts_that_does_in_a_bucket(both: Store, name: str):
    buckets = {"q1": {"of": "letters", "size": "s"}, "q2": {"of": "digits", "size": "s"}}
    told = [replace(query, buckets=buckets[query.query_id]) for query in both.queries.all()]
    both.queries.load(loaded(told), update=True)
    board = board_of(both, "v2")
    [measure] = board.conventions.measures(name)
    cells = {cell.bucket: cell for cell in cross_facets(board, ["new"], measure, "of", "size")}
    assert len(cells) == 2
    for row in board.table([measure], "of"):
        cell = cells[row.bucket]
        assert (cell.n, cell.undefined) == (row.n, row.undefined)
        np.testing.assert_equal(cell.values, (row.value,))


def test_without_texts_nothing_is_known_of_documents_and_evidence():
    board = Scoreboard(collect({"q": {"c": 3}}, {"A": {"q": ["c"]}}), Conventions.of())
    rows = board.table(board.conventions.measures("EvidenceR@5 R(documents=True)@5 R@5"))
    assert [math.isnan(row.value) for row in rows] == [True, True, False]
    assert [row.n for row in rows] == [0, 0, 1]


# Text in common -----------------------------------------------------------------------------------


def test_chunks_of_two_chunkings_are_joined_by_the_text_they_share(both: Store):
    board = board_of(both)
    found = find_shared_text(board, "old", "new", "q1") or []
    assert [(each.rank_a, each.rank_b, each.of_a, each.of_b) for each in found] == [
        (1, 1, 0.5, 0.2),
        (1, 2, 0.5, 0.2),
        (2, 1, 1.0, 0.4),
        (3, 1, 1.0, 0.4),
    ]
    ids = board.collection.chunk_ids
    beside = {ids[chunk]: rank for chunk, rank in best_partners(found).items()}
    assert beside == {"3": 1, "1": 1, "2": 1, "v2:1": 2, "v2:2": 1}
    said = {ids[chunk]: words for chunk, words in describe_shared_text(found).items()}
    assert said["3"] == "B 1: 50% of it, 20% of that; B 2: 50% of it, 20% of that"


def test_runs_of_one_chunking_are_joined_by_their_chunks(both: Store, loaded):
    both.runs.load(loaded([Ranking("q1", ("2",))]), name="again", chunking="")
    assert find_shared_text(board_of(both), "old", "again", "q1") is None


# Laws ------------------------------------------------------------------------------------------

SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=12)


@st.composite
def cuts(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[int], list[tuple[int, int]]]:
    """Chunks as spans of fifty characters, a ranking of them, and evidence, disjoint and sorted."""
    chunks = [
        (start, draw(st.integers(start + 1, 50)))
        for start in draw(st.lists(st.integers(0, 49), min_size=1, max_size=8))
    ]
    order = draw(st.permutations(range(len(chunks))))
    edges = sorted(draw(st.sets(st.integers(0, 50), min_size=2, max_size=8)))
    evidence = list(zip(edges[::2], edges[1::2], strict=False))
    return chunks, order, evidence


def finds_of(
    ranked: Sequence[tuple[int, int]], evidence: Sequence[tuple[int, int]]
) -> FoundEvidence:
    """The finds of one ranking, character by character."""
    left = {at for start, end in evidence for at in range(start, end)}
    total, entries = len(left), []
    for rank, (start, end) in enumerate(ranked, 1):
        entries += [(rank, at - start) for at in range(start, end) if at in left]
        left -= set(range(start, end))
    ranks = sorted({rank for rank, _ in entries})

    def ints(values: Sequence[int]):
        return np.array(values, dtype=np.int64)

    return FoundEvidence(
        ints([0] * len(ranks)),
        ints(ranks),
        ints([ranks.index(rank) for rank, _ in entries]),
        ints([at for _, at in entries]),
        ints([1] * len(entries)),
        ints([total]),
        RetrievedTexts.of([[TEXT[start:end] for start, end in ranked]]),
    )


@given(cuts(), measures(among=OF_EVIDENCE))
def test_a_value_is_a_share_and_what_chunks_bring_adds_up_to_it(given_cuts, measure):
    chunks, order, evidence = given_cuts
    finds = finds_of([chunks[at] for at in order], evidence)
    [found] = score(finds, measure).tolist()
    assert 0 <= found <= 1
    assert terms(finds, measure).sum() == pytest.approx(found)


@given(cuts(), st.integers(1, 9), st.integers(1, 60))
def test_more_text_never_lowers_the_recall_of_evidence(given_cuts, k: int, characters: int):
    chunks, order, evidence = given_cuts
    finds = finds_of([chunks[at] for at in order], evidence)
    for less, more in (
        (f"EvidenceR@{k}", f"EvidenceR@{k + 1}"),
        (f"EvidenceR@{characters}c", f"EvidenceR@{characters + 1}c"),
    ):
        assert score(finds, parse(less))[0] <= score(finds, parse(more))[0]


@given(SIZES, SIZES, st.integers(1, 60), cuts())
def test_no_chunker_wins_a_prompt_of_characters_by_the_length_of_its_chunks(
    some: list[int], others: list[int], characters: int, given_cuts
):
    """The same text in the same order is the same prompt, however it is cut."""

    def ranked(sizes: list[int]) -> list[tuple[int, int]]:
        found, at = [], 0
        while at < 50:
            size = sizes[len(found) % len(sizes)]
            found.append((at, min(50, at + size)))
            at += size
        return found

    *_, evidence = given_cuts
    for name in (f"EvidenceR@{characters}c", f"EvidenceP@{characters}c"):
        one, other = (
            score(finds_of(ranked(sizes), evidence), parse(name)) for sizes in (some, others)
        )
        assert one == other


def test_places_found_by_alignment_give_what_offsets_give(
    both: Store, tmp_path: Path, loaded, golden
):
    with Store(tmp_path / "bare.db", create=True) as bare:
        bare.queries.load(loaded([Query("q1", "which letters?")]))
        bare.chunks.load(loaded([replace(chunk, start=None, end=None) for chunk in V1]))
        bare.runs.load(loaded([Ranking("q1", ("3", "1", "2"))]), name="old")
        bare.golden_loads.add(golden([marked(V1, "2", 2, (2, 8)), marked(V1, "3", 3, (5, 10))]))
        bare.chunks.load(loaded([replace(c, start=None, end=None) for c in V2]), chunking="v2")
        bare.runs.load(loaded([Ranking("q1", ("1", "2"))]), name="new", chunking="v2")
        for name in ("EvidenceR@1", "EvidenceP@1", "EvidenceIoU@15c"):
            for run in ("old", "new"):
                assert value(board_of(bare), run, name) == value(board_of(both), run, name)


# In a terminal and on the pages -------------------------------------------------------------------


@pytest.fixture
def golden_set(both: Store, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, where commands and pages look for it."""
    monkeypatch.setenv("LABELER_DB", str(both.path))
    return both.path


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments, prog_name="labeler")
    assert result.exit_code == 0, result.output
    return result.stdout


def table_of(shown: str) -> list[str]:
    """Return the first column of the table in what `labeler compare` shows."""
    [table] = [part for part in shown.split("\n\n") if part.startswith("Measure")]
    return [line.split()[0] for line in table.splitlines()[1:]]


def test_score_has_one_table_of_all_runs_for_what_compares(golden_set: Path):
    asked = ("score", "--measures", "R@5 EvidenceR@1 EvidenceIoU@15c nDCG(documents=True)@10")
    rows = json.loads(printed(*asked, "--format", "json"))
    found = {(row["run"], row["measure"]): row for row in rows}
    assert list(found)[:2] == [("old", "EvidenceR@1"), ("old", "EvidenceIoU@15c")]
    assert found["old", "EvidenceR@1"]["value"] == pytest.approx(5 / 11)
    assert found["new", "EvidenceIoU@15c"]["value"] == pytest.approx(3 / 23)
    assert found["new", "EvidenceR@1"]["full_name"] == "EvidenceR(rel=1)@1"
    assert (found["new", "EvidenceR@1"]["n"], found["new", "EvidenceR@1"]["undefined"]) == (1, 1)
    assert found["old", "R@5"]["value"] == 1
    assert found["new", "R@5"]["value"] is None
    tables = [part for part in printed(*asked).split("\n\n") if part.startswith("run")]
    assert [part.split()[1] for part in tables] == ["EvidenceR@1", "R@5", "R@5"]
    alone = printed("score", "--chunking", "v2", "--measures", "EvidenceR@1")
    assert "0.5455" in alone
    assert "\nold" not in alone


def test_compare_leads_with_what_compares_and_says_why(golden_set: Path):
    shown = printed("compare", "old", "new")
    assert shown.startswith(
        "old and new can't be compared yet: they return different chunks (the default chunking and "
        "chunking v2), and only one of the two has grades.\nNext step: Transfer the grades "
    )
    assert table_of(shown) == [*CROSS_CHUNKING_MEASURES[:4], "R(documents=True)@5"]
    assert "R@5 " not in shown, "no chunk of v2 is graded, so there is nothing to show"
    assert "what compares is which evidence and which documents they find" in shown
    assert "1 of 2 graded queries without a passage marked" in shown
    assert "a prompt of characters cuts" in printed("compare", "old", "new", "--explain")
    refused = CliRunner().invoke(main, ["compare", "old", "new", "--graders"])
    assert refused.exit_code == 1
    assert "ask for measures of chunks" in refused.stderr


def test_measures_of_chunks_follow_once_chunks_of_both_are_graded(golden_set: Path, both, golden):
    both.golden_loads.add(golden([GoldenGrade("q1", "1", 1)]), chunking="v2")
    shown = printed("compare", "old", "new")
    assert shown.splitlines()[:3] == [
        "Too few queries to compare old and new: 1.",
        "0.0000 EvidenceR@2000c, from 1.0000 to 1.0000.",
        "1 of 2 queries (1 with no passage marked): new is better on 0, worse on 0.",
    ]
    assert table_of(shown)[5:7] == ["nDCG@10", "R@5"]
    where = printed("compare", "old", "new", "--measures", "EvidenceR@5", "--per-query")
    assert "\nq1     EvidenceR@5  1.0000  1.0000" in where


def test_two_chunkings_without_any_grade_are_not_sent_to_a_transfer(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    store.queries.load(loaded([Query("q1", "which letters?")]))
    for name, chunks, chunking in (("old", V1, ""), ("new", V2, "v2")):
        store.chunks.load(loaded(chunks), chunking=chunking)
        store.runs.load(loaded([Ranking("q1", ("1", "2"))]), name=name, chunking=chunking)
    monkeypatch.setenv("LABELER_DB", str(store.path))
    above, _ = printed("compare", "old", "new").split("\n\n", 1)
    assert above == (
        "old and new can't be compared yet: they return different chunks (the default chunking "
        "and chunking v2), and neither has grades."
    )


def test_compare_shows_what_compares_and_opens_a_query(golden_set: Path):
    given = {"a": "old", "b": "new", "by": "EvidenceR@1", "measure": "EvidenceR@1"}
    said = words(open_page("compare", **given, show="All numbers"))
    computed = words(open_page("compare", **given, show="How computed"))
    assert "what compares is which evidence and which documents they find" in computed
    assert "0.4545" in said
    assert "0.5455" in said
    assert "+0.0909" in said
    assert "There are no ranges over unjudged chunks here" in computed
    usual = words(open_page("compare", a="old", b="new", show="All numbers"))
    assert "EvidenceR@2000c" in usual
    assert "R(documents=True)@5" in usual
    assert "Success@3" not in usual
    opened = open_page("compare", a="old", b="new", by="EvidenceR@1", query="q1")
    assert "evidence counts for the first chunk that brings it" in words(opened)
    assert "EvidenceR@2000c has no what-if: it counts text" in words(opened)
    tried = words(open_page("compare", a="old", b="new", measure="RR", query="q1", chunk="3"))
    assert "What if old had it at …" in tried
    assert "The same for new" not in tried, "which is of another chunking"
    unmarked = words(open_page("compare", a="old", b="new", query="q2"))
    assert "No passage is marked in what is relevant to q2" in unmarked
    assert "not known: not every chunking has grades for this query" in unmarked
    assert "nobody has graded a chunk of this query" not in unmarked
    assert "not graded||not graded" not in unmarked, "it is graded, and undefined"


@pytest.mark.parametrize("page", ["compare", "slices"])
def test_two_chunkings_of_which_one_has_grades_are_not_compared_but_lead_to_a_transfer(
    golden_set: Path, both: Store, page: str
):
    told = [replace(query, buckets={"of": "letters"}) for query in both.queries.all()]
    both.queries.load(loaded(told), update=True)
    app = open_page(page, a="old", b="new")
    said = words(app)
    assert "old and new can't be compared yet: they return different chunks" in said
    assert "⚠" not in said
    assert "labeler transfer" not in said
    assert "letters (of)" not in said
    assert said.count("|Transfer the grades|") == 1
    bodies = "".join(each.proto.body for each in app.get("html"))
    assert re.search(r'href="/data\?[^"]*section=Advanced&amp;show=Transfer"', bodies)
    if page == "slices":
        assert "not tested" not in said


def test_scores_shows_all_chunkings_in_one_table(golden_set: Path):
    first = words(open_page("scores"))
    left_out = "1 more run, new, returns other chunks (chunking v2) and can't be compared here."
    assert left_out in first
    with Store(golden_set) as store:
        store.queries.load(
            loaded([replace(each, task="single") for each in store.queries.all()]), update=True
        )
    assert left_out in words(open_page("scores", facet="task"))
    assert "Rank all by evidence and documents" in first
    every = words(open_page("scores", chunking="*", measure="EvidenceR@1"))
    assert "0.4545" in every
    assert "0.5455" in every
    assert "⚠" not in every
    assert "1 of 2 queries (1 with no passage marked)" in every
    told = words(open_page("scores", chunking="*", view="how computed"))
    assert "what compares is which evidence and which documents they find" in told
    assert words(open_page("queries", chunking="*")), "it goes along to pages that show one"


def test_slices_shows_a_run_of_ungraded_chunks_among_all_chunkings(golden_set: Path, both: Store):
    asked = [Query("q1", "which letters?", task="single"), Query("q2", "which digits?")]
    both.queries.load(loaded(asked), update=True)
    sliced = open_page("slices", chunking="*", a="new", measure="EvidenceR@1", numbers="true")
    assert "0.5455" in words(sliced)


@pytest.mark.parametrize("page", ["queries", "slices"])
def test_of_a_chunking_that_nobody_graded_a_page_says_that_it_is_of_that_one(
    both: Store, page: str
):
    told = [replace(query, buckets={"of": "letters"}) for query in both.queries.all()]
    both.queries.load(loaded(told), update=True)
    app = open_page(page, a="new", chunking="v2")
    assert "Of chunking v2: 0 of 2 queries have grades" in words(app)
    said = words(app)
    assert "Nobody has graded a chunk of chunking v2 yet" in said
    assert "labeler load golden FILE --chunking v2" in said
    assert "Transfer grades of the default chunking to these chunks" in words(app)
