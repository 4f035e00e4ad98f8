"""Columns of categories, from dataframes and arrays to clusters and files."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import SMALL

import pckid
from pckid import PCKID, ProbabilisticClusterKernel, UnseenCategoryWarning
from pckid.describe.categories import compare_categories
from pckid.describe.clusters import distinguishing_features
from pckid.input.validation import validate_table
from pckid.metrics import clustering_accuracy

COLOURS = ["red", None, "blue", "red", "green", "blue"]
NUMBERS = [0.0, 1.0, None, 3.0, 4.0, 5.0]
FLAGS = [True, False, True, None, False, True]
CODES = [2, np.nan, 0, 2, 1, 0]


def frames():
    """Make the same table in every library and type."""
    plain = {"colour": COLOURS, "x": NUMBERS}
    pandas = pd.DataFrame(plain)
    polars = pl.DataFrame(plain)
    arrow = pa.table(plain)
    encoded = arrow.column("colour").combine_chunks().dictionary_encode()
    return {
        "pandas objects": pandas.astype({"colour": object}),
        "pandas category": pandas.astype({"colour": "category"}),
        "pandas string": pandas.astype({"colour": "string"}),
        "pandas arrow": pandas.astype({"colour": pd.ArrowDtype(pa.string())}),
        "polars": polars,
        "polars Categorical": polars.cast({"colour": pl.Categorical}),
        "polars Enum": polars.cast({"colour": pl.Enum(["red", "green", "blue", "violet"])}),
        "arrow": arrow,
        "arrow dictionary": pa.table({"colour": encoded, "x": NUMBERS}),
    }


@pytest.mark.parametrize("kind", frames())
@pytest.mark.parametrize("features", ["from_dtype", ["colour"], [0], [True, False]])
def test_frames_of_every_kind_read_alike(kind, features):
    model = PCKID(categorical_features=features)
    values = validate_table(model, frames()[kind], reset=True)
    np.testing.assert_array_equal(values[:, 0], CODES)
    np.testing.assert_array_equal(values[:, 1], np.array(NUMBERS, dtype=float))
    assert model.categories_ == {"colour": ["blue", "green", "red"]}


@pytest.mark.parametrize(
    "X",
    [
        np.array([COLOURS, NUMBERS], dtype=object).T,
        [list(row) for row in zip(COLOURS, NUMBERS, strict=True)],
        np.ma.array(
            np.array([["red", "x", "blue", "red", "green", "blue"], NUMBERS], dtype=object).T,
            mask=np.array([[0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]]).T,
        ),
    ],
    ids=["objects", "lists", "masked"],
)
@pytest.mark.parametrize("features", ["from_dtype", [0], [-2], np.array([True, False])])
def test_arrays_of_objects_read_alike(X, features):
    model = PCKID(categorical_features=features)
    values = validate_table(model, X, reset=True)
    np.testing.assert_array_equal(values, np.array([CODES, NUMBERS], dtype=float).T)
    assert model.categories_ == {0: ["blue", "green", "red"]}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_booleans_are_categories_by_their_type_and_numbers_otherwise(library):
    frame = library({"flag": FLAGS, "x": NUMBERS})
    model = PCKID(categorical_features="from_dtype")
    validate_table(model, frame, reset=True)
    assert model.categories_ == {"flag": [False, True]}
    values = validate_table(PCKID(), frame, reset=True)
    np.testing.assert_array_equal(values[:, 0], [1, 0, 1, np.nan, 0, 1])


def test_numbers_may_be_categories(backend):
    X = np.array([[3.0, 0.5], [7.0, 1.5], [np.nan, 2.5], [3.0, 3.5]])
    model = PCKID(categorical_features=[0])
    values = validate_table(model, backend.asarray(X), reset=True)
    np.testing.assert_array_equal(np.asarray(values)[:, 0], [0, 1, np.nan, 0])
    assert model.categories_ == {0: [3.0, 7.0]}


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ("all", "categorical_features"),
        (["colour", "shape"], "names 'shape', .*: 'colour'"),
        ([2], "holds 2, .* it has 2,"),
        ([1.5], "holds 1.5, .*no column"),
        ([True], "1 entries, .* 2 columns"),
    ],
)
def test_columns_that_are_not_there_are_named(features, words):
    with pytest.raises(ValueError, match=words):
        PCKID(2, categorical_features=features).fit(frames()["polars"])


def test_names_need_a_dataframe():
    with pytest.raises(ValueError, match=r"'a', .* no names"):
        PCKID(2, categorical_features=["a"]).fit(np.eye(4))


def test_text_without_a_word_on_categories_says_what_to_pass():
    with pytest.raises(ValueError, match=r"categorical_features=\[0\]"):
        PCKID(2).fit(frames()["pandas objects"].to_numpy())


def test_what_a_column_that_is_neither_is_told_depends_on_what_it_holds():
    frame = pd.DataFrame({"a": ["1", "2", "low", "4"], "b": [[1], [2], [3], [4]]})
    with pytest.raises(ValueError, match=r"categorical_features=\['a'\]"):
        PCKID(2).fit(frame[["a"]])
    with pytest.raises(TypeError) as caught:
        PCKID(2).fit(frame[["b"]])
    assert "categories" not in str(caught.value)
    with pytest.raises(ValueError, match=r"into numbers\.$"):
        PCKID(2).fit(pl.DataFrame({"b": [[1], [2], [3], [4]]}))


def test_intervals_and_periods_of_a_category_type_are_categories():
    ages = pd.Series([3, 17, 25, 40, 41, 66] * 4)
    bins, years = pd.cut(ages, 3), pd.PeriodIndex(["2020", "2021"] * 12, freq="Y")
    frame = pd.DataFrame({"age": bins, "year": pd.Categorical(years), "x": ages % 7})
    model = PCKID(2, **SMALL).fit(frame)
    assert [len(known) for known in model.categories_.values()] == [3, 2]
    np.testing.assert_array_equal(model.predict(frame), model.labels_)


def test_dates_of_a_category_type_are_refused_as_dates_are():
    days = pd.Categorical(pd.to_datetime(["2020-01-01", "2020-01-02"] * 6))
    with pytest.raises(ValueError, match=r"Column 'day' .* datetime64"):
        PCKID(2).fit(pd.DataFrame({"day": days, "x": range(12)}))


@pytest.mark.parametrize("kind", frames())
def test_text_and_categories_of_a_frame_are_categories_by_default(kind):
    model, told = PCKID(), PCKID(categorical_features=["colour"])
    frame = frames()[kind]
    np.testing.assert_array_equal(
        validate_table(model, frame, reset=True), validate_table(told, frame, reset=True)
    )
    assert model.categories_ == told.categories_ != {}
    assert model.categorical_features is None


@pytest.mark.parametrize("library", ["pandas", "arrow", "arrow in pandas"])
def test_categories_of_numbers_are_categories_by_default(library):
    frame = pd.DataFrame({"code": pd.Categorical([3, 7, 3, 5, 7]), "x": range(5)})
    if library != "pandas":
        frame = pa.Table.from_pandas(frame)
    if library == "arrow in pandas":
        frame = frame.replace_schema_metadata(None).to_pandas(types_mapper=pd.ArrowDtype)
    model = PCKID()
    values = validate_table(model, frame, reset=True)
    np.testing.assert_array_equal(values[:, 0], [0, 2, 0, 1, 2])
    assert model.categories_ == {"code": [3, 5, 7]}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_numbers_with_a_few_texts_are_no_categories_by_default(library):
    frame = library({"a": ["1", "2", "low", "4"], "b": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(ValueError, match="'a' holds 'low' in row 2,"):
        validate_table(PCKID(), frame, reset=True)
    frame = library({"a": ["1", "2", None, "4"], "b": [1.0, 2.0, 3.0, 4.0]})
    values = validate_table(PCKID(), frame, reset=True)
    np.testing.assert_array_equal(values[:, 0], [1, 2, np.nan, 4])


@pytest.mark.parametrize(
    ("cells", "hint"),
    [
        (["1,5", "2,25", None, "-4"], "Write a point for the decimal comma"),
        (["1.234,50", "2.000,00", "17,10", "8"], "Remove its thousands separators"),
        (["10 %", "20 %", "20 %", "40 %"], "Take the percent sign out"),
        (["$5", "$7.50", "€8", "10"], "Take the currency out"),
    ],
)
def test_numbers_written_for_people_are_no_categories_by_default(cells, hint):
    frame = pd.DataFrame({"a": cells, "b": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(ValueError, match=f"'a' holds .* in row 0,.*{hint}"):
        validate_table(PCKID(), frame, reset=True)
    declared = PCKID(categorical_features=["a"])
    validate_table(declared, frame, reset=True)
    assert "a" in declared.categories_


def mixed(seed=0, n_samples=120):
    """Draw three groups that differ in a number and in two columns of categories."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_samples) % 3
    near = np.where(rng.random(n_samples) < 0.85, truth, rng.integers(3, size=n_samples))
    frame = pd.DataFrame(
        {
            "x": rng.standard_normal(n_samples) + 2.5 * truth,
            "colour": np.array(["red", "green", "blue"], dtype=object)[near],
            "shape": np.array(["round", "square", "flat"], dtype=object)[(truth + 1) % 3],
        }
    )
    holes = rng.random(frame.shape) < 0.2
    holes[:, 0] &= ~holes[:, 2]
    return frame.astype(object).where(~holes, None).astype({"x": float}), truth


