"""Files of older formats, read as if they had been written today.

Format 1 (pckid 0.1.0) hashed the description and the arrays one by one, and held what a class
needs beside the parameters instead of under "state".
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from pckid.exceptions import PckidModelError
from pckid.modelfile.container import Arrays, Content, array_views, largest, parse_text, split


def unpack(content: bytes) -> Content:
    """Take a file of format 1 apart, after its hash was checked."""
    header, data = split(content)
    metadata = header["__metadata__"]
    if set(metadata) != {"pckid", "sha256"}:
        raise PckidModelError("is not a pckid model.")
    arrays = array_views(header, data)
    description = parse_text(metadata["pckid"], len(content) - largest(arrays))
    if _hash(metadata["pckid"], arrays) != metadata["sha256"]:
        raise PckidModelError("is damaged: its content does not match its hash.")
    return Content(_upgrade(description), arrays, len(content))


def _upgrade(description: dict[str, Any]) -> dict[str, Any]:
    """Put the fields of format 1 where format 2 has them."""
    state = {key: description.get(key) for key in ("dtype", "n_stacks", "inertia")}
    kept = {key: value for key, value in description.items() if key not in state}
    return kept | {"state": state, "libraries": {}, "reading": {}}


def _hash(text: str, arrays: Arrays) -> str:
    """Hash the description and every array with its name, type and shape."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = arrays[name]
        line = f"\n{name} {array.dtype.str} {array.shape}\n"
        digest.update(line.encode("utf-8", "surrogatepass"))
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
