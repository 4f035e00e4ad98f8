"""Files that appear whole or not at all."""

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

ORIGIN = "pckid"
"""Where the `attrs` of a pandas frame hold what `read_table` knows of its file."""


def printable_name(path: str) -> str:
    """Give the name of a file as text that can be written, whatever its bytes are."""
    return os.fsencode(os.path.basename(path)).decode("utf-8", "replace")


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that takes its name only when everything is written.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and the file is
    then renamed. On any error, an interrupt among them, the temporary file is removed and whatever
    stood at `path` before stays as it was. What ends a process without an exception, as SIGKILL
    does, leaves the temporary file; nobody may read it who may not read the file it was to
    replace. A device or a pipe is written directly, a symbolic link is refused.
    """
    _refuse_place(os.fspath(path), ())
    target = Path(path)
    if target.exists() and not target.is_file():
        with open(target, "wb") as stream:
            yield stream
        return
    temporary = _temporary_name(target)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666  # less the umask
    try:
        with open(temporary, "xb", opener=partial(os.open, mode=mode)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError, PermissionError):
            os.chmod(temporary, os.stat(target).st_mode & 0o777)
        os.replace(temporary, target)
    except OSError as error:
        if error.filename is not None and os.fspath(error.filename) == str(temporary):
            # Under the name that was asked for.
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(target.parent)


def check_target(path: str | os.PathLike[str], sources: Sequence[str] = ()) -> None:
    """Raise an OSError unless a file can be written at a path, which is not among what is read.

    A link, and a file that is one of `sources` or lies in a folder that is one, are refused. A
    device or a pipe is written to, however it is called.
    """
    path = os.fspath(path)
    _refuse_place(path, sources)
    if not os.path.exists(path) or os.path.isfile(path):
        _try_writing(Path(path))


def _refuse_place(path: str, sources: Sequence[str]) -> None:
    """Raise an OSError if a path is a link, in no folder, or a file that is read or beside one."""
    folder, is_there = os.path.dirname(os.path.abspath(path)), os.path.exists(path)
    if os.path.islink(path) and not (is_there and not os.path.isfile(path)):
        raise OSError(
            errno.ELOOP, f"{path!r} is a link, which is not followed. Give the file itself."
        )
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, f"There is no folder {folder!r} to write into.")
    for source in filter(os.path.exists, sources):
        if is_there and os.path.samefile(path, source):
            raise FileExistsError(
                errno.EEXIST, f"{path!r} is the input. Give the output another name."
            )
        if os.path.isdir(source) and _lies_in(folder, source):
            raise FileExistsError(errno.EEXIST, f"{path!r} lies in the input. Write elsewhere.")


def _lies_in(folder: str, source: str) -> bool:
    """Return whether a folder is another, or lies somewhere in it."""
    real = Path(os.path.realpath(folder))
    return any(os.path.samefile(each, source) for each in (real, *real.parents))


def _try_writing(target: Path) -> None:
    """Make the temporary file of a target and remove it."""
    try:
        # A name may be too long though the temporary one is not.
        with contextlib.suppress(FileNotFoundError):
            os.lstat(target)
        temporary = _temporary_name(target)
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.unlink(temporary)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(target)) from None


def _temporary_name(target: Path) -> Path:
    """Name a file beside a target: no longer than names may be, which is counted in bytes."""
    short = os.fsencode(target.name)[:100].decode("utf-8", "ignore")
    return target.with_name(f".{short}.{secrets.token_hex(4)}.tmp")


def _sync_folder(folder: Path) -> None:
    """Flush a folder's entries, so that a rename survives a power cut; not all systems can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
