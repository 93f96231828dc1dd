"""Make the tables of `explanation/performance.md` from the output of `make bench`.

`make bench` keeps the output of each benchmark in `build/bench`; ``python -m docs.benchmarks``
takes the numbers into `benchmarks.toml`, of which cog makes the tables.
"""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
MEASURED = HERE / "benchmarks.toml"
OUTPUTS = HERE.parent / "build" / "bench"
CELLS = ("median", "p95")
SIZES = ("S", "M", "L")


def measured() -> dict[str, Any]:
    """Return what was measured last."""
    return tomllib.loads(MEASURED.read_text(encoding="utf-8"))


# --- tables ----------------------------------------------------------------------------------


def machine_sentence() -> str:
    """Say where the numbers come from."""
    where = measured()["machine"]
    return f"Measured with `make bench` on {where}, server and browser on the same machine."


def app_table() -> str:
    """Return a row for each thing a user waits for."""
    rows = [f"| {row['what']} | {row['median']} | {row.get('p95', '')} |" for row in _rows()]
    return "\n".join(["| what | median | p95 |", "|---|---|---|", *rows])


def _rows() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = measured()["rows"]
    return found


def measures_table() -> str:
    """Return the times of all libraries, a row for each size and way of asking."""
    found = measured()
    heads = ["", "labeler", "all 34", *found["libraries"]]
    return "\n".join(
        [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", found["measures"].strip()]
    )


# --- what the benchmarks printed -------------------------------------------------------------


def cell(text: str, source: list[str]) -> str | None:
    """Return a cell filled with the numbers that a pattern finds, medians if it finds several.

    >>> cell("first 1.52 s, again 0.98 s", ["app", r"first (.*?) s, again (.*?) s", "{}, {} s"])
    '1.5, 1 s'
    """
    _, pattern, form = source
    found = [[float(each) for each in match.groups()] for match in re.finditer(pattern, text)]
    if not found:
        return None
    return form.format(*(short(statistics.median(values)) for values in zip(*found, strict=True)))


def short(number: float) -> str:
    """Return a number with one digit after the point, or none from 10 on."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}".removesuffix(".0")


def measures_rows(text: str) -> list[str]:
    """Return the rows of the measures' benchmark as the table has them.

    >>> measures_rows("| S, from dicts, evaluate | 3.67 | – | 3.70 (1.0x) | – | 60.0 (18.2x) | – |")
    ['| S, from dicts, `evaluate` | 3.67 |  | 3.70 (1.0×) |  | 60.0 (18×) |  |']
    >>> measures_rows("| S, SQLite to live | 13 (peak 0.05 GB) | | | | | |")
    ['| S, opened | | 13, with 0.05 GB | | | | |']
    """
    rows = [line for line in text.splitlines() if re.match(rf"\| [{''.join(SIZES)}], ", line)]
    found = []
    for row in rows:
        if "largest difference" in row:
            continue
        opened = re.match(r"\| (\w), SQLite to live \| ([\d,]+) \(peak ([\d.]+ GB)\)", row)
        if opened:
            size, taken, memory = opened.groups()
            found.append(f"| {size}, opened | | {taken}, with {memory} | | | | |")
            continue
        row = row.replace(", evaluate |", ", `evaluate` |").replace("–", "")
        found.append(re.sub(r"\(([\d.,]+)x\)", lambda times: f"({_times(times[1])}×)", row))
    return found


def _times(text: str) -> str:
    number = float(text.replace(",", ""))
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"


def machine(outputs: Mapping[str, str]) -> str:
    """Describe the machine that the benchmarks ran on."""
    system = f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}"
    parts = [platform.machine(), system, f"Python {platform.python_version()}"]
    browser = re.search(r"Chromium (\d+)", outputs.get("app", ""))
    parts += [f"numpy {np.__version__}", *([f"Chromium {browser[1]}"] if browser else [])]
    return f"{os.cpu_count()} CPUs ({', '.join(parts)})"


def named_libraries(found: list[str], text: str) -> list[str]:
    """Return the heads of the columns with the versions that were measured.

    >>> named_libraries(["ranx 0.3.20 typed lists", "ranx objects"], "ranx 0.3.21, ir-measures 1")
    ['ranx 0.3.21 typed lists', 'ranx objects']
    """
    versions = {
        name.replace("-", "_"): number for name, number in re.findall(r"([\w-]+) (\d[\d.]*)", text)
    }

    def with_version(head: str) -> str:
        name, *rest = head.split(" ")
        number = versions.get(name.replace("-", "_"))
        if number is None or not rest or not rest[0][0].isdigit():
            return head
        return " ".join([name, number, *rest[1:]])

    return [with_version(head) for head in found]


def update(found: dict[str, Any], outputs: Mapping[str, str]) -> dict[str, Any]:
    """Return what was measured with the numbers of these outputs; others stay."""
    rows = []
    for row in found["rows"]:
        filled = dict(row)
        for name in CELLS:
            source = row.get(f"{name}_from")
            new = source and source[0] in outputs and cell(outputs[source[0]], source)
            filled |= {name: new} if new else {}
        rows.append(filled)
    lines = measures_rows(outputs.get("measures", ""))
    times = "\n".join(lines) + "\n" if lines else found["measures"]
    libraries = named_libraries(found["libraries"], outputs.get("measures", ""))
    filled = {"machine": machine(outputs), "measures": times, "libraries": libraries, "rows": rows}
    return {**found, **filled}


def as_toml(found: Mapping[str, Any]) -> str:
    """Return what was measured as the text of its file, with the comment it has."""
    comment = [line for line in MEASURED.read_text("utf-8").splitlines() if line.startswith("#")]
    lines = [*comment, "", f"machine = {_quoted(found['machine'])}"]
    lines += [f"measures = '''\n{found['measures']}'''"]
    lines += [f"libraries = [{', '.join(map(_quoted, found['libraries']))}]"]
    for row in found["rows"]:
        lines += ["", "[[rows]]"]
        for name, value in row.items():
            if isinstance(value, list):
                bench, pattern, form = value
                lines.append(f"{name} = [{_quoted(bench)}, '''{pattern}''', {_quoted(form)}]")
            else:
                lines.append(f"{name} = {_quoted(value)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def main() -> None:
    """Take the numbers of all outputs that are there."""
    outputs = {path.stem: path.read_text("utf-8") for path in sorted(OUTPUTS.glob("*.txt"))}
    MEASURED.write_text(as_toml(update(measured(), outputs)), encoding="utf-8")


if __name__ == "__main__":
    main()
