"""Clusters that keep the numbers and names of an earlier model, and what became of the others."""

import numpy as np
import pandas as pd
import pytest
from helpers import SMALL

import pckid
from pckid import PCKID
from pckid.matching import (
    ClusterChange,
    _find_shaky,
    _judge_chance,
    cross_count,
    find_changes,
    match_clusters,
    name_clusters,
    number_clusters,
)

# Two columns tell each group, so that one of them may be missing; the last tells none.
PLACES = 8.0 * np.append(np.repeat(np.eye(4), 2, axis=1), np.zeros((4, 1)), axis=1)


def draw(seed, sizes, places=PLACES):
    """Rows of groups around places, a tenth of the cells missing, in random order."""
    rng = np.random.default_rng(seed)
    X = np.repeat(places[: len(sizes)], sizes, axis=0)
    X = X + rng.normal(size=X.shape)
    X[rng.random(X.shape) < 0.1] = np.nan
    return rng.permutation(X)


def kinds(model):
    return [(each.kind, each.before, each.now) for each in model.matches_.changed]


@pytest.fixture(scope="module")
def old():
    model = PCKID(3, **SMALL).fit(draw(0, [60, 45, 30]))
    model.cluster_names_ = ["large", None, "small"]
    return model


class TestFormulas:
    def test_counts_are_those_of_a_loop(self, rng):
        before, now = rng.integers(-1, 3, 50), rng.integers(-1, 4, 50)
        found = cross_count(before, now, 3, 4)
        for a in range(3):
            for b in range(4):
                assert found[a, b] == sum(
                    (x, y) == (a, b) for x, y in zip(before, now, strict=True)
                )

    def test_clusters_match_from_an_overlap_of_one_half_on(self):
        assert match_clusters(np.array([[40, 0], [60, 0]])) == [(1, 0)]
        assert match_clusters(np.array([[49, 0], [51, 2]])) == [(1, 0)]
        assert match_clusters(np.array([[30, 30, 30]])) == []

    def test_the_best_assignment_is_that_of_all_permutations(self):
        from itertools import permutations

        rng = np.random.default_rng(1)
        for _ in range(20):
            flows = rng.integers(0, 9, (4, 4)) + 20 * np.eye(4, dtype=int)[rng.permutation(4)]
            either = flows.sum(axis=1, keepdims=True) + flows.sum(axis=0) - flows
            overlap = np.where(flows / either >= 0.5, flows / either, 0)
            best = max(
                permutations(range(4)), key=lambda p: sum(overlap[a, b] for a, b in enumerate(p))
            )
            expected = [(a, b) for a, b in enumerate(best) if overlap[a, b] > 0]
            assert match_clusters(flows) == expected

    @pytest.mark.parametrize(
        ("flows", "sizes", "far", "expected"),
        [
            ([[50, 0], [0, 50]], [50, 50], [], ["stayed 0 0", "stayed 1 1"]),
            ([[60, 40, 0], [0, 0, 80]], [100, 80], [], ["split 0 01", "stayed 1 2"]),
            ([[50, 50, 0], [0, 0, 80]], [100, 80], [], ["split 0 01", "stayed 1 2"]),
            ([[60, 40, 0], [0, 0, 80]], [100, 80], [1], ["stayed 0 0", "stayed 1 2", "new  1"]),
            ([[60, 0], [40, 0], [0, 70]], [60, 40, 70], [], ["merged 01 0", "stayed 2 1"]),
            ([[60, 0], [3, 0], [0, 70]], [60, 40, 70], [],
             ["stayed 0 0", "vanished 1 ", "stayed 2 1"]),
            # Rows that were not there raise the share of the cluster that they are next to.
            ([[100, 40, 0], [0, 0, 100]], [100, 100], [], ["stayed 0 0", "stayed 1 2", "new  1"]),
            ([[40, 30], [30, 40]], [70, 70], [], ["rearranged"]),
        ],
    )  # fmt: skip
    def test_changes(self, flows, sizes, far, expected):
        flows = np.array(flows)
        is_far = np.isin(np.arange(flows.shape[1]), far)
        found = find_changes(flows, match_clusters(flows), np.array(sizes), is_far)
        written = [
            f"{each.kind} {''.join(map(str, each.before))} {''.join(map(str, each.now))}"
            for each in found
        ]
        if expected == ["rearranged"]:
            assert all(not text.startswith("stayed") for text in written)
        else:
            assert written == expected

    def test_numbers_are_kept_and_new_clusters_take_others(self):
        assert number_clusters([(0, 2), (2, 0)], 3, 3).tolist() == [2, 1, 0]
        assert number_clusters([(0, 1), (1, 2)], 2, 4).tolist() == [2, 0, 1, 3]
        # Of five clusters the last stayed, among two.
        assert number_clusters([(4, 0), (0, 1)], 5, 2).tolist() == [1, 0]

    def test_names_follow_and_no_name_means_two_clusters(self):
        titles = ["large", "Cluster 1", "small"]
        names = ["large", None, "small"]
        same = name_clusters([(0, 0), (1, 1), (2, 2)], np.arange(3), names, titles)
        assert same == names
        # The second vanished; the third is new, and has its number.
        found = name_clusters([(0, 0), (2, 2)], np.arange(3), names, titles)
        assert found == ["large", "Cluster 3", "small"]
        # The third is the second of two.
        assert name_clusters([(0, 0), (2, 1)], np.arange(2), names, titles) == ["large", "small"]
        more = name_clusters([(0, 0), (1, 1), (2, 2)], np.arange(4), names, titles)
        assert more == [*names, None]
        # Of three only the second stayed, among five: the other four are new.
        found = name_clusters([(1, 1)], np.arange(5), names, titles)
        assert found == ["Cluster 5", None, "Cluster 6", None, None]
        # The last of three is called Cluster 3 since the year before, and there are four now.
        titles = ["large", "Cluster 1", "Cluster 3"]
        found = name_clusters([(0, 0), (1, 1), (2, 2)], np.arange(4), titles, titles)
        assert found == [*titles, "Cluster 4"]