@pytest.fixture(scope="module")
def fitted():
    frame, truth = mixed()
    return PCKID(3, categorical_features="from_dtype", **SMALL).fit(frame), frame, truth


def test_categories_help_to_find_the_groups(fitted):
    model, frame, truth = fitted
    numbers = PCKID(3, **SMALL).fit(frame[["x"]].fillna(0.0))
    accuracy = clustering_accuracy
    assert accuracy(truth, model.labels_) > 0.9
    assert accuracy(truth, model.labels_) > accuracy(truth, numbers.labels_)


def test_rows_with_categories_alone_are_clustered(fitted):
    model, frame, _ = fitted
    alone = frame.x.isna() & ~frame.colour.isna()
    assert alone.any()
    assert (model.labels_[alone] >= 0).all()


def test_the_names_of_categories_do_not_matter(fitted):
    model, frame, _ = fitted
    other = frame.assign(colour=frame.colour.map({"red": 7, "green": 3, "blue": 5}))
    again = PCKID(3, categorical_features=["colour", "shape"], **SMALL).fit(other)
    np.testing.assert_allclose(again.embedding_, model.embedding_, atol=1e-8)


def test_unseen_categories_are_missing_and_warned_of_once(fitted, golden):
    model, frame, _ = fitted
    new = frame.assign(colour="violet", shape=["odd", "even"] * 60)
    with pytest.warns(UnseenCategoryWarning) as caught:
        labels = model.predict(new)
    assert len(caught) == 1
    golden(str(caught[0].message))
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(labels, model.predict(new.assign(colour=None, shape=None)))


