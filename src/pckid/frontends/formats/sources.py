"""The bytes of a table: from a file or a pipe, unpacked piece by piece."""

import bz2
import gzip
import importlib.util
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from pckid.exceptions import TableError

MAX_UNPACKED = 1 << 32
"""Bytes that a compressed table, or one from a pipe, may take."""
MAX_COLUMNS = 1 << 16
"""Columns that a table may have; a few kilobytes, compressed, can hold millions."""
PIECE = 1 << 23

_XZ_MEMORY = 1 << 28
_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException)


class _Members(io.RawIOBase):
    """The content of a bzip2 or xz file of one or more members.

    Unlike `bz2.open` and `lzma.open`, it fails at whatever follows the first member and is damaged.
    """

    def __init__(self, file: BinaryIO, begin: Callable[[], Any]) -> None:
        self._file, self._begin, self._member = file, begin, begin()

    def readable(self) -> bool:
        """Bytes can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Unpack up to as many bytes as `buffer` takes; 0 at the end of the last member."""
        found = b""
        while not found:
            packed = b""
            if self._member.eof:
                packed = self._member.unused_data or self._file.read(PIECE)
                # Zeros may follow a member, to fill a block.
                while packed and not (packed := packed.lstrip(b"\0")):
                    packed = self._file.read(PIECE)
                if not packed:
                    return 0
                self._member = self._begin()
            elif self._member.needs_input and not (packed := self._file.read(PIECE)):
                raise EOFError
            found = self._member.decompress(packed, len(buffer))
        buffer[: len(found)] = found
        return len(found)


_UNPACKERS: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": lambda file: io.BufferedReader(_Members(file, bz2.BZ2Decompressor)),
    b"\xfd7zXZ\0": lambda file: io.BufferedReader(
        _Members(file, lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY))
    ),
    b"\x28\xb5\x2f\xfd": lambda file: pa.input_stream(file, compression="zstd"),
    b"\x04\x22\x4d\x18": lambda file: pa.input_stream(file, compression="lz4"),
}


class Source(NamedTuple):
    """Bytes that can be read more than once."""

    name: str  # the file's path, or what errors call a pipe
    max_bytes: int = MAX_UNPACKED  # more than this unpacked is refused of what is compressed
    stored: bytes | None = None  # the bytes of a pipe, which gives them only once

    @property
    def n_bytes(self) -> int:
        """Count the bytes as they are stored."""
        return os.path.getsize(self.name) if self.stored is None else len(self.stored)

    def open(self) -> BinaryIO:
        """Open the bytes as they are stored."""
        return open(self.name, "rb") if self.stored is None else io.BytesIO(self.stored)

    @property
    def unpacker(self) -> Any:
        """What undoes the compression that the first bytes name; None if they name none."""
        with self.open() as file:
            magic = file.read(6)
        return next((_UNPACKERS[sign] for sign in _UNPACKERS if magic.startswith(sign)), None)

    def pieces(self, size: int = PIECE) -> Iterator[bytes]:
        """Yield the content, unpacked, in pieces of `size` bytes."""
        unpack, n_bytes = self.unpacker, 0
        with self.open() as file:
            if unpack is None:
                yield from iter(lambda: file.read(size), b"")
                return
            try:
                with unpack(file) as stream:
                    while piece := stream.read(size):
                        n_bytes += len(piece)
                        refuse_large(n_bytes, self.name, self.max_bytes)
                        yield piece
            except _DAMAGED:
                raise TableError(
                    f"{self.name} is compressed but damaged or cut short. Copy or download it "
                    "again."
                ) from None


def find_source(path: str, max_bytes: int = MAX_UNPACKED) -> Source:
    """Find a file, or read a pipe to its end; standard input where `path` is "-"."""
    if path == "-":
        return _read_pipe(sys.stdin.buffer, "standard input", max_bytes)
    try:
        with open(path, "rb") as file:
            kind = os.fstat(file.fileno()).st_mode
            if stat.S_ISREG(kind):
                return Source(path, max_bytes)
            if stat.S_ISFIFO(kind) or file.isatty():
                return _read_pipe(file, path, max_bytes)
    except FileNotFoundError:
        raise TableError(f"There is no file {path!r}. Check the path.") from None
    except OSError as error:
        raise TableError(f"{path!r} cannot be read: {error.strerror}.") from None
    raise TableError(f"{path!r} is a device, not a table. Give a file, or - for standard input.")


def _read_pipe(stream: Any, name: str, max_bytes: int) -> Source:
    """Read all that a pipe gives, unless it gives too much or only zeros."""
    pieces: list[bytes] = []
    n_bytes = 0
    while piece := stream.read(PIECE):
        n_bytes += len(piece)
        if n_bytes > max_bytes:
            raise TableError(
                f"{name} gives more than {max_bytes / 2**30:.3g} GB, which is the limit. Save it "
                "as Parquet, which is read in batches.",
            )
        if not pieces and not piece.strip(b"\0"):
            raise TableError(f"{name} is not a table: it begins with {len(piece):,} zero bytes.")
        pieces.append(piece)
    return Source(name, max_bytes, b"".join(pieces))


def refuse_large(n_bytes: int, name: str, max_bytes: int, what: str = "") -> None:
    """Raise if a table takes more memory unpacked than was agreed to; say what to do."""
    if n_bytes > max_bytes:
        raise TableError(
            f"{name} takes more than {max_bytes / 2**30:.3g} GB unpacked, which is the limit. "
            f"{what or 'Write it as Parquet, which is read in batches.'}",
        )


def refuse_wide(n_columns: int, name: str) -> None:
    """Raise if a table has more columns than can be looked at one by one."""
    if n_columns > MAX_COLUMNS:
        raise TableError(
            f"{name} has {n_columns:,} columns; at most {MAX_COLUMNS:,} are read. Check its "
            "delimiter, or choose the columns that matter before."
        )


def require_library(module: str, purpose: str, extra: str) -> None:
    """Raise if a library is missing, with how to install it, before any work is done."""
    if importlib.util.find_spec(module) is None:
        raise ImportError(f"{purpose} needs {module}: python -m pip install 'pckid[{extra}]'")
