"""``labeler open``: two dumps become a golden set and Compare opens; or it says why not."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.cli.open import names_by_file
from labeler.store import Store
from tests.browser.server import any_port
from tests.support.dumps import write_dumps

Opened = Callable[..., tuple[int, list[str], str]]


class Serving(Exception):
    """The server would have started."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    return tmp_path


@pytest.fixture
def opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Run ``labeler open``; return the exit code, what is said, and the page that is opened."""
    started: list[Sequence[str]] = []

    def serve(_: str, command: Sequence[str], __: object) -> NoReturn:
        started.append(command)
        raise Serving

    monkeypatch.setattr(os, "execve", serve)

    def run(*arguments: str) -> tuple[int, list[str], str]:
        started.clear()
        result = CliRunner().invoke(main, ["open", "--no-browser", *arguments], prog_name="labeler")
        served = isinstance(result.exception, Serving)
        assert served or isinstance(result.exception, SystemExit | None), result.exception
        page = started[0][6] if served else ""
        return 0 if served else result.exit_code, result.output.splitlines(), page

    return run


def dump(path: Path, lists: dict[str, list[str]], **more: object) -> Path:
    """Write what a retriever found for each question, with texts."""
    records = [
        {
            "query": question,
            "results": [{"id": name, "text": f"Text of {name}."} for name in names],
            **more,
        }
        for question, names in lists.items()
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


ONE = {"how long": ["c1", "c2"], "how far": ["c3", "c4"]}
TWO = {"how long": ["c2", "c5"], "how far": ["c3", "c6"]}


def test_from_an_empty_folder_two_dumps_open_compare(opened: Opened, folder: Path) -> None:
    write_dumps(folder)
    code, said, page = opened("bm25.json", "dense.json")
    assert code == 0, said
    assert page == "/compare?a=bm25&b=dense"
    assert said[0] == "bm25 and dense are in golden.db."
    assert said[1].startswith("60 queries, ")
    assert said[2].startswith("bm25 and dense share ")
    assert "the first result is the same" in said[3]
    with Store(folder / "golden.db") as store:
        assert [run.name for run in store.runs.all()] == ["bm25", "dense"]
        assert store.queries.count() == 60
        assert store.golden_set.contents().chunks_without_text == 0
        assert store.golden_set.contents().judgments == 0


def test_the_same_again_adds_nothing_and_opens_the_same(opened: Opened, folder: Path) -> None:
    files = [str(dump(folder / "a.json", ONE)), str(dump(folder / "b.json", TWO))]
    first = opened(*files)
    with Store(folder / "golden.db") as store:
        before = store.golden_set.data_revision()
    assert opened(*files) == first
    with Store(folder / "golden.db") as store:
        assert store.golden_set.data_revision() == before


def test_another_golden_set_is_named_with_db(opened: Opened, folder: Path) -> None:
    files = [str(dump(folder / "a.json", ONE)), str(dump(folder / "b.json", TWO))]
    code, said, _ = opened("--db", "other.db", *files)
    assert (code, said[0]) == (0, "a and b are in other.db.")
    assert not (folder / "golden.db").exists()


def test_one_file_with_two_systems_is_a_pair(opened: Opened, folder: Path) -> None:
    lines = ["query_id,query,system,chunk_id,text,score"]
    lines += [f"q1,how long,{name},c{n},text {n},{9 - n}" for name in "xy" for n in (1, 2)]
    (folder / "both.csv").write_text("\n".join(lines), encoding="utf-8")
    code, said, page = opened("both.csv")
    assert (code, page) == (0, "/compare?a=x&b=y"), said


def test_of_more_than_two_runs_it_says_which_there_are_and_how_to_choose(
    opened: Opened, folder: Path
) -> None:
    lines = ["query_id,query,system,chunk_id,text,score"]
    lines += [f"q1,how long,{name},c{n},text {n},{9 - n}" for name in "xyz" for n in (1, 2)]
    (folder / "all.csv").write_text("\n".join(lines), encoding="utf-8")
    code, said, _ = opened("all.csv")
    assert code == 1
    assert "all.csv holds x, y, z" in said[-1]
    assert "--run NAME --run NAME" in said[-1]
    assert not (folder / "golden.db").exists(), "all or nothing"
    code, said, page = opened("all.csv", "--run", "z", "--run", "x")
    assert (code, page) == (0, "/compare?a=z&b=x"), said
    code, said, _ = opened("all.csv", "--run", "z", "--run", "nobody")
    assert (code, "no run is called 'nobody'; there are: x, y, z" in said[-1]) == (1, True)


def test_one_run_alone_is_refused(opened: Opened, folder: Path) -> None:
    code, said, _ = opened(str(dump(folder / "a.json", ONE)))
    assert code == 1
    assert "one run alone cannot be compared; name a second file" in said[-1]


def test_runs_of_one_name_are_named_by_their_files(opened: Opened, folder: Path) -> None:
    one, two = (
        dump(folder / "old.json", ONE, system="rag"),
        dump(folder / "new.json", TWO, system="rag"),
    )
    code, said, page = opened(str(one), str(two))
    assert (code, page) == (0, "/compare?a=old&b=new"), said


def test_files_of_one_name_are_named_with_their_folders(opened: Opened, folder: Path) -> None:
    files = [
        str(dump(folder / name / "run.json", lists)) for name, lists in (("a", ONE), ("b", TWO))
    ]
    code, said, page = opened(*files)
    assert (code, page) == (0, "/compare?a=a%2Frun&b=b%2Frun"), said


def test_three_files_and_the_same_file_twice_are_refused(opened: Opened, folder: Path) -> None:
    one, two = str(dump(folder / "a.json", ONE)), str(dump(folder / "b.json", TWO))
    code, said, _ = opened(one, two, one)
    assert (code, "two dumps are compared, not 3" in said[-1]) == (2, True)
    code, said, _ = opened(one, one)
    assert (code, "hold the same, so there is nothing to compare" in said[-1]) == (1, True)
    code, said, _ = opened(one, str(dump(folder / "copy.json", ONE)))
    assert (code, "hold the same" in said[-1]) == (1, True)
    assert not (folder / "golden.db").exists()


def test_dumps_without_a_common_question_are_refused(opened: Opened, folder: Path) -> None:
    other = {"what colour": ["c1", "c2"]}
    code, said, _ = opened(str(dump(folder / "a.json", ONE)), str(dump(folder / "b.json", other)))
    assert code == 1
    assert "share no query" in said[-1]
    assert "'how long'" in said[-1]
    assert "'what colour'" in said[-1]
    assert not (folder / "golden.db").exists()


def test_runs_of_ids_alone_need_their_texts_first(opened: Opened, folder: Path) -> None:
    for name, chunks in (("a", "c1 c2"), ("b", "c2 c3")):
        rows = [f"q1 Q0 {chunk} {n} {1 / n} {name}" for n, chunk in enumerate(chunks.split(), 1)]
        (folder / f"{name}.trec").write_text("\n".join(rows), encoding="utf-8")
    code, said, _ = opened("a.trec", "b.trec")
    assert (code, "labeler load queries FILE" in said[-1]) == (1, True), said
    (folder / "q.tsv").write_text("query_id\tquery\nq1\thow long\n", encoding="utf-8")
    loaded = CliRunner().invoke(main, ["load", "queries", "q.tsv"])
    assert loaded.exit_code == 0, loaded.output
    code, said, _ = opened("a.trec", "b.trec")
    assert (code, "nobody could grade them" in said[-1]) == (1, True), said
    (folder / "c.tsv").write_text("chunk_id\ttext\nc1\tone\nc2\ttwo\n", encoding="utf-8")
    loaded = CliRunner().invoke(main, ["load", "chunks", "c.tsv"])
    assert loaded.exit_code == 0, loaded.output
    code, said, page = opened("a.trec", "b.trec")
    assert (code, page) == (0, "/compare?a=a&b=b"), said
    assert "! 1 chunk there has no text and cannot be graded." in said


def test_a_dump_of_an_unknown_shape_is_read_with_a_map(opened: Opened, folder: Path) -> None:
    for name, lists in (("a", ONE), ("b", TWO)):
        lines = [
            json.dumps(
                {"q9": asked, "hits9": [{"key9": each, "body9": f"Text {each}"} for each in of]}
            )
            for asked, of in lists.items()
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    code, said, _ = opened("a.jsonl", "b.jsonl")
    assert code == 1, said
    fields = "query=q9 results=hits9 id=key9 text=body9"
    code, said, page = opened("a.jsonl", "b.jsonl", "--map", fields)
    assert (code, page) == (0, "/compare?a=a&b=b"), said


def test_scores_that_could_be_grades_order_a_list_here(opened: Opened, folder: Path) -> None:
    (folder / "t.tsv").write_text("query_id\tquery\nq1\thow long\n", encoding="utf-8")
    (folder / "c.tsv").write_text("chunk_id\ttext\nc1\tone\nc2\ttwo\n", encoding="utf-8")
    for kind, name in (("queries", "t.tsv"), ("chunks", "c.tsv")):
        assert CliRunner().invoke(main, ["load", kind, name]).exit_code == 0
    (folder / "a.csv").write_text("query_id,chunk_id,score\nq1,c1,3\nq1,c2,1\n", encoding="utf-8")
    (folder / "b.csv").write_text("query_id,chunk_id,score\nq1,c2,2\nq1,c1,1\n", encoding="utf-8")
    code, said, page = opened("a.csv", "b.csv")
    assert (code, page) == (0, "/compare?a=a&b=b"), said


def test_a_file_of_something_else_says_what_it_is(opened: Opened, folder: Path) -> None:
    (folder / "q.tsv").write_text("query_id\tquery\nq1\thow long\n", encoding="utf-8")
    code, said, _ = opened(str(dump(folder / "a.json", ONE)), "q.tsv")
    assert code == 1
    assert said[-1].startswith("Error: q.tsv: holds no ranked lists")
    code, said, _ = opened(str(dump(folder / "a.json", ONE)), "gone.json")
    assert (code, "gone.json" in said[-1]) == (1, True)


def test_compare_without_a_grade_says_what_both_found(opened: Opened, folder: Path) -> None:
    opened(str(dump(folder / "a.json", ONE)), str(dump(folder / "b.json", TWO)))
    result = CliRunner().invoke(main, ["compare", "a", "b"])
    assert result.exit_code == 0, result.output
    said = result.output.splitlines()
    assert said[0] == "a and b share 1.0 of their top 10 on average."
    assert said[1] == "In 1 of 2 queries the first result is the same."
    assert said[2].startswith("Next step: Nothing is graded yet: about 6 grades will say")
    assert said[4].split() == [
        "Query",
        "Query",
        "id",
        "Shared",
        "in",
        "the",
        "top",
        "10",
        "First",
        "differing",
        "rank",
    ]
    assert said[5].startswith("how long")
    assert said[6].startswith("how far")
    assert "'labeler next A B' lists the chunks that decide most" in result.output
    rows = json.loads(CliRunner().invoke(main, ["compare", "a", "b", "--format", "json"]).output)
    assert {row["measure"] for row in rows} >= {"nDCG@10", "RR"}, "programs get the same rows"
    assert rows[0]["notes"][0]["kind"] == "overlap"


@pytest.mark.slow
def test_ctrl_c_stops_it_and_the_address_names_both_runs(folder: Path) -> None:
    write_dumps(folder)
    port = any_port()
    command = ["open", "bm25.json", "dense.json", "--no-browser", "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", "labeler", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(5)]
        page = "/compare?a=bm25&b=dense"
        assert said[-1] == f"labeler is at http://127.0.0.1:{port}{page}; Ctrl-C stops it\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, "", "")
    finally:
        process.kill()
        process.communicate()


def test_a_taken_port_is_said_before_anything_is_loaded(opened: Opened, folder: Path) -> None:
    files = [str(dump(folder / "a.json", ONE)), str(dump(folder / "b.json", TWO))]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, said, _ = opened(*files, "--port", str(taken.getsockname()[1]))
    assert (code, "is taken" in said[-1]) == (1, True)
    assert not (folder / "golden.db").exists()


def test_names_come_from_as_much_of_the_path_as_it_takes() -> None:
    assert names_by_file([Path("x/a/run.json"), Path("y/a/run.json")]) == ["x/a/run", "y/a/run"]
