"""Where chunks stand, whatever the cutting, the script and the form; said where it is unsure."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import BadInput
from labeler.rechunking import Cut, LocatedChunkings, find_locations
from labeler.rechunking.location import check_offsets
from labeler.rechunking.normalised_text import (
    normalised,
    original_positions,
    spans_in_normalised,
    spans_in_original,
)
from tests.support.documents import KINDS, cuts, document, spans_of
from tests.support.examples import examples

CUTTINGS = st.tuples(
    st.integers(120, 900), st.sampled_from([0, 40, 100]), st.integers(60, 1200), st.integers(0, 50)
)


def places_of(
    text: str, old: tuple[int, int], new: tuple[int, int], *, documents: bool, named: bool = True
) -> LocatedChunkings:
    name = "d" if named else None
    return find_locations(
        cuts("o", text, spans_of(text, *old), name),
        cuts("n", text, spans_of(text, *new), name),
        {"d": text} if documents else None,
    )


def placed(old: list[str], new: str, **documents: str) -> LocatedChunkings:
    olds = [Cut(f"o{number}", text) for number, text in enumerate(old)]
    return find_locations(olds, [Cut("n", new)], documents)


@examples(40)
@given(st.sampled_from(KINDS), st.integers(0, 10**6), CUTTINGS, st.booleans(), st.booleans())
def test_every_chunk_of_any_two_cuttings_of_a_whole_text_is_placed(
    kind: str, seed: int, sizes: tuple[int, int, int, int], documents: bool, named: bool
) -> None:
    text = document(kind, random.Random(seed))
    found = places_of(text, sizes[:2], sizes[2:], documents=documents, named=named)
    assert found.unplaced == []
    assert all(place.found == 1 and not place.is_changed for place in found.new.values())


@examples(15)
@given(st.sampled_from(KINDS), st.integers(0, 10**6), CUTTINGS)
def test_with_the_document_a_place_is_what_was_cut_out(
    kind: str, seed: int, sizes: tuple[int, int, int, int]
) -> None:
    text = document(kind, random.Random(seed))
    spans = spans_of(text, *sizes[2:])
    found = places_of(text, sizes[:2], sizes[2:], documents=True)
    for place, (start, end) in zip(found.new.values(), spans, strict=True):
        if place.others or not text[start:end].strip():
            continue
        where = found.where(place)
        assert where is not None
        assert where[0] == "d"
        assert text[where[1] : where[2]] == text[start:end].strip()


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@pytest.mark.parametrize("kind", KINDS)
def test_unicode_form_and_white_space_do_not_hide_a_chunk(form: str, kind: str) -> None:
    text = document(kind, random.Random(4))
    other = unicodedata.normalize(form, text)
    again = " \u200b\n".join(other[500:900].split(" "))
    [place] = find_locations(
        cuts("o", text, spans_of(text, 300)), [Cut("n", again, "unknown")]
    ).new.values()
    assert place.found == 1
    assert not place.is_changed


def test_a_bridge_between_chunks_in_any_order_is_found() -> None:
    text = document("prose", random.Random(2))
    olds = cuts("o", text, spans_of(text, 400))
    random.Random(1).shuffle(olds)
    olds = [cut._replace(position=None) for cut in olds]
    found = find_locations(olds, cuts("n", text, [(300, 700), (350, 1250)]))
    assert found.unplaced == []
    assert not any(place.is_changed for place in found.new.values())


@pytest.mark.parametrize("by_id", [True, False])
def test_chunks_that_overlap_are_put_in_order_where_nobody_says_it(by_id: bool) -> None:
    text = document("prose", random.Random(2), 60)
    olds = cuts("o", text, spans_of(text, 500, 100))
    olds = [cut._replace(position=None) for cut in olds]
    olds.sort(key=lambda cut: cut.chunk_id if by_id else cut.text)
    found = find_locations(olds, cuts("n", text, spans_of(text, 400)))
    assert found.unplaced == found.ambiguous == []
    assert all(len(place.segments) == 1 for place in found.new.values())


def test_what_neighbours_share_is_one_place() -> None:
    text = document("prose", random.Random(3))
    found = places_of(text, (500, 150), (140, 0), documents=False, named=False)
    assert found.ambiguous == []


def test_a_paragraph_that_stands_twice_has_no_sure_place() -> None:
    text = document("prose", random.Random(5))
    again = text[400:800]
    found = placed([text[:1200], again, text[1200:]], again)
    assert found.ambiguous == ["n"]
    assert found.new["n"].others == 1


def test_a_paragraph_that_stands_twice_is_placed_by_what_is_around_it() -> None:
    text = document("prose", random.Random(5))
    twice = text[400:800]
    found = placed([text[:1200], twice, text[1200:]], text[300:820])
    assert found.ambiguous == []


def test_the_document_says_which_of_two_places_it_is() -> None:
    text = document("prose", random.Random(6), 4)
    olds = [Cut("a", text, "one"), Cut("b", text, "two")]
    sure, unsure = find_locations(
        olds, [Cut("n", text[100:300], "two"), Cut("m", text[100:300])]
    ).new.values()
    assert (sure.others, unsure.others) == (0, 1)


@pytest.mark.parametrize("document_id", ["d", None])
def test_a_heading_in_front_of_every_chunk_is_not_looked_for(document_id: str | None) -> None:
    text = document("prose", random.Random(7))
    plain = cuts("n", text, spans_of(text, 300), document_id)
    headed = [cut._replace(text=f"Handbook\n\n{cut.text}") for cut in plain]
    found = find_locations(cuts("o", text, spans_of(text, 500), document_id), headed)
    assert found.unplaced == []
    assert {place.heading for place in found.new.values()} == {len("Handbook")}


def test_headings_of_the_old_chunks_are_no_text_of_the_document() -> None:
    text = document("prose", random.Random(8))
    headed = [
        cut._replace(text=f"# Fees > Part {number}\n{cut.text}")
        for number, cut in enumerate(cuts("o", text, spans_of(text, 500), "d"))
    ]
    found = find_locations(headed, cuts("n", text, spans_of(text, 350), "d"))
    assert found.unplaced == []
    assert not any(place.is_changed for place in found.new.values())


@pytest.mark.parametrize("document_id", ["d", None])
def test_headings_of_both_chunkings_are_left_out_although_they_differ(
    document_id: str | None,
) -> None:
    text = document("prose", random.Random(8))
    old, new = (
        [
            cut._replace(text=f"Handbook of fees\nSection {number // each}\n\n{cut.text}")
            for number, cut in enumerate(cuts(name, text, spans_of(text, size), document_id))
        ]
        for name, size, each in (("o", 500, 4), ("n", 480, 2))
    )
    found = find_locations(old, new)
    assert found.unplaced == found.ambiguous == []
    assert not any(place.is_changed for place in found.new.values())


def test_a_changed_word_is_seen() -> None:
    text = document("prose", random.Random(9))
    words = text[200:600].split()
    words[30] = "30,000"
    [place] = placed([text], " ".join(words)).new.values()
    assert place.is_changed
    assert place.found > 0.9


def test_other_signs_of_markup_are_no_change() -> None:
    text = document("table", random.Random(9))
    [place] = placed([text], text[200:900].replace("|---|---|---|", "").strip()).new.values()
    assert not place.is_changed


def test_what_stands_nowhere_is_listed() -> None:
    found = placed([document("prose", random.Random(1))], document("chinese", random.Random(1)))
    assert found.unplaced == ["n"]
    assert found.new["n"].segments == ()


def test_a_chunk_without_text_stands_nowhere() -> None:
    assert placed(["Fees are due in May."], " \n").unplaced == ["n"]


def test_offsets_decide_between_two_places() -> None:
    text = "Fees are due in May. " * 4
    cut = Cut("n", "Fees are due in May.", "d", start=21, end=41)
    found = find_locations([], [cut], {"d": text})
    assert found.where(found.new["n"]) == ("d", 21, 41)
    assert found.ambiguous == []


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        (Cut("c", "Fees", "d", start=-1, end=4), "-1 to 4 lies outside document 'd'"),
        (Cut("c", "Fees", "d", start=2, end=99), "2 to 99 lies outside document 'd', which has 20"),
        (Cut("c", "Fees", "d", start=9, end=4), "9 to 4 lies outside"),
        (
            Cut("c", "Fees are", "d", start=9, end=20),
            "its text is not what document 'd' has",
        ),
    ],
)
def test_offsets_that_cannot_be_are_refused(cut: Cut, said: str) -> None:
    text = "Fees are due in May."
    with pytest.raises(BadInput, match="chunk 'c'") as refused:
        find_locations([], [cut], {"d": text})
    assert said in str(refused.value)


def test_offsets_may_leave_a_heading_out() -> None:
    check_offsets(Cut("c", "Fees\n\ndue in May.", "d", start=9, end=20), "Fees are due in May.")


def test_an_id_that_stands_twice_is_refused() -> None:
    with pytest.raises(BadInput, match="chunk 'a' stands twice"):
        find_locations([Cut("a", "one"), Cut("a", "two")], [])


@given(st.text(max_size=200))
def test_squeezed_characters_are_followed_back(text: str) -> None:
    plain = normalised(text)
    stood = original_positions(text)
    assert len(stood) == len(plain)
    assert sorted(stood.tolist()) == stood.tolist()
    assert normalised(unicodedata.normalize("NFD", text)) == plain
    if plain:
        [span] = spans_in_normalised(text, [(0, len(text))])
        assert span == (0, len(plain))
        [(start, end)] = spans_in_original(text, [span])
        assert normalised(text[start:end]) == plain


def test_progress_reaches_the_end() -> None:
    text = document("prose", random.Random(1), 200)
    told: list[float] = []
    find_locations(
        cuts("o", text, spans_of(text, 300)), cuts("n", text, spans_of(text, 60)), None, told.append
    )
    assert told == sorted(told)
    assert told[-1] == 1
