"""Repeated text is located by what tells its copies apart, and stays ambiguous without it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest

from labeler.rechunking import (
    Cut,
    DerivedGrade,
    LocatedChunkings,
    OldGrade,
    describe_repeated_pairs,
    find_locations,
    transfer_grades,
)
from labeler.rechunking.normalised_text import normalised, spans_in_normalised
from labeler.rechunking.source_texts import Headings, overlap_size, text_order
from tests.support.documents import cuts, document, spans_of
from tests.support.filings import make_filings, repeated_share

FILINGS = make_filings(2, 70, seed=4, asked=0).texts
SIZES = [
    ((800, 0), (780, 0)),
    ((800, 0), (800, 200)),
    ((1600, 0), (800, 0)),
    ((900, 150), (400, 0)),
]
UNIQUE = document("prose", random.Random(8), 20).split("\n\n")


def filing_cuts(size: tuple[int, int], given: str, share: float = 1.0) -> list[Cut]:
    """Return the chunks of all filings with what is given of them, or a random share of them."""
    found = []
    for name, text in FILINGS.items():
        spans = spans_of(text, *size)
        for cut, (start, end) in zip(cuts(f"{name}-{size}-", text, spans), spans, strict=True):
            if given == "order":
                cut = cut._replace(document_id=name)
            elif given == "offsets":
                cut = cut._replace(document_id=name, position=None, start=start, end=end)
            else:
                cut = cut._replace(position=None)
            found.append(cut)
    numbers = random.Random(3)
    return [cut for cut in found if numbers.random() < share]


def true_starts(size: tuple[int, int]) -> dict[str, tuple[str, int]]:
    """Return the document of each chunk, and where it begins in the document's normalised text."""
    found = {}
    for name, text in FILINGS.items():
        starts = spans_in_normalised(text, spans_of(text, *size))
        for number, (start, _) in enumerate(starts):
            found[f"{name}-{size}-{number}"] = name, start
    return found


def misplaced(found: LocatedChunkings, size: tuple[int, int]) -> list[str]:
    """Return the new chunks at another place than their own."""
    true, ends = true_starts(size), np.cumsum([len(normalised(text)) for text in FILINGS.values()])
    wrong = []
    for chunk_id, place in found.new.items():
        document_id, start = true[chunk_id]
        source = found.index.sources[found.index.number_at(place.spans[0][0])]
        first = found.index.starts[found.index.number_at(place.spans[0][0])]
        if source.document_id is None:  # all documents are one text, in their order
            start += int([0, *ends][list(FILINGS).index(document_id)])
        if not place.others and place.spans[0][0] - first != start:
            wrong.append(chunk_id)
    return wrong


def placed(old: Sequence[str], new: Sequence[tuple[int, str]]) -> LocatedChunkings:
    """Locate new texts, with their positions, in a document that was cut into old texts."""
    olds = [Cut(f"o{number}", text, "d", number) for number, text in enumerate(old)]
    return find_locations(olds, [Cut(f"n{at}", text, "d", at) for at, text in new])


def test_most_text_of_the_filings_occurs_more_than_once() -> None:
    assert repeated_share(list(FILINGS.values())) > 0.7


@pytest.mark.parametrize(("old", "new"), SIZES)
@pytest.mark.parametrize("given", ["texts", "order", "offsets"])
def test_order_or_offsets_locate_every_chunk_at_its_own_copy(
    old: tuple[int, int], new: tuple[int, int], given: str
) -> None:
    found = find_locations(filing_cuts(old, given), filing_cuts(new, given))
    assert found.unplaced == found.ambiguous == []
    assert misplaced(found, new) == []


@pytest.mark.parametrize(("old", "new"), SIZES)
@pytest.mark.parametrize("given", ["order", "offsets"])
def test_a_part_of_the_new_chunks_is_located_too(
    old: tuple[int, int], new: tuple[int, int], given: str
) -> None:
    found = find_locations(filing_cuts(old, "order"), filing_cuts(new, given, 0.5))
    assert len(found.ambiguous) <= 0.05 * len(found.new)
    assert misplaced(found, new) == []


