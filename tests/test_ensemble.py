"""The ensemble: every member is one EM run on its own rows, and only the seed decides."""

import pickle

import numpy as np
import pytest
from helpers import begin, close, groups, steps
from oracles import em_step_diagonal, initial

from pckid import ensemble as room
from pckid._arrays import to_numpy
from pckid.mixture.families import FAMILIES
from pckid.mixture.table import measure, standardise, take
from pckid.mixture.weighting import Places

X = groups(gap=2.0)[0]
Z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
TABLE = standardise(X, measure(X), "float64")


def make_plan(kind="diag", **changes):
    plan = room.Plan(
        n_inits=3,
        max_components=5,
        n_rows=45,
        max_iter=4,
        covariance_type=kind,
        floor=1e-3,
        entropy=7,
    )
    return plan._replace(**changes)


def train(plan, n_threads=1, order=slice(None), table=TABLE, places=None):
    tasks = room.schedule(table, plan)[order]
    return room.train(table, plan, tasks, n_threads, lambda count: None, places)


def members(plan):
    """List each member's number of components, start, rows and first centres."""
    for sizes in plan.groups:
        for init in range(plan.n_inits):
            rows, chosen = room.draw(plan, len(X), room.Member(sizes, init))
            parts = np.split(chosen, np.cumsum(sizes)[:-1])
            for g, part in zip(sizes, parts, strict=True):
                yield g, init, rows, part


def assert_same(one, other):
    assert len(one.stacks) == len(other.stacks)
    for a, b in zip(one.stacks, other.stacks, strict=True):
        for left, right in zip(a, b, strict=True):
            close(to_numpy(left), to_numpy(right))


class TestMembers:
    @pytest.mark.parametrize("kind", ["diag", "full"])
    def test_each_is_one_run_of_em_on_its_rows(self, kind):
        plan, family = make_plan(kind), FAMILIES[kind]
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
        plan = make_plan(max_components=3, n_inits=2)
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

    @pytest.mark.parametrize("top", [2, 3, 4, 5, 8])
    def test_every_number_of_components_has_every_start(self, top):
        plan = make_plan(max_components=top)
        found = train(plan)
        shapes = [stack.log_weights.shape for stack in found.stacks]
        assert shapes == [(3, g) for g in range(2, top + 1)]
        assert found.n_mixtures == 3 * (top - 1)
        assert found.n_columns == 3 * sum(range(2, top + 1))

    def test_rows_and_centres_are_drawn_without_replacement(self):
        drawn = set()
        plan = make_plan(max_components=8)
        for g, _, rows, chosen in members(plan):
            assert len(set(rows)) == 45
            assert rows.min() >= 0
            assert rows.max() < len(X)
            assert len(set(chosen)) == len(chosen) == g
            assert chosen.max() < 45
            drawn.add(rows.tobytes())
        assert len(drawn) == plan.n_inits * len(plan.groups) == 9

    @pytest.mark.parametrize("top", [2, 3, 8, 29, 30, 38])
    def test_every_number_of_components_is_in_one_group(self, top):
        for wide in (False, True):
            parts = make_plan(max_components=top, wide=wide).groups
            assert sorted(sum(parts, ())) == list(range(2, top + 1))

    def test_wide_groups_have_about_as_many_components(self):
        sums = [sum(sizes) for sizes in make_plan(max_components=30, wide=True).groups]
        assert sums == [224, 240]

    def test_many_share_rows_where_tables_are_large_and_fours_are_narrow(self):
        tall = TABLE._replace(values=np.zeros((2, 600)))
        assert room.is_wide(tall, 500, 30)
        assert not room.is_wide(tall, 500, 60)
        assert not room.is_wide(TABLE, 500, 30)


