"""Files that appear whole or not at all."""

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that takes its name only when everything is written.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and the file is
    then renamed. On any error, an interrupt among them, the temporary file is removed and whatever
    stood at `path` before stays as it was. What ends a process without an exception, as SIGKILL
    does, leaves the temporary file; nobody may read it who may not read the file it was to
    replace. A device or a pipe is written directly.

    Parameters
    ----------
    path : str or path-like
        The name the finished file gets. A symbolic link is followed, not replaced.

    Yields
    ------
    file : binary file
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(target, "wb") as stream:
            yield stream
        return
    check_folder(path)
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb", opener=partial(os.open, mode=_mode(target))) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError, PermissionError):
            os.chmod(temporary, os.stat(target).st_mode & 0o777)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(target.parent)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise unless there is a folder that a file of this name can be written into."""
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no folder to write into", str(folder))


def _mode(target: Path) -> int:
    """Permissions to begin a file with: no wider than the target's; a new one's by the umask."""
    try:
        return os.stat(target).st_mode & 0o777
    except FileNotFoundError:
        return 0o666


def _sync_folder(folder: Path) -> None:
    """Flush a folder's entries, so that a rename survives a power cut; not all systems can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
