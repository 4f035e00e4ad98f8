"""How layers of image stacks are called, and which of them are dates of one quantity."""

import numpy as np
import pytest
from scenes import BANDS, DATES, NAMES, make_cube, make_scene

from pckid.cubes.cube import read_cube
from pckid.cubes.dates import split_date

xr = pytest.importorskip("xarray")
CUBE = make_cube(make_scene())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("B02_20150711", ("B02", "2015-07-11")),
        ("NDVI 2016-03-17", ("NDVI", "2016-03-17")),
        ("S2A_MSIL2A_20160317T100022_T33TWM", ("S2A_MSIL2A T100022_T33TWM", "2016-03-17")),
        ("2016.03.17", ("", "2016-03-17")),
        ("elevation", ("elevation", None)),
        ("20161399", ("20161399", None)),
        ("diff_20160101_20170101", ("diff_20160101_20170101", None)),
        ("again_20160101_2016-01-01", ("again 2016-01-01", "2016-01-01")),
        ("1234567890", ("1234567890", None)),
    ],
)
def test_dates_are_found_in_names(name, expected):
    assert split_date(name) == expected


def test_bands_and_dates_make_names_and_the_dates_of_a_band_a_group():
    cube = read_cube(CUBE)
    assert cube.names == NAMES
    assert cube.groups == {band: [f"{band} {date}" for date in DATES] for band in BANDS}


@pytest.mark.parametrize(
    ("stack", "names", "groups"),
    [
        (CUBE.isel(time=0, drop=True), BANDS, []),
        (CUBE.isel(band=0, drop=True), DATES, ["value"]),
        (CUBE.isel(band=0, drop=True).rename("NDVI"), [f"NDVI {d}" for d in DATES], ["NDVI"]),
        (CUBE[0, 0].drop_vars(["time", "band"]), ["value"], []),
        (CUBE[0].drop_vars(["time", "band"]), ["band 0", "band 1"], []),
        (CUBE[0].assign_coords(band=[1, 2]), ["band 1", "band 2"], []),
        (CUBE[0].assign_attrs(long_name=("a_20160101", "a_20160201")),
         ["a 2016-01-01", "a 2016-02-01"], ["a"]),
        (CUBE.assign_coords(time=CUBE.time + np.array([1, 2, 3], "m8[h]"))[:, 0].drop_vars("band"),
         DATES, ["value"]),
        (CUBE[[0, 0]].assign_coords(time=np.array(["2016-01-01T01", "2016-01-01T02"], "M8[ns]"))
         .isel(band=0, drop=True), ["2016-01-01 01:00", "2016-01-01 02:00"], ["value"]),
    ],
)  # fmt: skip
def test_names_of_other_stacks(stack, names, groups):
    cube = read_cube(stack)
    assert cube.names == names
    assert list(cube.groups) == groups


def test_variables_of_a_dataset_come_first_in_names():
    made = xr.Dataset({"NDVI": CUBE[:, 0].drop_vars("band"), "dem": CUBE[0, 1].drop_vars("time")})
    made["note"] = 3
    cube = read_cube(made)
    assert cube.names == [*(f"NDVI {date}" for date in DATES), "dem"]
    assert list(cube.groups) == ["NDVI"]


def test_layers_of_one_name_are_refused():
    with pytest.raises(ValueError, match="Two layers are named 'B04 2016-03-17'"):
        read_cube(CUBE.assign_coords(band=["B04", "B04"]))


def test_space_is_found_by_names_and_by_attributes():
    for y, x in [("lat", "lon"), ("Latitude", "Longitude"), ("row", "col")]:
        assert read_cube(CUBE.rename(y=y, x=x)).space.dims == (y, x)
    other = CUBE.rename(y="a", x="b")
    with pytest.raises(ValueError, match=r"dimensions time, band, a, b, .* Rename"):
        read_cube(other)
    other.a.attrs["axis"], other.b.attrs["axis"] = "Y", "X"
    assert read_cube(other.transpose("b", "time", "band", "a")).space.dims == ("a", "b")
