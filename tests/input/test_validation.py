"""Tables of any kind become the same array, and what cannot be read gets a sentence that helps."""

import datetime
import decimal
import re

import numpy as np
import pytest
import scipy.sparse
from helpers import SMALL, groups

from pckid import PCKID, IncompleteGaussianMixture, ProbabilisticClusterKernel
from pckid.input.validation import validate_table
from pckid.mixture import IncompleteGaussianMixture as Mixture

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

EXPECTED = np.array([[1.0, np.nan, 3.0], [np.nan, 5.0, 1.0], [7.0, 8.0, 0.0]])
NULLS = [[1.0, None, 7.0], [None, 5.0, 8.0], [3.0, 1.0, 0.0]]
COLUMNS = dict(zip("abc", NULLS, strict=True))
INTEGERS = {
    name: [None if v is None else int(v) for v in values] for name, values in COLUMNS.items()
}
MASKED = np.ma.masked_invalid(EXPECTED)


def read(X):
    return validate_table(PCKID(), X, reset=True)


def pandas_as(dtype):
    return pd.DataFrame({name: pd.array(values, dtype=dtype) for name, values in INTEGERS.items()})


SAME = {
    "array": lambda: EXPECTED,
    "list of lists": lambda: EXPECTED.tolist(),
    "tuples with None": lambda: tuple(zip(*NULLS, strict=True)),
    "objects with None": lambda: np.array(NULLS, dtype=object).T,
    "objects with NA": lambda: (
        np.array([[pd.NA if v is None else v for v in row] for row in NULLS], dtype=object).T
    ),
    "decimals": lambda: (
        np.array(
            [[None if v is None else decimal.Decimal(v) for v in row] for row in NULLS],
            dtype=object,
        ).T
    ),
    "strings of numbers": lambda: EXPECTED.astype(str),
    "masked": lambda: MASKED,
    "masked integers": lambda: np.ma.array(
        np.nan_to_num(EXPECTED).astype(int), mask=np.isnan(EXPECTED)
    ),
    "fortran order": lambda: np.asfortranarray(EXPECTED),
    "float16": lambda: EXPECTED.astype(np.float16),
    "longdouble": lambda: EXPECTED.astype(np.longdouble),
    "pandas": lambda: pd.DataFrame(EXPECTED, columns=list("abc")),
    "pandas without names": lambda: pd.DataFrame(EXPECTED),
    "pandas objects": lambda: pd.DataFrame(COLUMNS, dtype=object),
    "pandas objects with NA": lambda: (
        pd.DataFrame(COLUMNS).astype(object).where(~np.isnan(EXPECTED), pd.NA)
    ),
    "pandas Int64": lambda: pandas_as("Int64"),
    "pandas Float64": lambda: pandas_as("Float64"),
    "pandas Float32": lambda: pandas_as("Float32"),
    "pandas arrow": lambda: pandas_as("int64[pyarrow]"),
    "pandas sparse": lambda: pd.DataFrame(COLUMNS).astype(pd.SparseDtype("float64", np.nan)),
    "pandas decimals": lambda: pd.DataFrame(
        {
            name: pd.Series([None if v is None else decimal.Decimal(v) for v in values])
            for name, values in INTEGERS.items()
        }
    ),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars NaN": lambda: pl.DataFrame(EXPECTED, schema=list("abc")),
    "polars integers": lambda: pl.DataFrame(INTEGERS),
    "polars 128 bits": lambda: pl.DataFrame(INTEGERS).cast(pl.Int128),
    "polars decimals": lambda: pl.DataFrame(INTEGERS).cast(pl.Decimal(10, 2)),
    "polars strings of numbers": lambda: pl.DataFrame(INTEGERS).cast(pl.String),
    "arrow": lambda: pa.table(COLUMNS),
    "arrow integers": lambda: pa.table(INTEGERS),
    "arrow small": lambda: pa.table({n: pa.array(v, type=pa.uint8()) for n, v in INTEGERS.items()}),
    "arrow decimals": lambda: pa.table(
        {n: pa.array(v, type=pa.int64()).cast(pa.decimal128(21, 2)) for n, v in INTEGERS.items()}
    ),
    "arrow chunks": lambda: pa.concat_tables(
        [pa.table(COLUMNS).slice(0, 2), pa.table(COLUMNS).slice(2)]
    ),
}


