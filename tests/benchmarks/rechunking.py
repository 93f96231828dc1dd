"""How many grades a new chunking keeps, how many of those are right, and what is said of systems.

    python -m tests.benchmarks.rechunking FOLDER [texts|order|offsets|documents|all]

FOLDER holds ``documents/*.md`` and ``questions.jsonl`` with ``query``, ``document_id`` and
``evidence``, the spans of the document that answer it, so that what is true is known for any
chunking: a chunk is graded 3 if it holds 95% of a question's evidence, 2 from half of it, 1 for any
(20 characters or more), else 0. The top 20 by BM25 of the old chunking are graded; the top 10 of
the new one are asked for. What is given of chunks are their texts alone; or also the document and
the position, or the document and offsets; or the documents' texts as well, without offsets or with
them (all).

Then six systems, BM25 with more and more noise, are set in order by nDCG@10 and by evidence recall:
by what is true, and by what was transferred, all that is undecided being ungraded.
"""

from __future__ import annotations

import itertools
import json
import random
import resource
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import labeler
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.model import Chunk, CollectionTexts
from labeler.rechunking import (
    Cut,
    DerivedGrade,
    GradeBasis,
    LocatedChunkings,
    OldGrade,
    find_locations,
    transfer_grades,
)

try:  # comes with the extra bench
    import bm25s
except ImportError:
    bm25s = None

Cutting = tuple[int, int]
CASES: list[tuple[Cutting, Cutting]] = [
    ((800, 0), (780, 0)),
    ((800, 0), (800, 200)),
    ((800, 0), (1600, 0)),
    ((800, 0), (400, 0)),
    ((1600, 0), (800, 0)),
    ((1200, 200), (800, 200)),
]
GRADED, ASKED = 20, 10
COVERED = 0.98
NOISES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.6)

Run = dict[str, list[str]]


class Piece(NamedTuple):
    """A chunk by where it was cut out."""

    document: str
    start: int
    end: int
    number: int

    @property
    def name(self) -> str:
        """Its id."""
        return f"{self.document}:{self.start}-{self.end}"


class World:
    """Documents, questions and what is true of any chunk."""

    def __init__(self, texts: dict[str, str], questions: list[dict[str, Any]]) -> None:
        self.texts, self.questions = texts, questions

    @staticmethod
    def read(folder: Path) -> World:
        """Read documents and questions from a folder."""
        files = sorted((folder / "documents").glob("*.md"))
        texts = {path.stem: path.read_bytes().decode() for path in files}
        lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        return World(texts, [json.loads(line) for line in lines])

    def pieces(self, cutting: Cutting) -> list[Piece]:
        """Return the chunks of a chunking."""
        return [
            Piece(name, *span, number)
            for name, text in self.texts.items()
            for number, span in enumerate(cut(text, *cutting))
        ]

    def text(self, piece: Piece) -> str:
        """Return a chunk's text."""
        return self.texts[piece.document][piece.start : piece.end]

    def found(self, pieces: Sequence[Piece], k: int) -> list[list[Piece]]:
        """Return the top k of each question by BM25."""
        index = bm25s.BM25()
        texts = [self.text(piece) for piece in pieces]
        index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
        asked = [question["query"] for question in self.questions]
        tokens = bm25s.tokenize(asked, show_progress=False)
        rows = index.retrieve(tokens, k=k, show_progress=False)[0]
        return [[pieces[at] for at in row] for row in rows]


