"""The data sets: the same seed draws the same table, and each follows its story."""

import gzip

import numpy as np
import pytest

from experiments.datasets import (
    all_datasets,
    cases,
    mnist,
    mountain,
    scale_columns,
    slovenia,
    tables,
    varying,
)

BANDS = ("B02", "B03", "B04", "B08", "B11", "B12")


@pytest.fixture(scope="module")
def pixels(tmp_path_factory):
    """A clear scene of 12 × 10 pixels, three dates, three classes, and six cloud masks."""
    folder = tmp_path_factory.mktemp("pixels")
    rng = np.random.default_rng(0)
    place = [(row, col) for row in range(12) for col in range(10)]
    names = [f"{band}_2020010{date}" for date in (1, 2, 3) for band in BANDS]
    header = ",".join(["row", "col", *names, "elevation", "slope", "label"])
    lines = [header]
    for number, (row, col) in enumerate(place):
        values = ",".join(f"{value:.4f}" for value in rng.random(20))
        lines.append(f"{row},{col},{values},{('heath', 'mire', 'rock')[number % 3]}")
    with gzip.open(folder / "clear.csv.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")
    masks = rng.random((6, 12, 10)) < np.linspace(0.1, 0.6, 6)[:, None, None]
    np.savez(folder / slovenia.MASKS, masks=np.packbits(masks), shape=np.array(masks.shape))
    return str(folder / "clear.csv.gz")


def test_every_data_set_is_there():
    expected = {"mnist56", "slovenia", "slovenia ndvi", "mountain", "tables"}
    assert expected | {"wine", "breast cancer", "digits"} <= set(all_datasets())
    with pytest.raises(ValueError, match="no data set 'nothing'"):
        cases("nothing")


@pytest.mark.parametrize("name", ["wine", "breast cancer", "mountain"])
def test_a_seed_draws_one_table(name):
    for case in cases(name)[:3]:
        first, again, other = case.draw(3), case.draw(3), case.draw(4)
        assert np.array_equal(first.X, again.X, equal_nan=True)
        assert np.array_equal(first.y, again.y)
        assert not np.array_equal(first.X, other.X, equal_nan=True)


def test_complete_data_lose_what_they_should():
    drawn = {case.setting: case.draw(0).X for case in cases("digits")}
    assert list(drawn) == ["mcar 30%", "mar 30%", "blocks 30%", "quadrants 50%"]
    for setting in ("mcar 30%", "mar 30%", "blocks 30%"):
        assert np.isnan(drawn[setting]).mean() == pytest.approx(0.3, abs=0.02)
    lost = np.isnan(drawn["quadrants 50%"]).sum(axis=1)
    assert (lost > 0).mean() == pytest.approx(0.5, abs=0.001)
    assert lost.max() <= 16
    assert not any("quadrants" in case.setting for case in cases("wine"))


def test_standardise_uses_what_is_observed():
    X = scale_columns(np.array([[1.0, 5.0, np.nan], [3.0, 5.0, np.nan], [np.nan, 5.0, np.nan]]))
    assert np.array_equal(X[:, 0], [-1, 1, np.nan], equal_nan=True)
    assert (X[:, 1] == 0).all()
    assert np.isnan(X[:, 2]).all()


def test_images_are_balanced_and_lose_one_quadrant(small_images):
    for share in (0.0, 0.5, 0.9):
        X, y = mnist.draw_mnist(small_images, share, 200, seed=1)
        assert np.unique(y, return_counts=True)[1].tolist() == [100, 100]
        assert set(y) == {5, 6}
        assert varying(X).all()
        assert np.isnan(X).any(axis=1).mean() == pytest.approx(share, abs=0.02)


def test_a_cloud_hides_all_bands_of_a_date_and_nothing_else(pixels):
    pairs = slovenia.slovenia(pixels, per_class=25)
    assert [case.setting for case in pairs] == ["heath-mire", "heath-rock", "mire-rock"]
    X, y = pairs[0].draw(0)
    assert X.shape == (50, 20)
    assert sorted(set(y)) == ["heath", "mire"]
    hidden = np.isnan(X)
    assert not hidden[:, 18:].any()
    dates = hidden[:, :18].reshape(-1, 3, 6)
    assert (dates.all(axis=2) == dates.any(axis=2)).all()
    assert hidden.any()


def test_other_masks_are_drawn_in_every_run(pixels):
    case = slovenia.slovenia(pixels)[0]
    shares = {round(float(np.isnan(case.draw(seed).X).mean()), 6) for seed in range(5)}
    assert len(shares) > 1


def test_a_series_with_gaps_is_taken_as_it_is(pixels, tmp_path):
    with gzip.open(pixels, "rt") as file:
        header, *rows = (line.split(",") for line in file.read().splitlines())
    rows = [[*row[:2], "" if number % 2 else row[2], *row[3:]] for number, row in enumerate(rows)]
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join(",".join(row) for row in [header, *rows]) + "\n")
    case = slovenia.slovenia_ndvi(str(path))[0]
    assert case.dataset == "slovenia ndvi"
    X = case.draw(0).X
    assert X.shape == (80, 20)
    assert np.isnan(X[:, 0]).mean() == 0.5
    assert not np.isnan(X[:, 1:]).any()


def test_the_mountain_has_clouds_and_fifteen_pairs():
    assert len(mountain.mountain()) == 15
    scene = mountain.simulate(np.random.default_rng(0))
    assert scene.X.shape == (3600, 20)
    assert 0.1 < scene.hidden.mean() < 0.7
    X, _ = mountain.mountain()[0].draw(0)
    assert X.shape == (600, 20)
    assert not np.isnan(X[:, 18:]).any()


def test_a_table_of_numbers_text_and_blanks(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text(
        "id,size,colour,mood,label\n"
        "1,2.5,red,good,a\n2,,green,bad,b\n3,1.5,,good,a\n4,,,,b\n5,0,blue,,b\n"
    )
    X, y, columns = tables.load_labelled(str(path))
    nan = np.nan
    assert y.tolist() == ["a", "b", "a", "b"]
    expected = [[2.5, 0, 0, 1, 1], [nan, 0, 1, 0, 0], [1.5, nan, nan, nan, 1], [0, 1, 0, 0, nan]]
    assert np.array_equal(X, expected, equal_nan=True)
    assert columns.tolist() == [1, 2, 2, 2, 3]


def test_a_table_without_classes_is_refused(tmp_path):
    (tmp_path / "plain.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"plain\.csv has no "):
        tables.load_labelled(str(tmp_path / "plain.csv"))
    with pytest.raises(ValueError, match=r"holds no \.csv"):
        tables.tables(str(tmp_path / ".."))


def test_large_tables_are_drawn_from_in_proportion():
    y = np.repeat(["a", "b", "c"], [600, 300, 100])
    index = tables.stratified(y, 100, np.random.default_rng(0))
    assert len(set(index)) == 100
    counts = np.unique(y[index], return_counts=True)[1]
    assert np.abs(counts - [60, 30, 10]).max() <= 1
