"""Maps of clusters: which pixels are learnt from, windows, context, smoothing."""

import numpy as np
import pytest
from helpers import SMALL
from scenes import BANDS, DATES, NAMES, as_integers, make_cube, make_scene, write_image

from pckid import PCKID, assess, maps, metrics
from pckid.cubes.cube import Cube, read_cube
from pckid.exceptions import TableError
from pckid.input import sample as pool
from pckid.maps.clustering import fit_pixels, make_map
from pckid.maps.pixels import draw_pixels
from pckid.maps.placing import smooth_memberships
from pckid.significance.levels import Answer

xr = pytest.importorskip("xarray")
pytest.importorskip("rioxarray")
SCENE = make_scene()
CUBE = make_cube(SCENE, grid="g")
FLAT = SCENE.values.reshape(-1, *SCENE.truth.shape)


@pytest.fixture(scope="module")
def found():
    return maps.cluster(CUBE, 3, **SMALL)


def test_a_map_has_the_grid_of_its_scene_and_lacks_only_what_nobody_saw(found):
    assert found.cluster.dims == ("y", "x")
    assert found.cluster.y.equals(CUBE.y)
    assert found.cluster.attrs == {"grid": "g"}
    assert ((found.cluster == -1).values == SCENE.empty).all()
    assert ((found.confidence == 0).values == SCENE.empty).all()
    assert {*found.dataset} == {"cluster", "confidence"}
    seen = ~SCENE.empty
    assert metrics.clustering_accuracy(SCENE.truth[seen], found.cluster.values[seen]) > 0.99
    around = [f"{name} 3x3" for name in NAMES]
    assert found.model.feature_names_in_.tolist() == [*NAMES, *around]
    assert {*found.model.column_groups_} == {*BANDS, *(f"{band} 3x3" for band in BANDS)}


def test_a_map_is_that_of_the_estimator_where_nothing_is_around():
    mine = maps.cluster(CUBE, 3, context=1, smooth=1, **SMALL)
    with pytest.warns(UserWarning, match="6 of 720 rows"):
        model = PCKID(3, **SMALL).fit(CUBE)
    assert mine.cluster.equals(model.predict(CUBE).astype(np.int16).assign_attrs(grid="g"))
    np.testing.assert_allclose(mine.confidence.values.ravel(), model.confidence_, atol=1e-6)


def test_files_and_numbers_for_missing_give_the_same_map(found, tmp_path):
    floats = write_image(tmp_path / "floats.tif", FLAT, NAMES)
    integers = write_image(tmp_path / "integers.tif", as_integers(FLAT), NAMES, nodata=-9999)
    for path in (floats, str(integers)):
        assert np.array_equal(maps.cluster(path, 3, **SMALL).cluster, found.cluster)
    write_image(tmp_path / "floats.tif", as_integers(FLAT), NAMES)
    told = maps.cluster(tmp_path / "floats.tif", 3, missing=[-9999], **SMALL)
    assert np.array_equal(told.cluster, found.cluster)
    folder = tmp_path / "dates"
    folder.mkdir()
    for date, values in zip(DATES, SCENE.values, strict=True):
        write_image(folder / f"{date}.tif", values, BANDS)
    assert np.array_equal(maps.cluster(folder, 3, **SMALL).cluster, found.cluster)
    again = maps.predict(found.model, folder)
    assert np.array_equal(again.cluster, found.cluster)


@pytest.mark.parametrize("smooth", [1, 3, 5])
@pytest.mark.parametrize("context", [1, 3])
def test_windows_of_any_size_give_the_same_map(monkeypatch, smooth, context):
    scene = make_scene(seed=1, shape=(70, 90))
    monkeypatch.setattr(pool, "_POOL_ROWS", 1000)
    cube = read_cube(make_cube(scene)).with_context(context)
    made = []
    for side in (16, 64, 256):
        model = PCKID(5, **SMALL)
        sample = fit_pixels(model, cube, side)
        assert len(sample.frame) == 1000
        assert not sample.is_whole
        made.append(make_map(model, cube, smooth, side))
    for other in made[1:]:
        assert other.cluster.equals(made[0].cluster)
        np.testing.assert_allclose(other.confidence, made[0].confidence, atol=1e-4)
    assert ((made[0].cluster == -1).values == scene.empty).all()


def test_the_pixels_to_learn_from_are_those_of_a_table_in_memory(monkeypatch):
    monkeypatch.setattr(pool, "_POOL_ROWS", 1200)
    scene = make_scene(shape=(50, 60))
    flat = scene.values.reshape(-1, *scene.truth.shape)
    drawn = draw_pixels(read_cube(make_cube(scene)), 0, side=7)
    assert drawn.n_seen == (~scene.empty).sum()
    assert drawn.n_observed.tolist() == (~np.isnan(flat)).sum(axis=(1, 2)).tolist()
    rows, columns = drawn.positions.astype(int).T
    assert np.array_equal(drawn.frame.to_numpy(), flat[:, rows, columns].T, equal_nan=True)
    assert (np.diff(rows * 60 + columns) > 0).all()
    with pytest.warns(UserWarning, match="6 of 3000 rows"):
        whole = PCKID(3, **SMALL)._draw(make_cube(scene)).sample
    assert np.array_equal(np.sort(whole.origin), rows * 60 + columns)