@pytest.mark.parametrize(
    "nothing",
    [
        pd.NaT,
        pd.NA,
        None,
        np.datetime64("NaT", "s"),
        np.timedelta64("NaT", "s"),
        np.float32("nan"),
        "NaN",
    ],
    ids=repr,
)
def test_every_mark_of_a_missing_value_among_objects(nothing):
    X = np.array([[1.0, 2.0], [nothing, 4.0]], dtype=object)
    np.testing.assert_array_equal(read(X), [[1.0, 2.0], [np.nan, 4.0]])


@pytest.mark.parametrize("text", ["12", " 12 ", "+12", "12.", "1.2e1", "120E-1", ".12e+2"])
def test_text_that_is_a_number(text):
    for cell in (text, text.encode()):
        X = np.array([[1.0, cell]], dtype=object)
        np.testing.assert_array_equal(read(X), [[1.0, 12.0]])


@pytest.mark.parametrize("kind", SAME)
def test_tables_of_every_kind_read_alike(kind):
    values = read(SAME[kind]())
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values, EXPECTED)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(COLUMNS).astype("category"),
        pa.table({n: pa.array(v).dictionary_encode() for n, v in COLUMNS.items()}),
    ],
    ids=["pandas", "arrow"],
)
def test_categories_of_numbers_are_numbers_if_so_asked(frame):
    values = validate_table(PCKID(categorical_features=[]), frame, reset=True)
    np.testing.assert_array_equal(values, EXPECTED)


BOOLEANS = {
    "array": lambda: np.array([[True, False], [False, True]]),
    "pandas": lambda: pd.DataFrame({"a": [True, False], "b": [False, True]}),
    "pandas nullable": lambda: pd.DataFrame({"a": [True, False], "b": [False, True]}).astype(
        "boolean"
    ),
    "polars": lambda: pl.DataFrame({"a": [True, False], "b": [False, True]}),
    "arrow": lambda: pa.table({"a": [True, False], "b": [False, True]}),
}


@pytest.mark.parametrize("kind", BOOLEANS)
def test_true_and_false_are_one_and_zero(kind):
    np.testing.assert_array_equal(read(BOOLEANS[kind]()), np.eye(2))


@pytest.mark.parametrize(
    "frame",
    [
        lambda: pd.DataFrame({"a": [1.0, 2.0], "b": [None, None]}),
        lambda: pl.DataFrame({"a": [1.0, 2.0], "b": [None, None]}),
        lambda: pa.table({"a": [1.0, 2.0], "b": [None, None]}),
    ],
)
def test_columns_of_nulls_are_missing(frame):
    np.testing.assert_array_equal(read(frame()), [[1.0, np.nan], [2.0, np.nan]])


def test_float32_stays_and_nothing_is_written_to():
    X = EXPECTED.astype(np.float32)
    X.flags.writeable = False
    assert read(X).dtype == np.float32


@pytest.mark.parametrize(
    "kind", ["pandas", "polars", "arrow", "pandas Int64", "masked", "list of lists"]
)
def test_clusters_of_frames_are_those_of_the_array(kind):
    X = groups()[0].round()
    nulls = [[None if np.isnan(v) else v for v in column] for column in X.T]
    columns = dict(zip("abcd", nulls, strict=True))
    make = {
        "pandas": lambda: pd.DataFrame(columns),
        "pandas Int64": lambda: pd.DataFrame(columns).astype("Int64"),
        "polars": lambda: pl.DataFrame(columns),
        "arrow": lambda: pa.table(columns),
        "masked": lambda: np.ma.masked_invalid(X),
        "list of lists": lambda: X.tolist(),
    }
    expected = PCKID(3, **SMALL).fit(X)
    model = PCKID(3, **SMALL).fit(make[kind]())
    assert isinstance(model.labels_, np.ndarray)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(make[kind]()), expected.labels_)


