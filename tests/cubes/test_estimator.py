"""Estimators on xarray objects: pixels are rows, and results are maps."""

import numpy as np
import pytest
from helpers import SMALL, close
from scenes import BANDS, DATES, NAMES, make_cube, make_scene

from pckid import PCKID, EmptyRowWarning, assess, explain, load, metrics, save

pd = pytest.importorskip("pandas")
xr = pytest.importorskip("xarray")
pytestmark = pytest.mark.filterwarnings("ignore::pckid.EmptyRowWarning")

SCENE = make_scene()
CUBE = make_cube(SCENE, units="1", grid="g").assign_coords(spatial_ref=0)
FRAME = pd.DataFrame(SCENE.values.reshape(len(NAMES), -1).T, columns=NAMES)
GROUPS = {band: [f"{band} {date}" for date in DATES] for band in BANDS}


@pytest.fixture(scope="module")
def model():
    return PCKID(3, **SMALL).fit(CUBE)


def test_a_cube_is_the_table_of_its_pixels(model):
    expected = PCKID(3, column_groups=GROUPS, **SMALL).fit(FRAME)
    assert np.array_equal(model.labels_, expected.labels_)
    assert model.column_groups_ == GROUPS
    assert model.feature_names_in_.tolist() == NAMES
    seen = ~SCENE.empty
    found = model.labels_.reshape(seen.shape)
    assert ((found == -1) == ~seen).all()
    assert metrics.clustering_accuracy(SCENE.truth[seen], found[seen]) > 0.95


def test_what_comes_out_is_a_map(model):
    found = model.predict(CUBE)
    assert found.dims == ("y", "x")
    assert found.shape == SCENE.truth.shape
    assert {*found.coords} == {"y", "x", "spatial_ref"}
    assert found.y.equals(CUBE.y)
    assert found.x.equals(CUBE.x)
    assert found.attrs == {"grid": "g"}
    assert np.array_equal(found.values.ravel(), model.labels_)
    close(model.assign(CUBE).confidence.values.ravel(), model.confidence_)
    chances = model.predict_proba(CUBE)
    assert chances.dims == ("cluster", "y", "x")
    assert (chances.argmax("cluster") == found).where(found >= 0, True).all()
    assert model.transform(CUBE).dims == ("component", "y", "x")
    assert np.isnan(model.outlier_score(CUBE).values[SCENE.empty]).all()
    assert model.missing_instability(CUBE, 2).dims == ("y", "x")
    assert model.score(CUBE) == model.score(FRAME)
    fitted = PCKID(3, **SMALL).fit_predict(CUBE)
    assert np.array_equal(fitted, found.values.ravel())


def test_imputed_values_have_the_form_of_the_cube(model):
    found, expected = model.impute(CUBE), model.impute(FRAME)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.dims == CUBE.dims
        close(mine.values.reshape(len(NAMES), -1).T, theirs.to_numpy(), "float32")
    data = CUBE.to_dataset("band")
    imputed = PCKID(3, **SMALL).fit(data).impute(data).values
    assert isinstance(imputed, xr.Dataset)
    assert imputed.B08.dims == ("time", "y", "x")
    assert not imputed.B08.isnull().all("time").where(~SCENE.empty, False).any()


@pytest.mark.parametrize("chunks", [{"y": 5, "x": 7}, {"time": 1, "band": 1}, -1])
def test_dask_gives_the_maps_of_memory_when_asked_for(model, chunks):
    dask = pytest.importorskip("dask")
    lazy = CUBE.chunk(chunks)
    with dask.config.set(scheduler="synchronous"):
        fitted = PCKID(3, **SMALL).fit(lazy)
        found = fitted.predict(lazy)
        assert dask.is_dask_collection(found.data)
        assert dask.is_dask_collection(fitted.labels_)
        assert fitted.feature_names_in_.tolist() == NAMES
        assert fitted.column_groups_ == GROUPS
        assert found.y.equals(CUBE.y)
        assert np.array_equal(found.values.ravel(), model.labels_)
        close(fitted.predict_proba(lazy).values, model.predict_proba(CUBE).values)
        with pytest.raises(ValueError, match="another order"):
            fitted.predict(lazy[:, ::-1])


def test_means_of_neighbours_are_computed_where_a_model_knows_them():
    cube = make_cube(SCENE)
    around = xr.concat(
        [cube, cube.rolling(y=3, x=3, center=True, min_periods=1).mean()], dim="band"
    ).assign_coords(band=[*BANDS, *(f"{band} mean" for band in BANDS)])
    names = [*NAMES, *(f"{name} 3x3" for name in NAMES)]
    around = around.where(~SCENE.empty)
    wide = around.values[:, [0, 1]], around.values[:, [2, 3]]
    table = np.concatenate([part.reshape(len(NAMES), -1) for part in wide]).T
    fitted = PCKID(3, **SMALL).fit(pd.DataFrame(table, columns=names))
    assert np.array_equal(fitted.predict(cube).values.ravel(), fitted.labels_)
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="synchronous"):
        lazy = fitted.predict(cube.chunk(y=5, x=8))
    assert np.array_equal(lazy.values.ravel(), fitted.labels_)


def test_known_pixels_are_a_map_in_any_order_of_its_dimensions():
    known = xr.full_like(CUBE[0, 0], -1)
    known[3, 2], known[20, 28], known[5, 15] = 7, 8, 9
    found = PCKID(3, **SMALL).fit(CUBE, known=known.T)
    labels = found.labels_.reshape(SCENE.truth.shape)
    names = [found.cluster_names_[labels[place]] for place in [(3, 2), (20, 28), (5, 15)]]
    assert names == ["7", "8", "9"]


def test_layers_are_those_of_the_fit_and_in_its_order(model, tmp_path):
    path = tmp_path / "model.pckid"
    save(model, path)
    loaded = load(path)
    assert loaded.predict(CUBE).equals(model.predict(CUBE))
    with pytest.raises(ValueError, match="another order: 'B08 2016-03-17' where"):
        loaded.predict(CUBE[:, ::-1])
    with pytest.raises(ValueError, match=r"lacks 3 layers .*: B04.* and has 3 layers more"):
        loaded.predict(CUBE.assign_coords(band=["B05", "B08"]))


def test_other_functions_take_cubes(model):
    labels = [each.number for each in explain(model, CUBE).clusters]
    assert labels == [0, 1, 2]


@pytest.mark.slow
def test_a_verdict_knows_where_pixels_are(model):
    found = assess(model, CUBE, n_null=5, n_resamples=0)
    assert found.dependence.reach > 3
    assert assess(model, CUBE, n_null=5, n_resamples=0).n_clusters == 3


def test_a_matrix_of_xarray_is_a_table_as_ever():
    rows = xr.DataArray(FRAME.to_numpy()[:60], dims=("sample", "feature"))
    found = PCKID(2, **SMALL).fit(rows)
    assert np.array_equal(found.predict(rows), found.labels_)


def test_pixels_without_a_value_are_counted():
    with pytest.warns(EmptyRowWarning, match="6 of 720 rows"):
        PCKID(3, **SMALL).fit(CUBE)