@pytest.mark.parametrize("smooth", [1, 5])
def test_windows_with_nothing_observed_are_not_read_again(monkeypatch, smooth):
    flat = make_cube(SCENE).values.copy()
    flat[..., 8:, 16:] = np.nan
    cube = read_cube(make_cube(SCENE._replace(values=flat))).with_context(3)
    model = PCKID(3, **SMALL)
    sample = fit_pixels(model, cube, 8)
    assert sample.empty == {(y, x, y + 8, min(x + 8, 30)) for y in (8, 16) for x in (16, 24)}
    reads, read = [], Cube.read
    monkeypatch.setattr(Cube, "read", lambda *window: reads.append(window) or read(*window))
    spared, whole = (make_map(model, cube, smooth, 8, given) for given in (sample, None))
    assert len(reads) == 8 + 12
    assert spared.cluster.equals(whole.cluster)
    assert spared.confidence.equals(whole.confidence)
    assert (spared.pixels.scene.missing[8:, 16:] == 1).all()


def test_memberships_are_averaged_over_the_pixels_around_that_were_seen(rng):
    chances, seen = rng.dirichlet([1, 1, 1], (6, 7)).transpose(2, 0, 1), rng.random((6, 7)) < 0.7
    smoothed = smooth_memberships(np.where(seen, chances, np.nan), seen, 3)
    for y, x in np.argwhere(seen):
        square = slice(max(y - 1, 0), y + 2), slice(max(x - 1, 0), x + 2)
        expected = chances[:, *square][:, seen[square]].mean(axis=1)
        np.testing.assert_allclose(smoothed[:, y, x], expected)


def test_smoothing_removes_single_pixels(rng):
    noisy = CUBE + rng.normal(0, 150, CUBE.shape).astype(np.float32)
    seen = ~SCENE.empty
    plain, smoothed = (
        maps.cluster(noisy, 3, context=1, smooth=size, **SMALL).cluster.values for size in (1, 3)
    )
    changes = [count_changes(labels) for labels in (plain, smoothed)]
    assert changes[1] < 0.7 * changes[0]
    accuracy = [
        metrics.clustering_accuracy(SCENE.truth[seen], labels[seen]) for labels in (plain, smoothed)
    ]
    assert accuracy[1] >= accuracy[0]


def count_changes(labels):
    return (labels[1:] != labels[:-1]).sum() + (labels[:, 1:] != labels[:, :-1]).sum()


def test_a_scene_in_blocks_of_dask_gives_the_map_of_one_in_memory(found):
    pytest.importorskip("dask.array")
    assert maps.cluster(CUBE.chunk(y=7, x=9), 3, **SMALL).cluster.equals(found.cluster)


def test_what_cannot_be_a_map_is_told():
    for wrong in (2, 0, True, "3"):
        with pytest.raises(ValueError, match=r"smooth is .*odd number"):
            maps.cluster(CUBE, 3, smooth=wrong)
    with pytest.raises(ValueError, match="context is 4"):
        maps.cluster(CUBE, 3, context=4)
    with pytest.raises(TableError, match="No pixel has an observed value"):
        maps.cluster(CUBE.where(False), 3)
    with pytest.raises(ValueError, match="lacks 3 layers"):
        maps.predict(maps.cluster(CUBE, 3, context=1, **SMALL).model, CUBE[:, :1])


def test_a_map_is_written_as_the_shell_writes_it(found, tmp_path):
    rasterio = pytest.importorskip("rasterio")
    found.model.cluster_names_ = ["a", None, "c"]
    found.write(tmp_path / "map.tif")
    found.model.cluster_names_ = [None] * 3
    with rasterio.open(tmp_path / "map.tif") as file:
        written, tags = file.read(1), file.tags(1)
        assert file.transform.almost_equals(CUBE.rio.transform())
    assert np.array_equal(written, np.where(found.cluster < 0, 255, found.cluster))
    assert [tags[f"CLUSTER_{number}"] for number in range(3)] == ["a", "Cluster 1", "c"]


def test_one_band_and_a_part_without_values_make_maps():
    band = CUBE[0, :1].where(CUBE.x > CUBE.x[10])
    made = maps.cluster(band, 2, **SMALL).cluster
    assert ((made == -1) == band[0].isnull()).all()


@pytest.mark.slow
@pytest.mark.parametrize(("fields", "is_endless"), [(3, True), (6, False)])
def test_few_fields_cannot_be_judged_however_plain_they_are(fields, is_endless):
    rng = np.random.default_rng(10)
    kinds = rng.permutation(np.arange(fields**2) % 3).reshape(fields, fields)
    truth = kinds.repeat(48 // fields, axis=0).repeat(48 // fields, axis=1)
    level = np.array([[1, 4], [2, 8], [5, 3]])  # (kind, band)
    values = level[truth].transpose(2, 0, 1) + rng.normal(0, 0.7, (2, 48, 48))
    found = maps.cluster(xr.DataArray(values, dims=("band", "y", "x")), 3, random_state=0)
    accuracy = metrics.clustering_accuracy(truth.ravel(), found.cluster.values.ravel())
    assert accuracy > 0.95
    judged = assess(found.model, found.pixels.frame, n_resamples=2, random_state=0)
    assert judged.dependence.is_endless == is_endless
    assert (judged.answer is Answer.UNKNOWN) == is_endless
