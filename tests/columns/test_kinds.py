"""The laws of every kind of column. A new kind adds a `Case`, or the first test names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from helpers import begin, close, steps
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import nbinom, norm, poisson

from pckid import PCKID, load, save
from pckid._utils.arrays import to_numpy
from pckid.columns import kinds
from pckid.columns.base import CategoryKind, Draws, Kind, NumberKind, Numbers
from pckid.ensemble.imputation import complete_rows
from pckid.ensemble.settings import EnsembleParameters
from pckid.frontends.cli.commands import cluster
from pckid.input.table import StandardisedRows, standardise
from pckid.mixture import em, product

FLOOR, PRIOR = 1e-2, 0.1


class Case(NamedTuple):
    """A kind of column: rows of two groups in it, and what it says as loops."""

    # draw cells (n, ..) of the groups (n,); the table has them beside a number
    draw: Callable[[np.random.Generator, np.ndarray], Any]
    # the log-density of row i in component k
    log_density: Callable[[StandardisedRows, Any, int, int], float]
    # the parameters (n_parameters,) of component k
    parameters: Callable[[Any, int], np.ndarray]
    # the same after a step, in which row i counts as much as gamma[i]
    step: Callable[[StandardisedRows, Any, int, np.ndarray], np.ndarray]
    # how far row i deviates from component k
    deviation: Callable[[StandardisedRows, Any, int, int], float]
    options: Mapping[str, Any] = MappingProxyType({})  # of a clusterer that takes it so


def numbers(shift: float = 3.0) -> Callable[[np.random.Generator, np.ndarray], np.ndarray]:
    return lambda rng, group: shift * group + rng.normal(size=len(group))


def gaussian_log_density(table: StandardisedRows, params: Any, i: int, k: int) -> float:
    spread = np.sqrt(params.covariances[0, k, 1])
    return norm.logpdf(table.values[i, 1], params.means[0, k, 1], spread)


def square_over_variance(table: StandardisedRows, params: Any, i: int, k: int) -> float:
    return (table.values[i, 1] - params.means[0, k, 1]) ** 2 / params.covariances[0, k, 1]


def surprise(log_density: Callable, chances: Callable) -> Callable[..., float]:
    """How much less probable a cell is than one drawn from the component, by its entropy."""

    def deviation(table: StandardisedRows, params: Any, i: int, k: int) -> float:
        p = np.array(chances(table, params, k))
        return 1 - 2 * log_density(table, params, i, k) + 2 * float(np.sum(p * np.log(p)))

    return deviation


def moments(
    table: StandardisedRows, params: Any, k: int, gamma: np.ndarray, j: int
) -> tuple[float, float]:
    """Average the values and squares of column j, a missing one as it was expected."""
    mean, variance = params.means[0, k, j], params.covariances[0, k, j]
    first = second = 0.0
    for i, weight in enumerate(gamma):
        seen = table.observed[i, j]
        first += weight * (table.values[i, j] if seen else mean)
        second += weight * (table.values[i, j] ** 2 if seen else mean**2 + variance)
    return first / gamma.sum(), second / gamma.sum()


def gaussian_step(table: StandardisedRows, params: Any, k: int, gamma: np.ndarray) -> np.ndarray:
    first, second = moments(table, params, k, gamma, 1)
    return np.array([first, max(second - first**2, FLOOR)])


def chance_of_higher(table: StandardisedRows, params: Any, k: int, j: int) -> float:
    share = table.column_model.two_value_share[j]
    return share + params.means[0, k, j] * np.sqrt(share * (1 - share))


def two_values_log_density(table: StandardisedRows, params: Any, i: int, k: int) -> float:
    chance = chance_of_higher(table, params, k, 1)
    return float(np.log(chance if table.values[i, 1] > 0 else 1 - chance))


def one_hot_log_density(table: StandardisedRows, params: Any, i: int, k: int) -> float:
    (held,) = [j for j in (1, 2, 3) if table.values[i, j] > 0]
    return float(np.log(chance_of_higher(table, params, k, held)))


def shrunk_means(columns: tuple[int, ...]) -> Callable[..., np.ndarray]:
    def step(table: StandardisedRows, params: Any, k: int, gamma: np.ndarray) -> np.ndarray:
        total = gamma.sum()
        found = [moments(table, params, k, gamma, j)[0] for j in columns]
        return np.array(found) * total / (total + PRIOR)

    return step


def two_chances(higher: float) -> tuple[float, float]:
    return higher, 1 - higher


def category_log_density(table: StandardisedRows, params: Any, i: int, k: int) -> float:
    return float(np.log(params.categories[0, k, table.codes[i, 0]]))


def category_step(table: StandardisedRows, params: Any, k: int, gamma: np.ndarray) -> np.ndarray:
    found = PRIOR * table.column_model.frequencies
    for i, weight in enumerate(gamma):
        code = table.codes[i, 0]
        found = found + weight * (params.categories[0, k] if code < 0 else np.eye(3)[code])
    return found / (gamma.sum() + PRIOR)


def codes(rng: np.random.Generator, group: np.ndarray) -> np.ndarray:
    return np.where(rng.random(len(group)) < 0.7, 2 * group, rng.integers(3, size=len(group)))


def count_of(
    table: StandardisedRows, params: Any, i: int, k: int
) -> tuple[float, float, float, float]:
    """A count, the mean of all rows and of component k, and the dispersion."""
    model = table.column_model
    scale, mean = model.count_scale[1], model.count_mean[1]
    count, expected = (mean + scale * z for z in (table.values[i, 1], params.means[0, k, 1]))
    return count, mean, expected, model.count_dispersion[1]


def count_log_density(table: StandardisedRows, params: Any, i: int, k: int) -> float:
    count, mean, expected, dispersion = count_of(table, params, i, k)

    def log_density(mu: float) -> float:
        if dispersion == 0:
            return poisson.logpmf(round(count), mu)
        return nbinom.logpmf(round(count), 1 / dispersion, 1 / (1 + dispersion * mu))

    return float(log_density(expected) - log_density(mean))


def count_deviation(table: StandardisedRows, params: Any, i: int, k: int) -> float:
    count, _, expected, dispersion = count_of(table, params, i, k)
    return (count - expected) ** 2 / (expected + dispersion * expected**2)


def level_scores(shares: np.ndarray) -> np.ndarray:
    """Integrate a standard Gaussian within levels of some shares."""
    cuts = norm.ppf(np.concatenate([[0], np.cumsum(shares)[:-1], [1]]))
    inside = [quad(lambda u: u * norm.pdf(u), *ends)[0] for ends in pairwise(cuts)]
    return np.array(inside) / shares


def ordinal_step(table: StandardisedRows, params: Any, k: int, gamma: np.ndarray) -> np.ndarray:
    shares = table.column_model.frequencies
    scores, free = level_scores(shares), PRIOR * shares
    for i, weight in enumerate(gamma):
        code = table.codes[i, 0]
        free = free + weight * (params.categories[0, k] if code < 0 else np.eye(len(shares))[code])
    goal = float(free @ scores / free.sum())

    def moved(theta: float) -> np.ndarray:
        found = shares * np.exp(theta * scores)
        return found / found.sum()

    return moved(brentq(lambda theta: moved(theta) @ scores - goal, -30, 30, xtol=1e-13))


def levels(rng: np.random.Generator, group: np.ndarray) -> np.ndarray:
    return np.searchsorted([-0.5, 0.6, 1.4, 2.0], rng.normal(size=len(group)) + 1.3 * group)


CASES = {
    "count": Case(
        lambda rng, group: rng.negative_binomial(3, 3 / (3 + np.exp(0.5 + 1.5 * group))),
        count_log_density,
        lambda params, k: params.means[0, k, 1:2],
        shrunk_means((1,)),
        count_deviation,
        {"count_columns": [1]},
    ),
    "ordinal": Case(
        levels,
        category_log_density,
        lambda params, k: params.categories[0, k],
        ordinal_step,
        surprise(category_log_density, lambda table, params, k: params.categories[0, k]),
        {"ordinal_columns": [1]},
    ),
    "number": Case(
        numbers(),
        gaussian_log_density,
        lambda params, k: np.array([params.means[0, k, 1], params.covariances[0, k, 1]]),
        gaussian_step,
        square_over_variance,
    ),
    "log number": Case(
        lambda rng, group: np.exp(numbers()(rng, group)),
        gaussian_log_density,
        lambda params, k: np.array([params.means[0, k, 1], params.covariances[0, k, 1]]),
        gaussian_step,
        square_over_variance,
        {"log_columns": [1]},
    ),
    "two values": Case(
        lambda rng, group: 5.0 + 2 * (rng.random(len(group)) < 0.2 + 0.6 * group),
        two_values_log_density,
        lambda params, k: params.means[0, k, 1:2],
        shrunk_means((1,)),
        surprise(two_values_log_density, lambda t, p, k: two_chances(chance_of_higher(t, p, k, 1))),
    ),
    "one-hot": Case(
        lambda rng, group: np.eye(3)[codes(rng, group)],
        one_hot_log_density,
        lambda params, k: params.means[0, k, 1:4],
        shrunk_means((1, 2, 3)),
        surprise(
            one_hot_log_density,
            lambda t, p, k: [chance_of_higher(t, p, k, j) for j in (1, 2, 3)],
        ),
    ),
    "category": Case(
        lambda rng, group: np.array(["a", "b", "c"], dtype=object)[codes(rng, group)],
        category_log_density,
        lambda params, k: params.categories[0, k],
        category_step,
        surprise(category_log_density, lambda table, params, k: params.categories[0, k]),
    ),
}
every_kind = pytest.mark.parametrize("name", [kind.name for kind in kinds.KINDS])


def table_of(name: str, n: int = 60, seed: int = 0, share: float = 0.2) -> pd.DataFrame:
    """Draw a number and the columns of a kind, in two groups; `share` of the cells is missing."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    cells = np.asarray(CASES[name].draw(rng, group))
    cells = cells.reshape(n, -1).astype(object)
    cells[rng.random(n) < share] = np.nan
    frame = pd.DataFrame({"a": rng.normal(size=n) + 2 * group})
    for j, column in enumerate(cells.T):
        frame[f"x{j}"] = pd.Series(column).infer_objects()
    return frame


