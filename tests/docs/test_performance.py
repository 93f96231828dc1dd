"""The tables of the page on speed: kept, and filled from what the benchmarks print."""

from __future__ import annotations

import doctest
import re

from docs import benchmarks
from tests.support.documentation import ROOT

APP = """\
Linux-6.1-x86_64, 2 CPUs, Python 3.13.1
Chromium 156.0.1
serve: answers after 2.0 s, a chunk on screen 3.9 s
120 keys, 3 a second: 120 on the chunk that was on screen
  painted       p50 8.4 ms, p95 12.0 ms, most 20.0 ms, n 120
  acknowledged  p50 14.2 ms, p95 18.0 ms, most 30.0 ms, n 120
60 keys, 25 a second, 100 ms away: 60 on the chunk that was on screen
  painted       p50 99.0 ms, p95 99.0 ms, most 99.0 ms, n 60
200 keys, 25 a second: 200 on the chunk that was on screen
  painted       p50 7.0 ms, p95 16.6 ms, most 20.0 ms, n 200
Scores of 20 runs: first 1.4 s, again 0.9 s
"""


def test_the_file_is_as_it_would_be_written() -> None:
    assert benchmarks.as_toml(benchmarks.measured()) == benchmarks.MEASURED.read_text("utf-8")


def test_numbers_are_taken_from_what_was_printed_and_others_stay() -> None:
    before = benchmarks.measured()
    after = benchmarks.update(before, {"app": APP})
    rows = {row["what"]: (row["median"], row.get("p95")) for row in after["rows"]}
    assert rows["key to next chunk painted, 3 keys a second"] == ("8.4 ms", "12 ms")
    assert rows["key to next chunk painted, 25 keys a second"] == ("7 ms", "17 ms")
    assert rows["`labeler serve` until a first chunk can be graded"] == ("3.9 s", None)
    assert "1.4, 0.9 s" in {median for median, _ in rows.values()}
    assert after["measures"] == before["measures"]
    assert after["rows"][-2] == before["rows"][-2]
    assert "Chromium 156)" in after["machine"]


def test_every_pattern_fits_a_benchmark_and_its_form() -> None:
    sources = [
        row[f"{name}_from"]
        for row in benchmarks.measured()["rows"]
        for name in benchmarks.CELLS
        if f"{name}_from" in row
    ]
    assert len(sources) > 10
    for bench, pattern, form in sources:
        assert (ROOT / "tests" / "benchmarks" / f"{bench}.py").is_file()
        assert re.compile(pattern).groups == form.count("{}")


def test_the_examples_are_right() -> None:
    assert doctest.testmod(benchmarks).failed == 0
