"""An image stack: layers over one grid of pixels, read whole or window by window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import counted, list_first
from pckid.cubes.cells import Decoding, find_decoding
from pckid.cubes.layers import Layer, check_names, group_layers, is_time, name_layers, split_mean
from pckid.cubes.neighbours import neighbour_means
from pckid.cubes.space import find_space
from pckid.cubes.windows import Window, widen, within
from pckid.exceptions import TableError

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
        try:
            found = np.asarray(self.data[(..., rows, columns)].values)
        except (OSError, RuntimeError) as error:
            source = self.data.encoding.get("source")
            if source is None:
                raise
            raise TableError(
                f"{source} cannot be read to its end; it is damaged or incomplete. "
                f"{error.__cause__ or error}"
            ) from None
        return self.decoding.decode(found.reshape(-1, *found.shape[-2:]))


@dataclass(frozen=True)
class Cube:
    """The layers of a stack, and the grid that they share."""

    stacks: tuple[LayerStack, ...]
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
    def own_layers(self) -> list[Layer]:
        """The layers as they are stored."""
        return [layer for stack in self.stacks for layer in stack.layers]

    @property
    def layers(self) -> list[Layer]:
        """The layers, and means around the pixels."""
        own = self.own_layers
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
        return any(stack.data.chunks is not None for stack in self.stacks)

    def read(self, rows: slice | None = None, columns: slice | None = None) -> np.ndarray:
        """Read the pixels of a window (n_layers, height, width), NaN where missing."""
        height, width = self.shape
        window = rows or slice(0, height), columns or slice(0, width)
        wide = widen(window, self.context // 2, self.shape)
        found = np.concatenate([stack.read(*wide) for stack in self.stacks])
        self._refuse_infinite(found, wide)
        if self.context > 1:
            found = np.concatenate([found, neighbour_means(found, self.context)])
        return found[:, *within(window, wide)]

    def with_context(self, size: int) -> Cube:
        """Add the means around each pixel, over `size` × `size` pixels, as further layers."""
        return replace(self, context=size)

    def like(self, names: Sequence[str] | None) -> Cube:
        """Add the means of neighbours that a model knows; raise where other layers differ."""
        if names is None:
            return self
        around = self.with_context(max(split_mean(name)[1] for name in names))
        for found in (self, around):
            if found.names == list(names):
                return found
        raise ValueError(_compare_names(self.names, [n for n in names if split_mean(n)[1] == 1]))

    def _refuse_infinite(self, values: np.ndarray, window: Window) -> None:
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
    if len(variables) == 1 and _needs_no_name(next(iter(variables.values())), space):
        variables = {"": next(iter(variables.values()))}
    stacks = [_make_stack(data, name or None, space, missing) for name, data in variables.items()]
    return join_stacks(stacks, X.attrs, is_dataset=hasattr(X, "data_vars"))


def join_stacks(stacks: Sequence[LayerStack], attrs: dict[str, Any], *, is_dataset: bool) -> Cube:
    """Make a cube of stacks over one grid."""
    check_names([layer for stack in stacks for layer in stack.layers])
    data = stacks[0].data
    others = data.dims[:-2]
    first = data.isel(dict.fromkeys(others, 0)).drop_vars(
        [name for name, each in data.coords.items() if {*each.dims} & {*others}], errors="ignore"
    )
    first = first.drop_vars([dim for dim in others if dim in first.coords])
    kept = {key: value for key, value in {**attrs, **data.attrs}.items() if key not in _OF_VALUES}
    kept = {key: value for key, value in kept.items() if "STATISTICS" not in str(key)}
    return Cube(tuple(stacks), first, kept, is_dataset)


def _make_stack(
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


def _needs_no_name(data: Any, space: tuple[Any, Any]) -> bool:
    """Return whether bands name the layers of the only variable."""
    return any(not is_time(data, dim) for dim in data.dims if dim not in space)


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
