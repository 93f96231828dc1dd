"""A big run that is broken, killed or too big for the disk: wholly there, or nothing and a word."""

from __future__ import annotations

import gzip
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.store import Store
from tests.conftest import ROOT
from tests.support.databases import assert_whole

Python = Callable[..., subprocess.Popen[str]]

LABELER = """
import resource, sys
from labeler.cli import main, output
limit, output.PATIENCE_SECONDS = int(sys.argv.pop(1)), 0
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
main(prog_name="labeler")
"""
RESULTS = 20_000
MOMENT = r"'\d{4}-\d\d-\d\dT[^']*Z'"


def results() -> list[str]:
    """A run of 200 lists of 100 chunks, too big for a disk or a file of a megabyte."""
    return [
        f"q{n // 100} Q0 document-{n * 7919 % 999_983}/chunk-{n} {n % 100 + 1} {-n / 8} bm25-v1.2\n"
        for n in range(RESULTS)
    ]


def put(path: Path, lines: Iterable[str]) -> Path:
    """Write a run, compressed where the path says so."""
    data = "".join(lines).encode()
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path


def load(python: Python, database: Path, run: Path, *, limit: int = 0) -> subprocess.Popen[str]:
    """Start ``labeler load run``, in a process that may write files of ``limit`` bytes."""
    return python(LABELER, limit, "--db", database, "load", "run", run, "--date", "2026-01-31")


def content(database: Path) -> list[str]:
    """Everything the golden set says but for when, after a look at whether it is sound."""
    with Store(database) as store:
        assert_whole(store)
        return [re.sub(MOMENT, "'then'", line) for line in store.connection.conn.iterdump()]


def is_refused(python: Python, database: Path, run: Path, sentence: str, *, limit: int = 0) -> None:
    """Assert that a load says this one sentence and changes nothing, as if it had not been."""
    before = content(database) if database.exists() else None
    there = sorted(database.parent.iterdir())
    loading = load(python, database, run, limit=limit)
    said, errors = loading.communicate()
    assert (loading.returncode, said, errors) == (1, "", f"Error: {sentence}\n")
    assert sorted(database.parent.iterdir()) == there
    if before is not None:
        assert content(database) == before


@pytest.fixture(params=["a golden set", pytest.param("no golden set", marks=pytest.mark.slow)])
def database(request: pytest.FixtureRequest, filled: Store, tmp_path: Path) -> Path:
    """Where a run is loaded to: a golden set with other runs, or a place where none is yet."""
    filled.close()
    return filled.path if request.param == "a golden set" else tmp_path / "new.db"


# Broken files -----------------------------------------------------------------------------------