def test_the_same_groups_keep_numbers_and_names(old):
    # The sizes are in another order, so that other numbers would come without `like`.
    X = draw(1, [30, 45, 60])
    model, alone = (PCKID(3, **SMALL).fit(X, like=like) for like in (old, None))
    np.testing.assert_array_equal(model.labels_, old.predict(X))
    assert model.cluster_names_ == ["large", None, "small"]
    assert [each.kind for each in model.matches_.changes] == ["stayed"] * 3
    assert (alone.labels_ != model.labels_).any()
    np.testing.assert_allclose(
        alone.cluster_centers_[[2, 1, 0]], model.cluster_centers_, atol=1e-12
    )
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(alone.confidence_, model.confidence_)
    assert len(model.matches_.moved) == 0
    assert model.matches_.sentence == "3 of 3 clusters stayed."
    np.testing.assert_array_equal(model.matches_.flows, np.diag(model.cluster_profiles_.n_rows))


def test_parts_that_resamples_show_are_no_chance_though_one_is_like_the_whole(old, monkeypatch):
    X = draw(1, [100, 50, 0])
    before = np.repeat([0, 1], [100, 50])
    now, again = (np.repeat([0, 1, 2], sizes) for sizes in ([49, 49, 52], [52, 46, 52]))
    assert match_clusters(cross_count(before, again, 2, 3)) == [(0, 0), (1, 2)]
    monkeypatch.setattr("pckid.matching.label_resamples", lambda *how: [again] * len(how[-1]))
    flows = cross_count(before, now, 2, 3)
    pairs = match_clusters(flows)
    changes = find_changes(flows, pairs, flows.sum(axis=1), np.zeros(3, dtype=bool))
    assert [each.kind for each in changes] == ["split", "stayed"]
    told = (changes, pairs, (before, now), flows, np.zeros(2, dtype=bool))
    assert not any(each.by_chance for each in _judge_chance(old, X, *told))
    # Not so if they show the whole.
    monkeypatch.setattr("pckid.matching.label_resamples", lambda *how: [before] * len(how[-1]))
    assert [each.by_chance for each in _judge_chance(old, X, *told)] == [True, False]


def test_one_gone_one_new_one_split(old):
    gone = PCKID(2, **SMALL).fit(draw(2, [60, 0, 30]), like=old)
    assert kinds(gone) == [("vanished", (1,), ())]
    assert gone.cluster_names_ == ["large", "small"]
    new = PCKID(4, **SMALL).fit(draw(3, [60, 45, 30, 40]), like=old)
    assert kinds(new) == [("new", (), (3,))]
    assert new.cluster_names_ == ["large", None, "small", None]
    assert "Cluster 3 is new" in new.matches_.sentence
    both = PLACES[[0, 0, 1, 2]]
    both[:2, -3:] += [[4], [-4]]
    before = PCKID(3, **SMALL).fit(draw(4, [40, 40, 60, 50], both))
    split = PCKID(4, **SMALL).fit(draw(5, [40, 40, 60, 50], both), like=before)
    assert [each.kind for each in split.matches_.changed] == ["split"]
    merged = PCKID(3, **SMALL).fit(draw(6, [40, 40, 60, 50], both), like=split)
    assert [each.kind for each in merged.matches_.changed] in (["merged"], [])


def test_clusters_that_are_found_by_chance_are_not_called_changed(rng):
    first, second = rng.normal(size=(2, 150, 4))
    model = PCKID(5, **SMALL).fit(second, like=PCKID(5, **SMALL).fit(first))
    assert model.matches_.changed == []
    assert any(each.by_chance for each in model.matches_.changes)
    assert "chance" in str(model.matches_)


def test_clusters_that_are_there_but_were_never_sure_are_shaky():
    before = np.array([0, 0, 0, 1, 1, 1, 2, -1])
    confidence = np.array([0.9, 0.9, 0.7, 0.7, 0.7, 0.9, 0.5, 0.0])
    found = _find_shaky(before, confidence, np.array([30.0, 30.0, 90.0]))
    # The third is nearly gone: what is left there tells nothing.
    assert found.tolist() == [False, True, False]
    # From half of its share on a cluster is still there.
    for n_others, is_there in ((3, True), (5, False)):
        before = np.append(np.zeros(n_others, dtype=int), 1)
        found = _find_shaky(before, np.where(before == 1, 0.5, 0.9), np.array([50.0, 50.0]))
        assert found.tolist() == [False, is_there]


