"""Sphinx configuration of the documentation: Markdown by MyST, the theme furo, nothing remote."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "extensions")]

from labeler import __version__  # noqa: E402
from labeler.render.tokens import DARK, LIGHT  # noqa: E402


def furo_variables(tokens: dict[str, str]) -> dict[str, str]:
    """Return the colours of labeler's pages by the names that furo gives them."""
    named = {
        "color-background-primary": "card",
        "color-background-secondary": "bg",
        "color-background-hover": "soft",
        "color-background-border": "line",
        "color-foreground-primary": "ink",
        "color-foreground-secondary": "muted",
        "color-foreground-muted": "muted",
        "color-brand-primary": "accent",
        "color-brand-content": "accent",
        "color-brand-visited": "accent",
        "color-table-header-background": "soft",
        "color-table-border": "line",
    }
    return {variable: tokens[name] for variable, name in named.items()}


project = "labeler"
copyright = ""
release = __version__
language = "en"

extensions = ["myst_parser", "repository_text", "content_security_policy"]
root_doc = "index"

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]  # classes of light and dark pictures

html_theme = "furo"
html_theme_options = {
    "light_css_variables": furo_variables(dict(LIGHT)),
    "dark_css_variables": furo_variables(dict(DARK)),
}
html_title = "labeler"
html_static_path = ["static"]
html_css_files = ["labeler.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
html_use_index = False
suppress_warnings = ["misc.highlighting_failure"]  # JSON that is shown leaves parts out by "…"
pygments_style = "tango"
pygments_dark_style = "github-dark"