def test_columns_that_tell_nothing_are_left_out_and_named(fitted):
    model, frame, _ = fitted
    names = [f"row {i}" for i in range(len(frame))]
    wider = frame.assign(name=names, same="x", none=pd.Series([None] * len(frame), dtype=object))
    again = PCKID(3, categorical_features="from_dtype", **SMALL).fit(wider)
    assert again.dropped_features_ == ["name", "same", "none"]
    np.testing.assert_allclose(again.embedding_, model.embedding_, atol=1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again.predict(wider.assign(name="someone else"))


@pytest.mark.parametrize("n_clusters", [2, 3, "auto"])
@pytest.mark.parametrize("columns", [["colour"], ["colour", "shape"], ["colour", "same"]])
def test_categories_that_always_come_together_are_clusters(columns, n_clusters):
    group = np.arange(90) % 3
    frame = pd.DataFrame(
        {
            "colour": np.array(["red", "blue", "green"])[group],
            "shape": np.array(["ball", "cube", "cone"])[group],
            "same": 1.0,
        }
    )
    model = PCKID(n_clusters, **SMALL).fit(frame[columns])
    assert len(set(model.labels_)) == (3 if n_clusters == "auto" else n_clusters)
    assert all(len(set(model.labels_[group == each])) == 1 for each in range(3))
    assert set(model.dropped_features_) <= {"same"}


def test_weights_of_rows_that_categories_alone_tell_apart():
    frame = pd.DataFrame({"colour": ["red", "blue", "green", "red"], "shape": ["a", "b", "c", "a"]})
    model = PCKID(3, **SMALL).fit(frame, sample_weight=[1.5, 2.0, 1.0, 0.5])
    assert sorted(model.labels_) in ([0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2])
    assert model.labels_[0] == model.labels_[3]


def test_too_many_categories_are_refused_with_the_column():
    frame = pd.DataFrame({"name": [f"n{i % 300}" for i in range(301)], "x": np.arange(301.0)})
    with pytest.raises(ValueError, match=r"'name' holds 300 .* 301 rows; .* 255"):
        PCKID(2, categorical_features="from_dtype").fit(frame)


def test_values_that_are_no_categories_are_refused():
    frame = pd.DataFrame({"a": [[1], [2], [1]], "x": [1.0, 2.0, 3.0]})
    with pytest.raises(TypeError, match=r"'a' .* no categories"):
        PCKID(2, categorical_features=["a"]).fit(frame)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "column 'colour' .* covariance_type='diag'.$"),
        ({"missingness": "informative"}, "='informative' .* covariance_type='diag'.$"),
    ],
)
def test_full_covariances_take_numbers_alone(parameters, words):
    frame = mixed()[0]
    frame = frame[["x"]] if parameters else frame
    with pytest.raises(ValueError, match=words):
        PCKID(2, covariance_type="full", **parameters).fit(frame)