@pytest.mark.parametrize("given", ["order", "offsets"])
def test_whole_texts_need_no_offsets_where_the_order_is_known(given: str) -> None:
    old, new = SIZES[0]
    found = find_locations(filing_cuts(old, given), filing_cuts(new, given), FILINGS)
    assert not any(place.others for place in found.old.values())
    assert found.ambiguous == misplaced(found, new) == []


def test_an_order_that_does_not_agree_with_the_texts_is_not_used() -> None:
    old, new = SIZES[0]
    numbers = random.Random(1)
    mixed = [cut._replace(position=numbers.randrange(10**6)) for cut in filing_cuts(new, "order")]
    found = find_locations(filing_cuts(old, "order"), mixed)
    assert len(found.ambiguous) > 0.3 * len(mixed)
    assert misplaced(found, new) == []


def test_offsets_that_do_not_agree_with_the_texts_are_not_used() -> None:
    old, new = SIZES[0]
    numbers = random.Random(1)
    wrong = [
        cut._replace(start=(start := numbers.randrange(10**5)), end=start + len(cut.text))
        for cut in filing_cuts(new, "offsets")
    ]
    found = find_locations(filing_cuts(old, "offsets"), wrong)
    assert len(found.ambiguous) > 0.3 * len(wrong)
    assert misplaced(found, new) == []


def test_one_text_in_two_places_stays_ambiguous_where_nothing_tells_them_apart() -> None:
    a, b, c, x = UNIQUE[:4]
    assert placed([a, x, b, x, c], [(1, x)]).ambiguous == ["n1"]
    assert placed([a, x, x, b], [(0, a), (1, x), (2, b)]).ambiguous == ["n1"]


def test_neighbours_say_which_of_two_places_it_is() -> None:
    a, b, c, x = UNIQUE[:4]
    found = placed([a, x, b, x, c], [(0, a), (1, x), (2, b), (3, x), (4, c)])
    assert found.ambiguous == []
    assert found.new["n1"].spans == found.old["o1"].spans
    assert found.new["n3"].spans == found.old["o3"].spans


def test_a_document_that_is_printed_twice_is_located_by_its_length() -> None:
    text = " ".join(UNIQUE)
    found = find_locations(
        cuts("o", f"{text} {text}", spans_of(f"{text} {text}", 500), "d"),
        cuts("n", f"{text} {text}", spans_of(f"{text} {text}", 300), "d"),
    )
    starts = [place.spans[0][0] for place in found.new.values()]
    assert found.ambiguous == []
    assert starts == sorted(set(starts))


def test_a_chunk_whose_own_place_is_missing_is_not_put_at_a_copy() -> None:
    own, clause = UNIQUE[:12], UNIQUE[12]
    parts = [part for each in own for part in (each, clause)]
    missing = {3, 9, 15, 21}  # of the old chunks, four clauses are not there
    old = [Cut(f"o{at}", text, "d", at) for at, text in enumerate(parts) if at not in missing]
    found = find_locations(old, [Cut(f"n{at}", text, "d", at) for at, text in enumerate(parts)])
    assert all(found.new[f"n{at}"].others for at in missing)
    sure = [name for name, place in found.new.items() if not place.others]
    assert len(sure) >= len(own)
    assert all(found.new[name].spans == found.old[f"o{name[1:]}"].spans for name in sure)


def test_offsets_locate_a_chunk_without_the_whole_text() -> None:
    fees = "Fees are due in May. "
    old = [Cut("a", fees * 2, "d", start=0, end=42), Cut("b", fees * 2, "d", start=42, end=84)]
    new = [Cut("n", fees, "d", start=21, end=42), Cut("unsaid", fees, "d")]
    found = find_locations(old, new)
    assert found.new["n"].spans == [(16, 32)]
    assert found.ambiguous == ["unsaid"]


@pytest.mark.parametrize("known", ["start", "end"])
def test_one_of_two_offsets_is_enough(known: str) -> None:
    old, new = SIZES[0]
    other = {"start": "end", "end": "start"}[known]
    given = [cut._replace(**{other: None}) for cut in filing_cuts(new, "offsets", 0.4)]
    found = find_locations(filing_cuts(old, "offsets"), given)
    assert found.ambiguous == misplaced(found, new) == []