def clusterer(name: str, **more: Any) -> PCKID:
    setting = {"n_inits": 3, "max_components": 4, "dtype": "float64", "random_state": 0}
    return PCKID(2, **{**setting, **CASES[name].options, **more})


def read(name: str, frame: pd.DataFrame) -> StandardisedRows:
    return clusterer(name)._draw(frame).sample.table


def mixture_of(table: StandardisedRows, n_steps: int = 2) -> tuple[Any, Any]:
    stats = product.statistics(table)
    params = begin(product, stats, np.array([[0, 1, 7]]), FLOOR)
    return stats, steps(product, stats, params, n_steps, FLOOR)


def has_cells(table: StandardisedRows) -> np.ndarray:
    return to_numpy(table.observed)[:, -1]


def test_every_kind_has_a_case():
    lacking = {kind.name for kind in kinds.KINDS} - set(CASES)
    assert not lacking, f"Write a Case here for the kinds {sorted(lacking)}: how it is drawn, loops"
    assert set(CASES) <= {kind.name for kind in kinds.KINDS}


@pytest.mark.parametrize("kind", [each for each in kinds.KINDS if each.parameter])
def test_a_kind_can_be_asked_for_in_python_and_in_the_shell(kind):
    declared = {each.name for each in fields(EnsembleParameters)}
    assert kind.parameter in declared, f"Declare {kind.parameter} in ensemble/settings.py"
    options = {option.name for option in cluster.params}
    told = f"Describe an option with parameter={kind.parameter!r} in ColumnOptions"
    assert {kind.parameter, kind.parameter.removesuffix("_columns")} & options, (
        f"{told} of frontends/options.py"
    )