class TestInPlace:
    @pytest.fixture(autouse=True)
    def alone(self, monkeypatch):
        monkeypatch.setattr(room, "_STACK_BYTES_HOST", 1)

    @pytest.mark.parametrize("kind", FAMILIES)
    def test_is_for_columns_that_are_independent(self, kind):
        assert room._alone_in_place(TABLE, make_plan(kind)) == (kind == "diag")

    @pytest.mark.parametrize("wide", [False, True])
    @pytest.mark.parametrize("small", [False, True])
    def test_gives_what_stacks_give(self, monkeypatch, wide, small):
        plan = make_plan(wide=wide)
        if not small:
            monkeypatch.setattr(room, "_MOST_COLUMN_BYTES", 0)
        assert (room._columns(TABLE, plan) is not None) == small
        ours = train(plan, n_threads=2)
        monkeypatch.setattr(room, "_alone_in_place", lambda table, plan: False)
        assert_same(ours, train(plan))

    def test_with_weights(self, monkeypatch):
        places = Places.of(np.random.default_rng(0).uniform(0.2, 2.5, len(X)))
        ours = train(make_plan(), places=places)
        monkeypatch.setattr(room, "_alone_in_place", lambda table, plan: False)
        assert_same(ours, train(make_plan(), places=places))


class TestNothingButTheSeed:
    def test_threads(self):
        assert_same(train(make_plan(), n_threads=2), train(make_plan()))

    def test_order(self):
        plan = make_plan(n_inits=1, max_components=8)
        assert len(room.schedule(TABLE, plan)) > 1
        assert_same(train(plan, order=slice(None, None, -1)), train(plan))

    @pytest.mark.parametrize("stack_bytes", [1, 1 << 30])
    @pytest.mark.parametrize("kind", ["diag", "full"])
    def test_other_processes(self, kind, monkeypatch, stack_bytes):
        monkeypatch.setattr(room, "_STACK_BYTES_HOST", stack_bytes)
        expected, parcels = train(make_plan(kind)), []

        def spread(function, tasks):
            for task in tasks:
                parcels.append(pickle.dumps(task))
                yield function(*pickle.loads(parcels[-1]))

        monkeypatch.setattr(room, "is_remote", lambda: True)
        monkeypatch.setattr(room, "spread", spread)
        assert_same(train(make_plan(kind)), expected)
        assert parcels

    def test_a_task_for_another_process_carries_its_own_rows_only(self):
        plan = make_plan(n_rows=10)
        for task in room.schedule(TABLE, plan._replace(n_inits=1)):
            table, *_ = room._parcel(TABLE, plan, task, None)
            assert table.n_samples == 10

    @pytest.mark.parametrize("stack_bytes", [1, 40_000, 1 << 30])
    def test_how_many_share_a_call(self, monkeypatch, stack_bytes):
        expected = train(make_plan())
        monkeypatch.setattr(room, "_STACK_BYTES_HOST", stack_bytes)
        assert_same(train(make_plan()), expected)

    @pytest.mark.parametrize("top", [9, 10])
    def test_unlike_mixtures_in_one_call_as_on_a_gpu(self, monkeypatch, top):
        plan = make_plan(max_components=top)
        expected = train(plan)
        monkeypatch.setattr(room, "is_host", lambda array: False)
        assert any(len({m.sizes for m in task}) > 1 for task in room.schedule(TABLE, plan))
        assert_same(train(plan), expected)

    def test_those_sizes_do_cut_the_plan_differently(self, monkeypatch):
        counts = []
        for stack_bytes in (1, 1 << 30):
            monkeypatch.setattr(room, "_STACK_BYTES_HOST", stack_bytes)
            counts.append(len(room.schedule(TABLE, make_plan())))
        assert counts[0] > counts[1]

    def test_other_starts(self):
        few, many = train(make_plan(n_inits=2)), train(make_plan(n_inits=3))
        for a, b in zip(few.stacks, many.stacks, strict=True):
            close(a.means, b.means[:2])

    def test_another_seed_gives_another_ensemble(self):
        one, other = train(make_plan()), train(make_plan(entropy=8))
        assert np.abs(one.stacks[0].means - other.stacks[0].means).max() > 1e-3


