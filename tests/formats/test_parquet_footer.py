"""Footers of Parquet: the numbers are Arrow's, and no damage ends the process."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from labeler.formats.parquet_footer import BYTE_ARRAY, DamagedFooter, read_footer

ROWS: list[dict[str, Any]] = [
    {"id": f"c{n}", "text": f"text {n % 7}" * 9, "n": n, "list": [{"a": "x" * n}] * (n % 3)}
    for n in range(300)
]


def written(**options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), sink, row_group_size=100, **options)
    return sink.getvalue()


@pytest.mark.parametrize(
    "options", [{}, {"use_dictionary": False}, {"compression": "zstd", "data_page_version": "2.0"}]
)
def test_the_numbers_are_those_of_arrow(options: dict[str, Any]) -> None:
    content = written(**options)
    metadata = pq.ParquetFile(io.BytesIO(content)).metadata
    groups = read_footer(io.BytesIO(content))
    assert len(groups) == metadata.num_row_groups == 3
    for at, group in enumerate(groups):
        wanted = metadata.row_group(at)
        assert (group.rows, group.size) == (wanted.num_rows, wanted.total_byte_size)
        assert len(group.chunks) == wanted.num_columns
        for number, chunk in enumerate(group.chunks):
            column = wanted.column(number)
            assert chunk.values == column.num_values
            assert chunk.size == column.total_uncompressed_size
            assert chunk.start == column.dictionary_page_offset or column.data_page_offset
            assert (chunk.physical_type == BYTE_ARRAY) == (column.physical_type == "BYTE_ARRAY")
            size = chunk.dictionary_size(io.BytesIO(content))
            assert bool(size) == column.has_dictionary_page
            assert size < column.total_uncompressed_size


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"PAR1", b"PAR1" + b"\0" * 8, b"PAR1\xff\xff\xff\xffPAR1", b"PAR1\x01\0\0\0PAR1"),
        *(written()[:-1], written()[:-8] + b"\x04\0\0\0PAR1"),
    ],
)
def test_what_is_no_footer_is_an_error(content: bytes) -> None:
    with pytest.raises(DamagedFooter):
        read_footer(io.BytesIO(content))


DAMAGE = """
import io, random, sys
from labeler.errors import BadInput
from labeler.formats.lines import memory_source, open_lines
whole = sys.stdin.buffer.read()
rng, found = random.Random(7), {"read": 0, "refused": 0}
for _ in range(400):
    data = bytearray(whole)
    for _ in range(rng.choice([1, 1, 3, 12])):
        at = rng.randrange(rng.choice([4, len(data) - 2_500]), len(data))
        if rng.random() < 0.7:
            data[at] = rng.randrange(256)
        else:
            del data[at : at + rng.randrange(1, 9)]
    try:
        with open_lines(memory_source("a", bytes(data))) as lines:
            found["read"] += bool([*lines])
    except BadInput:
        found["refused"] += 1
print(min(found.values()) > 20)
"""


def test_no_damage_ends_the_process_or_is_another_error() -> None:
    """Damaged statistics of sizes make Arrow's own objects of metadata end the process."""
    command = [sys.executable, "-c", DAMAGE]
    done = subprocess.run(command, input=written(), capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"True\n", b"")