@pytest.mark.parametrize("base", [NumberKind, CategoryKind])
def test_a_kind_that_lacks_something_is_named_when_it_is_made(base):
    class Half(base):
        name = "half"

    with pytest.raises(TypeError, match="Half") as caught:
        Half()
    for needed in ("stored", "measure", "distances", "coefficients", "update", "deviation"):
        assert needed in str(caught.value)


@every_kind
def test_the_log_joint_equals_loops(name):
    table = read(name, table_of(name))
    stats, params = mixture_of(table)
    found = product.log_joint(stats, params)[0]
    for i in range(table.n_samples):
        for k in range(3):
            expected = params.log_weights[0, k]
            if table.observed[i, 0]:
                spread = np.sqrt(params.covariances[0, k, 0])
                expected += norm.logpdf(table.values[i, 0], params.means[0, k, 0], spread)
            if has_cells(table)[i]:
                expected += CASES[name].log_density(table, params, i, k)
            close(found[k, i], expected, scale=100)


@every_kind
def test_a_step_equals_loops(name):
    table = read(name, table_of(name))
    stats, params = mixture_of(table)
    gamma, _ = em.responsibilities(product.log_joint(stats, params))
    after = steps(product, stats, params, 1, FLOOR)
    for k in range(3):
        expected = CASES[name].step(table, params, k, gamma[0, k])
        close(CASES[name].parameters(after, k), expected, scale=100)


