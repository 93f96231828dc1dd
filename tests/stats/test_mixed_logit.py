"""A logistic regression in which groups differ: what is learnt, and how sure it is."""

from __future__ import annotations

import numpy as np
import pytest

from labeler.measures import Floats, Ints
from labeler.stats.mixed_logit import TILTED, MixedLogitFit, fit_mixed_logit, sigmoid

Members = tuple[Floats, Floats, Ints]
PRIOR, DOUBT = np.zeros(2), np.full(2, 2.0)


def members(tilt: float, *, groups: int = 150, size: int = 20, seed: int = 1) -> Members:
    """Make up groups whose levels differ, and whose slopes go with them by ``tilt``."""
    draw = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), size)
    place = draw.uniform(-1.5, 1.5, len(group))
    level = draw.normal(0, 1.2, groups)[group]
    logits = -0.5 + level + (-0.7 + tilt * level) * place
    x = np.stack([np.ones_like(place), place], axis=1)
    return x, (draw.random(len(group)) < sigmoid(logits)).astype(np.float64), group


@pytest.mark.parametrize("tilt", [-0.5, 0.0, 0.5])
def test_what_groups_differ_by_is_learnt_back(tilt: float) -> None:
    fitted = fit_mixed_logit(*members(tilt), PRIOR, DOUBT)
    sure = np.sqrt(np.diag(fitted.covariance))
    true = np.array([-0.5, -0.7, np.log(1.2), fitted.mean[-2], tilt])
    assert (np.abs(fitted.mean - true) < 3 * sure).all()
    assert abs(fitted.tilt - tilt) < 0.2
    assert sure[TILTED] < 0.15


def test_it_is_as_sure_of_the_weights_as_they_vary_from_sample_to_sample() -> None:
    found = [
        fit_mixed_logit(*members(0.3, groups=40, seed=seed), PRIOR, DOUBT) for seed in range(40)
    ]
    spread = np.std([each.weights for each in found], axis=0)
    said = np.mean([np.sqrt(np.diag(each.covariance))[:2] for each in found], axis=0)
    assert np.allclose(said, spread, rtol=0.35)


def test_a_start_changes_the_time_it_takes_and_not_what_is_learnt() -> None:
    x, y, group = members(0.3)
    some = group < 40
    rough = fit_mixed_logit(x[some], y[some], group[some], PRIOR, DOUBT)
    plain, quick = (
        fit_mixed_logit(x, y, group, PRIOR, DOUBT),
        fit_mixed_logit(x, y, group, PRIOR, DOUBT, rough),
    )
    assert isinstance(quick, MixedLogitFit)
    assert np.allclose(plain.mean, quick.mean, atol=0.02)
    assert np.allclose(plain.covariance, quick.covariance, rtol=0.1, atol=1e-4)


def test_without_a_member_it_knows_what_it_was_told() -> None:
    none = np.zeros((0, 2)), np.zeros(0), np.zeros(0, dtype=np.int64)
    fitted = fit_mixed_logit(*none, np.array([0.3, -0.2]), DOUBT)
    assert fitted.weights.tolist() == [0.3, -0.2]
    assert np.allclose(np.sqrt(np.diag(fitted.covariance))[:2], DOUBT)
