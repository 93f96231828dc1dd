"""Golden texts in other texts: found whole or nearly, with the line, and nothing else with them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rapidfuzz.distance import LCSseq

from labeler.analysis.leakage import Leak, Needle, NeedleFinder, leaks_in
from labeler.analysis.text_similarity import comparable_words, similar_pairs
from labeler.errors import BadInput, NotFound
from labeler.formats import read_text_blocks, text_blocks

ASKED = "What does the warranty of a travel card cover abroad?"
NEARLY = "what does the warranty of a travel card include abroad"
OTHER = "The card is made of paper, and what it costs abroad nobody does know."


def finder(*texts: str, threshold: float = 0.8) -> NeedleFinder:
    return NeedleFinder(
        [Needle(f"q{n}", "query", text) for n, text in enumerate(texts, 1)], threshold
    )


def leaks(path: Path, *texts: str, threshold: float = 0.8) -> list[Leak]:
    return [*leaks_in(path, finder(*texts, threshold=threshold))]


def places(found: list[Leak]) -> list[tuple[str, int, str, float]]:
    return [(leak.needle.query_id, leak.line, leak.field, round(leak.score, 3)) for leak in found]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (ASKED, 1),
        (f"Q: {ASKED.upper()} A: theft.", 1),
        ("what does the\twarranty of a ｔｒａｖｅｌ card —cover— abroad", 1),
        (f"so {NEARLY} then", 0.9),
        ("what does the warranty of a travel credit card cover abroad", 0.9),
        ("what does the warranty of a card cover abroad", 0.9),
        ("the warranty of a travel card cover abroad", 0.8),
        (OTHER, None),
        ("abroad cover card travel a of warranty the does what", None),
        ("what does the insurance of a travel pass cost abroad", None),
    ],
)
def test_a_query_is_found_whatever_its_case_and_with_a_word_changed(
    text: str, score: float | None
) -> None:
    found = finder(ASKED).find([OTHER, text, OTHER])
    assert [(find.first, round(find.score, 3)) for find in found] == (
        [] if score is None else [(1, score)]
    )
    assert [find.is_exact for find in found] == [score == 1] * len(found)


def test_a_threshold_of_one_finds_whole_texts_alone() -> None:
    assert [find.first for find in finder(ASKED, threshold=1).find([NEARLY, ASKED])] == [1]
    with pytest.raises(BadInput, match=r"a share from 0\.5 to 1, not 0\.4"):
        finder(ASKED, threshold=0.4)


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("REFUND, policy!", True),
        ("You answer what customers ask.\nRefund policy\nTell them where it is.", True),
        ("Q: refund policy?\nA: 30 days.", True),
        ("User 12: refund policy", True),
        ("1. delivery times\n2. refund policy\n", True),
        ("- delivery times\n* refund  policy", True),
        ("Hello. Refund policy? Thanks.", True),
        ("id\trefund policy\t3", True),
        ("our refund policy is here", False),
        ("Read our refund policy. It is short.", False),
        ("the refund\npolicy", False),
        ("ours: refund policy", False),
        ("refund", False),
        ("refund policy refund policy", False),
        ("policy refund", False),
    ],
)
def test_a_short_query_is_found_where_it_is_a_line_or_a_sentence(text: str, is_found: bool) -> None:
    found = finder("Refund policy").find(["of something else", text])
    assert [(find.first, find.score, find.words) for find in found] == (
        [(1, 1.0, "refund policy")] if is_found else []
    )


def test_short_queries_of_one_to_four_words_are_told_apart() -> None:
    texts = ("refund", "refund policy", "refund policy uk", "the refund policy uk", "policy uk")
    for number, text in enumerate(texts):
        found = finder(*texts).find([f"Examples:\n{text}\nand no more"])
        assert [find.needle for find in found] == [number]


def test_a_short_query_in_a_prompt_is_found_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    prompt = "Answer as in these examples.\nrefund policy -> returns"
    whole = prompt.replace(" -> returns", "\nreturns")
    path.write_text("\n".join(json.dumps({"prompt": each}) for each in (prompt, whole)))
    assert places(leaks(path, "refund policy")) == [("q1", 2, "prompt", 1)]
    plain = tmp_path / "prompt.txt"
    plain.write_text("our refund policy\nanother line\nRefund policy:\n")
    assert places(leaks(plain, "refund policy")) == [("q1", 3, "", 1)]


def test_scripts_without_blanks_have_a_word_for_each_letter() -> None:
    found = finder("旅行カードの保証は何ですか").find(["質問:旅行カードの保険は何ですか。"])
    assert [round(find.score, 2) for find in found] == [0.92]


def test_of_a_passage_that_says_it_twice_the_likest_place_is_told_once() -> None:
    [find] = finder(ASKED).find([f"{NEARLY}. {ASKED}"])
    assert (find.score, find.words) == (1, " ".join(comparable_words(ASKED)))


def test_passages_that_stand_for_themselves_do_not_make_a_query_together() -> None:
    halves = [ASKED[:26], ASKED[26:]]
    assert finder(ASKED).find(halves) == []
    [find] = finder(ASKED).find(halves, flowing=True)
    assert (find.first, find.last, find.is_exact) == (0, 1, True)


@pytest.mark.parametrize("threshold", [0.6, 0.7, 0.8, 0.9, 1.0])
def test_everything_near_enough_is_found_and_scored_as_said(threshold: float) -> None:
    """Held against the definition: every stretch of as many words is compared with the needle."""
    random = np.random.default_rng(7)
    missed = found_in_all = 0
    for _ in range(60):
        size = int(random.integers(5, 14))
        needle = [f"w{n}" for n in random.integers(0, 12, size)]
        text = [f"w{n}" for n in random.integers(0, 40, 120)]
        copy = [*needle]
        for at in random.integers(0, size, int(random.integers(0, 3))):
            copy[at] = "other"
        text[50:50] = copy
        windows = (text[at : at + size] for at in range(len(text) - size + 1))
        best = max(LCSseq.similarity(needle, window) for window in windows) / size
        found = finder(" ".join(needle), threshold=threshold).find([" ".join(text)])
        assert [round(each.score, 9) for each in found] in ([], [round(best, 9)])
        missed += best >= threshold and not found
        found_in_all += len(found)
        if best < threshold:
            assert not found
    assert found_in_all > 10
    assert not missed


def test_jsonl_names_the_line_and_the_way_to_the_text(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl.gz"
    lines = [
        {"messages": [{"role": "user", "content": OTHER}]},
        {"messages": [{"role": "user", "content": f"Hi!\n{NEARLY}"}, {"content": OTHER}]},
        {"a": {"b": [ASKED]}, "key": 1},
    ]
    text = "\n\n".join(json.dumps(line) for line in lines)
    path.write_bytes(gzip.compress(text.encode()))
    found = leaks(path, ASKED)
    assert places(found) == [("q1", 3, "messages[0].content", 0.9), ("q1", 5, "a.b[0]", 1)]
    assert found[0].words == " ".join(comparable_words(NEARLY))


def test_a_key_that_stands_twice_hides_nothing(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(f'{{"text": "{ASKED}", "text": "none"}}\n')
    assert places(leaks(path, ASKED)) == [("q1", 1, "text", 1)]


def test_a_table_names_the_row_and_the_column(tmp_path: Path) -> None:
    path = tmp_path / "few-shot.csv"
    path.write_text(f'prompt,answer\n"{OTHER}\n{OTHER}",x\n"{ASKED}",y,more\n')
    assert places(leaks(path, ASKED)) == [("q1", 4, "prompt", 1)]
    path.write_text(f"prompt;answer\nx;{ASKED}\n")
    assert places(leaks(path, ASKED)) == [("q1", 2, "answer", 1)]


def test_parquet_names_the_row_and_reads_nested_texts(tmp_path: Path) -> None:
    path = tmp_path / "data" / "part-0.parquet"
    path.parent.mkdir()
    chats = [[{"content": OTHER}], [{"content": OTHER}, {"content": ASKED}], None]
    table = pa.table({"n": [1, 2, 3], "chat": chats, "text": [None, OTHER, NEARLY]})
    pq.write_table(table, path)
    assert places(leaks(path, ASKED)) == [
        ("q1", 2, "chat[1].content", 1),
        ("q1", 3, "text", 0.9),
    ]


def test_plain_text_may_break_a_query_over_lines(tmp_path: Path) -> None:
    path = tmp_path / "prompt.md"
    path.write_bytes(f"{OTHER}\r\n\r\n> {ASKED[:26]}\r\n> {ASKED[26:]}\r\n{OTHER}".encode())
    assert places(leaks(path, ASKED)) == [("q1", 3, "", 1)]


def test_a_json_document_is_read_by_line_with_its_escapes(tmp_path: Path) -> None:
    path = tmp_path / "prompts.json"
    said = ASKED.replace("card", "càrd")
    path.write_text(json.dumps([{"q": f"A\n{said}"}, {"q": OTHER}], indent=1))
    assert places(leaks(path, said)) == [("q1", 3, "", 1)]


def test_a_query_across_two_blocks_of_a_file_is_found_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "corpus.txt"
    for before in range(30):
        filler = "\n".join(f"line {n} says this" for n in range(before))
        path.write_text(f"{filler}\n{ASKED[:4]}\n{ASKED[4:26]}\n{ASKED[26:]}\n{filler}\n{filler}")
        monkeypatch.setattr(text_blocks, "_BLOCK", 200)
        assert places(leaks(path, ASKED)) == [("q1", before + 1 + (not before), "", 1)]


def test_odd_bytes_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "crawl.txt"
    path.write_bytes(b"\xff\xfe\xfa \x00 odd\n"[2:] + ASKED.encode() + b"\n\xff\xff")
    assert places(leaks(path, ASKED)) == [("q1", 2, "", 1)]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b'{"a": 1}\n{"a": ', r"a\.jsonl:2: not JSON at column 6 "),
        ("a.jsonl", b"", r"a\.jsonl: the file is empty"),
        ("a.parquet", b"PAR1\x15 no more", r"a\.parquet: the Parquet file is cut off or"),
        ("a.parquet", b"text", r"a\.parquet: its name says Parquet, its first bytes do not"),
        ("a.csv", b'a,b\n1,"2\n', r"a\.csv:2: a quote that opens in this record is never closed"),
        ("a.txt", b"%PDF-1.4", r"a\.txt: the file is a PDF; save its texts"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_line(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=said):
        leaks(tmp_path / name, ASKED)
    with pytest.raises(NotFound, match="there is no such file"):
        [*read_text_blocks(tmp_path / "none.txt")]


def test_queries_that_are_nearly_the_same_are_paired() -> None:
    texts = ["Reset my password", ASKED, "reset  MY password!", NEARLY, "?", "!"]
    assert [(pair.first, pair.second, round(pair.score, 3)) for pair in similar_pairs(texts)] == [
        (0, 2, 1),
        (1, 3, 0.9),
    ]
    assert [pair.second for pair in similar_pairs(texts, 1)] == [2]
