"""Theme of all charts, and the safe use of names in them.

Vega groups by object keys and writes titles into expressions. A name that a user chose is
therefore never a scale's value, a field or a title. Marks are placed by number, and an axis or a
legend looks up the name of each number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import altair as alt
from altair.utils import schemapi

from labeler.render.palette import LineLook

# Altair checks a whole chart against Vega's schema once, when it is drawn, and not each part.
schemapi.disable_debug_mode()

LEAST_FONT = 12  # pixels
INK = "currentColor"  # the colour of the page's text, light or dark
NAME_WIDTH = 420  # pixels that a name may take in a legend or on an axis before it is cut

ChartT = TypeVar("ChartT", bound=alt.TopLevelMixin)


@dataclass(frozen=True)
class ChartNames:
    """Names in order; ``key`` is the chart parameter that holds them."""

    key: str
    names: Sequence[str]
    _places: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        places = {name: place for place, name in enumerate(self.names)}
        object.__setattr__(self, "_places", places)

    def places(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of some of the names."""
        return [self._places[name] for name in names]

    @property
    def numbers(self) -> list[int]:
        """The numbers of all names: the domain of their scale."""
        return list(range(len(self.names)))

    def with_looks(self, looks: Mapping[str, LineLook]) -> dict[str, Any]:
        """Return encodings that give each name's line its own colour, dashes and mark."""
        shown = [looks[name] for name in self.names]
        colours, marks, dashes = (
            self.in_turn([look[at] for look in shown]) for at in range(len(LineLook._fields))
        )
        return {
            "color": alt.Color("at:N", scale=colours, legend=None),
            "shape": alt.Shape("at:N", scale=marks, legend=None),
            "strokeDash": alt.StrokeDash("at:N", scale=dashes, legend=None),
        }

    def in_turn(self, looks: Sequence[Any]) -> alt.Scale:
        """Return a scale that gives each name a look; with too few looks, they repeat."""
        given = [looks[at % len(looks)] for at in self.numbers]
        return alt.Scale(domain=self.numbers, range=given)

    @property
    def spelled(self) -> str:
        """The Vega expression with which an axis or a legend shows the name of a number."""
        return f"{self.key}[datum.value]"

    @property
    def parameter(self) -> alt.Parameter:
        """The parameter that a chart needs to show the names."""
        return alt.param(name=self.key, value=list(self.names))


def tooltips(*fields: str) -> list[alt.Tooltip]:
    """Return a tooltip for each field, titled with the field's name.

    For a field given as plain text, Altair would search all of Vega's schema.
    """
    return [alt.Tooltip(field) for field in fields]


def with_theme(chart: ChartT) -> ChartT:
    """Return a whole chart with the theme that all charts share."""
    large = LEAST_FONT + 1
    whole: ChartT = chart.configure(
        axis=alt.AxisConfig(
            labelFontSize=LEAST_FONT,
            titleFontSize=large,
            labelColor=INK,
            titleColor=INK,
            labelOpacity=0.86,
        ),
        legend=alt.LegendConfig(
            labelFontSize=LEAST_FONT,
            titleFontSize=large,
            labelColor=INK,
            titleColor=INK,
            labelLimit=NAME_WIDTH,
        ),
        header=alt.HeaderConfig(
            labelFontSize=LEAST_FONT, titleFontSize=large, labelColor=INK, titleColor=INK
        ),
    )
    return whole
