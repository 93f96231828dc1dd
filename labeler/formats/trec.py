"""Lines of TREC files: columns between spaces or tabs; knows nothing of order or grades."""

from __future__ import annotations

from collections.abc import Iterator

from labeler.errors import BadInput
from labeler.formats.reading import Lines, Source, decode
from labeler.model import counted

RUN = ("query Q0 chunk rank score tag", "query,docid,score")
_MOST_TEXTS = 500_000
QRELS = ("query 0 chunk grade", "query,docid,rating")


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

    def __init__(self, source: Source, shape: tuple[str, str]) -> None:
        self.source = source
        self.comments = 0
        self._columns, self._header = shape
        self._tagged = shape == RUN
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
            f"{counted(found, 'column', 'columns')} where a TREC file has {expected} "
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
