"""Plain qrels to grades by query; whatever is odd it leaves alone.

It words no error and guesses nothing: a file that is not plain through and through is not taken,
and the careful reader reads it. What it takes, that reader would have read as the very same grades.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from labeler.errors import BadInput
from labeler.formats.grades import UNGRADED, GradeRule
from labeler.formats.reading import Blocks, is_text

Grades: TypeAlias = dict[str, dict[str, int]]

_COLUMNS = 4


def plain_qrels(blocks: Blocks, rule: GradeRule, longest: int) -> Grades | None:
    """Return the grades of a file by query and chunk, or None where a line of it is not plain.

    Plain is: four columns, texts in UTF-8 of at most ``longest`` bytes, a grade; no comment, no
    pair twice, and none that is in the pool alone.
    """
    found: Grades = {}
    known: dict[bytes, int] = {}
    size = 0
    for block in blocks:
        rows = list(filter(None, map(bytes.split, block.data.split(b"\n"))))
        columns = list(zip(*rows, strict=False))
        if b"\0" in block.data or not is_text(block.data) or set(map(len, rows)) - {_COLUMNS}:
            return None
        if not columns:
            continue
        queries, _, chunks, grades = columns
        if b"#" in {query[:1] for query in queries} or max(map(len, queries + chunks)) > longest:
            return None
        if not _learn(known, set(grades), rule):
            return None
        each = zip(_texts(queries), _texts(chunks), map(known.__getitem__, grades), strict=True)
        for query_id, chunk_id, grade in each:
            found.setdefault(query_id, {})[chunk_id] = grade
        size += len(rows)
    return found if size == sum(map(len, found.values())) else None


def _learn(known: dict[bytes, int], texts: set[bytes], rule: GradeRule) -> bool:
    """Add what grades these texts stand for; say whether each of them stands for one."""
    try:
        known |= {text: rule.read(text.decode()) for text in texts - known.keys()}
    except BadInput:
        return False
    return UNGRADED not in known.values()


def _texts(cells: Sequence[bytes]) -> list[str]:
    """Return cells as texts; no cell holds the end of a line."""
    return b"\n".join(cells).decode().split("\n")