class TestWeights:
    @pytest.mark.parametrize("kind", FAMILIES)
    def test_whole_ones_are_repeated_rows(self, kind):
        counts = np.random.default_rng(0).integers(1, 4, len(X))
        plan = make_plan(kind, n_rows=int(counts.sum()) // 2)
        repeated = take(TABLE, np.repeat(np.arange(len(X)), counts))
        assert_same(train(plan, places=Places.of(counts)), train(plan, table=repeated))

    def test_others_count_in_every_sum(self):
        weights = np.random.default_rng(0).uniform(0.2, 2.5, len(X))
        places, plan = Places.of(weights), make_plan(max_components=3, n_inits=2, n_rows=60)
        found = train(plan, places=places)
        for init in range(2):
            rows, chosen = room.draw(plan, places.total, room.Member((2, 3), init))
            rows = places.rows(rows)
            mine = (weights / np.ceil(weights))[rows]
            mixture = initial(Z[rows], chosen[:2], fill=0.0, row_weights=mine)
            mixture = (*mixture[:2], np.maximum([np.diag(c) for c in mixture[2]], plan.floor))
            for _ in range(plan.max_iter):
                *rest, variances = em_step_diagonal(Z[rows], *mixture, row_weights=mine)
                mixture = (*rest, np.maximum(variances, plan.floor))
            close(np.exp(found.stacks[0].log_weights[init]), mixture[0], scale=100)
            close(found.stacks[0].means[init], mixture[1], scale=100)
            close(found.stacks[0].covariances[init], mixture[2], scale=100)

    @pytest.mark.parametrize("kind", ["diag", "full"])
    def test_in_other_processes_and_libraries(self, kind, monkeypatch, backend):
        places = Places.of(np.random.default_rng(0).uniform(0.2, 2.5, len(X)))
        expected = train(make_plan(kind, floor=0.01), places=places)
        values = backend.asarray(X)
        table = standardise(values, measure(values), "float64")
        assert_same(train(make_plan(kind, floor=0.01), table=table, places=places), expected)
        monkeypatch.setattr(room, "is_remote", lambda: True)
        monkeypatch.setattr(room, "spread", lambda function, tasks: (function(*t) for t in tasks))
        assert_same(train(make_plan(kind, floor=0.01), table=table, places=places), expected)


def test_progress_counts_every_mixture():
    plan, told = make_plan(), []
    room.train(TABLE, plan, room.schedule(TABLE, plan), 1, told.append)
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
        (0.5, 10**6, 5000),
        (1.0, 5001, 5000),
        (6000, 10**6, 6000),
    ],
)
def test_subsample_sizes(max_samples, n_samples, expected):
    assert room.subsample_size(max_samples, n_samples) == expected


@pytest.mark.parametrize(
    ("n_inits", "n_samples", "expected"),
    [("auto", 2, 20), ("auto", 10_000, 20), ("auto", 10_001, 10), (3, 2, 3), (30, 10**6, 30)],
)
def test_numbers_of_starts(n_inits, n_samples, expected):
    assert room.number_of_starts(n_inits, n_samples) == expected


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_posteriors_sum_to_one_for_each_mixture(kind):
    ensemble = train(make_plan(kind))
    compute = room.posteriors(ensemble, TABLE)
    for g, part in enumerate(map(compute, range(len(ensemble.stacks))), start=2):
        assert part.shape == (3 * g, len(X))
        assert part.min() >= 0
        close(part.reshape(3, g, -1).sum(axis=1), np.ones((3, len(X))))


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_runs_alike_on_every_array_library(backend, kind):
    plan = make_plan(kind, floor=0.01)
    values = backend.asarray(X)
    found = train(plan, table=standardise(values, measure(values), "float64"))
    assert type(found.stacks[0].means) is type(values)
    assert_same(found, train(plan))
