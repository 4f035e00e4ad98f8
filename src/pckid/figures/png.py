"""Pictures as PNG: of few colours by a palette, of many in full."""

import base64
import struct
import zlib

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MAX_PALETTE = 256


def to_png(pixels: np.ndarray) -> bytes:
    """Write pixels (height, width, 4), uint8: red, green, blue and opacity."""
    height, width = pixels.shape[:2]
    packed = np.ascontiguousarray(pixels, dtype=np.uint8).view("<u4").reshape(height, width)
    colours, places = np.unique(packed, return_inverse=True)
    chunks = []
    if len(colours) <= _MAX_PALETTE:
        rows = places.reshape(height, width).astype(np.uint8)
        parts = colours.view(np.uint8).reshape(-1, 4)
        chunks = [(b"PLTE", parts[:, :3].tobytes()), (b"tRNS", parts[:, 3].tobytes())]
        kind, lead = 3, 0
    else:
        # Differences from the row above, which take less room in pictures of nature.
        whole = pixels.reshape(height, -1)
        rows = whole.copy()
        rows[1:] -= whole[:-1]
        kind, lead = 6, 2
    filtered = np.concatenate([np.full((height, 1), lead, np.uint8), rows], axis=1)
    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    body = zlib.compress(filtered.tobytes(), 9)
    chunks = [(b"IHDR", head), *chunks, (b"IDAT", body), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(*each) for each in chunks)


def to_data_uri(pixels: np.ndarray) -> str:
    """Write pixels (height, width, 4) as an address that holds the picture itself."""
    return f"data:image/png;base64,{base64.b64encode(to_png(pixels)).decode('ascii')}"


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
