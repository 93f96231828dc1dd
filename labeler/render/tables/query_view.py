"""One query in one or two runs: its heading, and ranked lists joined by lines.

The lists are text and links. The lines between equal chunks are one decorative SVG; this module
computes where they go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import htpy

from labeler.analysis.comparison import PlacedChunk, SharedText, describe_shared_text
from labeler.evaluation import format_number
from labeler.render.markup import style
from labeler.render.tokens import GRADE_FILLS, GRADE_INKS

ROW, CUT = 40, 44  # pixels: height of a chunk's row, and of the rule below the top
MIDDLE = ROW // 2
LONGEST_SAID = 280  # characters of a note on a query that are shown unopened
PATH_SEPARATOR = " › "  # in a chunk's title, between the document's parts and the chunk's own
GRADE_BOXES = "".join(
    f".gd.g{grade} {{ background: {fill}; color: {ink}; border-color: transparent; }}\n"
    for grade, (fill, ink) in enumerate(zip(GRADE_FILLS, GRADE_INKS, strict=True))
)
GRADE_STYLE = style(
    """
.gd { display: inline-grid; place-items: center; box-sizing: border-box; flex: none;
    width: 1.75rem; height: 1.75rem; border: 1px solid var(--line2); border-radius: 5px;
    font-size: 0.9375rem; line-height: 1; font-variant-numeric: tabular-nums; }
