"""The catalogue of what graders read: whole in every language, used, and fitting its terms."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

import pytest

from labeler.model import AUTOMATIC, GRADES, Settings
from labeler.paths import PACKAGE
from labeler.render.words import LANGUAGES, Sentence, Words, choose_language, localize
from labeler.web.language import ENGINEERS_NAMES

ENGLISH = LANGUAGES["en"].sentences
OTHERS = sorted(LANGUAGES.keys() - {"en"})
QUOTED = re.compile(r'"([a-z_]+\.[a-z0-9_]+)"')
# A language may say "{passages}" where another says "{passage}", but not leave the name out.
NAMES = {f"{name}{end}": name for name in ("question", "passage") for end in ("", "s")}


def placeholders(sentence: Sentence) -> set[str]:
    texts = [sentence] if isinstance(sentence, str) else sentence.values()
    found = {name for text in texts for name in re.findall(r"\{(.*?)\}", text)}
    return {NAMES.get(name.lower(), name) for name in found}


def sources() -> Iterator[tuple[str, str]]:
    """Every script, page and module beside the catalogue itself, with what it holds."""
    for ending in ("js", "html", "py"):
        for path in PACKAGE.rglob(f"*.{ending}"):
            if PACKAGE / "render" / "words" not in path.parents:
                yield path.name, path.read_text(encoding="utf-8")


@pytest.mark.parametrize("code", OTHERS)
def test_every_language_has_every_sentence_and_none_besides(code: str):
    assert LANGUAGES[code].sentences.keys() == ENGLISH.keys()


@pytest.mark.parametrize("code", OTHERS)
def test_every_placeholder_of_english_stands_in_the_other_language(code: str):
    for key, sentence in LANGUAGES[code].sentences.items():
        assert placeholders(sentence) == placeholders(ENGLISH[key]), key


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_plural_has_both_forms_and_chooses_by_a_number(code: str):
    for key, sentence in LANGUAGES[code].sentences.items():
        assert not isinstance(sentence, dict) or set(sentence) == {"one", "other"}, key
        assert isinstance(sentence, str) or "n" in placeholders(sentence), key


def test_every_sentence_is_used_and_every_one_that_is_used_is_there():
    named = {key: name for name, text in sources() for key in QUOTED.findall(text)}
    areas = {key.partition(".")[0] for key in ENGLISH}
    said = {key for key in named if key.partition(".")[0] in areas and not key.endswith(".csv")}
    assert said - ENGLISH.keys() == set()
    assert {key for key in ENGLISH if not key.startswith(("generic.", "api."))} - said == set()


def raised() -> Iterator[str]:
    """Every text of the program, with braces for what is filled in."""
    for name, source in sources():
        for node in ast.walk(ast.parse(source)) if name.endswith(".py") else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                parts = (
                    each.value if isinstance(each, ast.Constant) else "{}" for each in node.values
                )
                yield "".join(map(str, parts))


def test_every_sentence_of_an_error_is_one_that_is_raised():
    texts = [*raised()]
    named = {key for _, text in sources() for key in QUOTED.findall(text)}
    graders = Words.of(Settings()).names
    for key in {each for each in ENGLISH if each.startswith("api.")} - named:
        said = [
            ENGLISH[key].format_map(defaultdict(lambda: "{}", names))
            for names in (graders, {**graders, **ENGINEERS_NAMES})
        ]
        sentences = [each.removeprefix("the golden set: ") for each in said]
        assert any(sentence in text for text in texts for sentence in sentences), key


def test_a_script_finds_each_of_its_sentences_in_what_is_sent_to_it():
    sent = Words.of(Settings()).for_browser()
    for name, text in sources():
        if name.endswith((".js", ".html")):
            of_server = {key for key in QUOTED.findall(text) if key in ENGLISH} - sent.keys()
            assert of_server == set(), name


@pytest.mark.parametrize("code", LANGUAGES)
def test_default_words_keep_the_limits_of_settings_and_english_is_what_they_are(code: str):
    read = localize(Settings(), LANGUAGES[code])  # which checks them
    if code == "en":
        generic = Settings()
        assert read.guideline == generic.default_guideline
        assert (read.words, read.meanings) == (generic.words, generic.meanings)
    assert all(f"\n{grade}: " in read.guideline for grade in GRADES)
    assert "{" not in read.guideline


def test_what_a_lead_has_changed_stays_in_every_language():
    own = Settings(
        question=("Fall", "Fälle"), words=("nein", "kaum", "fast", "ja"), guideline="Nach Sinn."
    )
    read = localize(own, LANGUAGES["de"])
    assert (read.question, read.words, read.guideline) == (own.question, own.words, own.guideline)
    assert read.passage == ("Textstelle", "Textstellen")
    assert Words.of(Settings(question=("Fall", "Fälle"), language="de")).say(
        "count.questions", n=2
    ) == ("2 Fälle")


@pytest.mark.parametrize(
    ("setting", "accepted", "code"),
    [
        (AUTOMATIC, None, "en"),
        (AUTOMATIC, "", "en"),
        (AUTOMATIC, "de-DE,de;q=0.9,en;q=0.8", "de"),
        (AUTOMATIC, "fr-FR,en;q=0.5,de;q=0.7", "de"),
        (AUTOMATIC, "de;q=0, fr", "en"),
        (AUTOMATIC, "*;q=x, de", "de"),
        ("en", "de", "en"),
        ("de", "en", "de"),
        ("sv", "de", "en"),
    ],
)
def test_the_setting_chooses_the_language_or_else_the_browser(
    setting: str, accepted: str | None, code: str
):
    assert choose_language(setting, accepted) == code


def test_numbers_are_written_as_the_language_writes_them():
    english, german = (Words.of(Settings(language=code)) for code in ("en", "de"))
    assert english.say("count.passages", n=1) == "1 passage"
    assert english.say("count.passages", n=12_345) == "12,345 passages"
    assert german.say("count.passages", n=12_345) == "12.345 Textstellen"
