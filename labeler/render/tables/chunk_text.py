"""A chunk in full: its id, title and text, with the evidence that graders marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import htpy

from labeler.model import GradeEvidence
from labeler.render.markup import style

CHUNK_STYLE = style("""
.chunk-shown { overflow-x: clip; }
.chunk-shown small { display: block; font-size: 0.8125rem; line-height: 1.25rem;
    color: var(--muted); overflow-wrap: anywhere; }
.chunk-shown h3 { font-size: 1.125rem; line-height: 1.5rem; font-weight: 600; margin: 0;
    padding: 0.25rem 0 0.5rem; overflow-wrap: anywhere; }
.chunk-shown .text { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 1.125rem;
    line-height: 1.75rem; max-width: 45rem; max-height: 70vh; overflow-y: auto; }
""")
# Underlined, so that it needs no colour. A visible text before it says who marked it.
EVIDENCE_STYLE = style("""
mark.evidence { background: color-mix(in srgb, currentColor 10%, transparent); color: inherit;
    text-decoration: underline 0.15em; text-underline-offset: 0.2em; }
mark.evidence small { font-size: 0.72em; font-weight: 600; text-decoration: none;
    display: inline-block; padding: 0 0.25em; border: 1px solid currentColor;
    border-radius: 0.25em; margin-right: 0.3em; line-height: 1.3; white-space: nowrap;
    max-width: 12em; overflow: hidden; text-overflow: ellipsis; vertical-align: text-bottom; }
""")


def marked_text(text: str, evidence: Iterable[GradeEvidence]) -> list[htpy.Node]:
    """Return a text with its passages marked; each begins with the grade and who gave it.

    Where passages of several people overlap, the text is split at each start and end. Passages
    marked in another wording of the text are left out.

    >>> ann = GradeEvidence("q", "c", 2, ("Ann",), 1, "grade", ((0, 5),), "", True, True)
    >>> print(*marked_text("Hello <b>", [ann]), sep="")
    <mark class="evidence"><small>2 Ann</small>Hello</mark> <b>
    """
    marks = [
        (start, min(end, len(text)), said)
        for each in evidence
        if each.is_found
        for mark in [", transferred" if each.kind == "carry" else ""]
        for said in [f"{each.grade} {', '.join(each.who) or 'a file'}{mark}"]
        for start, end in each.passages
        if start < len(text)
    ]
    places = sorted({0, len(text), *(at for start, end, _ in marks for at in (start, end))})
    return [
        _marked_part(
            text[start:end], start, [each for each in marks if each[0] <= start and end <= each[1]]
        )
        for start, end in pairwise(places)
    ]


def _marked_part(text: str, start: int, marks: Sequence[tuple[int, int, str]]) -> htpy.Node:
    if not marks:
        return text
    begun = [htpy.small[said] for first, _, said in marks if first == start]
    return htpy.mark(".evidence")[begun, text]


def lost_note(evidence: Iterable[GradeEvidence]) -> str:
    """Say whose evidence was marked in another wording and cannot be found; empty if none.

    >>> lost_note([GradeEvidence("q", "c", 2, ("Ann",), 1, "grade", ((0, 5),), "", True, False)])
    'marked in an earlier text and not found any more: evidence of Ann'
    """
    lost = dict.fromkeys(", ".join(each.who) or "a file" for each in evidence if not each.is_found)
    if not lost:
        return ""
    return f"marked in an earlier text and not found any more: evidence of {'; '.join(lost)}"


def transfer_note(trail: str) -> str:
    """Say which grade a transferred grade rests on; empty for any other grade.

    >>> transfer_note("it follows; rests on chunk c7: 3 by Ana on 2026-03-04")
    'The grade is transferred: it follows; rests on chunk c7: 3 by Ana on 2026-03-04'
    """
    return f"The grade is transferred: {trail}" if trail else ""


def chunk_text(
    chunk_id: str,
    title: str | None,
    text: str | None,
    evidence: Sequence[GradeEvidence] = (),
) -> htpy.Fragment:
    """Return a chunk with its title and text as they are, and with the graders' evidence marked."""
    if text is None:
        body = htpy.p[htpy.em["Only its id is known: the chunk's text was never loaded."]]
    else:
        body = htpy.div(".text", dir="auto", tabindex="0")[marked_text(text, evidence)]
    heading = htpy.h3(dir="auto")[title] if title else None
    lost = lost_note(evidence)
    shown = htpy.article(".chunk-shown")[
        htpy.small[chunk_id], heading, body, htpy.p[htpy.small[lost]] if lost else None
    ]
    return htpy.fragment[CHUNK_STYLE, EVIDENCE_STYLE, shown]
