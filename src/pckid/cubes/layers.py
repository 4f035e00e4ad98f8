"""The layers of an image stack: how each is called, and which belong to one series."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import brief
from pckid.cubes.dates import split_date

_TIMES = ("time", "date", "t")
_MEAN = re.compile(r"(?P<layer>.+) (?P<size>\d+)x(?P=size)")


class Layer(NamedTuple):
    """One image of a stack: a band at a date."""

    name: str  # "B08 2016-03-17"
    series: str  # "B08": layers of one series are dates of one quantity
    date: str | None = None

    def around(self, size: int) -> Layer:
        """Name the layer of means over `size` × `size` neighbours."""
        return Layer(f"{self.name} {size}x{size}", f"{self.series} {size}x{size}", self.date)


def split_mean(name: str) -> tuple[str, int]:
    """Split "B08 3x3" into the layer and the size of the neighbourhood, 1 for the layer itself."""
    match = _MEAN.fullmatch(name)
    return (match["layer"], int(match["size"])) if match else (name, 1)


def name_layers(data: Any, dims: Sequence[Any], variable: str | None) -> list[Layer]:
    """Name the layers of a DataArray in the order of its dimensions beside space.

    `variable` is the name of a variable of a Dataset, None for a DataArray by itself.
    """
    times = [dim for dim in dims if is_time(data, dim)]
    labels = [name_steps(data, dim) for dim in dims]
    layers = []
    for chosen in product(*labels):
        named = list(zip(dims, chosen, strict=True))
        words = [label for dim, label in named if dim not in times]
        if variable is not None or not words:
            words = [variable or _own_name(data, bool(times)), *words]
        dates = [label for dim, label in named if dim in times]
        series = " ".join(filter(None, words))
        found = " ".join(filter(None, (series, *dates)))
        if dates:
            layers.append(Layer(found, series or "value", dates[0]))
        else:
            words_alone, date = split_date(found)
            if date is not None:  # as if there were a dimension of time
                found, series = " ".join(filter(None, (words_alone, date))), words_alone
            layers.append(Layer(found, series or "value", date))
    return layers


def name_steps(data: Any, dim: Any) -> list[str]:
    """Name the steps along a dimension: dates, texts, or numbers after its name."""
    described = data.attrs.get("long_name")
    if isinstance(described, str) and data.sizes[dim] == 1 and str(dim) == "band":
        described = (described,)
    if isinstance(described, tuple | list) and len(described) == data.sizes[dim]:
        return [str(name or f"{dim} {place + 1}") for place, name in enumerate(described)]
    if dim not in data.coords:
        return [f"{dim} {place}" for place in range(data.sizes[dim])]
    values = np.asarray(data[dim].values)
    if values.dtype.kind == "M":
        return _write_dates(values)
    if values.dtype.kind in "iuf":
        return [f"{dim} {value:.10g}" for value in values.tolist()]
    if dim in _TIMES:  # dates of other calendars
        return [str(value).removesuffix(" 00:00:00") for value in values.tolist()]
    return list(map(str, values.tolist()))


def check_names(layers: Sequence[Layer]) -> None:
    """Raise if two layers have the same name."""
    seen: set[str] = set()
    for layer in layers:
        if layer.name in seen:
            raise ValueError(
                f"Two layers are named {brief(layer.name)!r}. Give each band and each date a name "
                "of its own."
            )
        seen.add(layer.name)


def group_layers(layers: Sequence[Layer]) -> dict[str, list[str]]:
    """Group the dates of each quantity, where there are several: they are in one unit."""
    names = {layer.name for layer in layers}
    series: dict[str, list[str]] = {}
    for layer in layers:
        if layer.date is not None:
            series.setdefault(layer.series, []).append(layer.name)
    several = {name: members for name, members in series.items() if len(members) > 1}
    return {f"{name} dates" if name in names else name: each for name, each in several.items()}


def is_time(data: Any, dim: Any) -> bool:
    """Return whether a dimension is that of dates."""
    is_date = dim in data.coords and np.asarray(data[dim].values).dtype.kind == "M"
    return is_date or str(dim).lower() in _TIMES


def _own_name(data: Any, has_dates: bool) -> str:
    """Return the name of a DataArray that has no bands; "" where its dates alone are enough."""
    # xarray calls by the second name what has none and was written to a file.
    if data.name not in (None, "__xarray_dataarray_variable__"):
        return str(data.name)
    return "" if has_dates else "value"


def _write_dates(values: np.ndarray) -> list[str]:
    """Write dates as short as they are still told from each other."""
    for unit in ("D", "m", "s", "ns"):
        texts = np.datetime_as_string(values, unit=unit).tolist()
        if len(set(texts)) == len(set(values.tolist())):
            break
    return [text.replace("T", " ") for text in texts]
