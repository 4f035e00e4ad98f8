"""The numbers of a layer: what stands for "nothing observed" becomes NaN, and scales are undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

_FILLS = ("_FillValue", "missing_value", "nodata", "nodatavals")
_SCALES = {"scale_factor": 1.0, "add_offset": 0.0}


class Decoding(NamedTuple):
    """How the numbers of a DataArray are read."""

    missing: tuple[float, ...]  # numbers that stand for nothing observed
    scale: float
    offset: float
    dtype: Any  # of the result

    def decode(self, values: np.ndarray) -> np.ndarray:
        """Turn numbers as stored, of any shape, into floats with NaN."""
        found = values.astype(self.dtype)
        for number in self.missing:
            found[values == number] = np.nan
        if (self.scale, self.offset) != (1.0, 0.0):
            found = found * self.dtype(self.scale) + self.dtype(self.offset)
        return found


def find_decoding(data: Any, name: str, missing: Sequence[float] = ()) -> Decoding:
    """Find how a DataArray is read, by its type and attributes; `missing` are numbers beside.

    What was decoded when a file was opened is no longer among the attributes.
    """
    if data.dtype.kind not in "biuf":
        kind = {"c": "complex numbers", "M": "dates", "m": "durations"}.get(data.dtype.kind)
        raise ValueError(
            f"{name} holds {kind or data.dtype}, and real numbers were expected. "
            + ("Give their real and imaginary parts, or abs(X), as bands." * (kind is not None))
        )
    listed = [number for key in _FILLS for number in np.ravel(data.attrs.get(key, ())).tolist()]
    if data.dtype.kind == "f":
        # What was decoded when a file was opened was scaled, too.
        done = [data.encoding.get(key, default) for key, default in _SCALES.items()]
        missing = [float(data.dtype.type(number) * done[0] + done[1]) for number in missing]
    numbers = {float(number) for number in [*missing, *listed] if _is_number(number)}
    scale, offset = (
        _one(data.attrs.get(key, default), key, name) for key, default in _SCALES.items()
    )
    small = data.dtype.itemsize <= 2 or data.dtype == np.float32
    kept = tuple(sorted(number for number in numbers if not np.isnan(number)))
    return Decoding(kept, scale, offset, np.float32 if small else np.float64)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _one(value: Any, key: str, name: str) -> float:
    """Return the one number of an attribute."""
    numbers = set(np.ravel(value).tolist())
    if len(numbers) != 1 or not _is_number(next(iter(numbers))):
        raise ValueError(
            f"{name} has the attribute {key} = {value!r}, and one number was expected. Decode the "
            "layers one by one, and take the attribute away."
        )
    return float(next(iter(numbers)))
