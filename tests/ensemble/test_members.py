"""The ensemble: every member is one EM run on its own rows, and only the seed decides."""

import pickle
from functools import partial

import numpy as np
import pytest
from fitting import draw, settings_of
from helpers import begin, close, groups, steps
from oracles import em_step_diagonal, initial
from scipy.stats import chisquare

from pckid import PCKID
from pckid._utils.arrays import to_numpy
from pckid.ensemble import members as ensemble
from pckid.ensemble.training import plan_ensemble
from pckid.input.table import fit_scaling, standardise, take
from pckid.mixture.covariance_types import COVARIANCE_TYPES

X = groups(gap=2.0)[0]
Z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
TABLE = standardise(X, fit_scaling(X), "float64")


def make_plan(kind="diag", **changes):
    plan = ensemble.Plan(
        n_inits=3,
        sizes=(2, 3, 4, 5),
        n_rows=45,
        max_iter=4,
        covariance_type=kind,
        floor=1e-3,
        entropy=7,
    )
    return plan._replace(**changes)


def train(plan, n_threads=1, order=slice(None), table=TABLE, weights=None):
    tasks, draw = (
        ensemble.schedule(table, plan)[order],
        partial(ensemble.draw_subsamples, plan, len(X)),
    )
    return ensemble.train_batches(table, plan, draw, tasks, n_threads, lambda count: None, weights)


def members(plan):
    """List each member's number of components, start, rows and first centres."""
    for size in plan.sizes:
        for init in range(plan.n_inits):
            yield size, init, ensemble.draw_subsamples(plan, len(X), size)[init], np.arange(size)


def assert_same(one, other):
    assert len(one.stacks) == len(other.stacks)
    for a, b in zip(one.stacks, other.stacks, strict=True):
        for left, right in zip(a, b, strict=True):
            close(to_numpy(left), to_numpy(right))


