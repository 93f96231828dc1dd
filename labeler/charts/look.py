"""How every chart's text looks: large enough, and in the colour of the page's own text."""

from __future__ import annotations

from typing import TypeVar

import altair as alt

LEAST_FONT = 12  # pixels
INK = "currentColor"  # the page's text, on a light ground and on a dark one
NAME_ROOM = 420  # pixels that a name may take in a legend or on an axis before it is cut

ChartT = TypeVar("ChartT", bound=alt.TopLevelMixin)


def dressed(chart: ChartT) -> ChartT:
    """Return a whole chart in the look that all of them share."""
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
            labelLimit=NAME_ROOM,
        ),
        header=alt.HeaderConfig(
            labelFontSize=LEAST_FONT, titleFontSize=large, labelColor=INK, titleColor=INK
        ),
    )
    return whole
