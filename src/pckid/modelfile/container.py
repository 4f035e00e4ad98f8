"""The bytes of a model file: one JSON text, named arrays, and a hash over every byte.

A model file is a safetensors file whose metadata hold one entry, the description. Its first field
is the SHA-256 hash of the whole file with that field set to zeros, at a place that never moves, so
that a file is known to be whole before anything in it is parsed. A hash is no signature: whoever
makes a file can make a right one, so everything else is checked as if it came from an enemy.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from typing import Any

import numpy as np

from pckid.exceptions import PckidModelError
from pckid.modelfile.tensors import read_tensors, write_tensors

Arrays = dict[str, np.ndarray]
_BLANK = "0" * 64
_BEFORE_HASH = rb'{"__metadata__":{"pckid":"{\"sha256\":\"'
_HASH_AT = 8 + len(_BEFORE_HASH)
_AFTER_HASH = _HASH_AT + len(_BLANK)
# What parsing JSON may cost whatever the size of the file; beyond, as much as the file itself less
# the copy of an array that is being checked.
FREE_BYTES = 1 << 24
_BYTES_PER_VALUE = 128


def pack(description: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Write a description and arrays as the bytes of a file; the same model, the same bytes."""
    content = {"sha256": _BLANK, **description}
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    ordered = {name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)}
    blank = write_tensors(ordered, {"pckid": text})
    return b"".join((blank[:_HASH_AT], _hash(blank).encode(), blank[_AFTER_HASH:]))


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Read a file, and nothing that is not one: a device may never end."""
    try:
        # Without a buffer, which would hold the content a second time.
        with open(path, "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise PckidModelError(f"{path} is not a file. Give a file written by pckid.")
            refuse_other_files(file.read(_HASH_AT), path)
            file.seek(0)
            return file.readall()
    except PckidModelError:
        raise
    except FileNotFoundError:
        raise PckidModelError(f"There is no model file {str(path)!r}. Check the path.") from None
    except OSError as error:
        raise PckidModelError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise PckidModelError(f"The path {str(path)[:80]!r} cannot be read: {error}.") from None


def unpack(content: bytes) -> tuple[dict[str, Any], Arrays]:
    """Read the description and the arrays, after the hash was checked; neither is believed yet.

    Errors are half a sentence, to which the caller adds the file's name.
    """
    if content[_HASH_AT:_AFTER_HASH] != _hash(content).encode():
        raise PckidModelError("is damaged or cut short: its content does not match its hash.")
    header = content[8 : 8 + int.from_bytes(content[:8], "little")]
    _refuse_costly(header, len(content))
    try:
        # It refuses shapes, types and places that do not fit the bytes.
        arrays = read_tensors(content)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise PckidModelError("is not a pckid model, or is cut short.") from None
    metadata = _parse(header).get("__metadata__")
    text = metadata.get("pckid") if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise PckidModelError("is not a pckid model: it holds no description.")
    largest = max((array.nbytes for array in arrays.values()), default=0)
    _refuse_costly(text, len(content) - largest)
    return _parse(text), arrays


def _parse(text: str | bytes) -> dict[str, Any]:
    try:
        # JSON does not know NaN and infinity, of which `int` makes an error.
        value = json.loads(text, parse_constant=int)
    except (RecursionError, ValueError):
        value = None
    if not isinstance(value, dict):
        raise PckidModelError("is not a pckid model, or is cut short.")
    return value


def _hash(content: bytes) -> str:
    """Hash a file as if its hash were zeros."""
    view = memoryview(content)
    digest = hashlib.sha256(view[:_HASH_AT])
    digest.update(_BLANK.encode())
    digest.update(view[_AFTER_HASH:])
    return digest.hexdigest()


def refuse_other_files(content: bytes, path: str | os.PathLike[str]) -> None:
    """Refuse what does not begin as a model does; the first bytes tell before all are read."""
    if content[8:9] != b"{":
        raise PckidModelError(f"{path} is not a pckid model. Give a file written by pckid.")


def _refuse_costly(text: str | bytes, n_bytes: int) -> None:
    """Refuse JSON that would take more memory parsed than `n_bytes`."""

    def count(mark: str) -> int:
        return text.count(mark) if isinstance(text, str) else text.count(mark.encode())

    n_values = sum(map(count, "[{,:")) + 1
    # One letter beyond Latin-1 makes all letters of its text wider.
    width = 1 if text.isascii() and not count("\\u") else 4
    if 4 * width * len(text) + _BYTES_PER_VALUE * n_values > max(FREE_BYTES, n_bytes):
        raise PckidModelError("has a description out of all proportion. Give a file from pckid.")