@pytest.mark.parametrize("missingness", ["ignorable", "informative"])
@pytest.mark.parametrize("columns", [["x", "colour"], ["colour", "shape"]])
def test_saved_and_loaded_are_equal(tmp_path, columns, missingness):
    frame = mixed()[0][columns]
    kernel = ProbabilisticClusterKernel(
        categorical_features="from_dtype", missingness=missingness, **SMALL
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pckid.EmptyRowWarning)
        kernel.fit(frame)
    pckid.save(kernel, tmp_path / "model")
    again = pckid.load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(frame), kernel.transform(frame))
    assert again.categories_ == kernel.categories_
    assert again.get_params() == kernel.get_params()


def test_categories_that_json_cannot_hold_are_refused_when_saving(tmp_path):
    days = pd.to_datetime(["2020-01-01", "2020-01-02"] * 6)
    frame = pd.DataFrame({"day": days.to_pydatetime(), "x": np.arange(12.0)}, dtype=object)
    model = ProbabilisticClusterKernel(categorical_features=["day"], **SMALL).fit(frame)
    with pytest.raises(TypeError, match="column 'day' are neither"):
        pckid.save(model, tmp_path / "model")


def test_names_of_rows_are_not_stored(tmp_path):
    frame, _ = mixed()
    frame = frame.assign(name=[f"secret {i}" for i in range(len(frame))])
    model = ProbabilisticClusterKernel(categorical_features="from_dtype", **SMALL).fit(frame)
    pckid.save(model, tmp_path / "model")
    assert b"secret" not in (tmp_path / "model").read_bytes()


def test_profiles_share_out_the_categories(fitted):
    model, frame, _ = fitted
    for column in ("colour", "shape"):
        shares = model.cluster_profiles_.category_shares[column]
        for cluster in range(3):
            for code, category in enumerate(model.categories_[column]):
                mine = frame[column][model.labels_ == cluster]
                expected = (mine == category).sum() / mine.notna().sum()
                np.testing.assert_allclose(shares[cluster, code], expected)


def test_clusters_are_described_by_their_commonest_categories(fitted):
    model, frame, _ = fitted
    codes = validate_table(model, frame, reset=False)
    for cluster, ranked in enumerate(
        distinguishing_features(codes, model.labels_, model._categories)
    ):
        (item,) = [item for item in ranked if item.feature == 2]
        mine = frame["shape"][model.labels_ == cluster]
        category, inside, _ = item.common[0]
        assert category == mine.mode()[0]
        np.testing.assert_allclose(inside, (mine == category).sum() / mine.notna().sum())
        assert item.n_missing == mine.isna().sum()
        assert item.distinctness > 0.5


def test_categories_that_clusters_share_say_nothing():
    codes, labels = np.tile([0.0, 0.0, 1.0, 1.0], 5), np.tile([0, 1], 10)
    for item in compare_categories(0, codes, labels, ["a", "b"], 2):
        assert item.distinctness == 0
    apart = compare_categories(0, labels.astype(float), labels, ["a", "b"], 2)
    assert [item.distinctness for item in apart] == [1, 1]
    assert [item.common for item in apart] == [[("a", 1.0, 0.0)], [("b", 1.0, 0.0)]]


@pytest.mark.parametrize("columns", [["x", "colour", "shape"], ["colour", "shape"]])
def test_reports_name_the_commonest_categories(columns):
    frame, _ = mixed()
    frame = frame[columns].fillna({"colour": "red"})
    model = PCKID(3, categorical_features="from_dtype", **SMALL).fit(frame)
    page = pckid.report(model, frame, assessment=False).html
    assert "columns of categories" in page
    assert "<bdi>round</bdi>" in page
    assert ("<bdi>x</bdi>" in page) == ("x" in columns)


@pytest.mark.parametrize(
    "parameters", [{"categorical_features": [0]}, {"missingness": "informative"}]
)
def test_tables_in_blocks_take_numbers_alone(parameters):
    dask = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=f"{next(iter(parameters))}.* in memory"):
        PCKID(2, **parameters).fit(dask.ones((20, 2), chunks=(10, 2)))
