"""TREC files: lines of runs and qrels, and a fast reader for plain qrels.

Columns are separated by ASCII blanks only, as in trec_eval. The fast reader reports no errors: it
returns None for any file that is not entirely regular, and the general reader reads that file,
which would have given the same grades.
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
    """Say whether words follow the tag; a tag that is a number tells of a blank inside an id."""
    try:
        float(cells[expected - 1])
    except (ValueError, IndexError):
        return len(cells) > expected
    return False


class TrecFile:
    """A TREC file being read: its rows, how many comments it had, and its texts, each kept once.

    Columns stay bytes until a text is asked for: only ASCII blanks separate them, as in trec_eval.
    ``shape`` is the columns of a line, and the header a table with the same content would have.
    """

    def __init__(self, source: InputFile, shape: tuple[str, str]) -> None:
        self.source = source
        self.comments = 0
        self._columns, self._header = shape
        self._tagged = shape == RUN_COLUMNS
        self._texts: dict[bytes, str] = {}
        self._raw = b""

    def rows(self, lines: Lines) -> Iterator[tuple[int, list[bytes]]]:
        """Give the columns of each line that is neither blank nor a ``#`` comment.

        Words after a run's tag are left out, as trec_eval does.
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
        decode(self.source, number, raw)  # what is no text at all is told as that
        found, expected = len(raw.split()), len(self._columns.split())
        return self.source.fail(
            number,
            f"{format_count(found, 'column', 'columns')} where a TREC file has {expected} "
            f"({self._columns}); a CSV or TSV file needs a header such as {self._header}",
        )

    def text(self, number: int, raw: bytes) -> str:
        """Return a column of the row just given as text, each distinct one as one object."""
        known = self._texts.get(raw)
        if known is not None and known.isascii():
            return known
        if not raw.isascii() or b"\0" in raw:  # known or not: a line reads alike wherever it stands
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

    Plain is: four columns, texts in UTF-8 of at most ``longest`` bytes, a grade; no comment, no
    pair twice, and none that is in the pool alone.
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
    """Add what grades these texts stand for; say whether each of them stands for one."""
    try:
        known |= {text: rule.read(text.decode()) for text in texts - known.keys()}
    except BadInput:
        return False
    return UNGRADED not in known.values()


def _texts(cells: Sequence[bytes]) -> list[str]:
    """Return cells as texts; no cell holds the end of a line."""
    return b"\n".join(cells).decode().split("\n")
