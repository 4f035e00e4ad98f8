"""Objects that are tables in another shape: image stacks of xarray, matrices of AnnData.

Of an image stack, pixels are rows, and everything else columns.

The rest of the package sees a table with groups of columns; what comes out takes the shape of the
image again. Whoever has such an object has imported xarray; nobody else does.
"""

from __future__ import annotations

from typing import Any

from pckid._utils.annotated import is_annotated, named_frame
from pckid.cubes.space import find_space, is_cube
from pckid.cubes.table import CubeTable, make_table

__all__ = ["CubeTable", "as_table", "flatten", "own_positions", "restore_shape"]


def as_table(X: Any, estimator: Any = None) -> Any:
    """Return an image stack as a `CubeTable`, AnnData as a frame, and any other table as it is.

    For a fitted `estimator` it must have the columns of the fit; means of neighbours are computed
    where it knows such columns.
    """
    if is_annotated(X):
        return named_frame(X)
    return make_table(X, getattr(estimator, "feature_names_in_", None)) if is_cube(X) else X


def flatten(values: Any) -> Any:
    """Return a map (y, x) of what is known of pixels as one value for each row of the table."""
    return values.transpose(*find_space(values)).data.ravel() if is_cube(values) else values


def own_positions(X: Any) -> Any:
    """Return where the rows of the table of an image in memory are (n_pixels, 2); else None."""
    return X.positions() if isinstance(X, CubeTable) and not X.cube.is_lazy else None


def restore_shape(X: Any, values: Any, dim: str = "cluster") -> Any:
    """Give results of the rows of a table the shape of the image, if it is that of an image.

    Where there are several for each row, `dim` is what they are along.
    """
    return X.restore(values, dim) if isinstance(X, CubeTable) else values