class TestNames:
    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_are_kept(self, make):
        model = Mixture(2, tol=0.1, random_state=0).fit(make(COLUMNS))
        np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
        assert model.n_features_in_ == 3

    def test_that_are_no_text_are_not_kept(self):
        model = Mixture(2, tol=0.1, random_state=0).fit(pd.DataFrame(EXPECTED))
        assert not hasattr(model, "feature_names_in_")

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda c: {n: c[n] for n in "bac"}, "the same order"),
            (lambda c: {n: c[n] for n in "ab"}, "now missing:\n- c"),
            (lambda c: {**c, "d": c["a"]}, "fit time:\n- d"),
            (lambda c: dict(zip("abx", c.values(), strict=True)), "fit time:\n- x"),
        ],
    )
    def test_must_match_at_predict(self, make, change, message):
        model = Mixture(2, tol=0.1, random_state=0).fit(make(COLUMNS))
        with pytest.raises(ValueError) as caught:
            model.predict(make(change(COLUMNS)))
        assert message in str(caught.value)

    @pytest.mark.parametrize(
        ("make", "names"),
        [
            (pd.DataFrame, "bac"),
            (pl.DataFrame, "dbac"),
            (pd.DataFrame, "abcd"),
            (pd.DataFrame, "ba"),
        ],
    )
    def test_of_the_fit_are_had_as_the_error_says(self, make, names):
        model = Mixture(2, tol=0.1, random_state=0).fit(make(COLUMNS))
        X = make({name: COLUMNS.get(name, COLUMNS["a"]) for name in names})
        with pytest.raises(ValueError) as caught:
            model.predict(X)
        code = re.search(r"X[\[.].*?\)[\])]", str(caught.value))[0]
        known = {name: COLUMNS[name] if name in names else [None] * len(EXPECTED) for name in "abc"}
        expected = model.predict(make(known))
        np.testing.assert_array_equal(model.predict(eval(code, {"X": X, "model": model})), expected)

    def test_number_of_columns_must_match_at_predict(self):
        model = Mixture(2, tol=0.1, random_state=0).fit(EXPECTED)
        with pytest.raises(ValueError, match=r"2 features, but .* 3 features"):
            model.predict(EXPECTED[:, :2])


def frames(values):
    """Make one column named `bad` of some values, in every dataframe library."""
    good = [1.0, 2.0, 3.0]
    yield pd.DataFrame({"good": good, "bad": values})
    yield pl.DataFrame({"good": good, "bad": values}, strict=False)
    yield pa.table({"good": good, "bad": values})


def cell(column, row=None, value=".*"):
    """Return how errors name a value and its place; all of the sentence is tested once for each."""
    return f"Column {column} holds {value}" + ("" if row is None else f" in row {row}")