def cut(text: str, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return the spans of chunks that end with a paragraph, a sentence or a word if they can."""
    spans, start = [], 0
    while True:
        end = min(len(text), start + size)
        if end < len(text):
            window = text[start:end]
            at = max(window.rfind("\n\n"), window.rfind(". ") + 1)
            at = at if at >= size * 0.5 else window.rfind(" ")
            end = start + at if at > size * 0.3 else end
        spans.append((start, end))
        if end >= len(text):
            return spans
        start = max(end - overlap, start + 1)


def joined(spans: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return spans in order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(map(tuple, spans)):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def within(piece: Piece, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what of spans of its document lies in a chunk."""
    cut_off = [(max(piece.start, a), min(piece.end, b)) for a, b in spans]
    return [(a, b) for a, b in cut_off if a < b]


def evidence_in(piece: Piece, question: dict[str, Any]) -> list[tuple[int, int]]:
    """Return which spans of the document answer a question and lie in a chunk."""
    is_of = piece.document == question["document_id"]
    return within(piece, joined(question["evidence"])) if is_of else []


def size_of(spans: Sequence[tuple[int, int]]) -> int:
    """Return how many characters spans hold."""
    return sum(end - start for start, end in spans)


def truth(piece: Piece, question: dict[str, Any]) -> int:
    """Return a chunk's true grade."""
    total, found = size_of(joined(question["evidence"])), size_of(evidence_in(piece, question))
    if found < min(20, total):
        return 0
    return 3 if found >= 0.95 * total else 2 if found >= 0.5 * total else 1


def graded(
    world: World, number: int, pieces: Sequence[Piece], marked: bool
) -> list[tuple[Piece, OldGrade]]:
    """Return the true grades of chunks, with the passages that answer marked, or without."""
    question, found = world.questions[number], []
    for piece in pieces:
        grade = truth(piece, question)
        spans = evidence_in(piece, question) if grade and marked else []
        passages = tuple((a - piece.start, b - piece.start) for a, b in spans)
        found.append(
            (piece, OldGrade(str(number), piece.name, grade, (GradeBasis(len(found), passages),)))
        )
    return found


def cuts_of(world: World, pieces: Sequence[Piece], given: str) -> list[Cut]:
    """Return chunks with what is known of them."""
    if given in ("texts", "mixed"):
        found = [Cut(piece.name, world.text(piece)) for piece in pieces]
        return found if given == "texts" else random.Random(1).sample(found, len(found))
    if given == "documents alone":
        found = [Cut(piece.name, world.text(piece), piece.document) for piece in pieces]
        return random.Random(1).sample(found, len(found))
    return [
        Cut(
            piece.name,
            world.text(piece),
            piece.document,
            None if given == "offsets" else piece.number,
            *offsets(piece, given),
        )
        for piece in pieces
    ]


def offsets(piece: Piece, given: str) -> tuple[int, int] | tuple[None, None]:
    """Return where a chunk begins and ends in its document, if that is given."""
    return (piece.start, piece.end) if given in ("offsets", "all") else (None, None)


def documents_of(world: World, given: str) -> dict[str, str]:
    """Return the texts of the documents that are given."""
    return world.texts if given in ("documents", "all") else {}


def counted(
    world: World,
    transferred: Sequence[DerivedGrade],
    asked: Sequence[Piece],
    grades: dict[str, list[Piece]],
) -> Counter[str]:
    """Count pairs, by whether their text lies in graded chunks, and what became of them."""
    counts: Counter[str] = Counter()
    for each, piece in zip(transferred, asked, strict=True):
        question = world.questions[int(each.query_id)]
        want = truth(piece, question)
        olds = [(x.start, x.end) for x in grades[each.query_id] if x.document == piece.document]
        covered = size_of(within(piece, joined(olds))) >= COVERED * (piece.end - piece.start)
        kinds = [f"{'covered' if covered else 'other'} {kind}" for kind in ("all", "relevant")]
        for kind in kinds[: 1 + (want > 0)]:
            counts[kind] += 1
            counts[f"{kind} {each.state}"] += 1
            counts[f"{kind} right"] += each.state == "decided" and each.grade == want
    return counts


def pairs_transferred(
    world: World, old: Cutting, new: Cutting, marked: bool, given: str, part: float = 1.0
) -> tuple[Counter[str], list[DerivedGrade], list[Piece]]:
    """Transfer the grades of one chunking to another, or to a random part of it, and count."""
    before, after, numbers = world.pieces(old), world.pieces(new), random.Random(2)
    after = [piece for piece in after if numbers.random() < part]
    rows = [
        graded(world, number, row, marked) for number, row in enumerate(world.found(before, GRADED))
    ]
    asked = [
        (str(number), piece)
        for number, row in enumerate(world.found(after, ASKED))
        for piece in row
    ]
    old_given = "order" if given == "documents alone" else given
    places = find_locations(
        cuts_of(world, before, old_given), cuts_of(world, after, given), documents_of(world, given)
    )
    transferred = transfer_grades(
        (grade for row in rows for _, grade in row),
        ((query, piece.name) for query, piece in asked),
        places,
    )
    pieces = [piece for _, piece in asked]
    by_query = {str(number): [piece for piece, _ in row] for number, row in enumerate(rows)}
    say_unplaced(places)
    return counted(world, transferred, pieces, by_query), transferred, pieces


def say_unplaced(places: LocatedChunkings) -> None:
    """Print how many chunks could not be placed, if there are any."""
    if places.unplaced or places.ambiguous:
        print(f"  not placed {len(places.unplaced)}, ambiguous {len(places.ambiguous)}")


def share(counts: Counter[str], part: str, whole: str) -> str:
    """Return a share as the table has it."""
    return f"{counts[part] / counts[whole]:.3f}" if counts[whole] else "-"


def said_of(old: Cutting, new: Cutting) -> str:
    """Return the names of two chunkings, by their size and overlap in characters."""
    return f"{old[0]}/{old[1]} -> {new[0]}/{new[1]}"


def table(world: World, given: str) -> None:
    """Print what is decided and right for each pair of chunkings."""
    heads = "old -> new", "with", "covered", "decided", "right", "relevant decided", "right"
    print(*heads, "others decided", sep="\t")
    for old, new in CASES:
        for marked in (False, True):
            counts, _, _ = pairs_transferred(world, old, new, marked, given)
            total = counts["covered all"] + counts["other all"]
            print(
                said_of(old, new),
                "passages" if marked else "text",
                f"{counts['covered all'] / total:.3f}",
                share(counts, "covered all decided", "covered all"),
                share(counts, "covered all right", "covered all decided"),
                share(counts, "covered relevant decided", "covered relevant"),
                share(counts, "covered relevant right", "covered relevant decided"),
                counts["other all decided"],
                sep="\t",
            )


def systems(world: World, pieces: Sequence[Piece]) -> dict[str, Run]:
    """Return six systems: BM25 whose scores are blurred by more and more noise."""
    numbers = np.random.default_rng(7)
    index = bm25s.BM25()
    texts = [world.text(piece) for piece in pieces]
    index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    asked = [question["query"] for question in world.questions]
    tokens = bm25s.tokenize(asked, return_ids=False, show_progress=False)
    found: dict[str, Run] = {f"noise {noise}": {} for noise in NOISES}
    for number, words in enumerate(tokens):
        scores = index.get_scores(words)
        for noise in NOISES:
            blurred = scores + numbers.normal(0, noise * scores.max(), len(scores))
            best = np.argsort(-blurred, kind="stable")[:ASKED].tolist()
            found[f"noise {noise}"][str(number)] = [pieces[at].name for at in best]
    return found


def orders(world: World, given: str) -> None:
    """Print how the order of six systems under transferred grades agrees with the true one."""
    taus: dict[str, list[float]] = {"nDCG@10": [], "evidence recall": []}
    worst = dict.fromkeys(taus, 0.0)
    for old, new in CASES:
        for measure, (truly, said) in means(world, old, new, given).items():
            tau, swapped = agreement(truly, said)
            taus[measure].append(tau)
            worst[measure] = max(worst[measure], swapped)
            shown = " ".join(f"{a:.3f}/{b:.3f}" for a, b in zip(truly, said, strict=True))
            print(said_of(old, new), measure, f"tau {tau:.3f}", shown, sep="\t")
    for measure, found in taus.items():
        mean = statistics.fmean(found)
        print(
            f"{measure}: mean tau {mean:.3f}; swapped pairs differ by {worst[measure]:.4f} at most"
        )


def means(
    world: World, old: Cutting, new: Cutting, given: str
) -> dict[str, tuple[list[float], list[float]]]:
    """Return the true means of six systems, and those under transferred grades, by measure."""
    before, after = world.pieces(old), world.pieces(new)
    runs, rows = systems(world, after), world.found(before, GRADED)
    grades = [each for at, row in enumerate(rows) for _, each in graded(world, at, row, True)]
    documents = documents_of(world, given)
    places = find_locations(cuts_of(world, before, given), cuts_of(world, after, given), documents)
    names = {piece.name: piece for piece in after}
    pool = {(query, name) for run in runs.values() for query in run for name in run[query]}
    true: dict[str, dict[str, int]] = {str(at): {} for at in range(len(world.questions))}
    kept: dict[str, dict[str, int]] = {query: {} for query in true}
    for each in transfer_grades(grades, sorted(pool), places):
        question = world.questions[int(each.query_id)]
        true[each.query_id][each.chunk_id] = truth(names[each.chunk_id], question)
        if each.state == "decided" and each.grade is not None:
            kept[each.query_id][each.chunk_id] = each.grade
    by_grades = (labeler.evaluate(each, runs, "nDCG@10").value.tolist() for each in (true, kept))
    return {
        "nDCG@10": (next(by_grades), next(by_grades)),
        "evidence recall": (
            [true_recall(world, run, names) for run in runs.values()],
            found_recall(world, (before, after), grades, runs, given),
        ),
    }


def found_recall(
    world: World,
    cut: tuple[Sequence[Piece], Sequence[Piece]],
    grades: Sequence[OldGrade],
    runs: dict[str, Run],
    given: str,
) -> list[float]:
    """Return the mean share of the marked evidence that each run's chunks hold, as labeler has it.

    Grades and their marks are of the old chunks; both chunkings have names of their own here.
    """
    old, new = cut
    known: dict[str, dict[str, int]] = {str(at): {} for at in range(len(world.questions))}
    for grade in grades:
        known[grade.query_id][f"old {grade.chunk_id}"] = grade.grade
    collection = collect(known, runs)
    called = {name: at for at, name in enumerate(collection.chunk_ids)}
    numbered = [
        {
            called.setdefault(f"{prefix}{name}", len(called)): Chunk(
                f"{prefix}{name}",
                text,
                document_id=document,
                position=position,
                start=start,
                end=end,
            )
            for name, text, document, position, start, end in cuts_of(world, pieces, given)
        }
        for prefix, pieces in (("old ", old), ("", new))
    ]
    documents = documents_of(world, given)
    texts = CollectionTexts(
        repr((old, new, given)), dict(zip(("", "new"), numbered, strict=True)), documents
    )
    marks = {
        (grade.query_id, called[f"old {grade.chunk_id}"]): basis.passages
        for grade in grades
        for basis in grade.bases
        if basis.passages
    }
    board = Scoreboard(replace(collection, marks=marks, texts=lambda: texts), Conventions.of())
    return [row.value for row in board.table(board.conventions.measures("EvidenceR"))]


def true_recall(world: World, run: Run, names: dict[str, Piece]) -> float:
    """Return the mean share of the true evidence that a run's chunks hold."""
    shares = []
    for number, question in enumerate(world.questions):
        spans = [span for name in run[str(number)] for span in evidence_in(names[name], question)]
        shares.append(size_of(joined(spans)) / size_of(joined(question["evidence"])))
    return statistics.fmean(shares)


def agreement(truly: Sequence[float], said: Sequence[float]) -> tuple[float, float]:
    """Return Kendall's tau of two orders, and how far apart a swapped pair truly is at most."""
    pairs = list(itertools.combinations(range(len(truly)), 2))
    swapped = [
        abs(truly[a] - truly[b])
        for a, b in pairs
        if (truly[a] - truly[b]) * (said[a] - said[b]) <= 0
    ]
    return 1 - 2 * len(swapped) / len(pairs), max(swapped, default=0.0)


def main() -> None:
    """Print the tables."""
    folder, given = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "texts"
    world = World.read(Path(folder))
    began = time.perf_counter()
    table(world, given)
    orders(world, given)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{time.perf_counter() - began:.1f} s, {used:.0f} MB")


if __name__ == "__main__":
    main()
