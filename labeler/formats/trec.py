"""TREC files: lines of runs and qrels, and a fast reader for plain qrels.

Columns are separated by ASCII blanks only, as in trec_eval. The fast reader reports no errors: it
returns None for any file that is not entirely regular, which the general reader then reads. Both
give the same grades.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from labeler.errors import BadInput
from labeler.formats.grades import UNGRADED, GradeRule
from labeler.formats.lines import Blocks, InputFile, Lines, decode, is_text
from labeler.model import format_count

RUN_COLUMNS = ("query Q0 chunk rank score tag", "query,docid,score")
_MOST_TEXTS = 500_000
QRELS_COLUMNS = ("query 0 chunk grade", "query,docid,rating")


def _has_words(cells: list[bytes], expected: int) -> bool:
    """Return whether words follow the tag; a number in its place means a blank inside an id."""
    try:
        float(cells[expected - 1])
    except (ValueError, IndexError):
        return len(cells) > expected
    return False


class TrecFile:
    """A TREC file while it is read: its rows, its number of comments, and its distinct texts.

    Columns stay bytes until `text` decodes them: only ASCII blanks separate them, as in trec_eval.
    ``shape`` is the columns of a line, and the header of a table with the same content.
    """

    def __init__(self, source: InputFile, shape: tuple[str, str]) -> None:
        self.source = source
        self.comments = 0
        self._columns, self._header = shape
        self._tagged = shape == RUN_COLUMNS
        self._texts: dict[bytes, str] = {}
        self._raw = b""

    def rows(self, lines: Lines) -> Iterator[tuple[int, list[bytes]]]:
        """Yield the columns of each line that is neither blank nor a ``#`` comment.

        Words after a run's tag are left out, as in trec_eval.
        """
        expected = len(self._columns.split())
        for number, raw in lines:
            cells = raw.split()
            if not cells:
                continue
            if cells[0].startswith(b"#"):
                self.comments += 1
            elif len(cells) != expected and not (self._tagged and _has_words(cells, expected)):
                raise self._wrong_count(number, raw)
            else:
                self._raw = raw
                yield number, cells[:expected]

    def _wrong_count(self, number: int, raw: bytes) -> BadInput:
        decode(self.source, number, raw)  # first report a line that is not UTF-8
        found, expected = len(raw.split()), len(self._columns.split())
        return self.source.fail(
            number,
            f"{format_count(found, 'column', 'columns')} where a TREC file has {expected} "
            f"({self._columns}); a CSV or TSV file needs a header such as {self._header}",
        )

    def text(self, number: int, raw: bytes) -> str:
        """Return a column of the current row as text; equal texts share one object."""
        known = self._texts.get(raw)
        if known is not None and known.isascii():
            return known
        if not raw.isascii() or b"\0" in raw:  # also if known: line order must not matter
            decode(self.source, number, self._raw)
        if known is None:
            known = raw.decode()
            if len(raw) > self.source.limits.id:
                with self.source.at(number):
                    self.source.limits.check_id(known, "query or chunk")
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            self._texts[raw] = known
        return known


GradesByQuery: TypeAlias = dict[str, dict[str, int]]

_QRELS_WIDTH = 4


def read_plain_qrels(blocks: Blocks, rule: GradeRule, longest: int) -> GradesByQuery | None:
    """Return the grades of a file by query and chunk, or None where a line of it is not plain.

    Plain lines have four columns, UTF-8 texts of at most ``longest`` bytes, and a grade; there are
    no comments, no repeated pairs, and no pairs in the pool but ungraded.
    """
    found: GradesByQuery = {}
    known: dict[bytes, int] = {}
    size = 0
    for block in blocks:
        rows = list(filter(None, map(bytes.split, block.data.split(b"\n"))))
        columns = list(zip(*rows, strict=False))
        if b"\0" in block.data or not is_text(block.data) or set(map(len, rows)) - {_QRELS_WIDTH}:
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
    """Add the grades of these texts to ``known``; return whether each of them has one."""
    try:
        known |= {text: rule.read(text.decode()) for text in texts - known.keys()}
    except BadInput:
        return False
    return UNGRADED not in known.values()


def _texts(cells: Sequence[bytes]) -> list[str]:
    """Decode cells, none of which holds a line end."""
    return b"\n".join(cells).decode().split("\n")
