"""A chunk's text with the passages marked that made its grades, and by whom; decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import htpy

from labeler.model import GradeEvidence
from labeler.render.markup import style

# Underlined, so that it needs no colour; who marked it is a text before it, for everybody.
MARKED = style("""
mark.evidence { background: color-mix(in srgb, currentColor 10%, transparent); color: inherit;
    text-decoration: underline 0.15em; text-underline-offset: 0.2em; }
mark.evidence small { font-size: 0.72em; font-weight: 600; text-decoration: none;
    display: inline-block; padding: 0 0.25em; border: 1px solid currentColor;
    border-radius: 0.25em; margin-right: 0.3em; line-height: 1.3; white-space: nowrap;
    max-width: 12em; overflow: hidden; text-overflow: ellipsis; vertical-align: text-bottom; }
""")


def marked_text(text: str, evidence: Iterable[GradeEvidence]) -> list[htpy.Node]:
    """Return a text with its passages marked; each begins with the grade and who gave it.

    Where passages of several people overlap, a part stands for each that begins there. Those of
    another wording of the text are none of this one.

    >>> ann = GradeEvidence("q", "c", 2, ("Ann",), 1, "grade", ((0, 5),), "", True, True)
    >>> print(*marked_text("Hello <b>", [ann]), sep="")
    <mark class="evidence"><small>2 Ann</small>Hello</mark> <b>
    """
    marks = [
        (start, min(end, len(text)), said)
        for each in evidence
        if each.is_found
        for said in [f"{each.grade} {', '.join(each.who) or 'a file'}{_carried(each)}"]
        for start, end in each.passages
        if start < len(text)
    ]
    places = sorted({0, len(text), *(at for start, end, _ in marks for at in (start, end))})
    return [
        _part(
            text[start:end], start, [each for each in marks if each[0] <= start and end <= each[1]]
        )
        for start, end in pairwise(places)
    ]


def _carried(evidence: GradeEvidence) -> str:
    return ", carried" if evidence.kind == "carry" else ""


def _part(text: str, start: int, marks: Sequence[tuple[int, int, str]]) -> htpy.Node:
    if not marks:
        return text
    begun = [htpy.small[said] for first, _, said in marks if first == start]
    return htpy.mark(".evidence")[begun, text]


def lost_words(evidence: Iterable[GradeEvidence]) -> str:
    """Say whose evidence is of another wording and cannot be found, nothing where none is.

    >>> lost_words([GradeEvidence("q", "c", 2, ("Ann",), 1, "grade", ((0, 5),), "", True, False)])
    'marked in an earlier text and not found any more: evidence of Ann'
    """
    lost = dict.fromkeys(", ".join(each.who) or "a file" for each in evidence if not each.is_found)
    if not lost:
        return ""
    return f"marked in an earlier text and not found any more: evidence of {'; '.join(lost)}"
