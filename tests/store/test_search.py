"""Finding chunks by their words: what is found, in which order, and that the index is true."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labeler.formats import read_beir
from labeler.model import Chunk, Loaded, Query, Ranking
from labeler.store import Store
from labeler.store.chunk_texts import search_words
from labeler.store.sqlite import fts_terms

TEXTS = {
    "milk": Chunk("milk", "Clean the milk system every evening.", "Daily care"),
    "descale": Chunk("descale", "Descaling takes 40 minutes; use no vinegar.", "Milk of lime"),
    "error": Chunk("error", "Error E-104: the brew group is stuck", None),
    "café": Chunk("café", "Öffnungszeiten: das Café öffnet um acht.", "Über uns"),
    "bare": Chunk("bare", "OR AND NOT NEAR", None),
}


@pytest.fixture
def shelf(store: Store, loaded: Callable[..., Loaded]) -> Store:
    store.chunks.load(loaded(list(TEXTS.values())))
    return store


def found(store: Store, words: str, limit: int = 30) -> list[str]:
    ids = store.collection.read().chunk_ids
    return [ids[number] for number in store.texts.search(words, limit)]


DIFFERING = """
SELECT c.id, w.id FROM chunks AS c FULL JOIN chunk_words AS w ON w.id = c.id
WHERE (c.text IS NOT NULL) <> (w.id IS NOT NULL) OR w.words <> words_of(c.title, c.text)
"""


def check_index(store: Store) -> None:
    """Compare the index with the chunks; raises where they differ."""
    if not isinstance(store.path, Path):
        assert store.connection.rows(DIFFERING) == []
        return
    store.connection.execute(
        "INSERT INTO chunk_words (chunk_words, rank) VALUES ('integrity-check', 1)"
    )
    store.connection.conn.rollback()


def test_a_chunk_is_found_by_its_title_and_by_its_text(shelf: Store):
    assert found(shelf, "daily") == ["milk"]
    assert found(shelf, "vinegar") == ["descale"]
    assert found(shelf, "nowhere") == []


def test_a_word_in_the_title_weighs_more(shelf: Store):
    assert found(shelf, "milk") == ["descale", "milk"]


def test_what_has_all_words_comes_before_what_has_one(shelf: Store):
    assert found(shelf, "milk evening") == ["milk", "descale"]
    assert found(shelf, "milk evening", 1) == ["milk"]
    assert found(shelf, "milk nowhere") == ["descale", "milk"]


def test_case_and_accents_do_not_count(shelf: Store):
    assert found(shelf, "CAFE") == found(shelf, "café") == found(shelf, "offnungszeiten")
    assert found(shelf, "CAFE") == ["café"]


def test_only_the_last_word_may_be_a_beginning(shelf: Store):
    assert found(shelf, "desc") == ["descale"]
    assert found(shelf, "use desc") == ["descale"]
    assert found(shelf, "desc nowhere") == []


def test_a_code_with_signs_in_it_is_found(shelf: Store):
    assert found(shelf, "E-104") == ["error"]


@pytest.mark.parametrize(
    "words",
    [
        *('"', '"" ""', "'", "*", "^brew", "brew*", "a:b", "title:milk", "{title}:milk", "-milk"),
        *("(", "brew)", "NEAR(brew group)", "milk OR", "AND", "+brew + group", "\\", "%", "_"),
        *(
            "",
            " ",
            "\n",
            "😀",
            "☕ milk",
            "\u202emilk",
            "²",
            "日本語",
            "हिन्दी",
            "𞤀𞤢",
            "'); DROP TABLE chunks; --",
        ),
    ],
)
def test_operators_quotes_and_emoji_are_harmless(shelf: Store, words: str):
    assert set(found(shelf, words)) <= set(TEXTS)
    check_index(shelf)
    assert shelf.golden_set.contents().chunks == len(TEXTS)


def test_operators_are_words_like_others(shelf: Store):
    assert found(shelf, "OR") == found(shelf, "NOT") == ["bare"]
    assert found(shelf, "☕ vinegar") == ["descale"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.text(max_size=40))
def test_no_text_breaks_the_language_of_the_search(shelf: Store, words: str):
    assert set(found(shelf, words)) <= set(TEXTS)
    assert all(term.rstrip("*").strip('"').isalnum() for term in fts_terms(search_words(words)))


def test_the_index_follows_new_texts(shelf: Store, loaded: Callable[..., Loaded]):
    changed = [Chunk("milk", "Rinse the tubes.", "Weekly care"), Chunk("error", None, "gone")]
    shelf.chunks.load(loaded(changed), update=True)
    assert found(shelf, "tubes") == found(shelf, "weekly") == ["milk"]
    assert found(shelf, "evening") == []
    assert found(shelf, "stuck") == found(shelf, "gone") == ["error"]  # a text stays
    check_index(shelf)


def test_a_chunk_known_by_id_is_found_once_it_has_text(shelf: Store, loaded: Callable[..., Loaded]):
    shelf.queries.load(loaded([Query("q", "a question")]))
    shelf.runs.load(loaded([Ranking("q", ("later", "never", "milk"))]), name="run")
    check_index(shelf)
    assert found(shelf, "later") == []
    shelf.chunks.load(loaded([Chunk("later", "arrives with its text later")]))
    assert found(shelf, "later") == ["later"]
    check_index(shelf)


def test_the_index_is_true_after_a_load_that_was_rolled_back(
    shelf: Store, loaded: Callable[..., Loaded]
):
    with pytest.raises(ValueError, match="--update"):
        shelf.chunks.load(loaded([Chunk("new", "a splendid text"), Chunk("milk", "other")]))
    assert found(shelf, "splendid") == []
    check_index(shelf)


def test_the_index_is_true_after_a_beir_folder(shelf: Store, tmp_path: Path):
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        '{"_id": "d1", "title": "Espresso", "text": "Thirty seconds"}\n'
        '{"_id": "d2", "title": "", "text": "Milk again"}\n'
    )
    (folder / "queries.jsonl").write_text('{"_id": "b1", "text": "how long"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nb1\td1\t1\nb1\td9\t1\n")
    shelf.golden_loads.add_beir(read_beir(folder))
    assert found(shelf, "espresso") == ["d1"]
    assert found(shelf, "milk again") == ["d2", "descale", "milk"]
    check_index(shelf)


def test_a_search_for_a_query_is_among_the_chunkings_that_its_runs_are_of(
    shelf: Store, loaded: Callable[..., Loaded]
) -> None:
    shelf.queries.load(loaded([Query("q1", "care"), Query("q2", "lime"), Query("q3", "none")]))
    shelf.chunks.load(loaded([Chunk("m", "Clean the milk system"), Chunk("x", "x")]), chunking="v2")
    shelf.chunks.load(loaded([Chunk("m", "milk, and milk again")]), chunking="v3")
    ids = shelf.collection.read().chunk_ids

    def asked(query_id: str | None) -> set[str]:
        return {ids[number] for number in shelf.texts.search("clean milk", 30, query_id)}

    everything = {"milk", "descale", "v2:m", "v3:m"}
    assert asked(None) == asked("q1") == everything, "nothing says which is asked for"
    shelf.runs.load(loaded([Ranking("q1", ("x",))]), name="new", chunking="v2")
    shelf.runs.load(loaded([Ranking("q1", ("m",))]), name="third", chunking="v3")
    shelf.runs.load(loaded([Ranking("q2", ("error",))]), name="old", chunking="")
    assert asked("q1") == {"v2:m", "v3:m"}
    assert asked("q2") == {"milk", "descale"}
    assert asked("q3") == everything
    [first], [second] = (shelf.texts.search("milk", 1, query_id) for query_id in ("q1", "q2"))
    assert ids[first] in ("v2:m", "v3:m"), "better ones of others take no place"
    assert ids[second] in ("milk", "descale")