@every_kind
def test_likelihood_times_prior_never_falls(name):
    table = read(name, table_of(name))
    stats, params = mixture_of(table, 0)
    last = -np.inf
    for _ in range(12):
        _, density = em.responsibilities(product.log_joint(stats, params))
        now = density.sum() + PRIOR * log_prior(table, params)
        assert now >= last - 1e-9 * abs(now)
        last, params = now, steps(product, stats, params, 1, FLOOR)


def whole_log_density(table: StandardisedRows, params: Any, k: int, j: int) -> float:
    """The log-density of a count that is no whole number, but for what all components share."""
    count, _, mu, a = count_of(table, params, 0, k)
    return float(count * np.log(mu / (1 + a * mu)) - np.log1p(a * mu) / a)


def log_prior(table: StandardisedRows, params: Any) -> float:
    """Add up what all rows' shares say of the probabilities of components."""
    model, total = table.column_model, 0.0
    if params.categories.shape[-1]:
        total += float(np.sum(model.frequencies * np.log(params.categories)))
    for j in np.flatnonzero(model.count_scale if model.count_scale is not None else []):
        middle = table._replace(values=np.zeros_like(table.values))
        total += sum(whole_log_density(middle, params, k, j) for k in range(3))
    for j in np.flatnonzero(model.two_value_share if model.two_value_share is not None else []):
        share = model.two_value_share[j]
        chances = np.array([chance_of_higher(table, params, k, j) for k in range(3)])
        total += float(np.sum(share * np.log(chances)))
        if model.one_hot_weight is None:
            total += float(np.sum((1 - share) * np.log(1 - chances)))
    return total


@every_kind
def test_a_missing_cell_tells_nothing_of_its_row(name):
    frame = table_of(name)
    table = read(name, frame)
    stats, params = mixture_of(table)
    alone = params._replace(
        means=np.where([1.0] + [0.0] * (table.n_features - 1), params.means, 7.0),
        categories=1 / (1 + np.arange(params.categories.size)).reshape(params.categories.shape),
    )
    lacking = ~has_cells(table)
    found, other = product.log_joint(stats, params), product.log_joint(stats, alone)
    assert lacking.any()
    close(found[..., lacking], other[..., lacking])


