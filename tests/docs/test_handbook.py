"""The handbook of measures: each has a section where its help leads, with all that is promised."""

from __future__ import annotations

import re

import numpy as np
import pytest

from labeler.errors import BadInput
from labeler.measures import MEASURES, Hits, handbook_page, parse, terms
from tests.support.documentation import PAGES

SYSTEMS = ([1, 0, 1, 0, 0, 0, 0, 0, 1, 1], [0, 1, 0, 0, 1, 1, 1, 0, 0, 0])


def handbook_section(name: str) -> str:
    """Return the section of a measure on the page that its help leads to."""
    page, _, anchor = handbook_page(name).partition("#")
    text = PAGES[f"{page}.md"]
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


def rows_of(name: str) -> list[list[str]]:
    """Return the cells of the rows of the first table of a measure that begin with a rank."""
    lines = re.findall(r"^\| \d.*\|$", handbook_section(name), re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def adds(measure: str, grades: list[int]) -> list[float]:
    """Return what each chunk of a ranking adds to a measure."""
    return [float(term) for term in terms(Hits.of([grades]), parse(measure)).round(4)]


def test_the_table_of_ndcg_has_the_terms_of_both_sums() -> None:
    rows = rows_of("nDCG")
    grades, best = ([int(row[at]) for row in rows] for at in (1, 5))
    assert best == sorted([*grades, 1, 1, 1], reverse=True)[:10]
    for rank, (row, grade, ideal) in enumerate(zip(rows, grades, best, strict=True), start=1):
        discount = np.log2(rank + 1)
        assert float(row[3]) == pytest.approx(discount, abs=5e-5)
        assert float(row[4]) == pytest.approx((2**grade - 1) / discount, abs=5e-5)
        assert float(row[6]) == pytest.approx((2**ideal - 1) / discount, abs=5e-5)


def test_the_tables_of_rbp_err_and_ap_have_what_each_chunk_adds() -> None:
    rbp = {int(row[0]): (float(row[3]), float(row[5])) for row in rows_of("RBP")}
    for at, grades in enumerate(SYSTEMS):
        added = adds("RBP(p=0.8)", grades)
        assert [rbp[rank][at] for rank in rbp] == [added[rank - 1] for rank in rbp]
    assert [float(row[5]) for row in rows_of("ERR")] == adds("ERR", [3, 2, 0, 1])
    for at, grades in enumerate(SYSTEMS):
        added = adds("AP", grades)
        shown = {int(row[4 * at]): float(row[4 * at + 3]) for row in rows_of("AP")}
        assert shown == {rank: value for rank, value in enumerate(added, start=1) if value}


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("handbook/")])
def test_a_page_of_the_handbook_has_tables(page: str) -> None:
    assert "\n|---|" in PAGES[page]


def test_no_other_name_has_a_page() -> None:
    with pytest.raises(BadInput, match="no measure is called 'MRR'"):
        handbook_page("MRR")