class TestRefusals:
    @pytest.mark.parametrize("estimator", [PCKID(2), ProbabilisticClusterKernel(), Mixture(2)])
    @pytest.mark.parametrize("value", [np.inf, -np.inf])
    def test_infinity_is_located(self, estimator, value):
        X = groups()[0]
        X[17, 2] = value
        message = f"Column 2 holds {value} in row 17 .*NaN"
        with pytest.raises(ValueError, match=message):
            estimator.fit(X)

    def test_infinity_is_located_on_every_array_library(self, backend):
        X = groups()[0]
        X[17, 2] = np.inf
        with pytest.raises(ValueError, match=cell(2, 17, "inf")):
            PCKID(2).fit(backend.asarray(X))

    def test_infinity_is_located_by_name(self):
        for frame in frames([1.0, np.inf, 2.0]):
            with pytest.raises(ValueError, match=cell("'bad'", 1, "inf")):
                PCKID(2).fit(frame)

    def test_infinity_is_refused_at_predict(self):
        model = Mixture(2, tol=0.1, random_state=0).fit(EXPECTED)
        with pytest.raises(ValueError, match=cell(0, 0, "inf")):
            model.predict([[np.inf, 1.0, 2.0]])

    @pytest.mark.parametrize("text", ["blue", "Complex", "nan?", ""])
    def test_text_is_located_by_name(self, text):
        for frame in frames(["1.5", text, "2"]):
            with pytest.raises((ValueError, TypeError)) as caught:
                read(frame)
            message = str(caught.value)
            assert f"'bad' holds {text!r} in row 1," in message
            assert "into numbers" in message

    @pytest.mark.parametrize(
        "X",
        [
            [[1.0, "blue"], [2.0, 3.0]],
            np.array([[1.0, "blue"], [2.0, 3.0]], dtype=object),
            np.array([["1", "blue"], ["2", "3"]]),
        ],
    )
    def test_text_is_located_by_number(self, X):
        with pytest.raises(ValueError, match=cell(1, 0, "'blue'")):
            read(X)

    def test_categories_of_text_are_located(self):
        for frame in (
            pd.DataFrame({"bad": ["x", "y"]}).astype("category"),
            pl.DataFrame({"bad": ["x", "y"]}).cast(pl.Categorical),
            pa.table({"bad": pa.array(["x", "y"]).dictionary_encode()}),
        ):
            with pytest.raises(ValueError, match=cell("'bad'", 0, "'x'")):
                validate_table(PCKID(categorical_features=[]), frame, reset=True)

    @pytest.mark.parametrize(
        "values",
        [
            [datetime.datetime(2020, 1, day) for day in (1, 2, 3)],
            [datetime.timedelta(days=day) for day in (1, 2, 3)],
            [datetime.date(2020, 1, day) for day in (1, 2, 3)],
            [[1.0], [2.0], [3.0]],
        ],
        ids=["datetimes", "durations", "dates", "lists"],
    )
    def test_columns_of_no_numbers_are_refused_by_name(self, values):
        for frame in frames(values):
            with pytest.raises((ValueError, TypeError), match=cell("'bad'")):
                read(frame)

    @pytest.mark.parametrize(
        ("values", "named"),
        [
            (pd.date_range("2020", periods=3, tz="UTC"), ".*datetime64"),
            (pd.period_range("2020-01", periods=3, freq="M"), r".*period\[M\].*days since"),
        ],
        ids=["zone", "periods"],
    )
    def test_dates_that_pandas_alone_has_are_refused_by_name(self, values, named):
        with pytest.raises(ValueError, match=cell("'bad'", value=named)):
            read(pd.DataFrame({"bad": values}))

    @pytest.mark.parametrize("kind", ["datetime64[D]", "timedelta64[D]"])
    def test_arrays_of_dates_are_refused(self, kind):
        X = np.arange(6).astype(kind).reshape(3, 2)
        with pytest.raises(ValueError, match="dates or durations"):
            read(X)

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (np.arange(4.0), "Expected 2D array, got 1D"),
            (np.zeros((2, 2, 2)), "dim 3"),
            (5.0, "2D array, got scalar"),
            (np.zeros((0, 3)), "0 sample"),
            (np.zeros((3, 0)), "0 feature"),
            (np.ones((3, 2), dtype=complex), "Complex data"),
            ([[1.0, 2.0], [3.0]], "Row 1 holds 1 .* row 0 holds 2"),
            (pd.DataFrame({"a": []}), "0 sample"),
            (pd.DataFrame(index=[0, 1]), "0 feature"),
            (pl.DataFrame({"a": []}), "0 sample"),
            (pd.DataFrame({"a": [1j, 2j]}), "Complex data"),
            (pd.Series([1.0, 2.0]), "Expected a 2-dimensional container"),
            (pl.Series([1.0, 2.0]), "Expected 2D"),
            (np.ma.array([1.0, 2.0], mask=[True, False]), "Expected 2D"),
        ],
    )
    @pytest.mark.parametrize("estimator", [PCKID(2), IncompleteGaussianMixture(2)])
    def test_wrong_shapes_and_kinds(self, estimator, X, message):
        with pytest.raises(ValueError, match=message):
            estimator.fit(X)

    @pytest.mark.parametrize(("row", "kind"), [({"a": 1, "b": 2}, "dict"), ("text", "str")])
    def test_lists_of_what_is_no_row(self, row, kind):
        with pytest.raises(TypeError, match=f"got list of {kind}. Give rows and columns"):
            read([row, row])

    @pytest.mark.parametrize(
        "X",
        [np.empty((0, 3)), np.empty((3, 0)), np.ma.empty((0, 3)), [], pd.DataFrame({"a": []})],
        ids=["rows", "columns", "masked", "list", "frame"],
    )
    def test_empty_tables_with_categories(self, X):
        with pytest.raises(ValueError, match=r"minimum of 1|Expected 2D"):
            PCKID(2, categorical_features=[0]).fit(X)

    @pytest.mark.parametrize("value", ["blue", 1j, datetime.date(2020, 1, 1)])
    def test_masked_arrays_of_other_things_are_located(self, value):
        X = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[True, False], [False, False]])
        X = X.astype(object)
        X[1, 1] = value
        with pytest.raises((ValueError, TypeError), match=cell(1, 1)):
            read(X)

    @pytest.mark.parametrize(
        "value",
        [
            np.complex128(1 + 2j),
            np.complex64(1),
            np.datetime64("2020-01-01"),
            np.timedelta64(3, "D"),
            np.array("2020", dtype="datetime64[Y]"),
            pd.Timestamp("2020"),
            "1_000",
            b"1_000",
            "٣",
            "1 000",
            "1e",
            np.void(b"7"),
        ],
        ids=repr,
    )
    def test_objects_that_numpy_would_coerce_are_located(self, value):
        cells = np.array([2.0, None, 3.0], dtype=object)
        cells[1] = value
        array, objects = np.stack([cells, cells], axis=1), pl.Series(cells, dtype=pl.Object)
        tables = (
            array,
            np.ma.array(array),
            pd.DataFrame({"0": cells}),
            pl.DataFrame({"0": objects}),
        )
        for X in tables:
            with pytest.raises((ValueError, TypeError)) as caught:
                read(X)
            sentence = r"Column '?0'? holds .* in row 1, .* not a number\."
            assert re.match(sentence, str(caught.value)), str(caught.value)

    def test_underscores_between_digits_get_a_hint(self):
        for frame in frames(["1_000", "2", "3"]):
            with pytest.raises(ValueError, match=r"'1_000' .* thousands"):
                read(frame)

    @pytest.mark.parametrize(
        "values",
        [
            pd.to_datetime(["2020", "2021", "2020"]),
            pd.to_timedelta([1, 2, 1], unit="D"),
            np.array([1j, 2j, 1j]),
        ],
        ids=["dates", "durations", "complex"],
    )
    def test_categories_of_dates_are_refused_by_name(self, values):
        frame = pd.DataFrame({"bad": values}).astype("category")
        with pytest.raises(ValueError, match=r"[Cc]olumn 'bad'"):
            read(frame)
        coded = pa.array(frame["bad"].astype(object).astype(str)).dictionary_encode()
        with pytest.raises(ValueError, match=cell("'bad'", 0)):
            validate_table(PCKID(categorical_features=[]), pa.table({"bad": coded}), reset=True)

    @pytest.mark.parametrize("unit", ["us", "ns"])
    def test_arrow_dictionaries_of_dates_are_refused_in_pandas(self, unit):
        dates = pd.to_datetime(["2020", "2021", "2020"]).as_unit(unit)
        dates = pa.array(dates).dictionary_encode()
        frame = pd.DataFrame({"bad": pd.array(dates, dtype=pd.ArrowDtype(dates.type))})
        with pytest.raises((TypeError, ValueError), match=cell("'bad'")):
            read(frame)

    def test_arrow_runs_of_numbers_are_numbers(self):
        runs = pa.RunEndEncodedArray.from_arrays([2, 3], [1.0, None])
        np.testing.assert_array_equal(read(pa.table({"a": runs}))[:, 0], [1.0, 1.0, np.nan])

    @pytest.mark.parametrize(
        "column",
        [
            pa.array([b"1", b"2", b"x"]),
            pa.array([b"1", b"2", b"x"], pa.large_binary()),
            pa.array([b"1", b"2", b"x"], pa.binary(1)),
            pa.array([b"1", b"2", b"x"], pa.binary_view()),
            pa.array(["1", "2", "x"], pa.string_view()),
            pa.array([[1.0], [2.0], [3.0]], pa.large_list(pa.float64())),
            pa.array([[1.0], [2.0], [3.0]], pa.list_(pa.float64(), 1)),
            pa.array([(1, 2, 3)] * 3, pa.month_day_nano_interval()),
            pa.UnionArray.from_sparse(
                pa.array([0, 1, 0], pa.int8()), [pa.array([1.0, 2, 3]), pa.array(["a", "b", "c"])]
            ),
        ],
        ids=lambda column: str(column.type),
    )
    def test_arrow_columns_of_other_types_are_refused_by_name(self, column):
        with pytest.raises((TypeError, ValueError), match=cell("'bad'")):
            read(pa.table({"good": [1.0, 2.0, 3.0], "bad": column}))

    def test_sparse_matrices(self):
        with pytest.raises(TypeError, match="Sparse data"):
            PCKID(2).fit(scipy.sparse.csr_array(np.eye(4)))

    @pytest.mark.parametrize(
        ("shape", "message"),
        [((4,), "Expected 2D array"), ((2, 2, 2), "Expected 2D array"), ((0, 2), "at least 1 row")],
    )
    def test_wrong_shapes_on_every_array_library(self, backend, shape, message):
        if backend.name == "numpy":
            message = "Expected 2D|dim 3|minimum of 1"
        with pytest.raises(ValueError, match=message):
            PCKID(2).fit(backend.asarray(np.zeros(shape)))

    def test_a_frame_without_values_yet(self):
        with pytest.raises(TypeError, match=r"Give X.collect\(\)"):
            PCKID(2).fit(pl.DataFrame(COLUMNS).lazy())

    def test_complex_numbers_on_every_array_library(self, backend):
        with pytest.raises(ValueError, match="Complex data"):
            PCKID(2).fit(backend.asarray(np.ones((3, 2), dtype=complex)))

    @pytest.mark.parametrize("kind", ["int32", "bool", "float32"])
    def test_other_numbers_on_every_array_library(self, backend, kind):
        X = backend.asarray(np.eye(4).astype(kind))
        values = read(X)
        assert str(values.dtype).rpartition(".")[2] == (
            "float32" if kind == "float32" else "float64"
        )


