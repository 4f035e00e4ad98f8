"""Named arrays as bytes in the safetensors format: a length, a header of JSON, raw values.

The package of that name reads and writes them where it is installed. Elsewhere, as in WebAssembly,
the functions below do the same: the same bytes, and the same files refused.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

_LENGTH = 8  # bytes of the header's own length
_MAX_HEADER = 100_000_000
# In the order in which arrays stand in a file: the widest first, so that each is aligned.
_TYPES = {
    "U64": "<u8", "I64": "<i8", "F64": "<f8", "F32": "<f4", "U32": "<u4", "I32": "<i4",
    "F16": "<f2", "U16": "<u2", "I16": "<i2", "I8": "<i1", "U8": "<u1", "BOOL": "|b1",
}  # fmt: skip
_NAMES = {np.dtype(form): name for name, form in _TYPES.items()}


def read_tensors(content: bytes) -> dict[str, np.ndarray]:
    """Read all arrays; a ValueError says that shapes, types or places do not fit the bytes."""
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load
    except ImportError:
        return parse(content)
    try:
        return load(content)
    except SafetensorError as error:
        raise ValueError(str(error)) from None


def write_tensors(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> bytes:
    """Write arrays, each of one contiguous block, with texts beside them."""
    try:
        from safetensors.numpy import save
    except ImportError:
        return compose(arrays, metadata)
    return save(dict(arrays), dict(metadata))


def compose(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> bytes:
    """Write arrays as the package does."""
    rank = list(_TYPES)
    kinds = {name: _NAMES[array.dtype.newbyteorder("<")] for name, array in arrays.items()}
    ordered = sorted(arrays, key=lambda name: (rank.index(kinds[name]), name))
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    parts, end = [], 0
    for name in ordered:
        values = arrays[name].astype(_TYPES[kinds[name]], copy=False)
        start, end = end, end + values.nbytes
        header[name] = {
            "dtype": kinds[name], "shape": list(values.shape), "data_offsets": [start, end],
        }  # fmt: skip
        parts.append(values.tobytes())
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % _LENGTH)
    return b"".join((len(text).to_bytes(_LENGTH, "little"), text, *parts))


def parse(content: bytes) -> dict[str, np.ndarray]:
    """Read arrays as the package does; they fill the bytes without gap or overlap."""
    n_header = int.from_bytes(content[:_LENGTH], "little")
    body = _LENGTH + n_header
    if len(content) < body or n_header > _MAX_HEADER:
        raise ValueError("the header does not fit the file")
    header = json.loads(content[_LENGTH:body].decode())
    texts = header.pop("__metadata__", None) or {}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("the metadata are no texts")
    found, at = {}, 0
    for name, told in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        (start, end), shape = told["data_offsets"], told["shape"]
        form = np.dtype(_TYPES[told["dtype"]])
        if not all(type(size) is int and 0 <= size < 2**63 for size in (start, end, *shape)):
            raise ValueError(f"places and sizes of {name!r} are no whole numbers")
        n_values = 1
        for size in shape:
            n_values *= size
        if start != at or end - start != n_values * form.itemsize or body + end > len(content):
            raise ValueError(f"the bytes of {name!r} do not fit its shape and place")
        at, values = end, np.frombuffer(content, form, n_values, body + start)
        found[name] = values.astype(form.newbyteorder("=")).reshape(shape)
    if body + at != len(content):
        raise ValueError("bytes belong to no array")
    return found