@every_kind
def test_a_weight_of_two_is_a_row_that_comes_twice(name):
    frame = table_of(name, 30)
    whole = pd.concat([frame, frame.iloc[:10]])
    counts = np.where(np.arange(30) < 10, 2.0, 1.0)
    weighed = clusterer(name).fit(frame, sample_weight=counts)
    twice = clusterer(name).fit(whole)
    close(weighed.predict_proba(frame), twice.predict_proba(frame), scale=1e4)


@every_kind
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_runs_alike_on_every_array_library(name, dtype, backend):
    frame = table_of(name)
    given = clusterer(name)
    sample = given._draw(frame).sample
    X = to_numpy(sample.X)
    results = []
    for asarray in (np.asarray, backend.asarray):
        scaling = sample.scaling._replace(
            center=asarray(sample.scaling.center),
            scale=asarray(sample.scaling.scale),
            shifts=None if sample.scaling.shifts is None else asarray(sample.scaling.shifts),
            column_model=type(sample.scaling.column_model)(
                *(part if part is None else asarray(part) for part in sample.scaling.column_model)
            ),
        )
        stats = product.statistics(standardise(asarray(X), scaling, dtype))
        params = begin(product, stats, asarray(np.array([[0, 1, 7]])), FLOOR)
        params = steps(product, stats, params, 3, FLOOR)
        results.append([*params, product.log_joint(stats, params)])
    for mine, theirs in zip(*results, strict=True):
        close(to_numpy(theirs), to_numpy(mine), dtype, scale=100)


def draw_cells(name: str, k: int, n: int) -> tuple[StandardisedRows, Any, np.ndarray, np.ndarray]:
    """Draw n rows from component k: numbers (n, d) and indicators (n, n_categories)."""
    table = read(name, table_of(name))
    _, params = mixture_of(table)
    rng = np.random.default_rng(0)
    each = (np.repeat(part[0, k : k + 1], n, axis=0) for part in (params.means, params.covariances))
    normal = rng.normal(size=(n, table.n_features))
    draws = Draws(*each, normal, lambda: rng.random(n))
    chances = np.repeat(params.categories[0, k : k + 1], n, axis=0)
    drawn = kinds.draw_categories(table.column_model, chances, draws.uniform)
    return table, params, kinds.draw_numbers(table.column_model, draws), drawn


def one_category(table: StandardisedRows, params: Any, k: int, n: int) -> np.ndarray:
    """Draw the columns that hold a category together (n, 3): each row has exactly one."""
    chances = np.array([chance_of_higher(table, params, k, j) for j in (1, 2, 3)])
    held = np.random.default_rng(1).choice(3, size=n, p=chances)
    shares = table.column_model.two_value_share[1:]
    return (np.eye(3)[held] - shares) / np.sqrt(shares * (1 - shares))


@every_kind
def test_draws_have_the_mean_and_the_variance_of_the_component(name):
    n, k = 20_000, 1
    table, params, x, e = draw_cells(name, k, n)
    variances = product.component_variances(params, table.column_model)[0, k]
    np.testing.assert_allclose(x.mean(axis=0), params.means[0, k], atol=0.05)
    np.testing.assert_allclose(x.var(axis=0), variances, rtol=0.08)
    if e.size:
        np.testing.assert_allclose(e.mean(axis=0), params.categories[0, k], atol=0.02)
        of_category = kinds.category_variances(table.column_model, params.categories)[0, k]
        np.testing.assert_allclose(e.var(axis=0), of_category, atol=0.02)