class TestMembers:
    @pytest.mark.parametrize("kind", ["diag", "full"])
    def test_each_is_one_run_of_em_on_its_rows(self, kind):
        plan, family = make_plan(kind), COVARIANCE_TYPES[kind]
        found = train(plan)
        seen = set()
        for g, init, rows, chosen in members(plan):
            stats = family.statistics(take(TABLE, rows))
            alone = begin(family, stats, chosen[None], plan.floor)
            alone = steps(family, stats, alone, plan.max_iter, plan.floor)
            for part, one in zip(found.stacks[g - 2], alone, strict=True):
                close(part[init], one[0])
            seen.add((g, init))
        assert seen == {(g, init) for g in (2, 3, 4, 5) for init in range(3)}

    def test_each_follows_the_papers_loops(self):
        plan = make_plan(sizes=(2, 3), n_inits=2)
        found = train(plan)
        for g, init, rows, chosen in members(plan):
            weights, means, covariances = initial(Z[rows], chosen, fill=0.0)
            variances = np.maximum([np.diag(c) for c in covariances], plan.floor)
            for _ in range(plan.max_iter):
                weights, means, variances = em_step_diagonal(Z[rows], weights, means, variances)
                variances = np.maximum(variances, plan.floor)
            close(np.exp(found.stacks[g - 2].log_weights[init]), weights, scale=100)
            close(found.stacks[g - 2].means[init], means, scale=100)
            close(found.stacks[g - 2].covariances[init], variances, scale=100)

    @pytest.mark.parametrize("sizes", [(2,), (2, 3), (2, 5, 8), (7,)])
    def test_every_number_of_components_has_every_start(self, sizes):
        found = train(make_plan(sizes=sizes))
        assert [stack.log_weights.shape for stack in found.stacks] == [(3, g) for g in sizes]
        assert found.n_columns == 3 * sum(sizes)

    def test_each_mixture_has_random_rows_of_its_own(self):
        drawn = set()
        plan = make_plan(sizes=tuple(range(2, 9)))
        for _, _, rows, _ in members(plan):
            assert len(set(rows)) == 45
            assert rows.min() >= 0
            assert rows.max() < len(X)
            drawn.add(rows.tobytes())
        assert len(drawn) == plan.n_inits * len(plan.sizes) == 21

    @pytest.mark.parametrize("n_rows", [1, 10, 22, 23, 45, 89, 90])
    def test_every_row_is_as_likely_in_every_place(self, n_rows):
        plan = make_plan(n_inits=400, sizes=(2, 5), n_rows=n_rows)
        drawn = np.concatenate([ensemble.draw_subsamples(plan, len(X), g) for g in plan.sizes])
        assert drawn.shape == (800, n_rows)
        assert all(len(set(rows)) == n_rows for rows in drawn)
        for place in {0, n_rows // 2, n_rows - 1}:
            counts = np.bincount(drawn[:, place], minlength=len(X))
            assert chisquare(counts).pvalue > 1e-4

    def test_rows_are_those_of_the_smallest_keys_in_their_order(self):
        plan = make_plan(n_inits=7)
        keys = ensemble.draw_keys(plan, len(X), 3)
        assert keys.shape == (7, len(X))
        expected = np.argsort(keys, axis=1, kind="stable")[:, :45]
        assert (ensemble.draw_subsamples(plan, len(X), 3) == expected).all()

    def test_equal_keys_go_by_the_number_of_the_row(self):
        keys = np.array([[5, -7, 5, -7, 2**31 - 1, -(2**31)]], dtype=np.int32)
        order = np.sort(ensemble.append_rows(keys), axis=1)
        assert (order % ensemble._ROWS).tolist() == [[5, 1, 3, 0, 2, 4]]


class TestNothingButTheSeed:
    def test_threads(self):
        assert_same(train(make_plan(), n_threads=2), train(make_plan()))

    @pytest.mark.parametrize("kind", ["diag", "tied_diag", "spherical"])
    @pytest.mark.parametrize(
        ("weighted", "stack_bytes"), [(False, 8 * 10 * len(X)), (True, 1 << 30)]
    )
    def test_rows_that_mixtures_share(self, backend, kind, weighted, stack_bytes, monkeypatch, rng):
        weights = rng.integers(1, 5, len(X)).astype(float) if weighted else None
        plan = make_plan(kind, sizes=(2, 3, 5, 17))
        expected = train(plan, weights=weights)
        rows = backend.asarray(X)
        table = standardise(rows, fit_scaling(rows), "float64")
        monkeypatch.setattr(ensemble, "is_host", lambda _: False)
        monkeypatch.setattr(ensemble, "_STACK_BYTES_DEVICE", stack_bytes)
        tasks = ensemble.schedule(table, plan)
        if kind == "tied_diag":
            # What its components have in common is computed mixture by mixture.
            assert all(len(task) == 1 for task in tasks)
        else:
            assert (len(tasks) == 1) == (stack_bytes == 1 << 30)
            assert any(len({run.size for run in task}) > 1 for task in tasks)
        assert_same(train(plan, table=table, weights=weights), expected)

    def test_order(self):
        plan = make_plan(n_inits=1, sizes=(2, 3, 5, 8))
        assert len(ensemble.schedule(TABLE, plan)) > 1
        assert_same(train(plan, order=slice(None, None, -1)), train(plan))

    @pytest.mark.parametrize("stack_bytes", [1, 1 << 30])
    @pytest.mark.parametrize("kind", ["diag", "full"])
    def test_other_processes(self, kind, monkeypatch, stack_bytes):
        monkeypatch.setattr(ensemble, "_STACK_BYTES_HOST", stack_bytes)
        expected, packed = train(make_plan(kind)), []

        def spread(function, tasks):
            for task in tasks:
                packed.append(pickle.dumps(task))
                yield function(*pickle.loads(packed[-1]))

        monkeypatch.setattr(ensemble, "is_remote", lambda: True)
        monkeypatch.setattr(ensemble, "run_remote", spread)
        assert_same(train(make_plan(kind)), expected)
        assert packed

    def test_a_task_for_another_process_carries_its_own_rows_only(self):
        plan = make_plan(n_rows=10)
        for (run,) in ensemble.schedule(TABLE, plan._replace(n_inits=1)):
            subsamples = ensemble._pick_subsamples(
                partial(ensemble.draw_subsamples, plan, len(X)), run, None
            )
            table, *_ = ensemble._pack_stack(TABLE, plan, run, subsamples)
            assert table.n_samples == 10

    @pytest.mark.parametrize("stack_bytes", [1, 40_000, 1 << 30])
    def test_how_many_share_a_call(self, monkeypatch, stack_bytes):
        expected = train(make_plan())
        monkeypatch.setattr(ensemble, "_STACK_BYTES_HOST", stack_bytes)
        assert_same(train(make_plan()), expected)

    def test_those_sizes_do_cut_the_plan_differently(self, monkeypatch):
        counts = []
        for stack_bytes in (1, 1 << 30):
            monkeypatch.setattr(ensemble, "_STACK_BYTES_HOST", stack_bytes)
            counts.append(len(ensemble.schedule(TABLE, make_plan())))
        assert counts[0] > counts[1]

    def test_other_starts(self):
        few, many = train(make_plan(n_inits=2)), train(make_plan(n_inits=3))
        for a, b in zip(few.stacks, many.stacks, strict=True):
            close(a.means, b.means[:2])

    def test_another_seed_gives_another_ensemble(self):
        one, other = train(make_plan()), train(make_plan(entropy=8))
        assert np.abs(one.stacks[0].means - other.stacks[0].means).max() > 1e-3


class TestWeights:
    WEIGHTS = np.random.default_rng(0).uniform(0.2, 2.5, len(X))

    def test_count_in_every_sum(self):
        plan = make_plan(sizes=(2, 3), n_inits=2, n_rows=60)
        found = train(plan, weights=self.WEIGHTS)
        for g, init, rows, centers in members(plan):
            mine = self.WEIGHTS[rows]
            mixture = initial(Z[rows], centers, fill=0.0, row_weights=mine)
            mixture = (*mixture[:2], np.maximum([np.diag(c) for c in mixture[2]], plan.floor))
            for _ in range(plan.max_iter):
                *rest, variances = em_step_diagonal(Z[rows], *mixture, row_weights=mine)
                mixture = (*rest, np.maximum(variances, plan.floor))
            close(np.exp(found.stacks[g - 2].log_weights[init]), mixture[0], scale=100)
            close(found.stacks[g - 2].means[init], mixture[1], scale=100)
            close(found.stacks[g - 2].covariances[init], mixture[2], scale=100)

    @pytest.mark.parametrize("kind", COVARIANCE_TYPES)
    def test_their_unit_does_not_matter(self, kind):
        plan = make_plan(kind)
        assert_same(train(plan, weights=1000 * self.WEIGHTS), train(plan, weights=self.WEIGHTS))

    @pytest.mark.parametrize("kind", ["diag", "full"])
    def test_in_other_processes_and_libraries(self, kind, monkeypatch, backend):
        plan = make_plan(kind, floor=0.01, n_inits=2, sizes=(2, 4), max_iter=3)
        expected = train(plan, weights=self.WEIGHTS)
        values = backend.asarray(X)
        table = standardise(values, fit_scaling(values), "float64")
        monkeypatch.setattr(ensemble, "is_remote", lambda: True)
        monkeypatch.setattr(
            ensemble, "run_remote", lambda function, tasks: (function(*t) for t in tasks)
        )
        assert_same(train(plan, table=table, weights=self.WEIGHTS), expected)


class TestPlanOfAFit:
    def test_the_papers_mixtures_have_every_size_each_on_a_random_half_of_its_own(self):
        model = PCKID.as_in_paper(2, n_inits=2, max_components=6, random_state=0).fit(X)
        shapes = [stack.log_weights.shape for stack in model._kernel.ensemble.stacks]
        assert shapes == [(2, g) for g in (2, 3, 4, 5, 6)]
        plan = plan_ensemble(draw(model, X).sample, settings_of(model))
        assert plan.n_rows == len(X) // 2
        drawn = [rows for g in plan.sizes for rows in ensemble.draw_subsamples(plan, len(X), g)]
        assert len({rows.tobytes() for rows in drawn}) == 10

    def test_what_auto_stands_for(self):
        model = PCKID(3, random_state=0)
        plan = plan_ensemble(draw(model, X).sample, settings_of(model))
        assert plan.sizes == (2, 4, 5, 7, 9, 11, 12, 14)  # up to 1.5 √90
        assert plan.n_rows == 45
        close(plan.floor, 0.4 * 14 ** (-2 / 4))


def test_progress_counts_every_mixture():
    plan, told = make_plan(), []
    draw = partial(ensemble.draw_subsamples, plan, len(X))
    ensemble.train_batches(TABLE, plan, draw, ensemble.schedule(TABLE, plan), 1, told.append)
    assert sum(told) == 12


@pytest.mark.parametrize(
    ("max_samples", "n_samples", "expected"),
    [
        (0.5, 100, 50),
        (1.0, 7, 7),
        (0.001, 100, 2),
        (30, 100, 30),
        (300, 100, 100),
        (0.5, 3, 2),
        (0.5, 10**6, 500_000),
        ("auto", 100, 50),
        ("auto", 3, 2),
        ("auto", 10**6, 500),
        (6000, 10**6, 6000),
    ],
)
def test_subsample_sizes(max_samples, n_samples, expected):
    assert ensemble.subsample_size(max_samples, n_samples) == expected


@pytest.mark.parametrize(
    ("largest", "n_sizes", "expected"),
    [
        (30, None, tuple(range(2, 31))),
        (2, 16, (2,)),
        (2, None, (2,)),
        (5, 16, (2, 3, 4, 5)),
        (60, 3, (2, 31, 60)),
        (60, 1, (60,)),
    ],
)
def test_sizes_are_spread_evenly(largest, n_sizes, expected):
    assert ensemble.spread_sizes(largest, n_sizes) == expected


@pytest.mark.parametrize("largest", [17, 18, 60, 61, 100])
def test_sizes_all_differ(largest):
    sizes = ensemble.spread_sizes(largest, 16)
    assert len(set(sizes)) == 16
    assert sizes == tuple(sorted(sizes))
    assert (sizes[0], sizes[-1]) == (2, largest)


def test_the_smallest_variance_is_that_of_components_that_tile_the_columns():
    close(ensemble.automatic_floor(60, 2), 0.4 / 60)
    close(ensemble.automatic_floor(25, 1), 0.4 / 25**2)
    assert 0.3 < ensemble.automatic_floor(60, 100) < 0.4


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_posteriors_sum_to_one_for_each_mixture(kind):
    found = train(make_plan(kind))
    posteriors = ensemble.Posteriors(found, TABLE)
    stats = posteriors.family.statistics(TABLE)
    for g, run in enumerate(posteriors.runs, start=2):
        part = posteriors.compute(stats, run)
        assert part.shape == (3 * g, len(X))
        assert part.min() >= 0
        close(part.reshape(3, g, -1).sum(axis=1), np.ones((3, len(X))))


@pytest.mark.parametrize("kind", ["diag", "spherical", "full"])
@pytest.mark.parametrize("scaled", [False, True])
def test_posteriors_of_several_stacks_are_those_of_each(monkeypatch, kind, scaled):
    found = train(make_plan(kind))
    each = ensemble.Posteriors(found, TABLE)
    stats, n_stacks = each.family.statistics(TABLE), len(found.stacks)
    scales = [0.5 + i for i in range(n_stacks)] if scaled else None
    expected = [each.compute(stats, run, scales) for run in each.runs[1:]]
    together = range(1, n_stacks)
    monkeypatch.setattr(ensemble, "split_stacks", lambda *_: [range(1), together])
    close(
        ensemble.Posteriors(found, TABLE).compute(stats, together, scales), np.concatenate(expected)
    )


@pytest.mark.parametrize("cells", [1, 10 * len(X), 30 * len(X), 10**9])
def test_a_gpu_computes_as_many_stacks_at_once_as_fit(monkeypatch, cells):
    found = train(make_plan())
    alone = [range(i, i + 1) for i in range(len(found.stacks))]
    assert ensemble.split_stacks(found, TABLE) == alone
    monkeypatch.setattr(ensemble, "is_host", lambda array: False)
    monkeypatch.setattr(ensemble, "_RUN_CELLS", cells)
    runs = ensemble.split_stacks(found, TABLE)
    assert [i for run in runs for i in run] == list(range(len(found.stacks)))
    for run in runs:
        width = sum(found.widths[i] for i in run)
        assert len(run) == 1 or width * max(len(X), TABLE.width) <= cells
    if cells == 10**9:
        assert len(runs) == 1
    assert ensemble.split_stacks(train(make_plan("full")), TABLE) == alone


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_runs_alike_on_every_array_library(backend, kind):
    plan = make_plan(kind, floor=0.01, n_inits=2, sizes=(2, 4), max_iter=3)
    values = backend.asarray(X)
    found = train(plan, table=standardise(values, fit_scaling(values), "float64"))
    assert type(found.stacks[0].means) is type(values)
    assert_same(found, train(plan))
