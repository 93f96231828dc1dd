"""The handbook of measures: each has a section where its help leads, with all that is promised."""

from __future__ import annotations

import re

import pytest

from labeler.errors import BadInput
from labeler.measures import MEASURES, handbook_page
from tests.support.documentation import PAGES


def handbook_section(name: str) -> str:
    """Return the section of a measure on the page that its help leads to."""
    page, _, anchor = handbook_page(name).partition("#")
    text = PAGES[page.replace(".html", ".md")]
    _, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    [found] = [each for each in sections if each.partition("\n")[0].lower() == anchor]
    return found


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_has_a_section_with_a_formula_an_executed_example_and_a_trap(name: str) -> None:
    text = handbook_section(name)
    assert text.startswith(f"{name}\n")
    assert re.search(rf"^```text\n{name}\b.* = ", text, re.MULTILINE), "no formula"
    assert re.search(r"^```python\n.*?\bassert ", text, re.MULTILINE | re.DOTALL), "no example"
    assert re.search(r"^\*\*Traps?\b", text, re.MULTILINE), "no trap"


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("handbook/")])
def test_a_page_of_the_handbook_has_tables(page: str) -> None:
    assert "\n|---|" in PAGES[page]


def test_no_other_name_has_a_page() -> None:
    with pytest.raises(BadInput, match="no measure is called 'MRR'"):
        handbook_page("MRR")
