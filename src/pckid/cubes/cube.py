"""An image stack: layers over one grid of pixels, read whole or window by window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import counted, list_first
from pckid.cubes.cells import Decoding, find_decoding
from pckid.cubes.layers import Layer, check_names, group_layers, name_layers, split_mean
from pckid.cubes.neighbours import neighbour_means
from pckid.cubes.space import find_space

# Attributes about the values of a layer, which those of a map of clusters do not have.
_OF_VALUES = {
    "_FillValue", "missing_value", "nodata", "nodatavals", "scale_factor", "add_offset", "scales",
    "offsets", "units", "long_name", "standard_name", "description", "descriptions", "valid_min",
    "valid_max", "valid_range", "actual_range", "cell_methods",
}  # fmt: skip


class LayerStack(NamedTuple):
    """Layers that are read together: a variable of a Dataset, a file."""

    data: Any  # DataArray, dimensions of space last; it may read a file when it is asked to
    layers: tuple[Layer, ...]
    decoding: Decoding

    def read(self, rows: slice, columns: slice) -> np.ndarray:
        """Read a window of all layers (n_layers, height, width), NaN where missing."""
        found = np.asarray(self.data[(..., rows, columns)].values)
        return self.decoding.decode(found.reshape(-1, *found.shape[-2:]))


@dataclass(frozen=True)
class Cube:
    """The layers of a stack, and the grid that they share."""

    parts: tuple[LayerStack, ...]
    space: Any  # DataArray (y, x) with the coordinates of space, and values that do not matter
    attrs: dict[str, Any]
    is_dataset: bool = False
    context: int = (
        1  # the size of the neighbourhood whose means are further layers; 1: there are none
    )

    @property
    def shape(self) -> tuple[int, int]:
        """The height and the width in pixels."""
        return self.space.shape

    @property
    def layers(self) -> list[Layer]:
        """The layers, and means around the pixels."""
        own = [layer for part in self.parts for layer in part.layers]
        return own + [layer.around(self.context) for layer in own] * (self.context > 1)

    @property
    def names(self) -> list[str]:
        """The names of the layers."""
        return [layer.name for layer in self.layers]

    @property
    def groups(self) -> dict[str, list[str]]:
        """The layers of each quantity, where there are several."""
        return group_layers(self.layers)

    @property
    def is_lazy(self) -> bool:
        """Whether Dask computes the layers."""
        return any(part.data.chunks is not None for part in self.parts)

    def read(self, rows: slice | None = None, columns: slice | None = None) -> np.ndarray:
        """Read the pixels of a window (n_layers, height, width), NaN where missing."""
        height, width = self.shape
        inside = rows or slice(0, height), columns or slice(0, width)
        reach = self.context // 2
        wide = [
            slice(max(each.start - reach, 0), min(each.stop + reach, length))
            for each, length in zip(inside, self.shape, strict=True)
        ]
        found = np.concatenate([part.read(*wide) for part in self.parts])
        own = tuple(slice(a.start - b.start, a.stop - b.start)
                    for a, b in zip(inside, wide, strict=True))  # fmt: skip
        self._refuse_infinite(found, wide)
        if self.context > 1:
            found = np.concatenate([found, neighbour_means(found, self.context)])
        return found[:, *own]

    def like(self, names: Sequence[str] | None) -> Cube:
        """Add the means of neighbours that a model knows; raise where other layers differ."""
        if names is None:
            return self
        around = replace(self, context=max(split_mean(name)[1] for name in names))
        for found in (self, around):
            if found.names == list(names):
                return found
        raise ValueError(_compare_names(self.names, [n for n in names if split_mean(n)[1] == 1]))

    def _refuse_infinite(self, values: np.ndarray, window: Sequence[slice]) -> None:
        """Raise if a layer is infinite somewhere, and say where."""
        if not np.isinf(values).any():
            return
        layer, y, x = np.argwhere(np.isinf(values))[0].tolist()
        raise ValueError(
            f"Layer {self.names[layer]!r} holds {values[layer, y, x]} in the pixel of row "
            f"{window[0].start + y:,}, column {window[1].start + x:,}, counted from 0. Make it "
            "NaN to treat it as missing."
        )


def read_cube(X: Any, missing: Sequence[float] = ()) -> Cube:
    """Make a cube of a DataArray or a Dataset; nothing is read yet.

    `missing` are numbers that stand for nothing observed, beside those that its attributes name.
    """
    space = find_space(X)
    if hasattr(X, "data_vars"):
        variables = {str(name): X[name] for name in X.data_vars if {*space} <= {*X[name].dims}}
        if not variables:
            y, x = space
            raise ValueError(
                f"No variable of X has both dimensions of space, {y} and {x}. Its variables are: "
                f"{list_first(list(map(str, X.data_vars)))}."
            )
    else:
        variables = {"": X}
    parts = [_make_part(data, name or None, space, missing) for name, data in variables.items()]
    return join_parts(parts, X.attrs, is_dataset=hasattr(X, "data_vars"))


def join_parts(parts: Sequence[LayerStack], attrs: dict[str, Any], *, is_dataset: bool) -> Cube:
    """Make a cube of parts over one grid."""
    check_names([layer for part in parts for layer in part.layers])
    data = parts[0].data
    others = data.dims[:-2]
    first = data.isel(dict.fromkeys(others, 0)).drop_vars(
        [name for name, each in data.coords.items() if {*each.dims} & {*others}], errors="ignore"
    )
    first = first.drop_vars([dim for dim in others if dim in first.coords])
    kept = {key: value for key, value in {**attrs, **data.attrs}.items() if key not in _OF_VALUES}
    kept = {key: value for key, value in kept.items() if "STATISTICS" not in str(key)}
    return Cube(tuple(parts), first, kept, is_dataset)


def _make_part(
    data: Any, name: str | None, space: tuple[Any, Any], missing: Sequence[float]
) -> LayerStack:
    """Put the dimensions of space last, and name the layers."""
    others = [dim for dim in data.dims if dim not in space]
    data = data.transpose(*others, *space)
    if 0 in data.shape:
        raise ValueError(
            f"{name or 'X'} has the shape {data.shape}: there is no pixel, or no layer."
        )
    decoding = find_decoding(data, f"The variable {name!r}" if name else "X", missing)
    return LayerStack(data, tuple(name_layers(data, others, name)), decoding)


def _compare_names(given: Sequence[str], known: Sequence[str]) -> str:
    """Say how layers differ from those of a model."""
    lacking = [name for name in known if name not in given]
    further = [name for name in given if name not in known]
    if not lacking and not further:
        a, b = next(pair for pair in zip(given, known, strict=True) if pair[0] != pair[1])
        return (
            f"X has the layers of the model in another order: {a!r} where the model has {b!r}. "
            "Put them in its order, which is list(model.feature_names_in_)."
        )
    told = []
    if lacking:
        told.append(f"lacks {counted(len(lacking), 'layer')} of the model: {list_first(lacking)}")
    if further:
        told.append(f"has {counted(len(further), 'layer')} more: {list_first(further)}")
    return (
        f"X {' and '.join(told)}. Give the layers of the model, by its names: assign coordinates "
        "to bands and dates that stand for those of the model."
    )


def windows(shape: tuple[int, int], size: int) -> Iterator[tuple[slice, slice]]:
    """Divide a grid into windows of `size` × `size` pixels, smaller at the ends, row by row."""
    for top in range(0, shape[0], size):
        for left in range(0, shape[1], size):
            yield (
                slice(top, min(top + size, shape[0])),
                slice(left, min(left + size, shape[1])),
            )
