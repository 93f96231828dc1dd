"""Colour tokens: the theme has the same ones, and every text can be read on what is under it."""

from __future__ import annotations

import tomllib

import pytest

from labeler.paths import PACKAGE
from labeler.render.tokens import DARK, LIGHT
from tests.support.contrast import contrast

LOOKS = [pytest.param(LIGHT, id="light"), pytest.param(DARK, id="dark")]
THEME = {
    "primaryColor": "accent",
    "linkColor": "accent",
    "backgroundColor": "bg",
    "secondaryBackgroundColor": "card",
    "textColor": "ink",
    "borderColor": "line2",
}


@pytest.mark.parametrize(("which", "tokens"), [("light", LIGHT), ("dark", DARK)])
def test_the_theme_of_streamlit_has_the_tokens(which, tokens):
    path = PACKAGE / "app" / ".streamlit" / "config.toml"
    config = tomllib.loads(path.read_text(encoding="utf-8"))
    assert config["theme"][which] == {key: tokens[token] for key, token in THEME.items()}


def test_light_and_dark_have_the_same_tokens():
    assert list(LIGHT) == list(DARK)


@pytest.mark.parametrize("tokens", LOOKS)
def test_text_has_four_and_a_half_to_one(tokens):
    grounds = ("bg", "card", "soft")
    pairs = [(text, ground) for text in ("ink", "muted", "accent") for ground in grounds]
    pairs += [("on-accent", "accent"), ("accent", "accent-soft"), ("ink", "marked")]
    pairs += [(f"on-grade-{grade}", f"grade-{grade}") for grade in range(4)]
    found = {pair: contrast(*(tokens[name] for name in pair)) for pair in pairs}
    assert {pair: value for pair, value in found.items() if value < 4.5} == {}


@pytest.mark.parametrize("tokens", LOOKS)
def test_borders_and_runs_have_three_to_one(tokens):
    pairs = [(drawn, on) for drawn in ("line2", "run-a", "run-b") for on in ("bg", "card")]
    found = {pair: contrast(*(tokens[name] for name in pair)) for pair in pairs}
    assert {pair: value for pair, value in found.items() if value < 3} == {}
