"""How often people give what a source of proposals had proposed, which they had not seen then."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labeler.analysis.agreement import Draws, Sums
from labeler.model import Met


class Share(NamedTuple):
    """A number with its 95% interval, which is NaN where ``reason`` says why there is none."""

    value: float
    low: float
    high: float
    reason: str | None = None


class SourceAgreement(NamedTuple):
    """How a source of proposals met the ``n`` grades that people gave to what it proposed.

    ``exact`` is the share that is the same, ``within_one`` the share at most one grade apart,
    ``difference`` the mean of proposed minus given. Intervals are over the choice of ``queries``.
    """

    source: str
    n: int
    queries: int
    exact: Share
    within_one: Share
    difference: Share


def agreement_by_source(met: Iterable[Met]) -> tuple[SourceAgreement, ...]:
    """Return it for each source, by name.

    >>> found = agreement_by_source([Met("q1", "clicks", 3, 3), Met("q2", "clicks", 3, 1)])
    >>> [(each.source, each.n, each.exact.value, each.difference.value) for each in found]
    [('clicks', 2, 0.5, 1.0)]
    """
    by_source: dict[str, list[Met]] = {}
    for each in met:
        by_source.setdefault(each.source, []).append(each)
    draws = Draws()
    return tuple(_of(source, by_source[source], draws) for source in sorted(by_source))


def _of(source: str, met: list[Met], draws: Draws) -> SourceAgreement:
    places = {query: at for at, query in enumerate(dict.fromkeys(each.query_id for each in met))}
    sums = np.zeros((len(places), 4))
    for each in met:
        apart = each.proposed - each.given
        sums[places[each.query_id]] += (1, apart == 0, abs(apart) <= 1, apart)
    drawn = draws.of(sums)
    shares = [_share(drawn, column) for column in (1, 2, 3)]
    return SourceAgreement(source, len(met), len(places), *shares)


def _share(sums: Sums, column: int) -> Share:
    """Return the mean of one column: its sum over how many grades there are."""

    def mean(of: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        shares: npt.NDArray[np.float64] = of[..., column] / of[..., 0]
        return shares

    return Share(float(mean(sums.whole)), *sums.interval(mean))
