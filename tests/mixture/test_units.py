"""Units: what goes in comes out, and columns left out are filled."""

import numpy as np
import pytest
from helpers import close, groups

from pckid.input.table import fit_scaling
from pckid.mixture import units

X = np.insert(groups()[0] * [1.0, 20.0, 0.1, 5.0], 1, 7.0, axis=1)
SCALING = fit_scaling(X)
SCALE = np.nanstd(X[:, SCALING.kept], axis=0)


def test_means():
    means = np.random.default_rng(0).standard_normal((3, 5))
    inside = units.means_in(means, SCALING, X)
    close(
        inside, ((means - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0).clip(1e-9))[:, SCALING.kept]
    )
    back = units.means_out(inside, SCALING, units.only_values(X))
    close(back[:, SCALING.kept], means[:, SCALING.kept])
    close(back[:, 1], [7.0] * 3)


@pytest.mark.parametrize("shape", [(3, 5), (3, 5, 5)])
def test_covariances(shape):
    given = np.random.default_rng(0).random(shape)
    inside = units.spread_in(given, SCALING, precisions=False)
    kept = np.ix_(range(3), SCALING.kept, *([SCALING.kept] if len(shape) == 3 else []))
    close(inside, given[kept] / (SCALE**2 if len(shape) == 2 else np.outer(SCALE, SCALE)))
    back = units.covariances_out(inside, SCALING, 5)
    close(back[kept], given[kept])
    assert np.all(back[:, 1] == 0)


def test_log_volume_counts_the_observed_columns():
    observed = ~np.isnan(X[:, SCALING.kept])
    expected = [np.log(SCALE[row]).sum() for row in observed]
    close(units.log_volume(observed, SCALING), expected)


def test_only_values():
    rows = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, 2.0]])
    np.testing.assert_array_equal(units.only_values(rows), [1.0, np.nan, 2.0])
