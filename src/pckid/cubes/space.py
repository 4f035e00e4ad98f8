"""Which dimensions of an xarray object are those of space."""

from __future__ import annotations

from typing import Any

# Names of the rows and of the columns of pixels, in lower case.
_PAIRS = (
    ("y", "x"),
    ("lat", "lon"),
    ("latitude", "longitude"),
    ("northing", "easting"),
    ("row", "col"),
    ("yc", "xc"),
    ("nav_lat", "nav_lon"),
)


def is_cube(X: Any) -> bool:
    """Return whether `X` is an xarray object over space; a plain matrix of xarray is a table."""
    if type(X).__module__.partition(".")[0] != "xarray":
        return False
    kind = type(X).__name__
    return kind == "Dataset" or (kind == "DataArray" and (X.ndim > 2 or _search(X) is not None))


def find_space(X: Any) -> tuple[Any, Any]:
    """Find the dimensions of rows and of columns of pixels; raise if there are none."""
    found = _search(X)
    if found is None:
        dims = ", ".join(map(str, X.dims))
        raise ValueError(
            f"X has the dimensions {dims or '()'}, of which none are known as those of space: y "
            "and x, lat and lon, latitude and longitude, or northing and easting. Rename them, as "
            "in X.rename(rows='y', columns='x')."
        )
    return found


def _search(X: Any) -> tuple[Any, Any] | None:
    """Search for two dimensions of space by their names, then by the attribute `axis`."""
    by_name = {str(dim).lower(): dim for dim in X.dims}
    for y, x in _PAIRS:
        if y in by_name and x in by_name:
            return by_name[y], by_name[x]
    axes = {str(X[dim].attrs.get("axis", "")).upper(): dim for dim in X.dims if dim in X.coords}
    return (axes["Y"], axes["X"]) if axes.keys() >= {"Y", "X"} else None