@every_kind
def test_the_deviation_of_draws_is_one_on_average(name):
    n, k = 20_000, 1
    table, params, x, e = draw_cells(name, k, n)
    model, columns = table.column_model, slice(0, table.n_features)
    numbers = Numbers(*(part[0, k][:, None] for part in (params.means, params.covariances)))
    squares, values, seen = (p[:, 0] for p in kinds.number_deviations(model, columns, numbers))
    if name == "one-hot":
        x[:, 1:] = one_category(table, params, k, n)
    found = x**2 * squares - 2 * x * values + seen
    if name == "one-hot":
        found = np.column_stack([found[:, 0], found[:, 1:].sum(axis=1)])
    np.testing.assert_allclose(found.mean(axis=0), 1.0, atol=0.1)
    if e.size:
        chances = params.categories[0, k][:, None]
        logs, entropy = kinds.category_deviations(model, 1, chances)
        close((1 - 2 * e @ logs - 2 * entropy[0]).mean(), 1.0, scale=1e12)


@every_kind
def test_deviations_equal_loops(name):
    table, k = read(name, table_of(name)), 1
    _, params = mixture_of(table)
    model, columns = table.column_model, slice(0, table.n_features)
    numbers = Numbers(*(part[0, k][:, None] for part in (params.means, params.covariances)))
    squares, values, seen = (p[:, 0] for p in kinds.number_deviations(model, columns, numbers))
    found = (table.values**2 * squares - 2 * table.values * values + seen)[:, 1:].sum(axis=1)
    if table.codes.shape[1]:
        chances = params.categories[0, k][:, None]
        logs, entropy = kinds.category_deviations(model, 1, chances)
        found = 1 - 2 * logs[table.codes[:, 0], 0] - 2 * entropy[0, 0]
    for i in np.flatnonzero(has_cells(table)):
        close(found[i], CASES[name].deviation(table, params, i, k), scale=100)


@every_kind
def test_stored_and_loaded(name, tmp_path):
    frame = table_of(name)
    model = clusterer(name).fit(frame)
    save(model, tmp_path / "model.pckid")
    loaded = load(tmp_path / "model.pckid")
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    np.testing.assert_array_equal(loaded.outlier_score(frame), model.outlier_score(frame))
    assert loaded.impute(frame).spread.equals(model.impute(frame).spread)


@every_kind
def test_values_drawn_where_missing_spread_as_imputation_says(name):
    frame = table_of(name)
    model = clusterer(name).fit(frame)
    kernel = model._kernel
    lacking = np.flatnonzero(frame["x0"].isna() & frame["a"].notna())[:4]
    checked = model._draw(frame).rows.X[lacking]
    drawn = np.stack([one[:, 1] for one in complete_rows(kernel, checked, 600)])
    values, spread = (part.iloc[lacking]["x0"] for part in model.impute(frame))
    if "x0" in model.categories_:
        wanted = np.array([model.categories_["x0"].index(value) for value in values])
        np.testing.assert_allclose((drawn != wanted).mean(axis=0), spread, atol=0.08)
        return
    if name == "log number":
        drawn, spread, values = np.log(drawn), spread / values, np.log(values)
    np.testing.assert_allclose(drawn.mean(axis=0), values, atol=0.25 * np.std(drawn))
    np.testing.assert_allclose(drawn.std(axis=0), spread, rtol=0.15)


@every_kind
def test_outlier_scores_of_rows_like_those_of_the_fit_are_calibrated(name):
    model = clusterer(name, n_inits=6, max_components=8).fit(table_of(name, 300))
    scores = model.outlier_score(table_of(name, 300, seed=1))
    scores = scores[~np.isnan(scores)]
    assert abs(np.median(scores)) < 0.5
    assert 0.6 < np.subtract(*np.percentile(scores, [84, 16])) / 2 < 1.6


@every_kind
def test_the_columns_of_a_kind_are_found_as_such(name):
    table = read(name, table_of(name))
    kind: Kind = next(each for each in kinds.KINDS if each.name == name)
    if isinstance(kind, CategoryKind):
        assert table.codes.shape[1] == 1
    elif (mine := kind.mine(table.column_model)) is not None:
        assert mine.tolist() == [False] + [True] * (table.n_features - 1)
