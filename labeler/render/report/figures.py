"""Charts in a file: their specifications and data beside the page, drawn when it is opened.

Knows what a chart needs to be drawn, not what is on it.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import htpy

from labeler.render.markup import data

CHARTS = "charts"
"""The name by which the script finds specifications and data."""

Drawn = alt.Chart | alt.LayerChart | alt.FacetChart


class Figures:
    """The charts of one report; those that draw the same data share it."""

    def __init__(self) -> None:
        self._charts: list[dict[str, Any]] = []
        self._data: dict[str, Any] = {}

    def draw(self, chart: Drawn, caption: str, *, square: bool = False) -> htpy.Element:
        """Return the place where a chart will be drawn, as wide as there is room or ``square``."""
        if not square:
            chart = chart.properties(width="container")
        with alt.data_transformers.enable("default", max_rows=None, consolidate_datasets=True):
            spec = chart.to_dict()
        self._data |= spec.pop("datasets", {})
        self._charts.append(_numbered(spec))
        classes = {"chart": True, "square": square}
        place = htpy.div(class_=classes, data_chart=str(len(self._charts) - 1))
        return htpy.figure[place, htpy.figcaption[caption]]

    @property
    def element(self) -> htpy.Element:
        """What the script reads: every chart, and the data by name."""
        return data(CHARTS, {"charts": self._charts, "data": self._data})


def _numbered(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification whose views are numbered anew: Altair counts those of all charts.

    So the same chart is the same text, whatever was drawn before it.
    """
    names: dict[str, str] = {}

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(each) for each in node]
        if not isinstance(node, dict):
            return node
        return {key: renamed(key, each) for key, each in node.items()}

    def renamed(key: str, each: Any) -> Any:
        if key == "views":
            return [names.setdefault(name, f"view_{len(names)}") for name in each]
        if key == "name" and isinstance(each, str) and each.startswith("view_"):
            return names.setdefault(each, f"view_{len(names)}")
        return walk(each)

    return {key: renamed(key, each) for key, each in spec.items()}