def test_a_column_too_few_in_the_middle_is_named_and_nothing_is_loaded(
    database: Path, tmp_path: Path, python: Python
) -> None:
    lines = results()
    lines[RESULTS // 2] = lines[RESULTS // 2].replace(" bm25-v1.2\n", "\n")
    run = put(tmp_path / "big.trec.gz", lines)
    is_refused(
        python,
        database,
        run,
        f"{run}:{RESULTS // 2 + 1}: 5 columns where a TREC file has 6 (query Q0 chunk rank score "
        "tag); a CSV or TSV file needs a header such as query,docid,score",
    )


@pytest.mark.slow
@pytest.mark.parametrize("spoilt", ["cut off", "a wrong checksum"])
def test_a_damaged_archive_is_one_sentence_and_nothing_is_loaded(
    spoilt: str, filled: Store, tmp_path: Path, python: Python
) -> None:
    filled.close()
    lines = results()
    run = put(tmp_path / "big.trec.gz", lines)
    packed = run.read_bytes()
    if spoilt == "cut off":
        run.write_bytes(packed[: len(packed) // 2])
        with gzip.open(run) as halved, suppress(EOFError):
            there = 0
            for line in halved:
                there += line.endswith(b"\n")
        place = f"{run}:{there + 1}"
        assert 1 < there < RESULTS - 1
    else:
        run.write_bytes(packed[:-8] + b"\0\0\0\0" + packed[-4:])
        place = str(run)
    is_refused(
        python,
        filled.path,
        run,
        f"{place}: the compressed data are cut off or damaged; copy the file again",
    )


# A kill -----------------------------------------------------------------------------------------


KILLED = """
import os, signal, sys, time
from labeler.cli import main
run, *attempts = sys.argv[1:]
for attempt in attempts:
    seconds, _, database = attempt.partition(" ")
    child = os.fork()
    if not child:
        main(["--db", database, "load", "run", run, "--date", "2026-01-31"])
    time.sleep(float(seconds))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


def load_here(database: Path, run: Path) -> float:
    """Load a run in this process, and return how many seconds that takes."""
    started = time.monotonic()
    arguments = ["--db", str(database), "load", "run", str(run), "--date", "2026-01-31"]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    return time.monotonic() - started


@pytest.mark.slow
def test_a_run_whose_load_is_killed_is_wholly_there_or_not_at_all(
    filled: Store, tmp_path: Path, python: Python
) -> None:
    filled.close()
    run = put(tmp_path / "big.trec", results())
    whole = shutil.copy(filled.path, tmp_path / "whole.db")
    seconds = load_here(whole, run)
    before, loaded = content(filled.path), content(whole)
    attempts = {
        shutil.copy(filled.path, tmp_path / f"{n}.db"): (n + random.random()) / 8 * seconds
        for n in range(10)
    }
    python(KILLED, run, *(f"{after} {database}" for database, after in attempts.items())).wait()
    found = {database: content(database) for database in attempts}
    assert all(each in (before, loaded) for each in found.values())
    assert before in found.values(), "no load was killed before its end"
    for database in list(attempts)[-3:]:
        load_here(database, run)
        assert content(database) == loaded


def test_a_new_golden_set_whose_first_load_is_killed_is_whole_or_not_there(
    tmp_path: Path, python: Python
) -> None:
    run, database = put(tmp_path / "big.trec", results()), tmp_path / "new.db"
    process = load(python, database, run)
    while process.poll() is None and not list(tmp_path.glob(".new.db.*")):
        pass
    time.sleep(random.uniform(0, 0.1))
    process.send_signal(signal.SIGKILL)
    process.wait()
    if database.exists():
        content(database)
    load_here(database, run)
    with Store(database) as store:
        assert [(each.name, each.queries) for each in store.runs.all()] == [("big", RESULTS // 100)]


# A disk that fills up ---------------------------------------------------------------------------


def test_a_run_that_a_file_may_not_grow_by_is_not_half_loaded(
    database: Path, tmp_path: Path, python: Python
) -> None:
    is_refused(
        python,
        database,
        put(tmp_path / "big.trec", results()),
        f"{database}: the disk does not read or write; nothing was changed, check its space and "
        "its health",
        limit=1_000_000,
    )


@pytest.mark.slow
def test_a_run_the_disk_has_no_room_for_is_not_half_loaded(
    database: Path, small_disk: Path, tmp_path: Path, python: Python
) -> None:
    there = small_disk / "golden.db"
    if database.exists():
        shutil.copy(database, there)
    big = put(tmp_path / "big.trec", results())
    is_refused(python, there, big, f"{there}: the disk is full; nothing was changed")
    small = put(tmp_path / "small.trec", results()[:100])
    assert load(python, there, small).wait() == 0
    with Store(there) as store:
        assert "small" in [run.name for run in store.runs.all()]


# On a terminal ----------------------------------------------------------------------------------


def on_a_terminal(*arguments: object) -> tuple[int, str, list[str]]:
    """Run labeler with its errors on a terminal: return its end, its output, the lines seen."""
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", LABELER, "0", *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=end,
        text=True,
    )
    os.close(end)
    seen = b""
    with suppress(OSError):  # so Linux says that the other end is closed
        while part := os.read(terminal, 65_536):
            seen += part
    os.close(terminal)
    said, _ = process.communicate()
    plain = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", seen.decode())
    return process.returncode, said, re.split(r"[\r\n]+", plain.strip())


def test_a_load_shows_on_a_terminal_how_far_it_is(tmp_path: Path) -> None:
    run = put(tmp_path / "big.trec", results())
    code, said, lines = on_a_terminal("--db", tmp_path / "new.db", "load", "run", run)
    assert code == 0
    assert said.startswith(f"run 'big' from {run}\n")
    bars = [line for line in lines if line.startswith("Reading big.trec  [")]
    shares = [int(share) for line in bars for share in re.findall(r"(\d+)%", line)]
    assert len(set(shares)) > 1
    assert (shares, shares[-1]) == (sorted(shares), 100)
    assert lines[len(bars) :] == ["Storing ..."]


@pytest.mark.slow
def test_an_error_stands_on_a_line_of_its_own_below_the_bar(tmp_path: Path) -> None:
    lines = results()
    lines[RESULTS // 2] = "one\n"
    run = put(tmp_path / "big.trec", lines)
    code, said, seen = on_a_terminal("--db", tmp_path / "new.db", "load", "run", run)
    assert (code, said) == (1, "")
    assert seen[0].startswith("Reading big.trec  [")
    assert seen[-1].startswith(f"Error: {run}:{RESULTS // 2 + 1}: 1 column where")
    assert not any("Storing" in line for line in seen)