def test_first_lines_that_repeat_as_the_text_does_are_no_headings() -> None:
    lines = ["Fees are due.", "Cards are sent.", "Claims are late.", "Dues vary."]
    numbers = random.Random(2)
    own = (f"Notice {number}." for number in range(1000))
    texts = ["\n".join(numbers.choice([*lines, next(own)]) for _ in range(4)) for _ in range(40)]
    assert not any(map(Headings(texts).added, texts))
    headed = [f"Handbook\n{text}" for text in texts]
    assert {Headings(headed).added(text) for text in headed} == {len("Handbook")}


def test_texts_that_continue_in_copies_of_one_another_keep_their_order() -> None:
    text = FILINGS["filing0"]
    texts = [normalised(text[start:end]) for start, end in spans_of(text, 800)]
    assert text_order(texts) == list(range(len(texts)))


def test_overlapping_chunks_in_any_order_are_put_in_order_although_their_text_repeats() -> None:
    text = FILINGS["filing0"]
    texts = [normalised(text[start:end]) for start, end in spans_of(text, 800, 200)]
    mixed = random.Random(2).sample(range(len(texts)), len(texts))
    order = [mixed[number] for number in text_order([texts[number] for number in mixed])]
    shared = [overlap_size(texts[one], texts[two]) for one, two in itertools.pairwise(order)]
    assert sum(size > 100 for size in shared) > 0.9 * len(shared)


def pair(if_located: float | None, chunk_id: str = "n") -> DerivedGrade:
    return DerivedGrade("q", chunk_id, "proposed", 0, "", 1.0, 0, 0, (), (), if_located)


NAMES = ("the default chunking", "chunking v2")
ALL = Cut("n", "Fees.", "d", 1, 0, 5)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (ALL, Cut("n", "Fees."), "the chunks of chunking v2 with document_id and position"),
        (Cut("o", "Fees."), ALL, "the chunks of the default chunking with document_id"),
        (ALL, Cut("n", "Fees.", "d"), "the chunks of chunking v2 with position, or with start"),
        (ALL, Cut("n", "Fees.", "d", 1), "the chunks of chunking v2 with start and end:"),
        (ALL, ALL, "the whole texts of the documents:"),
    ],
)
def test_what_would_decide_is_what_is_missing(old: Cut, new: Cut, what: str) -> None:
    said = describe_repeated_pairs([pair(1)], [old], [new], {}, NAMES)
    assert said is not None
    assert f"Load {what}" in said.sentence


def test_nothing_is_said_where_all_is_there_or_nothing_would_be_decided() -> None:
    assert describe_repeated_pairs([pair(1)], [ALL], [ALL], {"d"}, NAMES) is None
    assert describe_repeated_pairs([pair(0), pair(None)], [ALL], [Cut("n", "")], {}, NAMES) is None


def test_where_the_document_is_unknown_the_number_is_a_limit() -> None:
    pairs, cuts = [pair(1, "a"), pair(0.5, "b")], [Cut("a", "Fees."), Cut("b", "Dues.")]
    said = describe_repeated_pairs(pairs, [ALL], cuts, {}, NAMES)
    assert said is not None
    assert "up to 2 of the 2 pairs that repeated text leaves open (75%)" in said.sentence
    assert said.numbers == {"pairs": 2, "would_be_decided": 2, "share": 0.75}


def test_a_pair_is_counted_by_the_places_at_which_it_would_be_decided() -> None:
    a, b, x = UNIQUE[:3]
    places = placed([a, x, b, x], [(1, x)])
    grades = [OldGrade("q", "o1", 0), OldGrade("other", "o1", 0), OldGrade("other", "o3", 0)]
    asked = [("q", "n1"), ("other", "n1"), ("none", "n1")]
    found = transfer_grades(grades, asked, places)
    assert [each.if_located for each in found] == [0.5, 1, 0]