.who-graded { margin: 0.5rem 0 0; display: flex; gap: 0.5rem; align-items: center;
    font-size: 0.8125rem; color: var(--muted); overflow-wrap: anywhere; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.grade-key { display: inline-flex; align-items: center; gap: 0.25rem 0.5rem; flex-wrap: wrap;
    font-size: 0.8125rem; color: var(--muted); }
.grade-key .gd { width: 1.25rem; height: 1.25rem; font-size: 0.8125rem; margin-right: -0.375rem; }
.grade-key .gd.open { margin-left: 1rem; }
.grade-key span + span:not(.gd) { margin-left: 0.375rem; }
"""
    + GRADE_BOXES
)
HEADING_STYLE = style("""
.question { overflow-x: clip; max-width: 62rem; color: var(--ink); }
.question .facts { margin: 0; font-size: 0.8125rem; line-height: 1.25rem; color: var(--muted);
    overflow-wrap: anywhere; }
.question h2 { margin: 0; padding: 0.25rem 0; font-size: 1.75rem; line-height: 2.25rem;
    font-weight: 600; letter-spacing: -0.2px; overflow-wrap: anywhere; white-space: pre-line;
    max-height: 14rem; overflow: hidden auto; }
.question .said { margin: 0; max-width: 47.5rem; color: var(--muted);
    font-size: 0.9375rem; line-height: 1.5rem; white-space: pre-line; overflow-wrap: anywhere; }
.question summary { cursor: pointer; }
.question .said[open] summary { opacity: 0.7; }
.st-key-query-view .answer { padding: 0.5rem 0; }
.st-key-query-view .answer p.says { font-size: 1.125rem; line-height: 1.75rem; letter-spacing: 0; }
@media (max-width: 40rem) {
    .question h2 { font-size: 1.375rem; line-height: 1.75rem; max-height: 22rem; }
}
""")
LISTS_STYLE = style("""
.duel { display: grid; grid-template-columns: minmax(0, 1fr) 10.5rem minmax(0, 1fr);
    align-items: start; color: var(--ink); font-size: 0.9375rem; line-height: 1.5rem;
    font-variant-numeric: tabular-nums; }
.duel.single { grid-template-columns: minmax(0, 1fr); }
.duel .hd, .duel li.r { display: grid; gap: 0 0.75rem; align-items: center;
    grid-template-columns: var(--columns); }
.duel .hd { grid-template-columns: var(--heads); align-items: end; padding-bottom: 0.5rem;
    border-bottom: 1px solid var(--line2);
    height: 2rem; box-sizing: border-box; }
.duel .hd small, .duel .legend { font-size: 0.8125rem; line-height: 1.25rem;
    color: var(--muted); }
.duel .end { text-align: right; white-space: nowrap; }
.duel .run { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.duel .run::before { content: ""; display: inline-block; width: 10px; height: 10px;
    margin-right: 0.625rem; background: var(--run-a); border-radius: 2px; }
.duel .b .run::before { background: var(--run-b); border-radius: 50%; }
.duel.single .run::before { content: none; }
.duel ol { list-style: none; margin: 0; padding: 0; }
.duel li { margin: 0; padding: 0; position: relative; box-sizing: border-box; }
.duel li.r { height: 40px; border-bottom: 1px solid var(--line); }
.duel li.edge { border-bottom-color: var(--line2); box-shadow: 0 1px 0 var(--line2); }
.duel .ends { position: absolute; z-index: 1; right: 0; bottom: -0.5rem; padding-left: 0.5rem;
    background: var(--bg); font-size: 0.75rem; line-height: 1rem; color: var(--muted); }
.duel:not(.single) .a .ends { right: auto; left: 0; padding: 0 0.5rem 0 0; }
.duel li.cut { height: 44px; display: flex; align-items: end; padding-bottom: 6px;
    border-bottom: 1px dashed var(--line2); font-size: 0.8125rem; line-height: 1.25rem;
    color: var(--muted); }
.duel .b li.cut { justify-content: end; }
.duel.single li.cut { justify-content: start; }
.duel li.none { padding: 0.5rem 0; color: var(--muted); }
.duel .rank { font-weight: 600; }
.duel .a .rank { text-align: right; }
.duel .move { font-size: 0.8125rem; color: var(--muted); white-space: nowrap; }
.duel .part { text-align: right; }
.duel a { display: flex; align-items: baseline; gap: 0 0.625rem; min-width: 0; color: inherit;
    text-decoration: none; overflow: hidden; }
.duel a::after { content: ""; position: absolute; inset: 0; }
.duel a small { flex: 0 1 auto; min-width: 0; max-width: 45%; font-size: 0.8125rem;
    color: var(--muted); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.duel a .named { flex: 1 1 0; min-width: 3rem; overflow: hidden; text-overflow: ellipsis;
    white-space: nowrap; }
.duel a .named.lacks { color: var(--muted); }
.duel li.r:hover { background: var(--soft); }
.duel li.r:hover .named { text-decoration: underline; text-underline-offset: 3px; }
.duel a:focus-visible { outline: none; }
.duel a:focus-visible::after { outline: 2px solid var(--accent); outline-offset: -2px; }
.duel .below :is(.named, .rank) { color: var(--muted); font-weight: 400; }
.duel li.current { background: var(--accent-soft); }
.duel .a li.current { box-shadow: -8px 0 0 var(--accent-soft); }
.duel .b li.current { box-shadow: 8px 0 0 var(--accent-soft); }
.duel li.current :is(.named, .part, .move) { font-weight: 600; color: var(--ink); }
.st-key-query-lists { position: relative; }
.st-key-query-wires { position: absolute; z-index: 1; top: 2rem; width: 10.5rem;
    left: calc(50% - 5.25rem); pointer-events: none; }
.under-lists { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.25rem 1.5rem;
    font-size: 0.8125rem; line-height: 1.25rem; color: var(--muted); }
.under-lists p { margin: 0; max-width: 47.5rem; font-size: inherit; }
.under-lists a { color: var(--accent); text-underline-offset: 3px; }
@media (max-width: 68.75rem) {
    .duel { grid-template-columns: minmax(0, 1fr) 5.5rem minmax(0, 1fr); }
    .st-key-query-wires { width: 5.5rem; left: calc(50% - 2.75rem); }
    .duel:not(.single) .move { display: none; }
    .duel:not(.single) .b :is(.hd, li.r) {
        grid-template-columns: 1.75rem 1.75rem minmax(0, 1fr) 3.5rem; }
    .duel:not(.single) .b div.hd { grid-template-columns: 1.75rem 1.75rem minmax(0, 1fr) auto; }
}
/* narrow: of A there is room for ranks and grades */
@media (max-width: 56.25rem) {
    .duel:not(.single) { grid-template-columns: 4.25rem 4.5rem minmax(0, 1fr); }
    .st-key-query-wires { width: 4.5rem; left: 4.25rem; }
    .duel:not(.single) .a :is(.hd, li.r) { grid-template-columns: 1.75rem 1.75rem; }
    .duel:not(.single) .a :is(.part, .ends, .cut span, .hd small, .hd .gap) { display: none; }
    .duel:not(.single) .a a { position: absolute; inset: 0; opacity: 0; }
    .duel:not(.single) .a a:focus-visible { opacity: 1; }
    .duel:not(.single) .a a:focus-visible > * { opacity: 0; }
    .duel:not(.single) .b :is(.hd, li.r) { gap: 0 0.5rem;
        grid-template-columns: 1.75rem 1.75rem minmax(0, 1fr); }
    .duel:not(.single) .b a { flex-direction: column; align-items: stretch; }
    .duel:not(.single) .b a small { max-width: none; line-height: 1rem; }
    .duel:not(.single) .b a .named { flex: none; line-height: 1.25rem; }
    .duel:not(.single) .b .part { display: none; }
    .duel:not(.single) .b .ends { right: auto; left: -4.5rem; bottom: -1rem; width: 4.5rem;
        padding: 0; background: none; text-align: center; }
    .duel:not(.single) .hd { display: block; }
    .duel:not(.single) .hd .run { display: block; max-width: 100%; }
    .duel:not(.single) .a .hd .run { width: 8rem; max-width: none; }
    .duel:not(.single) .b .hd :is(small, .gap) { display: none; }
}
""")


def grade_box(grade: int | None) -> htpy.Element:
    """Return a grade as a box in its colour; an unjudged chunk is a hollow box without a digit.

    >>> print(grade_box(0), grade_box(None))
    <span class="gd g0">0</span> <span class="gd open"><span class="unseen">unjudged</span></span>
    """
    if grade is None:
        return htpy.span(".gd.open")[htpy.span(".unseen")["unjudged"]]
    return htpy.span(class_=f"gd g{grade}")[str(grade)]


def grade_key() -> htpy.Fragment:
    """Return the key of the grades' boxes."""
    return htpy.fragment[
        GRADE_STYLE,
        htpy.span(".grade-key")[
            *(grade_box(grade) for grade in (3, 2, 1, 0)),
            htpy.span["grade at each rank"],
            htpy.span(".gd.open"),
            htpy.span["unjudged"],
        ],
    ]


def query_heading(
    text: str, facts: Sequence[str], said: Mapping[str, str], warnings: Sequence[str] = ()
) -> htpy.Fragment:
    """Return a query's id and buckets, its text, the notes ``said`` by heading, and warnings."""
    return htpy.fragment[
        HEADING_STYLE,
        htpy.section(".question")[
            htpy.p(".facts")[" · ".join(facts)],
            htpy.h2(dir="auto")[text],
            [_said_of_query(name, words) for name, words in said.items()],
            [htpy.p(".said")[f"⚠ {warning}"] for warning in warnings],
        ],
    ]


def _said_of_query(name: str, words: str) -> htpy.Element:
    """Return a note on a query; a long one shows its beginning, and a click opens the rest."""
    if len(words) <= LONGEST_SAID:
        return htpy.p(".said", dir="auto")[f"{name}: {words}"]
    begin = " ".join(words[:LONGEST_SAID].split()[:-1])
    return htpy.details(".said", dir="auto")[
        htpy.summary[f"{name}: {begin} … ", htpy.u["more"]], htpy.p[words]
    ]


@dataclass(frozen=True, slots=True)
class ListSide:
    """One run's list: its short and whole name, and its chunks in the top and below it.

    ``part_of`` is the measure of which the list shows each chunk's part, "" without parts.
    """

    name: str
    whole: str
    top: Sequence[PlacedChunk]
    below: Sequence[PlacedChunk]
    part_of: str

    def rows(self) -> Iterator[tuple[PlacedChunk, int]]:
        """Return each chunk with the middle of its row, in pixels from the top of the first row."""
        for at, each in enumerate((*self.top, *self.below)):
            yield each, at * ROW + MIDDLE + CUT * (at >= len(self.top))

    @property
    def height(self) -> int:
        """The height of all rows, in pixels."""
        return ROW * (len(self.top) + len(self.below)) + CUT * bool(self.below)


@dataclass(frozen=True, slots=True)
class ListLook:
    """How lists are drawn: titles of chunks by number, their links, and the chunk that is open.

    ``depth`` is the number of ranks in the top, ``prompt_k`` that in the prompt. ``shared`` are the
    chunks of two chunkings that have text in common, None if both lists use one chunking.
    """

    titles: Mapping[int, str]
    link: Callable[[str], str]
    chosen: int | None
    depth: int
    prompt_k: int
    shared: Sequence[SharedText] | None = None
    partners: Mapping[int, int] = field(default_factory=dict)

    def partner(self, placed: PlacedChunk) -> int | None:
        """Return the rank in the other list of the same chunk, or of the most similar one."""
        return placed.other or self.partners.get(placed.change.chunk)


def ranked_lists(sides: Sequence[ListSide], look: ListLook) -> htpy.Fragment:
    """Return one list, or two with a line for each chunk that is in both."""
    numbers = _chunk_classes(sides)
    said = describe_shared_text(look.shared or ())
    columns = [
        _column(side, "ab"[at], look, numbers, said, is_single=len(sides) == 1)
        for at, side in enumerate(sides)
    ]
    if len(sides) == 1:
        return htpy.fragment[GRADE_STYLE, LISTS_STYLE, htpy.div(".duel.single")[columns]]
    return htpy.fragment[
        GRADE_STYLE,
        LISTS_STYLE,
        _hover_style(len(numbers)),
        htpy.div(".duel", role="group", aria_label="Ranked lists")[
            columns[0], htpy.div, columns[1]
        ],
    ]


def _hover_style(count: int) -> htpy.Element:
    """Return a style sheet that highlights a chunk and its lines in both lists on hover."""
    lists = ".st-key-query-lists:has(li.c"
    pointed = ", ".join(f"{lists}{at}:hover) li.c{at}" for at in range(count))
    lines = ", ".join(f"{lists}{at}:hover) path.c{at}" for at in range(count))
    if not count:
        return style("")
    return style(
        f"{pointed} {{ background: var(--soft); }}\n"
        f"{lines} {{ stroke: var(--ink); stroke-width: 2.5; opacity: 1; }}"
    )


def _column(
    side: ListSide,
    letter: str,
    look: ListLook,
    numbers: Mapping[int, str],
    said: Mapping[int, str],
    *,
    is_single: bool,
) -> htpy.Element:
    """Return a list under its run's name; A's mirrors B's, so that the grades are on the inside."""
    part = "3.5rem" if side.part_of else ""
    widths = ["minmax(0, 1fr)", part, "1.75rem", "1.75rem"]
    heads: list[htpy.Node] = [htpy.bdi(".run", title=side.whole)[side.name]]
    rank = htpy.small(".end")["rank"]
    parts = htpy.small(".end")[f"part of {side.part_of}"] if side.part_of else None
    if is_single:
        widths = ["1.75rem", "1.75rem", "minmax(0, 1fr)", part]
        heads = [htpy.span(".gap"), htpy.small["rank"], *heads, parts]
    elif letter == "a":
        heads = [*heads, parts, rank, htpy.span(".gap")]
    else:
        widths = ["1.75rem", "1.75rem", "2.5rem", "minmax(0, 1fr)", part]
        heads = [htpy.span(".gap"), htpy.small["rank"], htpy.small(".move")["move"], *heads, parts]
    rows = [
        _row(
            each,
            letter,
            side,
            look,
            numbers,
            said,
            is_single=is_single,
            is_below=at >= len(side.top),
        )
        for at, (each, _) in enumerate(side.rows())
    ]
    if side.below:
        cut = htpy.li(".cut")[htpy.span[f"below the top {look.depth}"]]
        rows.insert(len(side.top), cut)
    if not rows:
        rows = [htpy.li(".none")["no results"]]
    columns = " ".join(filter(None, widths))
    of_heads = " ".join("auto" if width == part else width for width in widths if width)
    return htpy.div(class_=letter, style=f"--columns: {columns}; --heads: {of_heads}")[
        htpy.div(".hd")[heads],
        htpy.ol(aria_label=f"Ranked by {side.whole}")[rows],
    ]


def _row(
    placed: PlacedChunk,
    letter: str,
    side: ListSide,
    look: ListLook,
    numbers: Mapping[int, str],
    said: Mapping[int, str],
    *,
    is_single: bool,
    is_below: bool,
) -> htpy.Element:
    chunk, number = placed.change, numbers[placed.change.chunk]
    link = _chunk_link(placed, letter, look, number, said.get(chunk.chunk, ""))
    rank = htpy.span(".rank")[
        htpy.span(".unseen")["rank "], "none" if placed.rank is None else f"{placed.rank:,}"
    ]
    grade = grade_box(chunk.grade)
    part = None
    if side.part_of:
        part = htpy.span(".part")[format_number(placed.term) if placed.term else ""]
    if letter == "a" and not is_single:
        cells = [link, part, rank, grade]
    else:
        move = None if is_single else htpy.span(".move")[_move(placed.rank, look.partner(placed))]
        cells = [grade, rank, move, link, part]
    is_edge = placed.rank == look.prompt_k and not is_below
    ends = htpy.span(".ends")["end of the prompt"] if is_edge else None
    classes = {
        number: True,
        "r": True,
        "edge": is_edge,
        "below": is_below,
        "current": chunk.chunk == look.chosen,
    }
    return htpy.li(class_=classes)[cells, ends]


def _chunk_link(
    placed: PlacedChunk, letter: str, look: ListLook, number: str, shares: str
) -> htpy.Element:
    """Return a chunk's id and title as a link that opens the chunk below."""
    chunk = placed.change
    title = look.titles.get(chunk.chunk)
    whole = f"{chunk.chunk_id}: {title}" if title else chunk.chunk_id
    shown = htpy.span(".named.lacks")["text not loaded"]
    if not look.titles:
        shown = htpy.span(".named")[chunk.chunk_id]
    if title:
        shown = htpy.span(".named", dir="auto")[title.rsplit(PATH_SEPARATOR, 1)[-1]]
    return htpy.a(
        id=f"chunk {letter}{number}",
        href=look.link(chunk.chunk_id),
        title=f"{whole}\nText in common with {shares}" if shares else whole,
        target="_self",
        data_in_place="chunk-panel",
        aria_current="true" if chunk.chunk == look.chosen else None,
    )[htpy.small[chunk.chunk_id] if look.titles else None, shown]


def _move(rank: int | None, before: int | None) -> str:
    """Say how far a chunk moved from A to B.

    >>> _move(5, 1), _move(1, 3), _move(2, 2), _move(4, None), _move(None, 3)
    ('↓ 4', '↑ 2', '=', 'new', '–')
    """
    if rank is None:
        return "–"
    if before is None:
        return "new"
    if rank == before:
        return "="
    return f"↑ {before - rank}" if rank < before else f"↓ {rank - before}"


class Wire(NamedTuple):
    """A line from A's list to B's: its ends in pixels from the first row's top, and its classes.

    ``share`` is the share of text that the chunks at its ends have in common, 1 for the same chunk.
    """

    y_a: int
    y_b: int
    classes: str
    share: float = 1.0


def wires(a: ListSide, b: ListSide, look: ListLook) -> list[Wire]:
    """Return the lines between equal chunks, or between chunks that share text."""
    numbers = _chunk_classes((a, b))
    in_a = {each.change.chunk: (each, y) for each, y in a.rows()}
    in_b = {each.change.chunk: (each, y) for each, y in b.rows()}
    if look.shared is not None:
        return [
            Wire(
                *(in_a[each.chunk_a][1], in_b[each.chunk_b][1]),
                f"shared {numbers[each.chunk_a]} {numbers[each.chunk_b]}",
                each.size,
            )
            for each in look.shared
            if each.chunk_a in in_a and each.chunk_b in in_b
        ]
    both = [(chunk, *in_a[chunk], in_b[chunk][1]) for chunk in in_a if chunk in in_b]
    # lines of the best grades are drawn last, over the others
    both.sort(key=lambda each: each[1].change.grade or 0)
    return [
        Wire(y_a, y_b, f"{_line_class(placed.change.grade)} {numbers[chunk]}")
        for chunk, placed, y_a, y_b in both
    ]


def _line_class(grade: int | None) -> str:
    return "open" if grade is None else f"l{grade}"


def _chunk_classes(sides: Sequence[ListSide]) -> dict[int, str]:
    """Return a CSS class for each chunk, shared by its rows and its lines."""
    chunks = dict.fromkeys(each.change.chunk for side in sides for each, _ in side.rows())
    return {chunk: f"c{at}" for at, chunk in enumerate(chunks)}


def under_lists(lines: Iterable[htpy.Node]) -> htpy.Fragment:
    """Return notes on how to read the lists, beside the key of the grades."""
    return htpy.fragment[
        LISTS_STYLE,
        htpy.div(".under-lists")[htpy.p[[[" ", line] for line in lines if line]], grade_key()],
    ]


def who_graded(grade: int | None, given: Sequence[tuple[str, str, int]]) -> htpy.Fragment:
    """Return a chunk's golden grade and who gave it; ``given`` is (who, kind, grade)."""
    said = [
        f"{who or 'a file'} {value}{' (final grade)' if kind == 'adjudicate' else ''}"
        for who, kind, value in given
    ]
    words = " · ".join(said) if said else "Nobody has graded this chunk."
    if grade is not None and not said:
        words = "transferred from another chunking"
    return htpy.fragment[
        GRADE_STYLE,
        htpy.p(".who-graded")[grade_box(grade), htpy.span[words]],
    ]


def link_in_place(label: str, href: str) -> htpy.Fragment:
    """Return a small link to another choice within the opened query."""
    return htpy.fragment[
        LISTS_STYLE,
        htpy.div(".under-lists")[
            htpy.a(id=f"choice {label}", href=href, target="_self", data_in_place="")[label]
        ],
    ]