@pytest.mark.parametrize(("n_rows", "by_chance"), [(10, True), (9, False)])
def test_a_lost_cluster_goes_where_a_quarter_of_its_rows_does(old, monkeypatch, n_rows, by_chance):
    before, now = np.repeat([0, 1], [40, 60]), np.repeat([0, 1], [n_rows, 100 - n_rows])
    # Resamples show the later cluster that most rows are in, not the other.
    again = [np.zeros(100, dtype=int)]
    monkeypatch.setattr("pckid.matching.label_resamples", lambda *how: again * len(how[-1]))
    told = [ClusterChange("vanished", (0,), ())], [(1, 1)], (before, now)
    flows, shaky = cross_count(before, now, 2, 2), np.zeros(2, dtype=bool)
    found = _judge_chance(old, draw(1, [40, 60, 0]), *told, flows, shaky)
    assert [each.by_chance for each in found] == [by_chance]


def test_columns_are_found_by_their_names(old):
    names = list("abcdefghi")
    before = PCKID(3, **SMALL).fit(pd.DataFrame(draw(0, [60, 45, 30]), columns=names))
    frame = pd.DataFrame(draw(1, [30, 45, 60]), columns=names)
    shuffled = frame[list("fbdihgaec")].assign(more=np.arange(135.0) % 7)
    model = PCKID(3, **SMALL).fit(shuffled, like=before)
    np.testing.assert_array_equal(model.labels_, before.predict(frame))
    with pytest.raises(
        ValueError,
        match="1 column of the model that `like` names is not among the columns used, first 'c'",
    ):
        PCKID(3, **SMALL).fit(frame.drop(columns="c"), like=before)


def test_another_unit_is_refused():
    rows = draw(0, [60, 45, 30]) + 40
    before = PCKID(3, **SMALL).fit(rows)
    later = draw(1, [60, 45, 30]) + 40
    later[:, 2] *= 100
    with pytest.raises(ValueError, match="another unit"):
        PCKID(3, **SMALL).fit(later, like=before)


def test_a_model_from_a_file_will_do(old, tmp_path):
    pckid.save(old, tmp_path / "old.pckid")
    X = draw(1, [30, 45, 60])
    model = PCKID(3, **SMALL).fit(X, like=pckid.load(tmp_path / "old.pckid"))
    np.testing.assert_array_equal(model.labels_, old.predict(X))
    assert not hasattr(model.fit(X), "matches_")
    assert model.cluster_names_ == [None] * 3


def test_known_groups_keep_their_names(old):
    X = draw(1, [30, 45, 60])
    known = [None] * len(X)
    known[0] = "mine"
    model = PCKID(3, **SMALL).fit(X, like=old, known=known)
    assert model.labels_[0] == old.predict(X)[0]
    assert model.cluster_names_[model.labels_[0]] == "mine"


def test_backends_give_the_same(old, backend):
    X = draw(1, [30, 45, 60])
    model = PCKID(3, **SMALL).fit(backend.asarray(X), like=old)
    np.testing.assert_array_equal(np.asarray(model.labels_), old.predict(X))


def test_what_cannot_be_followed_is_refused(old):
    with pytest.raises(TypeError, match="like takes a fitted PCKID, not a"):
        PCKID(3, **SMALL).fit(
            draw(1, [30, 45, 60]),
            like=pckid.ProbabilisticClusterKernel(**SMALL).fit(draw(0, [60, 45, 30])),
        )


def test_records_and_tables(old):
    model = PCKID(4, **SMALL).fit(draw(3, [60, 45, 30, 40]), like=old)
    frame = model.matches_.to_frame()
    assert frame["kind"].tolist() == ["stayed", "stayed", "stayed", "new"]
    assert len(model.matches_.table()) == 4
    assert "Cluster 3" in model.matches_._repr_html_()


def test_categories_of_two_years_need_not_be_the_same():
    def year(seed, names):
        rng = np.random.default_rng(seed)
        group = rng.choice(len(names), 150)
        columns = {f"c{j}": np.array(names)[group] for j in range(3)}
        return pd.DataFrame({**columns, "x": 6.0 * group + rng.normal(size=150)})

    old = PCKID(2, **SMALL).fit(year(0, ["b", "c"]))
    with pytest.warns(pckid.UnseenCategoryWarning):
        model = PCKID(3, **SMALL).fit(year(1, ["b", "c", "a"]), like=old)
    assert [each.kind for each in model.matches_.changes] == ["stayed", "stayed", "new"]


def test_rows_may_have_weights(old):
    X = draw(1, [30, 45, 60])
    model = PCKID(3, **SMALL).fit(X, sample_weight=np.arange(135) % 3 + 1.0, like=old)
    np.testing.assert_array_equal(model.labels_, old.predict(X))