def test_gradients_are_not_looked_at():
    torch = pytest.importorskip("torch")
    X = groups()[0]
    expected = PCKID(3, **SMALL).fit_predict(X)
    model = PCKID(3, **SMALL).fit(torch.asarray(X).requires_grad_())
    np.testing.assert_array_equal(model.labels_.numpy(), expected)
    np.testing.assert_array_equal(model.predict(torch.asarray(X).requires_grad_()), expected)


YEARS = [2019, 2020, 2021, 2022]
LABELS = {
    "years": YEARS,
    "levels": pd.MultiIndex.from_product([["p", "q"], ["x", "y"]]),
    "dates": pd.date_range("2020", periods=4),
}


def labelled(labels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + 5 * (np.arange(60) % 2)[:, None]
    return pd.DataFrame(X, columns=labels)


@pytest.mark.parametrize("kind", LABELS)
def test_labels_that_are_no_texts_name_the_columns(kind):
    frame = labelled(LABELS[kind])
    texts = [str(label) for label in frame.columns]
    model = PCKID(2, **SMALL).fit(frame)
    assert model.cluster_profiles_.feature_names == texts
    assert not hasattr(model, "feature_names_in_")
    frame.iloc[3, 2] = np.inf
    with pytest.raises(ValueError, match=re.escape(f"Column {texts[2]!r} holds inf")):
        model.fit(frame)
    frame.iloc[:, 2] = 1
    assert model.fit(frame).dropped_features_ == [texts[2]]


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("estimator", [PCKID, IncompleteGaussianMixture])
def test_such_labels_are_compared_with_those_of_fit(kind, estimator):
    frame = labelled(LABELS[kind])
    parameters = SMALL if estimator is PCKID else {}
    model = estimator(2, **parameters).fit(frame)
    np.testing.assert_array_equal(model.predict(frame.to_numpy()), model.predict(frame))
    first, *_, last = list(frame.columns)
    with pytest.raises(ValueError, match=re.escape(f" {last!r} where fit had {first!r}")):
        model.predict(frame.iloc[:, ::-1])
    model.fit(frame.to_numpy())
    model.predict(frame.iloc[:, ::-1])
    model.fit(frame).predict(frame.set_axis(range(4), axis=1))


def test_labels_that_number_the_columns_are_none():
    frame = labelled(range(4)).assign(**{"4": ["a", "b", "c"] * 20}).set_axis(range(5), axis=1)
    model = PCKID(2, **SMALL).fit(frame)
    assert model.categories_ == {4: ["a", "b", "c"]}
    assert model.cluster_profiles_.feature_names == [f"feature {j}" for j in range(4)]


@pytest.mark.parametrize("kind", ["pandas", "arrow"])
@pytest.mark.parametrize(
    "estimator", [PCKID(2), ProbabilisticClusterKernel(), IncompleteGaussianMixture()]
)
def test_columns_of_the_same_name_are_told_of(estimator, kind):
    rows = np.random.default_rng(0).normal(size=(30, 3))
    X = pd.DataFrame(rows, columns=list("aba"))
    if kind == "arrow":
        X = pa.table([pa.array(column) for column in rows.T], names=list("aba"))
    with pytest.raises(ValueError, match=r"columns of the same name: 'a' \(2 times\)"):
        estimator.fit(X)
    if kind == "pandas":
        fitted = IncompleteGaussianMixture().fit(X.set_axis(list("abc"), axis=1))
        with pytest.raises(ValueError, match="columns of the same name"):
            fitted.predict(X)


def test_a_column_may_be_called_as_an_attribute_of_a_frame_is():
    rows = np.random.default_rng(0).integers(5, size=(30, 3))
    X = pd.DataFrame(rows, columns=["columns", "column_names", "collect"])
    model = IncompleteGaussianMixture().fit(X)
    assert model.feature_names_in_.tolist() == list(X.columns)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("estimator", [PCKID(2), IncompleteGaussianMixture()])
def test_differences_that_floats_cannot_hold_are_told_of(estimator, whole):
    rows = np.random.default_rng(0).integers(5, size=(30, 3))
    with pytest.raises(ValueError, match=r"as large as 4\.61e\+18 are held in steps of 1,024"):
        estimator.fit(rows + 2**62 if whole else rows + 2.0**62)
    with pytest.raises(ValueError, match=r"nothing to cluster by\. Check that"):
        estimator.fit(np.ones((5, 2)))
