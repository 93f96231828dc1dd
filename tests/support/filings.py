"""Filings made up for the tests of rechunking: documents in which most text occurs more than once.

Annual reports repeat themselves: clauses that every report has, notes that a report prints in two
or three places, and copies in which only a figure differs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

CONSONANTS, VOWELS = "bcdfghjklmnprstvz", "aeiou"
CHANGED_COPIES = 0.1  # the share of copies in which a figure differs


class Filings(NamedTuple):
    """Texts by document id, and questions with the spans of the document that answer each."""

    texts: dict[str, str]
    questions: list[dict[str, Any]]


class _Writer:
    """Writes sentences, paragraphs and notes of made-up words and figures."""

    def __init__(self, seed: int) -> None:
        self.numbers = random.Random(seed)
        syllables = [one + other for one in CONSONANTS for other in VOWELS]
        self.words = ["".join(self.numbers.choices(syllables, k=3)) for _ in range(900)]

    def sentence(self) -> str:
        words = self.numbers.choices(self.words, k=self.numbers.randint(7, 16))
        words.insert(self.numbers.randint(2, 6), f"{self.numbers.randint(1000, 99999):,}")
        return f"{' '.join(words).capitalize()}."

    def paragraph(self) -> str:
        return " ".join(self.sentence() for _ in range(self.numbers.randint(3, 7)))

    def note(self) -> str:
        return "\n\n".join(self.paragraph() for _ in range(self.numbers.randint(3, 6)))

    def copy(self, text: str) -> str:
        """Return a text, now and then with another figure in it."""
        figures = [word for word in text.split() if word[:-1].replace(",", "").isdigit()]
        if not figures or self.numbers.random() >= CHANGED_COPIES:
            return text
        return text.replace(self.numbers.choice(figures), f"{self.numbers.randint(100, 999)}", 1)


def make_filings(documents: int, blocks: int, seed: int = 1, asked: int = 40) -> Filings:
    """Return documents of about so many ``blocks`` of text, and ``asked`` questions on each.

    Of 200-character windows about 73% occur more than once.
    """
    writer = _Writer(seed)
    clauses = [writer.paragraph() for _ in range(max(4, blocks // 5))]
    texts = {f"filing{at}": _document(writer, clauses, blocks) for at in range(documents)}
    questions = [
        {**question, "document_id": name, "query_id": f"{name}-{at}"}
        for name, text in texts.items()
        for at, question in enumerate(_questions(writer, text, asked))
    ]
    return Filings(texts, questions)


def _document(writer: _Writer, clauses: Sequence[str], blocks: int) -> str:
    notes = [writer.note() for _ in range(max(1, blocks // 12))]
    kinds = writer.numbers.choices(("own", "clause", "note"), (30, 31, 39), k=blocks)
    parts = []
    for kind in kinds:
        if kind == "own":
            parts.append(writer.paragraph())
        else:
            parts.append(writer.copy(writer.numbers.choice(clauses if kind == "clause" else notes)))
    return "\n\n".join(parts)


def _questions(writer: _Writer, text: str, count: int) -> Iterator[dict[str, Any]]:
    """Yield questions in words of one or two sentences, which are the answer where they are."""
    ends = [at + 1 for at, sign in enumerate(text) if sign == "."]
    for _ in range(count):
        at = writer.numbers.randrange(1, len(ends) - 2)
        spans = [(ends[at - 1], ends[at])]
        if writer.numbers.random() < 0.3:
            spans.append((ends[at + 1], ends[at + 2]))
        evidence = [
            [start + len(text[start:end]) - len(text[start:end].lstrip()), end]
            for start, end in spans
        ]
        words = " ".join(text[start:end] for start, end in evidence).split()
        yield {
            "query": " ".join(writer.numbers.sample(words, min(len(words), 8))),
            "evidence": evidence,
        }


def repeated_share(texts: Sequence[str], size: int = 200) -> float:
    """Return the share of windows of a size that occur more than once in all texts."""
    counts = Counter(
        hash(text[at : at + size]) for text in texts for at in range(len(text) - size + 1)
    )
    return sum(count for count in counts.values() if count > 1) / counts.total()
